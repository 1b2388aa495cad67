"""Clusters of a table that is read by the names of its columns."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.threads import thread_count as threads_of
from spinney.cluster import MIXED, STARTS, Clusters, Watch, cells_of, k_means, schema_of
from spinney.cluster.choose_k import Choice, Starts, choose
from spinney.data import Attribute, Table
from spinney.data.readers import read_by
from spinney.errors import DataError, ParameterError, Setting
from spinney.models.clusters.cluster_plan import MODES, RULE, Found, Plan
from spinney.models.clusters.find_mixed import check_names, find_prototypes, mixed_curve
from spinney.models.clusters.found_parts import (
    N_STARTS,
    Begun,
    Progress,
    check_k,
    fingerprint_of,
    given_k,
    scale_of,
    settings_of,
    sizes_of,
    start_of,
)
from spinney.sources.rows import attribute_of


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
    >>> from spinney.data.read_table import read_table
    >>> table = read_table({"size": [1.0, 2.0, 10.0, 11.0]})
    >>> found = find_clusters(table, table, Plan(k=2))
    >>> np.sort(found.clusters.places.ravel())
    array([ 1.5, 10.5])
    """
    numeric = all(column.kind == "numeric" for column in used.columns)
    if plan.method == MODES:
        check_names(used)
    if plan.method == "k-means" or (plan.method is None and numeric):
        found = _means(used, plan, weights, markers, progress)
    else:
        found = find_prototypes(used, plan, weights, markers, progress)
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
    scale = scale_of(cells, plan, weights)
    scaled = cells / scale if plan.standardise else cells
    attributes = tuple(attribute_of(column) for column in used.columns)
    begun = _begin(scaled, scale, attributes, plan, weights, progress)
    k = begun.k
    check_k(k, used)
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
        {**settings_of(plan, begun), "tol": float(plan.tolerance)},
        found.centroids,
        scale,
        np.empty((k, 0), np.int32),
        0.0,
        sizes_of(found.labels, weights, k),
        found.start,
        found.inertia,
        found.n_iterations,
        fingerprint_of(weights, cells),
    )
    labels, distances = clusters.nearest(cells, n_jobs=threads_of(plan.n_jobs))
    converged, choice = found.converged, begun.choice
    return Found(
        clusters, labels, distances, converged, used, used, weights, plan, choice
    )


def _begin(
    scaled: NDArray[Any],
    scale: Floats,
    attributes: Sequence[Attribute],
    plan: Plan,
    weights: Floats | None,
    progress: Progress | None,
) -> Begun:
    """Return where k-means starts, with how many clusters."""
    start, n_starts = start_of(plan, STARTS)
    if isinstance(start, Path):
        centroids = _centroids(start, attributes, plan) / scale
        return Begun(centroids, n_starts, len(centroids))
    if not plan.chooses:
        return Begun(start, n_starts, given_k(plan))
    choice = choose(
        scaled,
        plan.k,
        weights=weights,
        rule=plan.rule or RULE,
        starts=_starts(plan, start, n_starts),
        progress=progress,
    )
    return Begun(start, n_starts, choice.k, choice)


def _centroids(path: Path, attributes: Sequence[Attribute], plan: Plan) -> Floats:
    """Return the centroids of a file, a row each; columns are found by name."""
    schema = schema_of(attributes, 1)
    table = read_by(schema, range(len(attributes)), path, may_be_empty=False)
    centroids = np.column_stack(schema.encode(table))
    if not np.isfinite(centroids).all():
        raise DataError(
            Setting("start", str(path)),
            " has missing cells",
            remedy="a centroid needs all numbers",
        )
    if not plan.chooses and plan.k != len(centroids):
        raise DataError(
            Setting("start", str(path)),
            f" has {len(centroids)} rows where {plan.k} centroids are needed",
        )
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
        return mixed_curve(found)
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
