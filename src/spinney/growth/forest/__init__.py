"""Forests: many trees, each on its own rows, that vote."""

from spinney.growth.forest.forest import Forest, Trees
from spinney.growth.forest.forest_growth import grow_forest
from spinney.growth.forest.forest_settings import ForestSettings

__all__ = ["Forest", "ForestSettings", "Trees", "grow_forest"]
