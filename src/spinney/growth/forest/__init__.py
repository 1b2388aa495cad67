"""Forests: many trees, each on its own rows, that vote."""

from typing import TYPE_CHECKING

from spinney._support.lazy_names import lazy_names
from spinney.growth.forest.compact_tree import CompactNodes, compact
from spinney.growth.forest.forest import Forest, Trees, TypicalTree
from spinney.growth.forest.forest_settings import (
    HASH,
    ForestSettings,
    Recipes,
    check_enough,
    forest_recipe,
    forest_recipes,
    recipes_of,
)
from spinney.growth.forest.voting import (
    forest_leaves,
    forest_outputs,
    oob_score,
    out_of_bag,
    require_bootstrap,
    votes_of,
    warn_rows_in_all_bags,
)

if TYPE_CHECKING:
    from spinney.growth.forest.bags import ForestBags, sampled_bags
    from spinney.growth.forest.forest_growth import grow_forest
    from spinney.growth.forest.importances import (
        GroupedImportances,
        Importances,
        grouped_importances,
        impurity_importances,
        permutation_importances,
        trees_by_similarity,
    )
    from spinney.growth.forest.interactions import Interactions, interactions_of
    from spinney.growth.forest.proximities import (
        nearest,
        outlier_scores,
        proximity_blocks,
    )
    from spinney.growth.forest.typical_tree import find_typical_tree
    from spinney.growth.forest.wide_categories import with_ordered_categories

__getattr__ = lazy_names(
    __name__,
    {
        "bags": ("ForestBags", "sampled_bags"),
        "forest_growth": ("grow_forest",),
        "importances": (
            "GroupedImportances",
            "Importances",
            "grouped_importances",
            "impurity_importances",
            "trees_by_similarity",
            "permutation_importances",
        ),
        "interactions": ("Interactions", "interactions_of"),
        "proximities": ("nearest", "outlier_scores", "proximity_blocks"),
        "typical_tree": ("find_typical_tree",),
        "wide_categories": ("with_ordered_categories",),
    },
)
