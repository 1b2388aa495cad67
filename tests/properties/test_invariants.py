"""What must not change a tree, and what every tree obeys."""

from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.strategies import Rows, recipes, source_of, tables

from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.plain.learner import grow_tree
from spinney.recipes import RECIPES, Recipe
from spinney.trees import Reason, Tree
from spinney.trees.split import Threshold

# Sums are taken in another order: rounding, and nothing else.
ROUNDING = 1e-9


def question(tree: Tree, number: int) -> object:
    """Return what a node asks, shares aside."""
    split = tree.nodes[number].split
    return split and replace(split, shares=())


def outline(tree: Tree) -> list[tuple[object, ...]]:
    """Return the tree without its counts."""
    return [
        (node.parent, node.branch, question(tree, node.number), node.label, node.reason)
        for node in tree
    ]


def weights_of(tree: Tree) -> np.ndarray:
    return np.array([node.weights for node in tree])


def assert_same(tree: Tree, other: Tree, *, factor: float = 1.0) -> None:
    assert outline(tree) == outline(other)
    np.testing.assert_allclose(
        weights_of(tree) * factor, weights_of(other), rtol=ROUNDING, atol=ROUNDING
    )


# What must not change a tree


@given(tables(weights=("whole",), max_rows=20), recipes())
@settings(max_examples=examples(100))
def test_a_weight_is_a_number_of_equal_rows(table: Rows, recipe: Recipe):
    # A surrogate needs two rows each way, whatever they weigh.
    recipe = recipe.changed(surrogates=0)
    repeated = []
    for cells, label, weight in table.rows:
        repeated += [(cells, label, 1.0)] * int(weight)
    tree = grow_tree(table.source, recipe)
    other = grow_tree(source_of(table.schema, repeated), recipe)
    assert_same(tree, other)
    assert other.root.n_rows == tree.root.weight


# C4.5's average leaves attributes out that have many values for the weight of all rows.
@given(tables(), recipes(limited=False).filter(lambda r: r.criterion != "gain_ratio"))
@settings(max_examples=examples(100))
def test_trebled_weights_treble_the_counts_only(table: Rows, recipe: Recipe):
    # More rows are better evidence: tests and code lengths may choose otherwise.
    assume(recipe.criterion not in ("chi_square", "g", "mdl"))
    trebled = [(cells, label, weight * 3) for cells, label, weight in table.rows]
    tree = grow_tree(table.source, recipe)
    assert_same(tree, grow_tree(source_of(table.schema, trebled), recipe), factor=3)


@given(tables(), recipes(), st.randoms(use_true_random=False))
@settings(max_examples=examples(150))
def test_the_order_of_rows_is_irrelevant(table: Rows, recipe: Recipe, random):
    shuffled = list(table.rows)
    random.shuffle(shuffled)
    tree = grow_tree(table.source, recipe)
    other = grow_tree(source_of(table.schema, shuffled), recipe)
    assert_same(tree, other)


@given(tables(), recipes())
@settings(max_examples=examples(80))
def test_names_are_names_only(table: Rows, recipe: Recipe):
    renamed = Schema(
        tuple(
            Attribute(f"new-{a.name}", a.kind, tuple(f"new-{v}" for v in a.values))
            for a in table.schema.attributes
        ),
        Target("new-class", tuple(f"new-{c}" for c in table.schema.target.classes)),
    )
    tree = grow_tree(table.source, recipe)
    other = grow_tree(source_of(renamed, table.rows), recipe)
    assert_same(tree, other)
    for node in tree:
        text = other.condition(other.nodes[node.number])
        assert text.replace("new-", "") == tree.condition(node)
        assert text.startswith("new-") == (node.parent is not None)


TRANSFORMS = (lambda x: 2 * x + 1, lambda x: x**3, np.arctan, np.arcsinh)


@given(tables(), recipes(), st.sampled_from(TRANSFORMS))
@settings(max_examples=examples(100))
def test_a_rising_transform_of_numbers_keeps_the_partition(
    table: Rows, recipe: Recipe, transform
):
    recipe = recipe.changed(min_step=0.0)  # a step is measured in the column's unit
    numeric = [attribute.kind == "numeric" for attribute in table.schema.attributes]
    transformed = [
        (
            [
                float(transform(c)) if number and c is not None else c
                for c, number in zip(cells, numeric, strict=True)
            ],
            label,
            weight,
        )
        for cells, label, weight in table.rows
    ]
    tree = grow_tree(table.source, recipe)
    other = grow_tree(source_of(table.schema, transformed), recipe)
    assert [(n.parent, n.branch, n.label, n.reason, n.n_rows) for n in tree] == [
        (n.parent, n.branch, n.label, n.reason, n.n_rows) for n in other
    ]
    assert [n.split and n.split.attribute for n in tree] == [
        n.split and n.split.attribute for n in other
    ]
    np.testing.assert_array_equal(weights_of(tree), weights_of(other))


CONSTANTS = ("a value", "a number", "missing")


@given(tables(), recipes(), st.sampled_from(CONSTANTS))
@settings(max_examples=examples(80))
def test_a_column_that_says_nothing_changes_nothing(
    table: Rows, recipe: Recipe, constant: str
):
    # C4.5 leaves attributes of many values out of the average gain, unless all are
    # such; a constant one is not.
    assume(recipe.criterion != "gain_ratio")
    kind, values = ("numeric", ()) if constant == "a number" else ("nominal", ("v",))
    cell = None if constant == "missing" else 0
    attributes = (*table.schema.attributes, Attribute("constant", kind, values))
    wider = Schema(attributes, table.schema.target)
    rows = [([*cells, cell], label, weight) for cells, label, weight in table.rows]
    tree = grow_tree(table.source, recipe)
    other = grow_tree(source_of(wider, rows), recipe)
    np.testing.assert_array_equal(weights_of(tree), weights_of(other))
    for node, twin in zip(tree, other, strict=True):
        assert question(tree, node.number) == question(other, twin.number)
        if node.reason is Reason.EXHAUSTED:  # now the constant one is left
            assert twin.reason in (Reason.IDENTICAL, Reason.DEPTH, Reason.ROWS_TO_SPLIT)
        else:
            assert node.reason == twin.reason


# What every tree obeys


@given(tables(), recipes())
@settings(max_examples=examples(200))
def test_what_every_tree_obeys(table: Rows, recipe: Recipe):
    tree = grow_tree(table.source, recipe)
    for number, node in enumerate(tree):
        assert node.number == number
        assert node.is_leaf == (node.reason is not None) == (node.split is None)
        np.testing.assert_allclose(node.distribution.sum(), 1, rtol=ROUNDING)
        assert node.distribution[node.label] >= max(node.distribution) - ROUNDING
        if node.reason is Reason.EMPTY:
            assert node.weight == node.n_rows == 0
            parent = tree.nodes[node.parent]
            assert node.label == parent.label
            np.testing.assert_array_equal(node.distribution, parent.distribution)
        for branch, child in enumerate(tree.children(node)):
            assert (child.parent, child.branch) == (number, branch)
            assert child.depth == node.depth + 1
            assert child.number > number
    assert recipe.max_depth is None or tree.height <= recipe.max_depth
    assert recipe.max_leaves is None or tree.n_leaves <= recipe.max_leaves


@given(tables(), recipes())
@settings(max_examples=examples(150))
def test_children_add_up_to_their_parent(table: Rows, recipe: Recipe):
    tree = grow_tree(table.source, recipe)
    for node in tree:
        for candidate in node.candidates:
            known, branches = candidate.table, candidate.branches
            for counts in (
                known.total + known.missing,
                branches.total + branches.missing,
            ):
                np.testing.assert_allclose(counts, node.weights, rtol=ROUNDING)
            rows = known.rows.sum() + known.missing_rows.sum()
            assert rows == branches.rows.sum() + branches.missing_rows.sum()
            assert rows == node.n_rows
        children = tree.children(node)
        if children:
            sums = sum(child.weights for child in children)
            np.testing.assert_allclose(sums, node.weights, rtol=ROUNDING)
            divided = node.candidates[node.chosen].branches.missing_rows.sum()
            if node.default_branch is not None:  # surrogates send rows whole
                divided = 0
            n_reached = sum(1 for share in node.split.shares if share > 0)
            n_rows = sum(child.n_rows for child in children)
            assert n_rows == node.n_rows + divided * (n_reached - 1)


@given(tables(), recipes())
@settings(max_examples=examples(150))
def test_limits_on_rows_are_kept(table: Rows, recipe: Recipe):
    tree = grow_tree(table.source, recipe)
    for node in tree:
        children = tree.children(node)
        if not children:
            continue
        least = recipe.min_node_weight(tree.root.weight)
        assert node.weight >= least - ROUNDING
        assert node.candidates[node.chosen].gain >= recipe.min_gain
        branches = node.candidates[node.chosen].branches
        assert sum(1 for rows in branches.rows if rows.any()) >= 2
        sizes = branches.weights.sum(axis=1)
        least = recipe.min_branch_weight(tree.root.weight)
        assert sum(sizes >= least - ROUNDING) >= 2


@given(tables(kinds=("numeric", "ordinal"), missing=False), recipes(limited=False))
@settings(max_examples=examples(60))
def test_without_limits_only_equal_rows_stay_together(table: Rows, recipe: Recipe):
    tree = grow_tree(table.source, recipe)
    least = {Reason.MIN_GAIN} if recipe.criterion == "mdl" else set()  # below 0
    reasons = {leaf.reason for leaf in tree.leaves}
    assert reasons <= {Reason.PURE, Reason.IDENTICAL} | least
    assert all(isinstance(node.split, Threshold) for node in tree if not node.is_leaf)
    kinds = {tuple(cells) for cells, _, _ in table.rows}
    assert tree.n_leaves <= len(kinds)


def test_a_tree_over_exclusive_or_ends_although_nothing_is_gained():
    schema = Schema(
        (Attribute("p", "nominal", ("0", "1")), Attribute("q", "nominal", ("0", "1"))),
        Target("class", ("no", "yes")),
    )
    rows = [([p, q], p ^ q, 1.0) for p in (0, 1) for q in (0, 1)]
    for name in ("id3", "cart"):
        tree = grow_tree(source_of(schema, rows), RECIPES[name])
        assert [node.depth for node in tree] == [0, 1, 2, 2, 1, 2, 2]
        assert tree.root.candidates[0].gain == 0
        assert {leaf.reason for leaf in tree.leaves} == {Reason.PURE}
    tree = grow_tree(source_of(schema, rows), RECIPES["c4.5"])
    assert len(tree) == 1
