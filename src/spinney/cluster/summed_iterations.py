"""Lloyd's iterations over rows that are away: an iteration asks for sums by cluster."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats
from spinney.errors import DataError
from spinney.sources.rows import ClusterSums, Points

STILL = 1e-12
"""What a centroid may move by, as a share of where it is, and yet stay: in which order
sums are added up is the engine's."""

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
        told = _asked(ask, points)
        before, after = points.places, _means(told, points)
        points = _at(points, after)
        moves = np.abs(after - before)
        converged = bool((moves <= STILL * np.maximum(1.0, np.abs(after))).all())
        if heard is not None:
            heard(n)
        if tolerance > 0 and float((moves**2).sum()) <= tolerance:
            break
    told = _asked(ask, points)
    inertia = float(told.squares.sum())
    return SummedClusters(points.places, told.weights, inertia, n, converged)


def _asked(ask: Ask, points: Points) -> ClusterSums:
    told = ask(points)
    if told.n_lacking:
        msg = f"{told.n_lacking} rows lack a cell, and k-means needs all numbers"
        remedy = "leave those rows or columns out"
        raise DataError(msg, remedy=remedy)
    if not np.isfinite(told.sums).all():
        msg = "a cell is infinite, or a sum of cells is beyond all floats"
        raise DataError(msg, remedy="scale the column down, or leave it out")
    return told


def _means(told: ClusterSums, points: Points) -> Floats:
    means = points.places.copy()
    some = told.weights > 0
    means[some] = points.origin + told.sums[some] / told.weights[some, None]
    return means


def _at(points: Points, places: Floats) -> Points:
    return Points(points.attributes, points.scale, places, points.origin)
