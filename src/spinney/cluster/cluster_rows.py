"""The rows that k-means works on, and what it asks of all of them.

Two classes answer the same questions with the same bits: :class:`PlainRows` by NumPy,
which needs no compiler, and ``CompiledRows`` (``compiled_rows.py``) by loops and
bounds.
"""

from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.cluster.cluster_draws import BINS
from spinney.cluster.exact_sums import Scales, parts_of, scales_for, sums_of

# Sums of floats are added up by blocks of so many rows, whatever the threads.
BLOCK = 1 << 14


class Rows(Protocol):
    """Rows of numbers, all of one type of float, with weights."""

    cells: NDArray[Any]
    weights: Floats  # empty: every row weighs 1

    # Seeding: see cluster/k_means_starts.py.

    def begin(self, row: int, bins: NDArray[np.uint16]) -> None:
        """Take a row as the first centroid; the bins are those of ``totals``."""

    def gains(self, candidates: Integers) -> Floats:
        """Return what each row would take off the sum of squared distances."""

    def take(self, row: int) -> None:
        """Take a row as one more centroid."""

    def totals(self) -> Floats:
        """Return the weighted squared distances to the nearest, summed by bin."""

    def nearest(self) -> NDArray[Any]:
        """Return the squared distance of each row to its nearest centroid."""

    # Iterating: see cluster/k_means_iterations.py.

    def restart(self, n_clusters: int) -> None:
        """Forget all assignments."""

    def assign(self, centroids: NDArray[Any]) -> int:
        """Send each row to the nearest centroid; return how many went elsewhere."""

    def labels(self) -> Integers:
        """Return the cluster of each row."""

    def sums(self) -> tuple[Integers, Scales]:
        """Return the sums of the clusters, and their scales."""

    def squares(self, centroids: NDArray[Any], labels: Integers) -> Floats:
        """Return each row's squared distance to its centroid, in float64."""


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


class PlainRows:
    """Rows that NumPy works on, every distance of every iteration."""

    def __init__(self, cells: NDArray[Any], weights: Floats) -> None:
        self.cells, self.weights = cells, weights
        self._parts: Integers | None = None
        self._scales: Scales | None = None

    def begin(self, row: int, bins: NDArray[np.uint16]) -> None:
        """Take a row as the first centroid; the bins are those of ``totals``."""
        self._bins = bins
        self._near = self._seeding_squares(row)

    def gains(self, candidates: Integers) -> Floats:
        """Return what each row would take off the sum of squared distances."""
        return np.array([self._gain(row) for row in candidates])

    def _gain(self, row: int) -> float:
        off = np.maximum(self._near - self._seeding_squares(row), 0).astype(np.float64)
        return float(np.sum(in_blocks(off * self._weight(), 0, 1)))

    def take(self, row: int) -> None:
        """Take a row as one more centroid."""
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
        """Return squared distances to a row: even columns, odd ones, and their sum."""
        totals = np.zeros((2, len(self.cells)), self.cells.dtype)
        for column in range(self.cells.shape[1]):
            apart = self.cells[:, column] - self.cells[row, column]
            totals[column % 2] += apart * apart
        return np.asarray(totals[0] + totals[1])

    def restart(self, n_clusters: int) -> None:
        """Forget all assignments."""
        self._k = n_clusters
        self._labels = np.full(len(self.cells), -1)

    def assign(self, centroids: NDArray[Any]) -> int:
        """Send each row to the nearest centroid; return how many went elsewhere."""
        nearest = np.argmin(squares_between(self.cells, centroids), axis=1)
        changed = int(np.count_nonzero(nearest != self._labels))
        self._labels = nearest
        return changed

    def labels(self) -> Integers:
        """Return the cluster of each row."""
        return self._labels

    def sums(self) -> tuple[Integers, Scales]:
        """Return the sums of the clusters, and their scales."""
        if self._parts is None or self._scales is None:
            self._scales = scales_for(self.cells, self.weights)
            self._parts = parts_of(self.cells, self.weights, self._scales)
        return sums_of(self._parts, self._labels, self._k), self._scales

    def squares(self, centroids: NDArray[Any], labels: Integers) -> Floats:
        """Return each row's squared distance to its centroid, in float64."""
        total = np.zeros(len(self.cells))
        for column in range(self.cells.shape[1]):
            one = self.cells[:, column].astype(np.float64)
            apart = one - centroids[labels, column].astype(np.float64)
            total += apart * apart
        return total


def one_thread_a_product() -> Any:
    """Let products of matrices use one thread: how many there are changes no bit."""
    return _libraries().limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _libraries() -> Any:
    """Return the control of the libraries that multiply matrices."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def in_blocks(numbers: Floats, bins: Any, n_bins: int) -> Floats:
    """Return the sums by block and bin, each added up row by row."""
    n_blocks = -(-len(numbers) // BLOCK)
    indices = np.arange(len(numbers)) // BLOCK * n_bins + bins
    sums = np.bincount(indices, weights=numbers, minlength=n_blocks * n_bins)
    return np.asarray(sums.reshape(n_blocks, n_bins), dtype=np.float64)
