"""Clusters in words: the rules of a shallow tree, and what is unusual about each."""

from spinney.extensions.clustering.explained.explanation import explain_clusters

__all__ = ["explain_clusters"]
