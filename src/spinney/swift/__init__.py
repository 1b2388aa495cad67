"""The learner of large tables: the same trees, grown by compiled loops.

What it can grow is said by :func:`suits`; all else is grown by ``spinney.learner``, and
where both can, they grow the same tree. The compiler is loaded when it is needed.
"""

from typing import TYPE_CHECKING

from spinney.recipe import Recipe
from spinney.swift.suiting import suits
from spinney.tree import Tree

if TYPE_CHECKING:
    from spinney.training import TrainingSet

__all__ = ["grow_swiftly", "is_swift", "recount_swiftly", "suits"]


def grow_swiftly(training: "TrainingSet", recipe: Recipe) -> Tree:
    """Grow the tree that the plain learner would grow, of rows that suit."""
    from spinney.swift.learner import grow

    return grow(training, recipe)


def is_swift(tree: Tree) -> bool:
    """Return whether compiled loops grew a tree: its nodes are still to be made."""
    return not isinstance(tree.nodes, tuple)


def recount_swiftly(tree: Tree, training: "TrainingSet") -> Tree:
    """Return a tree that was grown swiftly, counted on the true classes of its rows."""
    from spinney.swift.recounting import recount

    return recount(tree, training)
