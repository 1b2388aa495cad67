"""Lloyd's iterations over rows: assign, move, until nothing moves."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney.cluster.cluster_rows import Rows
from spinney.cluster.clustering import Clustering, farthest_rows
from spinney.cluster.exact_sums import Scales, means_of, parts_of
from spinney.cluster.scaling import rounding_square

Watch = Callable[[NDArray[Any], NDArray[Any], Callable[[], Integers], int], None]
"""What is called after an iteration: with the centroids before and after it, what tells
the clusters of the rows, and how many rows went elsewhere."""


def iterate(
    rows: Rows,
    centroids: NDArray[Any],
    *,
    max_iterations: int,
    tolerance: float,
    watch: Watch | None = None,
) -> Clustering:
    """Iterate from given centroids.

    An iteration sends each row to its nearest centroid, the first of equals, and moves
    each centroid to the weighted mean of its rows. It is the last one if no row has
    gone elsewhere, or if the squared moves of all centroids sum to no more than the
    tolerance, where that is above 0.
    """
    rows.restart(len(centroids))
    start = centroids
    converged, moved, n = False, False, 0
    while n < max_iterations and not converged:
        n += 1
        changed = rows.assign(centroids)
        after, filled = _moved(rows, centroids)
        converged = changed == 0 and not filled
        if watch is not None:
            watch(centroids, after, rows.labels, changed)
        shift = np.sum((after.astype(np.float64) - centroids) ** 2)
        centroids, moved = after, not converged
        if tolerance > 0 and shift <= tolerance:
            break
    if moved or not n:
        rows.assign(centroids)
    labels = rows.labels()
    inertia = inertia_of(rows, centroids, labels)
    return Clustering(centroids, labels, inertia, n, converged, start)


def inertia_of(rows: Rows, centroids: NDArray[Any], labels: Integers) -> float:
    """Return the weighted sum of the squared distances of rows to their centroids."""
    squares = rows.squares(centroids, labels)
    return float(np.sum(squares * rows.weights if len(rows.weights) else squares))


def _moved(rows: Rows, centroids: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return the centroids at the means of their rows, and how many were filled."""
    sums, scales = rows.sums()
    means, weights = means_of(sums, scales)
    empty = np.flatnonzero(weights <= 0)
    filled = 0
    if len(empty):
        sums, filled = _filled(rows, centroids, (sums, scales), empty)
        means, weights = means_of(sums, scales)
    stay = weights <= 0
    means[stay] = centroids[stay]
    return means.astype(centroids.dtype), filled


def _filled(
    rows: Rows,
    centroids: NDArray[Any],
    summed: tuple[Integers, Scales],
    empty: Integers,
) -> tuple[Integers, int]:
    """Give empty clusters the rows that are farthest from their centroids.

    The first empty cluster gets the farthest row, the first of equals, with its
    doubles, and so on. They are taken from the mean of their own cluster, unless
    nothing else has weight there; a row on its centroid, but for a rounding, is not
    taken. Every such move lowers the inertia, so this comes to an end.
    """
    sums, scales = summed[0].copy(), summed[1]
    labels = rows.labels()
    squares = rows.squares(centroids, labels)
    if len(rows.weights):
        squares = np.where(rows.weights > 0, squares, 0.0)

    def doubles(row: int) -> Integers:
        alike = np.flatnonzero((squares == squares[row]) & (labels == labels[row]))
        return np.asarray(alike[(rows.cells[alike] == rows.cells[row]).all(axis=1)])

    waiting = list(empty)
    for alike in farthest_rows(squares, rounding_square(rows.cells), doubles):
        if not waiting:
            break
        own = rows.weights[alike] if len(rows.weights) else rows.weights
        part = parts_of(rows.cells[alike], own, scales).sum(axis=1)
        cluster = labels[alike[0]]
        rest = sums[:, cluster] - part
        if not (rest[:, -1] > 0).any():
            continue
        sums[:, cluster] = rest
        sums[:, waiting.pop(0)] = part
    return sums, len(empty) - len(waiting)
