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
from spinney.extensions.clustering.exact_sums import (
    Scales,
    exact_means,
    exact_parts,
    exact_scales,
    sum_by_cluster,
)
from spinney.extensions.clustering.numeric_rows import RowsInMemory
from spinney.extensions.clustering.prototypes.mixed_cells import (
    MixedCells,
    Prototypes,
    distances_to_prototypes,
    mismatch_table,
)
from spinney.extensions.clustering.random_rows import weight_of_each
from spinney.extensions.clustering.scaling import rounding_square

# The most distances in memory at once.
DISTANCES = 1 << 18


class ClusterTallies(NamedTuple):
    """Sums and counts of the clusters.

    ``sums`` are the exact parts of w·x by numeric column, then of w where x is known,
    last of w; ``counts`` are the weights by code and cluster, in whole units.
    """

    sums: Integers
    counts: Integers


def with_known_flags(numbers: Floats) -> Floats:
    """Return numbers, 0 if missing, followed by 1 if known, else 0."""
    known = ~np.isnan(numbers)
    return np.hstack([np.where(known, numbers, 0.0), known])


class MixedRows(RowsInMemory):
    """Rows with weights, and a γ."""

    def __init__(self, cells: MixedCells, weights: Floats, gamma: float) -> None:
        super().__init__(cells, weights)
        self.gamma = gamma

    def distances(self, prototypes: Prototypes) -> Floats:
        """Return the distances from all rows to a few prototypes."""
        mismatches = mismatch_table(self.cells, prototypes.codes)
        return distances_to_prototypes(
            self.cells, prototypes.numbers, mismatches, self.gamma
        )

    is_unchanged = staticmethod(Prototypes.is_unchanged)

    def reset(self, prototypes: Prototypes) -> None:
        """Forget all assignments, and take the number of clusters from prototypes."""
        super().reset(prototypes.codes)

    def assign(self, prototypes: Prototypes) -> int:
        """Send each row to the nearest prototype; return how many went elsewhere."""
        mismatches = mismatch_table(self.cells, prototypes.codes)
        nearest = np.empty(len(self.cells), dtype=np.int64)
        step = max(1, DISTANCES // self._k)
        for begin in range(0, len(nearest), step):
            part = self.cells[begin : begin + step]
            difference = distances_to_prototypes(
                part, prototypes.numbers, mismatches, self.gamma
            )
            nearest[begin : begin + step] = np.argmin(difference, axis=1)
        changed = int(np.count_nonzero(nearest != self._labels))
        self._labels = nearest
        return changed

    def costs(self, prototypes: Prototypes, labels: Integers) -> Floats:
        """Return the distance of each row to the prototype of its cluster."""
        cells = self.cells
        total, mismatch_total = np.zeros(len(cells)), np.zeros(len(cells))
        for column in range(cells.numbers.shape[1]):
            cell = cells.numbers[:, column]
            difference = cell - prototypes.numbers[labels, column]
            difference[np.isnan(cell)] = 0.0
            total += difference * difference
        mismatches = mismatch_table(cells, prototypes.codes)
        for column in range(cells.codes.shape[1]):
            mismatch_total += mismatches[cells.codes[:, column], labels]
        return np.asarray(total + self.gamma * mismatch_total)

    def update_centroids(self, prototypes: Prototypes) -> tuple[Prototypes, int]:
        """Return the prototypes of least cost, and how many empty ones were filled.

        Columns without known cells stay as they are.
        """
        sums, counts = (each.copy() for each in self.tallies())
        n_filled = 0
        for duplicates, cluster, mismatch_total in self.fill_empty(prototypes, sums):
            unit = self._units[duplicates].sum()
            for code in self.cells.codes[duplicates[0]]:
                counts[code, cluster] -= unit
                counts[code, mismatch_total] += unit
            n_filled += 1
        tallies = ClusterTallies(sums, counts)
        return least_cost_prototypes(
            self.cells, tallies, self.scales, prototypes
        ), n_filled

    def summands(self, chosen: Any) -> Floats:
        """Return the numbers of some rows, followed by which are known."""
        return with_known_flags(self.cells.numbers[chosen])

    @cached_property
    def _units(self) -> Integers:
        """The weights as whole numbers on the scale of their sum."""
        own = weight_of_each(self.weights, len(self.cells))
        return np.asarray(np.rint(own * self.scales.factors[0, -1]), dtype=np.int64)

    def tallies(self) -> ClusterTallies:
        """Return the sums and counts of the clusters."""
        counts = np.zeros((self.cells.unseen + 1, self._k), np.int64)
        for codes in self.cells.codes.T:
            np.add.at(counts, (codes, self._labels), self._units)
        return ClusterTallies(self.sums(), counts)

    def equal_rows(self, row: int, among: Integers) -> Integers:
        """Return the rows among some that equal one row, including missing cells."""
        numbers, codes = self.cells.numbers[among], self.cells.codes[among]
        own, own_codes = self.cells.numbers[row], self.cells.codes[row]
        same = (numbers == own) | (np.isnan(numbers) & np.isnan(own))
        equal = same.all(axis=1) & (codes == own_codes).all(axis=1)
        return np.asarray(among[equal])

    def rounding_cost(self) -> float:
        """Return the largest cost that rounding alone can cause."""
        return rounding_square(np.nan_to_num(self.cells.numbers))


def least_cost_prototypes(
    cells: MixedCells, tallies: ClusterTallies, scales: Scales, before: Prototypes
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
    means, _ = exact_means(flat, Scales(own, scales.bits))
    return means.reshape(sums.shape[1], width)


def overall_prototype(rows: MixedRows) -> Prototypes:
    """Return the prototype of all rows; NaN or missing without known cells."""
    cells = rows.cells
    nothing = Prototypes(
        np.full((1, cells.numbers.shape[1]), np.nan),
        np.full((1, cells.codes.shape[1]), cells.missing),
    )
    rows.reset(nothing)
    rows.assign(nothing)  # to the only cluster
    return least_cost_prototypes(cells, rows.tallies(), rows.scales, nothing)


def fill_unknown_cells(
    cells: MixedCells, given: Prototypes, overall: Prototypes
) -> Prototypes:
    """Return prototypes whose unknown cells are those of the overall prototype."""
    return Prototypes(
        np.where(np.isnan(given.numbers), overall.numbers, given.numbers),
        np.where(given.codes == cells.missing, overall.codes, given.codes),
    )


def exact_deviations(cells: MixedCells, weights: Floats, overall: Prototypes) -> Floats:
    """Return the exact standard deviation of each numeric column's known cells.

    NaN if there is none.
    """
    squares = with_known_flags((cells.numbers - overall.numbers) ** 2)
    scales = exact_scales(squares, weights)
    parts = exact_parts(squares, weights, scales)
    sums = sum_by_cluster(parts, np.zeros(len(cells), np.int64), 1)
    return np.asarray(np.sqrt(_means(sums, scales)[0]))
