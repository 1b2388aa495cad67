"""The candidates of a study: recipes, or arguments of ``spinney.grow``."""

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
from spinney.sources.training_data import DECLARATION_PARAMETERS, INPUT_PARAMETERS

# CART pruned by cross-validation; the recipe alone is not pruned.
PRUNED = (
    "cart:pruning=cost-complexity",
    {"recipe": "cart", "pruning": "cost-complexity"},
)
DEFAULT_RECIPES = (DEFAULT_RECIPE, "c4.5", PRUNED)
# The recipe without cross-validation; the default one holds out rows for pruning.
REMOTE_RECIPE = default_recipe(in_memory=False).name
REMOTE_RECIPES = (DEFAULT_RECIPE, REMOTE_RECIPE)
# The name of a forest instead of a recipe.
FOREST = "forest"

Recipes = (
    str
    | Recipe
    | Mapping[str, Any]
    | Iterable[str | Recipe | tuple[str, str | Recipe | Mapping[str, Any]]]
)

# Parameters of reading, the same for all candidates.
READING_PARAMETERS = ("data", "target", *DECLARATION_PARAMETERS, *INPUT_PARAMETERS)
# Parameters of grow without those of reading.
GROW_PARAMETERS = (
    *COMMON_SETTINGS,
    *("ccp_alpha", "class_weight", "cost_matrix", "forced_splits", "n_jobs", "priors"),
    *("random_state", "recipe", "test_costs", "tie_break_order", "validation_share"),
)


@dataclass(frozen=True, slots=True)
class StudyCandidate:
    """A label, and the arguments of ``spinney.grow`` that it stands for."""

    label: str
    arguments: Mapping[str, Any]

    @property
    def is_forest(self) -> bool:
        """Whether the candidate is a forest; its trees' recipe is ``trees``."""
        return self.arguments.get("recipe") == FOREST

    @property
    def recipe(self) -> Any:
        """The named recipe, or the default."""
        return self.arguments.get("recipe", DEFAULT_RECIPE)

    def check(self, *, numeric: bool | None = None) -> None:
        """Refuse settings, also common ones, that do not fit the recipe or target."""
        try:
            if self.is_forest:
                rest = {n: v for n, v in self.arguments.items() if n != "recipe"}
                refuse_forest_arguments(rest, numeric=numeric)
                return
            recipe = _named_recipe(self.recipe)
            refuse_uncommon(self.arguments, GROW_PARAMETERS, recipe)
            for name in self.arguments:
                if name not in GROW_PARAMETERS:
                    remedy = did_you_mean(name, GROW_PARAMETERS)
                    msg = f"there is no parameter {name!r}: {remedy}"
                    raise ParameterError(msg)
            settings = {name: self.arguments.get(name) for name in COMMON_SETTINGS}
            changed = recipe.changed(**settings)
            if numeric is not None:
                changed.refuse_target(numeric=numeric)
        except ParameterError as error:
            msg = f" {self.label!r}: {error}"
            raise ParameterError(Setting("recipe"), msg) from None


def study_candidates(
    recipes: Recipes, settings: Mapping[str, Any]
) -> tuple[StudyCandidate, ...]:
    """Return the candidates to compare; ``settings`` apply to all of them.

    >>> entries = ["cart", ("stump", {"recipe": "cart", "max_depth": 1})]
    >>> for candidate in study_candidates(entries, {"min_gain": 0.1}):
    ...     print(candidate.label, candidate.arguments)
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
        raise _not_a_recipe_error(recipes)
    if "recipe" in settings:
        raise refusal(Setting("recipe", settings["recipe"]), remedy="use recipes=")
    if not entries:
        msg = "recipes is empty: name at least one, such as 'c4.5'"
        raise ParameterError(msg)
    candidates: dict[str, StudyCandidate] = {}
    for entry in entries:
        candidate = _candidate_from_entry(entry, settings)
        if candidate.label in candidates:
            raise ParameterError(
                Setting("recipes"),
                f": {candidate.label!r} is there twice: label one of them, as in "
                f"({candidate.label + ' 2'!r}, {{'recipe': ...}})",
            )
        candidates[candidate.label] = candidate
    return tuple(candidates.values())


def _named_recipe(recipe: Any) -> Recipe:
    """Return a recipe; the error of an unknown name lists all names."""
    if isinstance(recipe, str):
        check_named("recipe", recipe, (*RECIPES, FOREST))
    return Recipe.named(recipe)


def _candidate_from_entry(entry: Any, settings: Mapping[str, Any]) -> StudyCandidate:
    if isinstance(entry, (str, Recipe)):
        name = FOREST if entry == FOREST else _named_recipe(entry).name
        entry = (name, entry)
    is_pair = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)
    if not is_pair or not isinstance(entry[1], (str, Recipe, Mapping)):
        raise _not_a_recipe_error(entry)
    label, value = entry
    arguments = dict(value) if isinstance(value, Mapping) else {"recipe": value}
    for name in (*settings, *arguments):
        if name in READING_PARAMETERS:
            msg = (
                f"{name} cannot be set for one recipe, because all recipes use the "
                "same rows"
            )
            raise ParameterError(msg)
    candidate = StudyCandidate(label, {**settings, **arguments})
    candidate.check()
    return candidate


def _not_a_recipe_error(entry: object) -> ParameterError:
    return ParameterError(
        Setting("recipes"),
        f": {entry!r} is no recipe: give a name, a Recipe, or a label with "
        "arguments of grow, as in ('stump', {'recipe': 'cart', 'max_depth': 1})",
    )
