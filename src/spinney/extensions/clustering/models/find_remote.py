"""Clusters of the rows of a table that is away, by k-means.

Some rows are read, those of a sample that is drawn by the numbers of rows: k-means of
these (``find.py``) says how many clusters there are, where they begin and by what
columns are divided. From there on all rows are asked where they are, for one sum a
cluster and iteration.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spinney._support.checks import Progress
from spinney.data import Column, Schema, Table, columns_named
from spinney.errors import DataError, Setting, did_you_mean, phrase, refusal
from spinney.extensions.clustering.iterations import iterate
from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.find import (
    MAX_ITER,
    ClusterFit,
    MeasuredRows,
    find_clusters,
    measured_rows,
    read_rows,
    watch_of,
)
from spinney.extensions.clustering.remote_rows import RemoteRows, rows_lacking
from spinney.sources.rows import (
    Points,
    SampleableRows,
    SummedRows,
    TrainingSet,
    hash_mixing,
    sample_share,
)
from spinney.sources.training_data import TableInput, open_source

MOST_SAMPLED = 5_000
_SAMPLED = hash_mixing(2, MOST_SAMPLED)


class ClusteredTable(NamedTuple):
    """Clusters of a table, that table, and its columns that distances are measured in.

    Of a table that is ``away`` there are the rows of the sample.
    """

    fit: ClusterFit
    table: Table
    used: Table
    away: bool


def cluster_table(
    table: TableInput,
    plan: Plan,
    columns: Sequence[str] = (),
    *,
    progress: Progress | None = None,
) -> ClusteredTable:
    """Find the clusters of a table, in memory or where its rows are."""
    if table.is_remote:
        named = bool(columns)  # as in memory: what is named stays
        with open_source(table, sampleable=True, identifiers=named) as opened:
            assert opened.sampleable is not None
            fit = clusters_of_hashed(
                opened.sampleable, plan, columns, progress=progress
            )
        sample = sampled_table(fit)
        return ClusteredTable(fit, sample, sample, away=True)
    whole, chosen, weights = read_rows(table, columns)
    rows = measured_rows(chosen, plan, markers=table.declarations.missing)
    fit = find_clusters(rows, plan, weights=weights, progress=progress)
    return ClusteredTable(fit, whole, chosen, away=False)


def clusters_of_hashed(
    rows: SampleableRows,
    plan: Plan,
    columns: Sequence[str] = (),
    *,
    progress: Progress | None = None,
) -> ClusterFit:
    """Return the clusters of rows that have numbers; rows are those of the sample."""
    assert isinstance(rows, SummedRows)
    chosen = _numbers(rows.schema, columns, plan)
    sample = _sample(rows)
    sampled = find_clusters(_measured(sample, chosen), plan, weights=sample.weights)
    clusters = sampled.clusters
    most = MAX_ITER if plan.max_iter is None else plan.max_iter
    centroids = np.asarray(clusters.centroids, np.float64)
    cells = np.column_stack([sample.columns[at] for at in chosen]) / clusters.scale
    start = Points(tuple(chosen), clusters.scale, centroids, cells.mean(axis=0))
    remote = RemoteRows(rows.cluster_sums, start)
    found = iterate(
        remote,
        centroids,
        max_iterations=most,
        tolerance=plan.tol * float(np.mean(np.var(cells, axis=0))),
        watch=watch_of(progress, most),
    )
    if progress is not None:
        progress(most, most)
    clusters = replace(
        clusters,
        centroids=found.centroids,
        weights=remote.sums.weights,
        start=centroids,
        inertia=found.inertia,
        n_iterations=found.n_iterations,
        fingerprint=rows.fingerprint(),
    )
    labels = clusters.nearest(sampled.rows.cells)[0]
    return replace(sampled, clusters=clusters, labels=labels, converged=found.converged)


def sampled_table(fit: ClusterFit) -> Table:
    """Return the rows of the sample as a table."""
    cells = fit.rows.cells.T
    columns = [
        Column(attribute.name, "numeric", numbers, unit=attribute.unit)
        for attribute, numbers in zip(fit.rows.attributes, cells, strict=True)
    ]
    return Table(tuple(columns), len(fit.rows.cells))


def _numbers(schema: Schema, columns: Sequence[str], plan: Plan) -> list[int]:
    """Return the columns that distances are measured in; refuse what is no number."""
    if plan.method not in (None, "k-means"):
        raise refusal(
            Setting("method", plan.method),
            "needs the rows, and they stay where they are",
            phrase("read them ({}), or use k-means", Setting("source", "memory")),
        )
    if plan.gamma is not None:
        raise refusal(
            Setting("gamma", plan.gamma),
            "weighs nominal columns, and k-means has none",
            "leave it out",
        )
    names = [attribute.name for attribute in schema.attributes]
    chosen = columns_named(columns, names) or names
    for name in chosen:
        if name not in names:
            msg = f"there is no column {name!r}: {did_you_mean(name, names)}"
            raise DataError(msg)
    places = [names.index(name) for name in chosen]
    for place in places:
        attribute = schema.attributes[place]
        if attribute.kind != "numeric":
            msg = (
                f"column {attribute.name!r} is {attribute.kind}, and k-prototypes "
                "needs the rows, which stay where they are"
            )
            remedy = phrase(
                "leave it out ({}), or read the rows ({})",
                Setting("ignore", [attribute.name]),
                Setting("source", "memory"),
            )
            raise DataError(msg, remedy=remedy)
    if not places:
        msg = "every column is ignored: leave at least one"
        raise DataError(msg)
    return places


def _sample(rows: SampleableRows) -> TrainingSet:
    """Return some of the rows, in the order of their numbers."""
    n_rows = rows.root().n_rows
    share = sample_share(MOST_SAMPLED / n_rows, _SAMPLED)
    sample, numbers = rows.fetch_sample(share)
    return sample.take(np.argsort(numbers, kind="stable"))


def _measured(sample: TrainingSet, chosen: Sequence[int]) -> MeasuredRows:
    attributes = tuple(sample.schema.attributes[at] for at in chosen)
    cells = np.column_stack([sample.columns[at] for at in chosen])
    lacking = int(np.isnan(cells).any(axis=1).sum())
    if lacking:
        raise rows_lacking(lacking)
    return MeasuredRows(attributes, cells, markers=sample.schema.markers)
