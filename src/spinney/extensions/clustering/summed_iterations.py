"""Lloyd's iterations over rows that are away: an iteration asks for sums by cluster."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spinney._support.arrays import Floats
from spinney.errors import DataError
from spinney.sources.rows import ClusterSums, Points

STILL = 1e-12
"""What a centroid may move by, as a share of how far rows are spread, and yet stay: in
which order sums are added up is the engine's."""

Ask = Callable[[Points], ClusterSums]


@dataclass(frozen=True, slots=True, eq=False)
class SummedClusters:
    """What the iterations came to: centroids, what they weigh and cost."""

    centroids: Floats
    weights: Floats
    inertia: float
    n_iterations: int
    converged: bool


def iterate_sums(
    ask: Ask,
    start: Points,
    *,
    max_iterations: int,
    tolerance: float = 0.0,
    heard: Callable[[int], object] | None = None,
) -> SummedClusters:
    """Iterate from given centroids.

    An iteration sends each row to its nearest centroid, the first of equals, and moves
    each centroid to the weighted mean of its rows; one without rows stays. It is the
    last one if no centroid has moved but for a rounding, or if the squared moves of all
    sum to no more than the tolerance, where that is above 0.
    """
    points, converged, n = start, False, 0
    while n < max_iterations and not converged:
        n += 1
        sums = _asked(ask, points)
        before, after = points.centroids, _means(sums, points)
        points = replace(points, centroids=after)
        moves = np.abs(after - before)
        converged = bool((moves <= _roundings(sums, points)).all())
        if heard is not None:
            heard(n)
        if tolerance > 0 and float((moves**2).sum()) <= tolerance:
            break
    sums = _asked(ask, points)
    inertia = float(sums.squares.sum())
    return SummedClusters(points.centroids, sums.weights, inertia, n, converged)


def rows_lacking(n_rows: int) -> DataError:
    """Return the refusal of rows that lack a cell."""
    msg = f"{n_rows} rows lack a cell, and k-means needs all numbers"
    return DataError(msg, remedy="leave those rows or columns out")


def _asked(ask: Ask, points: Points) -> ClusterSums:
    sums = ask(points)
    if sums.n_lacking:
        raise rows_lacking(sums.n_lacking)
    if not np.isfinite(sums.sums).all():
        msg = "a cell is infinite, or a sum of cells is beyond all floats"
        raise DataError(msg, remedy="scale the column down, or leave it out")
    return sums


def _means(sums: ClusterSums, points: Points) -> Floats:
    means = points.centroids.copy()
    some = sums.weights > 0
    means[some] = points.origin + sums.sums[some] / sums.weights[some, None]
    return means


def _roundings(sums: ClusterSums, points: Points) -> Floats:
    """Return how far centroids may seem to move where no row changes its cluster.

    Means are rounded as the sums of cells − origin are, and where they are put.
    """
    apart = np.abs(points.centroids - points.origin).max(axis=0)
    within = np.sqrt(sums.squares.sum() / sums.weights.sum())
    put = np.spacing(np.abs(points.centroids))
    return np.asarray(np.maximum(STILL * (apart + within), put))
