"""Recipes: the famous learners as data over one learner."""

from dataclasses import dataclass, fields, replace
from sys import float_info
from typing import Any

import numpy as np

from spinney.criteria import CRITERIA, Criterion, criterion_named
from spinney.errors import ParameterError, did_you_mean, refuse_unknown
from spinney.missing import GROUPINGS, policy_named

__all__ = ["RECIPES", "SETTINGS", "Recipe", "recipe_named"]

_NAMED = {
    "leaves": ("mean", "linear"),
    "pruning": ("none", "adjusted-error"),
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a tree is grown.

    Parameters
    ----------
    name : str
        What the user types.
    criterion : {"gain", "gain_ratio", "gini", "misclassification"}
        What a good split is; see :mod:`spinney.criteria`.
    grouping : {"multiway", "binary", "ordered"}
        Whether a nominal attribute gets one branch a value, two subsets, or two
        parts of the order that the mean of a numeric target gives its values over
        all rows (M5P). Numeric and ordinal attributes always get a threshold.
    missing : {"fractional", "most-common", "own-category", "branch", "mean"}
        What a missing value means; see :mod:`spinney.missing`.
    numeric_criterion : {"squared_error", "variance", "sdr", "variance_root", "poisson"}
        What a good split is where the target is a number. Changing ``criterion``
        changes it too.
    max_depth : int, optional
        The longest path, in questions.
    max_leaves : int, optional
        The most leaves; the split that gains most over all rows comes first.
    min_samples_split : float
        The least weight that a node needs to be split.
    min_samples_leaf : float
        The least weight that two branches of a split need each (Quinlan's rule;
        for two branches it means both). 1 asks only that they are not empty.
    min_weight_fraction_leaf : float
        The same limit as a share of the weight of all rows.
    min_gain : float
        The least gain of a split. 0 allows splits that gain nothing by
        themselves, as the textbook algorithm does.
    min_branch_share : float
        The share of their node's weight that two branches need to exceed each; M5P
        has 0.2, and 0 asks for nothing.
    min_deviation : float
        The least standard deviation of a numeric target at a node to split, as a
        share of that of all rows; M5 has 0.05.
    leaves : {"mean", "linear"}
        What a leaf of a numeric target predicts: the mean of its rows, or a linear
        model of the attributes that were asked below it before pruning; see
        :mod:`spinney.model_trees`.
    pruning : {"none", "adjusted-error"}
        What is done to the grown tree: nothing, or M5's comparison of each node
        with the branches below it, by errors that grow with the number of terms.
    smoothing : float
        The weight with which the nodes above a leaf join in its prediction, in
        rows; M5 has 15.

    Examples
    --------
    >>> RECIPES["id3"].changed(max_depth=2).max_depth
    2
    """

    name: str
    criterion: str
    grouping: str
    missing: str
    numeric_criterion: str = "squared_error"
    max_depth: int | None = None
    max_leaves: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    min_gain: float = 0.0
    min_branch_share: float = 0.0
    min_deviation: float = 0.0
    leaves: str = "mean"
    pruning: str = "none"
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        criterion_named(self.criterion)
        criterion_named(self.numeric_criterion)
        policy_named(self.missing)
        if self.grouping not in GROUPINGS:
            refuse_unknown("grouping", self.grouping, GROUPINGS)
        _check_whole("max_depth", self.max_depth, least=0)
        _check_whole("max_leaves", self.max_leaves, least=1)
        for name in ("min_samples_split", "min_samples_leaf", "min_gain", "smoothing"):
            _check_number(name, getattr(self, name))
        for name in ("min_weight_fraction_leaf", "min_branch_share"):
            _check_number(name, getattr(self, name), most=0.5)
        _check_number("min_deviation", self.min_deviation, most=1.0)
        for name, known in _NAMED.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in known:
                refuse_unknown(name, value, known)

    @property
    def least_node(self) -> float:
        """The least weight of a node to split; 0 where two rows will do."""
        return self.min_samples_split if self.min_samples_split > 2 else 0.0

    def least_branch(self, total: float) -> float:
        """Return the least weight of a branch, where all rows weigh ``total``."""
        least = self.min_samples_leaf if self.min_samples_leaf > 1 else 0.0
        return max(least, self.min_weight_fraction_leaf * total)

    def measure(self, *, numeric: bool) -> Criterion:
        """Return the criterion for classes, or for a numeric target."""
        name = self.numeric_criterion if numeric else self.criterion
        criterion = criterion_named(name)
        if not numeric:
            self._refuse_classes()
        if criterion.numeric == numeric:
            return criterion
        wanted = "a number" if numeric else "classes"
        fitting = [c.name for c in CRITERIA.values() if c.numeric == numeric]
        msg = (
            f"criterion={name!r} does not suit a target that is {wanted}: use "
            f"{', '.join(map(repr, fitting))}"
        )
        raise ParameterError(msg)

    def _refuse_classes(self) -> None:
        """Refuse what only a numeric target has."""
        for name, value in _OF_NUMBERS.items():
            if getattr(self, name) == value:
                others = (known for known in RECIPES.values() if known.leaves == "mean")
                msg = (
                    f"{name}={value!r} of recipe {self.name!r} needs a target that is "
                    "a number, and this one is classes: declare the target numeric, "
                    f"or use another recipe: {', '.join(repr(r.name) for r in others)}"
                )
                raise ParameterError(msg)

    def changed(self, **settings: Any) -> "Recipe":
        """Return the recipe with these settings; None leaves one as it is."""
        known = {field.name for field in fields(self)}
        for name in settings:
            if name not in known:
                msg = f"a recipe has no {name!r}: {did_you_mean(name, known)}"
                raise ParameterError(msg)
        given = {name: value for name, value in settings.items() if value is not None}
        if "criterion" in given:
            given.setdefault("numeric_criterion", given["criterion"])
        return replace(self, **given) if given else self


def _check_whole(name: str, value: object, *, least: int) -> None:
    if value is None:
        return
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least:  # type: ignore[operator]
        msg = f"{name}={value!r} must be a whole number of at least {least}, or None"
        raise ParameterError(msg)


def _check_number(name: str, value: object, *, most: float = float_info.max) -> None:
    number = isinstance(
        value, (int, float, np.integer, np.floating)
    ) and not isinstance(value, bool)
    if not number or not 0 <= value <= most:  # type: ignore[operator]
        limit = f" and at most {most}" if most < float_info.max else ""
        msg = f"{name}={value!r} must be a number of at least 0{limit}"
        raise ParameterError(msg)


_OF_NUMBERS = {
    "leaves": "linear",
    "grouping": "ordered",
    "pruning": "adjusted-error",
}
_NO_SETTINGS = ("name", "numeric_criterion")
SETTINGS = tuple(f.name for f in fields(Recipe) if f.name not in _NO_SETTINGS)

RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("id3", "gain", "multiway", "fractional", "variance"),
        # C4.5 does not split where nothing is gained (its notion of nothing is
        # J48's 1e-6), nor where fewer than two branches would hold two rows.
        Recipe(
            "c4.5",
            "gain_ratio",
            "multiway",
            "fractional",
            "variance",
            min_samples_leaf=2,
            min_gain=1e-6,
        ),
        Recipe("cart", "gini", "binary", "branch"),
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


def recipe_named(recipe: "str | Recipe") -> Recipe:
    """Return a recipe by name, or as it is.

    >>> recipe_named("c4.5").criterion
    'gain_ratio'
    """
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, str) and recipe in RECIPES:
        return RECIPES[recipe]
    refuse_unknown("recipe", recipe, RECIPES)
