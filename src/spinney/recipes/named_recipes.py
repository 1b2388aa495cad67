"""Recipes: the famous learners as data over one learner."""

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from spinney._support.keyed_random import refuse_seed
from spinney.errors import ParameterError
from spinney.recipes.recipe import NOTHING, Recipe

DEFAULT_RECIPE = "auto"
# Where rows stay away there are count tables only, and "auto" needs rows.
_WITHOUT_ROWS = "c4.5"

_NO_SETTINGS = ("name", "numeric_criterion", "for_numbers", "given")
SETTINGS = tuple(f.name for f in fields(Recipe) if f.name not in _NO_SETTINGS)
# Those that constructors and ``grow`` name; the others are reached by
# ``Recipe.named(...).changed(...)``.
COMMON_SETTINGS = (
    "criterion",
    "grouping",
    "missing",
    "buckets",
    "n_buckets",
    "max_depth",
    "max_leaves",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "min_gain",
    "pruning",
    "confidence",
    "probability",
    "linear_terms",
    "leaves",
)

RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("id3", "gain", "multiway", "fractional", "variance"),
        # C4.5 release 8 as J48 has it: no split where nothing is gained (and
        # nothing is 1e-6), nor where fewer than two branches would hold two rows.
        Recipe(
            "c4.5",
            "gain_ratio",
            "multiway",
            "fractional",
            "variance",
            min_samples_leaf=2,
            min_gain=NOTHING,
            mdl_correction=True,
            min_cut_share=0.1,
            min_step=1e-5,
            thresholds="observed",
            pruning="error-based",
        ),
        Recipe("cart", "gini", "binary", "surrogate"),
        # The limits are those of R's CHAID: small groups make poor tests.
        Recipe(
            "chaid",
            "chi_square",
            "merge",
            "own-category",
            "f",
            alpha_split=0.05,
            min_samples_split=20,
            min_samples_leaf=7,
        ),
        # The best single tree that we know how to grow; docs/auto.md says how it was
        # chosen.
        Recipe(
            "auto",
            "gini",
            "binary",
            "branch",
            min_samples_leaf=2,
            forest=0.75,
            pruning="cost-complexity",
            folds=5,
            rule="minimum",
            probability="m-estimate",
            for_numbers="m5",
        ),
        # M5 (Quinlan 1992) as Weka's M5P has it (Wang and Witten 1997).
        Recipe(
            "m5",
            "gini",
            "ordered",
            "mean",
            "variance_root",
            min_samples_split=4,
            min_samples_leaf=2,
            min_branch_share=0.2,
            min_deviation=0.05,
            leaves="linear",
            pruning="adjusted-error",
            smoothing=15.0,
        ),
    )
}


def default_recipe(*, rows_at_hand: bool = True) -> Recipe:
    """Return the recipe that is meant where none is named.

    ``rows_at_hand`` says whether rows are in memory; in a database they are not.

    >>> default_recipe().name, default_recipe(rows_at_hand=False).name
    ('auto', 'c4.5')
    """
    return RECIPES[DEFAULT_RECIPE if rows_at_hand else _WITHOUT_ROWS]


def suited(recipe: Recipe, *, numeric: bool) -> Recipe:
    """Return a recipe, or the one that it names for numbers, changed as it was.

    >>> suited(RECIPES["auto"].changed(max_depth=2), numeric=True).name
    'm5'
    """
    if not numeric or recipe.for_numbers is None:
        return recipe
    own = {name: getattr(recipe, name) for name in recipe.given}
    return RECIPES[recipe.for_numbers].changed(**own)


def refuse_uncommon(
    given: Mapping[str, Any], known: Collection[str], recipe: object = "c4.5"
) -> None:
    """Refuse settings that a constructor does not take and a recipe does, with the way.

    ``known`` are the parameters of the constructor; ``recipe`` is the one it is given.

    >>> refuse_uncommon({"max_depth": 2, "min_step": 0}, ["max_depth"], "cart")
    Traceback (most recent call last):
    spinney.errors.ParameterError: min_step=0 is set in the recipe: \
recipe=Recipe.named('cart').changed(min_step=0)
    """
    name_of_recipe = getattr(recipe, "name", recipe)
    for name, value in given.items():
        if name in known or name not in SETTINGS:
            continue
        refuse_seed({name: value})
        msg = (
            f"{name}={value!r} is set in the recipe: "
            f"recipe=Recipe.named({name_of_recipe!r}).changed({name}={value!r})"
        )
        raise ParameterError(msg)
