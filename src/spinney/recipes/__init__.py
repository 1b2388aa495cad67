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
