"""Faults 1 to 9: numbers, thresholds, gains and ties."""

from decimal import Decimal
from math import nextafter

import duckdb
import numpy as np
import pandas as pd
import pytest
from tests.faults.fault_rows import AB, answers, grown, root_gains

import spinney
from spinney import DataError, SpinneyWarning, TreeRegressor

RECIPES = ["id3", "c4.5", "cart"]
FEW = {"id3": {}, "c4.5": {"min_samples_leaf": 1}, "cart": {}}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("low", [1.0, -1.0, 0.0, 1e-323, 1.5e-323, 1e300, 0.1])
def test_fault_01_adjacent_floats(recipe, low):
    high = nextafter(low, 2e300)
    rows = {"x": [low, low, high, high], "y": AB}
    model = grown(rows, recipe, **FEW[recipe])
    assert [node.n_rows for node in model.tree] == [4, 2, 2]
    assert answers(model, rows) == AB
    assert low <= model.tree.root.candidate.split.threshold < high


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize(
    "low, high", [(-1.7e308, 1.7e308), (1.6e308, 1.7e308), (-1.79e308, -1e-320)]
)
def test_fault_02_midpoints_near_the_largest_float(recipe, low, high):
    rows = {"x": [low, low, high, high], "y": AB}
    model = grown(rows, recipe, **FEW[recipe])
    assert [node.n_rows for node in model.tree] == [4, 2, 2]
    assert np.isfinite(model.tree.root.candidate.split.threshold)
    assert answers(model, rows) == AB


@pytest.mark.parametrize("low", [20180130, 2**24, 2**31 - 1, 2**53 - 1, -(2**53)])
@pytest.mark.parametrize("kind", [list, np.int64, "array"])
def test_fault_03_large_integers_do_not_collapse(low, kind):
    cells = [low, low, low + 1, low + 1]
    rows = {"x": cells if kind is list else np.array(cells, np.int64), "y": AB}
    assert answers(grown(rows), rows) == AB


def test_fault_03_what_floats_cannot_tell_apart_is_said():
    with pytest.warns(SpinneyWarning, match=r"2\*\*53"):
        spinney.read_table({"x": [2**53 + 1, 1]})


def test_fault_04_a_value_that_equals_the_threshold():
    rows = {"x": [1.0, 1.0, 2.0, 2.0], "y": AB}
    model, above = grown(rows), nextafter(1.5, 2)
    asked = {"x": [1.5, above, nextafter(1.5, 1)]}
    assert "x ≤ 1.5" in str(model)
    assert answers(model, asked) == ["a", "b", "a"]
    predictor = model.predictor()
    assert [predictor({"x": x}) for x in asked["x"]] == ["a", "b", "a"]
    names = {}
    exec(model.export("python"), names)
    assert [names["predict"]({"x": x}) for x in asked["x"]] == ["a", "b", "a"]
    statement = model.export("sql", table="asked")
    database = duckdb.connect()
    database.register("asked", pd.DataFrame(asked))
    assert list(database.sql(statement).df()["predicted y"]) == ["a", "b", "a"]
    # Rows that lie on it when a tree is grown go where the cut says.
    grown_on = {"x": [1.5, above] * 2, "y": ["a", "b"] * 2}
    assert answers(grown(grown_on), grown_on) == ["a", "b"] * 2
    assert str(grown(duckdb.from_df(pd.DataFrame(rows)))) == str(model)


@pytest.mark.parametrize("odd", [np.inf, -np.inf])
@pytest.mark.parametrize("recipe", RECIPES)
def test_fault_05_infinity_is_refused_by_column(odd, recipe):
    with pytest.raises(DataError, match=r"'x' holds -?inf"):
        grown({"x": [1.0, odd, 2.0, 3.0], "y": AB}, recipe)
    with pytest.raises(DataError, match=r"'x' holds -?inf"):
        grown({"x": [1.0, 2.0, 3.0, 4.0], "y": AB}).predict({"x": [odd]})


def test_fault_05_both_zeros_are_one_value():
    model = grown({"x": [-0.0, 0.0, 1.0, 1.0], "y": AB})
    assert answers(model, {"x": [0.0, -0.0]}) == ["a", "a"]
    one = grown({"x": [-0.0, 0.0, -0.0, 0.0], "y": AB})
    assert one.tree.n_leaves == 1


@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
@pytest.mark.parametrize(
    "cells",
    [
        np.array([1, 1, 2, 2], np.float16),
        np.array([1, 1, 2, 2], np.longdouble),
        np.array([1, 1, 2**64 - 1, 2**64 - 1], np.uint64),
        [Decimal(1), Decimal(1), Decimal(2), Decimal(2)],
    ],
    ids=["float16", "longdouble", "uint64", "Decimal"],
)
def test_fault_05_numbers_of_odd_types(cells):
    assert answers(grown({"x": cells, "y": AB}), {"x": cells}) == AB


@pytest.mark.parametrize("recipe", ["cart", "m5"])
@pytest.mark.parametrize(
    "scale, shift", [(1e-9, 0.0), (1e-130, 0.0), (1e100, 0.0), (1.0, 1e9)]
)
def test_fault_06_the_scale_of_a_numeric_target(recipe, scale, shift):
    x = [float(i) for i in range(40)]
    y = [0.5 if i < 20 else 1.25 for i in range(40)]
    options = {"min_samples_leaf": 2, "numeric": ["y"]}
    plain = grown({"x": x, "y": y}, recipe, **options)
    target = [shift + scale * each for each in y]
    model = grown({"x": x, "y": target}, recipe, **options)
    assert model.tree.n_leaves == plain.tree.n_leaves
    told = np.array(answers(model, {"x": x}))
    if recipe == "cart":
        assert plain.tree.n_leaves == 2
        assert told == pytest.approx(target, rel=1e-15)


def test_fault_06_means_stay_in_the_range_of_the_target():
    random = np.random.default_rng(0)
    y = 1e8 + random.random(500)
    model = TreeRegressor("cart", min_samples_leaf=7).fit(random.random((500, 2)), y)
    told = model.predict(random.random((200, 2)))
    assert y.min() <= told.min() <= told.max() <= y.max()


@pytest.mark.parametrize(
    "unit, words", [(1e300, "whose square is beyond"), (1e-150, "do not tell from 0")]
)
def test_fault_06_squares_that_are_no_floats_are_refused(unit, words):
    rows = {"x": [1.0, 2.0, 3.0, 4.0], "y": [unit, 2 * unit, 3 * unit, 4 * unit]}
    with pytest.raises(DataError, match=words):
        grown(rows, "cart", numeric=["y"])


XOR = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "y": ["n", "y", "y", "n"] * 5}


@pytest.mark.parametrize("recipe", RECIPES)
def test_fault_07_no_gain_anywhere_ends(recipe):
    # ID3 goes on at no gain and finds xor; C4.5 and rpart stop, as theirs do.
    model = grown(XOR, recipe)
    assert root_gains(model) == pytest.approx({"a": 0, "b": 0}, abs=1e-12)
    assert model.tree.n_leaves == {"id3": 4, "c4.5": 1, "cart": 4}[recipe]


def test_fault_07_a_pure_branch_beside_a_mixed_one():
    rows = {"a": ["u", "u", "v", "v"], "b": [1, 1, 1, 1], "y": ["p", "p", "p", "q"]}
    model = grown(rows)
    assert [leaf.weights.tolist() for leaf in model.tree if leaf.is_leaf] == [
        [2, 0],
        [1, 1],
    ]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart", "chaid"])
def test_fault_08_tables_with_nothing_in_them(recipe):
    rows = {
        "same": ["c"] * 40,
        "few": ["c"] * 39 + ["d"],
        "many": [f"v{i // 2}" for i in range(40)],
        "y": ["a", "b"] * 20,
    }
    model = grown(rows, recipe, values={"few": ["c", "d", "never"]})
    for candidate in model.tree.root.candidates:
        assert np.isfinite([candidate.gain, candidate.merit]).all()
        assert candidate.p_value is None or 0 <= candidate.p_value <= 1


@pytest.mark.filterwarnings("error::RuntimeWarning", "ignore::spinney.SpinneyWarning")
def test_fault_08_a_p_value_below_all_floats():
    rows = {"x": ["u", "v"] * 3000, "z": ["u", "v", "w"] * 2000, "y": ["a", "b"] * 3000}
    model = grown(rows, "chaid")
    assert model.tree.n_leaves == 2
    assert model.tree.root.candidate.p_value == 0.0
    assert "x" in str(model)
    # Of two tables that both underflow the stronger is still the better one.
    rows["weaker"] = ["v", *rows["x"][1:]]
    stronger = {"weaker": rows.pop("weaker"), **rows}
    assert "weaker" not in str(grown(stronger, "chaid")).splitlines()[1]


@pytest.mark.parametrize("recipe", RECIPES)
def test_fault_09_ties_within_rounding_go_to_the_first_column(recipe):
    x = [0.1 * i for i in range(20)]
    y = ["a"] * 7 + ["b"] * 13
    for names in (("p", "q"), ("q", "p")):
        rows = {names[0]: x, names[1]: [3 * each + 1e-9 for each in x], "y": y}
        assert str(grown(rows, recipe)).splitlines()[1].split()[1] == names[0]
