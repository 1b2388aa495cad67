"""Clusters that were found: what they are, as text, as files and as plots."""

from spinney.cluster import Clusters
from spinney.models.clusters.cluster_plan import Found, Plan
from spinney.models.clusters.cluster_plots import check_plots, elbow, scatter
from spinney.models.clusters.find import curve_of, find_clusters
from spinney.models.clusters.fitted_clusters import ReadableClusters
from spinney.models.clusters.table_rows import read_rows

__all__ = [
    "Clusters",
    "Found",
    "Plan",
    "ReadableClusters",
    "check_plots",
    "curve_of",
    "elbow",
    "find_clusters",
    "read_rows",
    "scatter",
]
