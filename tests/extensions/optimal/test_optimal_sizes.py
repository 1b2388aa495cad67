"""The best tree of so many leaves, and those without error: equal to brute force."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.twins.naive_optimal import least_by_leaves, least_without_error

import spinney
from spinney import Recipe, TreeClassifier
from spinney.errors import DataError, ParameterError
from spinney.extensions.optimal import search_problem
from spinney.extensions.optimal.feature_columns import FeatureColumn
from spinney.extensions.optimal.kernels.layout import Family
from spinney.extensions.optimal.objectives import make_objective
from spinney.extensions.optimal.row_losses import RowLosses
from spinney.extensions.optimal.search_problem import (
    make_problem,
    refuse_size,
    sizes_up_to,
    workspace_for,
)
from spinney.extensions.optimal.search_trees import search_trees


def size_of(tree):
    return 1 if tree is None else size_of(tree.left) + size_of(tree.right)


def tree_cost(tree, ranks, losses, rows, leaf_cost, path_cost):
    """Send rows down a tree of cuts, and add up what leaves and questions cost."""
    if tree is None:
        return losses[rows].sum(axis=0).min()
    left = ranks[tree.cut.column, rows] <= tree.cut.rank
    cost = leaf_cost + path_cost[rows].sum()
    one = tree_cost(tree.left, ranks, losses, rows[left], leaf_cost, path_cost)
    return (
        cost
        + one
        + tree_cost(tree.right, ranks, losses, rows[~left], leaf_cost, path_cost)
    )


@given(st.data())
@settings(max_examples=examples(200), deadline=None)
def test_limits_of_leaves_and_path_costs_equal_brute_force(data):
    depth = data.draw(st.integers(0, 4))
    n_rows = data.draw(st.integers(2, 9 if depth < 4 else 7))
    n_columns = data.draw(st.integers(1, 3 if depth < 4 else 2))
    cells = st.integers(0, data.draw(st.sampled_from([1, 1, 4])))
    lists = st.lists(cells, min_size=n_rows, max_size=n_rows)
    ranks = np.array([data.draw(lists) for _ in range(n_columns)])
    n_classes = data.draw(st.integers(2, 3))
    classes = [data.draw(st.integers(0, n_classes - 1)) for _ in range(n_rows)]
    weigh = st.sampled_from([1.0, 2.0, 0.5])
    weights = np.array([data.draw(weigh) for _ in range(n_rows)])
    losses = weights[:, None] * (1.0 - np.eye(n_classes))[classes]
    leaf_cost = data.draw(st.sampled_from([0.0, 0.25, 1.0]))
    path_cost = weights * data.draw(st.sampled_from([0.0, 0.125, 0.03125]))
    limit = data.draw(st.one_of(st.none(), st.integers(1, 2**depth + 1)))
    pair = n_classes == 2
    problem = make_problem(
        ranks,
        losses[:, :1] - losses[:, 1:] if pair else losses,
        losses.max(axis=1) + depth * path_cost,
        family=Family.PAIR if pair else Family.LABELS,
        leaf_cost=leaf_cost,
        path_cost=path_cost,
    )
    found = search_trees(problem, depth, max_leaves=limit)
    most = min(2**depth, limit or 2**depth)
    rows = range(n_rows)
    every = {"leaf_cost": leaf_cost, "path_cost": path_cost}
    wanted = least_by_leaves(ranks, losses, rows, depth, most, **every)[-1] + leaf_cost
    assert found.loss == pytest.approx(wanted, abs=1e-9)
    assert found.bound == found.loss
    assert size_of(found.tree) <= most
    own = tree_cost(found.tree, ranks, losses, np.arange(n_rows), leaf_cost, path_cost)
    assert own + leaf_cost == pytest.approx(wanted, abs=1e-9)


@given(st.data())
@settings(max_examples=examples(80), deadline=None)
def test_trees_without_error_equal_brute_force(data):
    n_rows = data.draw(st.integers(2, 8))
    lists = st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)
    ranks = np.array([data.draw(lists) for _ in range(3)])
    labels = [data.draw(st.sampled_from("pqr")) for _ in range(n_rows)]
    alike = {}  # rows that no question tells apart have one label
    labels = [
        alike.setdefault(tuple(ranks[:, row]), label)
        for row, label in enumerate(labels)
    ]
    if len(set(labels)) < 2:
        return
    depth = data.draw(st.integers(1, 4))
    table = {f"x{at}": values.astype(float) for at, values in enumerate(ranks)}
    wanted = least_without_error(ranks, labels, range(n_rows), depth)
    for objective, least in zip(("leaves", "path_length"), wanted, strict=True):
        recipe = Recipe.named("optimal").changed(max_depth=depth, objective=objective)
        if least == float("inf"):
            with pytest.raises(ParameterError, match=f"none of depth {depth}: raise"):
                TreeClassifier(recipe).fit(table, labels)
            continue
        tree = TreeClassifier(recipe).fit(table, labels).tree
        certificate = tree.certificate
        assert certificate.is_proven
        assert certificate.loss == least
        by_rows = tree.weighted_external_path_length
        assert least == (tree.n_leaves if objective == "leaves" else by_rows)


def test_limits_of_leaves_on_a_table():
    losses = []
    for most in (1, 2, 3, 4, 5, 8):
        tree = spinney.grow(
            "tests/tables/penguins.csv",
            target="species",
            recipe="optimal",
            max_leaves=most,
        ).tree
        wrong = sum(leaf.weights.sum() - leaf.weights.max() for leaf in tree.leaves)
        assert tree.certificate.is_proven
        assert tree.certificate.loss == wrong
        assert tree.n_leaves <= most
        losses.append(wrong)
        if most == 3:
            words = "proven: no tree of 3 leaves loses less than 17 on these rows"
            assert str(tree.certificate) == words
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == 1  # as of depth 3 without a limit


def test_rows_that_are_alike_are_no_avoidable_error(tmp_path):
    table = {"a": [0, 0, 1, 1, 2], "y": ["p", "q", "p", "p", "q"]}
    recipe = Recipe.named("optimal").changed(objective="leaves", max_leaves=3)
    model = spinney.grow(table, "y", recipe=recipe)
    certificate = model.tree.certificate
    assert (model.tree.n_leaves, certificate.loss) == (2, 2)
    assert str(certificate).startswith("proven: no tree without an avoidable error")
    model.save(tmp_path / "small.spinney")
    assert spinney.load(tmp_path / "small.spinney").tree.certificate == certificate


def test_a_search_that_ends_between_two_depths_proves_nothing():
    random = np.random.default_rng(5)
    ranks = random.integers(0, 9, (4, 60))
    numbers = random.choice([-1.0, 1.0], (60, 1))
    problem = make_problem(
        ranks, numbers, np.ones(60), family=Family.PAIR, leaf_cost=0.001
    )

    def stop(loss, bound):
        problem.stop[0] = bound >= loss

    for depth in (4, 5):  # depth 3 ends, and the next one does not
        found = search_trees(problem, depth, on_progress=stop)
        assert found.bound < found.loss


def test_an_interrupted_search_is_no_worse_than_a_lookahead_of_two_splits():
    random = np.random.default_rng(3)
    ranks = random.integers(0, 100, (6, 300))
    classes = sum((ranks[at] > 30).astype(int) << at for at in range(3))
    losses = (1.0 - np.eye(8))[classes]
    leaf_cost = 2.0**-10
    problem = make_problem(
        ranks, losses, np.ones(300), family=Family.LABELS, leaf_cost=leaf_cost
    )

    def stop(loss, bound):
        problem.stop[0] = 1

    found = search_trees(problem, 4, on_progress=stop)
    assert found.loss == 8 * leaf_cost  # a leaf for each class
    assert found.bound < found.loss


@pytest.mark.parametrize("most_leaves", [None, 31])
def test_a_search_is_refused_by_the_memory_of_its_workspaces(most_leaves, monkeypatch):
    ranks = np.arange(200).reshape(2, 100)
    numbers = np.ones((100, 1))
    problem = make_problem(
        ranks, numbers, np.ones(100), family=Family.PAIR, leaf_cost=0.1
    )
    problem = problem._replace(sizes=sizes_up_to(most_leaves))
    n_bytes = 3 * sum(array.nbytes for array in workspace_for(problem, 5))
    monkeypatch.setattr(search_problem, "MAX_BYTES", n_bytes)
    refuse_size(problem, 5, 3)
    monkeypatch.setattr(search_problem, "MAX_BYTES", n_bytes - 1)
    fewer = "rows or attributes" if most_leaves is None else "rows, attributes or leav"
    with pytest.raises(DataError, match=f"2 columns .* 100 rows .*: use fewer {fewer}"):
        refuse_size(problem, 5, 3)


def test_a_function_of_three_flags_needs_four_leaves_and_two_splits_a_row():
    # (x1 and x2) or (not x1 and not x3): every row is asked two questions.
    rows = np.array(list(itertools.product([0, 1], repeat=3)))
    label = (rows[:, 0] & rows[:, 1]) | ((1 - rows[:, 0]) & (1 - rows[:, 2]))
    for objective, least in (("leaves", 4), ("path_length", 16)):
        recipe = Recipe.named("optimal").changed(max_depth=5, objective=objective)
        certificate = TreeClassifier(recipe).fit(rows, label).tree.certificate
        assert certificate.loss == certificate.bound == least


def test_path_lengths_are_weighted_by_rows_and_classes():
    # a parts p from the rest, b parts q from r: rows of p are asked once, others twice.
    table = {"a": [0, 0, 1, 1, 1], "b": [0, 1, 0, 0, 1]}
    labels, weights = ["p", "p", "q", "q", "r"], [1.0, 2.0, 1.0, 1.0, 3.0]
    recipe = Recipe.named("optimal").changed(objective="path_length")
    model = TreeClassifier(recipe, class_weight={"p": 4.0, "q": 1.0, "r": 0.5})
    certificate = model.fit(table, labels, sample_weight=weights).tree.certificate
    assert certificate.loss == certificate.bound == 4 * 3 * 1 + (2 + 0.5 * 3) * 2


@given(st.data())
@settings(max_examples=examples(200), deadline=None)
def test_a_bound_of_path_lengths_is_at_most_their_exact_sum(data):
    # Two questions of every row; a search that ended early has them as a bound.
    cells = st.floats(0.01, 9.0) if data.draw(st.booleans()) else st.integers(1, 9)
    weights = np.array(data.draw(st.lists(cells, min_size=2, max_size=30)), float)
    kinds = Family.PAIR, weights[:, None], weights, weights, 0.0, weights.sum()
    losses = RowLosses(*kinds, weights.min(), is_exact=False)
    recipe = Recipe.named("optimal").changed(objective="path_length")
    columns = [FeatureColumn(0, np.arange(len(weights)))]
    objective = make_objective(recipe, losses, columns, 3)
    path_cost = data.draw(st.permutations(objective.path_cost.tolist()))
    bound = objective.least + sum(2 * each for each in path_cost)  # rounded at each sum
    exact = 2 * sum(map(Fraction, weights.tolist()))
    least = objective.certify_count(losses, (2 * bound + 1, bound), 1e9)[1]
    assert least <= exact
    assert least == pytest.approx(float(exact), rel=1e-6)
    if np.all(weights == np.rint(weights)):
        assert least == exact
