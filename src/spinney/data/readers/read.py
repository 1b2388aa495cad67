"""The reader of tables: files, data frames, arrays, dictionaries and relations."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney.data.declarations import Declarations, check_declarations, no_columns_error
from spinney.data.declared_values import with_declared_values
from spinney.data.duckdb.columns import SqlColumn, is_relation, load, plan
from spinney.data.readers.arff import read_arff
from spinney.data.readers.delimited import DELIMITERS, open_delimited
from spinney.data.readers.json_lines import read_json_lines
from spinney.data.readers.local_files import (
    LocalFile,
    format_of,
    opened_file,
    refuse_file_options,
    refuse_text_format,
)
from spinney.data.readers.parquet import open_parquet
from spinney.data.readers.plain_delimited import read_plain
from spinney.data.readers.python_objects import read_array, read_columns
from spinney.data.readers.workbook import read_workbook
from spinney.data.reading_notes import ReadingNotes, report_notes
from spinney.data.table import Table
from spinney.data.text_formats import UNDECLARED, TextFormat
from spinney.errors import DataError, ParameterError, Setting, note, refusal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

SCANNED = ("csv", "tsv", "parquet")
"""The formats of files that DuckDB reads."""
_READERS = {"arff": read_arff, "jsonl": read_json_lines, "xlsx": read_workbook}
# Formats whose columns of texts are parsed as dates and formatted numbers.
PARSES_TEXT = ("csv", "tsv", "jsonl", "xlsx")


def read_table(
    data: Any,
    *,
    declarations: Declarations | None = None,
    format: str | None = None,
    encoding: str | None = None,
) -> Table:
    """Return a table in memory, read from any supported object or file.

    Parameters
    ----------
    data : str, path, data frame, array, dict, DuckDB relation or Table
        A file by its suffix (.csv, .tsv, .parquet, .jsonl, .ndjson, .arff, .xlsx; .gz
        after it is fine), ``"-"`` for standard input, a data frame of any library that
        narwhals knows, anything with an Arrow stream, a NumPy array of two dimensions
        (columns x0, x1, ...), a dictionary of columns, a DuckDB relation.
    declarations : Declarations, optional
        Kinds of columns, columns to ignore, missing-value markers, and formats of
        numbers and dates.
    format : {"csv", "tsv", "parquet", "jsonl", "arff", "xlsx"}, optional
        The format of a file, if its suffix does not tell.
    encoding : str, optional
        The encoding of a text file; by default inferred from its contents.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the table cannot be used; the message names the place and the remedy.

    Examples
    --------
    >>> table = read_table({"size": [1, 2.5, None], "colour": ["red", "", "blue"]})
    >>> table["size"].cells
    array([1. , 2.5, nan])
    >>> table["colour"].levels
    ('blue', 'red')
    """
    if not isinstance(declarations, Declarations | None):
        problem = "must be what declarations_of returns"
        raise refusal(Setting("declarations", declarations), problem)
    declared = declarations or Declarations()
    if isinstance(data, (str, os.PathLike)):
        table = _read_file(os.fspath(data), declared, format, encoding)
    else:
        if format is not None or encoding is not None:
            refuse_file_options(format, encoding)
        if declared.text_format is not UNDECLARED:
            refuse_text_format(declared, None)
        table = _read_object(data, declared)
    if not table.columns:
        raise no_columns_error(declared)
    return with_declared_values(table, declared) if declared.values else table


def read_partition(data: Any, declarations: Declarations) -> Table:
    """Return a partition: a Parquet file or an object, possibly without rows.

    Column types determine the kinds, so that all partitions agree.
    """
    if not isinstance(data, (str, os.PathLike)):
        table = _read_object(data, declarations)
    else:
        with opened_relation(
            data, declarations=declarations, format="parquet"
        ) as opened:
            table = load(opened.relation, opened.columns)
    return with_declared_values(table, declarations)


def _read_object(data: Any, declarations: Declarations) -> Table:
    """Return the table in an object, and report its notes."""
    if isinstance(data, Table):
        check_declarations(declarations, data.names)
        return data.without(filter(declarations.ignores, data.names))
    table = _convert_object(data, declarations)
    for message in table.notes:
        note(message)
    return table


def _convert_object(data: Any, declarations: Declarations) -> Table:
    if isinstance(data, np.ndarray):
        return read_array(data, declarations=declarations)
    if isinstance(data, Mapping):
        return read_columns(data, declarations=declarations)
    if is_relation(data):
        return load(data, plan(data, declarations))
    from spinney.data.readers.data_frames import (
        is_frame,
        is_series,
        read_frame,
        read_stream,
    )

    if is_frame(data):
        return read_frame(data, declarations=declarations)
    if hasattr(data, "__arrow_c_stream__") and not is_series(data):
        return read_stream(data, declarations=declarations)
    msg = f"an object of type {type(data).__name__} is no table"
    remedy = (
        "pass a file, a data frame, an array of two dimensions or a dict of columns"
    )
    if is_series(data):
        remedy += "; a row of a frame is frame.iloc[[0]], or goes to model.predictor()"
    raise DataError(msg, remedy=remedy)


def _read_file(
    path: str, declarations: Declarations, format: str | None, encoding: str | None
) -> Table:
    """Return the table in a file, or in standard input."""
    options: Any = {"format": format, "encoding": encoding}
    with opened_file(path, declarations, **options) as (file, notes):
        table = table_in(file, declarations, notes)
    listed = notes.all()
    report_notes(listed, file.origin)
    return replace(
        table,
        notes=listed,
        text_format=notes.format_of(declarations),
        markers=tuple(notes.markers),
        has_types=file.format not in ("csv", "tsv"),
        parses_text=file.format in PARSES_TEXT,
    )


def table_in(file: LocalFile, declarations: Declarations, notes: ReadingNotes) -> Table:
    """Return the table in a file; refuse one without rows."""
    table = _without_duckdb(file, declarations, notes)
    if table is None:
        with scanned_file(file, declarations, notes) as opened:
            table = load(opened.relation, opened.columns)
    if not table.n_rows:
        raise no_rows(file.origin)
    if not table.columns:
        raise no_columns_error(declarations)
    return table


def _without_duckdb(
    file: LocalFile, declarations: Declarations, notes: ReadingNotes
) -> Table | None:
    """Return the table in a file; None if DuckDB must read it."""
    if file.format == "parquet":
        return None
    if file.format in SCANNED:
        return read_plain(
            file.path, file.origin, kind=file.format, declarations=declarations
        )
    reader = _READERS[file.format]
    return reader(file.path, file.origin, declarations=declarations, notes=notes)


def no_rows(origin: str) -> DataError:
    """Return the error for a file without rows."""
    return DataError(f"{origin!r} has no rows: give it at least one")


@dataclass(frozen=True, slots=True)
class OpenRelation:
    """A relation, its columns as SQL, and its connection.

    ``has_types`` is the field of :class:`~spinney.data.Table`.
    """

    relation: "DuckDBPyRelation"
    columns: tuple[SqlColumn, ...]
    connection: "DuckDBPyConnection | None"
    markers: tuple[str, ...]
    text_format: TextFormat = field(default_factory=TextFormat)
    has_types: bool = True


@contextmanager
def opened_relation(
    data: Any,
    *,
    declarations: Declarations,
    format: str | None = None,
    encoding: str | None = None,
    connection: "DuckDBPyConnection | None" = None,
) -> Iterator[OpenRelation]:
    """Open CSV, TSV or Parquet files, or a relation, as a relation with columns."""
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
    # Without a declared format, other files of a folder are skipped.
    options: Any = {"format": format, "encoding": encoding}
    with (
        opened_file(path, declarations, **options) as (file, notes),
        scanned_file(file, declarations, notes) as opened,
    ):
        report_notes(notes.all(), file.origin)
        yield opened


@contextmanager
def scanned_file(
    file: LocalFile, declarations: Declarations, notes: ReadingNotes
) -> Iterator[OpenRelation]:
    """Open a file in a format that DuckDB reads."""
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
        text_format = notes.format_of(declarations)
        markers = (*declarations.missing, *notes.markers)
        has_types = file.format == "parquet"
        yield OpenRelation(relation, columns, owner, markers, text_format, has_types)


def _no_relation(what: str) -> ParameterError:
    return refusal(
        Setting("engine", "duckdb"),
        f"cannot count {what} data",
        (
            "pass a CSV, TSV or Parquet file or a DuckDB relation, or use ",
            Setting("engine", "memory"),
        ),
    )
