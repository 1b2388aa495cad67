"""Clusters in words: the rules of a shallow tree, and what is unusual about each."""

from spinney.models.clusters.explained.explanation import Explanation, explain_clusters
from spinney.models.clusters.explained.profiles import Mark
from spinney.models.clusters.explained.sentences import ClusterRule, ExplainedCluster

__all__ = [
    "ClusterRule",
    "ExplainedCluster",
    "Explanation",
    "Mark",
    "explain_clusters",
]
