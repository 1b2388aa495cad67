"""Rows of k-prototypes in memory, and the prototypes of least cost.

Each column of a prototype has the value of least cost for the known cells of its
cluster: the weighted mean of numbers, the most frequent nominal value, the weighted
median of ranks. So no half of an iteration raises the cost. If an iteration does not
lower it, rows have only moved to earlier clusters, so the iterations end.

:class:`MixedRows` uses NumPy and needs no compiler. ``CompiledMixedRows``
(``compiled_mixed_rows.py``) uses kernels, and returns the same bits.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.extensions.clustering.cluster_draws import weight_of_each
from spinney.extensions.clustering.cluster_rows import ClusteredRows
from spinney.extensions.clustering.exact_sums import (
    Scales,
    means_of,
    parts_of,
    scales_for,
    sums_of,
)
from spinney.extensions.clustering.prototypes.mixed_distances import (
    MixedCells,
    Prototypes,
    distances_to_few,
    unlikeness,
)
from spinney.extensions.clustering.scaling import rounding_square

# The most distances in memory at once.
DISTANCES = 1 << 18


class Tallies(NamedTuple):
    """Sums and counts of the clusters.

    ``sums`` are the exact parts of w·x by numeric column, then of w where x is known,
    last of w; ``counts`` are the weights by code and cluster, in whole units.
    """

    sums: Integers
    counts: Integers


def widened(numbers: Floats) -> Floats:
    """Return numbers, 0 if missing, followed by 1 if known, else 0."""
    known = ~np.isnan(numbers)
    return np.hstack([np.where(known, numbers, 0.0), known])


class MixedRows(ClusteredRows):
    """Rows with weights, and a γ."""

    def __init__(self, cells: MixedCells, weights: Floats, gamma: float) -> None:
        super().__init__(cells, weights)
        self.gamma = gamma

    def distances(self, prototypes: Prototypes) -> Floats:
        """Return the distances from all rows to a few prototypes."""
        unlike = unlikeness(self.cells, prototypes.codes)
        return distances_to_few(self.cells, prototypes.numbers, unlike, self.gamma)

    same = staticmethod(Prototypes.same)

    def restart(self, prototypes: Prototypes) -> None:
        """Forget all assignments, and take the number of clusters from prototypes."""
        super().restart(prototypes.codes)

    def assign(self, prototypes: Prototypes) -> int:
        """Send each row to the nearest prototype; return how many went elsewhere."""
        unlike = unlikeness(self.cells, prototypes.codes)
        nearest = np.empty(len(self.cells), dtype=np.int64)
        step = max(1, DISTANCES // self._k)
        for begin in range(0, len(nearest), step):
            part = self.cells[begin : begin + step]
            apart = distances_to_few(part, prototypes.numbers, unlike, self.gamma)
            nearest[begin : begin + step] = np.argmin(apart, axis=1)
        changed = int(np.count_nonzero(nearest != self._labels))
        self._labels = nearest
        return changed

    def costs(self, prototypes: Prototypes, labels: Integers) -> Floats:
        """Return the distance of each row to the prototype of its cluster."""
        cells = self.cells
        total, other = np.zeros(len(cells)), np.zeros(len(cells))
        for column in range(cells.numbers.shape[1]):
            cell = cells.numbers[:, column]
            apart = cell - prototypes.numbers[labels, column]
            apart[np.isnan(cell)] = 0.0
            total += apart * apart
        unlike = unlikeness(cells, prototypes.codes)
        for column in range(cells.codes.shape[1]):
            other += unlike[cells.codes[:, column], labels]
        return np.asarray(total + self.gamma * other)

    def moved(self, prototypes: Prototypes) -> tuple[Prototypes, int]:
        """Return the prototypes of least cost, and how many empty ones were filled.

        Columns without known cells stay as they are.
        """
        sums, counts = (each.copy() for each in self.tallies())
        filled = 0
        for doubles, cluster, other in self.fill_empty(prototypes, sums):
            unit = self._units[doubles].sum()
            for code in self.cells.codes[doubles[0]]:
                counts[code, cluster] -= unit
                counts[code, other] += unit
            filled += 1
        tallies = Tallies(sums, counts)
        return of_least_cost(self.cells, tallies, self.scales, prototypes), filled

    def summands(self, some: Any) -> Floats:
        """Return the numbers of some rows, followed by which are known."""
        return widened(self.cells.numbers[some])

    @cached_property
    def _units(self) -> Integers:
        """The weights as whole numbers on the scale of their sum."""
        own = weight_of_each(self.weights, len(self.cells))
        return np.asarray(np.rint(own * self.scales.factors[0, -1]), dtype=np.int64)

    def tallies(self) -> Tallies:
        """Return the sums and counts of the clusters."""
        counts = np.zeros((self.cells.unseen + 1, self._k), np.int64)
        for codes in self.cells.codes.T:
            np.add.at(counts, (codes, self._labels), self._units)
        return Tallies(self.sums(), counts)

    def alike(self, row: int, among: Integers) -> Integers:
        """Return the rows among some that equal one row, including missing cells."""
        numbers, codes = self.cells.numbers[among], self.cells.codes[among]
        own, own_codes = self.cells.numbers[row], self.cells.codes[row]
        same = (numbers == own) | (np.isnan(numbers) & np.isnan(own))
        equal = same.all(axis=1) & (codes == own_codes).all(axis=1)
        return np.asarray(among[equal])

    def rounding(self) -> float:
        """Return the largest cost that rounding alone can cause."""
        return rounding_square(np.nan_to_num(self.cells.numbers))


def of_least_cost(
    cells: MixedCells, tallies: Tallies, scales: Scales, before: Prototypes
) -> Prototypes:
    """Return the prototypes of least cost; columns without known cells stay."""
    numbers = _means(tallies.sums, scales)
    numbers = np.where(np.isnan(numbers), before.numbers, numbers)
    codes = before.codes.copy()
    for column, ordinal in enumerate(cells.ordinal):
        begin, end = cells.first[column : column + 2]
        counts = tallies.counts[begin:end]
        total = counts.sum(axis=0)
        if ordinal:
            best = np.argmax(2 * np.cumsum(counts, axis=0) >= total, axis=0)
        elif end > begin:
            best = np.argmax(counts, axis=0)
        else:
            continue
        known = total > 0
        codes[known, column] = begin + best[known]
    return Prototypes(numbers, codes)


def _means(sums: Integers, scales: Scales) -> Floats:
    """Return the means of known numbers by cluster and column; NaN if none."""
    width = (sums.shape[2] - 1) // 2
    pairs = np.stack([sums[:, :, :width], sums[:, :, width:-1]], axis=-1)
    factors = np.stack(
        [scales.factors[:, :width], scales.factors[:, width:-1]], axis=-1
    )
    flat = pairs.reshape(2, -1, 2)
    own = np.tile(factors, (1, sums.shape[1], 1))
    means, _ = means_of(flat, Scales(own, scales.bits))
    return means.reshape(sums.shape[1], width)


def middle_of(rows: MixedRows) -> Prototypes:
    """Return the prototype of all rows; NaN or missing without known cells."""
    cells = rows.cells
    nothing = Prototypes(
        np.full((1, cells.numbers.shape[1]), np.nan),
        np.full((1, cells.codes.shape[1]), cells.missing),
    )
    rows.restart(nothing)
    rows.assign(nothing)  # to the only cluster
    return of_least_cost(cells, rows.tallies(), rows.scales, nothing)


def filled_in(cells: MixedCells, given: Prototypes, middle: Prototypes) -> Prototypes:
    """Return prototypes whose unknown cells are those of the overall prototype."""
    return Prototypes(
        np.where(np.isnan(given.numbers), middle.numbers, given.numbers),
        np.where(given.codes == cells.missing, middle.codes, given.codes),
    )


def spreads_of(cells: MixedCells, weights: Floats, middle: Prototypes) -> Floats:
    """Return the exact standard deviation of each numeric column's known cells.

    NaN if there is none.
    """
    squares = widened((cells.numbers - middle.numbers) ** 2)
    scales = scales_for(squares, weights)
    parts = parts_of(squares, weights, scales)
    sums = sums_of(parts, np.zeros(len(cells), np.int64), 1)
    return np.asarray(np.sqrt(_means(sums, scales)[0]))
