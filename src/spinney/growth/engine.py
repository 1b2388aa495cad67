"""Who grows a tree: the plain learner, or one of two sets of compiled loops.

All of them grow the same tree. The plain learner takes anything, and rows wherever
they are; compiled loops take what ``binned_limits`` and ``ranked_limits`` say, where it
takes longer to do without them than to load them. Asking loads none.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np

from spinney._support.arrays import Floats
from spinney.growth.best_first import limited
from spinney.growth.binned.binned_limits import can_grow_binned
from spinney.growth.growth_options import Options
from spinney.growth.plain.construct import grow_with_construction
from spinney.growth.prune import Pruned, pruned_after_growing
from spinney.growth.prune.drafts import recounted
from spinney.growth.ranked.ranked_limits import can_grow_ranked
from spinney.growth.source_parts import refuse_lacking_source
from spinney.recipes import Recipe
from spinney.sources.opened import OpenedSource
from spinney.sources.rows import TrainingSet
from spinney.trees import Tree, lazy_nodes_of


def _grow_plain(rows: OpenedSource, recipe: Recipe, options: Options) -> Tree:
    refuse_lacking_source(rows.source, recipe)
    return grow_with_construction(rows.source, recipe, options)


def _grow_binned(rows: OpenedSource, recipe: Recipe, options: Options) -> Tree:
    from spinney.growth.binned.grow_binned import grow

    return limited(grow(rows.at_hand, recipe, options), recipe)


def _grow_ranked(rows: OpenedSource, recipe: Recipe, options: Options) -> Tree:
    from spinney.growth.ranked.grow_ranked import grow

    return limited(grow(rows.at_hand, recipe, options.class_weights), recipe)


@dataclass(frozen=True, slots=True)
class Engine:
    """One way to grow the tree of a recipe.

    Parameters
    ----------
    name : str
        "plain", "binned" (two branches, numbers in bins) or "ranked" (a branch per
        value, values by rank).
    grow : function
        From rows, a recipe and options to the unpruned tree.
    """

    name: str
    grow: Callable[[OpenedSource, Recipe, Options], Tree]

    def grow_and_prune(
        self, rows: OpenedSource, recipe: Recipe, options: Options
    ) -> Pruned:
        """Return the tree, pruned as the recipe says where that takes no folds."""
        by_errors = recipe.pruning == "error-based" and recipe.max_leaves is None
        if self.name == "ranked" and by_errors:
            from spinney.growth.ranked.grow_ranked import grow_and_prune

            return grow_and_prune(rows.at_hand, recipe, options.class_weights)
        tree = self.grow(rows, recipe, options)
        return pruned_after_growing(
            tree,
            rows.source,
            recipe=recipe,
            class_weights=options.class_weights,
            validation=options.validation,
        )

    def recount(
        self,
        tree: Tree,
        rows: OpenedSource,
        recipe: Recipe,
        class_weights: Floats | None,
    ) -> Tree:
        """Return a tree that this engine grew, counted again on other labels."""
        nodes = lazy_nodes_of(tree)
        counted = None if nodes is None else nodes.recounted(rows.at_hand)
        if counted is not None:
            return replace(tree, nodes=counted)
        return recounted(tree, rows.source, recipe=recipe, class_weights=class_weights)


# In seconds, on a machine of two cores: what the plain learner takes for a cell of a
# level, and besides for a row, which ends up in a node of few, of numbers alone; what
# it takes to load compiled loops; and how long somebody waits for all rivals of splits,
# exactly.
PER_CELL, PER_ROW, PER_NUMBER = 0.3e-6, 40e-6, 250e-6
LOADING = 0.75
PATIENCE = 0.5

PLAIN = Engine("plain", _grow_plain)
BINNED = Engine("binned", _grow_binned)
RANKED = Engine("ranked", _grow_ranked)


# How many trees are grown of which nobody will ask what lost; None for one to look at.
_ONLY_TO_PREDICT: ContextVar[int | None] = ContextVar("only to predict", default=None)


@contextmanager
def only_to_predict(n_trees: int) -> Iterator[None]:
    """Let so many trees that are grown meanwhile be grown to predict, not to look at.

    They keep no rivals of their splits, and loops are loaded once for all of them.
    """
    token = _ONLY_TO_PREDICT.set(n_trees)
    try:
        yield
    finally:
        _ONLY_TO_PREDICT.reset(token)


def choose_engine(
    training: TrainingSet | None,
    recipe: Recipe,
    options: Options,
    *,
    rivals: bool = True,
) -> Engine:
    """Return the engine that grows the tree of these rows soonest.

    Rows that are not at hand, where ``training`` is None, are for the plain learner.
    ``rivals`` says that somebody may ask for the splits that lost. The loops of two
    branches know not all of these exactly, so they are taken a little later then, and
    what a process has loaded before has no say: the same rows give the same nodes.
    """
    if training is None:
        return PLAIN
    plain = plain_seconds(training, recipe)
    n_trees = _ONLY_TO_PREDICT.get()
    if n_trees is not None:
        plain, rivals = plain * n_trees, False
    if plain > (PATIENCE if rivals else _loading(BINNED)) and can_grow_binned(
        training, recipe, options
    ):
        return BINNED
    if plain > (LOADING if rivals else _loading(RANKED)) and can_grow_ranked(
        training, recipe, options
    ):
        return RANKED
    return PLAIN


def plain_seconds(training: TrainingSet, recipe: Recipe) -> float:
    """Return about how long the plain learner takes for the tree of some rows."""
    n_rows, n_attributes = len(training.classes), len(training.columns)
    n_levels = 1.5 * np.log2(n_rows + 1)
    per_row = PER_NUMBER if training.schema.target.is_numeric else PER_ROW
    if recipe.max_depth is not None and recipe.max_depth < n_levels:
        n_levels, per_row = recipe.max_depth, PER_ROW
    return float(n_rows * (n_attributes * n_levels * PER_CELL + per_row))


def _loading(engine: Engine) -> float:
    """Return how long it takes until the loops of an engine can run."""
    loaded = f"spinney.growth.{engine.name}.loops.grow" in sys.modules
    return 0.0 if loaded else LOADING
