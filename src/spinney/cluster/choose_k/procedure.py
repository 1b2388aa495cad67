"""How many clusters: k-means for several k, measures of each, and a rule."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.checks import check_named, check_whole, is_whole
from spinney.cluster.choose_k.choice import MEASURES, Choice, Line
from spinney.cluster.choose_k.choice_rules import decided
from spinney.cluster.choose_k.cluster_measures import (
    calinski_harabasz,
    davies_bouldin,
    silhouettes,
)
from spinney.cluster.choose_k.distinct_rows import (
    Distinct,
    distinct_rows,
    sampled,
    scaled,
)
from spinney.cluster.choose_k.elbow import Elbow, elbow_of
from spinney.cluster.choose_k.gap import Gaps, gaps_of
from spinney.cluster.fit_k_means import k_means, nearest_centroids
from spinney.cluster.k_means_iterations import Clustering
from spinney.errors import DataError, Setting, refusal

N_STARTS = 4
"""How many starts k-means has for each k, unless something else is said."""

LARGEST_K = 10
CHEAP = ("silhouette", "calinski_harabasz", "davies_bouldin", "elbow")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much work the dear measures may be.

    Parameters
    ----------
    silhouette_rows : int
        Silhouettes are exact where there are no more different rows than this; else of
        a sample of so many.
    gap_rows : int
        Of how many rows reference tables are at most; where the data has more, a sample
        stands for it.
    gap_tables : int
        How many reference tables are drawn.
    """

    silhouette_rows: int = 5000
    gap_rows: int = 1000
    gap_tables: int = 20

    def __post_init__(self) -> None:
        check_whole("silhouette_rows", self.silhouette_rows, least=2)
        check_whole("gap_rows", self.gap_rows, least=2)
        check_whole("gap_tables", self.gap_tables, least=1)


@dataclass(frozen=True, slots=True)
class Starts:
    """How k-means goes about it, for every k alike; see ``fit.k_means``."""

    start: str = "k-means++"
    n_starts: int = N_STARTS
    max_iterations: int = 300
    tolerance: float = 0.0
    seed: int = 0
    n_jobs: int = 1

    def fit(self, rows: Distinct, k: int) -> Clustering:
        """Return k clusters of some rows."""
        return k_means(
            rows.cells,
            k,
            weights=rows.given,
            start=self.start,
            n_starts=self.n_starts,
            max_iterations=self.max_iterations,
            tolerance=self.tolerance,
            seed=self.seed,
            n_jobs=self.n_jobs,
        )

    def inertia(
        self, cells: NDArray[Any], k: int, weights: Floats | None, seed: int
    ) -> float:
        """Return the inertia of k clusters of some rows, by one thread."""
        own = np.ones(len(cells)) if weights is None else weights
        alone = replace(self, seed=seed, n_jobs=1)
        return alone.fit(Distinct(cells, own), k).inertia


def choose(
    cells: NDArray[Any],
    ks: Any = "auto",
    *,
    weights: Floats | None = None,
    rule: str = "silhouette",
    measures: Sequence[str] | None = None,
    starts: Starts | None = None,
    limits: Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Choice:
    """Return the number of clusters that a rule chooses.

    Parameters
    ----------
    cells : array, rows × columns
        Finite numbers.
    ks : sequence of int or "auto"
        The numbers of clusters to try. ``"auto"``: from 2, for the gap statistic from
        1, to 10, or to as many as there are different rows.
    weights : array, optional
        Those of the rows.
    rule : str
        One of ``MEASURES``.
    measures : sequence of str, optional
        What to measure beside the inertia and what the rule needs; all but the gap
        statistic if not said.
    starts : Starts, optional
    limits : Limits, optional
    progress : callable, optional
        Called with how many k were tried, and how many there are.

    Examples
    --------
    >>> cells = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
    >>> print(choose(cells, range(2, 6), measures=["elbow"]))
       k  inertia  silhouette     elbow
       2  101.500    0.626677  0.000000
    *  3    1.500    0.898079  0.656766
       4    1.000    0.596296  0.328383
       5    0.500    0.298148  0.000000
    <BLANKLINE>
    k = 3 by silhouette: its silhouette, 0.898079, is the largest; the next is
    0.626677 at k = 2.
    6 rows, 6 of them different; 4 starts for each k, seed 0
    """
    check_named("rule", rule, MEASURES)
    wanted = _measures(measures, rule)
    starts, limits = starts or Starts(), limits or Limits()
    small, power = scaled(np.asarray(cells))
    rows = distinct_rows(small, weights)
    if not len(rows):
        msg = "there is no row of weight: clusters need at least one"
        raise DataError(msg)
    tried = numbers_to_try(ks, rule, len(rows))
    found = []
    for k in tried:
        found.append(starts.fit(rows, k))
        if progress is not None:
            progress(len(found), len(tried))
    taken = _Taken(rows, tried, found, starts, limits)
    for name in wanted:
        getattr(taken, name)()
    lines = taken.lines(power)
    k, why = decided(rule, lines, taken.bend)
    return Choice(
        k=k,
        rule=rule,
        why=why,
        curve=lines,
        measures=wanted,
        n_rows=len(rows),
        weight=rows.weight,
        silhouette_rows=taken.silhouette_rows,
        gap_rows=None if taken.gaps is None else taken.gaps.n_rows,
        gap_tables=None if taken.gaps is None else taken.gaps.n_tables,
        n_starts=starts.n_starts,
        seed=starts.seed,
    )


@dataclass(slots=True, eq=False)
class _Taken:
    """The measures of some clusterings of the same rows, taken one by one."""

    rows: Distinct
    ks: Sequence[int]
    found: Sequence[Clustering]
    starts: Starts
    limits: Limits
    columns: dict[str, Sequence[float | None]] = field(default_factory=dict)
    silhouette_rows: int | None = None
    bend: Elbow | None = None
    gaps: Gaps | None = None

    def silhouette(self) -> None:
        """Take the silhouettes, of a sample where there are many rows."""
        rows, labelings = self.rows, [one.labels for one in self.found]
        if len(rows) > self.limits.silhouette_rows:
            self.silhouette_rows = self.limits.silhouette_rows
            rows = sampled(rows, self.silhouette_rows, seed=self.starts.seed)
            labelings = [
                nearest_centroids(rows.cells, one.centroids)[0] for one in self.found
            ]
        self.columns["silhouette"] = silhouettes(
            rows.cells, labelings, rows.weights, n_jobs=self.starts.n_jobs
        )

    def calinski_harabasz(self) -> None:
        """Take the ratios of variances."""
        self.columns["calinski_harabasz"] = [
            calinski_harabasz(self.rows.cells, one.labels, self.rows.weights)
            for one in self.found
        ]

    def davies_bouldin(self) -> None:
        """Take the likenesses of clusters."""
        self.columns["davies_bouldin"] = [
            davies_bouldin(self.rows.cells, one.labels, self.rows.weights)
            for one in self.found
        ]

    def elbow(self) -> None:
        """Look for the elbow of the inertia."""
        inertias = np.array([one.inertia for one in self.found])
        self.bend = elbow_of(np.array(self.ks, dtype=np.float64), inertias)
        self.columns["elbow"] = self.bend.differences.tolist()

    def gap(self) -> None:
        """Take the gaps, of a sample where there are many rows."""
        self.gaps = gaps_of(
            self.rows,
            self.ks,
            self.starts.inertia,
            known=[one.inertia for one in self.found],
            most_rows=self.limits.gap_rows,
            n_tables=self.limits.gap_tables,
            seed=self.starts.seed,
            n_jobs=self.starts.n_jobs,
        )
        self.columns["gap"] = self.gaps.gaps
        self.columns["gap_error"] = self.gaps.errors

    def lines(self, power: int) -> tuple[Line, ...]:
        """Return the curve, the inertia times a power of four."""
        with np.errstate(over="ignore"):
            return tuple(
                Line(
                    k,
                    float(np.ldexp(self.found[place].inertia, 2 * power)),
                    **{name: column[place] for name, column in self.columns.items()},
                )
                for place, k in enumerate(self.ks)
            )


def _measures(measures: Any, rule: str) -> tuple[str, ...]:
    """Return the measures to take, in their order."""
    if measures is None:
        measures = CHEAP
    elif isinstance(measures, str):
        raise refusal(
            Setting("measures", measures),
            f"must be a list of names, such as [{measures!r}]",
        )
    for name in measures:
        check_named("measures", name, MEASURES)
    return tuple(name for name in MEASURES if name in {*measures, rule})


def numbers_to_try(ks: Any, rule: str, n_distinct: int) -> list[int]:
    """Return the numbers of clusters to try, in order."""
    if isinstance(ks, str):
        check_named("ks", ks, ["auto"])
        most = min(LARGEST_K, n_distinct)
        return list(range(min(1 if rule == "gap" else 2, most), most + 1))
    try:
        listed = list(ks)
    except TypeError:
        listed = []
    if not listed or not all(is_whole(k) and k >= 1 for k in listed):
        raise refusal(
            Setting("ks", ks),
            "must be whole numbers of at least 1, such as range(2, 11), or 'auto'",
        )
    most = max(listed)
    if most > n_distinct:
        raise DataError(
            Setting("ks"),
            f" asks for {most} clusters of {n_distinct} different rows",
            remedy="there are no more clusters than different rows; ask for fewer",
        )
    return sorted({int(k) for k in listed})
