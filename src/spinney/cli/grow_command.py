"""The command ``grow``: a tree from a table, or a stored model with other rows."""

import shlex
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.engine_options import dask_workers, engine_options, table_input
from spinney.cli.read_commands import show_tree
from spinney.cli.shell_options import (
    GroupedCommand,
    check_model_output,
    class_weight_option,
    costs_option,
    examples,
    in_group,
    jobs_option,
    limit_options,
    max_lines_option,
    output_options,
    parse_class_weight,
    parse_numbers,
    read_cost_matrix,
    reading_options,
    recipe_options,
    refuse_options,
    text_options,
    weight_option,
)
from spinney.cli.shell_output import STATUS_DELAY, progress_bar, say
from spinney.cli.shell_settings import chosen_recipe
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.growth import Model
    from spinney.models import FittedTree
    from spinney.recipes import Recipe

# The options that go with --update; the model has the settings.
UPDATE_OPTIONS = frozenset(
    {"data", "update", "remove", "format_", "encoding", "n_jobs", "output", "overwrite"}
    | {"ascii_", "json_", "max_lines", "quiet"}
)
COMMON_CLASS = 0.8  # the share of rows from which on the other classes are rare


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
    click.option("--target", metavar="COLUMN", help="Column to predict."),
    reading_options,
    weight_option,
    engine_options,
    click.option(
        "--keep-rows",
        is_flag=True,
        help="Store the rows in the model, so that --update can add others.",
    ),
    click.option(
        "--update",
        metavar="MODEL",
        help="Add the rows of DATA to a model that stores its rows.",
    ),
    click.option(
        "--remove",
        metavar="TABLE",
        help="Remove these rows from the model (with --update).",
    ),
)
@in_group(
    "Recipe",
    click.option(
        "--recipe",
        help="auto, id3, c4.5, cart, chaid, optimal, hoeffding (data streams) or m5 "
        "(numeric targets).  [default: auto; in a database c4.5]",
    ),
    recipe_options,
    class_weight_option,
    click.option(
        "--prior",
        multiple=True,
        metavar="CLASS=FRACTION",
        help="Prior probability of a class. Repeatable.",
    ),
    costs_option,
    click.option(
        "--test-cost",
        multiple=True,
        metavar="COLUMN=COST",
        help="Cost of measuring a column, by which merits are reduced. Repeatable.",
    ),
    click.option(
        "--tie-break-order",
        multiple=True,
        metavar="COLUMN",
        help="Column that wins ties, in order of preference. Repeatable.",
    ),
    click.option(
        "--forced-split",
        multiple=True,
        metavar="[PATH ->] SPLIT",
        help="Force the split of a node: a COLUMN, 'width > 6.5' or 'color in {red, "
        "green}'. Branches of a PATH are separated by ;. Repeatable.",
    ),
    click.option(
        "--random-state", type=int, help="Random seed of the folds and the forest."
    ),
    jobs_option,
)
@in_group("Limits", limit_options)
@in_group(
    "Pruning",
    click.option(
        "--pruning",
        help="none, collapse, error-based, cost-complexity, pessimistic, mdl or "
        "simplify. Numeric targets: adjusted-error. With a validation set: "
        "reduced-error, pre-pruning or cost-complexity.",
    ),
    click.option(
        "--validation",
        metavar="TABLE",
        help="Validation set to prune by.  [default method: reduced-error]",
    ),
    click.option(
        "--validation-share",
        type=float,
        metavar="FRACTION",
        help="Fraction of the rows to reserve as a validation set, such as 0.3.",
    ),
)
@in_group(
    "Output",
    output_options,
    text_options,
    max_lines_option,
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
    if options["quiet"]:
        why = "cannot be used with --quiet: remove one"
        refuse_options(("json_", "max_lines"), why)
    if options["json_"]:
        refuse_options(("max_lines",), "cannot be used with --json: remove one")
    if options["update"] is not None:
        check_model_output(options)
        _report(_update(data, options), options)
        return
    if data is None or target is None:
        context = click.get_current_context()
        missing = "data" if data is None else "target"
        param = next(p for p in context.command.params if p.name == missing)
        raise click.MissingParameter(ctx=context, param=param)
    refuse_options(("remove",), "needs --update MODEL, whose rows it removes")
    if options["output"] is None:
        refuse_options(("keep_rows",), "needs -o MODEL, which stores the rows")
    check_model_output(options)
    _report(_grow(data, target, options), options)


def _update(data: str | None, options: dict[str, Any]) -> "Model":
    """Return a stored model with rows added or removed."""
    from spinney import registry
    from spinney._support.threads import limited_threads
    from spinney.models import load_model

    update = registry.load("operation", "update")
    names = {p.name or "" for p in click.get_current_context().command.params}
    why = "cannot be used with --update, whose model has this setting: remove it"
    refuse_options(names - UPDATE_OPTIONS, why)
    if data is None and options["remove"] is None:
        msg = "--update has no rows to add or remove: give DATA or --remove TABLE"
        raise ParameterError(msg)
    path = options["update"]
    model: Any = load_model(path, kinds=("tree",))
    state = update.require_update_state(model.model_, path)
    reading = {"format": options["format_"], "encoding": options["encoding"]}
    batch, removed = (
        None
        if rows is None
        else update.update_batch(
            model.read(rows, whole=True, weight=state.weight, **reading), state
        )
        for rows in (data, options["remove"])
    )
    with (
        progress_bar("growing", after=STATUS_DELAY) as progress,
        limited_threads(options["n_jobs"]),
    ):
        grown: Model = update.update_model(
            model.model_, batch, removed, cache_counts=False, progress=progress
        )
    n_before, n_now = len(state.training.classes), grown.fingerprint.n_rows
    say(f"{path} stored {n_before} rows; the new model has {n_now}")
    reason = update.why_updated_from_scratch(state)
    if reason is not None and not options["quiet"]:
        say(f"grown from scratch: {reason}")
    return grown


def _grow(data: str, target: str, options: dict[str, Any]) -> "Model":
    """Return a model grown on a table."""
    from spinney._support.threads import limited_threads
    from spinney.models import grow_from
    from spinney.recipes import default_recipe

    table = table_input(data, {**options, "target": target})
    default = default_recipe(in_memory=not table.is_remote)
    recipe, settings = chosen_recipe(options, default)
    with (
        dask_workers(options),
        progress_bar("growing", after=STATUS_DELAY) as progress,
        limited_threads(options["n_jobs"]),
    ):
        return grow_from(
            table,
            recipe=recipe,
            settings=settings,
            class_weight=parse_class_weight(options["class_weight"]),
            priors=parse_numbers(options["prior"], "--prior", "CLASS=FRACTION"),
            cost_matrix=read_cost_matrix(options["cost_matrix"]),
            test_costs=parse_numbers(
                options["test_cost"], "--test-cost", "COLUMN=COST"
            ),
            tie_break_order=options["tie_break_order"],
            forced_splits=_parse_forced_splits(options["forced_split"]),
            validation=options["validation"],
            validation_share=options["validation_share"],
            keep_rows=options["keep_rows"],
            measure_quality=options["measure_quality"],
            progress=progress,
        )


def _report(grown: "Model", options: dict[str, Any]) -> None:
    """Save a model, and print its notes and its tree."""
    from spinney.growth import recipe_scores_text
    from spinney.models import FittedTree

    output, model = options["output"], FittedTree(grown)
    if output is not None:
        model.save(output, overwrite=options["overwrite"])
        say(f"saved to {output}")
    if grown.validation_rows is not None:
        n_reserved, n_grown = len(grown.validation_rows), grown.fingerprint.n_rows
        say(
            f"validation set: {n_reserved} of {n_reserved + n_grown} rows "
            f"({grown.recipe.pruning}); --json lists them as validation_rows"
        )
    if model.tree.n_leaves == 1:
        say(_single_leaf_note(grown))
    if options["quiet"]:
        return
    if model.tree.n_leaves > 1 and model.recipe_scores_:
        say(recipe_scores_text(model.recipe_scores_) + _size_note(model))
    if note := _formula_note(grown.recipe):
        say(note)
    if model.stream_stats_ is not None:
        say(_stream_note(model))
    if model.tree.certificate is not None:
        say(str(model.tree.certificate))
    show_tree(
        model,
        max_depth=None,
        ascii_=options["ascii_"],
        json_=options["json_"],
        max_lines=options["max_lines"],
        path=output,
    )
    if summary := model.importances().summary():
        say(summary)
    if model.quality_ is not None:
        say(str(model.quality_))


def _stream_note(model: "FittedTree") -> str:
    """Return the accuracy on a stream, and the rows that its tree counts."""
    n_rows, stats = model.tree.root.n_rows, model.stream_stats_
    assert stats is not None
    counts = (
        f"; the tree counts {n_rows} of these rows" if n_rows != stats.n_rows else ""
    )
    return f"{stats}{counts}"


def _size_note(model: "FittedTree") -> str:
    """Return the size of the final tree if it differs from the tree of the folds."""
    expected = [
        score.leaves for score in model.recipe_scores_ if score.chosen and score.leaves
    ]
    n_leaves = sum(leaf.n_rows > 0 for leaf in model.tree.leaves)
    if not expected or n_leaves == expected[0]:
        return ""
    return f"; on all rows: {n_leaves} leaves"


def _formula_note(recipe: "Recipe") -> str:
    """Return a note if limits of the tree leave few columns for linear models.

    A linear model has columns of splits below its leaf in the unpruned tree.
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
        f"{' and '.join(limits)} leaves few columns for the linear models, which use "
        "the splits pruned below them; limit the tree by --min-samples-leaf instead"
    )


def _has_rare_classes(model: "Model") -> bool:
    """Return whether one class has nearly all the weight, so that no split pays."""
    if model.schema.target.is_numeric:
        return False
    weights = model.tree.root.weights
    return float(weights.max()) >= COMMON_CLASS * float(weights.sum())


def _single_leaf_note(model: "Model") -> str:
    """Return the reason for a tree without splits, and options that may split it."""
    from spinney.trees import Reason

    reason, recipe = model.tree.root.reason, model.recipe
    if reason is Reason.PRUNED:
        why, remedies = "", ["--pruning none keeps the splits"]
        if recipe.pruning in ("reduced-error", "pre-pruning"):
            why, remedies = ": no split improves the error on the validation set", []
        elif recipe.needs_rows:
            why = ": no split improves the cross-validated error"
            if _has_rare_classes(model):
                remedies.insert(0, "--class-weight balanced makes rare classes count")
            elif not model.schema.target.is_numeric:
                # Unpruned, such a tree also splits nodes of one class.
                remedies.insert(0, "--recipe c4.5 prunes without cross-validation")
        if recipe.leaves != "linear" and (note := _high_cardinality_note(model)):
            remedies.insert(0, note)
        return "; ".join([f"pruned to a single leaf{why}", *remedies])
    message = f"the tree is a single leaf: {reason}"
    if reason is Reason.MIN_GAIN and model.recipe_scores:
        message += "; --pruning none keeps the splits"
    if reason is Reason.ROWS_IN_LEAF and recipe.min_samples_leaf not in (0, 1):
        message += " (--min-samples-leaf 1 allows any)"
    return message


def _high_cardinality_note(model: "Model") -> str:
    """Return the options that exclude high-cardinality columns, if there are any."""
    from spinney.models import high_cardinality_columns

    columns = high_cardinality_columns(model.schema, model.fingerprint.n_rows)
    if not columns:
        return ""
    listed = ", ".join(f"{name} ({n})" for name, n in columns.items())
    options = " ".join(f"--ignore {shlex.quote(name)}" for name in columns)
    return f"high-cardinality columns overfit, {listed}: try {options}"


def _parse_forced_splits(texts: tuple[str, ...]) -> dict[tuple[str, ...], str] | None:
    from spinney.trees import outside_quotes

    forced: dict[tuple[str, ...], str] = {}
    for text in texts:
        *path, split = outside_quotes(text, "->")
        steps = tuple(
            step.strip()
            for step in outside_quotes("->".join(path), ";")
            if step.strip()
        )
        if steps in forced:
            msg = (
                f"--forced-split {text!r}: this node has the forced split "
                f"{forced[steps]!r}: remove one"
            )
            raise ParameterError(msg)
        forced[steps] = split.strip()
    return forced or None
