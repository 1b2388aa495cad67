"""From rows to a tree of several branches, by compiled loops."""

from typing import TYPE_CHECKING

from spinney._support.arrays import TOLERANCE
from spinney.kernels.ranked_layout import EXHAUSTED, INNER, PURE, TOO_DEEP, TOO_FEW
from spinney.prune import Pruned
from spinney.recipes import Recipe
from spinney.swift.ranked import Ready, ready
from spinney.swift.ranked_crowd import grow_ranked
from spinney.swift.ranked_nodes import RankedNodes, printing_order
from spinney.swift.ranked_pruning import prune_ranked
from spinney.trees.tree import Tree

if TYPE_CHECKING:
    from spinney.sources.training_set import TrainingSet

__all__ = ["grow", "grow_and_prune"]


def grow(training: "TrainingSet", recipe: Recipe) -> Tree:
    """Grow the tree that the plain learner would grow.

    Its nodes are made when they are looked at.
    """
    return Tree(training.schema, _nodes(ready(training, recipe), recipe))


def grow_and_prune(training: "TrainingSet", recipe: Recipe) -> Pruned:
    """Grow a tree and prune it by errors, as the plain learner would."""
    rows = ready(training, recipe)
    nodes = _nodes(rows, recipe)
    return prune_ranked(Tree(training.schema, nodes), nodes, rows)


def _nodes(rows: Ready, recipe: Recipe) -> RankedNodes:
    grown = grow_ranked(rows, _reason(rows))
    order = printing_order(grown.nodes)
    return RankedNodes(grown, rows.values, rows.schema, recipe, *order)


def _reason(rows: Ready) -> int:
    """Return why the root is a leaf, if it is one."""
    limits = rows.limits
    if (rows.counts > 0).sum() == 1:
        return PURE
    if not rows.schema.attributes:
        return EXHAUSTED
    if limits.max_depth == 0:
        return TOO_DEEP
    if rows.weights.sum() < limits.least_node * (1 - TOLERANCE):
        return TOO_FEW
    return INNER
