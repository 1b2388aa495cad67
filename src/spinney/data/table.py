"""A table in memory: named columns of codes or numbers.

Words
-----
cell
    one entry of a column.
code
    a cell of a nominal or ordinal column: the position of its value among the
    column's ``levels``, or -1 for a missing cell.
level
    a value that a nominal or ordinal column can take. Levels of a nominal column are
    sorted, so that nothing depends on the order of rows; levels of an ordinal
    column are in their order, low to high.
declared
    whether the user or a type declared the levels; unused levels stay then.

A numeric column has float64 cells, NaN if missing. Dates are numeric columns with a
``unit``.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from spinney.data.text_formats import TextFormat
from spinney.errors import DataError, Text, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Kind = Literal["nominal", "ordinal", "numeric"]
Value = str | bool | int | float
Cells = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One named column; ``cells`` are codes (nominal, ordinal) or float64."""

    name: str
    kind: Kind
    cells: Cells
    levels: tuple[Value, ...] = ()
    unit: str | None = None
    declared: bool = False

    def take(self, rows: "Cells | slice") -> "Column":
        """Return the column of some rows."""
        return replace(self, cells=self.cells[rows])

    def value(self, row: int) -> "Value | None":
        """Return the value of a row; None if missing."""
        cell = self.cells[row]
        if self.kind == "numeric":
            return None if np.isnan(cell) else float(cell)
        return None if cell < 0 else self.levels[cell]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """The mask of missing cells."""
        if self.kind == "numeric":
            return np.isnan(self.cells)
        return np.asarray(self.cells < 0)

    @property
    def present(self) -> "tuple[Value, ...]":
        """The levels that occur in cells; () for a numeric column."""
        if not self.levels:
            return ()
        codes = np.unique(self.cells[~self.missing]).tolist()
        return tuple(self.levels[code] for code in codes)

    @property
    def without_rows(self) -> tuple[Value, ...]:
        """The levels that occur in no cell; () for a numeric column."""
        if not self.levels:
            return ()
        counts = np.bincount(self.cells[~self.missing], minlength=len(self.levels))
        pairs = zip(self.levels, counts, strict=True)
        return tuple(level for level, count in pairs if not count)


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Columns of equal length with distinct names.

    ``notes`` describe how it was read; ``text_format`` is its format of numbers and
    dates; ``markers`` are the missing-value markers found for all columns.
    ``has_types`` is False for CSV and TSV; in other tables a text such as "7" stays
    text. ``parses_text`` is True for CSV, TSV, Excel and JSON lines, whose dates, times
    of day and numbers such as 60,5 are parsed.
    """

    columns: tuple[Column, ...]
    n_rows: int
    first_row: int = 1  # its row number in the original table
    notes: tuple[Text, ...] = field(default=(), compare=False)
    text_format: TextFormat = field(default_factory=TextFormat, compare=False)
    markers: tuple[str, ...] = field(default=(), compare=False)
    has_types: bool = field(default=True, compare=False)
    parses_text: bool = field(default=False, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @overload
    def __getitem__(self, name: str) -> Column: ...
    @overload
    def __getitem__(self, name: slice) -> "Table": ...
    def __getitem__(self, name: str | slice) -> "Column | Table":
        """Return a column by name, or the rows of a slice."""
        if isinstance(name, slice):
            return self.take(name)
        for column in self.columns:
            if column.name == name:
                return column
        remedy = did_you_mean(str(name), self.names)
        msg = f"there is no column {name!r}: {remedy}"
        raise DataError(msg)

    def __repr__(self) -> str:
        first = (f"{column.name} ({column.kind})" for column in self.columns[:8])
        more = f" and {len(self.columns) - 8} more" if len(self.columns) > 8 else ""
        return f"<Table of {self.n_rows} rows: {', '.join(first)}{more}>"

    def row(self, number: int) -> "dict[str, Value | None]":
        """Return the values of a row by column name; None if missing."""
        return {column.name: column.value(number) for column in self.columns}

    def without(self, names: "Iterable[str]") -> "Table":
        """Return the table without the named columns."""
        dropped = set(names)
        kept = tuple(column for column in self.columns if column.name not in dropped)
        return replace(self, columns=kept)

    def take(self, rows: "Cells | slice") -> "Table":
        """Return the table of some rows (a slice, a mask or positions)."""
        picked = np.arange(self.n_rows)[rows]
        columns = tuple(column.take(picked) for column in self.columns)
        return replace(self, columns=columns, n_rows=len(picked))


def with_row(text: str, cells: Cells, rows: Cells | None) -> str:
    """Return a text in quotes, with its row if it is in a single cell.

    ``rows`` are the positions of rows in the user's table, if some were dropped.

    >>> with_row("x", np.array([2]), None), with_row("x", np.array([2, 3]), None)
    ("'x' in row 3", "'x'")
    """
    if len(cells) != 1:
        return repr(text)
    return f"{text!r} in row {(cells if rows is None else rows[cells])[0] + 1}"


def level_order(value: Value) -> tuple[str, Value]:
    """Return the sort key of a level: numbers by size, then text by code point.

    Types are distinguished, so that a column may have both ``1`` and ``"1"``.
    """
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, (int, float)):
        return ("number", value)
    return ("text", value)


def factorise(
    values: "Sequence[Value | None]",
) -> tuple[NDArray[np.int32], tuple[Value, ...]]:
    """Return codes and sorted distinct values; None has code -1.

    >>> factorise(["b", None, "a", "b"])
    (array([ 1, -1,  0,  1], dtype=int32), ('a', 'b'))
    """
    kinds = set(map(type, values)) - {type(None)}
    if kinds <= {str} or kinds <= {int}:
        return _factorise_alike(values)
    keys: dict[tuple[str, Value], int] = {}
    first_seen = np.fromiter(
        (
            -1 if value is None else keys.setdefault(level_order(value), len(keys))
            for value in values
        ),
        dtype=np.int32,
        count=len(values),
    )
    ordered = sorted(keys)
    code_of = np.empty(len(keys) + 1, dtype=np.int32)
    for code, key in enumerate(ordered):
        code_of[keys[key]] = code
    code_of[-1] = -1
    return code_of[first_seen], tuple(value for _, value in ordered)


def _factorise_alike(
    values: "Sequence[Any]",
) -> tuple[NDArray[np.int32], tuple[Value, ...]]:
    """Do the same, several times faster, for values of one type, str or int."""
    levels = tuple(sorted(set(values) - {None}))
    code_of: dict[Any, int] = {level: code for code, level in enumerate(levels)}
    code_of[None] = -1
    codes = np.fromiter(map(code_of.__getitem__, values), np.int32, count=len(values))
    return codes, levels
