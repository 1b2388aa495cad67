"""What a user may get wrong is refused by name, with the value and a remedy."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.helpers.recipes import by_recipe

import spinney
from spinney import DataError, ParameterError
from spinney.recipes import RECIPES

HUGE = 10**400
TOO_LARGE = 2**32
ROWS = {
    "a": [1, 2, 3, 4, 5, 6, 7, 8],
    "c": list("uvuvuvuv"),
    "y": ["no", "no", "yes", "no", "yes", "yes", "no", "yes"],
}
NUMBERS = {"a": list(range(30)), "y": [place * 1.5 for place in range(30)]}


@pytest.fixture(scope="module")
def model():
    return spinney.grow(ROWS, "y", recipe="cart")


@pytest.fixture(scope="module")
def evaluation():
    return spinney.evaluate(ROWS, "y", "id3", folds=2)


@pytest.mark.parametrize(
    "settings, match",
    [
        ({"buckets": ["x"]}, r"buckets=\['x'\] is unknown"),
        ({"recipe": "chaid", "alpha_merge": [0.1]}, r"alpha_merge=\[0.1\]: give"),
        ({"recipe": "chaid", "alpha_resplit": "a"}, "alpha_resplit='a': give"),
        ({"alpha_merge": "a"}, "alpha_merge='a'"),
        ({"alpha_merge": np.nan}, "alpha_merge=nan"),
        ({"alpha_merge": True}, "alpha_merge=True"),
        ({"alpha_merge": HUGE}, "alpha_merge=1000"),
        ({"alpha_merge": 0}, "alpha_merge=0"),
        ({"alpha_resplit": False}, "alpha_resplit=False"),
        ({"alpha_resplit": 0.05}, "alpha_resplit=0.05: .*below alpha_merge=0.05"),
        ({"n_buckets": 100_001}, "n_buckets=100001 .* from 2 to 100000"),
        ({"seed": TOO_LARGE}, "seed=4294967296 .* to 4294967295"),
        ({"ordinal": 3}, "ordinal=3 must map"),
        ({"ordinal": "a:1<2"}, "ordinal='a:1<2' must map"),
        ({"ordinal": [3]}, "ordinal: 3 is no text"),
        ({"ordinal": {"a": 3}}, "ordinal: 'a' has 3: give a list"),
        ({"ordinal": {"a": "xy"}}, "ordinal: 'a' has 'xy': give a list"),
        ({"test_costs": {"a": True}}, "test_costs: 'a' costs True"),
        ({"class_weight": {"no": True}}, "class_weight: 'no' has True"),
        ({"priors": {"no": True, "yes": 0.5}}, "priors: 'no' has True"),
        ({"criterion": lambda table: HUGE}, "criterion='function:<lambda>' returned"),
    ],
)
def test_growing_refuses(settings, match):
    with pytest.raises(ParameterError, match=match):
        spinney.grow(ROWS, "y", **by_recipe(**{"recipe": "id3", **settings}))


@pytest.mark.parametrize("cost", [HUGE, -HUGE, True, np.True_, "5", None, np.inf, 1j])
def test_costs_are_refused_alike_in_both_forms(cost):
    mapping = {"no": {"yes": cost}, "yes": {"no": 1}}
    for costs in (mapping, [[0, cost], [1, 0]], np.array([[0, cost], [1, 0]], object)):
        with pytest.raises(ParameterError, match="cost_matrix"):
            spinney.grow(ROWS, "y", cost_matrix=costs)


def test_an_array_of_booleans_is_no_cost_matrix():
    with pytest.raises(ParameterError, match="more than numbers"):
        spinney.grow(ROWS, "y", cost_matrix=np.array([[False, True], [True, False]]))


def test_costs_that_add_up_to_infinity():
    costs = [[0, 1, 1], [1e308, 0, 1], [1e308, 1, 0]]
    with pytest.raises(ParameterError, match="where 'a' is true add up to infinity"):
        spinney.grow({"x": [1, 2, 3], "y": list("abc")}, "y", cost_matrix=costs)


@pytest.mark.parametrize(
    "said",
    [
        {"priors": {1: 0.5, 2: 0.5}},
        {"class_weight": "balanced"},
        {"cost_matrix": [[0, 1], [1, 0]]},
    ],
)
def test_numbers_have_no_classes(said):
    with pytest.raises(ParameterError, match=rf"{next(iter(said))}: .*'y' is a number"):
        spinney.grow(NUMBERS, "y", **by_recipe(recipe="cart", **said))


@pytest.mark.parametrize("name", ["n_buckets", "folds", "seed", "surrogates"])
def test_only_limits_may_be_none(name):
    with pytest.raises(ParameterError, match=f"{name}=None must be a whole number"):
        replace(RECIPES["id3"], **{name: None})


@pytest.mark.parametrize(
    "options, match",
    [
        ({"alpha": HUGE}, "alpha=1000.* must be a number"),
        ({"alpha": True}, "alpha=True"),
        ({"data": ROWS, "rule": ["x"]}, r"rule=\['x'\] is unknown"),
        (
            {"data": ROWS, "random_state": TOO_LARGE},
            "random_state=4294967296 .* to 4294967295",
        ),
        ({"data": ROWS, "random_state": True}, "random_state=True"),
        ({"data": ROWS, "folds": 1}, "folds=1"),
    ],
)
def test_pruning_refuses(model, options, match):
    with pytest.raises(ParameterError, match=match):
        model.prune("cost-complexity", **options)


@pytest.mark.parametrize("sizes", [5, None, "0.5", np.array(0.5)])
def test_sizes_are_a_list(sizes):
    with pytest.raises(ParameterError, match=r"sizes=.* must be a list, such as"):
        spinney.learning_curve(ROWS, "y", "id3", folds=2, sizes=sizes)


@pytest.mark.parametrize(
    ("name", "rates"),
    [
        *product(["noise", "missing_rate"], [0.5, None, "0.5"]),
        *product(["outliers"], [0.5, "0.5"]),  # None are the usual ones
    ],
)
def test_rates_are_a_list(name, rates):
    with pytest.raises(ParameterError, match=f"{name}=.* must be a list, such as"):
        spinney.robustness(ROWS, "y", "id3", folds=2, **{name: rates})


@pytest.mark.parametrize("measures", [3, "accuracy"])
def test_measures_are_a_list(evaluation, measures):
    with pytest.raises(ParameterError, match=r"measures=.* must be a list, such as"):
        evaluation.text(measures=measures)


def test_progress_is_a_function():
    with pytest.raises(ParameterError, match="progress=3 must be a function"):
        spinney.evaluate(ROWS, "y", "id3", folds=2, progress=3)


@pytest.mark.parametrize(
    "name, near", [("ignor", "'ignore'"), ("weights", "'weight' or 'class_weight'")]
)
def test_parameters_of_growing_are_suggested_too(name, near):
    said = f"there is no parameter '{name}': did you mean {near}"
    with pytest.raises(ParameterError, match=said):
        spinney.grow(ROWS, "y", **{name: "a"})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "weights, found",
    [
        ([1, 1, -2, 1, 1, 1, 1, 1], ": the weight of row 3 is -2$"),
        ([1] * 7 + [np.nan], ": the weight of row 8 is nan$"),
        ([1] * 7, ": there are 7$"),
        (np.ones(8, dtype=complex), "$"),
        (np.ones((8, 1)), "$"),
    ],
)
def test_weights_that_are_none_are_told(weights, found):
    said = f"sample_weight must be 8 numbers of at least 0{found}"
    tree = spinney.TreeClassifier("cart")
    with pytest.raises(DataError, match=said):
        tree.fit({"a": ROWS["a"]}, ROWS["y"], sample_weight=weights)


@pytest.mark.parametrize("weights", ["a", ["a"] * 8, [HUGE] * 8, {}, 1j])
def test_weights_of_rulesets_are_numbers(model, weights):
    with pytest.raises(DataError, match="sample_weight must be 8 numbers"):
        model.ruleset(ROWS, sample_weight=weights)


def test_rulesets_are_simplified_or_not(model):
    with pytest.raises(ParameterError, match="simplify='no' must be True or False"):
        model.ruleset(ROWS, simplify="no")


@pytest.mark.parametrize("path", [3, None, b"x", True])
def test_models_are_in_files(model, path):
    with pytest.raises(ParameterError, match="is not a path"):
        spinney.load(path)
    with pytest.raises(ParameterError, match="is not a path"):
        model.save(path)
