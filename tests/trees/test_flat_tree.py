"""Prediction over flat arrays against the naive router, a row at a time."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.models import assert_same_model, chain_model, mixed_model
from tests.helpers.strategies import Rows, cells_of, recipes, tables
from tests.twins import naive

import spinney
from spinney import TreeClassifier
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.plain.learner import grow_tree
from spinney.output.leaf_rules import rules_of
from spinney.output.tree_text import to_text
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource
from spinney.trees import Tree
from spinney.trees.costs import labels_of
from spinney.trees.predict import flat_tree as predict
from spinney.trees.predict.flat_tree import flatten
from spinney.trees.split import Threshold

# Weights are products of shares, multiplied in the same order; sums of them are not.
ROUNDING = 1e-12


def columns_of(schema: Schema, rows: list[list[naive.Cell]]) -> list[np.ndarray]:
    """Return rows of cells as the coded columns that a source and a tree take."""
    columns = []
    for place, attribute in enumerate(schema.attributes):
        cells = [row[place] for row in rows]
        if attribute.kind == "numeric":
            columns.append(np.array([np.nan if c is None else c for c in cells], float))
        else:
            columns.append(np.array([-1 if c is None else c for c in cells], np.int32))
    return columns


@st.composite
def trees_and_rows(draw: st.DrawFn) -> tuple[Tree, list[list[naive.Cell]]]:
    """Draw a grown tree and rows to predict: missing cells, cells on thresholds."""
    table: Rows = draw(tables(max_rows=30))
    tree = grow_tree(table.source, draw(recipes()))
    thresholds: dict[int, list[float]] = {}
    for node in tree:
        if isinstance(node.split, Threshold) and node.split.threshold != np.inf:
            thresholds.setdefault(node.split.attribute, []).append(node.split.threshold)
    cells = []
    for place, attribute in enumerate(table.schema.attributes):
        cell = st.none() | cells_of(attribute)
        if attribute.kind == "numeric" and place in thresholds:
            cell |= st.sampled_from(thresholds[place])
        cells.append(cell)
    rows = draw(st.lists(st.tuples(*cells).map(list), min_size=1, max_size=12))
    return tree, rows


@given(trees_and_rows(), st.sampled_from((1, 3, predict.BLOCK)))
@settings(max_examples=examples(120))
def test_every_row_takes_the_naive_path(drawn, block):
    tree, rows = drawn
    flat, columns = flatten(tree), columns_of(tree.schema, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(predict, "BLOCK", block)
        paths = flat.paths(columns, len(rows)).toarray()
        shares = flat.outputs(columns, len(rows))
        leaves = flat.leaf_numbers(columns, len(rows))
    for row, cells in enumerate(rows):
        reached = naive.route(tree, cells)
        expected = [reached[number] for number in range(len(tree))]
        assert paths[row] == pytest.approx(expected, abs=ROUNDING)
        parts = {leaf.number: reached[leaf.number] for leaf in tree.leaves}
        assert sum(paths[row][list(parts)]) == pytest.approx(1, abs=ROUNDING)
        mixed = sum(part * tree.nodes[n].distribution for n, part in parts.items())
        assert shares[row] == pytest.approx(mixed, abs=ROUNDING)
        assert shares[row].sum() == pytest.approx(1, abs=ROUNDING)
        heaviest = max(parts.values())
        first = min(n for n, part in parts.items() if part >= heaviest - ROUNDING)
        assert leaves[row] == first


@given(trees_and_rows())
@settings(max_examples=examples(50))
def test_training_and_prediction_agree_on_where_rows_go(drawn):
    tree, _ = drawn
    flat = flatten(tree)
    for node in tree:
        if node.split is None:
            continue
        numeric = tree.schema.attributes[node.split.attribute].kind == "numeric"
        # Codes that the node has not seen, and one that the schema has not, too.
        known = np.array([-0.1, 0.0, 0.1]) if numeric else np.arange(6)
        expected = node.split.branch_of(known)
        cells = np.append(known, np.nan).astype(float)
        lines = np.full(len(cells), node.number)
        branches = flat.arrays.branches_of(lines, cells)
        np.testing.assert_array_equal(branches, [*expected, -1])


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1))
def test_majorities_are_the_majority_of_each_row(weights):
    shares = np.array(weights, dtype=float)
    assert labels_of(shares).tolist() == [labels_of(row) for row in shares]


def test_a_value_on_the_threshold_goes_left():
    # Between neighbouring floats the threshold is the lower one itself.
    low = 1.0
    high = float(np.nextafter(low, 2.0))
    schema = Schema((Attribute("x", "numeric"),), Target("y", ("left", "right")))
    source = MemorySource(schema, [np.array([low, high])], classes=np.array([0, 1]))
    tree = grow_tree(source, RECIPES["cart"])
    assert tree.root.split.threshold == low
    assert [leaf.weights.tolist() for leaf in tree.leaves] == [[1, 0], [0, 1]]
    leaves = flatten(tree).leaf_numbers([np.array([low, high, -9.0, 9.0])], 4)
    assert leaves.tolist() == [1, 2, 1, 2]


def test_an_unseen_category_is_divided_like_a_missing_one():
    model = mixed_model("fractional")
    flat = flatten(model.tree)
    columns = [np.array([-1, 99]), np.array([0, 0]), np.array([1.0, 1.0])]
    missing, unseen = flat.outputs(columns, 2)
    np.testing.assert_array_equal(missing, unseen)


def test_no_rows_give_no_predictions():
    flat = flatten(mixed_model().tree)
    nothing = [np.array([], dtype=np.int32), np.array([], np.int32), np.array([])]
    assert flat.outputs(nothing, 0).shape == (0, 3)
    assert flat.leaf_numbers(nothing, 0).shape == (0,)


def test_no_rows_have_no_paths():
    flat = flatten(chain_model(2).tree)
    nothing = [np.array([])]
    assert flat.paths(nothing, 0).shape == (0, len(flat.attribute))


def test_more_rows_than_a_block():
    flat = flatten(mixed_model().tree)
    random = np.random.default_rng(11)
    n_rows = 2 * predict.BLOCK + 5
    columns = [
        random.integers(-1, 3, n_rows),
        random.integers(-1, 3, n_rows),
        np.where(random.random(n_rows) < 0.1, np.nan, random.random(n_rows) * 12),
    ]
    shares = flat.outputs(columns, n_rows)
    leaves = flat.leaf_numbers(columns, n_rows)
    edges = [0, predict.BLOCK - 1, predict.BLOCK, 2 * predict.BLOCK, n_rows - 1]
    few = [column[edges] for column in columns]
    np.testing.assert_array_equal(shares[edges], flat.outputs(few, len(edges)))
    np.testing.assert_array_equal(leaves[edges], flat.leaf_numbers(few, len(edges)))
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_only_asked_attributes_are_needed():
    flat = flatten(chain_model(3).tree)
    assert flat.needed.tolist() == [0]
    stump = grow_tree(
        MemorySource(
            Schema((Attribute("x", "numeric"),), Target("y", ("a", "b"))),
            [np.array([1.0, 1.0])],
            classes=np.array([0, 1]),
        ),
        RECIPES["id3"],
    )
    assert flatten(stump).needed.tolist() == []
    assert flatten(stump).outputs([None], 2).tolist() == [[0.5, 0.5]] * 2


# A chain of 10,001 nodes


@pytest.fixture(scope="module")
def chain():
    return chain_model(3000)


def test_a_long_chain_is_walked(chain):
    flat = flatten(chain.tree)
    values = [np.array([0.0, 1500.5, 1500.6, 1e9, np.nan])]
    # Missing goes right everywhere, and so to the last leaf.
    assert flat.leaf_numbers(values, 5).tolist() == [1, 3001, 3003, 6000, 6000]
    labels = labels_of(flat.outputs(values, 5))
    assert labels.tolist() == [0, 0, 0, 1, 1]
    assert flat.paths(values, 5).sum(axis=1).A1.tolist() == [2, 1502, 1503, 3001, 3001]


def test_a_long_chain_is_copied(chain):
    assert_same_model(pickle.loads(pickle.dumps(chain)), chain)  # noqa: S301
    assert_same_model(copy.deepcopy(chain), chain)


@pytest.mark.slow
def test_a_long_chain_is_an_estimator(chain, tmp_path):
    model = TreeClassifier(chain.recipe)._adopt_by_name(chain)
    model.save(tmp_path / "chain")
    loaded = spinney.load(tmp_path / "chain")
    assert_same_model(loaded.model_, chain)
    rows = {"x": [0.5, 1500.5, None]}
    for one in (model, loaded):
        assert one.predict(rows).tolist() == [False, False, True]
        assert one.apply(rows).tolist() == [1, 3001, 6000]
        assert one.decision_path(rows).shape == (3, 6001)


def test_a_grown_chain_labels_its_own_rows():
    # Classes alternate along one number, and every cut takes one row off.
    n_rows = 1001
    schema = Schema((Attribute("n", "numeric"),), Target("class", ("x", "y")))
    numbers, classes = np.arange(n_rows, dtype=float), np.arange(n_rows) % 2
    source = MemorySource(schema, [numbers], classes=classes)
    tree = grow_tree(source, RECIPES["cart"].changed(criterion="misclassification"))
    assert tree.height == n_rows - 1
    shares = flatten(tree).outputs([numbers], n_rows)
    np.testing.assert_array_equal(labels_of(shares), classes)
    assert len(rules_of(tree)) == n_rows
    assert len(to_text(tree).splitlines()) == 2 * n_rows - 1
