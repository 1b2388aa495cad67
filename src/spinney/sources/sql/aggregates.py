"""What a grouped statement counts, and how its lines become tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.trees import CountTable

# GROUPING takes at most 64 columns in DuckDB.
GROUPING_COLUMNS = 60

# A value with the column of its count, its number of rows, the column of its first
# amount, and the amounts: one weight, or the moments of a number.
Entry = tuple[Any, int, int, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Measure:
    """What is counted: by which keys, which sums, and how an answer's line is read.

    ``read`` gives the column of a line, its number of rows and its amounts; a table
    has so many columns of weights and of rows.
    """

    keys: tuple[str, ...]
    sums: tuple[str, ...]
    read: Callable[[Sequence[Any]], tuple[int, int, tuple[float, ...]]]
    width: int
    n_outputs: int

    @property
    def selected(self) -> tuple[str, ...]:
        """What a statement selects."""
        return (*self.keys, "count(*)", *self.sums)


def empty_table(values: NDArray[Any], measure: Measure) -> CountTable:
    """Return a table of zeros, to be filled in."""
    width, n_outputs = measure.width, measure.n_outputs
    return CountTable(
        values,
        np.zeros((len(values), width)),
        np.zeros((len(values), n_outputs), dtype=np.int64),
        np.zeros(width),
        np.zeros(n_outputs, dtype=np.int64),
    )


def filled_table(
    cells: Sequence[Any], entries: Sequence[Entry], kind: type, measure: Measure
) -> CountTable:
    """Return the table of entries, each with its cell; None is a missing one."""
    known = [cell for cell in cells if cell is not None]
    values: NDArray[Any] = np.unique(np.array(known, dtype=kind))
    table = empty_table(values, measure)
    for cell, (_, code, count, amounts) in zip(cells, entries, strict=True):
        upto = code + len(amounts)
        if cell is None:
            table.missing_rows[code], table.missing[code:upto] = count, amounts
        else:
            at = int(np.searchsorted(values, cell))
            table.rows[at, code], table.weights[at, code:upto] = count, amounts
    return table


def read_code(line: Sequence[Any]) -> tuple[int, int, tuple[float, ...]]:
    """Return the column, the number of rows and the weight of an answer's line."""
    return int(line[0]), int(line[1]), (float(line[2]),)


def by_node(cases: Mapping[int, str], name: str) -> str:
    """Return a column that is another expression at each node, as SQL."""
    lines = " ".join(f"WHEN {node} THEN {case}" for node, case in cases.items())
    return f"LATERAL (SELECT CASE node {lines} END AS {name})"


def grouped_by(rest: Sequence[Any], n_columns: int) -> tuple[int, Any]:
    """Return which column a line is grouped by, and its value there.

    GROUPING has a bit for each of its columns, the last one lowest: 0 where the
    line is grouped by the column.
    """
    for start in range(0, n_columns, GROUPING_COLUMNS):
        width = min(GROUPING_COLUMNS, n_columns - start)
        bits = ~int(rest[n_columns + start // GROUPING_COLUMNS]) & ((1 << width) - 1)
        if bits:
            position = start + width - bits.bit_length()
            return position, rest[position]
    msg = "a line of a grouped statement is grouped by no column"
    raise AssertionError(msg)
