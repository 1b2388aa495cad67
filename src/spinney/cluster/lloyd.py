"""Lloyd's iterations, plain and traced: assign to the nearest, move to the mean."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spinney.counts import Floats, Integers
from spinney.errors import DataError

__all__ = ["Iteration", "distances", "lloyd"]


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """One iteration: distances to the centroids, nearest ones, and their new places."""

    distances: Floats
    clusters: Integers
    centroids: Floats


def distances(points: ArrayLike, centroids: ArrayLike) -> Floats:
    """Return the Euclidean distance of each point to each centroid.

    >>> distances([[1, 1], [3, 4]], [[1.5, 2]]).round(2)
    array([[1.12],
           [2.5 ]])
    """
    rows = np.asarray(points, dtype=np.float64)
    centres = np.asarray(centroids, dtype=np.float64)
    return np.asarray(np.linalg.norm(rows[:, None, :] - centres[None, :, :], axis=2))


def lloyd(points: ArrayLike, centroids: ArrayLike) -> list[Iteration]:
    """Iterate from given centroids until nothing moves; return every iteration.

    A point equally near to two centroids goes to the first; a centroid without
    points stays where it is. The sum of squares falls with every change, so the
    iterations end.

    Examples
    --------
    >>> trace = lloyd([[1, 1], [1.5, 2], [5, 7]], [[1, 1], [5, 7]])
    >>> trace[-1].clusters
    array([0, 0, 1])
    """
    rows = np.asarray(points, dtype=np.float64)
    centres = np.asarray(centroids, dtype=np.float64)
    if rows.ndim != 2 or centres.ndim != 2 or rows.shape[1] != centres.shape[1]:
        msg = "points and centroids must be two tables with the same columns"
        raise DataError(msg)
    if not len(centres) or not len(rows):
        msg = "k-means needs at least one point and one centroid"
        raise DataError(msg)
    if not (np.isfinite(rows).all() and np.isfinite(centres).all()):
        msg = "points and centroids must be finite numbers: k-means knows no missing"
        raise DataError(msg)
    trace: list[Iteration] = []
    while True:
        apart = distances(rows, centres)
        clusters = np.argmin(apart, axis=1)
        moved = centres.copy()
        for cluster in np.unique(clusters):
            moved[cluster] = rows[clusters == cluster].mean(axis=0)
        trace.append(Iteration(apart, clusters, moved))
        if len(trace) > 1 and np.array_equal(clusters, trace[-2].clusters):
            return trace
        centres = moved
