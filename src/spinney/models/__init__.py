"""Fitted models without scikit-learn: how they come about, and what they can do."""

from spinney.models.facts import (
    about_clusters,
    about_forest,
    about_installation,
    as_lines,
    facts_of,
)
from spinney.models.fitted_forest import (
    FOREST_PARAMETERS,
    RECIPE_PARAMETERS,
    ReadableForest,
    forest_from,
    refuse_forest_arguments,
)
from spinney.models.fitted_tree import ReadableTree
from spinney.models.grow import grow_from, grow_model

__all__ = [
    "FOREST_PARAMETERS",
    "RECIPE_PARAMETERS",
    "ReadableForest",
    "ReadableTree",
    "about_clusters",
    "about_forest",
    "about_installation",
    "as_lines",
    "facts_of",
    "forest_from",
    "grow_from",
    "grow_model",
    "refuse_forest_arguments",
]
