"""The best tree of a depth: equal to brute force, proven, read like any other."""

import itertools
import json
import signal
import threading
import time
from dataclasses import asdict
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.twins.naive_optimal import least_loss, least_squares

import spinney
from spinney import Recipe, TreeClassifier, TreeRegressor
from spinney.errors import ParameterError
from spinney.extensions.optimal import grow_optimal, search_problem
from spinney.extensions.optimal.feature_columns import feature_columns
from spinney.extensions.optimal.kernels.layout import Family
from spinney.extensions.optimal.objectives import TIE_BREAK, Objective
from spinney.extensions.optimal.row_losses import RowLosses
from spinney.extensions.optimal.search_problem import make_problem
from spinney.extensions.optimal.search_trees import SplitTree, search_trees
from spinney.output.file.header import CERTIFICATE, read_certificate
from spinney.output.file.strict_json import DamageError
from spinney.trees import Certificate


def tree_loss(tree, ranks, rows, leaf):
    """Send rows down a tree of cuts, and add up what its leaves lose."""
    if tree is None:
        return leaf(rows)
    left = ranks[tree.cut.column, rows] <= tree.cut.rank
    assert left.any()
    assert not left.all()
    one = tree_loss(tree.left, ranks, rows[left], leaf)
    return one + tree_loss(tree.right, ranks, rows[~left], leaf)


@st.composite
def problems(draw):
    """Draw a small table, weights, a price and a depth."""
    depth = draw(st.integers(0, 4))
    n_rows = draw(st.integers(2, 13 if depth < 3 else 8))
    n_columns = draw(st.integers(1, 3 if depth < 4 else 2))
    cells = st.lists(
        st.integers(0, draw(st.integers(1, 6))), min_size=n_rows, max_size=n_rows
    )
    ranks = np.array([draw(cells) for _ in range(n_columns)])
    weigh = st.sampled_from([1.0, 1.0, 2.0, 0.5, 3.25])
    weights = np.array([draw(weigh) for _ in range(n_rows)])
    return ranks, weights, depth, draw(st.sampled_from([0.0, 0.25, 1.0]))


@given(problems(), st.data())
@settings(max_examples=examples(120), deadline=None)
def test_labels_equal_brute_force(problem, data):
    ranks, weights, depth, leaf_cost = problem
    n_classes = data.draw(st.integers(2, 4))
    classes = np.array([data.draw(st.integers(0, n_classes - 1)) for _ in weights])
    cells = st.integers(0, 3).map(float)
    lines = st.lists(cells, min_size=n_classes, max_size=n_classes)
    costs = 1.0 - np.eye(n_classes)
    if data.draw(st.booleans()):
        costs = np.array([data.draw(lines) for _ in range(n_classes)])
    losses = weights[:, None] * costs[classes]
    losses -= losses.min(axis=1, keepdims=True)
    pair = n_classes == 2 and data.draw(st.booleans())
    found = search_trees(
        make_problem(
            ranks,
            losses[:, :1] - losses[:, 1:] if pair else losses,
            losses.max(axis=1),
            family=Family.PAIR if pair else Family.LABELS,
            leaf_cost=leaf_cost,
        ),
        depth,
    )
    wanted = least_loss(ranks, losses, depth, leaf_cost)
    assert found.loss == pytest.approx(wanted, abs=1e-9)
    assert found.bound == found.loss
    own = tree_loss(
        found.tree,
        ranks,
        np.arange(len(weights)),
        lambda rows: losses[rows].sum(axis=0).min() + leaf_cost,
    )
    assert own == pytest.approx(wanted, abs=1e-9)


@given(problems(), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_numbers_equal_brute_force(problem, data):
    ranks, weights, depth, leaf_cost = problem
    cells = st.integers(-9, 9).map(lambda tenths: tenths / 10)
    numbers = np.array([data.draw(cells) for _ in weights])
    numbers = numbers - np.average(numbers, weights=weights)
    far = np.maximum(numbers - numbers.min(), numbers.max() - numbers)
    sums = np.array([weights, weights * numbers, weights * numbers**2]).T
    found = search_trees(
        make_problem(
            ranks, sums, weights * far**2, family=Family.MOMENTS, leaf_cost=leaf_cost
        ),
        depth,
    )
    wanted = least_squares(ranks, numbers, weights, depth, leaf_cost)
    assert found.loss == pytest.approx(wanted, abs=1e-9)
    assert found.bound == found.loss


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_flags_equal_brute_force(data):
    depth = data.draw(st.integers(2, 5))
    n_rows, n_flags = data.draw(st.integers(2, 14)), data.draw(st.integers(2, 4))
    cells = st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows)
    ranks = np.array([data.draw(cells) for _ in range(n_flags)])
    weigh = st.sampled_from([1.0, 2.0, 0.5])
    weights = np.array([data.draw(weigh) for _ in range(n_rows)])
    leaf_cost = data.draw(st.sampled_from([0.0, 0.25, 1.0]))
    if data.draw(st.booleans()):
        numbers = np.array([data.draw(st.integers(-4, 4)) for _ in weights]) / 2.0
        numbers = numbers - np.average(numbers, weights=weights)
        far = np.maximum(numbers - numbers.min(), numbers.max() - numbers)
        sums = np.array([weights, weights * numbers, weights * numbers**2]).T
        kinds = {"family": Family.MOMENTS, "leaf_cost": leaf_cost}
        problem = make_problem(ranks, sums, weights * far**2, **kinds)
        wanted = least_squares(ranks, numbers, weights, depth, leaf_cost)
    else:
        n_classes = data.draw(st.integers(2, 3))
        classes = np.array([data.draw(st.integers(0, n_classes - 1)) for _ in weights])
        losses = weights[:, None] * (1.0 - np.eye(n_classes))[classes]
        pair = n_classes == 2
        kinds = {
            "family": Family.PAIR if pair else Family.LABELS,
            "leaf_cost": leaf_cost,
        }
        sums = losses[:, :1] - losses[:, 1:] if pair else losses
        problem = make_problem(ranks, sums, losses.max(axis=1), **kinds)
        wanted = least_loss(ranks, losses, depth, leaf_cost)
    assert len(problem.n_ones) == n_rows
    found = search_trees(problem, depth)
    assert found.loss == pytest.approx(wanted, abs=1e-9)
    assert found.bound == found.loss


@st.composite
def chained_flags(draw):
    """Draw numbers of few values, and a flag for each cut, some turned round."""
    n_rows, n_numbers = draw(st.integers(2, 60)), draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    numbers = random.integers(0, draw(st.integers(2, 9)), (n_numbers, n_rows))
    flags = [line > cut for line in numbers for cut in np.unique(line)[:-1]]
    turned = random.random(len(flags)) < draw(st.sampled_from([0.0, 0.5]))
    order = random.permutation(len(flags))
    flags = [flags[at] != turned[at] for at in order]
    return numbers, np.array(flags, dtype=int).reshape(-1, n_rows), random


@given(chained_flags(), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_flags_of_all_cuts_lose_what_their_numbers_do(drawn, data):
    # Two solvers: of flags, by sums of pairs, and of cuts. Both search the same trees.
    numbers, flags, random = drawn
    if not len(flags):
        return
    n_rows, n_classes = flags.shape[1], data.draw(st.integers(2, 3))
    depth, limit = data.draw(st.integers(2, 4)), data.draw(st.sampled_from([None, 5]))
    if numbers.max(axis=1).min() < 2:  # the numbers are not to be flags themselves
        numbers = np.vstack([numbers, np.arange(n_rows) % 3])
        flags = np.vstack([flags, [numbers[-1] > 0, numbers[-1] > 1]])
    weights = random.choice([1.0, 2.0, 0.5], n_rows)
    if data.draw(st.booleans()):
        weights = random.random(n_rows) + 0.01
    path_cost = weights * data.draw(st.sampled_from([0.0, 0.03125]))
    leaf_cost = data.draw(st.sampled_from([0.0, 2.0**-10, 0.25]))
    if data.draw(st.booleans()):
        y = random.integers(-4, 5, n_rows) / 2.0
        y -= np.average(y, weights=weights)
        far = np.maximum(y - y.min(), y.max() - y)
        sums = np.array([weights, weights * y, weights * y**2]).T
        family, most = Family.MOMENTS, weights * far**2
    else:
        classes = random.integers(0, n_classes, n_rows)
        losses = weights[:, None] * (1.0 - np.eye(n_classes))[classes]
        sums = losses[:, :1] - losses[:, 1:] if n_classes == 2 else losses
        family = Family.PAIR if n_classes == 2 else Family.LABELS
        most = losses.max(axis=1)
    found = []
    max_work = data.draw(st.sampled_from([0, search_problem.MAX_SMALL_WORK]))
    for ranks in (flags, numbers):
        rows = sums, most + depth * path_cost
        problem = make_problem(
            ranks, *rows, family=family, leaf_cost=leaf_cost, path_cost=path_cost
        )
        with patch.object(search_problem, "MAX_SMALL_WORK", max_work):
            best = search_trees(problem, depth, max_leaves=limit)
        found.append((len(problem.n_ones), best))
    (n_flagged, by_flags), (n_cut, by_cuts) = found
    assert (n_flagged, n_cut) == (n_rows, 0) or n_rows == 2
    assert by_flags.loss == pytest.approx(by_cuts.loss, abs=1e-9)
    assert by_flags.bound == by_flags.loss
    if family != Family.MOMENTS and not path_cost.any():
        labels = np.hstack([np.maximum(sums, 0), np.maximum(-sums, 0)])
        losses = labels if family == Family.PAIR else sums
        for ranks, best in ((flags, by_flags), (numbers, by_cuts)):
            own = tree_loss(
                best.tree,
                ranks,
                np.arange(n_rows),
                lambda rows: losses[rows].sum(axis=0).min() + leaf_cost,
            )
            assert own == pytest.approx(best.loss, abs=1e-9)


@pytest.mark.parametrize("seed", [3, 9, 10, 18, 19, 48])
def test_a_bound_that_adds_up_to_the_goal_is_no_tree(seed):
    # Of weights that are not whole, a side that was not found, and its bound, make with
    # the other side a rounding less than the best tree: the tree would lack that side.
    random = np.random.default_rng(seed)
    cells, sizes = random.random((12, 120)), random.uniform(0.2, 0.5, (12, 1))
    flags, weights = (cells < sizes).astype(int), random.random(120)
    label = flags[0] ^ flags[1] ^ (random.random(120) < 0.2)
    sums = (np.where(label, 1.0, -1.0) * weights)[:, None]
    problem = make_problem(flags, sums, weights, family=Family.PAIR, leaf_cost=1.0)
    found = search_trees(problem, 4)
    losses = np.hstack([np.maximum(sums, 0), np.maximum(-sums, 0)])
    own = tree_loss(
        found.tree,
        flags,
        np.arange(120),
        lambda rows: losses[rows].sum(axis=0).min() + 1.0,
    )
    assert own == pytest.approx(found.loss, abs=1e-9)


def test_columns_with_the_same_splits_are_searched_once():
    flag = np.array([0, 0, 1, 1, 0, 1])
    other = np.array([0, 1, 0, 1, 0, 1])
    table = {
        "flag": flag,
        "same": 5.0 * flag,
        "turned": 1 - flag,
        "named": np.where(flag, "on", "off"),
        "constant": np.ones(6),
        "other": other,
        "scores": 3 * flag + other,
        "again": 7 * flag + 2 * other,
        "negated": -3 * flag - other,
    }
    kept = []

    def columns(training):
        kept.extend(feature_columns(training))
        return kept

    label = np.array([0, 0, 0, 1, 0, 1])
    with patch.object(grow_optimal, "feature_columns", columns):
        tree = TreeClassifier("optimal", max_depth=2).fit(table, label).tree
    names = [tree.schema.attributes[column.attribute].name for column in kept]
    assert names == ["flag", "other", "scores"]
    assert tree.certificate.loss == 0


def errors_of(model, rows, labels):
    return int((np.asarray(model.predict(rows)) != labels).sum())


def test_a_function_that_greedy_search_cannot_find_small():
    # (x1 and x2) or (not x1 and not x3): 002's example of Ockham's razor.
    rows = np.array(list(itertools.product([0, 1], repeat=3)))
    label = (rows[:, 0] & rows[:, 1]) | ((1 - rows[:, 0]) & (1 - rows[:, 2]))
    greedy = TreeClassifier("cart", missing_policy="branch").fit(rows, label)
    best = TreeClassifier("optimal").fit(rows, label)
    assert (best.tree.n_leaves, best.tree.height) == (4, 2)
    assert greedy.tree.n_leaves >= 4
    certificate = best.tree.certificate
    assert certificate.is_proven
    assert certificate.loss == 0
    assert errors_of(best, rows, label) == 0


def test_the_certificate_is_what_the_tree_loses(tmp_path):
    model = spinney.grow(
        "tests/tables/penguins.csv", target="species", recipe="optimal"
    )
    certificate = model.tree.certificate
    wrong = sum(node.weights.sum() - node.weights.max() for node in model.tree.leaves)
    assert certificate.loss == wrong == 1
    assert certificate.leaves == model.tree.n_leaves
    model.save(tmp_path / "best.spinney")
    loaded = spinney.load(tmp_path / "best.spinney")
    assert loaded.tree.certificate == certificate
    assert str(loaded) == str(model)
    assert loaded.model_.recipe.search == "optimal"
    assert "part of the best tree of its size" in str(model.explain(0))


@pytest.mark.parametrize("eps", [0.1, 5e-4, 1e-6])
def test_losses_that_differ_by_little_are_no_tie(eps):
    table = {
        "a": [0, 0, 0, 1, 1, 1, 0, 0],
        "b": [0, 0, 0, 0, 0, 0, 1, 1],
        "y": ["p", "p", "p", "q", "q", "q", "p", "q"],
        "w": [1, 1, 1, 1, 1, 1, 1, 1 + eps],
    }
    model = spinney.grow(table, "y", recipe="optimal", weight="w")
    assert model.tree.certificate.loss == pytest.approx(1, abs=1e-12)
    assert model.tree.n_leaves == 3


def test_depth_two_is_no_worse_than_any_tree_that_greedy_growing_finds():
    data = np.random.default_rng(0).random((80, 4)).round(2)
    label = ((data[:, 0] > 0.5) ^ (data[:, 1] > 0.3)).astype(int)
    best = TreeClassifier("optimal", max_depth=2).fit(data, label)
    for criterion in ("gini", "gain", "misclassification"):
        other = TreeClassifier(
            "cart", criterion=criterion, max_depth=2, missing_policy="branch"
        ).fit(data, label)
        assert errors_of(best, data, label) <= errors_of(other, data, label)


def test_missing_cells_take_the_side_that_loses_least():
    cells = np.array([1.0, 2.0, np.nan, np.nan, 8.0, 9.0])
    label = np.array([0, 0, 1, 1, 0, 0])
    best = TreeClassifier("optimal", max_depth=1).fit(cells[:, None], label)
    assert best.tree.certificate.loss == 0
    assert errors_of(best, cells[:, None], label) == 0
    label = np.array([0, 0, 1, 1, 1, 1])
    best = TreeClassifier("optimal", max_depth=1).fit(cells[:, None], label)
    assert errors_of(best, cells[:, None], label) == 0
    table = {"hue": ["red", "green", None, None, "blue", "blue"]}
    best = TreeClassifier("optimal", max_depth=1).fit(table, label)
    assert errors_of(best, table, label) == 0


def all_binary_splits(table):
    """Return every question of two answers as a column of 0 and 1, from the cells."""
    columns = []
    for cells in table.values():
        known = sorted({cell for cell in cells if cell is not None})
        lacks = None in cells
        if isinstance(known[0] if known else "", str):
            every = [*known, *([None] * lacks)]
            parts = [
                set(part)
                for size in range(1, len(every))
                for part in itertools.combinations(every, size)
            ]
        else:
            parts = [{*known[: at + 1]} for at in range(len(known) - 1)]
            parts += [{*part, None} for part in parts] if lacks else []
            parts += [set(known)] if lacks else []
        columns += [[int(cell not in part) for cell in cells] for part in parts]
    return np.array(columns or [[0] * len(next(iter(table.values())))])


@given(st.data())
@settings(max_examples=examples(80), deadline=None)
def test_tables_with_names_and_gaps_equal_brute_force(data):
    n_rows = data.draw(st.integers(2, 8))
    names = st.sampled_from([None, "u", "v", "w"])
    numbers = st.sampled_from([None, 0.5, 1.0, 2.0])
    rows = {"min_size": n_rows, "max_size": n_rows}
    table = {
        "hue": data.draw(st.lists(names, **rows)),
        "size": data.draw(st.lists(numbers, **rows)),
    }
    label = data.draw(st.lists(st.sampled_from("pqr"), **rows))
    depth = data.draw(st.integers(1, 3))
    if len(set(label)) < 2 or not any(x is not None for x in table["size"]):
        return
    kinds = {"nominal": ["hue"], "numeric": ["size"]}
    model = spinney.grow(
        {**table, "y": label}, "y", recipe="optimal", max_depth=depth, **kinds
    )
    losses = np.array([[float(one != other) for other in "pqr"] for one in label])
    wanted = least_loss(all_binary_splits(table), losses, depth)
    certificate = model.tree.certificate
    assert certificate.is_proven
    assert certificate.loss == wanted
    assert sum(x.weights.sum() - x.weights.max() for x in model.tree.leaves) == wanted


@pytest.mark.parametrize("n_values", [4, 12])
def test_subsets_of_values(n_values):
    values = [f"v{i % n_values}" for i in range(3 * n_values)]
    label = np.array([int(value in ("v1", "v3")) for value in values])
    best = TreeClassifier("optimal", max_depth=2).fit({"x": values}, label)
    certificate = best.tree.certificate
    assert certificate.loss == 0
    assert certificate.one_by_one == (() if n_values == 4 else ("x",))
    assert ("one value of x at a time" in str(certificate)) == (n_values > 7)


def test_numbers_and_weights_and_costs():
    x = np.arange(12.0)[:, None]
    y = np.repeat([1.0, 5.0, 2.0, 9.0], 3)
    tree = TreeRegressor("optimal", max_depth=2).fit(x, y)
    assert tree.tree.n_leaves == 4
    assert tree.tree.certificate.loss == pytest.approx(0, abs=1e-9)
    label = np.array([0, 0, 1, 0, 1, 1])
    x, weights = np.arange(6.0)[:, None], np.array([1, 1, 5, 1, 1, 1.0])
    tree = TreeClassifier("optimal", max_depth=1).fit(x, label, sample_weight=weights)
    assert tree.tree.certificate.loss == 1
    costly = TreeClassifier("optimal", max_depth=1, cost_matrix=[[0, 1], [9, 0]])
    assert costly.fit(x, label).tree.certificate.loss == 1


def test_a_price_makes_smaller_trees():
    data = np.random.default_rng(1).random((60, 3)).round(2)
    label = np.random.default_rng(2).integers(0, 2, 60)
    leaves = []
    for leaf_cost in (0.0, 2.0, 60.0):
        recipe = Recipe.named("optimal").changed(leaf_price=leaf_cost)
        leaves.append(TreeClassifier(recipe).fit(data, label).tree.n_leaves)
    assert leaves[0] >= leaves[1] >= leaves[2] == 1


def test_the_same_tree_by_any_number_of_threads():
    data = np.random.default_rng(3).random((120, 5)).round(2)
    label = np.random.default_rng(4).integers(0, 2, 120)
    one = TreeClassifier("optimal", n_jobs=1).fit(data, label)
    two = TreeClassifier("optimal", n_jobs=2).fit(data, label)
    assert str(one) == str(two)


def test_a_time_limit_leaves_a_bound():
    data = np.random.default_rng(5).random((400, 20))
    label = np.random.default_rng(6).integers(0, 2, 400)
    recipe = Recipe.named("optimal").changed(max_depth=4, time_limit=0.05)
    certificate = TreeClassifier(recipe).fit(data, label).tree.certificate
    assert not certificate.is_proven
    assert 0 <= certificate.bound < certificate.loss
    assert "not proven" in str(certificate)


def test_a_time_limit_of_zero_leaves_a_greedy_tree():
    # Each question loses less than a leaf, and all rows are told apart by three.
    table = {"a": [0, 1, 2, 3] * 4, "b": [0] * 8 + [1] * 8, "y": list("ppqr" * 4)}
    recipe = Recipe.named("optimal").changed(max_depth=3, time_limit=0)
    model = spinney.grow(table, "y", recipe=recipe, numeric=["a", "b"])
    assert model.tree.n_leaves == 3
    assert model.tree.certificate.loss == 0


def test_a_time_limit_of_zero_leaves_a_stump_if_leaves_are_limited():
    table = {"a": [0, 1, 2, 3] * 4, "y": list("ppqq" * 4)}
    recipe = Recipe.named("optimal").changed(max_depth=3, max_leaves=3, time_limit=0)
    model = spinney.grow(table, "y", recipe=recipe, numeric=["a"])
    assert model.tree.n_leaves == 2
    assert model.tree.certificate.loss == 0


def make_losses(*, is_exact=True, unavoidable_loss=0.0):
    ones = np.ones(20)
    sums = np.ones((20, 1))
    return RowLosses(
        Family.PAIR, sums, ones, ones, unavoidable_loss, 20.0, 1.0, is_exact
    )


def loss_and_bound(loss, bound, n_leaves, *, leaf_cost=0.0, **kinds):
    """Return both for trees of up to 8 leaves, as the search has them."""
    cost_per_leaf = max(leaf_cost, TIE_BREAK)
    objective = Objective("loss", cost_per_leaf, leaf_cost, np.zeros(20))
    found = loss + cost_per_leaf * n_leaves, bound
    return objective.certify_loss(make_losses(**kinds), found, n_leaves, 8)


def test_a_bound_holds_of_trees_of_more_leaves():
    # The tree loses 7 with 7 leaves; the best one, of 8 leaves, loses 6.
    loss, bound = loss_and_bound(7.0, 6 + 8 * TIE_BREAK, 7)
    assert (loss, bound) == (7, 6)
    loss, bound = loss_and_bound(7.0, 6 + 8 * TIE_BREAK, 7, is_exact=False)
    assert loss == 7
    assert 6 - 1e-9 < bound <= 6


def test_a_bound_is_rounded_up_to_what_trees_can_lose():
    # No tree loses between 5 and 6; that of 8 leaves costs less than the bound.
    assert loss_and_bound(7.0, 5 + 9 * TIE_BREAK, 7) == (7, 6)
    assert loss_and_bound(7.0, 5 + 9 * TIE_BREAK, 7, unavoidable_loss=0.5) == (7.5, 6.5)
    # One that loses 7 is proven, though one of the same loss may have fewer leaves.
    assert loss_and_bound(7.0, 6.5, 7) == (7, 7)


def test_a_bound_with_a_price_is_of_trees_of_any_size():
    # 8 leaves at 2 and no loss make 16; one leaf that loses 9 makes 11.
    loss, bound = loss_and_bound(0.0, 11.0, 8, leaf_cost=2.0)
    assert loss == 0
    assert bound == pytest.approx(-5)
    assert loss_and_bound(3.0, 11.0, 4, leaf_cost=2.0) == (3, 3)


def test_a_bound_below_nothing_is_read_from_a_file():
    certificate = Certificate(0.0, -3.0, 3, 2.0, 2)
    assert "loses 4 on these rows, and no tree of depth 3 less than 1" in str(
        certificate
    )
    kept = json.loads(json.dumps(asdict(certificate)))
    assert read_certificate({CERTIFICATE: kept}) == certificate
    with pytest.raises(DamageError, match="a bound of -5"):
        read_certificate({CERTIFICATE: {**kept, "bound": -5}})


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="no signals"
)
def test_an_interrupt_ends_the_search():
    # Who is started in the background of a shell hears no interrupt.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    data = np.random.default_rng(5).random((600, 30))
    label = np.random.default_rng(6).integers(0, 2, 600)
    model = TreeClassifier("optimal", max_depth=4, n_jobs=2)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(data, label)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < 10  # of many minutes
    assert not hasattr(model, "model_")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"max_depth": 6}, "max_depth=6"),
        ({"min_samples_leaf": 5}, "min_samples_leaf=5"),
        ({"missing_policy": "fractional"}, "missing_policy='branch'"),
        ({"grouping": "multiway"}, "grouping='binary'"),
        ({"forced_splits": {(): "a"}}, "forced_splits"),
        ({"tie_break_order": ["a"]}, "tie_break_order"),
    ],
)
def test_what_it_cannot_do_is_refused(given, named):
    with pytest.raises(ParameterError, match=named):
        TreeClassifier("optimal", **given).fit({"a": [1, 2, 3, 4]}, [0, 1, 0, 1])


def test_settings_of_the_search_need_it():
    with pytest.raises(ParameterError, match="leaf_price=2"):
        Recipe.named("cart").changed(leaf_price=2)


def test_branches_are_read_from_the_root():
    ranks = np.array([[0, 1, 2, 3]])
    numbers = np.array([1.0, -1.0, 1.0, -1.0])[:, None]
    problem = make_problem(
        ranks, numbers, np.ones(4), family=Family.PAIR, leaf_cost=0.001
    )
    found = search_trees(problem, 2)
    assert isinstance(found.tree, SplitTree)
    assert found.loss == pytest.approx(0.004)
