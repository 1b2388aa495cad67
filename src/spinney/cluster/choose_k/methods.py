"""Ways to find clusters of any number: k-means and k-prototypes, asked alike.

What chooses a number of clusters, and what finds them, sees a ``Method`` only: rows in,
a ``Clustering`` out. Rows are an array of k-means, ``MixedCells`` of k-prototypes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.cluster.choose_k.choice import MEASURES
from spinney.cluster.choose_k.cluster_measures import mean_widths, silhouettes
from spinney.cluster.clustering import Clustering
from spinney.cluster.fit_k_means import k_means, nearest_centroids
from spinney.cluster.k_means_iterations import Watch
from spinney.cluster.prototypes.fit_k_prototypes import k_prototypes, nearest_prototypes
from spinney.cluster.prototypes.mixed_rows import MixedCells, distances_to_all
from spinney.cluster.scaling import scaled, scaling_power

Cells = NDArray[Any] | MixedCells

DRAWN = ("k-means++", "random", "huang")
"""The starts that are drawn; so are those of a user's function."""

N_STARTS = 4
CHEAP_WORK = 10_000_000
"""So many rows × columns × clusters are cheap enough for several starts."""

MIXED_RULES = ("silhouette", "elbow")
"""The measures that need no centroid of numbers: the others of ``MEASURES`` do."""


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
    """How clusters are looked for, for every number of them alike.

    Parameters
    ----------
    init : str, array, Prototypes or callable
        Where to start.
    n_init : int or "auto"
        How many starts: see :func:`n_starts_of`.
    max_iter : int
    seed : int
    n_jobs : int, optional
        How many threads; one per core if not given.
    """

    init: Any
    n_init: int | str = "auto"
    max_iter: int = 300
    seed: int = 0
    n_jobs: int | None = 1

    def n_starts(self, cells: Cells, k: int) -> int:
        """Return how many starts k clusters of some rows have."""
        return n_starts_of(self.n_init, self.init, cells.size * k)


@dataclass(frozen=True, slots=True, kw_only=True)
class KMeansMethod(Starts):
    """k-means of numbers; ``tol`` is the tolerance of :func:`k_means`."""

    init: Any = "k-means++"
    tol: float = 0.0

    measures: ClassVar[tuple[str, ...]] = MEASURES  # each may choose k, too

    def fit(
        self,
        cells: Any,
        k: int,
        *,
        weights: Floats | None = None,
        watch: Watch | None = None,
    ) -> Clustering:
        """Return k clusters of some rows."""
        return k_means(
            cells,
            k,
            weights=weights,
            start=self.init,
            n_starts=self.n_starts(cells, k),
            max_iterations=self.max_iter,
            tolerance=self.tol,
            seed=self.seed,
            n_jobs=self.n_jobs,
            watch=watch,
        )

    def scaled(self, cells: Any) -> tuple[Any, int]:
        """Return rows whose squares are floats, and the power of two they are over."""
        return scaled(np.asarray(cells))

    def labels(self, cells: Any, clustering: Clustering) -> Integers:
        """Return the clusters of other rows."""
        return nearest_centroids(cells, clustering.centroids, n_jobs=self.n_jobs)[0]

    def silhouettes(
        self, cells: Any, labelings: Sequence[Integers], weights: Floats, gamma: float
    ) -> list[float | None]:
        """Return the silhouettes of several clusterings of the same rows."""
        return silhouettes(cells, labelings, weights, n_jobs=self.n_jobs or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KPrototypesMethod(Starts):
    """k-prototypes of mixed rows; ``gamma`` is what a nominal difference weighs.

    Between two rows there is the distance of k-prototypes, with a row in the place of
    the prototype; what either lacks adds nothing. Silhouettes are of its root: where
    all columns are numbers and known, that is the distance of k-means.
    """

    init: Any = "huang"
    gamma: float | None = None

    measures: ClassVar[tuple[str, ...]] = MIXED_RULES

    def fit(
        self,
        cells: Any,
        k: int,
        *,
        weights: Floats | None = None,
        watch: Watch | None = None,
    ) -> Clustering:
        """Return k clusters of some rows; nothing is kept of the iterations."""
        return k_prototypes(
            cells,
            k,
            weights=weights,
            gamma=self.gamma,
            start=self.init,
            n_starts=self.n_starts(cells, k),
            max_iterations=self.max_iter,
            seed=self.seed,
            n_jobs=self.n_jobs,
        )

    def scaled(self, cells: Any) -> tuple[Any, int]:
        """Return the rows as they are: γ belongs to the scale of their numbers."""
        return cells, 0

    def labels(self, cells: Any, clustering: Clustering) -> Integers:
        """Return the clusters of other rows."""
        prototypes, gamma = clustering.centroids, clustering.gamma
        return nearest_prototypes(cells, prototypes, gamma, n_jobs=self.n_jobs)[0]

    def silhouettes(
        self, cells: Any, labelings: Sequence[Integers], weights: Floats, gamma: float
    ) -> list[float | None]:
        """Return the silhouettes of several clusterings of the same rows."""
        # Clusters without rows are no clusters.
        codings = [np.unique(one, return_inverse=True)[1].ravel() for one in labelings]
        power = scaling_power(np.nan_to_num(cells.numbers))
        if power < 0 and cells.codes.shape[1]:
            power = 0  # γ would overflow, and numbers so small do not count beside it
        small = replace(cells, numbers=np.ldexp(cells.numbers, -power))
        gamma = float(np.ldexp(gamma, -2 * power)) if power else gamma
        return mean_widths(
            lambda part: distances_to_all(small, part, gamma),
            codings,
            weights,
            n_jobs=self.n_jobs or 1,
        )


Method = KMeansMethod | KPrototypesMethod
