"""From a recipe to a finished tree: grow, prune, fit models, drop unused formulas."""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from spinney.growth.growers import Grower, choose_grower
from spinney.growth.growth_options import Options
from spinney.growth.model_trees.m5 import with_models
from spinney.growth.prune import Pruned, Steps
from spinney.recipes import Recipe
from spinney.search.oblique import without_unused_formulas
from spinney.sources.training_data import TrainingData

if TYPE_CHECKING:
    from spinney.growth.folds import FoldGrowth


def grow_and_prune(
    rows: TrainingData,
    recipe: Recipe,
    options: Options,
    growth: "FoldGrowth | None" = None,
    grower: Grower | None = None,
    *,
    on_tree: Callable[[], object] = lambda: None,
) -> Pruned:
    """Return the tree of one recipe, after its pruning, with models at its leaves.

    If the recipe needs folds, ``growth`` has the folds that exist already. Otherwise
    the ``grower`` grows the tree, by default the fastest, and ``on_tree`` is called.
    """
    if recipe.forest or (recipe.needs_rows and options.validation is None):
        from spinney.growth.folds import FoldGrowth, RowCopies

        if growth is None:
            copied = RowCopies(rows.in_memory_rows)
            growth = FoldGrowth(copied, recipe, options, on_tree=on_tree)
        result = growth.grow_and_prune()
    else:
        grower = grower or choose_grower(rows.training, recipe, options)
        if recipe.pruning == "none":
            result = Pruned(grower.grow(rows, recipe, options), Steps(()))
        else:
            result = grower.grow_and_prune(rows, recipe, options)
        on_tree()
    schema = result.tree.schema
    if schema.target.is_numeric and recipe.fits_models:
        modelled = with_models(result.tree, rows, recipe=recipe)
        steps = Steps(chain(result.steps, modelled.steps))
        result = replace(result, tree=modelled.tree, steps=steps)
    if len(schema.attributes) > schema.n_columns:
        result = replace(result, tree=without_unused_formulas(result.tree))
    return result
