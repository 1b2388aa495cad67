"""Recipes: learners as data."""

from spinney.recipes.named_recipes import (
    COMMON_SETTINGS,
    DEFAULT_RECIPE,
    RECIPES,
    SETTINGS,
    candidates_of,
    default_recipe,
    in_bins,
    refuse_uncommon,
)
from spinney.recipes.needs import refuse_unusable
from spinney.recipes.other_words import our_names
from spinney.recipes.recipe import MAX_SIDE_WEIGHT, Named, Recipe
from spinney.recipes.recipe_help import RECIPE_TEXTS, setting_choices, setting_texts
from spinney.recipes.vocabulary import BY_VALIDATION, MAX_BUCKETS, check_alphas
