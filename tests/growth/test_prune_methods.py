"""Pruning: what is cut, what the steps say, and that accuracy never suffers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.models import chain_model
from tests.helpers.strategies import Rows, cells_of, recipes, tables
from tests.twins import naive

from spinney.data.schema import Attribute, Schema, Target
from spinney.errors import DataError, ParameterError
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune import EncodedRows, Pruned, PruneStep
from spinney.growth.prune.prune_methods import pruned
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource
from spinney.trees import Reason, Tree, cut
from spinney.trees.costs import labels_of
from spinney.trees.predict.flat_tree import flatten

# Accuracies are sums of parts of rows.
ROUNDING = 1e-9


@st.composite
def trees_and_validation(draw: st.DrawFn, *, missing: bool) -> tuple:
    """Draw a tree, and rows to validate it by; one class is unknown to it."""
    table: Rows = draw(tables(missing=missing, max_rows=30))
    tree = grow_tree(table.source, draw(recipes()))
    cells = [cells_of(attribute) for attribute in table.schema.attributes]
    if missing:
        cells = [st.none() | cell for cell in cells]
    label = st.integers(-1, table.schema.n_classes - 1)
    row = st.tuples(st.tuples(*cells).map(list), label)
    return tree, draw(st.lists(row, min_size=1, max_size=20))


def coded(tree: Tree, rows: list) -> tuple[list[np.ndarray], np.ndarray]:
    columns = []
    for place, attribute in enumerate(tree.schema.attributes):
        absent = np.nan if attribute.kind == "numeric" else -1
        cells = [absent if row[place] is None else row[place] for row, _ in rows]
        columns.append(np.array(cells))
    return columns, np.array([label for _, label in rows])


def right_by_parts(tree: Tree, rows: list) -> float:
    """Return the share of rows labelled right, by parts where a row is divided."""
    right = 0.0
    for cells, label in rows:
        reached = naive.route(tree, cells)
        right += sum(reached[n.number] for n in tree.leaves if n.label == label)
    return right / len(rows)


def check_subtree(small: Tree, tree: Tree) -> None:
    """Check that every node of the small tree is one of the tree, or a cut one."""
    assert small.schema is tree.schema
    pairs = [(small.root, tree.root)]
    n_pairs = 0
    while pairs:
        found, original = pairs.pop()
        n_pairs += 1
        for name in ("depth", "branch", "n_rows", "label", "forced"):
            assert getattr(found, name) == getattr(original, name), name
        assert found.candidates is original.candidates
        assert found.weights.tolist() == original.weights.tolist()
        assert found.distribution.tolist() == original.distribution.tolist()
        if found.is_leaf and not original.is_leaf:
            assert found.reason is Reason.PRUNED
            assert found.chosen is None
            continue
        assert found.reason is original.reason
        assert found.chosen == original.chosen
        assert found.surrogates == original.surrogates
        assert found.default_branch == original.default_branch
        pairs += zip(small.children(found), tree.children(original), strict=True)
    assert n_pairs == len(small)
    for number, node in enumerate(small):
        assert node.number == number
        assert all(small.nodes[child].parent == number for child in node.children)


def against(tree: Tree, columns: list, classes: np.ndarray, method: str) -> Pruned:
    """Prune a tree against coded validation rows."""
    rows = EncodedRows(columns, classes, np.ones(len(classes)))
    return pruned(tree, method, validation=rows)


@pytest.mark.parametrize("missing", [False, True])
@given(data=st.data())
@settings(max_examples=examples(60))
def test_reduced_error_pruning_never_lowers_accuracy(missing, data):
    tree, rows = data.draw(trees_and_validation(missing=missing))
    columns, classes = coded(tree, rows)
    result = against(tree, columns, classes, "reduced-error")
    check_subtree(result.tree, tree)
    before, after = right_by_parts(tree, rows), right_by_parts(result.tree, rows)
    assert after >= before - ROUNDING
    inner = [node for node in tree if not node.is_leaf]
    assert {step.node for step in result.steps} == {node.number for node in inner}
    depths = [tree.nodes[step.node].depth for step in result.steps]
    assert depths == sorted(depths, reverse=True)
    accuracy = before
    for step in result.steps:
        assert step.before == pytest.approx(accuracy, abs=ROUNDING)
        assert step.pruned == (step.after > step.before + ROUNDING)
        accuracy = step.after if step.pruned else step.before
    assert accuracy == pytest.approx(after, abs=ROUNDING)


@pytest.mark.parametrize("missing", [False, True])
@given(data=st.data())
@settings(max_examples=examples(60))
def test_pre_pruning_makes_only_splits_that_help(missing, data):
    tree, rows = data.draw(trees_and_validation(missing=missing))
    columns, classes = coded(tree, rows)
    result = against(tree, columns, classes, "pre-pruning")
    check_subtree(result.tree, tree)
    stump = cut(tree, {0})
    accuracy = right_by_parts(stump, rows)
    for step in result.steps:
        assert step.before == pytest.approx(accuracy, abs=ROUNDING)
        assert step.pruned == (step.after <= step.before + ROUNDING)
        accuracy = step.before if step.pruned else step.after
    assert right_by_parts(result.tree, rows) == pytest.approx(accuracy, abs=ROUNDING)
    kept = {step.node for step in result.steps if not step.pruned}
    assert len(kept) == len(result.tree) - result.tree.n_leaves


@given(data=st.data())
@settings(max_examples=examples(30))
def test_the_accuracy_of_whole_rows_is_that_of_predictions(data):
    tree, rows = data.draw(trees_and_validation(missing=False))
    columns, classes = coded(tree, rows)
    for method in ("reduced-error", "pre-pruning"):
        small = against(tree, columns, classes, method).tree
        shares = flatten(small).outputs(columns, len(rows))
        # Unless a category unseen at a node divides a row, as a missing one would.
        reached = [naive.route(small, cells) for cells, _ in rows]
        if all(set(parts.values()) <= {0.0, 1.0} for parts in reached):
            right = float(np.mean(labels_of(shares) == classes))
            assert right == pytest.approx(right_by_parts(small, rows))


# By hand


def hand_made() -> Tree:
    """Return a tree on x of four rows; x > 2.5 is a mistake to be cut."""
    schema = Schema((Attribute("x", "numeric"),), Target("y", ("a", "b")))
    numbers, classes = np.array([1.0, 2.0, 3.0, 3.0, 4.0]), np.array([0, 0, 1, 1, 0])
    source = MemorySource(schema, [numbers], classes=classes)
    return grow_tree(source, RECIPES["cart"])


def test_the_steps_of_a_small_tree():
    tree = hand_made()
    assert [tree.condition(node) for node in tree] == [
        "",
        "x ≤ 2.5",
        "x > 2.5",
        "x ≤ 3.5",
        "x > 3.5",
    ]
    rows = [np.array([1.0, 3.0, 4.0, 5.0])]
    bottom_up = against(tree, rows, np.array([0, 1, 1, 1]), "reduced-error")
    assert bottom_up.steps == (
        PruneStep(2, "x > 2.5", 0.5, 1.0, pruned=True),
        PruneStep(0, "", 1.0, 0.25, pruned=False),
    )
    assert [node.reason for node in bottom_up.tree] == [
        None,
        Reason.PURE,
        Reason.PRUNED,
    ]
    top_down = against(tree, rows, np.array([0, 1, 1, 1]), "pre-pruning")
    assert top_down.steps == (
        PruneStep(0, "", 0.25, 1.0, pruned=False),
        PruneStep(2, "x > 2.5", 1.0, 0.5, pruned=True),
    )
    assert len(top_down.tree) == 3


def test_a_split_that_changes_nothing_stays_bottom_up_and_goes_top_down():
    tree = hand_made()
    rows, classes = [np.array([1.0, 2.0])], np.array([0, 0])
    kept = against(tree, rows, classes, "reduced-error")
    assert len(kept.tree) == len(tree)
    assert not any(step.pruned for step in kept.steps)
    gone = against(tree, rows, classes, "pre-pruning")
    assert len(gone.tree) == 1
    assert gone.tree.root.reason is Reason.PRUNED


def test_a_row_of_an_unknown_class_is_never_right():
    result = against(hand_made(), [np.array([1.0])], np.array([-1]), "reduced-error")
    assert {(step.before, step.after) for step in result.steps} == {(0.0, 0.0)}


def test_cutting_leaves_changes_nothing():
    tree = hand_made()
    check_subtree(cut(tree, ()), tree)
    leaf = tree.leaves[0].number
    assert [node.reason for node in cut(tree, {leaf})] == [n.reason for n in tree]


def test_no_validation_rows():
    with pytest.raises(
        DataError, match="validation table has no rows with a weight above 0"
    ):
        against(hand_made(), [np.array([])], np.array([]), "reduced-error")


def test_an_unknown_method():
    with pytest.raises(ParameterError, match="did you mean 'reduced-error'"):
        against(hand_made(), [np.array([1.0])], np.array([0]), "reduced error")


def test_a_long_chain_is_cut():
    tree = chain_model(5000).tree
    small = cut(tree, {5000})
    assert len(small) == 5001
    assert small.nodes[-1].reason is Reason.PRUNED
    result = against(tree, [np.array([0.0])], np.array([0]), "pre-pruning")
    assert len(result.tree) == 1
    # The last leaf alone says class 1; above it a leaf of class 0 does as well.
    result = against(tree, [np.array([1e9])], np.array([0]), "reduced-error")
    assert [step.node for step in result.steps if step.pruned] == [9996]
    assert len(result.tree) == 9997


def test_reduced_error_pruning_of_a_chain_takes_linear_time(monkeypatch):
    tree = chain_model(300).tree
    calls = []
    condition = Tree.condition
    monkeypatch.setattr(
        Tree, "condition", lambda *args: calls.append(args) or condition(*args)
    )
    against(tree, [np.arange(9.0)], np.arange(9) % 2, "reduced-error")
    assert len(calls) <= 10 * len(tree)
