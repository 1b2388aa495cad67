"""Growing, from the shell."""

import shlex
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.engine_options import engine_options, table_input, workers
from spinney.cli.read_commands import show_tree
from spinney.cli.shell_options import (
    GroupedCommand,
    check_model_output,
    class_weight_of,
    class_weight_option,
    cost_matrix_of,
    costs_option,
    examples,
    in_group,
    jobs_option,
    limit_options,
    numbers_of,
    output_options,
    reading_options,
    recipe_options,
    refuse_given,
    text_options,
    weight_option,
)
from spinney.cli.shell_output import PATIENCE, is_seen, progress_bar, say
from spinney.cli.shell_settings import recipe_of
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.growth import Model
    from spinney.models import FittedTree
    from spinney.recipes import Recipe
    from spinney.trees import Tree

# What can be said of a model that is there, and of the rows that come and go.
OF_UPDATES = frozenset(
    {"data", "update", "remove", "format_", "encoding", "n_jobs", "output", "overwrite"}
    | {"ascii_", "json_", "quiet"}
)
MOST_LINES = 200  # of a tree that nobody asked to see whole, on a terminal


@click.command(
    cls=GroupedCommand,
    epilog=examples(
        "spinney grow melons.csv --target ripe --ignore id -o melons.spinney",
        "spinney grow melons.csv --target ripe --ignore id --recipe cart",
        'spinney grow shirts.tsv --target sold --ordinal "size:small<medium<large"',
        "spinney grow votes.csv --target party --missing-values '?' --json > tree.json",
        "spinney grow melons.csv --target ripe --ignore id --forced-split umbilicus",
        "spinney grow melons.csv --target ripe --ignore id --recipe id3 "
        '--forced-split "texture = clear -> root"',
        "spinney grow melons.csv --target ripe --ignore id --validation-share 0.3 "
        "--pruning pre-pruning",
        "spinney grow sqlite:///shop.db --table orders --target returned",
        "spinney grow 'orders/*.parquet' --engine dask --target returned",
        "cat melons.csv | spinney grow - --target ripe --ignore id",
        "spinney grow melons.csv --target ripe --recipe id3 --keep-rows -o m.spinney",
        "spinney grow more.csv --update m.spinney -o new.spinney",
        "spinney grow huge.csv --target sold --recipe hoeffding -o sold.spinney",
    ),
)
@in_group(
    "Data",
    click.argument("data", required=False, metavar="DATA"),
    click.option("--target", metavar="COLUMN", help="What to predict."),
    reading_options,
    weight_option,
    engine_options,
    click.option(
        "--keep-rows",
        is_flag=True,
        help="Keep the rows in the model, so that --update can add others.",
    ),
    click.option(
        "--update",
        metavar="MODEL",
        help="Add the rows of DATA to those of a model that keeps its rows.",
    ),
    click.option(
        "--remove",
        metavar="TABLE",
        help="With --update: remove these rows of the model.",
    ),
)
@in_group(
    "Recipe",
    click.option(
        "--recipe",
        help="auto, id3, c4.5, cart, chaid, optimal, hoeffding (a stream) or m5 (for "
        "numbers).  [default: "
        "auto; in a database c4.5]",
    ),
    recipe_options,
    class_weight_option,
    click.option(
        "--prior",
        multiple=True,
        metavar="CLASS=SHARE",
        help="The share of all weight that a class is to have. Repeatable.",
    ),
    costs_option,
    click.option(
        "--test-cost",
        multiple=True,
        metavar="COLUMN=COST",
        help="What it costs to ask for a column. Repeatable.",
    ),
    click.option(
        "--tie-break-order",
        multiple=True,
        metavar="COLUMN",
        help="Wins ties, in order. Repeatable.",
    ),
    click.option(
        "--forced-split",
        multiple=True,
        metavar="[PATH ->] QUESTION",
        help="Force what a node asks: a COLUMN, 'width > 6.5' or 'color in {red, "
        "green}'; branches of a path are separated by ;. Repeatable.",
    ),
    click.option("--random-state", type=int, help="Of the folds and the forest."),
    jobs_option,
)
@in_group("Limits", limit_options)
@in_group(
    "Pruning",
    click.option(
        "--pruning",
        help="none, collapse, error-based, cost-complexity, pessimistic, mdl or "
        "simplify; of numbers adjusted-error; by other rows reduced-error, "
        "pre-pruning or cost-complexity.",
    ),
    click.option(
        "--validation",
        metavar="TABLE",
        help="Prune by these rows; by reduced-error, unless --pruning says otherwise.",
    ),
    click.option(
        "--validation-share",
        type=float,
        metavar="SHARE",
        help="Reserve this share of the rows to prune by, such as 0.3.",
    ),
)
@in_group(
    "Output",
    output_options,
    text_options,
    click.option(
        "--measure-quality/--no-measure-quality",
        default=True,
        help="Grow further trees to estimate the error on new rows.  [default: if that "
        "takes little time]",
    ),
    click.option("--quiet", is_flag=True, help="Do not print the tree."),
)
def grow(data: str | None, target: str | None, **options: Any) -> None:
    """Grow a tree on the table DATA (a file, a database, or - for standard input)."""
    if options["quiet"] and options["json_"]:
        msg = "--quiet and --json exclude each other: leave one out"
        raise ParameterError(msg)
    if options["update"] is None:
        _require({"data": data, "target": target})
        refuse_given(("remove",), "is for rows of a model: name it by --update")
        if options["output"] is None:
            refuse_given(("keep_rows",), "keeps them in the model: save it by -o MODEL")
    check_model_output(options)
    if options["update"] is None:
        assert data is not None
        assert target is not None
        grown = _grown(data, target, options)
    else:
        grown = _updated(data, options)
    _tell(grown, options)


def _require(given: dict[str, str | None]) -> None:
    """Refuse to grow without a table or a target, in click's words."""
    context = click.get_current_context()
    for param in context.command.params:
        if param.name in given and given[param.name] is None:
            raise click.MissingParameter(ctx=context, param=param)


def _updated(data: str | None, options: dict[str, Any]) -> "Model":
    """Return the model of a file with rows added or removed."""
    from spinney import registry
    from spinney._support.threads import limited_threads
    from spinney.models import load_model

    update = registry.load("operation", "update")
    others = {p.name or "" for p in click.get_current_context().command.params}
    why = "says how to grow, and the model of --update says it: leave one out"
    refuse_given(others - OF_UPDATES, why)
    if data is None and options["remove"] is None:
        msg = "--update adds the rows of DATA, or removes those of --remove: name some"
        raise ParameterError(msg)
    path = options["update"]
    model: Any = load_model(path, kinds=("tree",))
    kept = update.require_update_state(model.model_, path)
    reading = {"format": options["format_"], "encoding": options["encoding"]}
    batch, removed = (
        None
        if rows is None
        else update.update_batch(
            model.read(rows, whole=True, weight=kept.weight, **reading), kept
        )
        for rows in (data, options["remove"])
    )
    with (
        progress_bar("growing", after=PATIENCE) as progress,
        limited_threads(options["n_jobs"]),
    ):
        grown: Model = update.update_model(
            model.model_, batch, removed, cache_counts=False, progress=progress
        )
    n_before, n_now = len(kept.training.classes), grown.fingerprint.n_rows
    say(f"{n_before} rows were kept in {path}, {n_now} are now")
    why_updated_from_scratch = update.why_updated_from_scratch(kept)
    if why_updated_from_scratch is not None and not options["quiet"]:
        say(f"grown from scratch: {why_updated_from_scratch}")
    return grown


def _grown(data: str, target: str, options: dict[str, Any]) -> "Model":
    """Return a model that is grown on a table."""
    from spinney._support.threads import limited_threads
    from spinney.models import grow_from
    from spinney.recipes import default_recipe

    table = table_input(data, {**options, "target": target})
    default = default_recipe(in_memory=not table.is_remote)
    recipe, settings = recipe_of(options, default)
    with (
        workers(options),
        progress_bar("growing", after=PATIENCE) as progress,
        limited_threads(options["n_jobs"]),
    ):
        return grow_from(
            table,
            recipe=recipe,
            settings=settings,
            class_weight=class_weight_of(options["class_weight"]),
            priors=numbers_of(options["prior"], "--prior", "CLASS=SHARE"),
            cost_matrix=cost_matrix_of(options["cost_matrix"]),
            test_costs=numbers_of(options["test_cost"], "--test-cost", "COLUMN=COST"),
            tie_break_order=options["tie_break_order"],
            forced_splits=_forced(options["forced_split"]),
            validation=options["validation"],
            validation_share=options["validation_share"],
            keep_rows=options["keep_rows"],
            measure_quality=options["measure_quality"],
            progress=progress,
        )


def _tell(grown: "Model", options: dict[str, Any]) -> None:
    """Save a model, and say what is to be known of it."""
    from spinney.growth import recipe_scores_text
    from spinney.models import FittedTree
    from spinney.output import fitting_depth

    output, model = options["output"], FittedTree(grown)
    if output is not None:
        model.save(output, overwrite=options["overwrite"])
        say(f"saved to {output}")
    if grown.validation_rows is not None:
        say(_reserved(grown))
    if model.tree.n_leaves == 1:
        say(_single_leaf(model.model_))
    elif model.recipe_scores_ and not options["quiet"]:
        say(recipe_scores_text(model.recipe_scores_) + _grown_larger(model))
    if not options["quiet"] and (short := _short_formulas(model.model_.recipe)):
        say(short)
    if model.stream_stats_ is not None and not options["quiet"]:
        say(_counted(model))
    if model.tree.certificate is not None and not options["quiet"]:
        say(str(model.tree.certificate))
    if not options["quiet"]:
        depth = None
        if is_seen() and not options["json_"]:
            depth = fitting_depth(model.tree, MOST_LINES)
        show_tree(
            model, max_depth=depth, ascii_=options["ascii_"], json_=options["json_"]
        )
        if depth is not None:
            say(_not_all(model.tree, output, depth))
        if model.quality_ is not None:
            say(str(model.quality_))


def _counted(model: "FittedTree") -> str:
    """Return how a stream fared, and of which rows the counts of its tree are."""
    n_rows, learned = model.tree.root.n_rows, model.stream_stats_
    assert learned is not None
    if n_rows == learned.n_rows:
        return str(learned)
    return f"{learned}; the counts of the tree are of the {n_rows} at its leaves"


def _reserved(model: "Model") -> str:
    """Return how many rows were reserved, and how to see which."""
    assert model.validation_rows is not None
    n_held, n_grown = len(model.validation_rows), model.fingerprint.n_rows
    return (
        f"{n_held} of {n_held + n_grown} rows were reserved to prune by "
        f"({model.recipe.pruning}); --json lists them as validation_rows"
    )


def _grown_larger(model: "FittedTree") -> str:
    """Return that the tree of all rows is another than that which was compared."""
    expected = [
        each.leaves for each in model.recipe_scores_ if each.chosen and each.leaves
    ]
    n_leaves = sum(leaf.n_rows > 0 for leaf in model.tree.leaves)
    if not expected or n_leaves == expected[0]:
        return ""
    return f"; grown on all rows it has {n_leaves} leaves"


def _not_all(tree: "Tree", output: str | None, depth: int) -> str:
    """Return how to see what is not on the screen."""
    model = output if output is not None else "MODEL"
    saving = "" if output is not None else "save it by -o MODEL; "
    return (
        f"the tree has {len(tree)} nodes, here to depth {depth} of {tree.height}; "
        f"{saving}spinney show {model} prints all, --max-depth {depth + 2} a bit more"
    )


def _short_formulas(recipe: "Recipe") -> str:
    """Return which limits may leave formulas few columns, if there are any.

    A formula has columns that were asked below its leaf before the tree was pruned: a
    tree that must not grow large asks about few of them.
    """
    if recipe.leaves != "linear":
        return ""
    limits = [
        f"{option} {value}"
        for option, value in (
            ("--max-depth", recipe.max_depth),
            ("--max-leaves", recipe.max_leaves),
        )
        if value is not None
    ]
    if not limits:
        return ""
    return (
        f"{' and '.join(limits)}: formulas have only those columns that the tree asked "
        "below them before it was pruned, and a low limit leaves few; "
        "--min-samples-leaf makes small trees with longer formulas"
    )


def _single_leaf(model: "Model") -> str:
    """Return why a tree asks nothing, and what to say to make it ask."""
    from spinney.trees import Reason

    reason, recipe = model.tree.root.reason, model.recipe
    if reason is Reason.PRUNED:
        why, remedies = "", ["--pruning none keeps the questions"]
        if recipe.pruning in ("reduced-error", "pre-pruning"):
            remedies = ["the rows to prune by fare no better with questions"]
        elif recipe.needs_rows:
            why = ": no question helps to predict rows that were held out"
            if not model.schema.target.is_numeric:
                # Unpruned, such a tree asks on where all rows are of one class.
                remedies.insert(0, "--recipe c4.5 prunes without holding rows out")
        if recipe.leaves != "linear" and (many := _of_many_values(model)):
            remedies.insert(0, many)
        return f"pruned to a single leaf{why}; {', '.join(remedies)}"
    message = f"the tree is a single leaf: {reason}"
    if reason is Reason.MIN_GAIN and model.recipe_scores:
        message += "; --pruning none keeps the questions"
    if reason is Reason.ROWS_IN_LEAF and recipe.min_samples_leaf not in (0, 1):
        message += " (--min-samples-leaf 1 allows any)"
    return message


def _of_many_values(model: "Model") -> str:
    """Return how to ignore high-cardinality columns, if there are any."""
    from spinney.models import high_cardinality_columns

    many = high_cardinality_columns(model.schema, model.fingerprint.n_rows)
    if not many:
        return ""
    listed = ", ".join(f"{name} ({n})" for name, n in many.items())
    options = " ".join(f"--ignore {shlex.quote(name)}" for name in many)
    return f"high-cardinality columns overfit, {listed}: try {options}"


def _forced(given: tuple[str, ...]) -> dict[tuple[str, ...], str] | None:
    from spinney.trees import outside_quotes

    forced: dict[tuple[str, ...], str] = {}
    for text in given:
        *path, asked = outside_quotes(text, "->")
        steps = tuple(
            step.strip()
            for step in outside_quotes("->".join(path), ";")
            if step.strip()
        )
        if steps in forced:
            msg = (
                f"--forced-split {text!r}: that node is to be split by "
                f"{forced[steps]!r}: name one question"
            )
            raise ParameterError(msg)
        forced[steps] = asked.strip()
    return forced or None
