"""Forests: many trees, each on its own rows, that vote."""

from spinney.forest.forest import Forest, Trees
from spinney.forest.growing import grow_forest
from spinney.forest.settings import ForestSettings

__all__ = ["Forest", "ForestSettings", "Trees", "grow_forest"]
