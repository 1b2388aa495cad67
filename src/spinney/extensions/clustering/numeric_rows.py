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
from spinney.extensions.clustering.exact_sums import (
    Scales,
    exact_means,
    exact_parts,
    exact_scales,
    sum_by_cluster,
)
from spinney.extensions.clustering.random_rows import BINS
from spinney.extensions.clustering.scaling import rounding_square


class RowsInMemory:
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

    def equal_rows(self, row: int, candidates: Integers) -> Integers:
        """Return the candidates that equal a row."""
        raise NotImplementedError

    def rounding_cost(self) -> float:
        """Return the largest cost that rounding alone can cause."""
        raise NotImplementedError

    def summands(self, chosen: Any) -> Any:
        """Return the columns of some rows that are summed by cluster."""
        raise NotImplementedError

    # Shared

    def reset(self, centroids: Any) -> None:
        """Forget all assignments, and take the number of clusters from centroids."""
        self._k = len(centroids)
        self._labels = np.full(len(self.cells), -1)

    def labels(self) -> Integers:
        """Return the cluster of each row."""
        return self._labels

    def nearest_to(self, centroids: Any) -> tuple[Integers, Floats]:
        """Return the nearest centroid of each row, and the distance to it."""
        self.reset(centroids)
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
        return exact_scales(self.summands(slice(None)), self.weights)

    @cached_property
    def _exact_parts(self) -> Integers:
        return exact_parts(self.summands(slice(None)), self.weights, self.scales)

    def sums(self) -> Integers:
        """Return the sums of the clusters."""
        return sum_by_cluster(self._exact_parts, self._labels, self._k)

    def fill_empty(
        self, centroids: Any, sums: Integers
    ) -> Iterator[tuple[Integers, int, int]]:
        """Move the rows farthest from their centroids to empty clusters.

        Each empty cluster in turn gets the farthest row, the first of equals, with its
        duplicates. Other weight must remain in the cluster that they leave. A row that
        only rounding separates from its centroid stays. Every move lowers the inertia,
        so the moves end. Yields the rows, their old cluster and their new cluster.
        """
        empty = np.flatnonzero(~(sums[:, :, -1] != 0).any(axis=0)).tolist()
        if not empty:
            return
        labels = self.labels()
        costs = self.costs(centroids, labels)
        if len(self.weights):
            costs = np.where(self.weights > 0, costs, 0.0)
        candidates = np.flatnonzero(costs > self.rounding_cost())
        moved_rows: set[int] = set()
        for row in candidates[np.argsort(-costs[candidates], kind="stable")].tolist():
            if row in moved_rows:
                continue
            cluster = labels[row]
            same_cost = np.flatnonzero((costs == costs[row]) & (labels == cluster))
            duplicates = self.equal_rows(row, same_cost)
            moved_rows.update(duplicates.tolist())
            weights = self.weights[duplicates] if len(self.weights) else self.weights
            moved_parts = exact_parts(
                self.summands(duplicates), weights, self.scales
            ).sum(axis=1)
            if not (sums[:, cluster, -1] - moved_parts[:, -1] > 0).any():
                continue
            sums[:, cluster] -= moved_parts
            sums[:, empty[0]] = moved_parts
            yield duplicates, cluster, empty.pop(0)
            if not empty:
                return


# Sums of floats are added up by blocks of so many rows, whatever the threads.
BLOCK = 1 << 14


def pairwise_squares(cells: NDArray[Any], points: NDArray[Any]) -> Floats:
    """Return the squared distances of rows to points, in float64, column by column.

    >>> pairwise_squares(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 1.0]]))
    array([[ 1.],
           [18.]])
    """
    total = np.zeros((len(cells), len(points)))
    for column in range(cells.shape[1]):
        row_cells = cells[:, column].astype(np.float64)
        point_cells = points[:, column].astype(np.float64)
        difference = row_cells[:, None] - point_cells[None, :]
        difference *= difference
        total += difference
    return total


class NumericRows(RowsInMemory):
    """Rows of numbers, all of one float type; NumPy computes every distance.

    The first five methods serve k-means++.
    """

    def start_seeding(self, row: int, bins: NDArray[np.uint16]) -> None:
        """Make a row the first centroid; ``totals`` sums by these bins."""
        self._bins = bins
        self._near = self._seeding_squares(row)

    def gains(self, candidates: Integers) -> Floats:
        """Return the decrease of the squared distances by each candidate row."""
        gains = []
        for row in candidates:
            decrease = np.maximum(self._near - self._seeding_squares(row), 0)
            decrease = decrease.astype(np.float64) * self._weights_or_one()
            gains.append(float(np.sum(sum_by_block(decrease, 0, 1))))
        return np.array(gains)

    def add_centroid(self, row: int) -> None:
        """Make a row the next centroid."""
        self._near = np.minimum(self._near, self._seeding_squares(row))

    def totals(self) -> Floats:
        """Return the weighted squared distances to the nearest, summed by bin."""
        sizes = self._near.astype(np.float64) * self._weights_or_one()
        return np.asarray(np.sum(sum_by_block(sizes, self._bins, BINS), axis=0))

    def nearest(self) -> NDArray[Any]:
        """Return the squared distance of each row to its nearest centroid."""
        return self._near

    def _weights_or_one(self) -> Any:
        return self.weights if len(self.weights) else 1.0

    def _seeding_squares(self, row: int) -> NDArray[Any]:
        """Return squared distances to a row: even columns plus odd ones."""
        totals = np.zeros((2, len(self.cells)), self.cells.dtype)
        for column in range(self.cells.shape[1]):
            difference = self.cells[:, column] - self.cells[row, column]
            totals[column % 2] += difference * difference
        return np.asarray(totals[0] + totals[1])

    is_unchanged = staticmethod(np.array_equal)

    def assign(self, centroids: NDArray[Any]) -> int:
        """Assign each row to its nearest centroid; return how many rows changed."""
        nearest = np.argmin(pairwise_squares(self.cells, centroids), axis=1)
        changed = int(np.count_nonzero(nearest != self._labels))
        self._labels = nearest
        return changed

    def costs(self, centroids: NDArray[Any], labels: Integers) -> Floats:
        """Return each row's squared distance to its centroid, in float64."""
        total = np.zeros(len(self.cells))
        for column in range(self.cells.shape[1]):
            difference = self.cells[:, column].astype(np.float64)
            difference -= centroids[labels, column].astype(np.float64)
            total += difference * difference
        return total

    def update_centroids(self, centroids: NDArray[Any]) -> tuple[NDArray[Any], int]:
        """Return the means of the clusters, and how many empty ones were filled."""
        sums = self.sums().copy()
        filled = len(list(self.fill_empty(centroids, sums)))
        means, weights = exact_means(sums, self.scales)
        is_empty = weights <= 0
        means[is_empty] = centroids[is_empty]
        return means.astype(centroids.dtype), filled

    def summands(self, chosen: Any) -> NDArray[Any]:
        """Return the columns of some rows that are summed by cluster: all."""
        return np.asarray(self.cells[chosen])

    def equal_rows(self, row: int, candidates: Integers) -> Integers:
        """Return the candidates that equal a row."""
        is_equal = (self.cells[candidates] == self.cells[row]).all(axis=1)
        return np.asarray(candidates[is_equal])

    def rounding_cost(self) -> float:
        """Return the largest cost that rounding alone can cause."""
        return rounding_square(self.cells)


def one_blas_thread() -> Any:
    """Limit BLAS to one thread; the number of threads changes no bit."""
    return _blas_libraries().limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _blas_libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def sum_by_block(numbers: Floats, bins: Any, n_bins: int) -> Floats:
    """Return the sums of numbers by block and bin, added row by row."""
    n_blocks = -(-len(numbers) // BLOCK)
    indices = np.arange(len(numbers)) // BLOCK * n_bins + bins
    sums = np.bincount(indices, weights=numbers, minlength=n_blocks * n_bins)
    return np.asarray(sums.reshape(n_blocks, n_bins), dtype=np.float64)
