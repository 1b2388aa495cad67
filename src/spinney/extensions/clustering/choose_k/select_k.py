"""The choice of k: clusterings of several k, their measures, and a rule."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.checks import (
    MAX_REPEATS,
    Progress,
    check_named,
    check_whole,
    is_whole,
)
from spinney.errors import DataError, Setting, refusal
from spinney.extensions.clustering.choose_k.choice import MEASURES, Choice, CurvePoint
from spinney.extensions.clustering.choose_k.choice_rules import (
    Elbow,
    apply_rule,
    find_elbow,
)
from spinney.extensions.clustering.choose_k.cluster_measures import (
    calinski_harabasz,
    davies_bouldin,
)
from spinney.extensions.clustering.choose_k.distinct_rows import (
    DistinctRows,
    distinct_rows,
    sample_rows,
)
from spinney.extensions.clustering.choose_k.gap import GapStatistics, gap_statistics
from spinney.extensions.clustering.fit_k_means import KMeansMethod
from spinney.extensions.clustering.lloyd import Clustering
from spinney.extensions.clustering.prototypes.fit_k_prototypes import KPrototypesMethod
from spinney.extensions.clustering.prototypes.mixed_cells import MixedCells

LARGEST_K = 10

Method = KMeansMethod | KPrototypesMethod


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """Limits on the work of silhouettes and gaps, as in :func:`spinney.choose_k`."""

    silhouette_rows: int = 5000
    gap_rows: int = 1000
    gap_tables: int = 20

    def __post_init__(self) -> None:
        check_whole("silhouette_rows", self.silhouette_rows, least=2)
        check_whole("gap_rows", self.gap_rows, least=2)
        check_whole("gap_tables", self.gap_tables, least=1, most=MAX_REPEATS)


def choose(
    cells: NDArray[Any] | MixedCells,
    n_clusters: Any = "auto",
    *,
    weights: Floats | None = None,
    rule: str = "silhouette",
    measures: Sequence[str] | None = None,
    method: Method | None = None,
    limits: WorkLimits | None = None,
    progress: Progress | None = None,
) -> Choice:
    """Return the number of clusters that a rule chooses.

    The parameters are those of :func:`spinney.choose_k`, and the default method is
    k-means. Distinct rows are used once, by weight and in an order of their contents,
    so the order of a table does not matter.

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
    6 rows, 6 of them distinct; 4 restarts per k, seed 0
    """
    method, limits = method or KMeansMethod(), limits or WorkLimits()
    names = _measure_names(measures, rule, method)
    small, power = method.rescaled(cells)  # type: ignore[arg-type]
    rows = distinct_rows(small, weights)
    if not len(rows):
        msg = "no row has weight"
        raise DataError(msg, remedy="give at least one row a weight above 0")
    ks = candidate_ks(n_clusters, rule, len(rows))
    n_starts = method.n_starts(small, ks[-1])
    method = replace(method, n_init=n_starts)
    clusterings = []
    for k in ks:
        clusterings.append(method.fit(rows.cells, k, weights=rows.weights_or_none))
        if progress is not None:
            progress(len(clusterings), len(ks))
    curve = _Curve(rows, ks, clusterings, method, limits, rule)
    for name in names:
        getattr(curve, name)()
    lines = curve.lines(power)
    k, why = apply_rule(rule, lines, curve.found_elbow)
    return Choice(
        k=k,
        rule=rule,
        why=why,
        curve=lines,
        measures=names,
        n_rows=len(rows),
        weight=rows.weight,
        silhouette_rows=curve.silhouette_rows,
        gap_rows=None if curve.gaps is None else curve.gaps.n_rows,
        gap_tables=None if curve.gaps is None else curve.gaps.n_tables,
        n_starts=n_starts,
        seed=method.seed,
    )


@dataclass(slots=True, eq=False)
class _Curve:
    """Clusterings of the same rows by k, and their measures."""

    rows: DistinctRows
    ks: Sequence[int]
    clusterings: Sequence[Clustering]
    method: Method
    limits: WorkLimits
    rule: str
    columns: dict[str, Sequence[float | None]] = field(default_factory=dict)
    silhouette_rows: int | None = None
    found_elbow: Elbow | None = None
    gaps: GapStatistics | None = None

    def silhouette(self) -> None:
        """Measure silhouettes, on a sample if there are many rows."""
        rows, labelings = self.rows, [c.labels for c in self.clusterings]
        if len(rows) > self.limits.silhouette_rows:
            self.silhouette_rows = self.limits.silhouette_rows
            rows = sample_rows(rows, self.silhouette_rows, seed=self.method.seed)
            labelings = [self.method.labels(rows.cells, c) for c in self.clusterings]
        self.columns["silhouette"] = self.method.silhouettes(
            rows.cells, labelings, rows.weights, self.clusterings[0]
        )

    def calinski_harabasz(self) -> None:
        """Measure the ratios of variances."""
        self._measure("calinski_harabasz", calinski_harabasz)

    def davies_bouldin(self) -> None:
        """Measure the similarities of clusters."""
        self._measure("davies_bouldin", davies_bouldin)

    def _measure(self, name: str, measure: Callable[..., float | None]) -> None:
        cells, weights = self.rows.cells, self.rows.weights
        self.columns[name] = [
            measure(cells, c.labels, weights) for c in self.clusterings
        ]

    def elbow(self) -> None:
        """Find the elbow of the inertia, unless that overflows."""
        inertias = np.array([c.inertia for c in self.clusterings])
        if np.isfinite(inertias).all():
            self.found_elbow = find_elbow(np.array(self.ks, dtype=np.float64), inertias)
            self.columns["elbow"] = self.found_elbow.differences.tolist()
        elif self.rule == "elbow":
            raise DataError(
                Setting("rule", "elbow"),
                " needs finite inertias, and these numbers are too large",
                remedy="divide each column by its standard deviation",
            )

    def gap(self) -> None:
        """Measure the gaps, on a sample if there are many rows."""
        self.gaps = gap_statistics(
            self.rows,
            self.ks,
            self._inertia,
            data_inertias=[c.inertia for c in self.clusterings],
            max_rows=self.limits.gap_rows,
            n_tables=self.limits.gap_tables,
            seed=self.method.seed,
            n_jobs=self.method.n_jobs or 1,
        )
        self.columns["gap"] = self.gaps.gaps
        self.columns["gap_error"] = self.gaps.errors

    def _inertia(self, cells: Any, k: int, weights: Floats | None, seed: int) -> float:
        """Return the inertia of k clusters of some rows, with one thread."""
        method = replace(self.method, seed=seed, n_jobs=1)
        return method.fit(cells, k, weights=weights).inertia

    def lines(self, power: int) -> tuple[CurvePoint, ...]:
        """Return the curve, with inertias times a power of four."""
        with np.errstate(over="ignore"):
            return tuple(
                CurvePoint(
                    k,
                    float(np.ldexp(self.clusterings[index].inertia, 2 * power)),
                    **{name: column[index] for name, column in self.columns.items()},
                )
                for index, k in enumerate(self.ks)
            )


def _measure_names(measures: Any, rule: str, method: Method) -> tuple[str, ...]:
    """Return the names of the measures to compute, in the order of ``MEASURES``."""
    check_named("rule", rule, MEASURES)
    possible = method.measures
    if rule not in possible:
        raise refusal(
            Setting("rule", rule),
            "applies to k-means; this is k-prototypes",
            f"use {' or '.join(possible)}",
        )
    if measures is None:
        measures = set(possible) - {"gap"}
    elif isinstance(measures, str) or not isinstance(measures, Iterable):
        example = measures if isinstance(measures, str) else rule
        raise refusal(
            Setting("measures", measures),
            f"must be a list of names, such as [{example!r}]",
        )
    for name in measures:
        check_named("measures", name, possible)
    return tuple(name for name in MEASURES if name in {*measures, rule})


def candidate_ks(n_clusters: Any, rule: str, n_distinct: int) -> list[int]:
    """Return the numbers of clusters to try, in order."""
    if isinstance(n_clusters, str):
        check_named("n_clusters", n_clusters, ["auto"])
        largest = min(LARGEST_K, n_distinct)
        return list(range(min(1 if rule == "gap" else 2, largest), largest + 1))
    try:
        numbers = list(islice(n_clusters, MAX_REPEATS + 1))
    except TypeError:
        numbers = []
    if len(numbers) > MAX_REPEATS:
        raise refusal(
            Setting("n_clusters", n_clusters),
            f"has more than {MAX_REPEATS:,} candidates",
        )
    if not numbers or not all(is_whole(k) and k >= 1 for k in numbers):
        raise refusal(
            Setting("n_clusters", n_clusters),
            "must be whole numbers of at least 1, such as range(2, 11), or 'auto'",
        )
    largest = max(numbers)
    if largest > n_distinct:
        raise DataError(
            Setting("n_clusters"),
            f" contains {largest}, but there are {n_distinct} distinct rows",
            remedy="use fewer clusters than that",
        )
    return sorted({int(k) for k in numbers})
