"""The named recipes: well-known learners as settings of one learner."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from spinney._support.keyed_random import refuse_seed
from spinney.errors import ParameterError
from spinney.recipes.needs import refuse_unusable
from spinney.recipes.other_words import refuse_elsewhere
from spinney.recipes.recipe import NO_GAIN, Recipe

DEFAULT_RECIPE = "auto"
# Remote tables have count tables only, and "auto" needs rows.
_WITHOUT_ROWS = "c4.5"

_NO_SETTINGS = ("name", "numeric_criterion", "tries", "given")
SETTINGS = tuple(f.name for f in fields(Recipe) if f.name not in _NO_SETTINGS)
# Those that constructors and ``grow`` name; the others are reached by
# ``Recipe.named(...).changed(...)``.
COMMON_SETTINGS = (
    "criterion",
    "grouping",
    "missing_policy",
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
            min_gain=NO_GAIN,
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
        # The best of several by cross-validation; docs/auto.md says how these were
        # found. Its own settings are those of the first, two branches by Gini's index.
        Recipe(
            "auto",
            "gini",
            "binary",
            "branch",
            min_samples_leaf=2,
            pruning="cost-complexity",
            folds=5,
            rule="minimum",
            probability="m-estimate",
            tries=("cart", "cart by gain", "c4.5", "m5", "cart of means"),
        ),
        # The best of all trees of a depth; Gini's index is what nodes are compared by.
        Recipe("optimal", "gini", "binary", "branch", max_depth=3, search="optimal"),
        # VFDT (Domingos and Hulten 2000), whose delta and grace these are.
        Recipe(
            "hoeffding",
            "gain",
            "multiway",
            "branch",
            max_leaves=10_000,
            search="hoeffding",
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


def default_recipe(*, in_memory: bool = True) -> Recipe:
    """Return the recipe that is used if none is named.

    ``in_memory`` says whether rows are in memory; in a database they are not.

    >>> default_recipe().name, default_recipe(in_memory=False).name
    ('auto', 'c4.5')
    """
    return RECIPES[DEFAULT_RECIPE if in_memory else _WITHOUT_ROWS]


def in_bins(recipe: Recipe) -> Recipe:
    """Return the default for many rows, whose numbers are counted in bins.

    It is CART without surrogates, with C4.5's error-based pruning. Settings that were
    changed by hand stay; if CART has no use for one of them, the recipe is unchanged.

    >>> in_bins(default_recipe(in_memory=False)).missing_policy
    'branch'
    """
    settings: dict[str, Any] = {"missing_policy": "branch", "min_samples_leaf": 2}
    settings |= {"pruning": "error-based", "raising": False}
    settings |= {name: getattr(recipe, name) for name in recipe.given}
    try:
        return RECIPES["cart"].changed(**settings)
    except ParameterError:
        return recipe


@dataclass(frozen=True, slots=True)
class Trial:
    """One of the candidate recipes among which a recipe chooses.

    Parameters
    ----------
    numeric : bool
        Whether the candidate is for a numeric target, or for classes.
    settings : mapping
        The changes to the recipe's own settings.
    """

    numeric: bool
    settings: Mapping[str, Any]


def _settings_of(name: str) -> dict[str, Any]:
    """Return the settings of a named recipe that differ from the default's."""
    default, recipe = RECIPES[DEFAULT_RECIPE], RECIPES[name]
    names = (*SETTINGS, "numeric_criterion")
    settings = {name: getattr(recipe, name) for name in names}
    common = ("probability", "m", "folds", "rule", "seed")
    return {
        name: value
        for name, value in settings.items()
        if value != getattr(default, name) and name not in common
    }


TRIALS = {
    "cart": Trial(numeric=False, settings={}),
    "cart by gain": Trial(numeric=False, settings={"criterion": "gain"}),
    "c4.5": Trial(numeric=False, settings=_settings_of("c4.5")),
    # A default is there to be read: Weka's models have up to 100 terms.
    "m5": Trial(numeric=True, settings=_settings_of("m5") | {"max_terms": 5}),
    "cart of means": Trial(numeric=True, settings={}),
}


def candidates_of(recipe: Recipe, *, numeric: bool) -> dict[str, Recipe]:
    """Return the recipes among which a recipe chooses, or itself if it does not.

    Settings given by hand hold for all of them. A candidate that contradicts them, or
    has no use for them, is dropped, and so is one that equals another. Without pruning
    the first candidate is taken.

    >>> auto = RECIPES["auto"]
    >>> list(candidates_of(auto, numeric=False))
    ['cart', 'cart by gain', 'c4.5']
    >>> list(candidates_of(auto, numeric=True))
    ['m5', 'cart of means']
    >>> list(candidates_of(auto.changed(criterion="twoing"), numeric=False))
    ['cart']
    >>> list(candidates_of(auto.changed(pruning="none"), numeric=False))
    ['cart']
    """
    if not recipe.tries:
        return {recipe.name: recipe}
    given = set(recipe.given)
    if "criterion" in given:
        given.add("numeric_criterion")
    candidates: dict[str, Recipe] = {}
    refusals = []
    for name in recipe.tries:
        trial = TRIALS[name]
        if trial.numeric != numeric:
            continue
        settings = {k: v for k, v in trial.settings.items() if k not in given}
        try:
            candidate = replace(recipe, **settings, tries=())
            # Folds choose among the candidates, whatever each of them ends with.
            refuse_unusable(candidate, recipe.given - {"folds"}, numeric=numeric)
        except ParameterError as error:
            refusals.append(error)
            continue
        if candidate not in candidates.values():
            candidates[name] = candidate
    if not candidates:
        raise refusals[0]
    if recipe.pruning == "none":
        return dict([next(iter(candidates.items()))])
    return candidates


def refuse_uncommon(
    given: Mapping[str, Any], parameters: Collection[str], recipe: object = "c4.5"
) -> None:
    """Refuse settings of a recipe that a constructor does not take, with a remedy.

    ``parameters`` are those of the constructor, and ``recipe`` is the one it is given.

    >>> refuse_uncommon({"max_depth": 2, "min_step": 0}, ["max_depth"], "cart")
    Traceback (most recent call last):
    spinney.errors.ParameterError: min_step=0 is set in the recipe: \
recipe=Recipe.named('cart').changed(min_step=0)
    """
    refuse_elsewhere(given, parameters)
    first = recipe[0] if isinstance(recipe, (list, tuple)) and recipe else recipe
    name_of_recipe = getattr(first, "name", first)
    for name, value in given.items():
        if name in parameters or name not in SETTINGS:
            continue
        refuse_seed({name: value})
        msg = (
            f"{name}={value!r} is set in the recipe: "
            f"recipe=Recipe.named({name_of_recipe!r}).changed({name}={value!r})"
        )
        raise ParameterError(msg)
