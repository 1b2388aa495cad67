"""The scikit-learn classes over all of it."""

from spinney.estimators.forest_estimators import ForestClassifier, ForestRegressor
from spinney.estimators.tree_estimators import TreeClassifier, TreeRegressor
