"""Columns that number or identify rows: their names, and the counts of their cells."""

import re
from dataclasses import dataclass
from math import inf

import numpy as np

from spinney.data.table import Column

MIN_IDENTIFIERS = 10
MIN_NUMBERED_ROWS = 3  # rows that a column with such a name numbers
# In a smaller table, two equal cells are no small share.
MIN_CELLS_WITH_REPEATS = 20
MIN_IDENTIFIER_FRACTION = 0.9
# Names of columns that number rows, in letters alone, and last words of such names.
ROW_NUMBER_NAMES = {
    "",
    "id",
    "index",
    "no",
    "nr",
    "number",
    "row",
    "rowid",
    "rownumber",
}
ROW_NUMBER_NAMES |= {"rowindex", "nummer", "编号", "序号"}
ROW_NUMBER_WORDS = {"id", "no", "nr", "number"}
MIN_INDEX_ROWS = 20  # of fewer rows, an index may be one of prices


@dataclass(frozen=True, slots=True)
class IntegerSummary:
    """The counts of a column whose known cells are all integers."""

    n_rows: int
    n_known: int
    n_different: int
    least: float
    greatest: float

    @classmethod
    def of(cls, column: Column) -> "IntegerSummary | None":
        """Return the counts of cells in memory; None if not all are integers."""
        known = column.cells[~column.missing]
        if not len(known) or (known != np.floor(known)).any():
            return None
        different = np.unique(known)
        sizes = len(column.cells), len(known), len(different)
        return cls(*sizes, float(different[0]), float(different[-1]))

    @property
    def is_consecutive(self) -> bool:
        """Whether the numbers are consecutive, in any order and from any start."""
        if self.n_rows < MIN_NUMBERED_ROWS or self.n_different < self.n_rows:
            return False
        return self.greatest - self.least == self.n_rows - 1


def nearly_unique(n_different: int, n_known: int) -> bool:
    """Return whether so many known cells differ that they identify rows.

    >>> nearly_unique(9, 9), nearly_unique(10, 10)
    (False, True)
    >>> nearly_unique(18, 19), nearly_unique(18, 20)
    (False, True)
    """
    if n_different < max(MIN_IDENTIFIERS, MIN_IDENTIFIER_FRACTION * n_known):
        return False
    return n_different == n_known or n_known >= MIN_CELLS_WITH_REPEATS


def is_row_number_name(name: str, n_rows: float = inf) -> bool:
    """Return whether a name is one of columns that number so many rows.

    >>> [is_row_number_name(name) for name in ("ID", "PassengerId", "order_no", "paid")]
    [True, True, True, False]
    >>> is_row_number_name("price index", 4), is_row_number_name("index", 4)
    (False, True)
    >>> is_row_number_name("#"), is_row_number_name("0")
    (True, False)
    """
    bare, last = _letters_and_last_word(name)
    is_index = last == "index" and n_rows >= MIN_INDEX_ROWS
    return bare in ROW_NUMBER_NAMES or last in ROW_NUMBER_WORDS or is_index


def is_identifier_name(name: str) -> bool:
    """Return whether a name is one of columns whose numbers only identify rows.

    >>> [is_identifier_name(name) for name in ("customer_id", "index", "OrderNo")]
    [True, True, True]
    >>> [is_identifier_name(name) for name in ("price index", "population", "%")]
    [False, False, False]
    """
    bare, last = _letters_and_last_word(name)
    return bare in ROW_NUMBER_NAMES - {""} or last in ROW_NUMBER_WORDS


def _letters_and_last_word(name: str) -> tuple[str, str]:
    """Return the letters of a name, or else its digits, and its last word."""
    letters = "".join(filter(str.isalpha, name.lower()))
    *_, last = ["", *map(str.lower, _WORDS.findall(name))]
    return letters or "".join(filter(str.isdigit, name)), last


# Letters up to the next character that is none, or a capital after a small letter.
_WORDS = re.compile(r"(?:[^\W\d_a-z]+[a-z]*|[a-z]+)")


def is_row_numbering(column: Column, fewest: int = MIN_IDENTIFIERS) -> bool:
    """Return whether a column numbers the rows in their order, from 0 or 1.

    A column with such a name may do so in any order and from any start; other columns
    need the ``fewest`` rows.
    """
    cells, n_rows = column.cells, len(column.cells)
    if (
        column.kind != "numeric"
        or column.unit is not None
        or n_rows < MIN_NUMBERED_ROWS
    ):
        return False
    if is_row_number_name(column.name, n_rows):
        numbers = IntegerSummary.of(column)
        return numbers is not None and numbers.is_consecutive
    in_order = n_rows >= fewest and cells[0] in (0, 1)
    return bool(in_order and (np.diff(cells) == 1).all())
