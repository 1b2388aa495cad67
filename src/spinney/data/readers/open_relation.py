"""Tables that are counted where they are: a file or a relation, opened in DuckDB."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spinney.data.declarations import Declarations
from spinney.data.duckdb.columns import SqlColumn, is_relation, plan
from spinney.data.notation import Notation
from spinney.data.readers.delimited import DELIMITERS, open_delimited
from spinney.data.readers.local_files import (
    format_of,
    origin_of,
    readable,
    refuse_file_options,
    refuse_notation,
)
from spinney.data.readers.parquet import open_parquet
from spinney.data.reading_notes import ReadingNotes, tell
from spinney.errors import ParameterError, Setting, refusal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

SCANNED = ("csv", "tsv", "parquet")
"""The kinds of files that DuckDB reads."""


@dataclass(frozen=True, slots=True)
class OpenRelation:
    """A relation, its columns as SQL, and the connection to bind values to."""

    relation: "DuckDBPyRelation"
    columns: tuple[SqlColumn, ...]
    connection: "DuckDBPyConnection | None"
    markers: tuple[str, ...]
    notation: Notation = field(default_factory=Notation)


@contextmanager
def opened_relation(
    data: Any,
    *,
    declarations: Declarations,
    format: str | None = None,
    encoding: str | None = None,
    connection: "DuckDBPyConnection | None" = None,
) -> Iterator[OpenRelation]:
    """Open a CSV, TSV or Parquet file, or take a relation as it is."""
    if not isinstance(data, (str, os.PathLike)):
        if not is_relation(data):
            raise _no_relation(type(data).__name__)
        refuse_file_options(format, encoding)
        refuse_notation(declarations, None)
        columns = plan(data, declarations)
        yield OpenRelation(data, columns, connection, declarations.missing)
        return
    path = os.fspath(data)
    kind, origin = format_of(path, declared=format), origin_of(path)
    if kind not in SCANNED:
        raise _no_relation(kind)
    refuse_notation(declarations, kind)
    notes = ReadingNotes(quiet=declarations.only is not None)
    with (
        readable(path, format=kind, encoding=encoding, notes=notes) as local,
        scanned_file(
            local,
            origin,
            kind=kind,
            declarations=declarations,
            encoding=encoding,
            notes=notes,
        ) as opened,
    ):
        tell(notes.listed(), origin)
        yield opened


@contextmanager
def scanned_file(
    local: Path,
    origin: str,
    *,
    kind: str,
    declarations: Declarations,
    encoding: str | None,
    notes: ReadingNotes,
) -> Iterator[OpenRelation]:
    """Open a plain file of a kind that DuckDB reads."""
    if kind == "parquet":
        scanned = open_parquet(local, origin)
    else:
        scanned = open_delimited(
            local,
            origin,
            declarations=declarations,
            delimiters="\t" if kind == "tsv" else DELIMITERS,
            encoding=encoding,
            notes=notes,
        )
    with scanned as (owner, relation, names):
        columns = plan(relation, declarations, names=names)
        notation = declarations.notation.over(notes.notation).later()
        markers = (*declarations.missing, *notes.markers)
        yield OpenRelation(relation, columns, owner, markers, notation)


def _no_relation(what: str) -> ParameterError:
    return refusal(
        Setting("source", "duckdb"),
        f"cannot count {what} data",
        (
            "pass a CSV, TSV or Parquet file or a DuckDB relation, or use ",
            Setting("source", "memory"),
        ),
    )
