"""A DuckDB connection that may read one file and nothing else."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spinney.data.duckdb.sql_text import quote_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def literal_path(path: Path) -> str:
    """Return a path as an SQL literal that matches only the file of that name.

    >>> literal_path(Path("a[1]*.csv"))
    "'a[[]1][*].csv'"
    """
    return quote_text(re.sub(r"[*?\[]", r"[\g<0>]", str(path)))


_MEMORY: ContextVar[int | None] = ContextVar("memory for DuckDB", default=None)


@contextmanager
def memory_of_connections(n_bytes: int | None) -> Iterator[None]:
    """Let connections that are opened meanwhile take no more memory than this."""
    token = _MEMORY.set(n_bytes)
    try:
        yield
    finally:
        _MEMORY.reset(token)


@contextmanager
def connected(path: Path) -> Iterator["DuckDBPyConnection"]:
    """Give a connection in memory that reads this file, and close it.

    What does not fit into memory goes to a folder that nobody else can read, and that
    is removed after.
    """
    import duckdb

    with tempfile.TemporaryDirectory(
        prefix="spinney_", ignore_cleanup_errors=True
    ) as spilled:
        config: dict[str, Any] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": spilled,
        }
        if (limit := _MEMORY.get()) is not None:
            config["memory_limit"] = f"{limit}B"
        with closing(duckdb.connect(":memory:", config=config)) as connection:
            # A glob is checked as it is written and again as the file it matches.
            allowed = f"{quote_text(str(path))}, {literal_path(path)}"
            connection.execute(f"SET allowed_paths = [{allowed}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection
