"""From coded rows to a tree, by compiled loops."""

from typing import TYPE_CHECKING

from spinney.recipe import Recipe
from spinney.swift.crowd import grow_together
from spinney.swift.nodes import GrownNodes
from spinney.swift.prepared import prepared
from spinney.tree import Tree

if TYPE_CHECKING:
    from spinney.training import TrainingSet

__all__ = ["grow"]


def grow(training: "TrainingSet", recipe: Recipe) -> Tree:
    """Grow the tree that the plain learner would grow.

    Its nodes are made when they are looked at.
    """
    shape, lines = grow_together(prepared(training, recipe))
    return Tree(training.schema, GrownNodes(shape, lines, training.schema, recipe))
