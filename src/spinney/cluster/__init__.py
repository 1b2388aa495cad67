"""Clusters beside the trees."""

from spinney.cluster.clustering import Clustering
from spinney.cluster.clusters import (
    BATCHES,
    COLUMN,
    METHODS,
    MIXED,
    Clusters,
    cells_of,
    numbers_of,
    schema_of,
    spread_of,
)
from spinney.cluster.fit_k_means import (
    STARTS,
    Start,
    checked_centroids,
    distances_between,
    nearest_centroids,
)
from spinney.cluster.iterations import Watch
from spinney.cluster.mini_batch import RunningCentroids, in_batches
from spinney.cluster.scaling import scaled
from spinney.cluster.summed_iterations import SummedClusters, iterate_sums, rows_lacking
from spinney.cluster.trace import ROWS_SHOWN, Trace, explain_k_means

__all__ = [
    "BATCHES",
    "COLUMN",
    "METHODS",
    "MIXED",
    "ROWS_SHOWN",
    "STARTS",
    "Clustering",
    "Clusters",
    "RunningCentroids",
    "Start",
    "SummedClusters",
    "Trace",
    "Watch",
    "cells_of",
    "checked_centroids",
    "distances_between",
    "explain_k_means",
    "in_batches",
    "iterate_sums",
    "nearest_centroids",
    "numbers_of",
    "rows_lacking",
    "scaled",
    "schema_of",
    "spread_of",
]
