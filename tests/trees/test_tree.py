"""Finished trees, made by hand."""

import numpy as np
import pytest

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.trees import Candidate, Node, Reason, Tree
from spinney.trees.costs import labels_of
from spinney.trees.counts import CountTable
from spinney.trees.split import Groups, Threshold

COLOR = Attribute("color", "nominal", ("red", "green", "blue"))
SIZE = Attribute("size", "numeric")
SCHEMA = Schema((COLOR, SIZE), Target("kind", ("no", "yes")))


def node(number: int, parent: int | None, **more) -> Node:
    weights = np.array(more.pop("weights", (1, 0)), dtype=float)
    settings = {"branch": 0, "depth": 0, "reason": None, **more}
    return Node(
        number=number,
        parent=parent,
        weights=weights,
        n_rows=int(weights.sum()),
        distribution=weights / weights.sum(),
        label=labels_of(weights),
        **settings,
    )


def asking(split, *, missing=(0, 0)) -> dict[str, object]:
    table = CountTable.of([[1, 1]] * 3, missing)
    return {"candidates": (Candidate(split, table, 0.5, 0.5),), "chosen": 0}


@pytest.fixture
def small() -> Tree:
    """Three leaves: red or green; blue and small; blue and large."""
    first = asking(Groups(0, ((0, 1), (2,)), (0.4, 0.6)))
    second = asking(Threshold(1, 2.5, (0.5, 0.5)))
    return Tree(
        SCHEMA,
        (
            node(0, None, weights=(2, 3), children=(1, 2), **first),
            node(1, 0, weights=(2, 0), depth=1, reason=Reason.PURE),
            node(2, 0, weights=(1, 2), branch=1, depth=1, children=(3, 4), **second),
            node(3, 2, weights=(1, 0), depth=2, reason=Reason.PURE),
            node(4, 2, weights=(0, 2), branch=1, depth=2, reason=Reason.PURE),
        ),
    )


@pytest.fixture
def wide() -> Tree:
    """Four leaves: red; green; blue and small; blue and large."""
    first = asking(Groups(0, ((0,), (1,), (2,)), (0.4, 0.2, 0.4)))
    second = asking(Threshold(1, 2.5, (0.5, 0.5)))
    return Tree(
        SCHEMA,
        (
            node(0, None, weights=(2, 3), children=(1, 2, 3), **first),
            node(1, 0, weights=(2, 0), depth=1),
            node(2, 0, weights=(0, 1), branch=1, depth=1),
            node(3, 0, weights=(1, 1), branch=2, depth=1, children=(4, 5), **second),
            node(4, 3, weights=(1, 0), depth=2),
            node(5, 3, weights=(0, 1), branch=1, depth=2),
        ),
    )


def test_the_size_of_two_trees(wide: Tree, small: Tree):
    # EXPECTED.md, 002: leaves, height, external path length, weighted by rows.
    found = [
        (
            tree.n_leaves,
            tree.height,
            tree.external_path_length,
            tree.weighted_external_path_length,
        )
        for tree in (wide, small)
    ]
    assert found == [(4, 2, 6, 7), (3, 2, 5, 8)]
    # Over the five rows of each; one condition an attribute.
    assert [tree.mean_path_length for tree in (wide, small)] == [7 / 5, 8 / 5]
    assert wide.rule_lengths == [1, 1, 2, 2]


def test_a_tree_is_a_walk_over_its_nodes(small: Tree):
    assert len(small) == 5
    assert list(small) == list(small.nodes)
    assert small.root is small.nodes[0]
    assert [leaf.number for leaf in small.leaves] == [1, 3, 4]


def test_children_and_paths(small: Tree):
    assert [n.number for n in small.children(small.root)] == [1, 2]
    assert small.children(small.nodes[4]) == ()
    assert [n.number for n in small.path(4)] == [0, 2, 4]
    assert [n.number for n in small.path(0)] == [0]


def test_how_conditions_read(small: Tree):
    assert [small.condition(n) for n in small] == [
        "",
        "color ∈ {red, green}",
        "color = blue",
        "size ≤ 2.5",
        "size > 2.5",
    ]
    assert small.condition(small.nodes[1], ascii_only=True) == "color in {red, green}"


@pytest.mark.parametrize(
    "split, missing, expected",
    [
        (
            Groups(0, ((0,), (1, 2)), (), missing=1),
            (1, 0),
            "color ∈ {green, blue} or missing",
        ),
        (Groups(0, ((0,), (1, 2)), (), missing=1), (0, 0), "color ∈ {green, blue}"),
        (Groups(0, ((0,), (1,)), (), missing=1), (1, 0), "color ≠ red or missing"),
        (Groups(0, ((0,), (1,)), (), missing=1), (0, 0), "color ≠ red"),
        (Groups(0, ((0,), (1,)), (), missing=0), (1, 0), "color = green"),
        (Groups(0, ((0,), (1,)), (), missing=None), (1, 0), "color = green"),
        (Groups(0, ((0,), ()), (), missing=1), (1, 0), "color is missing"),
        (Threshold(1, np.inf, (), missing=1), (1, 0), "size is missing"),
        (Threshold(1, 1.0, (), missing=1), (1, 0), "size > 1 or missing"),
    ],
)
def test_a_branch_tells_that_missing_rows_came_here(split, missing, expected: str):
    found = Candidate(split, CountTable.of([[1, 1]] * 2, missing), 0.5, 0.5)
    tree = Tree(SCHEMA, (node(0, None),))
    assert tree.branch_text(tree.root, found, 1) == expected


def test_what_a_node_knows(small: Tree):
    root, leaf = small.nodes[:2]
    assert (root.is_leaf, leaf.is_leaf) == (False, True)
    assert root.weight == 5
    assert root.split.groups == ((0, 1), (2,))
    assert leaf.split is None


def test_runners_up_are_in_order_of_merit():
    table = CountTable.of([[1, 1]])
    merits = (0.1, 0.4, 0.3, 0.2)
    found = tuple(Candidate(Threshold(0, 0, ()), table, 0, merit) for merit in merits)
    asked = node(0, None, candidates=found, chosen=1)
    assert [c.merit for c in asked.runners_up] == [0.3, 0.2, 0.1]
    unsplit = node(0, None, candidates=found)
    assert [c.merit for c in unsplit.runners_up] == [0.4, 0.3, 0.2, 0.1]


@pytest.mark.parametrize(
    "weights, expected",
    [
        ([3, 1], 0),
        ([1, 1], 1),
        ([2, 2, 1], 1),
        ([2, 1, 2], 2),
        ([1, 1 - 1e-13], 1),
        ([1, 1 - 1e-11], 0),
        ([0, 0], 1),
    ],
)
def test_the_last_of_equally_heavy_classes_is_the_label(weights, expected: int):
    assert labels_of(np.array(weights, dtype=float)) == expected


def test_a_chain_of_ten_thousand_nodes_is_walked_without_recursion():
    """Every second node is a leaf: the tree is five thousand questions high."""
    split = asking(Threshold(1, 0.5, (0.5, 0.5)))
    nodes = [node(0, None, children=(1, 2), **split)]
    for depth in range(1, 5001):
        top = len(nodes) - 1
        nodes.append(node(top + 1, top, depth=depth, reason=Reason.PURE))
        inner = {"children": (top + 3, top + 4), **split} if depth < 5000 else {}
        nodes.append(node(top + 2, top, branch=1, depth=depth, **inner))
    tree = Tree(SCHEMA, tuple(nodes))
    assert len(tree) == 10_001
    assert tree.height == 5000
    assert tree.n_leaves == 5001
    assert tree.external_path_length == 5000 * 5001 // 2 + 5000
    assert len(tree.path(10_000)) == 5001
    assert tree.condition(tree.nodes[-1]) == "size > 0.5"
    assert repr(tree).startswith("Tree(")


def test_values_that_went_another_way_are_not_denied():
    # At the node of "no" 31-40 has gone left, so "age = <=30" says it all; at the
    # root of a table that lacks a value in one branch, the other takes the unseen.
    table = {
        "age": ["31-40", "<=30", "<=30", ">40", ">40", "31-40"],
        "late": ["no", "no", "no", "no", "yes", "yes"],
        "y": ["+", "-", "-", "+", "-", "+"],
    }
    model = spinney.grow(table, "y", recipe="cart", forced_splits={(): "age"})
    texts = [model.tree.condition(each) for each in model.tree]
    assert texts[:3] == ["", "age = 31-40", "age ∈ {<=30, >40}"]
    assert not any("≠" in text for text in texts)
    table = {"late": list("nnyyy"), "c": list("pqppr"), "y": list("+-+-+")}
    model = spinney.grow(table, "y", recipe="cart", forced_splits={(): "late"})
    below = [model.tree.condition(each) for each in model.tree if each.depth == 2]
    assert below == ["c ≠ q", "c = q", "c ≠ r", "c = r"]
    assert str(model.rules()[0]).startswith("IF late = n AND c ∈ {p, r} THEN")
