"""Settings that only recipes have, given to ``grow`` and estimators by a recipe."""

from spinney.recipes import DEFAULT_RECIPE, SETTINGS, Recipe


def by_recipe(**arguments):
    """Return arguments of ``grow`` in which the recipe carries its settings."""
    changes = {name: arguments.pop(name) for name in SETTINGS if name in arguments}
    if not changes:
        return arguments
    recipe = Recipe.named(arguments.pop("recipe", None) or DEFAULT_RECIPE)
    return {**arguments, "recipe": recipe.changed(**changes)}
