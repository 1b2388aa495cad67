"""Clusters of a table in memory or of a remote one.

For a remote table a sample is read, drawn by row hash. k-means of the sample
(``fit_clusters.py``) chooses the number of clusters, the initial centroids and the
scale of columns. Each iteration over all rows then requests the sums of the clusters.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import Progress
from spinney.data import Column, Schema, Table
from spinney.errors import DataError, Setting, phrase, refusal
from spinney.extensions.clustering.lloyd import iterate
from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.fit_clusters import (
    MAX_ITER,
    ClusterFit,
    ClusterInput,
    cluster_input,
    fit_clusters,
    no_columns_error,
    read_rows,
    report_iterations,
    select_columns,
)
from spinney.sources.rows import (
    ClusterSums,
    Points,
    SampleableRows,
    SummedRows,
    hash_mixing,
    sample_fraction,
)
from spinney.sources.training_data import TableInput, open_source

MOVE_TOLERANCE = 1e-12
"""A centroid that moves by less than this fraction of the rows' spread has not moved:
the engine chooses the order of additions."""


class RemoteRows:
    """Rows in an engine or in partitions: an assignment is one query.

    The engine does not report which rows changed, so the iterations end when no
    centroid moves by more than rounding. A centroid without rows stays. ``sums`` are
    the sums of the last assignment.
    """

    def __init__(self, query: Callable[[Points], ClusterSums], points: Points) -> None:
        self._query, self._points = query, points

    def reset(self, _: Floats) -> None:
        """Do nothing: no assignment is stored."""

    def assign(self, centroids: Floats) -> int:
        """Query the sums of the rows by their nearest centroid."""
        self._points = replace(self._points, centroids=centroids)
        self.sums = self._query(self._points)
        if self.sums.n_lacking:
            raise missing_cells_error(self.sums.n_lacking)
        if not np.isfinite(self.sums.sums).all():
            msg = "a cell is infinite, or a sum of cells overflows"
            raise DataError(msg, remedy="scale the column down, or exclude it")
        return 0

    def update_centroids(self, centroids: Floats) -> tuple[Floats, int]:
        """Return the means of the clusters; empty ones are not filled."""
        means, sums = centroids.copy(), self.sums
        has_rows = sums.weights > 0
        means[has_rows] = (
            self._points.origin + sums.sums[has_rows] / sums.weights[has_rows, None]
        )
        return means, 0

    def is_unchanged(self, before: Floats, after: Floats) -> bool:
        """Return whether no centroid has moved by more than rounding.

        The sums of cells − origin are rounded, and so are the means.
        """
        distance = np.abs(after - self._points.origin).max(axis=0)
        spread = np.sqrt(self.sums.squares.sum() / self.sums.weights.sum())
        least = np.maximum(
            MOVE_TOLERANCE * (distance + spread), np.spacing(np.abs(after))
        )
        return bool((np.abs(after - before) <= least).all())

    def labels(self) -> Integers:
        """Return no labels."""
        return np.zeros(0, np.int64)

    def inertia(self, _: Floats) -> float:
        """Return the weighted sum of the squared distances to the centroids."""
        return float(self.sums.squares.sum())


def missing_cells_error(n_rows: int) -> DataError:
    """Return the error for rows with missing cells."""
    msg = f"{n_rows} rows have missing cells, and k-means accepts none"
    return DataError(msg, remedy="exclude those rows or columns")


MAX_SAMPLED = 5_000
_SAMPLE_MIXING = hash_mixing(2, MAX_SAMPLED)


class ClusteredTable(NamedTuple):
    """Clusters with their table and columns; a sample stands for a remote table."""

    fit: ClusterFit
    table: Table
    used: Table
    is_remote: bool


def cluster_table(
    table: TableInput,
    plan: Plan,
    columns: Sequence[str] = (),
    *,
    progress: Progress | None = None,
) -> ClusteredTable:
    """Find the clusters of a table, in memory or remote."""
    if table.is_remote:
        named = bool(columns)  # named identifiers stay, as in memory
        with open_source(table, sampleable=True, identifiers=named) as opened:
            assert opened.sampleable is not None
            rows = opened.sampleable
            fit = cluster_remote_rows(rows, plan, columns, progress=progress)
        pairs = zip(fit.rows.attributes, fit.rows.cells.T, strict=True)
        numbers = (Column(a.name, "numeric", x, unit=a.unit) for a, x in pairs)
        sample = Table(tuple(numbers), len(fit.rows.cells))
        return ClusteredTable(fit, sample, sample, is_remote=True)
    return cluster_in_memory(table, plan, columns, progress=progress)


def cluster_in_memory(
    table: TableInput,
    plan: Plan,
    columns: Sequence[str] = (),
    *,
    progress: Progress | None = None,
) -> ClusteredTable:
    """Find the clusters of a table that is read into memory."""
    whole, chosen, weights = read_rows(table, columns)
    rows = cluster_input(chosen, plan, markers=table.declarations.missing)
    fit = fit_clusters(rows, plan, weights=weights, progress=progress)
    return ClusteredTable(fit, whole, chosen, is_remote=False)


def cluster_remote_rows(
    rows: SampleableRows,
    plan: Plan,
    columns: Sequence[str] = (),
    *,
    progress: Progress | None = None,
) -> ClusterFit:
    """Return the clusters of remote rows; labels and rows are those of the sample."""
    assert isinstance(rows, SummedRows)
    chosen = _numeric_columns(rows.schema, columns, plan)
    sample, weights = _sample_rows(rows, chosen)
    sampled = fit_clusters(sample, plan, weights=weights)
    clusters = sampled.clusters
    max_iter = MAX_ITER if plan.max_iter is None else plan.max_iter
    centroids = np.asarray(clusters.centroids, np.float64)
    cells = sample.cells / clusters.scale
    start = Points(tuple(chosen), clusters.scale, centroids, cells.mean(axis=0))
    remote = RemoteRows(rows.cluster_sums, start)
    result = iterate(
        remote,
        centroids,
        max_iterations=max_iter,
        tolerance=plan.tol * float(np.mean(np.var(cells, axis=0))),
        on_iteration=report_iterations(progress, max_iter),
    )
    if progress is not None:
        progress(max_iter, max_iter)
    clusters = replace(
        clusters,
        centroids=result.centroids,
        weights=remote.sums.weights,
        start=centroids,
        inertia=result.inertia,
        n_iterations=result.n_iterations,
        fingerprint=rows.fingerprint(),
    )
    labels, converged = clusters.nearest(sampled.rows.cells)[0], result.converged
    return replace(sampled, clusters=clusters, labels=labels, converged=converged)


def _numeric_columns(schema: Schema, columns: Sequence[str], plan: Plan) -> list[int]:
    """Return the indices of the columns to cluster by; refuse those not numeric."""
    if plan.method not in (None, "k-means"):
        raise refusal(
            Setting("method", plan.method),
            "needs the rows in memory, but this table is counted in its engine",
            phrase("read the rows ({}), or use k-means", Setting("engine", "memory")),
        )
    if plan.gamma is not None:
        raise refusal(
            Setting("gamma", plan.gamma),
            "applies to nominal columns, and k-means has none",
            "remove it",
        )
    names = [attribute.name for attribute in schema.attributes]
    chosen = select_columns(columns, names) or names
    indices = [names.index(name) for name in chosen]
    for index in indices:
        attribute = schema.attributes[index]
        if attribute.kind != "numeric":
            msg = (
                f"column {attribute.name!r} is {attribute.kind}, and k-prototypes "
                "needs the rows in memory"
            )
            remedy = phrase(
                "exclude it ({}), or read the rows ({})",
                Setting("ignore", [attribute.name]),
                Setting("engine", "memory"),
            )
            raise DataError(msg, remedy=remedy)
    if not indices:
        raise no_columns_error()
    return indices


def _sample_rows(
    rows: SampleableRows, chosen: Sequence[int]
) -> tuple[ClusterInput, Floats | None]:
    """Return a sample of the rows in the order of their hashes, and its weights."""
    fraction = sample_fraction(MAX_SAMPLED / rows.root().n_rows, _SAMPLE_MIXING)
    sample, hashes = rows.fetch_sample(fraction)
    sample = sample.take(np.argsort(hashes, kind="stable"))
    attributes = tuple(sample.schema.attributes[index] for index in chosen)
    cells = np.column_stack([sample.columns[index] for index in chosen])
    if n_rows := int(np.isnan(cells).any(axis=1).sum()):
        raise missing_cells_error(n_rows)
    rows_sampled = ClusterInput(attributes, cells, markers=sample.schema.markers)
    return rows_sampled, sample.weights
