"""The commands."""

import sys
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.options import (
    check_output,
    class_weight_of,
    examples,
    file_options,
    json_option,
    load_readable,
    numbers_of,
    output_options,
    reading_options,
    text_options,
)
from spinney.cli.output import (
    STANDARD_OUTPUT,
    as_json,
    escaped,
    say,
    write_data,
    write_text,
)
from spinney.errors import ParameterError, warn

if TYPE_CHECKING:
    from spinney.readable import ReadableTree

__all__ = ["explain", "grow", "info", "predict", "rules", "show"]


@click.command(
    epilog=examples(
        "spinney grow melons.csv --target ripe --ignore id -o melons.spinney",
        "spinney grow melons.csv --target ripe --ignore id --recipe cart",
        'spinney grow shirts.tsv --target sold --ordinal "size:small<medium<large"',
        "spinney grow votes.csv --target party --missing '?' --json > tree.json",
        "spinney grow melons.csv --target ripe --ignore id --split-by umbilicus",
        "spinney grow melons.csv --target ripe --ignore id --recipe id3 "
        '--split-by "texture = clear -> root"',
        "cat melons.csv | spinney grow - --target ripe --ignore id",
    )
)
@click.argument("data")
@click.option("--target", required=True, metavar="COLUMN", help="What to predict.")
@click.option(
    "--recipe", default="c4.5", show_default=True, help="id3, c4.5, cart, chaid, m5."
)
@click.option(
    "--criterion",
    help="gain, gain_ratio, gini, misclassification, chi_square, g, mdl or hellinger; "
    "of two branches c_sep or twoing; for a number squared_error, variance, sdr, "
    "variance_root, f or poisson.",
)
@click.option("--grouping", help="Of nominal values: multiway, binary or merge.")
@click.option(
    "--missing-policy",
    help="fractional, most-common, own-category, branch or surrogate.",
)
@click.option("--max-depth", type=int, help="Most questions on a path.")
@click.option("--max-leaves", type=int, help="Most leaves.")
@click.option(
    "--buckets",
    help="Numbers by buckets: equal-width, equal-frequency, k-means or entropy-mdl.",
)
@click.option("--n-buckets", type=int, help="How many buckets.")
@click.option("--alpha-merge", type=float, help="CHAID: merge values with a larger p.")
@click.option("--alpha-resplit", type=float, help="CHAID: and part them below this p.")
@click.option("--exhaustive", is_flag=True, default=None, help="Exhaustive CHAID.")
@click.option("--alpha-split", type=float, help="The largest p of a split.")
@click.option("--min-samples-split", type=float, help="Least weight to split a node.")
@click.option("--min-samples-leaf", type=float, help="Least weight of a branch.")
@click.option(
    "--min-weight-fraction-leaf", type=float, help="The same as a share of all rows."
)
@click.option("--min-gain", type=float, help="Least gain of a split.")
@click.option(
    "--min-branch-share", type=float, help="Share of its node that a branch exceeds."
)
@click.option(
    "--min-deviation", type=float, help="Least deviation to split, as a share of all."
)
@click.option("--leaves", help="Of a tree for numbers: mean or linear.")
@click.option("--smoothing", type=float, help="Weight of the nodes above a leaf.")
@click.option(
    "--mdl-correction/--no-mdl-correction",
    default=None,
    help="Whether a threshold's gain pays for the choice among thresholds.",
)
@click.option(
    "--min-cut-share",
    type=float,
    help="Least weight of a threshold's side, as a share of a class's average weight.",
)
@click.option("--min-step", type=float, help="Least distance that a threshold parts.")
@click.option("--thresholds", help="midpoint or observed.")
@click.option(
    "--pruning",
    help="none, collapse, error-based, cost-complexity, pessimistic, mdl or simplify; "
    "of numbers adjusted-error.",
)
@click.option("--folds", type=int, help="Of cost-complexity pruning.")
@click.option("--rule", help="Of cost-complexity pruning: 1-se, half-se or minimum.")
@click.option("--forest", type=float, help="Share of a forest in the labels.")
@click.option("--seed", type=int, help="Of the folds and the forest.")
@click.option("--confidence", type=float, help="Of error-based pruning, such as 0.25.")
@click.option(
    "--raising/--no-raising",
    default=None,
    help="Whether pruning may put a branch in its node's place.",
)
@click.option("--probability", help="frequency, laplace or m-estimate.")
@click.option("--m", type=float, help="Weight of all rows in an m-estimate.")
@click.option(
    "--linear-terms", type=int, help="Most terms of a linear combination of numbers."
)
@click.option(
    "--linear-penalty", type=float, help="What each further term must add: 0.1."
)
@click.option("--construct", type=int, help="Most attributes to make of others.")
@click.option(
    "--surrogates", type=int, help="Most questions that stand in for a split."
)
@click.option("--weight", metavar="COLUMN", help="The column of row weights.")
@click.option(
    "--class-weight",
    multiple=True,
    metavar="CLASS=NUMBER",
    help='Multiply a class\'s weight; or "balanced". Repeatable.',
)
@click.option(
    "--prior",
    multiple=True,
    metavar="CLASS=SHARE",
    help="The share of all weight that a class is to have. Repeatable.",
)
@click.option(
    "--costs",
    metavar="FILE",
    help="What errors cost: a CSV file of actual, predicted, cost.",
)
@click.option(
    "--test-cost",
    multiple=True,
    metavar="COLUMN=COST",
    help="What it costs to ask for a column. Repeatable.",
)
@click.option(
    "--tie", multiple=True, metavar="COLUMN", help="Wins ties, in order. Repeatable."
)
@click.option(
    "--split-by",
    multiple=True,
    metavar="[PATH ->] COLUMN",
    help="Force a node's attribute; branches of a path are separated by ;. Repeatable.",
)
@click.option("--source", help="Where rows are counted: memory or duckdb.")
@click.option("--quiet", is_flag=True, help="Do not print the tree.")
@reading_options
@output_options
@text_options
def grow(data: str, target: str, **options: Any) -> None:
    """Grow a tree on the table DATA (a file, or - for standard input)."""
    from spinney.declare import declarations_of
    from spinney.files.cost_file import read_costs
    from spinney.files.model_file import save_model
    from spinney.growing import grow_from
    from spinney.readable import ReadableTree
    from spinney.recipe import SETTINGS, recipe_named

    output = options["output"]
    if output == STANDARD_OUTPUT:
        msg = "-o '-': a model does not go to standard output: name a file, or --json"
        raise ParameterError(msg)
    if options["quiet"] and options["json_"]:
        msg = "--quiet and --json exclude each other: leave one out"
        raise ParameterError(msg)
    check_output(output, force=options["force"])
    # The shell's --missing is a marker of missing cells, as in most tools.
    settings = {**options, "missing": options["missing_policy"]}
    costs = options["costs"]
    model = ReadableTree(
        grow_from(
            data,
            target,
            recipe=recipe_named(options["recipe"]).changed(
                **{name: settings[name] for name in SETTINGS}
            ),
            declarations=declarations_of(
                options["nominal"],
                options["ordinal"],
                options["numeric"],
                options["ignore"],
                options["missing"],
            ),
            weight=options["weight"],
            source=options["source"],
            format=options["format_"],
            encoding=options["encoding"],
            class_weight=class_weight_of(options["class_weight"]),
            priors=numbers_of(options["prior"], "--prior", "CLASS=SHARE"),
            cost_matrix=None if costs is None else read_costs(costs),
            test_costs=numbers_of(options["test_cost"], "--test-cost", "COLUMN=COST"),
            ties=options["tie"],
            force=_forced(options["split_by"]),
        )
    )
    if output is not None:
        save_model(model.model_, output, force=options["force"])
        say(f"saved to {output}")
    if not options["quiet"]:
        _show(model, max_depth=None, ascii_=options["ascii_"], json_=options["json_"])


def _forced(given: tuple[str, ...]) -> dict[tuple[str, ...], str] | None:
    forced: dict[tuple[str, ...], str] = {}
    for text in given:
        path, _, name = text.rpartition("->")
        steps = tuple(step.strip() for step in path.split(";") if step.strip())
        if steps in forced:
            msg = (
                f"--split-by {text!r}: that node is to be split by "
                f"{forced[steps]!r}: name one attribute"
            )
            raise ParameterError(msg)
        forced[steps] = name.strip()
    return forced or None


def _show(
    model: "ReadableTree", *, max_depth: int | None, ascii_: bool, json_: bool
) -> None:
    from spinney.export.text import to_text

    if json_:
        write_data(escaped(model.export("json").rstrip("\n"), ascii_only=ascii_))
    else:
        write_text(
            lambda plain: to_text(model.tree, max_depth=max_depth, ascii_only=plain),
            ascii_only=ascii_,
        )


@click.command(
    epilog=examples(
        "spinney show melons.spinney",
        "spinney show melons.spinney --depth 2 --ascii",
        "spinney show melons.spinney --json | jq '.nodes[0]'",
    )
)
@click.argument("model")
@click.option("--depth", type=click.IntRange(min=0), help="Hide what lies deeper.")
@text_options
def show(model: str, depth: int | None, *, ascii_: bool, json_: bool) -> None:
    """Print the tree of MODEL."""
    if json_ and depth is not None:
        msg = f"--depth {depth} and --json exclude each other: JSON is the whole tree"
        raise ParameterError(msg)
    _show(load_readable(model), max_depth=depth, ascii_=ascii_, json_=json_)


@click.command(
    epilog=examples(
        "spinney rules melons.spinney",
        "spinney rules melons.spinney --json",
        "spinney rules melons.spinney --simplify melons.csv",
        "spinney rules melons.spinney --simplify melons.csv --json -o rules.json",
    )
)
@click.argument("model")
@click.option(
    "--simplify",
    metavar="DATA",
    help="Print C4.5's shorter rule set; DATA is the table MODEL was grown on.",
)
@click.option(
    "--confidence",
    type=float,
    help="Of the pessimistic error, with --simplify: 0.25 if not said; less is "
    "shorter.",
)
@click.option(
    "--weight", metavar="COLUMN", help="The column of row weights, with --simplify."
)
@file_options
@output_options
@text_options
def rules(model: str, simplify: str | None, **options: Any) -> None:
    """Print one rule for each leaf of MODEL, or its simplified rule set."""
    from spinney.cli.rulesets import check_alone, simplified

    plain, output, force = options["ascii_"], options["output"], options["force"]
    check_output(output, force=force)
    loaded = load_readable(model)
    if simplify is None:
        check_alone(options)
        found: Any = loaded.rules()
        as_data = as_json("rules", {"rules": found.as_dicts()}, ascii_only=plain)
    else:
        found = simplified(loaded, simplify, options)
        as_data = escaped(found.to_json().rstrip("\n"), ascii_only=plain)
    if options["json_"]:
        write_data(as_data, output, force=force)
    elif output is None or output == STANDARD_OUTPUT:
        write_text(lambda plain: found.text(ascii_only=plain), ascii_only=plain)
    else:
        write_data(found.text(ascii_only=plain), output, force=force)


@click.command(
    epilog=examples(
        "spinney explain melons.spinney --node 0",
        "spinney explain melons.spinney --row new.csv --row-number 3",
    )
)
@click.argument("model")
@click.option("--node", type=int, help="The node whose arithmetic is wanted: 0 first.")
@click.option("--row", metavar="DATA", help="The table that holds a row to follow.")
@click.option(
    "--row-number",
    type=click.IntRange(min=1),
    help="Which row of that table, the first if not said.",
)
@file_options
@text_options
def explain(model: str, node: int | None, row: str | None, **options: Any) -> None:
    """Print the arithmetic of a node of MODEL, or the path of a row."""
    number, plain = options["row_number"], options["ascii_"]
    if row is not None and node is not None:
        msg = f"--node {node} and --row {row!r} exclude each other: name one"
        raise ParameterError(msg)
    if row is None and number is not None:
        msg = f"--row-number {number} says nothing alone: name its table by --row"
        raise ParameterError(msg)
    loaded = load_readable(model)
    if row is None:
        found = loaded.explain(node=0 if node is None else node)
    else:
        table = loaded.read(
            row, format=options["format_"], encoding=options["encoding"]
        )
        found = loaded.explain(row=_one_row(table, row, number or 1))
    if options["json_"]:
        kind = "explain-node" if row is None else "explain-row"
        write_data(as_json(kind, found.as_dict(), ascii_only=plain))
    else:
        write_text(lambda plain: found.text(ascii_only=plain), ascii_only=plain)


def _one_row(table: Any, data: str, number: int) -> Any:
    if number > table.n_rows:
        msg = f"--row-number {number}: {data!r} has {table.n_rows} rows; name one"
        raise ParameterError(msg)
    return table.take(slice(number - 1, number))


@click.command(
    epilog=examples(
        "spinney predict melons.spinney new.csv -o out.csv",
        "spinney predict melons.spinney new.csv --probabilities --leaf",
        "cat new.csv | spinney predict melons.spinney - --json > out.json",
    )
)
@click.argument("model")
@click.argument("data")
@click.option("--probabilities", is_flag=True, help="Add a column for each class.")
@click.option("--leaf", is_flag=True, help="Add the number of the leaf.")
@click.option("--raw", is_flag=True, help="Do not guard cells against spreadsheets.")
@file_options
@output_options
@json_option
def predict(model: str, data: str, **options: Any) -> None:
    """Predict the class of each row of DATA by MODEL.

    DATA is a file, or - for standard input. Columns are found by name: further
    ones and any order are fine.
    """
    from spinney.cli.predictions import as_csv, as_rows, predictions, unseen_warning

    output, force = options["output"], options["force"]
    check_output(output, force=force)
    loaded = load_readable(model)
    table = loaded.read(data, format=options["format_"], encoding=options["encoding"])
    for name, values in loaded.unseen(table).items():
        warn(unseen_warning(name, values))
    found = predictions(
        loaded, table, probabilities=options["probabilities"], leaf=options["leaf"]
    )
    if options["json_"]:
        text = as_json("predict", as_rows(found))
    else:
        text = as_csv(found, raw=options["raw"], seen=_seen(output))
    write_data(text, output, force=force)


def _seen(output: str | None) -> bool:
    """Return whether the result goes straight to a terminal."""
    to_stdout = output is None or output == STANDARD_OUTPUT
    return to_stdout and sys.stdout is not None and sys.stdout.isatty()


@click.command(
    epilog=examples(
        "spinney info melons.spinney", "spinney info melons.spinney --json"
    ),
    short_help="Print what MODEL is, or the versions installed here.",
)
@click.argument("model", required=False)
@json_option
def info(model: str | None, *, json_: bool) -> None:
    """Print what MODEL is and what it was grown on; without it, the versions here."""
    from spinney.cli.information import about_installation, about_model, as_lines

    facts = about_installation() if model is None else about_model(load_readable(model))
    if json_:
        write_data(as_json("info", facts))
    else:
        write_text(lambda _: as_lines(facts))
