"""What clustering some rows came to, and the best of several starts.

k-means and k-prototypes share this: both divide rows and weights by powers of two
meanwhile (``scaling.py``), and both keep the start that led to the least inertia.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE
from spinney.extensions.clustering.cluster_draws import ClusterDraws
from spinney.extensions.clustering.scaling import scaled_weights

DRAWN = ("k-means++", "random", "huang")
"""The starts that are drawn; so are those of a user's function."""

N_STARTS = 4
CHEAP_WORK = 10_000_000
"""So many rows × columns × clusters are cheap enough for several starts."""


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """The result of k-means or k-prototypes on some rows.

    Parameters
    ----------
    centroids : array, clusters × columns; or Prototypes
    labels : array
        The cluster of each row, that of its nearest centroid.
    inertia : float
        The weighted sum of the distances of rows to their centroids: squared ones of
        k-means, those of ``prototypes/mixed_distances.py`` of k-prototypes.
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


def is_drawn(init: Any) -> bool:
    """Return whether a start is drawn, so that another one may be better."""
    return callable(init) or (isinstance(init, str) and init in DRAWN)


def n_starts_of(n_init: int | str, init: Any, work: int) -> int:
    """Return how many starts ``n_init`` means.

    ``"auto"`` is 4 where they are cheap, else 1; work is rows × columns × clusters. One
    start is made where nothing is drawn; any other number is taken as it is.

    >>> n_starts_of("auto", "k-means++", 10**7), n_starts_of("auto", "random", 10**8)
    (4, 1)
    >>> n_starts_of("auto", "optimal", 10), n_starts_of(7, "huang", 10**8)
    (1, 7)
    """
    if not is_drawn(init):
        return 1
    if isinstance(n_init, str):
        return N_STARTS if work <= CHEAP_WORK else 1
    return n_init


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    """How clusters are looked for, of any number of them.

    Parameters
    ----------
    init : str, array, Prototypes or callable
        Centroids to start from, or what draws them.
    n_init : int or "auto"
        How many starts: see :func:`n_starts_of`. Of clusterings equally good, but for a
        rounding, the first is taken.
    max_iter : int
    seed : int
        The same seed leads to the same clustering, whatever ``n_jobs``.
    n_jobs : int, optional
        How many threads; one per core if not given.
    """

    init: Any
    n_init: int | str = "auto"
    max_iter: int = 300
    seed: int = 0
    n_jobs: int | None = 1

    def n_starts(self, cells: Any, k: int) -> int:
        """Return how many starts k clusters of some rows have."""
        return n_starts_of(self.n_init, self.init, cells.size * k)

    def best(
        self, n_starts: int, run: Callable[[ClusterDraws], Clustering]
    ) -> Clustering:
        """Return the clustering of least inertia, the first of those equal to rounding.

        ``run`` is given the random numbers of one start, and returns what it leads to.
        """
        draws = ClusterDraws(self.seed)
        best = run(draws.branch(0))
        for turn in range(1, n_starts):
            other = run(draws.branch(turn))
            if other.inertia < best.inertia * (1 - TOLERANCE):
                best = other
        return best


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
