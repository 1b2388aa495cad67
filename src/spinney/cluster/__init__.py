"""Clusters beside the trees."""

from spinney.cluster.trace import Trace, explain_k_means

__all__ = ["Trace", "explain_k_means"]
