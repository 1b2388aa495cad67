"""Attributes made of others before growing: planted problems and their limits."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.helpers.recipes import by_recipe

import spinney
from spinney.data.formula import Clause, Conjunction, Difference, Ratio
from spinney.growth.plain.construct import fringe_formulas

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")


def made(model: Any) -> list[Any]:
    schema = model.tree.schema
    return [attribute.formula for attribute in schema.attributes[schema.n_columns :]]


def numbers(rule: Any, *, n_rows: int = 300, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    x, y, z = random.uniform(1, 10, (3, n_rows))
    answer = ["yes" if true else "no" for true in rule(x, y)]
    return {"x": x, "y": y, "z": z, "c": answer}


def bits(rule: Any) -> dict[str, Any]:
    """Return all rows of five bits, twice."""
    rows = list(product("01", repeat=5)) * 2
    table = {f"b{i}": [row[i] for row in rows] for i in range(5)}
    return {**table, "c": [rule(row) for row in rows]}


def monks_1() -> dict[str, Any]:
    """Return the whole domain of the first monks' problem: a1 = a2 or a5 = 1."""
    sizes = (3, 3, 2, 3, 4, 2)
    rows = list(product(*(range(1, size + 1) for size in sizes)))
    table = {f"a{i + 1}": [f"v{row[i]}" for row in rows] for i in range(6)}
    true = [row[0] == row[1] or row[4] == 1 for row in rows]
    return {**table, "c": ["yes" if answer else "no" for answer in true]}


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
@pytest.mark.parametrize(
    ("rule", "formula"),
    [
        (lambda x, y: x - y > 1.5, Difference(0, 1)),
        (lambda x, y: x / y > 1.4, Ratio(0, 1)),
    ],
)
def test_a_planted_formula_is_found(recipe, rule, formula):
    plain = spinney.grow(numbers(rule), "c", recipe=recipe)
    model = spinney.grow(numbers(rule), "c", **by_recipe(recipe=recipe, construct=3))
    assert made(model) == [formula]
    assert model.tree.n_leaves == 2 < plain.tree.n_leaves
    assert model.score(numbers(rule, seed=1)) > plain.score(numbers(rule, seed=1))


def test_a_number_by_a_ratio():
    data = numbers(lambda x, y: x / y > 1.4)
    data["c"] = [3.25 if answer == "yes" else 1.5 for answer in data["c"]]
    model = spinney.grow(data, "c", **by_recipe(recipe="cart", construct=2))
    assert made(model) == [Ratio(0, 1)]
    assert model.tree.n_leaves == 2


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
def test_parity_of_two_is_found_by_conjunctions(recipe):
    data = bits(lambda row: "odd" if row[1] != row[3] else "even")
    model = spinney.grow(data, "c", **by_recipe(recipe=recipe, construct=4))
    assert model.tree.n_leaves == 3
    assert {formula.attribute_indices for formula in made(model)} == {(1, 3)}
    assert model.score(data) == 1


def test_monks_1_by_conjunctions():
    plain = spinney.grow(monks_1(), "c", recipe="cart")
    model = spinney.grow(monks_1(), "c", **by_recipe(recipe="cart", construct=5))
    same = [Conjunction((Clause(0, (v,)), Clause(1, (v,)))) for v in range(3)]
    assert sorted(made(model), key=repr) == sorted(same, key=repr)
    assert model.tree.n_leaves == 5 < plain.tree.n_leaves
    assert model.score(monks_1()) == 1
    assert "(a1 = v2 and a2 = v2) = true" in str(model)


def test_three_clauses_in_two_rounds():
    data = bits(lambda row: "yes" if row[0] == row[2] == row[4] == "1" else "no")
    model = spinney.grow(data, "c", **by_recipe(recipe="id3", construct=2))
    assert any(len(formula.attribute_indices) == 3 for formula in made(model))
    assert model.tree.n_leaves == 2


def test_no_more_than_allowed_and_none_by_default():
    assert made(spinney.grow(monks_1(), "c", recipe="cart")) == []
    for most in (1, 2):
        model = spinney.grow(monks_1(), "c", **by_recipe(recipe="cart", construct=most))
        assert len(made(model)) == most


def test_nothing_is_made_where_nothing_helps():
    data = numbers(lambda x, y: x > 5)
    assert made(spinney.grow(data, "c", **by_recipe(construct=5, recipe="c4.5"))) == []
    random = np.random.default_rng(0)
    data["c"] = random.choice(["yes", "no"], len(data["x"]))
    assert (
        len(
            made(
                spinney.grow(
                    data, "c", **by_recipe(construct=5, max_depth=3, recipe="c4.5")
                )
            )
        )
        <= 1
    )


def test_only_what_the_tree_asks_about_is_kept():
    data = monks_1()
    model = spinney.grow(
        data, "c", **by_recipe(recipe="cart", construct=5, max_depth=2)
    )
    split_on = {n.candidate.attribute for n in model.tree if not n.is_leaf}
    schema = model.tree.schema
    assert set(range(schema.n_columns, len(schema.attributes))) <= split_on
    for node in model.tree:
        for candidate in node.candidates:
            assert candidate.attribute < len(schema.attributes)


def test_what_only_the_trial_trees_asked_about_is_gone():
    """Trial trees heed no least gain, the final one does: none of its nodes asks."""
    model = spinney.grow(
        monks_1(), "c", **by_recipe(recipe="cart", construct=5, min_gain=0.12)
    )
    assert model.tree.n_leaves == 2
    assert made(model) == []
    assert {found.attribute for found in model.tree.root.candidates} <= set(range(6))


def test_the_denominator_is_the_one_without_zeros():
    data = numbers(lambda x, y: x / y > 1.4)
    data["y"] = data["y"] - data["y"].min()  # 0 occurs
    (formula,) = made(spinney.grow(data, "c", **by_recipe(recipe="cart", construct=1)))
    assert formula in (Ratio(1, 0), Difference(0, 1))


def test_dates_are_subtracted_and_not_divided():
    random = np.random.default_rng(0)
    start = random.integers(0, 300, 200)
    days = random.integers(1, 60, 200)
    origin = np.datetime64("2020-01-01", "D")
    data = {
        "start": origin + start,
        "end": origin + start + days,
        "late": ["yes" if d > 30 else "no" for d in days],
    }
    model = spinney.grow(data, "late", **by_recipe(recipe="cart", construct=2))
    assert made(model) == [Difference(0, 1)]
    assert "start − end ≤ -30.5" in str(model)
    assert model.score(data) == 1


def test_missing_inputs_and_files(tmp_path):
    data = numbers(lambda x, y: x / y > 1.4)
    data["x"] = [None if place % 10 == 0 else x for place, x in enumerate(data["x"])]
    model = spinney.grow(
        data, "c", **by_recipe(construct=2, max_depth=1, recipe="c4.5")
    )
    assert made(model) == [Ratio(0, 1)]
    model.save(tmp_path / "m")
    later = {"y": [2.0, 0.0, None], "x": [4.0, 4.0, 4.0]}
    shares = spinney.load(tmp_path / "m").predict_proba(later)
    np.testing.assert_array_equal(shares, model.predict_proba(later))
    assert shares[0, 1] > 0.9
    np.testing.assert_array_equal(shares[1], shares[2])  # x / 0 is missing too


def test_values_not_seen_are_told_by_their_column():
    model = spinney.grow(monks_1(), "c", **by_recipe(recipe="cart", construct=5))
    table = model.read({**{f"a{i}": ["v1"] for i in range(1, 7)}, "a2": ["v9"]})
    assert model.unseen(table) == {"a2": ["v9"]}
    step = model.explain(row={**{f"a{i}": ["v2"] for i in range(1, 7)}}).steps[1]
    assert step.value is True
    assert step.seen


def test_fringe_takes_the_last_two_tests():
    data = bits(lambda row: "odd" if row[1] != row[3] else "even")
    tree = spinney.grow(
        data, "c", recipe="id3", forced_splits={(): "b1"}, max_depth=2
    ).tree
    for formula in fringe_formulas(tree):
        assert 1 in formula.attribute_indices
        assert len(formula.attribute_indices) == 2
    assert (
        fringe_formulas(spinney.grow(data, "c", recipe="id3", max_depth=1).tree) == []
    )


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart", "chaid"])
def test_every_recipe_constructs(recipe):
    data = numbers(lambda x, y: x - y > 1.5)
    model = spinney.grow(data, "c", **by_recipe(recipe=recipe, construct=2))
    assert Difference(0, 1) in made(model)


@pytest.mark.filterwarnings("error")
def test_rule_sets_have_the_columns_behind_their_formulas():
    model = spinney.grow(monks_1(), "c", **by_recipe(recipe="cart", construct=5))
    rules = model.ruleset(monks_1())
    assert rules.schema.names[:3] == ("a1", "a2", "a5")
    assert (rules.predict(monks_1()) == model.predict(monks_1())).all()
    again = spinney.RuleSet.from_json(rules.to_json())
    assert again.schema == rules.schema
    assert [r.conditions for r in again.rules] == [r.conditions for r in rules.rules]
    assert str(again) == str(rules)
