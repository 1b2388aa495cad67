"""Clusters, from the shell."""

import os
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from spinney._support.text import signs_to_ascii
from spinney.cli.cluster_notes import tell_notes
from spinney.cli.cluster_output import line_width, rows_as_csv
from spinney.cli.options import (
    check_output,
    examples,
    output_options,
    reading_options,
    text_options,
)
from spinney.cli.output import STANDARD_OUTPUT, as_json, say, write_data, write_text
from spinney.cli.progress import progress_bar
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.clustered.plan import Found, Plan
    from spinney.clustered.readable import ReadableClusters

__all__ = ["cluster"]

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
    from spinney.clustered.finding import find_clusters
    from spinney.clustered.readable import ReadableClusters
    from spinney.clustered.rows import read_rows
    from spinney.data.declarations import declarations_of

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
        from spinney.clustered.plots import check_plots

        check_plots([options[name] for name in ("plot", "elbow") if options[name]])
    if options["output"] == STANDARD_OUTPUT and (
        options["json_"] or options["explain"]
    ):
        msg = (
            "-o '-' writes the rows to standard output: leave --json and --explain out"
        )
        raise ParameterError(msg)


def _plan(options: dict[str, Any]) -> "Plan":
    from spinney.clustered.plan import Plan

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
    from spinney.clustered.file import save_clusters

    drawn: dict[str, bytes] = {}
    if options["plot"]:
        from spinney.clustered.plots import scatter

        drawn[options["plot"]] = scatter(found, options["plot"])
    if options["elbow"]:
        from spinney.clustered.finding import curve_of
        from spinney.clustered.plots import elbow

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
    from spinney.cli.information import about_clusters

    facts = about_clusters(model)
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
    from spinney.explained_clusters import explain_clusters

    labels = found.labels
    if found.weights is not None:
        labels = labels[found.weights > 0]
    if len(set(labels.tolist())) < 2:
        return None
    told = explain_clusters(found.used, found.labels, sample_weight=found.weights)
    return told.text()
