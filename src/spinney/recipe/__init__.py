"""Recipes: learners as data."""

from spinney.recipe.named import (
    DEFAULT_RECIPE,
    RECIPES,
    SETTINGS,
    default_recipe,
    recipe_named,
    suited,
)
from spinney.recipe.recipe import Named, Recipe

__all__ = [
    "DEFAULT_RECIPE",
    "RECIPES",
    "SETTINGS",
    "Named",
    "Recipe",
    "default_recipe",
    "recipe_named",
    "suited",
]
