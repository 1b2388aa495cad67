"""Clusters, from the shell."""

import os
import sys
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from spinney._support.text import number_text, signs_to_ascii
from spinney.cli.shell_options import (
    check_output,
    examples,
    output_options,
    reading_options,
    text_options,
)
from spinney.cli.shell_output import (
    STANDARD_OUTPUT,
    as_json,
    progress_bar,
    say,
    write_data,
    write_text,
)
from spinney.errors import ParameterError, Setting, warn

if TYPE_CHECKING:
    from spinney.data import Column, Table
    from spinney.models.clusters import Found, Plan, ReadableClusters

FILES = {"output": "-o", "model": "--model", "plot": "--plot", "elbow": "--elbow"}
COLUMNS_NAMED = 6


@click.command(
    epilog=examples(
        "spinney cluster iris.csv --ignore class --k auto -o labels.csv",
        "spinney cluster five.csv --columns attr1,attr2 --start two.csv --explain",
        "spinney cluster shops.csv --ignore id --standardise --model shops.spinney",
        "spinney cluster iris.csv --ignore class --plot iris.png --elbow elbow.png",
        "spinney predict shops.spinney new.csv -o new_labels.csv",
    ),
    short_help="Find clusters of rows, and explain them.",
)
@click.argument("data")
@click.option(
    "-k",
    "--k",
    default="auto",
    show_default=True,
    metavar="auto|NUMBER|FROM-TO",
    help="How many clusters; auto tries 2 to 10.",
)
@click.option(
    "--rule",
    help="What chooses k: silhouette, elbow and, of numbers only, calinski_harabasz, "
    "davies_bouldin or gap.  [default: silhouette]",
)
@click.option(
    "--columns",
    multiple=True,
    metavar="A,B",
    help="Measure distances in these columns only. Repeatable.",
)
@click.option(
    "--standardise",
    "--standardize",
    is_flag=True,
    help="Divide each column by its standard deviation; if not said, numbers count as "
    "they are.",
)
@click.option(
    "--method",
    help="k-means, k-prototypes or, of names only, k-modes.  [default: by the kinds of "
    "the columns]",
)
@click.option(
    "--start",
    metavar="NAME|FILE",
    help="k-means++, random, of one column optimal, of mixed tables huang or cao; or a "
    "file of centroids, a row each.  [default: k-means++, huang]",
)
@click.option(
    "--restarts",
    type=int,
    help="How many starts; the best clusters are kept.  [default: 4 of k-means++, else "
    "10]",
)
@click.option(
    "--max-iterations", type=int, default=300, show_default=True, help="Of each start."
)
@click.option(
    "--tolerance",
    type=float,
    default=0.0,
    help="End when the centroids move by no more than this share of the variance.  "
    "[default: when nothing moves]",
)
@click.option(
    "--gamma", type=float, help="What a nominal difference weighs in a mixed table."
)
@click.option("--weight", metavar="COLUMN", help="The column of row weights.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Of what is drawn."
)
@click.option("--jobs", type=int, help="How many threads: one a core if unsaid.")
@click.option(
    "--explain",
    is_flag=True,
    help="Print every iteration's distances, clusters and centroids, then what tells "
    "the clusters apart.",
)
@click.option(
    "--explain-rows",
    type=click.IntRange(min=1),
    help="How many rows of each iteration to print.  [default: 20]",
)
@click.option("--model", metavar="FILE", help="Save the clusters to this file.")
@click.option("--plot", metavar="FILE", help="Draw the rows by cluster (.png, .svg).")
@click.option("--elbow", metavar="FILE", help="Draw inertia by the number of clusters.")
@click.option("--raw", is_flag=True, help="Do not guard cells against spreadsheets.")
@click.option("--quiet", is_flag=True, help="Do not print the clusters.")
@reading_options
@output_options
@text_options
def cluster(data: str, **options: Any) -> None:
    """Find clusters of the rows of DATA (a file, or - for standard input).

    -o writes the rows with their cluster and the distance to it. Clusters have
    numbers from 0 on, the same in every output and in Python.
    """
    from spinney.data import declarations_of
    from spinney.models.clusters import ReadableClusters, find_clusters, read_rows

    _check_options(options)
    plan = _plan(options)
    declared = declarations_of(
        options["nominal"],
        options["ordinal"],
        options["numeric"],
        options["ignore"],
        options["missing"],
    )
    table, used, weights = read_rows(
        data,
        columns=options["columns"],
        declarations=declared,
        weight=options["weight"],
        format=options["format_"],
        encoding=options["encoding"],
    )
    with progress_bar("clustering") as progress:
        found = find_clusters(
            table,
            used,
            plan,
            weights=weights,
            markers=options["missing"],
            progress=progress,
        )
    tell_notes(found, quiet=options["quiet"])
    _write_files(found, options)
    if options["quiet"] or options["output"] == STANDARD_OUTPUT:
        return
    model = ReadableClusters(found.clusters)
    if options["json_"]:
        facts = _facts(model, found, options)
        write_data(as_json("cluster", facts, ascii_only=options["ascii_"]))
        return
    text = _text(model, found, options)
    write_text(
        lambda plain: signs_to_ascii(text) if plain else text,
        ascii_only=options["ascii_"],
    )


def _check_options(options: dict[str, Any]) -> None:
    """Refuse what does not go together, and files that cannot be written."""
    if options["quiet"]:
        for name, value in (("--json", "json_"), ("--explain", "explain")):
            if options[value]:
                msg = f"--quiet and {name} exclude each other: leave one out"
                raise ParameterError(msg)
    if options["explain_rows"] is not None and not options["explain"]:
        msg = "--explain-rows is of what --explain prints: give both, or leave it out"
        raise ParameterError(msg)
    named: dict[str, str] = {}
    for name, flag in FILES.items():
        path = options[name]
        if path is None:
            continue
        if path == STANDARD_OUTPUT and name != "output":
            msg = f"{flag} '-': this does not go to standard output: name a file"
            raise ParameterError(msg)
        if os.path.realpath(path) in named:
            other = named[os.path.realpath(path)]
            msg = f"{flag} {path!r} is the file of {other}, too: name another"
            raise ParameterError(msg)
        named[os.path.realpath(path)] = flag
        check_output(path, force=options["force"], option=flag)
    if options["plot"] or options["elbow"]:
        from spinney.models.clusters import check_plots

        check_plots([options[name] for name in ("plot", "elbow") if options[name]])
    if options["output"] == STANDARD_OUTPUT and (
        options["json_"] or options["explain"]
    ):
        msg = (
            "-o '-' writes the rows to standard output: leave --json and --explain out"
        )
        raise ParameterError(msg)


def _plan(options: dict[str, Any]) -> "Plan":
    from spinney.models.clusters import Plan

    k = options["k"]
    return Plan(
        k if k == "auto" else _number_or_range(k),
        options["rule"],
        options["method"],
        options["start"],
        options["restarts"],
        options["gamma"],
        options["max_iterations"],
        options["tolerance"],
        options["seed"],
        options["standardise"],
        options["jobs"],
    )


def _number_or_range(text: str) -> "int | range":
    """Return what --k says, where that is a number or two of them."""
    first, dash, last = text.partition("-")
    try:
        numbers = [int(first), int(last)] if dash and first else [int(text)]
    except ValueError:
        numbers = []
    if not numbers or numbers != sorted(numbers):
        msg = f"--k {text!r} must be a whole number, two such as 2-15, or auto"
        raise ParameterError(msg)
    return numbers[0] if len(numbers) == 1 else range(numbers[0], numbers[1] + 1)


def _write_files(found: "Found", options: dict[str, Any]) -> None:
    """Make all that is to be written, then write it: an interrupt leaves no half."""
    from spinney._support.atomic_file import write_whole
    from spinney.output.file import save_clusters

    drawn: dict[str, bytes] = {}
    if options["plot"]:
        from spinney.models.clusters import scatter

        drawn[options["plot"]] = scatter(found, options["plot"])
    if options["elbow"]:
        from spinney.models.clusters import curve_of, elbow

        curve = curve_of(found)
        drawn[options["elbow"]] = elbow(
            curve, len(found.clusters), options["elbow"], given=found.choice is None
        )
    output = options["output"]
    if output is not None:
        text = rows_as_csv(found, raw=options["raw"])
        write_data(text, output, force=options["force"])
        if output != STANDARD_OUTPUT:
            say(f"rows with their clusters are in {output}")
    if options["model"] is not None:
        save_clusters(found.clusters, options["model"], force=options["force"])
        say(f"saved to {options['model']}")
    for path, content in drawn.items():
        write_whole(path, [content], force=options["force"])
        say(f"drawn in {path}")


def _facts(
    model: "ReadableClusters", found: "Found", options: dict[str, Any]
) -> dict[str, Any]:
    """Return what is told of clusters that were just found."""
    facts = model.facts()
    facts["converged"] = found.converged
    facts["choice"] = None if found.choice is None else found.choice.as_dict()
    facts["labels"] = found.labels.tolist()
    facts["distances"] = found.distances.tolist()
    if options["explain"]:
        trace = found.trace(options["explain_rows"])
        facts["trace"] = None if trace is None else trace.as_dict()
        facts["explanation"] = _explanation(found)
    return facts


def _text(model: "ReadableClusters", found: "Found", options: dict[str, Any]) -> str:
    """Return what is told of clusters, for people."""
    width = line_width()
    names = found.used.names
    listed = ", ".join(names[:COLUMNS_NAMED])
    n_rows, more = found.table.n_rows, len(names) - COLUMNS_NAMED
    told = (
        f"{n_rows} row{'s' * (n_rows != 1)}, "
        f"{len(names)} column{'s' * (len(names) != 1)}: "
        f"{listed}{f' and {more} more' if more > 0 else ''}"
    )
    parts = [told]
    if found.choice is not None:
        parts.append(found.choice.text(width=width))
    else:
        parts[0] += f"\nk = {len(found.clusters)}, as given"
    if options["explain"]:
        trace = found.trace(options["explain_rows"])
        if trace is not None:
            note = "each column divided by its standard deviation:\n\n"
            scaled = found.clusters.standardised
            parts.append((note if scaled else "") + trace.text(width=width))
    parts.append(model.text(width=width) + _end(found))
    if options["explain"]:
        parts.append(
            _explanation(found) or "there is one cluster: nothing to tell apart"
        )
    return _wrapped("\n\n".join(parts), width)


def _wrapped(text: str, width: int | None) -> str:
    """Return lines that are no wider than this; what goes on stands further in."""
    if width is None:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        own = " " * (len(line) - len(line.lstrip()))
        wide = len(line) > width
        lines += wrap(line, width, subsequent_indent=own + "  ") if wide else [line]
    return "\n".join(lines)


def _end(found: "Found") -> str:
    if found.converged or found.plan.tolerance:
        return ""
    return (
        f"\nnot converged: --max-iterations {found.plan.max_iterations} was too few "
        "for nothing to move"
    )


def _explanation(found: "Found") -> str | None:
    """Return sentences and profiles; None where there is one cluster only."""
    from spinney.models.clusters.explained import explain_clusters

    labels = found.labels
    if found.weights is not None:
        labels = labels[found.weights > 0]
    if len(set(labels.tolist())) < 2:
        return None
    told = explain_clusters(found.used, found.labels, sample_weight=found.weights)
    return told.text()


# A nominal column with so many values, as a share of the rows, names them.
NAMES_SHARE = 0.9
# A column with such a share of the variance of all numbers decides nearly alone.
RULING_SHARE = 0.99


def tell_notes(found: "Found", *, quiet: bool) -> None:
    """Warn of what may be wrong and, unless quiet, say what may be better."""
    _warn_of_names(found.used)
    _warn_of_few(found)
    if quiet:
        return
    _say_of_last(found)
    ruling = _ruling(found)
    if ruling is not None:
        say(ruling)


def _warn_of_names(used: "Table") -> None:
    """Warn of columns that name or number rows: they tell nothing of clusters."""
    for column in used.columns:
        why = _naming(column)
        if why is not None and len(used.columns) > 1:
            warn(
                f"column {column.name!r} {why}, and tells nothing of clusters",
                remedy=("leave it out (", Setting("ignore", [column.name]), ")"),
            )


def _naming(column: "Column") -> str | None:
    """Return why a column rather names or numbers rows, or None where it does not."""
    n_rows = len(column.cells)
    if n_rows <= 2 or column.missing.any():
        return None
    if column.kind == "numeric":
        steps = column.cells[1:] - column.cells[:-1]
        counts = n_rows >= 5 and column.cells[0] in (0, 1) and column.unit is None
        return "numbers the rows" if counts and bool((steps == 1).all()) else None
    n_names = len(column.levels)
    if column.kind != "nominal" or n_names < NAMES_SHARE * n_rows:
        return None
    if n_names == n_rows:
        return "has another value in every row"
    return f"has {n_names} values in {n_rows} rows"


def _warn_of_few(found: "Found") -> None:
    empty = int((found.clusters.weights == 0).sum())
    if empty:
        warn(
            f"{empty} of {len(found.clusters)} clusters have no rows: there are no "
            "more different rows"
        )


def _say_of_last(found: "Found") -> None:
    """Say that more clusters might be better where the most that was tried is best."""
    choice = found.choice
    if choice is None or len(choice.curve) < 2 or choice.k < choice.curve[-1].k:
        return
    if choice.k < choice.n_rows:
        most = min(2 * choice.k, choice.n_rows)
        say(f"k = {choice.k} is the most that was tried: --k 2-{most} tries more")


def _ruling(found: "Found") -> str | None:
    """Return a sentence on the column in whose numbers nearly all distances lie."""
    from spinney.cluster import spread_of

    numeric = [column for column in found.used.columns if column.kind == "numeric"]
    known = [c for c in numeric if _varies(c.cells[~c.missing])]
    if found.plan.standardise or len(known) < 2:
        return None
    spreads = [float(spread_of(c.cells[:, None], found.weights)[0]) for c in known]
    largest = max(spreads)
    share = 1 / sum((spread / largest) ** 2 for spread in spreads)
    if share < RULING_SHARE:
        return None
    name = known[spreads.index(largest)].name
    percent = "over 99.9" if share > 0.999 else f"{100 * share:.1f}"
    return (
        f"column {name!r} has {percent} % of the variance of all numbers, so it "
        "decides nearly alone: --standardise lets columns count alike"
    )


def _varies(cells: Any) -> bool:
    return len(cells) > 0 and bool(cells.min() < cells.max())


def line_width() -> int | None:
    """Return how wide lines may be; None where nobody looks at them."""
    if os.environ.get("COLUMNS", "").isdigit():
        return max(20, int(os.environ["COLUMNS"]))
    if sys.stdout is not None and sys.stdout.isatty():
        return get_terminal_size().columns
    return None


def rows_as_csv(found: "Found", *, raw: bool) -> str:
    """Return the rows with their own columns, their cluster and the distance to it."""
    from spinney.cli.predict_command import lines_as_csv

    columns = [_column_cells(column) for column in found.table.columns]
    columns += [found.labels.tolist(), found.distances.tolist()]
    header = [*found.table.names, "cluster", "distance"]
    return lines_as_csv(header, zip(*columns, strict=True), raw=raw, seen=False)


def _column_cells(column: Any) -> list[Any]:
    """Return the values of a column as they are written; a missing one is empty."""
    if column.kind != "numeric":
        return ["" if code < 0 else column.levels[code] for code in column.cells]
    if column.unit is None:
        return ["" if cell != cell else cell for cell in column.cells.tolist()]
    return [
        "" if cell != cell else number_text(cell, column.unit)
        for cell in column.cells.tolist()
    ]


def show_clusters(
    model: "ReadableClusters", of_trees: dict[str, Any], *, ascii_: bool, json_: bool
) -> None:
    """Print clusters; what is said of trees is refused."""
    _refuse(of_trees)
    if json_:
        write_data(as_json("clusters", model.facts(), ascii_only=ascii_))
        return
    text = model.text(width=line_width())
    write_text(lambda plain: signs_to_ascii(text) if plain else text, ascii_only=ascii_)


def predict_clusters(
    model: "ReadableClusters", table: "Table", options: dict[str, Any], *, seen: bool
) -> None:
    """Write the cluster of each row of a table, and the distance to it."""
    from spinney.cli.predict_command import lines_as_csv

    _refuse({"--probabilities": options["probabilities"], "--leaf": options["leaf"]})
    labels, distances = (each.tolist() for each in model.assign(table))
    if options["json_"]:
        rows = [
            {"label": label, "distance": distance}
            for label, distance in zip(labels, distances, strict=True)
        ]
        content = {
            "target": "cluster",
            "classes": list(range(len(model.clusters_))),
            "rows": rows,
        }
        text = as_json("predict", content)
    else:
        text = lines_as_csv(
            ["cluster", "distance"],
            zip(labels, distances, strict=True),
            raw=options["raw"],
            seen=seen,
        )
    write_data(text, options["output"], force=options["force"])


def _refuse(of_trees: dict[str, Any]) -> None:
    for name, value in of_trees.items():
        if value:
            msg = f"{name} is of trees, and this file holds clusters: leave it out"
            raise ParameterError(msg)
