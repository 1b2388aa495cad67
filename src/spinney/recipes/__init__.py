"""Recipes: learners as data."""

from spinney.recipes.named_recipes import (
    DEFAULT_RECIPE,
    RECIPES,
    SETTINGS,
    default_recipe,
    recipe_named,
    suited,
)
from spinney.recipes.recipe import Named, Recipe
from spinney.recipes.vocabulary import MOST_BUCKETS, check_alphas

__all__ = [
    "DEFAULT_RECIPE",
    "MOST_BUCKETS",
    "RECIPES",
    "SETTINGS",
    "Named",
    "Recipe",
    "check_alphas",
    "default_recipe",
    "recipe_named",
    "suited",
]
