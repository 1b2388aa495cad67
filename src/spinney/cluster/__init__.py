"""Clusters beside the trees."""

from spinney.cluster.lloyd import Iteration, distances, lloyd

__all__ = ["Iteration", "distances", "lloyd"]
