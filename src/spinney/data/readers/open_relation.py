"""Tables that are counted where they are: a file or a relation, opened in DuckDB."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spinney.data.declarations import Declarations
from spinney.data.duckdb.columns import SqlColumn, is_relation, plan
from spinney.data.readers.delimited import DELIMITERS, open_delimited
from spinney.data.readers.local_files import (
    LocalFile,
    format_of,
    opened_file,
    refuse_file_options,
    refuse_text_format,
)
from spinney.data.readers.parquet import open_parquet
from spinney.data.reading_notes import ReadingNotes, tell
from spinney.data.text_formats import TextFormat
from spinney.errors import ParameterError, Setting, refusal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

SCANNED = ("csv", "tsv", "parquet")
"""The kinds of files that DuckDB reads."""


@dataclass(frozen=True, slots=True)
class OpenRelation:
    """A relation, its columns as SQL, and the connection to bind values to.

    ``typed`` is as in a :class:`~spinney.data.Table`.
    """

    relation: "DuckDBPyRelation"
    columns: tuple[SqlColumn, ...]
    connection: "DuckDBPyConnection | None"
    markers: tuple[str, ...]
    text_format: TextFormat = field(default_factory=TextFormat)
    typed: bool = True


@contextmanager
def opened_relation(
    data: Any,
    *,
    declarations: Declarations,
    format: str | None = None,
    encoding: str | None = None,
    connection: "DuckDBPyConnection | None" = None,
) -> Iterator[OpenRelation]:
    """Open a CSV, TSV or Parquet file, several of Parquet, or take a relation."""
    if not isinstance(data, (str, os.PathLike)):
        if not is_relation(data):
            raise _no_relation(type(data).__name__)
        refuse_file_options(format, encoding)
        refuse_text_format(declarations, None)
        columns = plan(data, declarations)
        yield OpenRelation(data, columns, connection, declarations.missing)
        return
    path = os.fspath(data)
    kind = format_of(path, declared=format)
    if kind not in SCANNED:
        raise _no_relation(kind)
    # A format that is not declared leaves the other files of a folder out.
    options: Any = {"format": format, "encoding": encoding}
    with (
        opened_file(path, declarations, **options) as (file, notes),
        scanned_file(file, declarations, notes) as opened,
    ):
        tell(notes.listed(), file.origin)
        yield opened


@contextmanager
def scanned_file(
    file: LocalFile, declarations: Declarations, notes: ReadingNotes
) -> Iterator[OpenRelation]:
    """Open a file of a format that DuckDB reads."""
    if file.format == "parquet":
        scanned = open_parquet(file.path, file.origin, file.parts)
    else:
        scanned = open_delimited(
            file.path,
            file.origin,
            declarations=declarations,
            delimiters="\t" if file.format == "tsv" else DELIMITERS,
            encoding=file.encoding,
            notes=notes,
        )
    with scanned as (owner, relation, names):
        columns = plan(relation, declarations, names=names)
        text_format = declarations.text_format.over(notes.text_format).later()
        markers = (*declarations.missing, *notes.markers)
        typed = file.format == "parquet"
        yield OpenRelation(relation, columns, owner, markers, text_format, typed)


def _no_relation(what: str) -> ParameterError:
    return refusal(
        Setting("source", "duckdb"),
        f"cannot count {what} data",
        (
            "pass a CSV, TSV or Parquet file or a DuckDB relation, or use ",
            Setting("source", "memory"),
        ),
    )
