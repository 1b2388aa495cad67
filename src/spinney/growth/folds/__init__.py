"""Cross-validation in growing: how far to prune, and which recipe to choose."""

from spinney.growth.folds.fold_growth import (
    FoldGrowth,
    RowCopies,
    warn_of_squared_error_pruning,
)
from spinney.growth.folds.measure_quality import QualityMeasure
from spinney.growth.folds.recipe_choice import (
    MIN_ROWS_FOR_FOLDS,
    RecipeChoice,
    choose_recipe,
)
