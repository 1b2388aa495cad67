"""Parquet tables in one or several files, read by DuckDB.

Several files are united by one select each, in file order: the columns of the first
file by name, and the partition values as literals.
"""

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spinney.data.duckdb.columns import family_of, translated_errors
from spinney.data.duckdb.connection import connected, literal_path
from spinney.data.duckdb.sql_text import quote_identifier, quote_text
from spinney.data.readers.file_sets import TableFile, key_types
from spinney.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from duckdb import DuckDBPyConnection, DuckDBPyRelation
    from duckdb.sqltypes import DuckDBPyType


@contextmanager
def open_parquet(
    path: Path, origin: str, parts: Sequence[TableFile] = ()
) -> "Iterator[tuple[DuckDBPyConnection, DuckDBPyRelation, list[str]]]":
    """Yield a connection, a relation over the file, and its column names.

    ``parts`` are the files of a table in several files.
    """
    with connected(*(part.path for part in parts) if parts else [path]) as connection:
        if not parts:
            described = _describe(connection, TableFile(path), origin)
            relation = connection.sql(f"FROM {_read_call([path])}")
            yield connection, relation, list(described.names)
            return
        files = [_describe(connection, part, str(part.path)) for part in parts]
        with translated_errors(repr(origin)):
            relation = connection.sql(_union_query(connection, files))
        keys = [name for name, _ in _keys_beside_columns(files[0])]
        yield connection, relation, [*files[0].names, *keys]


@dataclass(frozen=True, slots=True)
class _Described:
    """A file with its columns: names, DuckDB's names, and types."""

    file: TableFile
    names: tuple[str, ...]
    written: tuple[str, ...]
    types: "tuple[DuckDBPyType, ...]"

    def layout(self) -> tuple[Any, ...]:
        """Return the key of files that are read together."""
        return self.file.keys, self.names, self.written, tuple(map(str, self.types))


def _read_call(paths: Sequence[Path]) -> str:
    """Return the SQL call that reads files of equal columns, ignoring folder names."""
    listed = ", ".join(map(literal_path, paths))
    return f"read_parquet([{listed}], hive_partitioning = false)"


def _describe(
    connection: "DuckDBPyConnection", file: TableFile, origin: str
) -> _Described:
    """Return the description of a file's columns."""
    with translated_errors(repr(origin)):
        relation = connection.sql(f"FROM {_read_call([file.path])}")
        schema = connection.sql(
            f"SELECT name, num_children FROM parquet_schema({literal_path(file.path)})"
        ).fetchall()
        written, types = tuple(relation.columns), tuple(relation.types)
    return _Described(file, tuple(_top_names(schema)), written, types)


def _keys_beside_columns(file: _Described) -> list[tuple[str, str | None]]:
    """Return the partition keys of a file that are not columns in it."""
    return [(name, value) for name, value in file.file.keys if name not in file.names]


def _union_query(connection: "DuckDBPyConnection", files: Sequence[_Described]) -> str:
    """Return the select of all rows of files, in file order."""
    for file in files:
        _check_names(file, files[0])
    columns = _types_of_columns(connection, files)
    keys = key_types([file.file for file in files])
    selects = []
    for _, group in groupby(files, key=_Described.layout):
        together = list(group)
        first = together[0]
        cells = [
            quote_identifier(written)
            if _same_family(kind, target_type)
            else f"NULL::{target_type}"
            for written, kind, target_type in (
                (first.written[index], first.types[index], columns[name])
                for name, index in _column_positions(first, files[0])
            )
        ]
        values = dict(_keys_beside_columns(first))
        cells += [
            "NULL" if value is None else f"CAST({quote_text(value)} AS {keys[name]})"
            for name, _ in _keys_beside_columns(files[0])
            for value in (values[name],)
        ]
        # DuckDB ignores the case of names.
        named = ", ".join(f"{cell} AS c{index}" for index, cell in enumerate(cells))
        selects.append(
            f"SELECT {named} FROM {_read_call([e.file.path for e in together])}"
        )
    return " UNION ALL ".join(selects)


def _column_positions(file: _Described, first: _Described) -> list[tuple[str, int]]:
    """Return the positions in a file of the first file's columns, by name."""
    if file.names == first.names:
        return [(name, index) for index, name in enumerate(file.names)]
    return [(name, file.names.index(name)) for name in first.names]


def _check_names(file: _Described, first: _Described) -> None:
    """Refuse a file whose columns differ from those of the first one."""
    if file.names == first.names:
        return
    lacks = [name for name in first.names if name not in file.names]
    extra = [name for name in file.names if name not in first.names]
    if lacks or extra or len(set(file.names)) < len(file.names):
        differs = f"lacks column {lacks[0]!r} of" if lacks else "has other columns than"
        if extra and not lacks:
            differs = f"has a column {extra[0]!r} that is not in"
        msg = f"{str(file.file.path)!r} {differs} {str(first.file.path)!r}"
        remedy = "name files of the same columns, or write them again with these"
        raise DataError(msg, remedy=remedy)


def _same_family(first: "DuckDBPyType", second: "DuckDBPyType") -> bool:
    """Return whether two types belong to one family, such as numbers."""
    family = family_of(first)
    return str(first) == str(second) or (
        family is not None and family == family_of(second)
    )


def _types_of_columns(
    connection: "DuckDBPyConnection", files: Sequence[_Described]
) -> "dict[str, DuckDBPyType]":
    """Return the type of each column; refuse files whose known cells differ in type."""
    by_name: dict[str, tuple[DuckDBPyType, _Described]] = {}
    for file in files:
        for name, index in _column_positions(file, files[0]):
            kind = file.types[index]
            if name not in by_name:
                by_name[name] = kind, file
                continue
            before, where = by_name[name]
            if _same_family(kind, before) or not _has_cells(connection, file, index):
                continue
            if _has_cells(connection, where, where.names.index(name)):
                msg = (
                    f"column {name!r} is of type {kind} in {str(file.file.path)!r} and "
                    f"{before} in {str(where.file.path)!r}"
                )
                remedy = "write the files with the same types"
                raise DataError(msg, remedy=remedy)
            by_name[name] = kind, file
    return {name: kind for name, (kind, _) in by_name.items()}


def _has_cells(connection: "DuckDBPyConnection", file: _Described, index: int) -> bool:
    """Return whether a column of a file has a known cell."""
    cell = quote_identifier(file.written[index])
    with translated_errors(repr(str(file.file.path))):
        relation = connection.sql(
            f"SELECT count({cell}) FROM {_read_call([file.file.path])}"
        )
        ((n_cells,),) = relation.fetchall()
    return bool(n_cells)


def _top_names(schema: list[tuple[str, int | None]]) -> list[str]:
    """Return the top-level column names in a Parquet schema.

    The schema is a tree in depth-first order. DuckDB's own list renames duplicates.
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
