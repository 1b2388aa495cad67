"""Parquet, through DuckDB."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spinney.data.duckdb.columns import translated_errors
from spinney.data.duckdb.connection import connected, literal_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from duckdb import DuckDBPyConnection, DuckDBPyRelation


@contextmanager
def open_parquet(
    path: Path, origin: str
) -> "Iterator[tuple[DuckDBPyConnection, DuckDBPyRelation, list[str]]]":
    """Give a connection, a relation over the file, and the names of its columns."""
    with connected(path) as connection:
        with translated_errors(repr(origin)):
            literal = literal_path(path)
            relation = connection.sql(f"FROM read_parquet({literal})")
            schema = connection.sql(
                f"SELECT name, num_children FROM parquet_schema({literal})"
            ).fetchall()
        yield connection, relation, _top_names(schema)


def _top_names(schema: list[tuple[str, int | None]]) -> list[str]:
    """Return the names of columns in Parquet's schema, a tree written depth first.

    DuckDB's own list renames columns that are named twice.
    """
    names = []
    inside = 0
    for name, children in schema[1:]:
        if inside:
            inside -= 1
        else:
            names.append(name)
        inside += children or 0
    return names
