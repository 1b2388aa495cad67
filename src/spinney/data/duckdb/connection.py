"""DuckDB connections that can read only the files of one table."""

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
    """Return a path as an SQL literal with its wildcards escaped.

    >>> literal_path(Path("a[1]*.csv"))
    "'a[[]1][*].csv'"
    """
    return quote_text(re.sub(r"[*?\[]", r"[\g<0>]", str(path)))


HASH_SETTING, HASH_BITS = "perfect_ht_threshold", 22
"""The bits of group keys that index an array: nodes, classes and bins of ten levels.

With its own 12 bits, DuckDB hashes keys from the second level on, and takes twice as
long.
"""

_MEMORY_LIMIT: ContextVar[int | None] = ContextVar("memory for DuckDB", default=None)


@contextmanager
def connection_memory_limit(n_bytes: int | None) -> Iterator[None]:
    """Limit the memory of connections opened in this context."""
    token = _MEMORY_LIMIT.set(n_bytes)
    try:
        yield
    finally:
        _MEMORY_LIMIT.reset(token)


@contextmanager
def array_aggregation(connection: "DuckDBPyConnection") -> Iterator[None]:
    """Let a connection aggregate in arrays, unless its settings are locked."""
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
            with suppress(duckdb.Error):  # the connection is closed
                connection.execute(f"SET SESSION {HASH_SETTING} = {before[0]}")


@contextmanager
def private_folder(parent: str) -> Iterator[Path]:
    """Yield a new folder that only this user can read; create the parent if needed."""
    existed = Path(parent).exists()
    Path(parent).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix="spinney_", dir=parent, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)
    if not existed:
        with suppress(OSError):  # other processes have put files into it
            Path(parent).rmdir()


@contextmanager
def connected(*paths: Path) -> Iterator["DuckDBPyConnection"]:
    """Yield a connection that can read only these files; close it at the end.

    Data that exceeds memory goes to a private temporary folder.
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
            # DuckDB checks both the glob and the file that it matches.
            allowed = ", ".join(
                f"{quote_text(str(path))}, {literal_path(path)}" for path in paths
            )
            connection.execute(f"SET allowed_paths = [{allowed}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection
