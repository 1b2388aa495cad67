"""Forests, from the shell."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.engine_options import dask_workers, engine_options, table_input
from spinney.cli.forest_report import forest_text, importances_data
from spinney.cli.shell_options import (
    GroupedCommand,
    check_model_output,
    examples,
    in_group,
    jobs_option,
    limit_options,
    output_options,
    parse_class_weight,
    reading_options,
    recipe_options,
    refuse_options,
    table_options,
    text_options,
    weight_option,
)
from spinney.cli.shell_output import as_json, progress_bar, say, write_data, write_text
from spinney.cli.shell_settings import chosen_recipes, parse_value
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.growth.forest import ForestBags
    from spinney.models import FittedForest

IMPORTANCES = ("permutation_importances", "grouped_importances")


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
    short_help="Grow a random forest.",
)
@in_group("Data", table_options, reading_options, weight_option, engine_options)
@in_group(
    "Forest",
    click.option(
        "--n-estimators",
        type=int,
        default=100,
        show_default=True,
        help="Number of trees.",
    ),
    click.option(
        "--max-features",
        metavar="sqrt|log2|all|NUMBER|FRACTION",
        help="Attributes tried per node.  [default: sqrt; numeric targets 2/3]",
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
    click.option("--max-samples", metavar="ROWS|FRACTION", help="Rows drawn per tree."),
    click.option(
        "--extra-random",
        is_flag=True,
        help="Draw thresholds at random (extremely randomised trees).",
    ),
    click.option("--voting", help="probability or majority voting."),
    click.option(
        "--shrinkage",
        type=float,
        help="Hierarchical shrinkage of leaves towards the nodes above.  [default: "
        "chosen by out-of-bag error]",
    ),
    click.option(
        "--class-weight",
        multiple=True,
        metavar="CLASS=NUMBER",
        help='Factor for the weight of a class; or "balanced", "balanced_subsample". '
        "Repeatable.",
    ),
    click.option(
        "--random-state", type=int, default=0, show_default=True, help="Random seed."
    ),
    jobs_option,
)
@in_group(
    "Recipe",
    click.option(
        "--recipe",
        multiple=True,
        help="cart, id3, c4.5 or chaid; trees take several recipes in turn. "
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
        help="Also measure permutation importances.",
    ),
    click.option(
        "--grouped-importances",
        type=click.FloatRange(0, 1),
        metavar="ASSOCIATION",
        help="Add up the importances of attributes with at least this association, "
        "such as 0.7; permutation importances if measured.",
    ),
    output_options,
    text_options,
    click.option("--quiet", is_flag=True, help="Do not print the forest."),
)
def forest(data: str, target: str, **options: Any) -> None:
    """Grow a forest on the table DATA (a file, a database, or - for standard input)."""
    from spinney.growth.forest import find_typical_tree
    from spinney.models import FittedForest, grow_forest_from

    output = options["output"]
    _check_options(options)
    check_model_output(options, "forest")
    # The seed is one of the forest, not of the recipe of its trees.
    recipes, settings = chosen_recipes(
        {**options, "random_state": None}, default="cart"
    )
    if "seed" in settings:
        seed = settings["seed"]
        msg = f"--set seed={seed} applies to single trees: use --random-state"
        raise ParameterError(msg)
    with dask_workers(options), progress_bar("growing") as progress:
        grown, bags = grow_forest_from(
            table_input(data, {**options, "target": target}),
            n_trees=options["n_estimators"],
            recipe=recipes,
            settings=_settings(options),
            recipe_settings=settings,
            n_jobs=options["n_jobs"],
            progress=progress,
            accept_bags=_refuse_without_rows,
        )
    if bags is not None:
        rows = bags.training
        n_rows = len(rows.classes)
        typical = find_typical_tree(grown, rows.columns, n_rows, rows.weights)
        grown = replace(grown, typical=typical)
    model = FittedForest(grown)
    if output is not None:
        model.save(output, overwrite=options["overwrite"])
        say(f"saved to {output}")
    if options["quiet"]:
        return
    facts = _facts(model, bags, options)
    if options["json_"]:
        write_data(as_json("forest", facts, ascii_only=options["ascii_"]))
    else:
        write_text(
            lambda plain: forest_text(facts, plain=plain),
            ascii_only=options["ascii_"],
        )


def _check_options(options: dict[str, Any]) -> None:
    if options["quiet"]:
        why = "cannot be used with --quiet: remove one"
        refuse_options(("json_", *IMPORTANCES), why)
    if not options["bootstrap"]:
        why = "cannot be used with --no-bootstrap, which grows trees on all rows"
        refuse_options(("permutation_importances", "max_samples", "replace"), why)


def _refuse_without_rows(bags: "ForestBags | None") -> None:
    """Refuse, before a forest is grown, options that need rows if there are none."""
    if bags is None:
        why = "needs rows in memory, but none fit: raise --memory-limit"
        refuse_options(IMPORTANCES, why)


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the forest by their names in Python."""
    names = ("max_samples", "voting", "shrinkage", "bootstrap", "replace")
    settings = {name: options[name] for name in (*names, "extra_random")}
    settings["seed"] = options["random_state"]
    weights = options["class_weight"]
    balanced = weights in (("balanced",), ("balanced_subsample",))
    settings["class_weight"] = weights[0] if balanced else parse_class_weight(weights)
    for name in ("max_features", "max_samples"):
        if options[name] is not None:
            settings[name] = parse_value(options[name])
    if options["max_features"] == "all":
        settings["max_features"] = 1.0
    return settings


def _facts(
    model: "FittedForest", bags: "ForestBags | None", options: dict[str, Any]
) -> dict[str, Any]:
    """Return the facts of a grown forest; without bags there is no OOB estimate."""
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
