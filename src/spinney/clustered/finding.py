"""Clusters of a table that is read by the names of its columns."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._version import __version__
from spinney.cluster.choice import Choice
from spinney.cluster.choosing import Starts, choose
from spinney.cluster.fit import STARTS, k_means
from spinney.cluster.iterate import Watch
from spinney.cluster.mixed_fit import MIXED_STARTS, k_prototypes
from spinney.clustered.mixed import mixed_cells, prototypes_of
from spinney.clustered.model import MIXED, Clusters, cells_of, schema_of, spread_of
from spinney.clustered.plan import RULE, Found, Plan
from spinney.counts import Floats, Integers
from spinney.errors import DataError, ParameterError
from spinney.forest.growing import threads_of
from spinney.model import Fingerprint
from spinney.reading import read_by
from spinney.schema import Attribute, Schema
from spinney.table import Table
from spinney.training import attribute_of

__all__ = ["curve_of", "find_clusters"]

Progress = Callable[[int, int], None]
# How many starts are drawn where nothing is said.
N_STARTS = {"k-means++": 4, "random": 10, "optimal": 1, "huang": 10, "cao": 1}


class _Begun(NamedTuple):
    """Where to start, and with how many clusters."""

    start: Any
    n_starts: int
    k: int
    choice: Choice | None = None


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
    numeric = all(column.kind == "numeric" for column in used.columns)
    if plan.method == "k-means" or (plan.method is None and numeric):
        found = _means(used, plan, weights, markers, progress)
    else:
        found = _prototypes(used, plan, weights, markers)
    return replace(found, table=table)


def _means(
    used: Table,
    plan: Plan,
    weights: Floats | None,
    markers: Sequence[str],
    progress: Progress | None,
) -> Found:
    """Return the clusters of columns of numbers."""
    if plan.gamma is not None:
        msg = "gamma weighs nominal columns, and all columns are numbers: leave it out"
        raise ParameterError(msg)
    cells = cells_of(used)
    scale = _scale(cells, plan, weights)
    scaled = cells / scale if plan.standardise else cells
    attributes = tuple(attribute_of(column) for column in used.columns)
    begun = _begin_means(scaled, scale, attributes, plan, weights, progress)
    k = begun.k
    _check_k(k, used)
    found = k_means(
        scaled,
        k,
        weights=weights,
        start=begun.start,
        n_starts=begun.n_starts,
        max_iterations=plan.max_iterations,
        tolerance=plan.tolerance,
        seed=plan.seed,
        n_jobs=threads_of(plan.n_jobs),
        watch=_watch(progress, begun.n_starts, plan.max_iterations),
    )
    clusters = Clusters(
        schema_of(attributes, k, markers),
        True,
        "k-means",
        {**_settings(plan, begun), "tol": float(plan.tolerance)},
        found.centroids,
        scale,
        np.empty((k, 0), np.int32),
        0.0,
        _sizes(found.labels, weights, k),
        found.start,
        found.inertia,
        found.n_iterations,
        _fingerprint(weights, cells),
    )
    labels, distances = clusters.nearest(cells, n_jobs=threads_of(plan.n_jobs))
    converged, choice = found.converged, begun.choice
    return Found(
        clusters, labels, distances, converged, used, used, weights, plan, choice
    )


def _begin_means(
    scaled: NDArray[Any],
    scale: Floats,
    attributes: Sequence[Attribute],
    plan: Plan,
    weights: Floats | None,
    progress: Progress | None,
) -> _Begun:
    """Return where k-means starts, with how many clusters."""
    start, n_starts = _start(plan, STARTS)
    if isinstance(start, str) and plan.chooses:
        choice = choose(
            scaled,
            plan.k,
            weights=weights,
            rule=plan.rule or RULE,
            starts=_starts(plan, start, n_starts),
            progress=progress,
        )
        return _Begun(start, n_starts, choice.k, choice)
    _refuse_rule(plan)
    if isinstance(start, str):
        return _Begun(start, n_starts, _given_k(plan))
    centroids = _centroids(start, attributes, plan) / scale
    return _Begun(centroids, n_starts, len(centroids))


def _prototypes(
    used: Table, plan: Plan, weights: Floats | None, markers: Sequence[str]
) -> Found:
    """Return the clusters of a table that need not be all numbers."""
    attributes = tuple(attribute_of(column) for column in used.columns)
    schema = schema_of(attributes, 1, markers)
    cells = mixed_cells(schema, used)
    scale = _scale(cells.numbers, plan, weights)
    cells = replace(cells, numbers=cells.numbers / scale)
    begun = _begin_prototypes(schema, scale, plan)
    k = begun.k
    _check_k(k, used)
    found, gamma = k_prototypes(
        cells,
        k,
        weights=weights,
        gamma=plan.gamma,
        start=begun.start,
        n_starts=begun.n_starts,
        max_iterations=plan.max_iterations,
        seed=plan.seed,
        n_jobs=threads_of(plan.n_jobs),
    )
    relative = found.prototypes.codes - cells.first[:-1]
    unknown = found.prototypes.codes >= cells.missing
    clusters = Clusters(
        schema_of(attributes, k, markers),
        True,
        MIXED,
        {**_settings(plan, begun), "gamma": plan.gamma},
        found.prototypes.numbers,
        scale,
        np.where(unknown, -1, relative).astype(np.int32),
        gamma,
        _sizes(found.labels, weights, k),
        np.empty((0, cells.numbers.shape[1])),
        found.cost,
        found.n_iterations,
        _fingerprint(weights, cells.numbers, cells.codes),
    )
    labels, distances = clusters.assign(used, n_jobs=threads_of(plan.n_jobs))
    return Found(
        clusters, labels, distances, found.converged, used, used, weights, plan
    )


def _begin_prototypes(schema: Schema, scale: Floats, plan: Plan) -> _Begun:
    """Return where k-prototypes starts, with how many clusters."""
    start, n_starts = _start(plan, MIXED_STARTS)
    _refuse_what_is_of_means(plan, schema.attributes, start)
    if isinstance(start, str):
        return _Begun(start, n_starts, _given_k(plan))
    given = read_by(schema, range(len(schema.attributes)), start)
    k = given.n_rows if plan.chooses else _given_k(plan)
    prototypes = prototypes_of(schema, given, k)
    numbers = prototypes.numbers / scale
    return _Begun(prototypes._replace(numbers=numbers), n_starts, k)


def _scale(cells: NDArray[Any], plan: Plan, weights: Floats | None) -> Floats:
    return spread_of(cells, weights) if plan.standardise else np.ones(cells.shape[1])


def _given_k(plan: Plan) -> int:
    assert isinstance(plan.k, int)
    return plan.k


def _refuse_rule(plan: Plan) -> None:
    """Refuse a rule where there is nothing to choose."""
    if plan.rule is not None:
        msg = (
            f"rule={plan.rule!r} chooses among several numbers of clusters, and here "
            "there is one: leave it out"
        )
        raise ParameterError(msg)


def _refuse_what_is_of_means(
    plan: Plan, attributes: Sequence[Attribute], start: str | Path
) -> None:
    """Refuse what k-prototypes does not know."""
    mixed = [a for a in attributes if a.kind != "numeric"]
    why = f", as column {mixed[0].name!r} is {mixed[0].kind}" if mixed else ""
    if plan.tolerance:
        msg = (
            f"tolerance={plan.tolerance} is of k-means, and this is k-prototypes{why}: "
            "leave it out"
        )
        raise ParameterError(msg)
    if plan.chooses and not isinstance(start, Path):
        msg = (
            f"n_clusters='auto' is of k-means, and this is k-prototypes{why}: say how "
            "many clusters, such as 3, or leave out what is no number"
        )
        raise ParameterError(msg)
    _refuse_rule(plan)


def _check_k(k: int, used: Table) -> None:
    if k > used.n_rows:
        msg = f"n_clusters={k} is more than the {used.n_rows} rows: ask for fewer"
        raise DataError(msg)


def _start(plan: Plan, known: Sequence[str]) -> tuple[str | Path, int]:
    """Return the name or the path of what to start from, and how often."""
    start = known[0] if plan.start is None else plan.start
    if start in known and start not in ("optimal", "cao"):
        return start, plan.n_starts or N_STARTS[start]
    if start in known:
        _refuse_starts(plan, start)
        return start, 1
    if start in N_STARTS:
        kinds = "numbers" if start in STARTS else "tables that are not all numbers"
        msg = f"start={start!r} is for {kinds}: here it is {' or '.join(known)}"
        raise ParameterError(msg)
    if not Path(start).suffix and not Path(start).exists():
        msg = (
            f"start={start!r} is neither one of {', '.join(known)} nor a file of "
            "centroids"
        )
        raise ParameterError(msg)
    _refuse_starts(plan, start)
    return Path(start), 1


def _refuse_starts(plan: Plan, start: str) -> None:
    """Refuse several starts where they would all be the same."""
    if plan.n_starts is not None and plan.n_starts > 1:
        msg = (
            f"n_starts={plan.n_starts} makes no difference, as {start!r} draws "
            "nothing: leave it out"
        )
        raise ParameterError(msg)


def _centroids(path: Path, attributes: Sequence[Attribute], plan: Plan) -> Floats:
    """Return the centroids of a file, a row each; columns are found by name."""
    schema = schema_of(attributes, 1)
    table = read_by(schema, range(len(attributes)), path, may_be_empty=False)
    centroids = np.column_stack(schema.encode(table))
    if not np.isfinite(centroids).all():
        msg = f"start={str(path)!r} has missing cells: a centroid needs all numbers"
        raise DataError(msg)
    if not plan.chooses and plan.k != len(centroids):
        msg = (
            f"start={str(path)!r} has {len(centroids)} rows where {plan.k} centroids "
            "are needed"
        )
        raise DataError(msg)
    return centroids


def _starts(plan: Plan, start: str, n_starts: int) -> Starts:
    """Return how k-means goes about it, for every k alike."""
    return Starts(
        start=start,
        n_starts=n_starts,
        max_iterations=plan.max_iterations,
        tolerance=plan.tolerance,
        seed=plan.seed,
        n_jobs=threads_of(plan.n_jobs),
    )


def curve_of(found: Found) -> Choice:
    """Return the curve of inertias that an elbow is seen in, whoever chose k."""
    if found.choice is not None:
        return found.choice
    if found.clusters.method == MIXED:
        msg = "the curve of inertias (--elbow) is of k-means, not of k-prototypes"
        raise ParameterError(msg)
    cells = found.clusters.scaled(cells_of(found.used))
    start, n_starts = found.clusters.settings["init"], found.plan.n_starts
    drawn = start if start in STARTS else STARTS[0]
    starts = _starts(found.plan, drawn, n_starts or N_STARTS[drawn])
    return choose(
        cells, weights=found.weights, rule="elbow", measures=["elbow"], starts=starts
    )


def _watch(progress: Progress | None, n_starts: int, most: int) -> Watch | None:
    """Return what moves a bar, an iteration at a time."""
    if progress is None:
        return None
    told, done = progress, count(1)

    def watch(*_: Any) -> None:
        told(next(done), n_starts * most)

    return watch


def _settings(plan: Plan, begun: _Begun) -> dict[str, Any]:
    return {
        "n_clusters": begun.k,
        "init": begun.start if isinstance(begun.start, str) else "given",
        "n_init": begun.n_starts,
        "max_iter": plan.max_iterations,
        "random_state": plan.seed,
        "standardise": plan.standardise,
    }


def _sizes(labels: Integers, weights: Floats | None, k: int) -> Floats:
    return np.bincount(labels, weights, minlength=k).astype(np.float64)


def _fingerprint(weights: Floats | None, *tables: NDArray[Any]) -> Fingerprint:
    digest = hashlib.sha256()
    for cells in tables if weights is None else (*tables, weights):
        digest.update(np.ascontiguousarray(cells).tobytes())
    n_rows = len(tables[0])
    weight = float(n_rows if weights is None else weights.sum())
    return Fingerprint(n_rows, weight, digest.hexdigest(), __version__)
