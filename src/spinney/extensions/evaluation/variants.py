"""What is compared: recipes by name, or any arguments of ``spinney.grow``."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spinney._support.checks import check_named
from spinney.errors import ParameterError, Setting, did_you_mean, refusal
from spinney.models import refuse_forest_arguments
from spinney.recipes import (
    COMMON_SETTINGS,
    DEFAULT_RECIPE,
    RECIPES,
    Recipe,
    default_recipe,
    refuse_uncommon,
)
from spinney.sources.training_data import DECLARING, OPENING

# What grow grows if no recipe is named, beside the two that everybody knows.
# CART as it is meant to be used, pruned by folds of the training rows; the recipe alone
# is grown in full.
PRUNED = (
    "cart:pruning=cost-complexity",
    {"recipe": "cart", "pruning": "cost-complexity"},
)
DEFAULT_RECIPES = (DEFAULT_RECIPE, "c4.5", PRUNED)
# What needs no folds of its own; the default one reserves rows to prune by, if there
# are enough.
WITHOUT_ROWS = default_recipe(in_memory=False).name
RECIPES_AWAY = (DEFAULT_RECIPE, WITHOUT_ROWS)
# What stands in the place of a recipe where many trees are to vote.
FOREST = "forest"

Recipes = (
    str
    | Recipe
    | Mapping[str, Any]
    | Iterable[str | Recipe | tuple[str, str | Recipe | Mapping[str, Any]]]
)

# All variants see the same rows, which are read once.
COMMON = ("data", "target", *DECLARING, *OPENING)
# What a recipe may be given: the parameters of grow that concern no reading of rows.
OF_GROWING = (
    *COMMON_SETTINGS,
    *("ccp_alpha", "class_weight", "cost_matrix", "force", "n_jobs", "priors"),
    *("random_state", "recipe", "test_costs", "ties", "validation_share"),
)


@dataclass(frozen=True, slots=True)
class Variant:
    """A label and the arguments of ``spinney.grow`` behind it."""

    label: str
    arguments: Mapping[str, Any]

    @property
    def is_forest(self) -> bool:
        """Whether it is a forest; ``trees`` is then the recipe of its trees."""
        return self.arguments.get("recipe") == FOREST

    @property
    def recipe(self) -> Any:
        """The recipe that is named, or else the default."""
        return self.arguments.get("recipe", DEFAULT_RECIPE)

    def check(self, *, numeric: bool | None = None) -> None:
        """Refuse settings that the recipe, or such a target, has no use for.

        Also those that hold for all recipes: a line of the comparison that heeds
        half of what was asked is no comparison.
        """
        try:
            if self.is_forest:
                own = {n: v for n, v in self.arguments.items() if n != "recipe"}
                refuse_forest_arguments(own, numeric=numeric)
                return
            recipe = _named(self.recipe)
            refuse_uncommon(self.arguments, OF_GROWING, recipe)
            for name in self.arguments:
                if name not in OF_GROWING:
                    remedy = did_you_mean(name, OF_GROWING)
                    msg = f"there is no parameter {name!r}: {remedy}"
                    raise ParameterError(msg)
            own = {name: self.arguments.get(name) for name in COMMON_SETTINGS}
            changed = recipe.changed(**own)
            if numeric is not None:
                changed.refuse_target(numeric=numeric)
        except ParameterError as error:
            msg = f" {self.label!r}: {error}"
            raise ParameterError(Setting("recipe"), msg) from None


def variants_of(recipes: Recipes, settings: Mapping[str, Any]) -> tuple[Variant, ...]:
    """Return what is to be compared; ``settings`` hold for all of it.

    >>> entries = ["cart", ("stump", {"recipe": "cart", "max_depth": 1})]
    >>> for variant in variants_of(entries, {"min_gain": 0.1}):
    ...     print(variant.label, variant.arguments)
    cart {'min_gain': 0.1, 'recipe': 'cart'}
    stump {'min_gain': 0.1, 'recipe': 'cart', 'max_depth': 1}
    """
    if isinstance(recipes, (str, Recipe)):
        entries: list[Any] = [recipes]
    elif isinstance(recipes, Mapping):
        entries = list(recipes.items())
    elif isinstance(recipes, Iterable):
        entries = list(recipes)
    else:
        raise _no_entry(recipes)
    if "recipe" in settings:
        raise refusal(
            Setting("recipe", settings["recipe"]),
            remedy="what is compared is named by recipes=",
        )
    if not entries:
        msg = "recipes is empty: name at least one, such as 'c4.5'"
        raise ParameterError(msg)
    variants: dict[str, Variant] = {}
    for entry in entries:
        variant = _variant(entry, settings)
        if variant.label in variants:
            raise ParameterError(
                Setting("recipes"),
                f": {variant.label!r} is there twice: label one of them, as in "
                f"({variant.label + ' 2'!r}, {{'recipe': ...}})",
            )
        variants[variant.label] = variant
    return tuple(variants.values())


def _named(recipe: Any) -> Recipe:
    """Return a recipe; an unknown one is refused with all that can be compared."""
    if isinstance(recipe, str):
        check_named("recipe", recipe, (*RECIPES, FOREST))
    return Recipe.named(recipe)


def _variant(entry: Any, settings: Mapping[str, Any]) -> Variant:
    if isinstance(entry, (str, Recipe)):
        name = FOREST if entry == FOREST else _named(entry).name
        entry = (name, entry)
    pair = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)
    if not pair or not isinstance(entry[1], (str, Recipe, Mapping)):
        raise _no_entry(entry)
    label, given = entry
    own = dict(given) if isinstance(given, Mapping) else {"recipe": given}
    for name in (*settings, *own):
        if name in COMMON:
            msg = (
                f"{name} cannot be set for a recipe: all of them have the same rows, "
                "which are opened once"
            )
            raise ParameterError(msg)
    variant = Variant(label, {**settings, **own})
    variant.check()
    return variant


def _no_entry(entry: object) -> ParameterError:
    return ParameterError(
        Setting("recipes"),
        f": {entry!r} is no recipe: give a name, a Recipe, or a label with "
        "arguments of grow, as in ('stump', {'recipe': 'cart', 'max_depth': 1})",
    )
