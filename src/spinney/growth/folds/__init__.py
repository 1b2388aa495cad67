"""Growing again on folds of the rows: how far to prune, and by which recipe to grow."""

from spinney.growth.folds.fold_growth import (
    FoldGrowth,
    RowCopies,
    warn_of_squared_error_pruning,
)
from spinney.growth.folds.recipe_choice import (
    MIN_ROWS_FOR_FOLDS,
    RecipeChoice,
    choose_recipe,
)

__all__ = [
    "MIN_ROWS_FOR_FOLDS",
    "RowCopies",
    "FoldGrowth",
    "RecipeChoice",
    "choose_recipe",
    "warn_of_squared_error_pruning",
]
