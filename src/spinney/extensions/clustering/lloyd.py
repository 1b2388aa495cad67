"""Lloyd's iterations, restarts and their result, for k-means and k-prototypes.

Rows are in memory, numeric (``numeric_rows.py``) or mixed (``prototypes``), or remote
(``models/cluster_table.py``). Centroids are an array for k-means and ``Prototypes``
for k-prototypes. Both methods divide rows and weights by powers of two (``scaling.py``)
and keep the restart of least inertia.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE
from spinney.extensions.clustering.random_rows import RandomStream
from spinney.extensions.clustering.scaling import scaled_weights

RANDOM_INITS = ("k-means++", "random", "huang")
"""Random initialisations; a callable counts as random, too."""

N_STARTS = 4
CHEAP_WORK = 10_000_000
"""The most rows × columns × clusters for which "auto" makes several restarts."""


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """The result of k-means or k-prototypes on some rows.

    ``inertia`` is the weighted sum of the distances of rows to their centroids: squared
    for k-means, those of ``prototypes/mixed_cells.py`` for k-prototypes. ``start`` has
    the initial centroids, ``gamma`` is the weight of a categorical mismatch.
    """

    centroids: Any
    labels: Integers
    inertia: float
    n_iterations: int
    converged: bool
    start: Any
    gamma: float = 0.0


def prepare_weights(weights: Floats | None) -> tuple[Floats, int]:
    """Return a copy of weights, empty if all are 1, divided by a power of two."""
    copied = np.empty(0) if weights is None else np.array(weights, dtype=np.float64)
    return scaled_weights(copied)


def is_random_init(init: Any) -> bool:
    """Return whether an initialisation is random, so that restarts may help."""
    return callable(init) or (isinstance(init, str) and init in RANDOM_INITS)


def count_restarts(n_init: int | str, init: Any, work: int) -> int:
    """Return the number of restarts; work is rows × columns × clusters.

    >>> count_restarts("auto", "random", 10**7), count_restarts("auto", "random", 10**8)
    (4, 1)
    >>> count_restarts("auto", "optimal", 10), count_restarts(7, "huang", 10**8)
    (1, 7)
    """
    if not is_random_init(init):
        return 1
    if isinstance(n_init, str):
        return N_STARTS if work <= CHEAP_WORK else 1
    return n_init


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterMethod:
    """Settings of k-means and k-prototypes, named as in scikit-learn.

    ``init`` is the name of a method, initial centroids or a callable. The same seed
    gives the same clustering for any ``n_jobs``, whose default is one thread per core.
    """

    init: Any
    n_init: int | str = "auto"
    max_iter: int = 300
    seed: int = 0
    n_jobs: int | None = 1

    def n_starts(self, cells: Any, k: int) -> int:
        """Return the number of restarts for k clusters of some rows."""
        return count_restarts(self.n_init, self.init, cells.size * k)

    def best(
        self, n_starts: int, run: Callable[[RandomStream], Clustering]
    ) -> Clustering:
        """Return the clustering of least inertia; ``run`` makes one restart.

        The first wins among those that differ only by rounding.
        """
        draws = RandomStream(self.seed)
        best = run(draws.branch(0))
        for number in range(1, n_starts):
            clustering = run(draws.branch(number))
            if clustering.inertia < best.inertia * (1 - TOLERANCE):
                best = clustering
        return best


def undo_scaling(
    clustering: Clustering,
    power: int,
    weight_power: int,
    multiply: Callable[[Any, int], Any] = np.ldexp,
) -> Clustering:
    """Return a clustering of cells and weights that were divided by powers of two."""
    if not power and not weight_power:
        return clustering
    with np.errstate(over="ignore"):
        return replace(
            clustering,
            centroids=multiply(clustering.centroids, power),
            start=multiply(clustering.start, power),
            inertia=float(np.ldexp(clustering.inertia, 2 * power + weight_power)),
        )


IterationCallback = Callable[
    [NDArray[Any], NDArray[Any], Callable[[], Integers], int], object
]
"""Called after each iteration with the centroids before and after it, a function that
returns the labels, and the number of rows that changed cluster."""


class IteratedRows(Protocol):
    """The operations on rows that an iteration requires."""

    def reset(self, centroids: Any) -> None:
        """Forget all assignments, and take the number of clusters from centroids."""
        ...

    def assign(self, centroids: Any) -> int:
        """Assign each row to its nearest centroid; return how many rows changed."""
        ...

    def update_centroids(self, centroids: Any) -> tuple[Any, int]:
        """Return the centroids of least cost, and how many empty ones were filled."""
        ...

    def is_unchanged(self, before: Any, after: Any) -> bool:
        """Return whether no centroid has moved."""
        ...

    def labels(self) -> Integers:
        """Return the cluster of each row."""
        ...

    def inertia(self, centroids: Any) -> float:
        """Return the weighted sum of the distances of rows to their centroids."""
        ...


def iterate(
    rows: IteratedRows,
    centroids: Any,
    *,
    max_iterations: int,
    tolerance: float = 0.0,
    on_iteration: IterationCallback | None = None,
) -> Clustering:
    """Iterate from initial centroids.

    An iteration assigns each row to its nearest centroid, the first of equals, and
    moves each centroid to the values of least cost for its rows: for numbers the
    weighted mean. It is the last if no row changed and no centroid moved, or if the
    squared moves of all centroids sum to at most a positive tolerance.
    """
    rows.reset(centroids)
    start, converged, n = centroids, False, 0
    while n < max_iterations and not converged:
        n += 1
        before, changed = centroids, rows.assign(centroids)
        centroids, n_filled = rows.update_centroids(before)
        converged = (
            changed == 0 and not n_filled and rows.is_unchanged(before, centroids)
        )
        if on_iteration is not None:
            on_iteration(before, centroids, rows.labels, changed)
        if tolerance > 0:
            moves = centroids.astype(np.float64) - before
            if float(np.sum(moves**2)) <= tolerance:
                break
    if not converged:
        rows.assign(centroids)
    inertia = rows.inertia(centroids)
    return Clustering(centroids, rows.labels(), inertia, n, converged, start)
