"""Linear models in the leaves: M5."""

from spinney.growth.model_trees.m5 import with_models

__all__ = ["with_models"]
