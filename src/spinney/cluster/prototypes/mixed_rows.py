"""Rows of numbers and of coded values, prototypes, and distances between them.

The distance from a row to a prototype is ::

    Σ (x − m)²  over numeric columns
    + γ · ( Σ [x ≠ m] over nominal columns + Σ |r(x) − r(m)| / (L − 1) over ordinal )

with r the rank of a value among the L levels of its column. A missing cell adds nothing
to it: the share of columns that are known is the same for all prototypes, so scaling by
it could not change which one is nearest.

Two classes answer the same questions with the same bits: :class:`PlainMixed` by NumPy,
which needs no compiler, and ``CompiledMixed`` (``compiled_mixed_rows.py``) by loops.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.cluster.cluster_draws import weight_of_each
from spinney.cluster.exact_sums import Scales, parts_of, scales_for, sums_of

# As many distances at once as NumPy works on.
DISTANCES = 1 << 18


class Prototypes(NamedTuple):
    """The values of each cluster: numbers, NaN if not known, and codes."""

    numbers: Floats
    codes: Integers

    def same(self, other: "Prototypes") -> bool:
        """Return whether two lists of prototypes are equal, cell by cell."""
        return np.array_equal(self.codes, other.codes) and np.array_equal(
            self.numbers, other.numbers, equal_nan=True
        )


@dataclass(frozen=True, slots=True, eq=False)
class MixedCells:
    """Rows of numeric columns and of coded ones, nominal or ordinal.

    Parameters
    ----------
    numbers : array, rows × numeric columns
        Finite, or NaN where missing.
    codes : array of int32, rows × coded columns
        The index of a value among the levels of all columns, one column after the
        other: ``first[column]`` + its code. ``missing`` and ``unseen`` are the two
        codes after all levels.
    first : array, coded columns + 1
        The index of the first level of each column, and last of no column.
    ordinal : array of bool, coded columns
        Whether levels have an order.
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
        """The code of a value that is none of the levels: unlike all others."""
        return self.missing + 1

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.numbers.size + self.codes.size

    def matrix(self) -> Floats:
        """Return numbers and codes side by side: rows are equal if these are."""
        return np.ascontiguousarray(np.hstack([self.numbers, self.codes]))

    def __getitem__(self, rows: Any) -> "MixedCells":
        """Return some of the rows."""
        return replace(self, numbers=self.numbers[rows], codes=self.codes[rows])

    def as_prototypes(self) -> Prototypes:
        """Return the rows as prototypes."""
        return Prototypes(self.numbers.copy(), self.codes.astype(np.int64))

    def alike(self, row: int, among: Integers) -> Integers:
        """Return those of some rows that are equal to one, missing cells included."""
        numbers, codes = self.numbers[among], self.codes[among]
        same = (numbers == self.numbers[row]) | (
            np.isnan(numbers) & np.isnan(self.numbers[row])
        )
        same_codes = (codes == self.codes[row]).all(axis=1)
        return np.asarray(among[same.all(axis=1) & same_codes])


class Tallies(NamedTuple):
    """What the clusters hold.

    ``sums`` are the parts of w·x by numeric column, then of w where x is known, last of
    w; ``counts`` are the weights by code and cluster, in whole units.
    """

    sums: Integers
    counts: Integers

    def weighty(self) -> NDArray[np.bool_]:
        """Return which clusters have rows of weight."""
        return np.asarray((self.sums[:, :, -1] != 0).any(axis=0))


class MixedRows(Protocol):
    """Rows with weights, and a γ."""

    cells: MixedCells
    weights: Floats  # empty: every row weighs 1
    gamma: float
    scales: Scales

    def restart(self, n_clusters: int) -> None:
        """Forget all assignments."""

    def assign(self, prototypes: Prototypes) -> int:
        """Send each row to the nearest prototype; return how many went elsewhere."""

    def labels(self) -> Integers:
        """Return the cluster of each row."""

    def tallies(self) -> Tallies:
        """Return what the clusters hold."""

    def distances(self, prototypes: Prototypes) -> Floats:
        """Return the distances from all rows to a few prototypes."""


def unlikeness(cells: MixedCells, codes: Integers) -> Floats:
    """Return what each code adds to the distance from each prototype, before γ.

    ``codes`` are those of the prototypes. The last two lines are those of missing
    cells, 0, and of values that no row had, 1.
    """
    table = np.zeros((cells.unseen + 1, len(codes)))
    table[cells.unseen] = 1.0
    for column, ordinal in enumerate(cells.ordinal):
        begin, end = cells.first[column : column + 2]
        apart = np.abs(np.arange(begin, end)[:, None] - codes[None, :, column])
        part = apart / max(1, end - begin - 1) if ordinal else apart != 0
        table[begin:end] = np.where(codes[:, column] < cells.missing, part, 0.0)
    return table


def distances_to_all(cells: MixedCells, part: slice, gamma: float) -> Floats:
    """Return the root of the distance from each row of a part to each of all rows.

    >>> cells = MixedCells(
    ...     np.array([[0.0], [3.0], [np.nan]]),
    ...     np.array([[0], [1], [1]], np.int32), np.array([0, 2]), np.array([False]),
    ... )
    >>> distances_to_all(cells, slice(0, 1), 16.0)
    array([[0., 5., 4.]])
    """
    table = unlikeness(cells, cells.codes[part].astype(np.int64))
    total = np.zeros((len(cells.numbers[part]), len(cells)))
    for codes in cells.codes.T:
        total += table[codes].T
    total *= gamma
    for column in cells.numbers.T:
        apart = column[part, None] - column[None, :]
        total += np.where(np.isnan(apart), 0.0, apart * apart)
    return np.asarray(np.sqrt(total))


def mixed_scales(cells: MixedCells, weights: Floats) -> Scales:
    """Return the scales of the sums of all columns."""
    return scales_for(widened(cells.numbers), weights)


def widened(numbers: Floats) -> Floats:
    """Return numbers, 0 where missing, and beside them 1 where known, else 0."""
    known = ~np.isnan(numbers)
    return np.hstack([np.where(known, numbers, 0.0), known])


class PlainMixed:
    """Rows that NumPy works on."""

    def __init__(self, cells: MixedCells, weights: Floats, gamma: float) -> None:
        self.cells, self.weights, self.gamma = cells, weights, gamma
        self.scales = mixed_scales(cells, weights)
        self._parts: Integers | None = None

    def restart(self, n_clusters: int) -> None:
        """Forget all assignments."""
        self._k = n_clusters
        self._labels = np.full(len(self.cells), -1)

    def assign(self, prototypes: Prototypes) -> int:
        """Send each row to the nearest prototype; return how many went elsewhere."""
        unlike = unlikeness(self.cells, prototypes.codes)
        nearest = np.empty(len(self.cells), dtype=np.int64)
        step = max(1, DISTANCES // self._k)
        for begin in range(0, len(nearest), step):
            part = self.cells[begin : begin + step]
            apart = _measured(part, prototypes.numbers, unlike, self.gamma)
            nearest[begin : begin + step] = np.argmin(apart, axis=1)
        changed = int(np.count_nonzero(nearest != self._labels))
        self._labels = nearest
        return changed

    def labels(self) -> Integers:
        """Return the cluster of each row."""
        return self._labels

    def tallies(self) -> Tallies:
        """Return what the clusters hold."""
        if self._parts is None:
            wide = widened(self.cells.numbers)
            self._parts = parts_of(wide, self.weights, self.scales)
        sums = sums_of(self._parts, self._labels, self._k)
        counts = np.zeros((self.cells.unseen + 1, self._k), np.int64)
        units = units_of(self.weights, self.scales, len(self.cells))
        for column in range(self.cells.codes.shape[1]):
            np.add.at(counts, (self.cells.codes[:, column], self._labels), units)
        return Tallies(sums, counts)

    def distances(self, prototypes: Prototypes) -> Floats:
        """Return the distances from all rows to a few prototypes."""
        unlike = unlikeness(self.cells, prototypes.codes)
        return _measured(self.cells, prototypes.numbers, unlike, self.gamma)


def units_of(weights: Floats, scales: Scales, n: int) -> Integers:
    """Return weights as whole numbers, on the scale of their sum."""
    own = weight_of_each(weights, n)
    return np.asarray(np.rint(own * scales.factors[0, -1]), dtype=np.int64)


def _measured(
    cells: MixedCells, points: Floats, unlike: Floats, gamma: float
) -> Floats:
    total = np.zeros((len(cells), len(points)))
    for column in range(points.shape[1]):
        cell = cells.numbers[:, column]
        apart = cell[:, None] - points[None, :, column]
        apart *= apart
        apart[np.isnan(cell)] = 0.0
        total += apart
    other = np.zeros_like(total)
    for column in range(cells.codes.shape[1]):
        other += unlike[cells.codes[:, column]]
    return np.asarray(total + gamma * other)
