"""k-means of rows that come in batches (Sculley 2010)."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.extensions.clustering.clustering import weights_as_given
from spinney.extensions.clustering.exact_sums import means_of
from spinney.extensions.clustering.fit_k_means import one_thread_in, rows_beside


class RunningCentroids:
    """Centroids that are the means of all rows that were ever theirs.

    A batch's rows go to their nearest centroids, and each centroid moves to the mean of
    the rows it had before and those it has got. A centroid that has never had a row
    moves to the row of the batch that is farthest from its centroid.
    """

    def __init__(self, centroids: Floats, weights: Floats) -> None:
        self.centroids = np.array(centroids, dtype=np.float64)
        self.weights = np.array(weights, dtype=np.float64)

    def learn(
        self, cells: NDArray[Any], weights: Floats | None, n_jobs: int | None
    ) -> tuple[Integers, float]:
        """Take a batch in; return its clusters and inertia before it moved any."""
        own, heavy = weights_as_given(weights)
        points = self.centroids.astype(cells.dtype)
        rows, points, power = rows_beside(cells, points, own, n_jobs=n_jobs)
        with one_thread_in(rows):
            labels, squares = rows.nearest_to(points)
        centroids = np.ldexp(self.centroids, -power)
        means, added = means_of(rows.sums(), rows.scales)
        got = added > 0
        with np.errstate(over="ignore"):
            added = np.ldexp(added[got], heavy)
            total = self.weights[got] + added
        share = (added / total)[:, None]
        centroids[got] += (means[got] - centroids[got]) * share
        self.weights[got] = total
        sizes = squares * own if len(own) else squares
        self._fill(centroids, rows.cells, sizes)
        self.centroids = np.ldexp(centroids, power)
        with np.errstate(over="ignore"):
            return labels, float(np.ldexp(np.sum(sizes), 2 * power + heavy))

    def _fill(self, centroids: Floats, cells: NDArray[Any], sizes: Floats) -> None:
        """Send centroids that have never had a row to those farthest from theirs."""
        empty = np.flatnonzero(self.weights <= 0)
        farthest = np.argsort(-sizes, kind="stable")[: len(empty)]
        farthest = farthest[sizes[farthest] > 0]
        centroids[empty[: len(farthest)]] = cells[farthest]


def in_batches(n_rows: int, size: int, seed: int, turn: int) -> Iterator[Integers]:
    """Yield the rows of each batch, in an order drawn anew for every turn.

    Where one batch has all rows they stay in order. The draws are NumPy's PCG64.

    >>> [len(batch) for batch in in_batches(10, 4, seed=0, turn=0)]
    [4, 4, 2]
    """
    if n_rows <= size:
        yield np.arange(n_rows)
        return
    order = np.random.default_rng([seed, turn]).permutation(n_rows)
    for first in range(0, n_rows, size):
        yield np.sort(order[first : first + size])
