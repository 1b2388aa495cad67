"""Clusters beside the trees."""

from typing import TYPE_CHECKING

from spinney._support.names_on_demand import names_on_demand

if TYPE_CHECKING:
    from spinney.extensions.clustering.clustering import Clustering
    from spinney.extensions.clustering.clusters import (
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
    from spinney.extensions.clustering.fit_k_means import (
        STARTS,
        Start,
        checked_centroids,
        distances_between,
        nearest_centroids,
    )
    from spinney.extensions.clustering.iterations import Watch
    from spinney.extensions.clustering.mini_batch import RunningCentroids, in_batches
    from spinney.extensions.clustering.scaling import scaled
    from spinney.extensions.clustering.trace import ROWS_SHOWN, Trace, explain_k_means

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
    "Trace",
    "Watch",
    "cells_of",
    "checked_centroids",
    "distances_between",
    "explain_k_means",
    "in_batches",
    "nearest_centroids",
    "numbers_of",
    "scaled",
    "schema_of",
    "spread_of",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "clustering": ("Clustering",),
        "clusters": (
            "BATCHES",
            "COLUMN",
            "METHODS",
            "MIXED",
            "Clusters",
            "cells_of",
            "numbers_of",
            "schema_of",
            "spread_of",
        ),
        "fit_k_means": (
            "STARTS",
            "Start",
            "checked_centroids",
            "distances_between",
            "nearest_centroids",
        ),
        "iterations": ("Watch",),
        "mini_batch": ("RunningCentroids", "in_batches"),
        "scaling": ("scaled",),
        "trace": ("ROWS_SHOWN", "Trace", "explain_k_means"),
    },
)
