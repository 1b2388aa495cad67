"""The learner of large tables: the same trees, grown by compiled loops.

What it can grow is said by :func:`suits`; all else is grown by ``spinney.learner``, and
where both can, they grow the same tree. The compiler is loaded when it is needed.
"""

from typing import TYPE_CHECKING

from spinney.learner import Options
from spinney.prune import Pruned
from spinney.recipes import Recipe
from spinney.swift.suiting import suits, suits_bins, suits_ranks
from spinney.trees.tree import Tree

if TYPE_CHECKING:
    from spinney.sources.training_set import TrainingSet

__all__ = [
    "grow_and_prune_swiftly",
    "grow_swiftly",
    "is_swift",
    "recount_swiftly",
    "suits",
]


def grow_swiftly(training: "TrainingSet", recipe: Recipe) -> Tree:
    """Grow the tree that the plain learner would grow, of rows that suit."""
    if _in_ranks(training, recipe):
        from spinney.swift.ranked_learner import grow
    else:
        from spinney.swift.learner import grow
    return grow(training, recipe)


def grow_and_prune_swiftly(training: "TrainingSet", recipe: Recipe) -> Pruned | None:
    """Grow a tree of rows that suit, and prune it; None where loops cannot prune it."""
    if recipe.pruning != "error-based" or not _in_ranks(training, recipe):
        return None
    from spinney.swift.ranked_learner import grow_and_prune

    return grow_and_prune(training, recipe)


def _in_ranks(training: "TrainingSet", recipe: Recipe) -> bool:
    """Return whether rows that suit are grown by the loops of several branches."""
    options = Options()
    return suits_ranks(training, recipe, options) and not suits_bins(
        training, recipe, options
    )


def is_swift(tree: Tree) -> bool:
    """Return whether loops of two branches grew a tree: nodes are still to be made."""
    if isinstance(tree.nodes, tuple):
        return False
    from spinney.swift.nodes import GrownNodes

    return isinstance(tree.nodes, GrownNodes)


def recount_swiftly(tree: Tree, training: "TrainingSet") -> Tree:
    """Return a tree that was grown swiftly, counted on the true classes of its rows."""
    from spinney.swift.recounting import recount

    return recount(tree, training)
