"""Rows of k-prototypes in memory, and the prototypes of least cost.

Each column of a prototype has the value of least cost for the known cells of its
cluster: the weighted mean of numbers, the most frequent nominal value, the weighted
median of ranks. So neither step of an iteration raises the cost. An iteration that does
not lower the cost only moves rows to earlier clusters, so the iterations end.

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
from spinney.extensions.clustering.random_rows import full_weights
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


def with_presence_flags(numbers: Floats) -> Floats:
    """Return numbers (0 if missing), followed by presence flags (1 or 0)."""
    present = ~np.isnan(numbers)
    return np.hstack([np.where(present, numbers, 0.0), present])


class MixedRows(RowsInMemory):
    """Mixed rows with their weights and γ; NumPy computes every distance."""

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
        """Assign each row to its nearest prototype; return how many rows changed."""
        mismatches = mismatch_table(self.cells, prototypes.codes)
        nearest = np.empty(len(self.cells), dtype=np.int64)
        step = max(1, DISTANCES // self._k)
        for begin in range(0, len(nearest), step):
            part = self.cells[begin : begin + step]
            distances = distances_to_prototypes(
                part, prototypes.numbers, mismatches, self.gamma
            )
            nearest[begin : begin + step] = np.argmin(distances, axis=1)
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

        Columns without known cells keep their values.
        """
        sums, counts = (tally.copy() for tally in self.tallies())
        n_filled = 0
        for duplicates, before, after in self.fill_empty(prototypes, sums):
            unit = self._integer_weights[duplicates].sum()
            for code in self.cells.codes[duplicates[0]]:
                counts[code, before] -= unit
                counts[code, after] += unit
            n_filled += 1
        tallies = ClusterTallies(sums, counts)
        return least_cost_prototypes(
            self.cells, tallies, self.scales, prototypes
        ), n_filled

    def summands(self, chosen: Any) -> Floats:
        """Return the numbers of some rows, followed by which are present."""
        return with_presence_flags(self.cells.numbers[chosen])

    @cached_property
    def _integer_weights(self) -> Integers:
        """The weights as whole numbers on the scale of their sum."""
        weights = full_weights(self.weights, len(self.cells))
        return np.asarray(np.rint(weights * self.scales.factors[0, -1]), dtype=np.int64)

    def tallies(self) -> ClusterTallies:
        """Return the sums and counts of the clusters."""
        counts = np.zeros((self.cells.unseen + 1, self._k), np.int64)
        for codes in self.cells.codes.T:
            np.add.at(counts, (codes, self._labels), self._integer_weights)
        return ClusterTallies(self.sums(), counts)

    def equal_rows(self, row: int, candidates: Integers) -> Integers:
        """Return the candidates that equal a row, including missing cells."""
        rows, target = self.cells[candidates], self.cells[row]
        is_equal = (rows.codes == target.codes).all(axis=1)
        both_missing = np.isnan(rows.numbers) & np.isnan(target.numbers)
        is_equal &= ((rows.numbers == target.numbers) | both_missing).all(axis=1)
        return np.asarray(candidates[is_equal])

    def rounding_cost(self) -> float:
        """Return the largest cost that rounding alone can cause."""
        return rounding_square(np.nan_to_num(self.cells.numbers))


def least_cost_prototypes(
    cells: MixedCells, tallies: ClusterTallies, scales: Scales, before: Prototypes
) -> Prototypes:
    """Return the prototypes of least cost; values without known cells stay."""
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
        present = total > 0
        codes[present, column] = begin + best[present]
    return Prototypes(numbers, codes)


def _means(sums: Integers, scales: Scales) -> Floats:
    """Return the means of the present numbers by cluster and column; NaN if none."""
    width = (sums.shape[2] - 1) // 2
    pairs = np.stack([sums[:, :, :width], sums[:, :, width:-1]], axis=-1)
    factors = np.stack(
        [scales.factors[:, :width], scales.factors[:, width:-1]], axis=-1
    )
    pair_scales = Scales(np.tile(factors, (1, sums.shape[1], 1)), scales.bits)
    means, _ = exact_means(pairs.reshape(2, -1, 2), pair_scales)
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
    cells: MixedCells, prototypes: Prototypes, overall: Prototypes
) -> Prototypes:
    """Return prototypes whose unknown cells are those of the overall prototype."""
    numbers, codes = prototypes
    return Prototypes(
        np.where(np.isnan(numbers), overall.numbers, numbers),
        np.where(codes == cells.missing, overall.codes, codes),
    )


def exact_deviations(cells: MixedCells, weights: Floats, overall: Prototypes) -> Floats:
    """Return the exact standard deviation of each numeric column's known cells.

    NaN for a column without known cells.
    """
    squares = with_presence_flags((cells.numbers - overall.numbers) ** 2)
    scales = exact_scales(squares, weights)
    parts = exact_parts(squares, weights, scales)
    sums = sum_by_cluster(parts, np.zeros(len(cells), np.int64), 1)
    return np.asarray(np.sqrt(_means(sums, scales)[0]))
