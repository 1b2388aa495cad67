"""The rows that k-means works on, and what it asks of all of them.

:class:`Rows` answers by NumPy, which needs no compiler; ``CompiledRows``
(``compiled_rows.py``) answers by kernels and bounds, with the same bits.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.extensions.clustering.cluster_draws import BINS
from spinney.extensions.clustering.clustered_rows import ClusteredRows
from spinney.extensions.clustering.exact_sums import means_of
from spinney.extensions.clustering.scaling import rounding_square

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
    """Rows of numbers, all of one type of float, with weights.

    NumPy computes every distance of every iteration.
    """

    # Seeding: see k_means_starts.py.

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

    # Iterating: see iterations.py.

    same = staticmethod(np.array_equal)

    def assign(self, centroids: NDArray[Any]) -> int:
        """Send each row to the nearest centroid; return how many went elsewhere."""
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
        """Return the centroids at the means of their rows, and how many were filled."""
        sums = self.sums().copy()
        filled = len(list(self.fill_empty(centroids, sums)))
        means, weights = means_of(sums, self.scales)
        stay = weights <= 0
        means[stay] = centroids[stay]
        return means.astype(centroids.dtype), filled

    def summands(self, some: Any) -> NDArray[Any]:
        """Return the columns of some rows that are added up by cluster: all."""
        return np.asarray(self.cells[some])

    def alike(self, row: int, among: Integers) -> Integers:
        """Return those of some rows that are equal to one."""
        return np.asarray(among[(self.cells[among] == self.cells[row]).all(axis=1)])

    def rounding(self) -> float:
        """Return the largest cost that rounding alone could have made."""
        return rounding_square(self.cells)


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
