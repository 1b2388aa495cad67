"""The data of clusters for the explorer: centroids, sizes, rows and iterations."""

from typing import Any

import numpy as np

from spinney._support.text import shown
from spinney.data import Table
from spinney.extensions.clustering.clusters import MIXED, Clusters, encode_numbers
from spinney.extensions.clustering.trace import explain_k_means
from spinney.extensions.explorer.packed_numbers import packed
from spinney.extensions.explorer.row_data import cells_data
from spinney.extensions.explorer.schema_data import schema_data

MAX_ITERATIONS = 100


def clusters_data(clusters: Clusters, table: Table | None = None) -> dict[str, Any]:
    """Return clusters as plain data, with rows and iterations if a table is given."""
    origin = clusters.fingerprint
    data: dict[str, Any] = {
        "kind": "clusters",
        "title": f"{len(clusters)} clusters",
        "method": clusters.method,
        "schema": schema_data(clusters.schema),
        "grown_on": {"rows": origin.n_rows, "weight": origin.weight},
        "sizes": clusters.sizes.tolist(),
        "centroids": packed(np.asarray(clusters.centroids, np.float64)),
        "scale": packed(clusters.scale),
        "codes": packed(clusters.codes),
        "gamma": clusters.gamma,
        "inertia": clusters.inertia,
        "iterations": clusters.n_iterations,
        "standardised": clusters.standardised,
        "single": clusters.centroids.dtype == np.float32,
        "rows": None,
        "trace": None,
        "contains": {"clusters": len(clusters)},
    }
    if table is not None:
        labels, _ = clusters.assign(table)
        shown_rows = cells_data(table)
        data["rows"] = {**shown_rows, "leaf": packed(labels[: shown_rows["rows"]])}
        data["trace"] = _trace_data(clusters, table)
    return data


def _trace_data(clusters: Clusters, table: Table) -> dict[str, Any] | None:
    """Return the iterations from the initial centroids, or None if unknown."""
    if clusters.method == MIXED or not len(clusters.start) or not table.n_rows:
        return None
    points = clusters.scaled(encode_numbers(clusters.schema, table))
    trace = explain_k_means(
        points,
        clusters.start,
        names=[shown(name) for name in clusters.names],
        max_iterations=MAX_ITERATIONS,
        rows=table.n_rows,
    )
    return {
        "start": packed(trace.clustering.start),
        "steps": [
            {
                "centroids": packed(step.after),
                "clusters": packed(step.clusters),
                "sizes": step.sizes.tolist(),
                "changed": step.changed,
                "inertia": step.inertia,
            }
            for step in trace.iterations
        ],
    }
