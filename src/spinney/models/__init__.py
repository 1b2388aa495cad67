"""Fitted models without scikit-learn: how they come about, and what they can do."""

from typing import TYPE_CHECKING

from spinney._support.lazy_names import lazy_names
from spinney.models.facts import about_installation, as_lines
from spinney.models.fitted_model import FittedBase, FittedModel, FittedTable
from spinney.models.fitted_tree import FittedTree
from spinney.models.load import ALL_KINDS, load_model

if TYPE_CHECKING:
    from spinney.models.associations import associated, association
    from spinney.models.drawn_models import grow_drawn, grow_drawn_forest
    from spinney.models.fitted_forest import (
        FOREST_PARAMETERS,
        RECIPE_PARAMETERS,
        FittedForest,
        grow_forest_from,
        refuse_forest_arguments,
    )
    from spinney.models.grow import grow_from, grow_model
    from spinney.models.high_cardinality import (
        high_cardinality_columns,
        warn_of_high_cardinality,
    )
    from spinney.models.table_look import look, look_at

__getattr__ = lazy_names(
    __name__,
    {
        "associations": ("associated", "association"),
        "table_look": ("look", "look_at"),
        "drawn_models": ("grow_drawn", "grow_drawn_forest"),
        "fitted_forest": (
            "FOREST_PARAMETERS",
            "RECIPE_PARAMETERS",
            "FittedBase",
            "FittedForest",
            "grow_forest_from",
            "refuse_forest_arguments",
        ),
        "grow": ("grow_from", "grow_model"),
        "high_cardinality": ("high_cardinality_columns", "warn_of_high_cardinality"),
    },
)
