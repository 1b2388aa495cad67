"""Clusters of rows: how they are found, as text and as files."""

from spinney.extensions.clustering.clusters import Clusters
from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.find import (
    ClusterFit,
    MeasuredRows,
    check_enough,
    clusters_of,
    find_clusters,
    measured_rows,
    method_of,
    read_rows,
    settings_of,
    usable_weights,
)
from spinney.extensions.clustering.models.find_away import cluster_table
from spinney.extensions.clustering.models.fitted_clusters import FittedClusters

__all__ = [
    "ClusterFit",
    "Clusters",
    "FittedClusters",
    "MeasuredRows",
    "Plan",
    "check_enough",
    "cluster_table",
    "clusters_of",
    "find_clusters",
    "measured_rows",
    "method_of",
    "read_rows",
    "settings_of",
    "usable_weights",
]
