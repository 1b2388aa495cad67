"""Clusters beside the trees."""

from spinney.cluster.lloyd import Iteration, distances, lloyd
from spinney.cluster.trace import Trace, explain_k_means

__all__ = ["Iteration", "Trace", "distances", "explain_k_means", "lloyd"]
