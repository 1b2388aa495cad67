"""The scikit-learn classes over all of it."""

from spinney.estimators.classifier import TreeClassifier
from spinney.estimators.forest import ForestClassifier, ForestRegressor
from spinney.estimators.kmeans import KMeans
from spinney.estimators.mini_batch import MiniBatchKMeans
from spinney.estimators.prototypes import KPrototypes
from spinney.estimators.regressor import TreeRegressor

__all__ = [
    "ForestClassifier",
    "ForestRegressor",
    "KMeans",
    "KPrototypes",
    "MiniBatchKMeans",
    "TreeClassifier",
    "TreeRegressor",
]
