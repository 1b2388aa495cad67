"""Every way to grow trees, and to prune them."""

from typing import TYPE_CHECKING

from spinney._support.lazy_names import lazy_names
from spinney.growth.model import (
    Member,
    Model,
    RecipeScore,
    UpdateState,
    recipe_scores_text,
)
from spinney.growth.quality import Quality

if TYPE_CHECKING:
    from spinney.growth.cross_fitting import overfitting_columns, with_constant_columns
    from spinney.growth.growers import Grower, choose_grower, prediction_only
    from spinney.growth.growth_options import Options
    from spinney.growth.pipeline import grow_and_prune
    from spinney.growth.user_options import (
        class_weights_of,
        options_of,
        refuse_without_classes,
    )

__getattr__ = lazy_names(
    __name__,
    {
        "cross_fitting": ("overfitting_columns", "with_constant_columns"),
        "growth_options": ("Options",),
        "pipeline": ("grow_and_prune",),
        "growers": ("Grower", "choose_grower", "prediction_only"),
        "user_options": ("class_weights_of", "options_of", "refuse_without_classes"),
    },
)
