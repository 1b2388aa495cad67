"""Recipes and their settings."""

import dataclasses

import numpy as np
import pytest

from spinney.errors import ParameterError
from spinney.recipes import RECIPES, Recipe


def test_the_famous_learners_as_data():
    assert [*RECIPES] == [
        *("id3", "c4.5", "cart", "chaid"),
        *("auto", "optimal", "hoeffding", "m5"),
    ]
    assert RECIPES["id3"] == Recipe("id3", "gain", "multiway", "fractional", "variance")
    assert RECIPES["cart"] == Recipe("cart", "gini", "binary", "surrogate")
    c45 = RECIPES["c4.5"]
    assert (c45.criterion, c45.grouping) == ("gain_ratio", "multiway")
    assert (c45.min_samples_leaf, c45.min_gain) == (2, 1e-6)


def test_a_recipe_by_name_or_as_it_is():
    own = RECIPES["id3"].changed(max_depth=3)
    assert Recipe.named("cart") is RECIPES["cart"]
    assert Recipe.named(own) is own


@pytest.mark.parametrize("name", ["c45", None, 4.5])
def test_an_unknown_recipe_is_refused(name):
    with pytest.raises(ParameterError, match=f"recipe={name!r} is unknown"):
        Recipe.named(name)


def test_a_near_miss_gets_a_suggestion():
    with pytest.raises(ParameterError, match=r"did you mean 'c4\.5'"):
        Recipe.named("c45")


def test_changed_gives_another_recipe():
    changed = RECIPES["cart"].changed(max_depth=3, min_gain=0.1)
    assert (changed.max_depth, changed.min_gain, changed.name) == (3, 0.1, "cart")
    assert RECIPES["cart"].max_depth is None


def test_none_leaves_a_setting_as_it_is():
    limited = RECIPES["cart"].changed(max_depth=3)
    assert limited.changed(max_depth=None, min_gain=None) is limited


def test_an_unknown_setting_is_refused():
    with pytest.raises(ParameterError, match="no 'max_dept': did you mean 'max_depth'"):
        RECIPES["cart"].changed(max_dept=3)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"criterion": "ginni"}, "criterion='ginni' is unknown"),
        ({"criterion": "absolute_error"}, "median of each branch"),
        ({"grouping": "multi"}, "grouping='multi' is unknown: did you mean 'multiway'"),
        ({"missing_policy": "omit"}, "missing_policy='omit' is unknown"),
        ({"max_depth": -1}, "max_depth=-1 must be a whole number of at least 0"),
        ({"max_depth": 2.0}, "max_depth=2.0 must be a whole number"),
        ({"max_depth": True}, "max_depth=True must be a whole number"),
        ({"max_leaves": 0}, "max_leaves=0 must be a whole number of at least 1"),
        ({"max_leaves": "3"}, "max_leaves='3' must be a whole number"),
        ({"min_samples_split": -1}, "min_samples_split=-1 must be a number"),
        ({"min_samples_leaf": np.inf}, "min_samples_leaf=inf must be a number"),
        ({"min_samples_leaf": "2"}, "min_samples_leaf='2' must be a number"),
        ({"min_weight_fraction_leaf": 0.6}, "at least 0 and at most 0.5"),
        ({"min_gain": np.nan}, "min_gain=nan must be a number"),
        ({"min_gain": False}, "min_gain=False must be a number"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict, message: str):
    with pytest.raises(ParameterError, match=message):
        RECIPES["id3"].changed(**settings)


def test_the_least_branch_is_the_stricter_of_weight_and_share():
    recipe = RECIPES["id3"].changed(min_samples_leaf=3, min_weight_fraction_leaf=0.1)
    assert recipe.min_branch_weight(20) == 3
    assert recipe.min_branch_weight(50) == 5
    assert RECIPES["id3"].min_branch_weight(50) == 0  # 1 asks only for a row


def test_numbers_of_numpy_are_numbers():
    recipe = RECIPES["id3"].changed(max_depth=np.int64(3), min_gain=np.float64(0.5))
    assert (recipe.max_depth, recipe.min_gain) == (3, 0.5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_short_numbers_of_numpy_are_taken_in_silence(kind):
    recipe = RECIPES["id3"].changed(min_samples_leaf=kind(3), min_gain=kind(0.5))
    assert (recipe.min_samples_leaf, recipe.min_gain) == (3, 0.5)


def test_an_unknown_setting_lists_the_others_in_their_order():
    with pytest.raises(ParameterError, match="known: 'name', 'criterion', 'grouping'"):
        RECIPES["id3"].changed(zzz=1)


def test_a_recipe_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        RECIPES["id3"].max_depth = 3


@pytest.mark.parametrize("name", ["twoing", "c_sep"])
def test_a_criterion_of_two_branches_wants_subsets(name):
    assert RECIPES["cart"].changed(criterion=name).criterion == name
    with pytest.raises(ParameterError, match=r"compares two branches.*binary"):
        RECIPES["id3"].changed(criterion=name)
    both = RECIPES["id3"].changed(criterion=name, grouping="binary")
    assert both.measure(numeric=False).binary


def test_a_criterion_suits_its_target():
    assert RECIPES["cart"].changed(criterion="f").measure(numeric=True).name == "f"
    with pytest.raises(ParameterError, match=r"'f' does not .* classes: use 'gain'"):
        RECIPES["cart"].changed(criterion="f").measure(numeric=False)
    with pytest.raises(ParameterError, match=r"'mdl' does not .* number: use 'var"):
        RECIPES["cart"].changed(criterion="mdl").measure(numeric=True)


@pytest.mark.parametrize(
    "given, leaf, node",
    [
        (0, 0.0, 0.0),
        (0.1, 4.0, 4.0),
        (0.999, 39.96, 39.96),
        (1, 0.0, 0.0),
        (1.5, 1.5, 0.0),
        (2, 2.0, 0.0),
        (2.5, 2.5, 2.5),
    ],
)
def test_limits_below_1_are_shares_and_free_ones_are_none(given, leaf, node):
    recipe = RECIPES["cart"].changed(min_samples_leaf=given, min_samples_split=given)
    assert recipe.min_branch_weight(40.0) == pytest.approx(leaf)
    assert recipe.min_node_weight(40.0) == pytest.approx(node)
    assert recipe.has_shares == (0 < given < 1)
