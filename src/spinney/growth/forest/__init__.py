"""Forests: many trees, each on its own rows, that vote."""

from spinney.growth.forest.forest import Forest, Trees
from spinney.growth.forest.forest_settings import ForestSettings
from spinney.growth.forest.grow_forest import grow_forest

__all__ = ["Forest", "ForestSettings", "Trees", "grow_forest"]
