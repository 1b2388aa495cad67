"""Clusters in words: the rules of a shallow tree, and what is unusual about each."""

from spinney.extensions.clustering.explained.explanation import (
    Explanation,
    explain_clusters,
)
from spinney.extensions.clustering.explained.profiles import Mark
from spinney.extensions.clustering.explained.sentences import (
    ClusterRule,
    ExplainedCluster,
)

__all__ = [
    "ClusterRule",
    "ExplainedCluster",
    "Explanation",
    "Mark",
    "explain_clusters",
]
