"""Clusters of tables: settings, fitting and fitted clusters."""

from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.cluster_table import cluster_in_memory
from spinney.extensions.clustering.models.fitted_clusters import FittedClusters
