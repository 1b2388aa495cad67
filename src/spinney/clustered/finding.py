"""Clusters of a table that is read by the names of its columns."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._version import __version__
from spinney.checks import check_number, check_whole
from spinney.cluster.fit import STARTS, k_means
from spinney.cluster.iterate import Clustering, Watch
from spinney.cluster.trace import ROWS_SHOWN, Trace, explain_k_means
from spinney.clustered.model import Clusters, cells_of, schema_of, spread_of
from spinney.counts import Floats
from spinney.declare import Declarations
from spinney.errors import DataError, ParameterError, did_you_mean
from spinney.files import read_table
from spinney.forest.growing import threads_of
from spinney.model import Fingerprint
from spinney.schema import Attribute
from spinney.table import Table

__all__ = ["Found", "Plan", "find_clusters", "read_rows"]

Progress = Callable[[int, int], None]
# How many starts are drawn where nothing is said.
N_STARTS = {"k-means++": 4, "random": 10}


@dataclass(frozen=True, slots=True)
class Plan:
    """How to look for clusters.

    Parameters
    ----------
    k : int or "auto"
    rule : str
        What chooses k where it is ``"auto"``.
    start : str
        ``"k-means++"``, ``"random"``, or a file of centroids.
    n_starts : int, optional
        4 of k-means++, 10 of random rows, if not said.
    max_iterations : int
    tolerance : float
    seed : int
    standardise : bool
        Whether each column is divided by its standard deviation.
    n_jobs : int, optional
    """

    k: int | str = "auto"
    rule: str = "silhouette"
    start: str = "k-means++"
    n_starts: int | None = None
    max_iterations: int = 300
    tolerance: float = 0.0
    seed: int = 0
    standardise: bool = False
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.k != "auto":
            check_whole("n_clusters", self.k, least=1)
        check_whole("n_starts", self.n_starts, least=1, optional=True)
        check_whole("max_iterations", self.max_iterations, least=1)
        check_number("tolerance", self.tolerance)
        check_whole("seed", self.seed, least=0, most=2**32 - 1)
        threads_of(self.n_jobs)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Clusters with the rows that they were found on."""

    clusters: Clusters
    clustering: Clustering
    table: Table
    cells: Floats
    weights: Floats | None
    plan: Plan
    choice: Any = None

    @property
    def distances(self) -> Floats:
        """The distance of each row to its centroid."""
        own = self.clustering.centroids[self.clustering.labels]
        scaled = self.clusters.scaled(self.cells)
        largest = float(max(np.abs(scaled).max(), np.abs(own).max(), 1e-300))
        apart = (scaled - own) / largest
        return np.asarray(np.sqrt(np.sum(apart * apart, axis=1)) * largest)

    def trace(self, rows: int = ROWS_SHOWN) -> Trace:
        """Return the iterations that led to the clusters."""
        return explain_k_means(
            self.clusters.scaled(self.cells),
            self.clustering.start,
            names=self.clusters.names,
            weights=self.weights,
            max_iterations=self.plan.max_iterations,
            tolerance=self.plan.tolerance,
            rows=rows,
        )


def read_rows(
    data: Any,
    *,
    columns: Sequence[str] = (),
    declarations: Declarations,
    weight: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
) -> tuple[Table, Table, Floats | None]:
    """Return a table, its columns that distances are measured in, and the weights.

    Columns that are ignored are read all the same: the result may show them.
    """
    whole = read_table(
        data,
        declarations=replace(declarations, ignore=()),
        format=format,
        encoding=encoding,
    )
    for name in declarations.ignore:
        whole[name]  # raises, in its own words
    left_out = {*declarations.ignore, *(() if weight is None else (weight,))}
    chosen = _chosen(columns, whole.names)
    for name in chosen:
        if name in left_out:
            msg = f"column {name!r} is chosen and left out: do one of both"
            raise ParameterError(msg)
    used = whole.without(left_out)
    if chosen:
        used = Table(tuple(whole[name] for name in chosen), whole.n_rows)
    if not used.columns:
        msg = "every column is ignored: leave at least one"
        raise DataError(msg)
    return whole, used, None if weight is None else _weights(whole, weight)


def _chosen(given: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the columns that are named, one by one or with commas between them."""
    names: list[str] = []
    for text in given:
        parts = [text] if text in known else [part.strip() for part in text.split(",")]
        names += [part for part in parts if part]
    for name in names:
        if name not in known:
            msg = f"there is no column {name!r}: {did_you_mean(name, known)}"
            raise DataError(msg)
    return list(dict.fromkeys(names))


def _weights(table: Table, name: str) -> Floats:
    column = table[name]
    if column.kind != "numeric" or column.missing.any():
        msg = f"column {name!r} holds weights, and needs a number in every row"
        raise DataError(msg)
    if column.cells.min() < 0 or not column.cells.sum() > 0:
        msg = f"column {name!r} holds weights: none may be negative, nor all 0"
        raise DataError(msg)
    return np.asarray(column.cells, dtype=np.float64)


def find_clusters(
    table: Table,
    used: Table,
    plan: Plan,
    *,
    weights: Floats | None = None,
    markers: Sequence[str] = (),
    progress: Progress | None = None,
) -> Found:
    """Find the clusters of some columns of a table.

    Parameters
    ----------
    table : Table
        All of it, for the result.
    used : Table
        The columns that distances are measured in.
    plan : Plan
        How.
    weights : array, optional
        Those of the rows.
    markers : sequence of str
        Texts that stand for missing cells in later tables.
    progress : callable, optional
        Called with what is done, and what there is to do.

    Examples
    --------
    >>> from spinney.files import read_table
    >>> table = read_table({"size": [1.0, 2.0, 10.0, 11.0]})
    >>> found = find_clusters(table, table, Plan(k=2))
    >>> np.sort(found.clusters.places.ravel())
    array([ 1.5, 10.5])
    """
    cells = cells_of(used)
    n_columns = cells.shape[1]
    scale = spread_of(cells, weights) if plan.standardise else np.ones(n_columns)
    scaled = cells / scale if plan.standardise else cells
    attributes = tuple(Attribute(c.name, "numeric", (), c.unit) for c in used.columns)
    start, n_starts = _start(plan, attributes, scale)
    choice = None
    if isinstance(start, str) and plan.k == "auto":
        choice = _chosen_k(scaled, weights, plan, n_starts, progress)
        k = choice.k
    else:
        k = len(start) if not isinstance(start, str) else int(plan.k)
    if k > table.n_rows:
        msg = f"n_clusters={k} is more than the {table.n_rows} rows: ask for fewer"
        raise DataError(msg)
    found = k_means(
        scaled,
        k,
        weights=weights,
        start=start,
        n_starts=n_starts,
        max_iterations=plan.max_iterations,
        tolerance=plan.tolerance,
        seed=plan.seed,
        n_jobs=threads_of(plan.n_jobs),
        watch=_watch(progress, n_starts, plan.max_iterations),
    )
    clusters = Clusters(
        schema_of(attributes, k, markers),
        True,
        "k-means",
        _settings(plan, k, n_starts, given=not isinstance(start, str)),
        found.centroids,
        scale,
        np.bincount(found.labels, weights, minlength=k).astype(np.float64),
        found.start,
        found.inertia,
        found.n_iterations,
        _fingerprint(cells, weights),
    )
    return Found(clusters, found, table, cells, weights, plan, choice)


def _start(
    plan: Plan, attributes: Sequence[Attribute], scale: Floats
) -> tuple[Any, int]:
    """Return what to start from, and how often."""
    if plan.start in STARTS:
        return plan.start, plan.n_starts or N_STARTS[plan.start]
    if "." not in plan.start and "/" not in plan.start:
        msg = (
            f"start={plan.start!r} is unknown: {did_you_mean(plan.start, STARTS)} A "
            "file of centroids has a suffix, such as .csv"
        )
        raise ParameterError(msg)
    schema = schema_of(attributes, 1)
    only = tuple(attribute.name for attribute in attributes)
    table = read_table(plan.start, declarations=Declarations(only=only))
    centroids = np.column_stack(schema.encode(table))
    if not np.isfinite(centroids).all():
        msg = f"start={plan.start!r} has missing cells: a centroid needs all numbers"
        raise DataError(msg)
    if plan.k not in ("auto", len(centroids)):
        msg = (
            f"start={plan.start!r} has {len(centroids)} rows where n_clusters={plan.k} "
            "centroids are needed"
        )
        raise DataError(msg)
    return centroids / scale, 1


def _chosen_k(
    cells: NDArray[Any],
    weights: Floats | None,
    plan: Plan,
    n_starts: int,
    progress: Progress | None,
) -> Any:
    """Return the choice of k by the rule."""
    from spinney.cluster.choosing import Starts, choose

    starts = Starts(
        start=plan.start,
        n_starts=n_starts,
        max_iterations=plan.max_iterations,
        tolerance=plan.tolerance,
        seed=plan.seed,
        n_jobs=threads_of(plan.n_jobs),
    )
    return choose(cells, weights=weights, rule=plan.rule, starts=starts)


def _watch(progress: Progress | None, n_starts: int, most: int) -> Watch | None:
    """Return what moves a bar, an iteration at a time."""
    if progress is None:
        return None
    told, done = progress, count(1)

    def watch(*_: Any) -> None:
        told(next(done), n_starts * most)

    return watch


def _settings(plan: Plan, k: int, n_starts: int, *, given: bool) -> dict[str, Any]:
    return {
        "n_clusters": k,
        "init": "given" if given else plan.start,
        "n_init": n_starts,
        "max_iter": plan.max_iterations,
        "tol": float(plan.tolerance),
        "random_state": plan.seed,
        "standardise": plan.standardise,
    }


def _fingerprint(cells: NDArray[Any], weights: Floats | None) -> Fingerprint:
    digest = hashlib.sha256(np.ascontiguousarray(cells).tobytes())
    if weights is not None:
        digest.update(weights.tobytes())
    weight = float(len(cells) if weights is None else weights.sum())
    return Fingerprint(len(cells), weight, digest.hexdigest(), __version__)
