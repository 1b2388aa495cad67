"""The scikit-learn classes over all of it."""

from spinney.estimators.forest_estimators import ForestClassifier, ForestRegressor
from spinney.estimators.k_means_estimator import KMeans, choose_k
from spinney.estimators.k_prototypes_estimator import KPrototypes
from spinney.estimators.mini_batch_estimator import MiniBatchKMeans
from spinney.estimators.tree_estimators import TreeClassifier, TreeRegressor

__all__ = [
    "ForestClassifier",
    "ForestRegressor",
    "KMeans",
    "KPrototypes",
    "MiniBatchKMeans",
    "TreeClassifier",
    "TreeRegressor",
    "choose_k",
]
