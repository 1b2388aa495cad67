"""Where rows are counted, from the shell: the engine, its table, its memory."""

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from spinney import registry
from spinney.cli.shell_options import all_of, declarations, table_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from spinney.sources.training_data import TableInput

engine_options = all_of(
    click.option(
        "--engine",
        help="Where rows are counted: memory, duckdb, postgres, sqlite or spark; for "
        "several files ('rows/*.parquet') dask or partitions.",
    ),
    table_option,
    click.option(
        "--memory-limit",
        metavar="SIZE",
        help="Memory limit of the process where an engine counts the rows, such as "
        "2GiB; 0 fetches no rows.",
    ),
)


def opening_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return what is said of where rows are, and of how a file is read."""
    return {
        "engine": options["engine"],
        "table": options["table"],
        "memory_limit": _memory_limit(options),
        "format": options["format_"],
        "encoding": options["encoding"],
    }


def table_input(data: str, options: "Mapping[str, Any]") -> "TableInput":
    """Return the table that a command's options describe, as far as it has them."""
    from spinney.sources.training_data import TableInput

    names = ("target", "weight", "engine", "table")
    given = {name: options[name] for name in names if options.get(name) is not None}
    return TableInput(
        data=data,
        declarations=declarations(options),
        memory_limit=_memory_limit(options),
        format=options["format_"],
        encoding=options["encoding"],
        **given,
    )


def _memory_limit(options: "Mapping[str, Any]") -> int | str | None:
    limit: str | None = options.get("memory_limit")
    return int(limit) if limit and limit.isdecimal() else limit


@contextmanager
def workers(options: dict[str, Any]) -> "Iterator[None]":
    """Start the processes that count parts, where they are asked for."""
    if options["engine"] != "dask":
        yield
        return
    jobs = options.get("n_jobs")
    local_cluster = registry.load("engine", "dask").local_cluster
    with local_cluster() if jobs is None else local_cluster(max(1, jobs)):
        yield
