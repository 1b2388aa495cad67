"""What clustering some rows came to, and the best of several starts.

k-means and k-prototypes share this: both divide rows and weights by powers of two
meanwhile (``scaling.py``), and both keep the start that led to the least inertia.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE
from spinney.cluster.cluster_draws import ClusterDraws
from spinney.cluster.scaling import scaled_weights


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """What the iterations came to.

    Parameters
    ----------
    centroids : array, clusters × columns; or Prototypes
    labels : array
        The cluster of each row, that of its nearest centroid.
    inertia : float
        The weighted sum of the distances of rows to their centroids: squared ones of
        k-means, those of ``prototypes/mixed_rows.py`` of k-prototypes.
    n_iterations : int
    converged : bool
        Whether nothing moved any more.
    start : array, clusters × columns; or Prototypes
        The centroids that the iterations began with.
    gamma : float
        What a nominal difference weighs; 0 of k-means.
    """

    centroids: Any
    labels: Integers
    inertia: float
    n_iterations: int
    converged: bool
    start: Any
    gamma: float = 0.0


def weights_as_given(weights: Floats | None) -> tuple[Floats, int]:
    """Return a copy of weights that products can take, and their power of two.

    It is empty where every row weighs 1.
    """
    given = np.empty(0) if weights is None else np.array(weights, dtype=np.float64)
    return scaled_weights(given)


def best_of_starts(
    n_starts: int, seed: int, run: Callable[[ClusterDraws], Clustering]
) -> Clustering:
    """Return the clustering of least inertia, the first of those equal to rounding.

    Parameters
    ----------
    n_starts : int
    seed : int
    run : callable
        Given the random numbers of one start, what it leads to.
    """
    draws = ClusterDraws(seed)
    best = run(draws.branch(0))
    for turn in range(1, n_starts):
        other = run(draws.branch(turn))
        if other.inertia < best.inertia * (1 - TOLERANCE):
            best = other
    return best


def farthest_rows(
    distances: Floats, least: float, doubles: Callable[[int], Integers]
) -> Iterator[Integers]:
    """Yield rows by falling distance, the first of equals first, with their doubles.

    Parameters
    ----------
    distances : array
        Of the rows to their centroids.
    least : float
        A row must be farther than this.
    doubles : callable
        Given a row, the rows that are equal to it, itself among them.
    """
    far = np.flatnonzero(distances > least)
    seen: set[int] = set()
    for row in far[np.argsort(-distances[far], kind="stable")].tolist():
        if row not in seen:
            alike = doubles(row)
            seen.update(alike.tolist())
            yield alike


def unscaled(
    clustering: Clustering,
    power: int,
    heavy: int,
    multiplied: Callable[[Any, int], Any] = np.ldexp,
) -> Clustering:
    """Return a clustering on the scale of the cells and the weights.

    Parameters
    ----------
    clustering : Clustering
    power, heavy : int
        The powers of two that cells and weights were divided by.
    multiplied : callable
        Given centroids and a power, the centroids times two to that power.
    """
    if not power and not heavy:
        return clustering
    with np.errstate(over="ignore"):
        return replace(
            clustering,
            centroids=multiplied(clustering.centroids, power),
            start=multiplied(clustering.start, power),
            inertia=float(np.ldexp(clustering.inertia, 2 * power + heavy)),
        )
