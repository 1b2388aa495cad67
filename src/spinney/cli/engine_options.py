"""Options of the engine that counts rows: its name, table and memory limit."""

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from spinney import registry
from spinney.cli.shell_options import combined_options, declarations, table_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from spinney.sources.training_data import TableInput

engine_options = combined_options(
    click.option(
        "--engine",
        help="Engine that counts rows: memory, duckdb, postgres, sqlite or spark; for "
        "several files ('rows/*.parquet') dask or partitions.",
    ),
    table_option,
    click.option(
        "--memory-limit",
        metavar="SIZE",
        help="Memory limit while an engine counts the rows, such as 2GiB; 0 fetches "
        "no rows.",
    ),
)


def source_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that open a table: engine, table, limit, file format."""
    return {
        "engine": options["engine"],
        "table": options["table"],
        "memory_limit": _memory_limit(options),
        "format": options["format_"],
        "encoding": options["encoding"],
    }


def table_input(data: str, options: "Mapping[str, Any]") -> "TableInput":
    """Return the table that the options of a command describe."""
    from spinney.sources.training_data import TableInput

    names = ("target", "weight", "engine", "table")
    settings = {name: options[name] for name in names if options.get(name) is not None}
    return TableInput(
        data=data,
        declarations=declarations(options),
        memory_limit=_memory_limit(options),
        format=options["format_"],
        encoding=options["encoding"],
        **settings,
    )


def _memory_limit(options: "Mapping[str, Any]") -> int | str | None:
    limit: str | None = options.get("memory_limit")
    return int(limit) if limit and limit.isdecimal() else limit


@contextmanager
def dask_workers(options: dict[str, Any]) -> "Iterator[None]":
    """Start a local Dask cluster if the engine is Dask."""
    if options["engine"] != "dask":
        yield
        return
    jobs = options.get("n_jobs")
    local_cluster = registry.load("engine", "dask").local_cluster
    with local_cluster() if jobs is None else local_cluster(max(1, jobs)):
        yield
