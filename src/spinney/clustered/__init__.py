"""Clusters that were found: what they are, as text, as files and as plots."""

from spinney.clustered.model import Clusters
from spinney.clustered.readable import ReadableClusters

__all__ = ["Clusters", "ReadableClusters"]
