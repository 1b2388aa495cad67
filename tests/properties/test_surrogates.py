"""Surrogates: they agree as often as they say, send rows as they say, and are kept."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.models import FINGERPRINT, assert_same_model
from tests.helpers.strategies import Rows, cells_of, columns_of, tables
from tests.twins import naive

from spinney.growth.model import Model
from spinney.growth.plain.learner import grow_tree
from spinney.output.file.model_files import load_model, save_model
from spinney.output.tree_json import to_json
from spinney.recipes import RECIPES
from spinney.trees import Node, Tree, cut
from spinney.trees.predict.flat_tree import flatten

CART = RECIPES["cart"]
ROUNDING = 1e-9


def rows_at(tree: Tree, table: Rows) -> list[list]:
    """Return the rows that come to each node."""
    found: list[list] = [[] for _ in tree]
    for row in table.rows:
        for number, part in naive.route(tree, row[0]).items():
            if part:
                found[number].append(row)
    return found


def branch_of(asked: object, cells: list) -> int | None:
    """Return the branch that one question of the node gives a row."""
    split = getattr(asked, "split", asked)
    branch = naive.way_of(split).branch_of(cells[split.attribute])
    swapped = getattr(asked, "reversed", False)
    return 1 - branch if swapped and branch is not None else branch


def recounted(node: Node, asked: object, rows: list) -> tuple[float, float, list[int]]:
    """Return the share that agrees, that of the heavier branch, and rows each way."""
    known = [(row, branch_of(node.split, row[0])) for row in rows]
    known = [(row, branch) for row, branch in known if branch is not None]
    sizes = [sum(row[2] for row, b in known if b == branch) for branch in (0, 1)]
    sent = [branch_of(asked, row[0]) for row, _ in known]
    agreeing = sum(row[2] for (row, b), s in zip(known, sent, strict=True) if s == b)
    ways = [sent.count(0), sent.count(1)]
    return agreeing / sum(sizes), max(sizes) / sum(sizes), ways


@given(tables(max_rows=60))
@settings(max_examples=examples(150))
def test_surrogates_agree_with_the_split_at_the_stated_rate(table: Rows):
    tree = grow_tree(table.source, CART)
    for node, rows in zip(tree, rows_at(tree, table), strict=True):
        before = 1.0
        for surrogate in node.surrogates:
            agreement, majority, ways = recounted(node, surrogate, rows)
            assert abs(surrogate.agreement - agreement) <= ROUNDING
            adjusted = (agreement - majority) / (1 - majority)
            assert abs(surrogate.adjusted - adjusted) <= ROUNDING
            assert agreement > majority
            assert min(ways) >= 2
            assert surrogate.attribute != node.split.attribute
            assert surrogate.agreement <= before + ROUNDING
            before = surrogate.agreement
        assert len(node.surrogates) <= CART.surrogates
        assert (node.default_branch is None) == node.is_leaf


@given(tables(max_rows=40), st.data())
@settings(max_examples=examples(100))
def test_a_tree_with_surrogates_is_kept_as_it_is(table: Rows, data: st.DataObject):
    model = Model(grow_tree(table.source, CART), CART, FINGERPRINT)
    cells = [st.none() | cells_of(each) for each in table.schema.attributes]
    later = data.draw(st.lists(st.tuples(*cells), min_size=1, max_size=12))
    columns = columns_of(table.schema, later)
    expected = flatten(model.tree).outputs(columns, len(later))
    with TemporaryDirectory() as folder:
        save_model(model, Path(folder) / "m")
        loaded = load_model(Path(folder) / "m")
    assert_same_model(loaded, model)
    found = flatten(loaded.tree).outputs(columns, len(later))
    np.testing.assert_array_equal(found, expected)


@given(tables(max_rows=40), st.data())
@settings(max_examples=examples(50))
def test_a_pruned_node_has_no_surrogates(table: Rows, data: st.DataObject):
    tree = grow_tree(table.source, CART)
    number = data.draw(st.integers(0, len(tree) - 1))
    pruned = cut(tree, {number})
    assert pruned.nodes[number].surrogates == ()
    assert pruned.nodes[number].default_branch is None
    assert to_json(Model(pruned, CART, FINGERPRINT))


@given(tables(max_rows=30, missing=False))
@settings(max_examples=examples(50))
def test_without_missing_values_surrogates_change_no_split(table: Rows):
    with_them = grow_tree(table.source, CART)
    without = grow_tree(table.source, CART.changed(surrogates=0))
    assert [n.split for n in with_them] == [n.split for n in without]
    assert not any(node.surrogates for node in without)


@given(tables(max_rows=30, weights=("whole",)))
@settings(max_examples=examples(60))
def test_weights_of_three_change_nothing(table: Rows):
    heavy = Rows(table.schema, [(c, label, 3 * w) for c, label, w in table.rows])
    one, other = (grow_tree(each.source, CART) for each in (table, heavy))
    assert [n.surrogates for n in one] == [n.surrogates for n in other]
    assert [n.default_branch for n in one] == [n.default_branch for n in other]
