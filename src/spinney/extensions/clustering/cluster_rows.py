"""Rows of k-means in memory: distances, exact sums and empty clusters.

:class:`NumericRows` uses NumPy and needs no compiler. ``CompiledNumericRows``
(``compiled_rows.py``) uses kernels and bounds, and returns the same bits.
"""

from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.extensions.clustering.cluster_draws import BINS
from spinney.extensions.clustering.exact_sums import (
    Scales,
    means_of,
    parts_of,
    scales_for,
    sums_of,
)
from spinney.extensions.clustering.scaling import rounding_square


class ClusteredRows:
    """Rows with weights and labels, numeric or mixed; their sums are exact.

    ``weights`` are empty if all are 1.
    """

    def __init__(self, cells: Any, weights: Floats) -> None:
        self.cells, self.weights = cells, weights

    # Defined by subclasses

    def assign(self, centroids: Any) -> int:
        """Assign each row to its nearest centroid; return how many rows changed."""
        raise NotImplementedError

    def costs(self, centroids: Any, labels: Integers) -> Floats:
        """Return the distance of each row to the centroid of its cluster."""
        raise NotImplementedError

    def alike(self, row: int, among: Integers) -> Integers:
        """Return the rows among some that equal one row."""
        raise NotImplementedError

    def rounding(self) -> float:
        """Return the largest cost that rounding alone can cause."""
        raise NotImplementedError

    def summands(self, some: Any) -> Any:
        """Return the columns of some rows that are summed by cluster."""
        raise NotImplementedError

    # Shared

    def restart(self, centroids: Any) -> None:
        """Forget all assignments, and take the number of clusters from centroids."""
        self._k = len(centroids)
        self._labels = np.full(len(self.cells), -1)

    def labels(self) -> Integers:
        """Return the cluster of each row."""
        return self._labels

    def nearest_to(self, centroids: Any) -> tuple[Integers, Floats]:
        """Return the nearest centroid of each row, and the distance to it."""
        self.restart(centroids)
        self.assign(centroids)
        labels = self.labels()
        return labels, self.costs(centroids, labels)

    def inertia(self, centroids: Any) -> float:
        """Return the weighted sum of the distances of rows to their centroids."""
        costs = self.costs(centroids, self.labels())
        return float(np.sum(costs * self.weights if len(self.weights) else costs))

    @cached_property
    def scales(self) -> Scales:
        """The scales of the sums of the clusters."""
        return scales_for(self.summands(slice(None)), self.weights)

    @cached_property
    def _parts(self) -> Integers:
        return parts_of(self.summands(slice(None)), self.weights, self.scales)

    def sums(self) -> Integers:
        """Return the sums of the clusters."""
        return sums_of(self._parts, self._labels, self._k)

    def fill_empty(
        self, centroids: Any, sums: Integers
    ) -> Iterator[tuple[Integers, int, int]]:
        """Move the rows farthest from their centroids to empty clusters.

        The first empty cluster gets the farthest row, the first of equals, and its
        duplicates, and so on. Their cluster must keep other weight. A row at its
        centroid, but for rounding, stays. Every move lowers the inertia, so the moves
        end. Yields the rows, the cluster they leave and the one they fill.
        """
        waiting = np.flatnonzero(~(sums[:, :, -1] != 0).any(axis=0)).tolist()
        if not waiting:
            return
        labels = self.labels()
        costs = self.costs(centroids, labels)
        if len(self.weights):
            costs = np.where(self.weights > 0, costs, 0.0)
        far = np.flatnonzero(costs > self.rounding())
        seen: set[int] = set()
        for row in far[np.argsort(-costs[far], kind="stable")].tolist():
            if row in seen:
                continue
            own = labels[row]
            among = np.flatnonzero((costs == costs[row]) & (labels == own))
            doubles = self.alike(row, among)
            seen.update(doubles.tolist())
            weights = self.weights[doubles] if len(self.weights) else self.weights
            part = parts_of(self.summands(doubles), weights, self.scales).sum(axis=1)
            if not (sums[:, own, -1] - part[:, -1] > 0).any():
                continue
            sums[:, own] -= part
            sums[:, waiting[0]] = part
            yield doubles, own, waiting.pop(0)
            if not waiting:
                return


# Sums of floats are added up by blocks of so many rows, whatever the threads.
BLOCK = 1 << 14


def squares_between(cells: NDArray[Any], points: NDArray[Any]) -> Floats:
    """Return the squared distances of rows to points, in float64, column by column.

    >>> squares_between(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 1.0]]))
    array([[ 1.],
           [18.]])
    """
    total = np.zeros((len(cells), len(points)))
    for column in range(cells.shape[1]):
        one = cells[:, column].astype(np.float64)
        other = points[:, column].astype(np.float64)
        apart = one[:, None] - other[None, :]
        apart *= apart
        total += apart
    return total


class Rows(ClusteredRows):
    """Rows of numbers, all of one float type; NumPy computes every distance.

    The first five methods serve k-means++.
    """

    def begin(self, row: int, bins: NDArray[np.uint16]) -> None:
        """Make a row the first centroid; ``totals`` sums by these bins."""
        self._bins = bins
        self._near = self._seeding_squares(row)

    def gains(self, candidates: Integers) -> Floats:
        """Return the decrease of the squared distances by each candidate row."""
        gains = []
        for row in candidates:
            less = np.maximum(self._near - self._seeding_squares(row), 0)
            less = less.astype(np.float64) * self._weight()
            gains.append(float(np.sum(in_blocks(less, 0, 1))))
        return np.array(gains)

    def take(self, row: int) -> None:
        """Make a row the next centroid."""
        self._near = np.minimum(self._near, self._seeding_squares(row))

    def totals(self) -> Floats:
        """Return the weighted squared distances to the nearest, summed by bin."""
        sizes = self._near.astype(np.float64) * self._weight()
        return np.asarray(np.sum(in_blocks(sizes, self._bins, BINS), axis=0))

    def nearest(self) -> NDArray[Any]:
        """Return the squared distance of each row to its nearest centroid."""
        return self._near

    def _weight(self) -> Any:
        return self.weights if len(self.weights) else 1.0

    def _seeding_squares(self, row: int) -> NDArray[Any]:
        """Return squared distances to a row: even columns plus odd ones."""
        totals = np.zeros((2, len(self.cells)), self.cells.dtype)
        for column in range(self.cells.shape[1]):
            apart = self.cells[:, column] - self.cells[row, column]
            totals[column % 2] += apart * apart
        return np.asarray(totals[0] + totals[1])

    same = staticmethod(np.array_equal)

    def assign(self, centroids: NDArray[Any]) -> int:
        """Assign each row to its nearest centroid; return how many rows changed."""
        nearest = np.argmin(squares_between(self.cells, centroids), axis=1)
        changed = int(np.count_nonzero(nearest != self._labels))
        self._labels = nearest
        return changed

    def costs(self, centroids: NDArray[Any], labels: Integers) -> Floats:
        """Return each row's squared distance to its centroid, in float64."""
        total = np.zeros(len(self.cells))
        for column in range(self.cells.shape[1]):
            one = self.cells[:, column].astype(np.float64)
            apart = one - centroids[labels, column].astype(np.float64)
            total += apart * apart
        return total

    def moved(self, centroids: NDArray[Any]) -> tuple[NDArray[Any], int]:
        """Return the means of the clusters, and how many empty ones were filled."""
        sums = self.sums().copy()
        filled = len(list(self.fill_empty(centroids, sums)))
        means, weights = means_of(sums, self.scales)
        stay = weights <= 0
        means[stay] = centroids[stay]
        return means.astype(centroids.dtype), filled

    def summands(self, some: Any) -> NDArray[Any]:
        """Return the columns of some rows that are summed by cluster: all."""
        return np.asarray(self.cells[some])

    def alike(self, row: int, among: Integers) -> Integers:
        """Return the rows among some that equal one row."""
        return np.asarray(among[(self.cells[among] == self.cells[row]).all(axis=1)])

    def rounding(self) -> float:
        """Return the largest cost that rounding alone can cause."""
        return rounding_square(self.cells)


def one_thread_a_product() -> Any:
    """Let BLAS use one thread: the number of threads changes no bit."""
    return _blas_libraries().limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _blas_libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def in_blocks(numbers: Floats, bins: Any, n_bins: int) -> Floats:
    """Return sums by block and bin, each added row by row."""
    n_blocks = -(-len(numbers) // BLOCK)
    indices = np.arange(len(numbers)) // BLOCK * n_bins + bins
    sums = np.bincount(indices, weights=numbers, minlength=n_blocks * n_bins)
    return np.asarray(sums.reshape(n_blocks, n_bins), dtype=np.float64)
