"""Tables of any size, read in batches.

Column kinds are inferred, and all cells checked, before the first batch. Files read by
DuckDB are never entirely in memory, nor are relations if PyArrow is installed; other
tables are read whole and divided.
"""

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data.declarations import Declarations
from spinney.data.duckdb.columns import (
    column_of,
    is_relation,
    selected,
    translated_errors,
)
from spinney.data.readers.local_files import LocalFile, opened_file
from spinney.data.readers.read import (
    SCANNED,
    OpenRelation,
    no_rows,
    opened_relation,
    read_table,
    scanned_file,
    table_in,
)
from spinney.data.reading_notes import ReadingNotes, report_notes
from spinney.data.table import Column, Kind, Table, Value
from spinney.errors import DataError

# Reading this many bytes of text takes less time than importing PyArrow.
SMALL_FILE = 4_000_000


@dataclass(frozen=True, slots=True)
class BatchColumn:
    """A column of batches; ``type`` is its type in SQL."""

    name: str
    kind: Kind
    type: str


@dataclass(frozen=True, slots=True)
class TableBatches:
    """A table in batches, which can be iterated once.

    ``tables`` are the batches as tables; ``cells`` are the values by column, None if
    missing, to be passed on.
    """

    columns: tuple[BatchColumn, ...]
    tables: Iterator[Table]
    cells: Iterator[list[list[Any]]]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)


@contextmanager
def table_batches(
    data: Any,
    *declarations: Declarations,
    n_rows: int,
    format: str | None = None,
    encoding: str | None = None,
) -> Iterator[tuple[TableBatches, ...]]:
    """Yield readings of a table in batches, one per set of declarations.

    Parameters
    ----------
    data : anything that ``read_table`` takes
    *declarations : Declarations
        One or more sets of declarations, to read the same rows in several ways. Notes
        about a file are those of the first reading.
    n_rows : int
        The maximum number of rows of a batch.
    format, encoding : str, optional
        The format and encoding of a file, if they cannot be inferred.

    Examples
    --------
    >>> five = {"x": [1, 2, 3, 4, 5]}
    >>> with table_batches(five, Declarations(), n_rows=3) as (reading,):
    ...     [(table.first_row, table.n_rows) for table in reading.tables]
    [(1, 3), (4, 2)]
    """
    with ExitStack() as stack:
        if isinstance(data, (str, os.PathLike)):
            first, *others = declarations
            options: Any = {"format": format, "encoding": encoding}
            file, notes = stack.enter_context(
                opened_file(os.fspath(data), first, **options)
            )
            with_notes = [
                (first, notes),
                *((notes_of_reading, ReadingNotes()) for notes_of_reading in others),
            ]
            batches = [
                stack.enter_context(
                    _file_batches(file, declared, notes_of_reading, n_rows)
                )
                for declared, notes_of_reading in with_notes
            ]
            report_notes(notes.all(), file.origin)
        elif is_relation(data) and len(declarations) == 1:
            # The relation's connection allows only one open result.
            relation = opened_relation(
                data, declarations=declarations[0], format=format, encoding=encoding
            )
            opened = stack.enter_context(relation)
            batches = [stack.enter_context(_stream(opened, n_rows, None))]
        else:
            options = {"format": format, "encoding": encoding}
            batches = [
                _divide(read_table(data, declarations=declared, **options), n_rows)
                for declared in declarations
            ]
        yield tuple(batches)


@contextmanager
def number_batches(
    data: Any, n_rows: int
) -> Iterator[tuple[tuple[str, ...], Iterator[Floats]]]:
    """Yield the column names, and arrays of at most ``n_rows`` rows.

    All columns must be numeric, without missing cells.

    Examples
    --------
    >>> import duckdb
    >>> with number_batches(duckdb.sql("SELECT range AS x FROM range(5)"), 3) as got:
    ...     names, batches = got
    ...     [len(batch) for batch in batches]
    [3, 2]
    """
    with table_batches(data, Declarations(), n_rows=n_rows) as (reading,):
        for column in reading.columns:
            if column.kind != "numeric":
                msg = (
                    f"column {column.name!r} is {column.kind}: batches are of numbers; "
                    "leave it out"
                )
                raise DataError(msg)
        yield reading.names, map(_numbers, reading.tables)


def _numbers(table: Table) -> Floats:
    """Return the cells of a table; refuse missing cells."""
    for column in table.columns:
        if column.missing.any():
            msg = f"column {column.name!r} has a missing cell (NaN): exclude it"
            raise DataError(msg)
    return np.column_stack([column.cells for column in table.columns])


@contextmanager
def _file_batches(
    file: LocalFile, declarations: Declarations, notes: ReadingNotes, n_rows: int
) -> Iterator[TableBatches]:
    """Yield a reading of a file in batches."""
    is_small = file.format != "parquet" and file.path.stat().st_size < SMALL_FILE
    if is_small or file.format not in SCANNED:
        yield _divide(table_in(file, declarations, notes), n_rows)
        return
    with (
        scanned_file(file, declarations, notes) as opened,
        _stream(opened, n_rows, file.origin) as reading,
    ):
        yield reading


def _divide(table: Table, n_rows: int) -> TableBatches:
    """Return a reading of a table in memory, in batches."""
    columns = tuple(
        BatchColumn(
            column.name,
            column.kind,
            "DOUBLE" if column.kind == "numeric" else type_of_values(column.levels),
        )
        for column in table.columns
    )
    return TableBatches(
        columns,
        _slices(table, n_rows),
        ([_values(c) for c in part.columns] for part in _slices(table, n_rows)),
    )


def _slices(table: Table, n_rows: int) -> Iterator[Table]:
    for start in range(0, table.n_rows, n_rows):
        yield replace(table[start : start + n_rows], first_row=start + 1)


def _values(column: Column) -> list[Any]:
    """Return the values of a column in memory, None if missing."""
    if column.kind == "numeric":
        return [None if cell != cell else cell for cell in column.cells.tolist()]
    values = np.array([*column.levels, None], dtype=object)[column.cells]
    return list(values.tolist())


@contextmanager
def _stream(
    opened: OpenRelation, n_rows: int, origin: str | None
) -> Iterator[TableBatches]:
    """Yield a reading of an open relation, whose rows are fetched on demand."""
    columns = tuple(
        BatchColumn(column.name, column.kind, column.type) for column in opened.columns
    )
    # An open result would block the connection.
    with (
        closing(_tables(opened, n_rows, origin)) as tables,
        closing(_cells(opened, n_rows)) as cells,
    ):
        yield TableBatches(columns, tables, cells)


def _tables(
    opened: OpenRelation, n_rows: int, origin: str | None
) -> Generator[Table, None, None]:
    """Yield the rows of a relation as tables; refuse a file without rows."""
    row = 1
    with translated_errors("the table"):
        for cells in _fetch(opened, n_rows):
            columns = tuple(map(column_of, opened.columns, cells))
            yield Table(columns, len(columns[0].cells), first_row=row)
            row += len(columns[0].cells)
    if row == 1 and origin is not None:
        raise no_rows(origin)


def _cells(opened: OpenRelation, n_rows: int) -> Generator[list[list[Any]], None, None]:
    """Yield batches of values by column."""
    with translated_errors("the table"):
        for cells in _fetch(opened, n_rows):
            yield [
                list(texts)
                if column.family not in ("number", "boolean")
                else [None if text is None else column.value(text) for text in texts]
                for column, texts in zip(opened.columns, cells, strict=True)
            ]


def _fetch(opened: OpenRelation, n_rows: int) -> Generator[Sequence[Any], None, None]:
    """Yield batches of fetched cells by column."""
    relation = selected(opened.relation, opened.columns)
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        for rows in _fetch_rows(opened, relation, n_rows):
            yield list(zip(*rows, strict=True))
        return
    with relation.to_arrow_reader(n_rows) as reader:
        for batch in reader:
            if len(batch):
                yield [
                    cells.to_numpy(zero_copy_only=False)
                    if column.kind == "numeric"
                    else cells.to_pylist()
                    for column, cells in zip(opened.columns, batch, strict=True)
                ]


def _fetch_rows(
    opened: OpenRelation, relation: Any, n_rows: int
) -> Generator[list[Any], None, None]:
    """Yield batches of rows, fetched without PyArrow."""
    if opened.connection is None:  # the user's relation: its result is fetched whole
        whole = relation.fetchall()
        for start in range(0, len(whole), n_rows):
            yield whole[start : start + n_rows]
        return
    result = opened.connection.execute(relation.sql_query())
    while rows := result.fetchmany(n_rows):
        yield rows


def type_of_values(values: Sequence[Value]) -> str:
    """Return the SQL type for some values.

    >>> [type_of_values(values) for values in ([True], [1, 2], [1, 2.5], ["a", 1])]
    ['BOOLEAN', 'BIGINT', 'DOUBLE', 'VARCHAR']
    """
    types = set(map(type, values))
    if types == {bool}:
        return "BOOLEAN"
    if types == {int}:
        return "BIGINT" if max(map(abs, values)) < 2**63 else "VARCHAR"  # type: ignore[arg-type]
    return "DOUBLE" if types and types <= {int, float} else "VARCHAR"
