"""Linear combinations in trees: where they win, what they say, what they cost."""

import re
from typing import Any

import numpy as np
import pytest
from tests.helpers.recipes import by_recipe

import spinney
from spinney.data.formula import Linear
from spinney.errors import ParameterError
from spinney.recipes import RECIPES
from spinney.search.oblique.combinations import bits_saved, without_unused_formulas
from spinney.trees import Candidate
from spinney.trees.counts import CountTable
from spinney.trees.split import Groups, Threshold

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")


def diagonal(n_rows: int = 200, *, seed: int = 0) -> dict[str, Any]:
    """Return a table whose class is on which side of x + y = 10 a row lies."""
    random = np.random.default_rng(seed)
    x, y, z = random.uniform(0, 10, (3, n_rows))
    gap = np.abs(x + y - 10) > 0.8
    above = x + y > 10
    return {
        "x": x[gap].tolist(),
        "y": y[gap].tolist(),
        "z": z[gap].tolist(),
        "side": np.where(above, "above", "below")[gap].tolist(),
    }


def formulas(model: Any) -> list[Any]:
    schema = model.tree.schema
    return [attribute.formula for attribute in schema.attributes[schema.n_columns :]]


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
@pytest.mark.parametrize("terms", [2, 3])
def test_a_diagonal_is_one_question(recipe, terms):
    plain = spinney.grow(diagonal(), "side", recipe=recipe)
    model = spinney.grow(diagonal(), "side", recipe=recipe, linear_terms=terms)
    assert model.tree.n_leaves <= 3 < 6 <= plain.tree.n_leaves
    first = formulas(model)[0]
    assert first.attribute_indices == (0, 1)
    assert first.coefficients[1] / first.coefficients[0] == pytest.approx(1, abs=0.15)
    assert model.score(diagonal(seed=1)) > 0.97 > plain.score(diagonal(seed=1))


def test_a_number_by_a_sum():
    table = diagonal()
    numbers = [3 * x - 2 * y for x, y in zip(table["x"], table["y"], strict=True)]
    data = {"x": table["x"], "y": table["y"], "z": table["z"], "t": numbers}
    model = spinney.grow(data, "t", recipe="cart", linear_terms=3, max_depth=1)
    (formula,) = formulas(model)
    assert formula.attribute_indices == (0, 1)
    assert formula.coefficients == (1.0, pytest.approx(-2 / 3, abs=1e-3))
    best = spinney.grow(data, "t", recipe="cart", max_depth=1).tree.root.candidate.gain
    assert model.tree.root.candidate.gain > 1.25 * best


def test_one_attribute_is_enough_where_it_says_all():
    table = diagonal()
    table["side"] = ["above" if x > 5 else "below" for x in table["x"]]
    model = spinney.grow(table, "side", linear_terms=3, recipe="c4.5")
    assert formulas(model) == []
    assert model.tree.n_leaves == 2


def test_off_by_default_and_one_term_is_refused():
    with pytest.raises(ParameterError, match=r"linear_terms=1 .* take 2 or more"):
        spinney.grow(diagonal(), "side", linear_terms=1, recipe="c4.5")
    for terms in (None, 0):
        assert (
            formulas(
                spinney.grow(diagonal(), "side", linear_terms=terms, recipe="c4.5")
            )
            == []
        )


def test_a_penalty_that_nothing_pays():
    model = spinney.grow(
        diagonal(),
        "side",
        **by_recipe(linear_terms=2, linear_penalty=50.0, recipe="c4.5"),
    )
    assert formulas(model) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"recipe": "id3"},
        {"recipe": "c4.5", "mdl_correction": False, "pruning": "none"},
        {"recipe": "cart", "pruning": "none"},
        {"recipe": "cart", "pruning": "none", "numeric": ["y"]},
    ],
)
def test_noise_is_not_combined(settings):
    """Targets by chance, and trees deep enough to have some fifty nodes that ask.

    Without the gate of bits four nodes in ten would ask about a combination.
    """
    n_combined, n_asked = 0, 0
    for seed in range(5):
        random = np.random.default_rng(seed)
        data = {f"x{i}": random.normal(size=200) for i in range(6)}
        data["y"] = random.choice(["a", "b"], 200)
        if "numeric" in settings:
            data["y"] = random.normal(size=200)
        tree = spinney.grow(
            data, "y", **by_recipe(linear_terms=3, max_depth=6, **settings)
        ).tree
        for node in tree:
            if not node.is_leaf and node.n_rows >= 20:  # fewer are never combined
                n_asked += 1
                n_combined += node.candidate.attribute >= tree.schema.n_columns
    assert n_asked >= 50
    assert n_combined <= 0.05 * n_asked


def test_one_numeric_attribute_has_nothing_to_combine_with():
    table = {name: diagonal()[name] for name in ("x", "side")}
    plain = spinney.grow(table, "side", recipe="c4.5")
    assert str(spinney.grow(table, "side", linear_terms=3, recipe="c4.5")) == str(plain)


def test_constant_and_collinear_columns():
    table = diagonal()
    table["one"] = [1.0] * len(table["x"])
    table["twice"] = [2 * x for x in table["x"]]
    model = spinney.grow(table, "side", linear_terms=4, recipe="c4.5")
    assert model.tree.n_leaves <= 3
    for formula in formulas(model):
        assert 3 not in formula.attribute_indices


def test_dates_and_nominal_values_are_not_combined():
    table = diagonal()
    days = [f"2020-01-{1 + place % 28:02d}" for place in range(len(table["x"]))]
    table["y"] = days
    table["z"] = ["n" if z > 5 else "m" for z in table["z"]]
    assert formulas(spinney.grow(table, "side", linear_terms=3, recipe="c4.5")) == []


def test_few_rows_are_not_combined():
    table = {name: cells[:19] for name, cells in diagonal().items()}
    assert formulas(spinney.grow(table, "side", linear_terms=2, recipe="c4.5")) == []


@pytest.mark.parametrize(
    "missing", ["fractional", "most-common", "own-category", "branch"]
)
def test_a_missing_term_makes_the_sum_missing(missing):
    table = diagonal()
    for place in range(0, len(table["x"]), 7):
        table["x"][place] = None
    model = spinney.grow(
        table,
        "side",
        linear_terms=2,
        missing_policy=missing,
        max_depth=2,
        recipe="c4.5",
    )
    node = model.tree.root
    assert model.tree.schema.attributes[
        node.candidate.attribute
    ].formula.attribute_indices == (
        0,
        1,
    )
    absent = node.candidate.table.missing_rows.sum()
    assert absent == sum(cell is None for cell in table["x"])
    odd = model.predict_proba({"x": [None], "y": [3.0], "z": [1.0]})
    split = node.split
    if split.missing is None:
        row = model.explain(row={"x": [None], "y": [3.0], "z": [1.0]})
        assert len([step for step in row.steps if step.depth == 1]) == 2
        assert row.steps[0].value is None
    assert odd.sum() == pytest.approx(1)


def test_a_column_that_is_mostly_missing_is_not_combined():
    table = diagonal()
    table["x"] = [x if place % 3 == 0 else None for place, x in enumerate(table["x"])]
    for formula in formulas(spinney.grow(table, "side", linear_terms=3, recipe="c4.5")):
        assert 0 not in formula.attribute_indices


def test_predictions_are_what_the_printed_formulas_say():
    """Walk the text of the tree by hand, with Python's own arithmetic."""
    model = spinney.grow(diagonal(), "side", linear_terms=3, recipe="id3")
    assert formulas(model)
    later = diagonal(seed=5)
    predicted = model.predict(later)
    for place in range(len(later["x"])):
        row = {name: later[name][place] for name in "xyz"}
        node = model.tree.root
        while not node.is_leaf:
            texts = [
                model.tree.condition(child, ascii_only=True)
                for child in model.tree.children(node)
            ]
            assert all(re.fullmatch(r"[xyz0-9.e*<>=+ -]+", text) for text in texts)
            true = [bool(eval(text, {}, row)) for text in texts]
            assert sum(true) == 1
            node = model.tree.children(node)[true.index(True)]
        assert predicted[place] == model.tree.label(node)


def test_rules_and_explanations_show_the_formula():
    model = spinney.grow(diagonal(), "side", linear_terms=2, recipe="id3")
    name = model.tree.schema.attributes[3].name
    assert name in str(model.rules())
    assert f"splitting attribute: {name}: the greatest information gain" in str(
        model.explain(0)
    )
    later = {"x": [1.0], "y": [2.0], "z": [0.0]}
    step = model.explain(row=later).steps[0]
    assert step.value == model.tree.schema.attributes[3].formula.cells(
        [np.array([1.0]), np.array([2.0])]
    )


def test_questions_cost_what_the_columns_behind_them_cost():
    costs = {"x": 2.0, "y": 3.0, "z": 7.0}
    model = spinney.grow(
        diagonal(), "side", linear_terms=2, test_costs=costs, max_depth=1, recipe="c4.5"
    )
    assert formulas(model)[0].attribute_indices == (0, 1)
    assert model.test_costs_of(diagonal()).tolist()[:2] == [5.0, 5.0]


def test_a_dear_column_is_not_combined():
    model = spinney.grow(
        diagonal(),
        "side",
        linear_terms=2,
        test_costs={"y": 1000.0},
        max_depth=1,
        recipe="c4.5",
    )
    assert formulas(model) == []


def test_importances_are_those_of_columns():
    table = diagonal()
    rows = np.column_stack([table[name] for name in "xyz"])
    model = spinney.TreeClassifier("c4.5", linear_terms=2, max_depth=1).fit(
        rows, table["side"]
    )
    assert model.feature_importances_.tolist() == [0.5, 0.5, 0.0]
    assert model.tree.importances.tolist() == [0.0, 0.0, 0.0, 1.0]
    assert (model.predict(rows) == table["side"]).mean() > 0.95


def test_class_weights_and_costs_move_the_split():
    table = diagonal()
    table["side"][::9] = ["below"] * len(table["side"][::9])
    plain = spinney.grow(table, "side", linear_terms=2, max_depth=1, recipe="c4.5")
    for said in (
        {"class_weight": {"above": 20}},
        {"cost_matrix": {"above": {"below": 1}, "below": {"above": 20}}},
    ):
        model = spinney.grow(
            table, "side", linear_terms=2, max_depth=1, **said, recipe="c4.5"
        )
        assert formulas(model) != formulas(plain)


def test_limits_hold_for_combinations():
    for limits in ({"max_leaves": 2}, {"min_samples_leaf": 60}, {"min_gain": 0.9}):
        model = spinney.grow(
            diagonal(), "side", linear_terms=2, **limits, recipe="c4.5"
        )
        used = {n.candidate.attribute for n in model.tree if not n.is_leaf}
        made = set(
            range(model.tree.schema.n_columns, len(model.tree.schema.attributes))
        )
        assert made <= used
        for node in model.tree:
            if not node.is_leaf and "min_samples_leaf" in limits:
                assert min(c.weight for c in model.tree.children(node)) >= 60


def test_a_forced_node_is_not_combined():
    model = spinney.grow(
        diagonal(),
        "side",
        linear_terms=2,
        forced_splits={(): "z"},
        max_depth=1,
        recipe="c4.5",
    )
    assert model.tree.root.candidate.attribute == 2
    assert formulas(model) == []


@pytest.mark.parametrize("buckets", ["equal-frequency", "entropy-mdl"])
def test_buckets_of_a_combination_are_made_at_the_node(buckets):
    model = spinney.grow(
        diagonal(), "side", linear_terms=2, buckets=buckets, recipe="cart"
    )
    assert formulas(model)
    assert model.score(diagonal(seed=1)) > 0.9


def test_pruning_and_reading_by_name():
    model = spinney.grow(diagonal(), "side", linear_terms=2, recipe="id3")
    pruned = model.prune(validation=diagonal(seed=3))
    assert pruned.score(diagonal(seed=4)) > 0.95
    turned = {name: diagonal()[name] for name in ("side", "z", "y", "x")}
    assert (model.predict(turned) == model.predict(diagonal())).all()
    with pytest.raises(spinney.SpinneyError, match="'y'"):
        model.predict({"x": [1.0], "z": [1.0]})


@pytest.mark.parametrize(
    "settings",
    [
        {"linear_terms": -1},
        {"linear_terms": 1.5},
        {"linear_terms": True},
        {"linear_penalty": -0.1},
        {"linear_penalty": float("nan")},
        {"construct": -1},
        {"construct": "3"},
    ],
)
def test_settings_that_mean_nothing(settings):
    (name,) = settings
    with pytest.raises(ParameterError, match=name):
        RECIPES["id3"].changed(**settings)


def test_bits_by_hand():
    """4 rows of two classes, told apart: 4 bits. 3 of each against 1: 8 − 6 H(1/4)."""
    split = Groups(0, ((0,), (1,)), (0.5, 0.5))
    pure = Candidate(split, CountTable.of([[2, 0], [0, 2]]), 0, 0)
    assert bits_saved(pure) == pytest.approx(4)
    mixed = Candidate(split, CountTable.of([[3, 1], [1, 3]]), 0, 0)
    entropy = -(0.25 * np.log2(0.25) + 0.75 * np.log2(0.75))
    assert bits_saved(mixed) == pytest.approx(8 - 8 * entropy)
    # Numbers 0, 2 | 4, 6: squares 20 before, 4 after; 4/2 log₂ 5 bits.
    table = CountTable.of_moments([[2, 2, 4], [2, 10, 52]])
    cut = Candidate(Threshold(0, 0.5, (0.5, 0.5)), table, 0, 0)
    assert bits_saved(cut) == pytest.approx(2 * np.log2(5))


def test_a_formula_stands_in_the_schema_once():
    """Either side of w holds the same rows, so both find the same combination."""
    table = diagonal()
    twice = {name: cells * 2 for name, cells in table.items()}
    n_rows = len(table["x"])
    twice["w"] = ["left"] * n_rows + ["right"] * n_rows
    model = spinney.grow(
        twice, "side", recipe="cart", linear_terms=2, forced_splits={(): "w"}
    )
    below = [n.candidate.attribute for n in model.tree if n.depth == 1]
    assert below[0] == below[1] >= model.tree.schema.n_columns
    names = model.tree.schema.names
    assert not any(name.startswith("(") for name in names)


def test_unused_formulas_are_dropped_with_their_candidates():
    model = spinney.grow(diagonal(), "side", linear_terms=2, recipe="id3")
    tree = model.tree
    assert without_unused_formulas(tree) is tree
    spare = tree.schema.constructed(Linear((1, 2), (1.0, 3.0)))
    wider = type(tree)(tree.schema.extended([spare]), tree.nodes)
    assert without_unused_formulas(wider).schema == tree.schema
    assert [n.split for n in without_unused_formulas(wider)] == [n.split for n in tree]
