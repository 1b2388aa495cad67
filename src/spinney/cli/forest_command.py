"""Forests, from the shell."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.engine_options import engine_options, table_input, workers
from spinney.cli.forest_report import forest_text, importances_data
from spinney.cli.shell_options import (
    GroupedCommand,
    check_model_output,
    class_weight_of,
    examples,
    in_group,
    jobs_option,
    limit_options,
    output_options,
    reading_options,
    recipe_options,
    refuse_given,
    table_options,
    text_options,
    weight_option,
)
from spinney.cli.shell_output import as_json, progress_bar, say, write_data, write_text
from spinney.cli.shell_settings import plain_value, recipes_of
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.growth.forest import ForestBags
    from spinney.models import FittedForest

_OF_FORESTS = ("max_samples", "voting", "shrinkage")


@click.command(
    cls=GroupedCommand,
    epilog=examples(
        "spinney forest melons.csv --target ripe --ignore id -o melons.spinney",
        "spinney forest iris.csv --target class --n-estimators 500 "
        "--permutation-importances",
        "spinney forest votes.csv --target party --missing-values '?' --recipe c4.5 "
        "--json",
        "spinney forest iris.csv --target class --recipe id3 --recipe c4.5 "
        "--recipe cart",
        "spinney forest iris.csv --target class --grouped-importances 0.7",
        "spinney forest sqlite:///shop.db --table orders --target returned",
        "spinney predict melons.spinney new.csv --probabilities",
        "spinney show melons.spinney --tree 3",
    ),
    short_help="Grow many trees that vote.",
)
@in_group("Data", table_options, reading_options, weight_option, engine_options)
@in_group(
    "Forest",
    click.option(
        "--n-estimators",
        type=int,
        default=100,
        show_default=True,
        help="How many trees.",
    ),
    click.option(
        "--max-features",
        metavar="sqrt|log2|all|NUMBER|SHARE",
        help="Attributes looked at in a node.  [default: sqrt, for numbers two thirds]",
    ),
    click.option(
        "--bootstrap/--no-bootstrap",
        default=True,
        help="Grow each tree on a bootstrap sample.  [default: bootstrap]",
    ),
    click.option(
        "--replace/--no-replace",
        default=True,
        help="Draw rows with replacement.  [default: replace]",
    ),
    click.option("--max-samples", metavar="ROWS|SHARE", help="Rows drawn for a tree."),
    click.option("--extra-random", is_flag=True, help="Draw cuts, too."),
    click.option("--voting", help="probability or majority."),
    click.option(
        "--shrinkage",
        type=float,
        help="Shrink leaves to the nodes above.  [default: as rows out of the bag "
        "tell]",
    ),
    click.option(
        "--class-weight",
        multiple=True,
        metavar="CLASS=NUMBER",
        help='Multiply a class\'s weight; or "balanced", "balanced_subsample". '
        "Repeatable.",
    ),
    click.option(
        "--random-state",
        type=int,
        default=0,
        show_default=True,
        help="Of what is drawn.",
    ),
    jobs_option,
)
@in_group(
    "Recipe",
    click.option(
        "--recipe",
        multiple=True,
        help="cart, id3, c4.5 or chaid; of several each tree takes one, in turn. "
        "Repeatable.  [default: cart]",
    ),
    recipe_options,
)
@in_group("Limits", limit_options)
@in_group(
    "Output",
    click.option(
        "--permutation-importances",
        is_flag=True,
        help="Measure importances by permutation too.",
    ),
    click.option(
        "--grouped-importances",
        type=click.FloatRange(0, 1),
        metavar="ASSOCIATION",
        help="Add up importances of attributes that are associated at least so, such "
        "as 0.7; by permutation if these are measured.",
    ),
    output_options,
    text_options,
    click.option("--quiet", is_flag=True, help="Do not print what the forest is like."),
)
def forest(data: str, target: str, **options: Any) -> None:
    """Grow a forest on the table DATA (a file, a database, or - for standard input)."""
    from spinney.growth.forest import find_typical_tree
    from spinney.models import FittedForest, forest_from

    output = options["output"]
    _check_options(options)
    check_model_output(options, "forest")
    # The seed is the forest's, and no setting of the recipe of its trees.
    recipes, settings = recipes_of({**options, "random_state": None}, default="cart")
    if "seed" in settings:
        seed = settings["seed"]
        msg = f"--set seed={seed} is of a single tree: give it by --random-state"
        raise ParameterError(msg)
    with workers(options), progress_bar("growing") as progress:
        grown, bags = forest_from(
            table_input(data, {**options, "target": target}),
            n_trees=options["n_estimators"],
            recipe=recipes,
            settings=_settings(options),
            recipe_settings=settings,
            n_jobs=options["n_jobs"],
            progress=progress,
            accept_bags=_refuse_unasked,
        )
    if bags is not None:
        asked = bags.training
        columns, n_rows = asked.columns, len(asked.classes)
        typical = find_typical_tree(grown, columns, n_rows, asked.weights)
        grown = replace(grown, typical=typical)
    model = FittedForest(grown)
    if output is not None:
        model.save(output, overwrite=options["overwrite"])
        say(f"saved to {output}")
    if options["quiet"]:
        return
    facts = _facts(model, bags, options)
    if options["json_"]:
        text = as_json("forest", facts, ascii_only=options["ascii_"])
        write_data(text)
    else:
        write_text(
            lambda plain: forest_text(facts, plain=plain),
            ascii_only=options["ascii_"],
        )


def _check_options(options: dict[str, Any]) -> None:
    if options["quiet"]:
        for name, value in (
            ("--json", "json_"),
            ("--permutation-importances", "permutation_importances"),
            ("--grouped-importances", "grouped_importances"),
        ):
            if options[value]:
                msg = f"--quiet and {name} exclude each other: leave one out"
                raise ParameterError(msg)
    if not options["bootstrap"] and options["permutation_importances"]:
        msg = (
            "--permutation-importances needs out-of-bag rows, and with --no-bootstrap "
            "there are none: leave one out"
        )
        raise ParameterError(msg)
    if not options["bootstrap"] and options["max_samples"] is not None:
        msg = (
            f"--max-samples {options['max_samples']} says how many rows are drawn for "
            "a tree, and with --no-bootstrap each has all: leave one out"
        )
        raise ParameterError(msg)
    if not options["bootstrap"] and not options["replace"]:
        msg = "--no-bootstrap and --no-replace exclude each other"
        raise ParameterError(msg)


def _refuse_unasked(bags: "ForestBags | None") -> None:
    """Refuse what asks about rows where none have room, before a forest is grown."""
    if bags is None:
        why = "asks about rows, and none have room: raise --memory-limit"
        refuse_given(("permutation_importances", "grouped_importances"), why)


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the forest, as the library takes them."""
    settings = {name: options[name] for name in _OF_FORESTS}
    settings["seed"] = options["random_state"]
    settings["bootstrap"] = options["bootstrap"]
    settings["replace"] = options["replace"]
    settings["extra_random"] = options["extra_random"]
    given = options["class_weight"]
    balanced = given in (("balanced",), ("balanced_subsample",))
    settings["class_weight"] = given[0] if balanced else class_weight_of(given)
    for name in ("max_features", "max_samples"):
        if options[name] is not None:
            settings[name] = plain_value(options[name])
    if options["max_features"] == "all":
        settings["max_features"] = 1.0
    return settings


def _facts(
    model: "FittedForest", bags: "ForestBags | None", options: dict[str, Any]
) -> dict[str, Any]:
    """Return the facts of a forest that was just grown.

    Without rows to ask, which had no room, nothing is known out of the bag.
    """
    from spinney.growth.forest import grouped_importances, permutation_importances

    grown = model.forest_
    facts = model.facts()
    facts["out_of_bag"] = None
    if bags is not None and grown.settings.bootstrap:
        facts["out_of_bag"] = _out_of_bag(grown, bags)
    importances = model.importances()
    facts["importances"] = importances_data(importances)
    facts["permutation_importances"] = None
    if options["permutation_importances"] and bags is not None:
        importances = permutation_importances(grown, bags, n_jobs=options["n_jobs"])
        facts["permutation_importances"] = importances_data(importances)
    facts["grouped_importances"] = None
    if options["grouped_importances"] is not None and bags is not None:
        grouped = grouped_importances(
            importances,
            bags.training.schema,
            bags.training.columns,
            threshold=options["grouped_importances"],
            weights=bags.training.weights,
        )
        facts["grouped_importances"] = importances_data(grouped)
    facts["interactions"] = [
        {"above": above, "below": below, "splits": splits, "gain": gain}
        for above, below, splits, gain in model.interactions().pairs(10)
    ]
    return facts


def _out_of_bag(grown: Any, bags: "ForestBags") -> dict[str, Any]:
    from spinney.growth.forest import oob_score, out_of_bag, warn_rows_in_all_bags

    votes, trees = out_of_bag(grown, bags)
    warn_rows_in_all_bags(trees, bags.training)
    name = "R²" if grown.schema.target.is_numeric else "accuracy"
    return {
        "measure": name,
        "score": oob_score(votes, trees, bags.training),
        "rows": int((trees > 0).sum()),
    }
