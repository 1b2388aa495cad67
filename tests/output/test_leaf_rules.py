"""Rules: one a leaf, exclusive and exhaustive, a condition an attribute."""

import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.models import chain_model
from tests.helpers.strategies import Rows, cells_of, recipes, tables
from tests.twins import naive

from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.growth_options import Options
from spinney.growth.plain.learner import grow_tree
from spinney.output.leaf_rules import Condition, Rule, rules_of
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource
from spinney.trees import Tree
from spinney.trees.predict.flat_tree import flatten

SIZE = Attribute("size", "ordinal", ("small", "medium", "large", "huge"))
COLOUR = Attribute("colour", "nominal", ("blue", "green", "red"))
WIDTH = Attribute("width", "numeric")


def holds(condition: Condition, cell: naive.Cell) -> bool:
    """Return whether a cell satisfies a condition, from its figures alone."""
    if cell is None:
        return condition.missing is True
    if condition.values is not None:
        return cell in condition.values
    return condition.low < cell <= condition.high


def satisfied(tree: Tree, cells: list[naive.Cell]) -> list[int]:
    """Return the leaves of the rules that a row satisfies."""
    names = tree.schema.names
    return [
        rule.leaf
        for rule in rules_of(tree)
        if all(holds(c, cells[names.index(c.attribute.name)]) for c in rule.conditions)
    ]


def only_leaf(tree: Tree, cells: list[naive.Cell]) -> list[int]:
    reached = naive.route(tree, cells)
    return [leaf.number for leaf in tree.leaves if reached[leaf.number] == 1]


@given(st.data(), recipes())
@settings(max_examples=examples(70))
def test_a_row_satisfies_exactly_the_rule_of_its_leaf(data, recipe):
    table: Rows = data.draw(tables(missing=False))
    tree = grow_tree(table.source, recipe)
    rows = [cells for cells, _, _ in table.rows]
    divided = recipe.missing_policy in ("fractional", "surrogate")
    if recipe.grouping == "multiway" or not divided:
        # Any row will do: a code unseen at a node has a branch, or goes where
        # missing ones go. Only where those are divided, or sent by surrogates, does
        # it satisfy no rule.
        cells = [cells_of(attribute) for attribute in table.schema.attributes]
        rows += data.draw(st.lists(st.tuples(*cells).map(list), max_size=8))
    for row in rows:
        found = satisfied(tree, row)
        assert len(found) == 1
        assert found == only_leaf(tree, row)


@given(tables(), recipes())
@settings(max_examples=examples(70))
def test_missing_cells_satisfy_one_rule_where_rows_are_not_divided(table, recipe):
    assume(recipe.missing_policy != "fractional")
    tree = grow_tree(table.source, recipe)
    # A rule says nothing of the surrogates that send a row without its values.
    assume(not any(node.surrogates for node in tree))
    for row, _, _ in table.rows:
        assert satisfied(tree, row) == only_leaf(tree, row)


def test_rules_are_exhaustive_over_categories_unseen_at_a_node():
    schema = Schema((WIDTH, COLOUR), Target("y", ("a", "b")))
    columns = [np.array([1.0, 1, 1, 2, 2, 2]), np.array([0, 1, 1, 2, 2, 2])]
    source = MemorySource(schema, columns, classes=np.array([0, 1, 1, 1, 1, 1]))
    tree = grow_tree(source, RECIPES["cart"], Options(forced={(): 0}))
    assert only_leaf(tree, [1.0, 2]) != []
    assert len(satisfied(tree, [1.0, 2])) == 1


@given(tables(), recipes())
@settings(max_examples=examples(50))
def test_conditions_are_merged_and_figures_are_the_leafs(table, recipe):
    tree = grow_tree(table.source, recipe)
    rules = rules_of(tree)
    assert [rule.leaf for rule in rules] == [leaf.number for leaf in tree.leaves]
    assert len(rules) == tree.n_leaves
    for rule, leaf in zip(rules, tree.leaves, strict=True):
        names = [condition.attribute.name for condition in rule.conditions]
        asked = [
            tree.schema.names[node.split.attribute]
            for node in tree.path(leaf.number)[:-1]
        ]
        assert names == list(dict.fromkeys(asked))
        assert rule.label == tree.schema.target.classes[leaf.label]
        assert rule.support == leaf.weight
        assert rule.confidence == leaf.distribution[leaf.label]
        assert rule.text(ascii_only=True).isascii()
        assert "\n" not in str(rule)
    dicts = json.loads(json.dumps(rules.as_dicts()))
    assert [entry["leaf"] for entry in dicts] == [rule.leaf for rule in rules]
    assert str(rules).splitlines() == [str(rule) for rule in rules]


@pytest.mark.parametrize(
    "condition, text, plain",
    [
        (Condition(WIDTH, high=1.5), "width ≤ 1.5", "width <= 1.5"),
        (Condition(WIDTH, low=1.5), "width > 1.5", "width > 1.5"),
        (Condition(WIDTH, 1, 2.5), "1 < width ≤ 2.5", "1 < width <= 2.5"),
        (Condition(WIDTH, missing=False), "width is known", "width is known"),
        (Condition(WIDTH, low=np.inf, missing=True), "width is missing", None),
        (Condition(WIDTH, low=2, missing=True), "width > 2 or missing", None),
        (Condition(WIDTH, low=2, missing=False), "width > 2", None),
        (Condition(SIZE, high=0.5), "size < medium", None),
        (Condition(SIZE, low=0.5), "size ≥ medium", "size >= medium"),
        (Condition(SIZE, 0.5, 2.5), "medium ≤ size < huge", "medium <= size < huge"),
        (Condition(COLOUR, values=(1,)), "colour = green", None),
        (Condition(COLOUR, values=(0, 2)), "colour ∈ {blue, red}", None),
        (Condition(COLOUR, values=(), missing=True), "colour is missing", None),
        (
            Condition(COLOUR, values=(0, 2), missing=True),
            "colour ∈ {blue, red} or missing",
            "colour in {blue, red} or missing",
        ),
    ],
)
def test_how_conditions_read(condition, text, plain):
    assert condition.text() == text
    if plain is not None:
        assert condition.text(ascii_only=True) == plain


def test_how_a_rule_reads():
    rule = Rule(3, (Condition(WIDTH, high=2), Condition(COLOUR)), "y", True, 7 / 3, 0.5)
    assert str(rule) == (
        "IF width ≤ 2 AND colour is known THEN y = true  "
        "(support 2.333333, confidence 50.0 %)"
    )
    always = Rule(0, (), "two\nlines", "no", 4.0, 1.0)
    assert str(always) == "ALWAYS two\\nlines = no  (support 4, confidence 100.0 %)"


def test_rules_are_a_sequence():
    rules = rules_of(chain_model(2).tree)
    assert repr(rules) == "<3 rules>"
    assert rules[0].leaf == 1
    assert [rule.leaf for rule in rules[1:]] == [3, 4]


def test_rules_as_plain_data():
    schema = Schema((WIDTH, COLOUR), Target("y", (False, True)))
    columns = [np.array([1.0, 2, 2, 2]), np.array([0, 0, 1, 2])]
    source = MemorySource(schema, columns, classes=np.array([0, 1, 0, 0]))
    tree = grow_tree(source, RECIPES["cart"], Options(forced={(): 0}))
    assert rules_of(tree).as_dicts()[1] == {
        "leaf": 3,
        "if": [
            {
                "attribute": "width",
                "text": "width > 1.5",
                "above": 1.5,
                "at_most": None,
                "missing": None,
            },
            {
                "attribute": "colour",
                "text": "colour = blue",
                "values": ["blue"],
                "missing": None,
            },
        ],
        "then": {"target": "y", "label": True},
        "support": 1.0,
        "confidence": 1.0,
        "share": 1.0,
    }


def test_the_rule_of_missing_numbers_goes_into_json():
    schema = Schema((WIDTH,), Target("y", ("n", "p")))
    numbers = np.array([1.0, 1.0, np.nan])
    source = MemorySource(schema, [numbers], classes=np.array([0, 0, 1]))
    tree = grow_tree(source, RECIPES["cart"].changed(missing_policy="own-category"))
    known, missing = rules_of(tree)
    assert str(known).startswith("IF width is known THEN")
    assert str(missing).startswith("IF width is missing THEN")
    json.dumps(rules_of(tree).as_dicts(), allow_nan=False)


def test_a_value_on_the_threshold_satisfies_the_left_rule():
    tree = chain_model(1).tree
    left, right = rules_of(tree)
    threshold = tree.root.split.threshold
    assert holds(left.conditions[0], threshold)
    assert not holds(right.conditions[0], threshold)
    assert str(left).startswith("IF x ≤ 0.5 THEN")


def test_the_rules_of_a_long_chain_are_intervals():
    tree = chain_model(5000).tree
    rules = rules_of(tree)
    assert len(rules) == 5001
    assert all(len(rule.conditions) == 1 for rule in rules)
    assert rules[2500].conditions[0].text() == "2499.5 < x ≤ 2500.5"
    assert rules[5000].conditions[0].text() == "x > 4999.5"
    assert len(str(rules).splitlines()) == 5001
    leaves = flatten(tree).leaf_numbers([np.array([2500.0])], 1)
    assert rules[2500].leaf == leaves[0]


# Smoothed shares


def smoothed(**settings):
    # Of the colours only red has 4 rows, 3 of them yes; green comes later.
    columns = {"c": [0, 0, 2, 2, 2, 2], "y": [0, 0, 1, 1, 1, 0]}
    schema = Schema((COLOUR,), Target("y", ("no", "yes")))
    source = MemorySource(
        schema, [np.array(columns["c"])], classes=np.array(columns["y"])
    )
    recipe = RECIPES["id3"].changed(**settings)
    return rules_of(grow_tree(source, recipe))


def test_a_smoothed_confidence_is_told_from_the_share_of_rows():
    # Laplace: (2 + 1) / (2 + 2) and (3 + 1) / (4 + 2).
    blue, red = [rule for rule in smoothed(probability="laplace") if rule.support]
    assert (blue.confidence, blue.share) == (pytest.approx(0.75), 1.0)
    assert "support 2, confidence 75.0 %, smoothed from 100.0 %)" in str(blue)
    assert "support 4, confidence 66.7 %, smoothed from 75.0 %)" in str(red)
    plain = smoothed()
    assert all(rule.confidence == rule.share for rule in plain)
    assert "smoothed" not in plain.text()
    assert [entry["share"] for entry in plain.as_dicts()] == [
        rule.share for rule in plain
    ]


def test_a_leaf_without_rows_has_the_share_of_the_node_above():
    rules = smoothed(probability="laplace")
    empty = [rule for rule in rules if not rule.support]
    for rule in empty:
        # The root has 3 of 6, and (3 + 1) / (6 + 2) is a half too.
        assert (rule.confidence, rule.share) == (0.5, 0.5)
        assert "support 0; 50.0 % at the nearest node above with rows" in str(rule)
    assert len(empty) == 1
