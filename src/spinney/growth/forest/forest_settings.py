"""The settings of a forest beside the recipe of its trees."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import log2, sqrt
from typing import Any

from spinney._support.checks import (
    MAX_TREES,
    check_choice,
    check_named,
    check_number,
    check_seed,
    check_whole,
    is_real,
    is_whole,
)
from spinney.errors import ParameterError, Setting, phrase, refusal
from spinney.recipes import Recipe

Recipes = str | Recipe | Sequence[str | Recipe]
"""The recipe of all trees of a forest, or several that its trees take in turn."""

VOTING = ("probability", "majority")
HASH = "hash"
"""The setting of bags that are drawn by the hashes of rows."""
CLASS_WEIGHTS = ("balanced", "balanced_subsample")
# The fraction of rows in a bag that is drawn with replacement, 1 − 1/e.
WITHOUT_REPLACEMENT = 0.632

# Settings that trees of a forest refuse: the name, the required value, and why.
_REFUSED: tuple[tuple[str, Any, str], ...] = (
    ("forest", 0.0, "a forest needs no other forest to teach it"),
    ("leaves", "mean", "the leaves of a forest's trees hold no linear models"),
    ("smoothing", 0.0, "the leaves of a forest's trees hold no linear models"),
    ("linear_terms", 0, "a forest constructs no attributes"),
    ("construct", 0, "a forest constructs no attributes"),
    ("search", "greedy", "its trees take the best split of each node, one by one"),
)
_PRUNINGS = {
    "cost-complexity": "every tree would be grown again in folds",
    "reduced-error": "its trees are grown on bags of all rows",
    "pre-pruning": "its trees are grown on bags of all rows",
    "adjusted-error": "the leaves of a forest's trees hold no linear models",
}


@dataclass(frozen=True, slots=True)
class ForestSettings:
    """The settings of a forest beside the recipe of its trees.

    Parameters
    ----------
    max_features : {"sqrt", "log2"}, int, float or None
        The number of varying attributes to search at a node: √p, log₂ p, a number, or a
        fraction of all; at least one. None means all.
    bootstrap : bool or "hash"
        Whether each tree has a bag of rows, or all rows. "hash" draws rows by a hash of
        their cells, so that tables in memory and remote tables have the same bags.
    replace : bool
        Whether a row can be drawn more than once.
    max_samples : int, float, optional
        The number, or fraction, of rows to draw. If not given, all of them, or 63.2 %
        without replacement.
    extra_random : bool
        Whether thresholds are random; see :mod:`spinney.search.random_cuts`.
    class_weight : mapping, "balanced" or "balanced_subsample", optional
        The factors of class weights, by the code of the class.
    voting : {"probability", "majority"}
        Whether trees vote with class probabilities, or with one class each.
    shrinkage : float, optional
        The shrinkage of leaves towards the nodes above, in weight of rows. By default
        it is chosen by out-of-bag error; without out-of-bag rows it is 0.
    seed : int
        The seed of the forest; the seed of tree t is derived from this seed and t.
    """

    max_features: str | float | None = "sqrt"
    bootstrap: bool | str = True
    replace: bool = True
    max_samples: float | None = None
    extra_random: bool = False
    class_weight: Mapping[int, float] | str | None = None
    voting: str = "probability"
    shrinkage: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        attributes_per_node(self.max_features, 1)
        if isinstance(self.bootstrap, str):
            check_named("bootstrap", self.bootstrap, (HASH,))
        else:
            check_choice("bootstrap", self.bootstrap)
        for name in ("replace", "extra_random"):
            check_choice(name, getattr(self, name))
        if not self.bootstrap:
            if self.max_samples is not None:
                raise refusal(
                    Setting("max_samples", self.max_samples),
                    ("needs ", Setting("bootstrap", True)),
                    "without a bootstrap every tree has all rows; remove max_samples",
                )
            if not self.replace:
                raise refusal(
                    Setting("replace", False),
                    ("needs ", Setting("bootstrap", True)),
                    "without a bootstrap no rows are drawn; remove replace",
                )
        self.bag_size(1)
        check_named("voting", self.voting, VOTING)
        if isinstance(self.class_weight, str):
            check_named("class_weight", self.class_weight, CLASS_WEIGHTS)
        if self.shrinkage is not None:
            check_number("shrinkage", self.shrinkage)
        check_seed("seed", self.seed)

    def bag_size(self, n_rows: int) -> int:
        """Return the number of rows to draw for a tree."""
        max_samples = self.max_samples
        if max_samples is None:
            fraction = 1.0 if self.replace else WITHOUT_REPLACEMENT
            return max(1, round(fraction * n_rows))
        if is_whole(max_samples) and max_samples >= 1:
            size = int(max_samples)
        elif (
            is_real(max_samples) and not is_whole(max_samples) and 0 < max_samples <= 1
        ):
            size = max(1, round(float(max_samples) * n_rows))
        else:
            raise refusal(
                Setting("max_samples", max_samples),
                "must be a whole number of rows, or a fraction above 0 and at most 1.0",
            )
        if not self.replace and n_rows > 1 and size > n_rows:
            raise refusal(
                Setting("max_samples", max_samples),
                phrase(
                    "is more than the {} rows, and {} draws each once",
                    str(n_rows),
                    Setting("replace", False),
                ),
                "take fewer",
            )
        return size


def attributes_per_node(max_features: Any, n_attributes: int) -> int:
    """Return the number of attributes to search at a node.

    Examples
    --------
    >>> [attributes_per_node(given, 30) for given in ("sqrt", "log2", 7, 0.5, None)]
    [5, 4, 7, 15, 30]
    """
    if max_features is None:
        return n_attributes
    if isinstance(max_features, str) and max_features in ("sqrt", "log2"):
        tries = sqrt(n_attributes) if max_features == "sqrt" else log2(n_attributes)
        return max(1, int(tries))
    if is_whole(max_features) and max_features >= 1:
        return min(int(max_features), n_attributes)
    if is_real(max_features) and not is_whole(max_features) and 0 < max_features <= 1:
        return max(1, int(float(max_features) * n_attributes + 1e-9))
    raise refusal(
        Setting("max_features", max_features),
        "must be 'sqrt', 'log2', a whole number of at least 1, or a fraction above 0 "
        "and at most 1.0",
    )


def recipes_of(
    recipes_given: Any, changes: Mapping[str, Any] | None = None
) -> tuple[Recipe, ...]:
    """Return the recipes that the trees of a forest take in turn, changed.

    >>> [recipe.name for recipe in recipes_of(["id3", "cart"], {"max_depth": 2})]
    ['id3', 'cart']
    >>> recipes_of(["id3", "cart"], {"confidence": 0.1})
    Traceback (most recent call last):
    spinney.errors.ParameterError: recipe 'id3' of the forest: confidence=0.1 needs \
pruning='error-based', and recipe 'id3' has pruning='none': confidence is the level \
of the error estimates; use pruning='error-based', or remove confidence
    """
    is_single = isinstance(recipes_given, (str, Recipe)) or not isinstance(
        recipes_given, Iterable
    )
    entries = [recipes_given] if is_single else list(recipes_given)
    if not entries:
        raise refusal(
            Setting("recipe", recipes_given),
            "names no recipe",
            "name one, such as 'cart', or several that trees take in turn",
        )
    recipes = []
    for entry in entries:
        recipe = Recipe.named(entry)
        with naming(recipe, entries):
            recipes.append(recipe.changed(**(changes or {})))
    _refuse_some_dropping(recipes)
    return tuple(recipes)


@contextmanager
def naming(recipe: Recipe, recipes: Sequence[Any]) -> Iterator[None]:
    """Let a refusal name its recipe, if there are several."""
    try:
        yield
    except ParameterError as error:
        if len(recipes) == 1:
            raise
        lead = f"recipe {recipe.name!r} of the forest: "
        raise ParameterError(lead, *error.args, remedy=error.remedy) from None


def forest_recipes(
    recipes: Sequence[Recipe], *, numeric: bool, extra_random: bool
) -> tuple[Recipe, ...]:
    """Return the recipes of a forest's trees for a target, or refuse them."""
    adapted = []
    for recipe in recipes:
        with naming(recipe, recipes):
            recipe.refuse_target(numeric=numeric)
            forest_form = forest_recipe(recipe, extra_random=extra_random)
            forest_form.measure(numeric=numeric)
            adapted.append(forest_form)
    return tuple(adapted)


def _refuse_some_dropping(recipes: Sequence[Recipe]) -> None:
    """Refuse recipes if only some drop rows: all trees draw from one table."""
    keeping = [recipe for recipe in recipes if not recipe.drops_rows]
    for recipe in recipes:
        if keeping and recipe.drops_rows:
            with naming(recipe, recipes):
                raise refusal(
                    Setting("missing_policy", recipe.missing_policy),
                    "drops incomplete rows for all trees, and recipe "
                    f"{keeping[0].name!r} uses them",
                    "let all recipes drop them, or none",
                )


def check_enough(n_trees: int, recipes: Sequence[Recipe]) -> None:
    """Refuse too few or too many trees, and recipes without a tree."""
    check_whole("n_estimators", n_trees, least=1, most=MAX_TREES)
    if n_trees < len(recipes):
        raise refusal(
            Setting("n_estimators", n_trees),
            f"is less than the {len(recipes)} recipes that trees take in turn",
            "take more trees, or fewer recipes",
        )


def forest_recipe(recipe: Recipe, *, extra_random: bool) -> Recipe:
    """Return the recipe of a forest's trees, or refuse it.

    Surrogates help to read a single tree. In a forest, missing values go to the branch
    with the largest gain instead.
    """
    if recipe.tries:
        raise refusal(
            Setting("recipe", recipe.name),
            "cannot be used in a forest",
            "this recipe chooses by cross-validation, and the bags of a forest leave "
            "no rows for that; use another, such as 'cart'",
        )
    for name, required, why in _REFUSED:
        value = getattr(recipe, name)
        if value != required:
            if name not in recipe.given:  # it came with the recipe
                raise refusal(
                    Setting("recipe", recipe.name),
                    phrase("({}) cannot be used in a forest", Setting(name, value)),
                    f"{why}; use another, such as 'cart'",
                )
            other = ", or another recipe, such as 'cart'"
            raise refusal(
                Setting(name, value),
                f"(recipe {recipe.name!r}) cannot be used in a forest",
                (f"{why}; use ", Setting(name, required), other),
            )
    if recipe.pruning in _PRUNINGS:
        raise refusal(
            Setting("pruning", recipe.pruning),
            f"(recipe {recipe.name!r}) cannot be used in a forest",
            (f"{_PRUNINGS[recipe.pruning]}; use ", Setting("pruning", "none")),
        )
    if extra_random and (recipe.bucketing is not None or recipe.grouping == "ordered"):
        raise refusal(
            Setting("extra_random", True),
            phrase(
                "draws one random cut, and recipe {} has {} and {}, which set the "
                "cuts; use {} without buckets",
                repr(recipe.name),
                Setting("grouping", recipe.grouping),
                Setting("buckets", recipe.bucketing),
                Setting("grouping", "binary"),
            ),
        )
    if recipe.missing_policy == "surrogate":
        if "missing_policy" in recipe.given or "surrogates" in recipe.given:
            raise refusal(
                Setting("missing_policy", "surrogate"),
                "cannot be used in a forest",
                "a forest stores no surrogates; use 'branch'",
            )
        recipe = replace(recipe, missing_policy="branch")
    return recipe
