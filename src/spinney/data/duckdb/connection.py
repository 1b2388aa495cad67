"""A DuckDB connection that may read one file and nothing else."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spinney.data.duckdb.sql_text import quote_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def literal_path(path: Path) -> str:
    """Return a path as an SQL literal that matches only the file of that name.

    >>> literal_path(Path("a[1]*.csv"))
    "'a[[]1][*].csv'"
    """
    return quote_text(re.sub(r"[*?\[]", r"[\g<0>]", str(path)))


@contextmanager
def connected(path: Path) -> Iterator["DuckDBPyConnection"]:
    """Give a connection in memory that reads this file, and close it."""
    import duckdb

    connection = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        },
    )
    try:
        # A glob is checked as it is written and again as the file it matches.
        allowed = f"{quote_text(str(path))}, {literal_path(path)}"
        connection.execute(f"SET allowed_paths = [{allowed}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection
    finally:
        connection.close()
