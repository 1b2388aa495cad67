"""From coded rows to a tree, by compiled loops."""

from typing import TYPE_CHECKING

from spinney.recipes import Recipe
from spinney.search.missing_values import policy_named
from spinney.swift.crowd import grow_together
from spinney.swift.nodes import GrownNodes
from spinney.swift.prepared import prepared
from spinney.swift.surrogates import surrogates_of_grown
from spinney.trees.tree import Tree

if TYPE_CHECKING:
    from spinney.sources.training_set import TrainingSet

__all__ = ["grow"]


def grow(training: "TrainingSet", recipe: Recipe) -> Tree:
    """Grow the tree that the plain learner would grow.

    Its nodes are made when they are looked at.
    """
    ready = prepared(training, recipe)
    shape, lines, rivals = grow_together(ready)
    surrogates = None
    if policy_named(recipe.missing).surrogates:
        surrogates = surrogates_of_grown(ready, shape, lines, recipe.surrogates)
    nodes = GrownNodes(shape, lines, rivals, training.schema, recipe, surrogates)
    return Tree(training.schema, nodes)
