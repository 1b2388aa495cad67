"""Clusters in words: the rules of a shallow tree, and what is unusual about each."""

from spinney.explained_clusters.explanation import Explanation, explain_clusters
from spinney.explained_clusters.profiles import Mark
from spinney.explained_clusters.sentences import ClusterRule, ExplainedCluster

__all__ = [
    "ClusterRule",
    "ExplainedCluster",
    "Explanation",
    "Mark",
    "explain_clusters",
]
