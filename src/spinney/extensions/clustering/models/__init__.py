"""Clusters of rows: how they are found, as text and as files."""

from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.find import (
    find_clusters,
    measured_rows,
    read_rows,
)
from spinney.extensions.clustering.models.fitted_clusters import FittedClusters

__all__ = ["FittedClusters", "Plan", "find_clusters", "measured_rows", "read_rows"]
