"""Explanations: every figure recomputed by plain loops, and the words around them."""

import json
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.models import FINGERPRINT, chain_model, mixed_model, textbook_model
from tests.helpers.strategies import cells_of, recipes, tables
from tests.twins import naive
from tests.twins.naive_criteria import (
    GAINS,
    IMPURITIES,
    MERITS,
    gain_ratio,
    split_information,
)

import spinney
from spinney._support.text import weight_text
from spinney.data.schema import Attribute, Schema, Target
from spinney.errors import ParameterError
from spinney.growth.growth_options import Options
from spinney.growth.model import Model
from spinney.growth.plain.learner import grow_tree
from spinney.output.explain import NodeExplanation, explain_node, explain_row
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource
from spinney.trees import Candidate
from spinney.trees.split import Groups

# The twin adds in another order.
ROUNDING = 1e-9


def close(expected: object) -> object:
    if expected is None:
        return None
    return pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)


def counts_by_branch(candidate: Candidate) -> tuple[list[list[float]], float]:
    """Return the weights by branch, by plain loops, and the weight left out."""
    table, way = candidate.table, naive.way_of(candidate.split)
    branches = [[0.0] * len(table.missing) for _ in range(way.n_branches)]
    for value, weights in zip(table.values, table.weights, strict=True):
        branch = way.branch_of(value)
        for label, weight in enumerate(weights):
            branches[branch][label] += weight
    if way.missing is None:
        return branches, float(sum(table.missing))
    for label, weight in enumerate(table.missing):
        branches[way.missing][label] += weight
    return branches, 0.0


@given(tables(), recipes())
@settings(max_examples=examples(80))
def test_the_figures_of_every_node_are_those_that_decided(table, recipe):
    tree = grow_tree(table.source, recipe)
    impurity = IMPURITIES[recipe.criterion]
    gain_of, merit_of = GAINS[recipe.criterion], MERITS[recipe.criterion]
    for node in tree:
        told = explain_node(Model(tree, recipe, FINGERPRINT), node.number)
        assert told.weights == close(tuple(node.weights))
        if node.n_rows:
            assert told.impurity == close(impurity(node.weights.tolist()))
        for lines, stored in zip(told.candidates, node.candidates, strict=True):
            branches, absent = counts_by_branch(stored)
            assert [line.weights for line in lines.branches] == [
                close(tuple(weights)) for weights in branches
            ]
            assert [line.impurity for line in lines.branches] == [
                close(impurity(weights)) for weights in branches
            ]
            assert lines.gain - lines.correction == close(stored.gain)
            assert lines.gain == close(gain_of(branches, absent))
            assert lines.gain_ratio == close(gain_ratio(branches, absent))
            assert lines.merit == close(stored.merit)
            merit = merit_of(branches, absent)
            if lines.correction:
                merit = stored.gain
            if lines.correction and recipe.criterion == "gain_ratio":
                merit /= split_information(branches, absent)
            assert lines.merit == close(merit)
        check_choice(told, node.chosen)
        check_text(told)


def check_choice(told: NodeExplanation, chosen: int | None) -> None:
    if chosen is None:
        assert told.chosen is None
        assert told.why.startswith("leaf: ")
        return
    winner = told.candidates[chosen]
    assert told.chosen == winner.attribute
    assert winner.competes
    able = [lines.merit for lines in told.candidates if lines.competes]
    assert winner.merit == close(max(able))
    if told.average_gain is not None:
        for lines in told.candidates:
            gain = lines.gain - lines.correction
            # Thresholds whose gain went on the correction do not compete either.
            paid = not lines.correction or gain > told.min_gain
            average = told.average_gain - 1e-3 - 1e-12
            assert lines.competes == (gain >= average and paid)


def check_text(told: NodeExplanation) -> None:
    """Check that every count is in the text, in the line of its branch."""
    lines = [line.strip() for line in str(told).splitlines()]
    figures = [line.split() for line in lines]
    whole = [*map(weight_text, told.weights), weight_text(told.weight)]
    assert figures[3][1 : 1 + len(whole)] == whole
    for candidate in told.candidates:
        for branch in candidate.branches:
            counts = [*map(weight_text, branch.weights), weight_text(branch.weight)]
            ending = counts
            if branch.impurity is not None:
                ending = [*counts, f"{branch.impurity:.3f}"]
            assert any(
                line.startswith(branch.text) and words[-len(ending) :] == ending
                for line, words in zip(lines, figures, strict=True)
            )
        if candidate.decreases:
            assert any(
                line.startswith("gain = ") and line.endswith(f"= {candidate.gain:.3f}")
                for line in lines
            )
        else:
            assert set(candidate.working) <= set(lines)
        if candidate.working:
            assert candidate.working[-1].endswith(f" = {candidate.merit:.3f}")
    assert (
        told.why if told.chosen is None else f"splitting attribute: {told.why}" in lines
    )
    for surrogate in told.surrogates:
        ending = [f"{surrogate.agreement:.3f}", f"{surrogate.adjusted:.3f}"]
        assert ending in [words[-2:] for words in figures]


@given(st.data(), tables(), recipes())
@settings(max_examples=examples(60))
def test_the_path_of_a_row_is_the_naive_one(data, table, recipe):
    tree = grow_tree(table.source, recipe)
    cells = [
        data.draw(st.none() | cells_of(attribute))
        for attribute in table.schema.attributes
    ]
    columns = [
        np.array([np.nan if cell is None else cell])
        if attribute.kind == "numeric"
        else np.array([-1 if cell is None else cell])
        for cell, attribute in zip(cells, table.schema.attributes, strict=True)
    ]
    row = {
        attribute.name: cell
        for attribute, cell in zip(table.schema.attributes, cells, strict=True)
    }
    told = explain_row(Model(tree, recipe, FINGERPRINT), columns, row)
    reached = naive.route(tree, cells)
    found = {step.node: step.weight for step in told.steps}
    assert found == close({n: part for n, part in reached.items() if part > 0})
    mixed = sum(reached[leaf.number] * leaf.distribution for leaf in tree.leaves)
    assert told.probabilities == close(tuple(mixed))
    for step in told.steps:
        node = tree.nodes[step.node]
        assert step.leaf == node.is_leaf
        if node.split is not None:
            cell = cells[node.split.attribute]
            assert (step.value is None) == (cell is None)
    text = str(told).splitlines()
    assert len(text) == len(told.steps) + 2
    assert text[-1].startswith(f"class = {told.label}  (")
    assert json.loads(json.dumps(told.as_dict()))["label"] == told.label


def test_a_value_that_was_not_seen_is_told_from_a_missing_one():
    melons = {"colour": ["red", "green", "red", "green"], "ripe": ["y", "n", "y", "n"]}
    model = spinney.grow(melons, "ripe", recipe="id3")
    text = str(model.explain(row={"colour": ["blue"]}))
    assert "(colour = blue was not seen at this node: as if missing)" in text
    assert "(colour is missing)" in str(model.explain(row={"colour": [None]}))
    told = model.explain(row={"colour": ["red"]})
    assert [(step.value, step.seen) for step in told.steps] == [
        ("red", True),
        (None, True),
    ]


# Words


@pytest.fixture(scope="module")
def melons() -> Model:
    return textbook_model("watermelon_2.0", RECIPES["id3"])


def test_ties_are_told(melons):
    clear = next(
        n for n in melons.tree if melons.tree.condition(n) == "texture = clear"
    )
    assert explain_node(melons, clear.number).why == (
        "root: the greatest information gain, 0.458; tied with umbilicus, surface; "
        "ties are broken by tie_break_order, then by column order"
    )


def test_one_tie_ties():
    schema = Schema(
        tuple(Attribute(name, "numeric") for name in "ab"), Target("y", ("n", "p"))
    )
    numbers = np.array([1.0, 2.0])
    source = MemorySource(schema, [numbers, numbers], classes=np.arange(2))
    tree = grow_tree(source, RECIPES["id3"])
    assert (
        "; tied with b;"
        in explain_node(Model(tree, RECIPES["id3"], FINGERPRINT), 0).why
    )


def test_a_forced_split_is_told(melons):
    schema = melons.schema
    random = np.random.default_rng(1)
    columns = [random.integers(0, len(a.values), 30) for a in schema.attributes]
    source = MemorySource(schema, columns, classes=random.integers(0, 2, 30))
    tree = grow_tree(source, RECIPES["id3"], Options(forced={(): 3}))
    told = explain_node(Model(tree, RECIPES["id3"], FINGERPRINT), 0)
    assert told.why == (
        "texture: forced by the user; without it, "
        "surface = hard (information gain 0.218)"
    )


def test_a_leaf_says_why(melons):
    reasons = {explain_node(melons, leaf.number).why for leaf in melons.tree.leaves}
    assert reasons == {
        "leaf: pure",
        "leaf: no training row came here: the parent's classes",
    }


def test_c45_says_who_may_compete():
    model = textbook_model(
        "watermelon_2.0", RECIPES["c4.5"].changed(min_samples_leaf=1)
    )
    text = str(explain_node(model, 0))
    assert (
        "average gain of 6 attributes: 0.178; at least that: texture, umbilicus" in text
    )
    assert "  below average gain 0.178: not considered" in text
    assert (
        "splitting attribute: texture: the greatest gain ratio among those of at least "
        in text
    )


def test_the_least_gain_is_told():
    recipe = RECIPES["id3"].changed(min_gain=0.2)
    text = str(explain_node(textbook_model("watermelon_2.0", recipe), 0))
    assert text.count("below minimum gain 0.2: not considered") == 4


def test_missing_rows_are_told():
    model = textbook_model("watermelon_2.0a", RECIPES["id3"])
    text = str(explain_node(model, 0))
    assert "  missing: to all branches, in proportion" in text
    assert "gain = 0.882 × (" in text  # 15 of 17 textures are known
    by_branch = explain_node(mixed_model("branch"), 0).candidates[0]
    assert by_branch.missing_goes_to.endswith(" or missing")
    assert by_branch.known_share == 1


def test_an_inexact_subset_is_told():
    values = tuple(f"v{code:02}" for code in range(14))
    schema = Schema((Attribute("a", "nominal", values),), Target("y", ("p", "q", "r")))
    random = np.random.default_rng(2)
    source = MemorySource(
        schema,
        [np.tile(np.arange(14), 5)],
        classes=random.integers(0, 3, 70),
    )
    # Of a criterion that is no decrease of a concave impurity nothing bounds a subset.
    recipe = RECIPES["cart"].changed(max_depth=1, criterion="twoing")
    tree = grow_tree(source, recipe)
    assert isinstance(tree.root.split, Groups)
    told = explain_node(Model(tree, recipe, FINGERPRINT), 0)
    assert not told.candidates[0].exact
    assert "a better one may exist" in str(told)
    assert [line.value for line in told.candidates[0].values] == list(values)


def test_plain_data_goes_into_json(melons):
    for model in (melons, mixed_model("branch"), chain_model(3)):
        for node in model.tree:
            told = explain_node(model, node.number).as_dict()
            assert json.loads(json.dumps(told, allow_nan=False))["why"] == told["why"]


def test_whether_a_value_is_known_goes_into_json():
    schema = Schema((Attribute("x", "numeric"),), Target("y", ("n", "p")))
    numbers = np.array([1.0, 1.0, np.nan])
    source = MemorySource(schema, [numbers], classes=np.array([0, 0, 1]))
    recipe = RECIPES["cart"].changed(missing_policy="own-category")
    tree = grow_tree(source, recipe)
    assert tree.root.split.threshold == np.inf
    told = explain_node(Model(tree, recipe, FINGERPRINT), 0)
    json.dumps(told.as_dict(), allow_nan=False)


@pytest.mark.parametrize("number", [-1, 5000, True, 1.0, "0"])
def test_no_such_node(melons, number):
    with pytest.raises(ParameterError, match=r"node=.* is not a node: .* 0 to 13"):
        explain_node(melons, number)


def test_a_numpy_integer_is_a_number(melons):
    assert explain_node(melons, np.int64(1)).node == 1


def test_a_node_deep_in_a_long_chain():
    model = chain_model(5000)
    told = explain_node(model, 10_000)
    assert len(told.path) == 5000
    assert told.path[-1] == "x > 4999.5"
    row = explain_row(model, [np.array([4999.7])], {"x": 4999.7})
    assert [step.node for step in row.steps] == list(range(0, 10_001, 2))
    assert len(str(row).splitlines()) == 5003


# Criteria with an arithmetic of their own


@pytest.mark.parametrize("name", ["chi_square", "g", "mdl", "hellinger"])
def test_golden_arithmetic(name, assert_golden):
    recipe = RECIPES["id3"].changed(criterion=name, max_depth=1)
    told = explain_node(textbook_model("watermelon_2.0", recipe), 0)
    assert_golden(f"watermelon_{name}.txt", f"{told}\n\n{told.text(ascii_only=True)}\n")


@pytest.mark.parametrize("name", ["c_sep", "twoing"])
def test_golden_arithmetic_of_two_branches(name, assert_golden):
    recipe = RECIPES["cart"].changed(criterion=name, missing_policy="fractional")
    told = explain_node(textbook_model("watermelon_2.0a", recipe), 0)
    assert_golden(f"watermelon_{name}.txt", f"{told}\n\n{told.text(ascii_only=True)}\n")


def test_missing_rows_are_in_what_the_gain_is_multiplied_by():
    # G of the known rows is 2 ln 2 · n ρ · (gain / ρ).
    recipe = RECIPES["id3"].changed(criterion="g", max_depth=1)
    told = explain_node(textbook_model("watermelon_2.0a", recipe), 0)
    for lines in told.candidates:
        statistic = 2 * log(2) * 17 * lines.gain
        assert f"G = 2 × ln 2 × 17 × {lines.gain:.3f} = {statistic:.3f}" in str(told)


def test_the_pairs_of_many_classes_are_not_all_shown():
    schema = Schema((Attribute("x", "numeric"),), Target("y", tuple("abcdefgh")))
    source = MemorySource(schema, [np.arange(24.0)], classes=np.arange(24) // 3)
    recipe = RECIPES["cart"].changed(criterion="hellinger")
    told = explain_node(Model(grow_tree(source, recipe), recipe, FINGERPRINT), 0)
    (lines,) = told.candidates
    assert len(lines.working) == 12
    assert lines.working[10] == "and 18 more pairs of classes"
    assert lines.working[11].endswith(f" + …) / 28 = {lines.merit:.3f}")
