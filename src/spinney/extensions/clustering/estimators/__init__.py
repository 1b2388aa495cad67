"""The scikit-learn classes of clusters."""

from spinney.extensions.clustering.clusters import BATCHES, MIXED, Clusters
from spinney.extensions.clustering.estimators.k_means_estimator import KMeans, choose_k
from spinney.extensions.clustering.estimators.k_prototypes_estimator import KPrototypes
from spinney.extensions.clustering.estimators.mini_batch_estimator import (
    MiniBatchKMeans,
)


def estimator_of(clusters: Clusters) -> KMeans | MiniBatchKMeans | KPrototypes:
    """Return the estimator of clusters that were loaded."""
    if clusters.method == MIXED:
        return KPrototypes.from_model(clusters)
    kind = MiniBatchKMeans if clusters.method == BATCHES else KMeans
    return kind.from_model(clusters)
