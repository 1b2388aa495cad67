"""Growing again on folds of the rows: how far to prune, and by which recipe to grow."""

from spinney.growth.folds.fold_growth import (
    CopiedRows,
    FoldGrowth,
    warn_of_squares,
)
from spinney.growth.folds.recipe_choice import (
    FEWEST_FOR_FOLDS,
    RecipeChoice,
    choose_recipe,
)

__all__ = [
    "FEWEST_FOR_FOLDS",
    "CopiedRows",
    "FoldGrowth",
    "RecipeChoice",
    "choose_recipe",
    "warn_of_squares",
]
