"""Rows of numbers and codes, prototypes, and distances between them.

The distance from a row to a prototype is ::

    Σ (x − m)²  over numeric columns
    + γ · ( Σ [x ≠ m] over nominal columns + Σ |r(x) − r(m)| / (L − 1) over ordinal )

with r the rank of a value among the L levels of its column. A missing cell adds
nothing: the proportion of present cells is the same for all prototypes, so scaling by
it does not change the nearest one.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import Attribute, Schema, Table
from spinney.errors import DataError, ParameterError, Setting


class Prototypes(NamedTuple):
    """The values of each cluster: numbers, NaN if unknown, and codes."""

    numbers: Floats
    codes: Integers

    def is_unchanged(self, after: "Prototypes") -> bool:
        """Return whether two lists of prototypes are equal, cell by cell."""
        return np.array_equal(self.codes, after.codes) and np.array_equal(
            self.numbers, after.numbers, equal_nan=True
        )


@dataclass(frozen=True, slots=True, eq=False)
class MixedCells:
    """Rows of numeric columns, NaN if missing, and of nominal or ordinal codes.

    A code is the index of a value among the levels of all columns: ``first[column]`` +
    its code in the column. ``missing`` and ``unseen`` follow all levels.
    """

    numbers: Floats
    codes: NDArray[np.int32]
    first: Integers
    ordinal: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def missing(self) -> int:
        """The code of a missing cell."""
        return int(self.first[-1])

    @property
    def unseen(self) -> int:
        """The code of a new value, which differs from all levels."""
        return self.missing + 1

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.numbers.size + self.codes.size

    def matrix(self) -> Floats:
        """Return numbers and codes as one array."""
        return np.ascontiguousarray(np.hstack([self.numbers, self.codes]))

    def __getitem__(self, rows: Any) -> "MixedCells":
        """Return some of the rows."""
        return replace(self, numbers=self.numbers[rows], codes=self.codes[rows])

    def as_prototypes(self) -> Prototypes:
        """Return the rows as prototypes."""
        return Prototypes(self.numbers.copy(), self.codes.astype(np.int64))


def mismatch_table(cells: MixedCells, codes: Integers) -> Floats:
    """Return the mismatch of each code with each prototype, codes × prototypes.

    The last two rows are those of missing cells, 0, and of new values, 1.
    """
    table = np.zeros((cells.unseen + 1, len(codes)))
    table[cells.unseen] = 1.0
    for column, ordinal in enumerate(cells.ordinal):
        begin, end = cells.first[column : column + 2]
        difference = np.abs(np.arange(begin, end)[:, None] - codes[None, :, column])
        part = difference / max(1, end - begin - 1) if ordinal else difference != 0
        table[begin:end] = np.where(codes[:, column] < cells.missing, part, 0.0)
    return table


def distances_between_rows(cells: MixedCells, part: slice, gamma: float) -> Floats:
    """Return the square roots of distances from some rows to all rows.

    >>> cells = MixedCells(
    ...     np.array([[0.0], [3.0], [np.nan]]),
    ...     np.array([[0], [1], [1]], np.int32), np.array([0, 2]), np.array([False]),
    ... )
    >>> distances_between_rows(cells, slice(0, 1), 16.0)
    array([[0., 5., 4.]])
    """
    table = mismatch_table(cells, cells.codes[part].astype(np.int64))
    total = np.zeros((len(cells.numbers[part]), len(cells)))
    for codes in cells.codes.T:
        total += table[codes].T
    total *= gamma
    for column in cells.numbers.T:
        difference = column[part, None] - column[None, :]
        total += np.where(np.isnan(difference), 0.0, difference * difference)
    return np.asarray(np.sqrt(total))


def distances_to_prototypes(
    cells: MixedCells, points: Floats, mismatches: Floats, gamma: float
) -> Floats:
    """Return distances to prototypes, given their numbers and mismatches."""
    total = np.zeros((len(cells), len(points)))
    for column in range(points.shape[1]):
        column_cells = cells.numbers[:, column]
        difference = column_cells[:, None] - points[None, :, column]
        difference *= difference
        difference[np.isnan(column_cells)] = 0.0
        total += difference
    mismatch_total = np.zeros_like(total)
    for column in range(cells.codes.shape[1]):
        mismatch_total += mismatches[cells.codes[:, column]]
    return np.asarray(total + gamma * mismatch_total)


def coded_levels(schema: Schema) -> tuple[list[Attribute], Integers]:
    """Return the attributes that are not numeric, and ``MixedCells.first``."""
    coded = [a for a in schema.attributes if a.kind != "numeric"]
    sizes = [len(attribute.values) for attribute in coded]
    return coded, np.append(0, np.cumsum(sizes)).astype(np.int64)


def encode_mixed_cells(schema: Schema, table: Table) -> MixedCells:
    """Return the rows of a table as numbers and codes."""
    numeric = [a for a in schema.attributes if a.kind == "numeric"]
    coded, first = coded_levels(schema)
    numbers = np.empty((table.n_rows, len(numeric)))
    for index, attribute in enumerate(numeric):
        numbers[:, index] = attribute.encode(table[attribute.name])
    codes = np.empty((table.n_rows, len(coded)), np.int32)
    for index, attribute in enumerate(coded):
        column = table[attribute.name]
        coded_cells = attribute.encode(column)
        uncoded = np.where(column.missing, first[-1], first[-1] + 1)
        codes[:, index] = np.where(
            coded_cells >= 0, coded_cells + first[index], uncoded
        )
    ordinal = np.array([a.kind == "ordinal" for a in coded], dtype=bool)
    return MixedCells(numbers, codes, first, ordinal)


def prototype_values(schema: Schema, prototypes: Prototypes) -> NDArray[Any]:
    """Return prototypes as values: floats if all columns are numeric, else objects."""
    kinds = {attribute.kind for attribute in schema.attributes}
    if kinds == {"numeric"}:
        return prototypes.numbers.copy()
    shape = (len(prototypes.codes), len(schema.attributes))
    values = np.empty(shape, dtype=object)
    numbers, codes = list(prototypes.numbers.T), list(prototypes.codes.T)
    first = 0
    for index, attribute in enumerate(schema.attributes):
        if attribute.kind == "numeric":
            values[:, index] = [float(number) for number in numbers.pop(0)]
        else:
            levels = (*attribute.values, None)  # None is a missing value
            column_codes = np.minimum(codes.pop(0) - first, len(attribute.values))
            values[:, index] = [levels[code] for code in column_codes]
            first += len(attribute.values)
    return values


def prototypes_from_table(schema: Schema, table: Table, n_clusters: int) -> Prototypes:
    """Return the user's prototypes from a table."""
    if table.n_rows != n_clusters:
        raise ParameterError(
            Setting("init"),
            f" has {table.n_rows} prototypes and ",
            Setting("n_clusters", int(n_clusters)),
        )
    cells = encode_mixed_cells(schema, table)
    if (cells.codes == cells.unseen).any():
        coded, _ = coded_levels(schema)
        row, index = np.argwhere(cells.codes == cells.unseen)[0]
        name = coded[index].name
        raise DataError(
            Setting("init"),
            f" has {table[name].value(int(row))!r} in column {name!r}, a value that "
            "no row has",
            remedy="use a value of the column, or None",
        )
    return cells.as_prototypes()
