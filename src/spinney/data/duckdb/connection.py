"""A DuckDB connection that may read the files of one table and nothing else."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
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


HASH_SETTING, HASH_BITS = "perfect_ht_threshold", 22
"""Keys of so many bits are places of an array: nodes, classes and bins of ten levels.

DuckDB's own 12 bits hash them from the second level on, at twice the time.
"""

_MEMORY_LIMIT: ContextVar[int | None] = ContextVar("memory for DuckDB", default=None)


@contextmanager
def connection_memory_limit(n_bytes: int | None) -> Iterator[None]:
    """Let connections that are opened meanwhile take no more memory than this."""
    token = _MEMORY_LIMIT.set(n_bytes)
    try:
        yield
    finally:
        _MEMORY_LIMIT.reset(token)


@contextmanager
def array_aggregation(connection: "DuckDBPyConnection") -> Iterator[None]:
    """Let a connection count by arrays for a while, unless its settings are locked."""
    import duckdb

    statement = f"SELECT value FROM duckdb_settings() WHERE name = '{HASH_SETTING}'"
    before = [int(value) for (value,) in connection.execute(statement).fetchall()]
    changed = bool(before) and before[0] < HASH_BITS
    if changed:
        try:
            connection.execute(f"SET SESSION {HASH_SETTING} = {HASH_BITS}")
        except duckdb.InvalidInputException:
            changed = False
    try:
        yield
    finally:
        if changed:
            with suppress(duckdb.Error):  # of a connection that is closed
                connection.execute(f"SET SESSION {HASH_SETTING} = {before[0]}")


@contextmanager
def private_folder(parent: str) -> Iterator[Path]:
    """Give a folder that nobody else can read, within one that may not be there yet."""
    existed = Path(parent).exists()
    Path(parent).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix="spinney_", dir=parent, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)
    if not existed:
        with suppress(OSError):  # which others have put something into
            Path(parent).rmdir()


@contextmanager
def connected(*paths: Path) -> Iterator["DuckDBPyConnection"]:
    """Give a connection in memory that reads these files, and close it.

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
            HASH_SETTING: HASH_BITS,
        }
        if (limit := _MEMORY_LIMIT.get()) is not None:
            config["memory_limit"] = f"{limit}B"
        with closing(duckdb.connect(":memory:", config=config)) as connection:
            # A glob is checked as it is written and again as the file it matches.
            allowed = ", ".join(
                f"{quote_text(str(path))}, {literal_path(path)}" for path in paths
            )
            connection.execute(f"SET allowed_paths = [{allowed}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection
