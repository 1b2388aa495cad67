"""``spinney cluster``: find clusters; ``cluster_report.py`` prints them."""

import os
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.engine_options import dask_workers, engine_options, table_input
from spinney.cli.rows_output import JSON, RowsOutput, rows_options, rows_output
from spinney.cli.shell_options import (
    GroupedCommand,
    check_output,
    examples,
    in_group,
    jobs_option,
    reading_options,
    refuse_options,
    text_options,
    weight_option,
)
from spinney.cli.shell_output import STANDARD_OUTPUT, progress_bar, say
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.extensions.clustering.cluster_report import ClusterReport
    from spinney.extensions.clustering.models.cluster_plan import Plan

NEEDS_ROWS = ("output", "plot", "elbow", "explain", "explain_rows", "spreadsheet")
FILES = {"output": "-o", "model": "--model", "plot": "--plot", "elbow": "--elbow"}


@click.command(
    cls=GroupedCommand,
    epilog=examples(
        "spinney cluster iris.csv --ignore class --n-clusters auto -o labels.csv",
        "spinney cluster five.csv --columns attr1,attr2 --init two.csv --explain",
        "spinney cluster shops.csv --ignore id --standardise --model shops.spinney",
        "spinney cluster iris.csv --ignore class --plot iris.png --elbow elbow.png",
        "spinney cluster sqlite:///shop.db --table orders --columns price,size "
        "--n-clusters 4",
        "spinney predict shops.spinney new.csv -o new_labels.csv",
    ),
    short_help="Find clusters of rows, and explain them.",
)
@in_group(
    "Data",
    click.argument("data"),
    click.option(
        "--columns",
        multiple=True,
        metavar="A,B",
        help="Cluster by these columns only. Repeatable.",
    ),
    click.option(
        "--standardise",
        "--standardize",
        is_flag=True,
        help="Divide each column by its standard deviation.",
    ),
    reading_options,
    weight_option,
    engine_options,
)
@in_group(
    "Clusters",
    click.option(
        "-k",
        "--n-clusters",
        default="auto",
        show_default=True,
        metavar="auto|NUMBER|FROM-TO",
        help="Number of clusters; auto tries 2 to 10.",
    ),
    click.option(
        "--rule",
        help="Criterion for k: silhouette, elbow or, for numeric tables, "
        "calinski_harabasz, davies_bouldin or gap.  [default: silhouette]",
    ),
    click.option(
        "--method",
        help="k-means, k-prototypes or, for categories only, k-modes.  [default: by "
        "the kinds of the columns]",
    ),
    click.option(
        "--init",
        metavar="NAME|FILE",
        help="Initial centroids: k-means++, random, for one column optimal, for mixed "
        "tables huang or cao; or a file of centroids.  [default: k-means++, huang]",
    ),
    click.option(
        "--n-init",
        type=int,
        help="Random initialisations; the best clusters win.  [default: 4, for large "
        "tables 1]",
    ),
    click.option(
        "--max-iter",
        type=int,
        help="Most iterations per restart.  [default: 300, for mixed tables 100]",
    ),
    click.option(
        "--tol",
        type=float,
        default=0.0,
        help="End when the squared moves of centroids are at most this fraction of the "
        "variance.  [default: when nothing moves]",
    ),
    click.option(
        "--gamma", type=float, help="Weight of a categorical mismatch in mixed tables."
    ),
    click.option(
        "--random-state", type=int, default=0, show_default=True, help="Random seed."
    ),
    jobs_option,
)
@in_group(
    "Output",
    rows_options,
    click.option("--model", metavar="FILE", help="Save the clusters to this file."),
    click.option(
        "--plot", metavar="FILE", help="Draw the rows by cluster (.png, .svg)."
    ),
    click.option(
        "--elbow", metavar="FILE", help="Draw inertia by the number of clusters."
    ),
    click.option(
        "--explain",
        is_flag=True,
        help="Print distances, clusters and centroids of every iteration, then the "
        "rules and profiles of the clusters.",
    ),
    click.option(
        "--explain-rows",
        type=click.IntRange(min=1),
        help="Most rows of an iteration to print.  [default: 20]",
    ),
    text_options,
    click.option("--quiet", is_flag=True, help="Do not print the clusters."),
)
def cluster(data: str, **options: Any) -> None:
    """Find clusters of the rows of DATA (a file, a database, or - for standard input).

    -o writes the rows with their cluster and the distance to it. Clusters are numbered
    from 0, the same in every output and in Python.
    """
    from spinney.extensions.clustering.cluster_report import ClusterReport, print_notes
    from spinney.extensions.clustering.models.cluster_table import cluster_table

    _check_options(options)
    output = _rows_output(options)
    plan = _plan_from_options(options)
    table = table_input(data, options)
    if table.is_remote:
        refuse_options(NEEDS_ROWS, "needs all rows in memory, but this table is remote")
    with dask_workers(options), progress_bar("clustering") as progress:
        columns = options["columns"]
        clustered = cluster_table(table, plan, columns, progress=progress)
    report = ClusterReport(*clustered)
    print_notes(report, quiet=options["quiet"])
    _write_files(report, options, output)
    if not options["quiet"] and options["output"] != STANDARD_OUTPUT:
        report.write(
            ascii_only=options["ascii_"],
            as_data=options["json_"],
            explain=options["explain"],
            rows_shown=options["explain_rows"],
        )


def _check_options(options: dict[str, Any]) -> None:
    """Refuse contradictory options, and files that cannot be written."""
    if options["quiet"]:
        for name, value in (("--json", "json_"), ("--explain", "explain")):
            if options[value]:
                msg = f"--quiet and {name} exclude each other: remove one"
                raise ParameterError(msg)
    if options["explain_rows"] is not None and not options["explain"]:
        msg = "--explain-rows needs --explain: add it, or remove --explain-rows"
        raise ParameterError(msg)
    named: dict[str, str] = {}
    for name, flag in FILES.items():
        path = options[name]
        if path is None:
            continue
        if path == STANDARD_OUTPUT and name != "output":
            msg = f"{flag} cannot write to standard output: name a file"
            raise ParameterError(msg)
        if (first := named.setdefault(os.path.realpath(path), flag)) != flag:
            msg = f"{flag} and {first} name the same file {path!r}: name another"
            raise ParameterError(msg)
        check_output(path, overwrite=options["overwrite"], option=flag)
    if options["plot"] or options["elbow"]:
        from spinney.extensions.pictures.figures import check_pictures

        check_pictures([options[name] for name in ("plot", "elbow") if options[name]])
    if options["output"] == STANDARD_OUTPUT and (
        options["json_"] or options["explain"]
    ):
        msg = "-o '-' writes the rows to standard output: remove --json and --explain"
        raise ParameterError(msg)


def _rows_output(options: dict[str, Any]) -> RowsOutput | None:
    """Return the output file of the rows and its format; None without -o."""
    if options["output"] is not None:
        output = rows_output(options)
        if output.format == JSON:
            msg = "-o writes csv, tsv, jsonl, xlsx or parquet: name such a file"
            raise ParameterError(msg)
        return output
    if options["spreadsheet"]:
        msg = "--spreadsheet needs -o: add it, or remove --spreadsheet"
        raise ParameterError(msg)
    return None


def _plan_from_options(options: dict[str, Any]) -> "Plan":
    from spinney.extensions.clustering.models.cluster_plan import Plan

    k, n_init = options["n_clusters"], options["n_init"]
    return Plan(
        n_clusters=k if k == "auto" else _number_or_range(k),
        rule=options["rule"],
        method=options["method"],
        init=options["init"],
        n_init="auto" if n_init is None else n_init,
        gamma=options["gamma"],
        max_iter=options["max_iter"],
        tol=options["tol"],
        seed=options["random_state"],
        standardise=options["standardise"],
        n_jobs=options["n_jobs"],
    )


def _number_or_range(text: str) -> "int | range":
    """Return the number or the range of --n-clusters."""
    first, dash, last = text.partition("-")
    try:
        numbers = [int(first), int(last)] if dash and first else [int(text)]
    except ValueError:
        numbers = []
    if not numbers or numbers != sorted(numbers):
        msg = f"--n-clusters {text!r} must be an integer, a range such as 2-15, or auto"
        raise ParameterError(msg)
    return numbers[0] if len(numbers) == 1 else range(numbers[0], numbers[1] + 1)


def _write_files(
    report: "ClusterReport", options: dict[str, Any], output: RowsOutput | None
) -> None:
    """Write all files, after everything is computed."""
    from spinney._support.atomic_file import write_whole
    from spinney.extensions.plots.plot_pictures import cluster_picture, elbow_picture
    from spinney.output.file import save_model

    fit, pictures = report.fit, dict[str, bytes]()
    if options["plot"]:
        pictures[options["plot"]] = cluster_picture(fit, options["plot"])
    if options["elbow"]:
        k, is_fixed = len(fit.clusters), fit.choice is None
        picture = elbow_picture(fit.curve(), k, options["elbow"], is_k_fixed=is_fixed)
        pictures[options["elbow"]] = picture
    if output is not None:
        output.write(report.rows())
        if output.path is not None:
            say(f"rows with clusters saved to {output.path}")
    if options["model"] is not None:
        save_model(fit.clusters, options["model"], overwrite=options["overwrite"])
        say(f"saved to {options['model']}")
    for path, content in pictures.items():
        write_whole(path, [content], overwrite=options["overwrite"])
        say(f"plot saved to {path}")
