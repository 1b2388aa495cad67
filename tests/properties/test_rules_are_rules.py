"""Rules are mutually exclusive and exhaustive, and say what the tree does.

So 002 and 004 promise it: a row fires the rule of its leaf and no other, whatever the
recipe, the grouping and the policy for missing values.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fired_rules import absent, recipes_of, spoken_of, violations
from tests.helpers.fuzz import examples
from tests.helpers.strategies import Rows, cells_of, columns_of, tables

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.plain.learner import grow_tree
from spinney.output.leaf_rules import Condition, condition_dict, rules_of
from spinney.sources.rows.memory import MemorySource
from spinney.trees import Tree
from spinney.trees.predict.flat_tree import flatten
from spinney.trees.split import Groups

OF_CLASSES = tuple(recipes_of(numeric=False))
OF_NUMBERS = tuple(recipes_of(numeric=True))
LET_GO = {"min_samples_split": 2, "min_samples_leaf": 1, "min_branch_share": 0.0}


def drawn_tree(data: st.DataObject, table: Rows, *, numeric: bool) -> Tree:
    """Return a tree of the table by a drawn recipe, or of numbers in its labels' place.

    Limits are let go, so that trees have something to say.
    """
    recipe = data.draw(st.sampled_from(OF_NUMBERS if numeric else OF_CLASSES))
    recipe = replace(recipe, **LET_GO, alpha_split=recipe.alpha_split and 1.0)
    if not numeric:
        return grow_tree(table.source, recipe)
    schema = Schema(table.schema.attributes, Target("number", (), 0.0))
    columns = columns_of(schema, [cells for cells, _, _ in table.rows])
    numbers = np.array([float(label) for _, label, _ in table.rows])
    return grow_tree(MemorySource(schema, columns, classes=numbers), recipe)


@pytest.mark.parametrize("numeric", [False, True])
@given(st.data(), tables())
@settings(max_examples=examples(200))
def test_a_row_fires_the_rule_of_its_leaf_and_no_other(numeric, data, table):
    tree = drawn_tree(data, table, numeric=numeric)
    cells = [st.none() | cells_of(attribute) for attribute in table.schema.attributes]
    rows = [row for row, _, _ in table.rows]
    rows += data.draw(st.lists(st.tuples(*cells).map(list), max_size=8))
    columns = columns_of(tree.schema, rows)
    leaves = flatten(tree).leaf_numbers(columns, len(rows))
    assert violations(tree, columns, leaves) == []
    grown_on = [column[: len(table.rows)] for column in columns]
    complete = ~np.any([absent(column) for column in grown_on], axis=0)
    assert (spoken_of(tree, grown_on, len(table.rows))[complete] >= 0).all()


def taken(split: Groups, branch: int, values: tuple[str, ...]) -> set[str]:
    """Return the values that take a branch, whether they can come to it or not."""
    goes = split.branch_of(np.arange(len(values))).tolist()
    rest = -1 if split.missing is None else split.missing
    return {
        value
        for value, to in zip(values, goes, strict=True)
        if (rest if to < 0 else to) == branch
    }


@pytest.mark.parametrize("numeric", [False, True])
@given(st.data(), tables(kinds=("nominal", "numeric")))
@settings(max_examples=examples(100))
def test_the_text_of_a_tree_shows_only_values_that_can_arrive(numeric, data, table):
    tree = drawn_tree(data, table, numeric=numeric)
    arriving: list[dict[int, set[str]]] = [{}]
    for node in tree.nodes[1:]:
        parent = tree.nodes[node.parent]
        split, here = parent.route.described, dict(arriving[node.parent])
        if isinstance(split, Groups):
            values = tree.schema.attributes[split.attribute].values
            before = here.get(split.attribute, set(values))
            here[split.attribute] = before & taken(split, node.branch, values)
            _, _, asked = (
                tree.condition(node).removesuffix(" or missing").partition(" ")
            )
            if asked != "is missing":
                shown = set(asked) & set(values)
                assert shown <= before
                denied = asked[0] in "≠∉"
                assert shown.isdisjoint(here[split.attribute]) == denied
        arriving.append(here)


# 50 rows of 167 fired two or three rules before values were narrowed along a path.


def servo() -> dict[str, list[object]]:
    """Return a table like servo's: its rise time needs several looks at each gain."""
    random = np.random.default_rng(1)
    pgain, vgain = random.integers(3, 7, 167), random.integers(1, 6, 167)
    motor = random.choice(list("ABCDE"), 167)
    rise = np.exp(3 - pgain / 2) + (vgain - 3) ** 2 * (pgain < 5) + (motor < "C")
    return {
        "motor": motor.tolist(),
        "pgain": pgain.tolist(),
        "vgain": vgain.tolist(),
        "rise": rise.tolist(),
    }


@pytest.mark.parametrize("pruning", ["none", "adjusted-error"])
def test_a_rule_of_ordered_values_lists_none_that_went_elsewhere(pruning):
    table = servo()
    model = spinney.grow(
        table, "rise", recipe="m5", pruning=pruning, nominal=["pgain", "vgain"]
    )
    for row, leaf in enumerate(model.apply(table)):
        fired = [
            rule["leaf"]
            for rule in model.rules().as_dicts()
            if all(table[c["attribute"]][row] in c["values"] for c in rule["if"])
        ]
        assert fired == [leaf]


def test_the_text_of_ordered_values_lists_none_that_went_elsewhere():
    # By their means the order is a, b, c, d: c and d go at once, b and a later.
    table = {
        "x": [*"aaaabbbbccccdddd"],
        "y": [0.0, 0, 0, 0.1, 4, 4, 4, 4.1, 40, 40, 40, 40.1, 44, 44, 44, 44.1],
    }
    model = spinney.grow(table, "y", recipe="m5", pruning="none", leaves="mean")
    assert [model.tree.condition(node) for node in model.tree] == [
        "",
        "x ∈ {a, b}",
        "x = a",
        "x = b",
        "x ∈ {c, d}",
        "x = c",
        "x = d",
    ]


def test_a_value_that_no_row_had_fires_the_rule_of_missing_ones_among_three_branches():
    schema = Schema((Attribute("x", "nominal", tuple("abcd")),), Target("y", (*"nop",)))
    codes = np.repeat([0, 1, 2], [8, 9, 8])
    source = MemorySource(schema, [codes], classes=codes)
    recipe = spinney.Recipe.named("chaid").changed(missing_policy="branch")
    tree = grow_tree(source, recipe)
    assert tree.root.split.groups == ((0,), (1,), (2,))
    assert [rule.text().partition(" THEN")[0] for rule in rules_of(tree)] == [
        "IF x = a",
        "IF x ∈ {b, d}",
        "IF x = c",
    ]
    column = np.array([3])
    assert violations(tree, [column], flatten(tree).leaf_numbers([column], 1)) == []


@given(st.data(), st.sampled_from(OF_CLASSES), st.integers(2, 12))
@settings(max_examples=examples(100))
def test_rules_cover_values_that_are_declared_and_that_no_row_has(data, recipe, n):
    """Whatever the grouping: by 002 the whole domain is divided, not the rows alone."""
    codes, classes = (
        np.array(data.draw(st.lists(st.integers(0, most), min_size=n, max_size=n)))
        for most in (4, 1)
    )
    attributes = tuple(Attribute(name, "nominal", tuple("abcdefg")) for name in "pq")
    columns = [codes + 1, codes[::-1] + 1]  # no row has a, nor g
    source = MemorySource(
        Schema(attributes, Target("y", ("n", "o"))), columns, classes=classes
    )
    recipe = replace(recipe, **LET_GO, alpha_split=recipe.alpha_split and 1.0)
    tree = grow_tree(source, recipe)
    domain = [codes.ravel() for codes in np.meshgrid(np.arange(7), np.arange(7))]
    leaves = flatten(tree).leaf_numbers(domain, 49)
    assert violations(tree, domain, leaves) == []
    if recipe.grouping == "multiway":
        assert (spoken_of(tree, domain, 49) >= 0).all()
        assert (leaves >= 0).all()


# JSON


def test_missing_is_told_from_anything_in_json():
    width = Attribute("width", "numeric")
    missing = condition_dict(Condition(width, low=np.inf, missing=True))
    anything = condition_dict(Condition(width, missing=True))
    assert (missing["values"], missing["missing"]) == ([], True)
    assert "above" not in missing
    assert (anything["above"], anything["at_most"]) == (None, None)
    assert "values" not in anything


def test_the_rule_of_missing_numbers_fires_for_no_number_in_json():
    schema = Schema((Attribute("width", "numeric"),), Target("y", ("n", "p")))
    numbers = np.array([1.0, 1.0, np.nan])
    source = MemorySource(schema, [numbers], classes=np.array([0, 0, 1]))
    recipe = spinney.Recipe.named("cart").changed(missing_policy="own-category")
    known, missing = json.loads(
        json.dumps(rules_of(grow_tree(source, recipe)).as_dicts())
    )
    assert known["if"] == [
        {
            "attribute": "width",
            "text": "width is known",
            "above": None,
            "at_most": None,
            "missing": False,
        }
    ]
    assert missing["if"] == [
        {
            "attribute": "width",
            "text": "width is missing",
            "values": [],
            "missing": True,
        }
    ]
