"""Recipes: learners as data."""

from spinney.recipe.named import RECIPES, SETTINGS, recipe_named
from spinney.recipe.recipe import Named, Recipe

__all__ = ["RECIPES", "SETTINGS", "Named", "Recipe", "recipe_named"]
