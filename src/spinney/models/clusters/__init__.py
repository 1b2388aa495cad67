"""Clusters that were found: what they are, as text, as files and as plots."""

from spinney.cluster.clusters import Clusters
from spinney.models.clusters.fitted_clusters import ReadableClusters

__all__ = ["Clusters", "ReadableClusters"]
