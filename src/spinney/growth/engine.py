"""Who grows a tree: the plain learner, or one of two sets of compiled loops.

All of them grow the same tree. The plain learner takes anything, and rows wherever
they are; compiled loops take what ``binned_limits`` and ``ranked_limits`` say, of
tables large enough to be worth a compiler. Asking loads none.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from spinney._support.arrays import Floats
from spinney.growth.binned.binned_limits import FEWEST_CELLS, can_grow_binned
from spinney.growth.growth_options import Options
from spinney.growth.plain.construct import grow_with_construction
from spinney.growth.prune import Pruned, pruned_after_growing
from spinney.growth.prune.drafts import recounted
from spinney.growth.ranked.ranked_limits import FEWEST_RANKED_CELLS, can_grow_ranked
from spinney.growth.source_parts import refuse_lacking_source
from spinney.recipes import Recipe
from spinney.sources.opened import OpenedSource
from spinney.sources.rows import TrainingSet
from spinney.trees import Tree, lazy_nodes_of


def _grow_plain(rows: OpenedSource, recipe: Recipe, options: Options) -> Tree:
    refuse_lacking_source(rows.source, recipe)
    return grow_with_construction(rows.source, recipe, options)


def _grow_binned(rows: OpenedSource, recipe: Recipe, _options: Options) -> Tree:
    from spinney.growth.binned.grow_binned import grow

    return grow(rows.at_hand, recipe)


def _grow_ranked(rows: OpenedSource, recipe: Recipe, _options: Options) -> Tree:
    from spinney.growth.ranked.grow_ranked import grow

    return grow(rows.at_hand, recipe)


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
        if self.name == "ranked" and recipe.pruning == "error-based":
            from spinney.growth.ranked.grow_ranked import grow_and_prune

            return grow_and_prune(rows.at_hand, recipe)
        tree = self.grow(rows, recipe, options)
        return pruned_after_growing(
            tree, rows.source, recipe=recipe, class_weights=options.class_weights
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


PLAIN = Engine("plain", _grow_plain)
BINNED = Engine("binned", _grow_binned)
RANKED = Engine("ranked", _grow_ranked)


def choose_engine(
    training: TrainingSet | None,
    recipe: Recipe,
    options: Options,
    *,
    fewest: int | None = None,
) -> Engine:
    """Return the engine that grows the tree of these rows soonest.

    Rows that are not at hand, where ``training`` is None, are for the plain learner.
    ``fewest`` are the cells from which loops of two branches are taken, if not as
    many as where somebody may ask for the runners-up of splits.
    """
    if training is None:
        return PLAIN
    n_cells = len(training.classes) * len(training.columns)
    if n_cells >= (FEWEST_CELLS if fewest is None else fewest) and can_grow_binned(
        training, recipe, options
    ):
        return BINNED
    if n_cells >= FEWEST_RANKED_CELLS and can_grow_ranked(training, recipe, options):
        return RANKED
    return PLAIN
