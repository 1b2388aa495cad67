"""Growing a tree again, after some of its rows have come or gone."""

from dataclasses import dataclass, field, replace

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.jit.loading_time import WITHOUT_LOOPS
from spinney.extensions.incremental.incremental_source import IncrementalSource
from spinney.extensions.incremental.tree_state import TreeState
from spinney.growth.engine import Engine, choose_engine, plain_seconds
from spinney.growth.growth_options import Options
from spinney.growth.plain.learner import grow_tree
from spinney.recipes import Recipe
from spinney.sources.rows import JoinedRows, TrainingSet
from spinney.sources.training_data import TrainingData
from spinney.trees import Tree


@dataclass(slots=True)
class IncrementalGrower:
    """A tree that is grown from what is kept of an earlier one.

    Parameters
    ----------
    joined : JoinedRows
        The rows, and what has come and gone.
    kept : TreeState, optional
        The earlier tree; without one all rows are counted.
    n_counted : int
        How many cells were counted to grow it.
    """

    joined: JoinedRows
    kept: TreeState | None = None
    n_counted: int = field(default=0, init=False)

    @property
    def engine(self) -> Engine:
        """What grows the tree; then ``kept`` is that of the tree."""
        return Engine("kept", self._grow)

    def _grow(self, rows: TrainingData, recipe: Recipe, options: Options) -> Tree:
        joined, kept = _weighed(self.joined, rows.in_memory_rows.weights, self.kept)
        source = IncrementalSource(joined, kept)
        with WITHOUT_LOOPS.running():
            tree = grow_tree(source, recipe, options)
        self.kept, self.n_counted = source.kept(), source.n_counted
        return tree


def _weighed(
    joined: JoinedRows, weights: Floats | None, kept: TreeState | None
) -> tuple[JoinedRows, TreeState | None]:
    """Return joined rows of which those that stay have these weights.

    Weights are rounded to add up (``growth/kernel_weights.py``), by what all rows
    weigh. Where they come out otherwise than they were, nothing that was counted can be
    kept.
    """
    if weights is None:
        return joined, kept
    own = joined.rows.own_weights.copy()
    if kept is not None:
        own[kept.root.members.rows] = kept.root.members.weights
    before = own[joined.staying]
    own[joined.staying] = weights
    old = joined.staying < joined.n_before
    if not np.array_equal(before[old], weights[old]):
        kept = None
    return replace(joined, rows=replace(joined.rows, weights=own)), kept


# What a first count of all rows may take, in seconds of the plain learner. Beyond that
# compiled kernels grow a tree anew many times before tables that are kept pay for it.
MOST_SECONDS = 30.0


def can_cache_counts(rows: TrainingSet, recipe: Recipe) -> bool:
    """Return whether rows are few enough for their count tables to be kept.

    What loops cannot grow is for the plain learner, which may as well keep them.
    """
    if plain_seconds(rows, recipe) <= MOST_SECONDS:
        return True
    return choose_engine(rows, recipe, Options()).name == "plain"


def why_from_scratch(recipe: Recipe) -> str | None:
    """Return why a tree is grown whole when rows come and go; None where it is not.

    >>> why_from_scratch(Recipe.named("id3"))
    >>> why_from_scratch(Recipe.named("auto"))
    'folds of all rows choose among its ways to grow'
    """
    reasons = (
        (bool(recipe.tries), "folds of all rows choose among its ways to grow"),
        (recipe.grower.seeks_whole_trees, "all splits are sought together"),
        (recipe.forest > 0, "a forest of all rows smooths the labels"),
        (recipe.pruning == "cost-complexity", "trees of folds choose how to prune"),
        (recipe.pruning in ("reduced-error", "pre-pruning"), "it is pruned by rows"),
        (recipe.construct > 0, "attributes are made by what a whole tree asks"),
        (recipe.linear_terms > 1, "combinations of numbers are fitted to rows"),
    )
    return next((reason for holds, reason in reasons if holds), None)
