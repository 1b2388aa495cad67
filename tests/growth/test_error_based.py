"""C4.5's pruning, step by step."""

from itertools import pairwise

import numpy as np
import pytest
from tests.helpers.recipes import by_recipe
from tests.helpers.strategies import TABLES

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.errors import ParameterError
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune.error_based import estimated_errors
from spinney.growth.prune.mutable_nodes import recounted
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource
from spinney.trees import Reason, Tree

LABOR = {"target": "class", "missing_values": ["?"]}


def labor(**settings):
    return spinney.grow(
        TABLES / "labor.csv", **LABOR, **by_recipe(recipe="c4.5", **settings)
    )


def test_estimates_of_leaves():
    # Three pure leaves of 6, 9 and 1 rows: 6 × 0.206 + 9 × 0.143 + 1 × 0.750 = 3.273,
    # and a leaf of 16 rows with one error, Quinlan 1993, page 41. There the leaf wins
    # with 16 × 0.157 = 2.512; from one error on it is approximate: z² = 0.45494,
    # (0.09375 + 0.014217 + 0.6745 × 0.075857) / 1.028434 = 0.154733 of 16 rows.
    leaves = [np.array([n, 0.0]) for n in (6.0, 9.0, 1.0)]
    total = sum(estimated_errors(weights, 0.25) for weights in leaves)
    assert total == pytest.approx(3.273, abs=0.002)
    one_wrong = estimated_errors(np.array([15.0, 1.0]), 0.25)
    assert one_wrong == pytest.approx(16 * 0.154733, abs=1e-4)


def test_errors_are_those_of_the_cheapest_label():
    weights, costs = np.array([6.0, 4.0]), [[0, 5], [1, 0]]
    assert estimated_errors(weights, 0.25, costs) > 6
    assert estimated_errors(weights, 0.25) < 6


def test_steps_say_what_was_done():
    model = labor()
    actions = [step.action for step in model.pruning_]
    assert {"replaced", "raised"} <= set(actions)
    assert all(step.pruned for step in model.pruning_ if step.action == "replaced")


def test_a_subtree_that_errs_no_less_is_collapsed_first():
    # x parts the rows for some gain, and both sides keep the label a.
    columns = {"x": ["p"] * 6 + ["q"] * 6, "y": list("aaaaaaaaaabb")}
    model = spinney.grow(columns, "y", recipe="c4.5", pruning="collapse")
    assert model.tree.n_leaves == 1
    (step,) = model.pruning_
    assert (step.action, step.before, step.after) == ("collapsed", 2, 2)


def test_a_raised_node_has_the_counts_of_its_own_rows():
    model = labor()
    tree = model.tree
    for node in tree:
        if node.is_leaf:
            continue
        np.testing.assert_allclose(
            sum(child.weights for child in tree.children(node)), node.weights
        )
        table = node.candidate.table
        np.testing.assert_allclose(table.total + table.missing, node.weights)
        assert model.explain(node.number).chosen is not None


def counted_as_their_nodes(tree: Tree) -> bool:
    """Return whether every candidate counts the rows of its node."""
    return all(
        np.allclose(found.table.total + found.table.missing, node.weights)
        for node in tree
        for found in node.candidates
    )


def test_a_leaf_that_was_raised_keeps_no_counts_of_other_rows(tmp_path):
    """A node cut to a leaf, then raised, has rows on which nothing was asked."""
    x = [43, 7, 20, 0, 47, 13, 34, 21, 12, None, 44, 35]
    table = {"x": x, "y": list("cacaccbaccbb")}
    model = spinney.grow(table, "y", **by_recipe(recipe="c4.5", construct=1))
    assert any(step.action == "raised" for step in model.pruning_)
    assert counted_as_their_nodes(model.tree)
    model.save(tmp_path / "raised.spinney")


@pytest.mark.parametrize("made", [{}, {"construct": 1}])
def test_candidates_count_the_rows_of_their_nodes(made):
    raised = 0
    for seed in range(30):
        random = np.random.default_rng(seed)
        columns = {
            name: [
                None if random.random() < 0.1 else int(cell)
                for cell in random.integers(0, 50, 24)
            ]
            for name in ("x", "z")
        }
        table = {**columns, "y": random.choice(list("abc"), 24).tolist()}
        model = spinney.grow(
            table, "y", **by_recipe(recipe="c4.5", confidence=0.5, **made)
        )
        raised += any(step.action == "raised" for step in model.pruning_)
        assert counted_as_their_nodes(model.tree)
    assert raised


def test_without_raising_questions_stay_where_they_are():
    assert {step.action for step in labor(raising=False).pruning_} <= {
        "collapsed",
        "replaced",
        "kept",
    }


def test_no_pruning_leaves_no_steps():
    model = labor(pruning="none")
    assert model.pruning_ == ()
    assert not any(leaf.reason is Reason.PRUNED for leaf in model.tree.leaves)


def test_less_confidence_prunes_more():
    sizes = [len(labor(confidence=c).tree) for c in (0.5, 0.25, 0.01)]
    assert sizes == sorted(sizes, reverse=True)


def test_a_forced_node_stays():
    model = labor(forced_splits={(): "duration"}, confidence=0.01)
    assert not model.tree.root.is_leaf
    assert model.tree.root.forced


def test_a_tree_for_numbers_is_not_pruned_by_errors():
    columns = {"x": list(range(30)), "y": [0.5 + n // 10 for n in range(30)]}
    assert spinney.grow(columns, "y", recipe="c4.5").tree.n_leaves == 3


def test_class_weights_count_in_pruning_too():
    even = labor(class_weight="balanced").tree
    for node in even:
        if not node.is_leaf:
            below = sum(child.weights for child in even.children(node))
            np.testing.assert_allclose(below, node.weights)


@pytest.mark.parametrize(
    "settings",
    [
        {"pruning": "some"},
        {"pruning": None, "confidence": 0},
        {"confidence": 0.6},
        {"raising": "yes"},
        {"mdl_correction": 1},
        {"min_cut_share": 1.5},
        {"min_step": -1},
        {"thresholds": "low"},
        {"probability": "bayes"},
        {"m": -1},
    ],
)
def test_settings_that_mean_nothing(settings):
    name = next(name for name, value in settings.items() if value is not None)
    with pytest.raises(ParameterError, match=name):
        labor(**settings)


# Probabilities


def test_laplace_and_m_estimate():
    frequency = labor().tree
    shares = frequency.root.distribution
    for probability, expected in {
        "laplace": lambda w: (w + 1) / (w.sum() + 2),
        "m-estimate": lambda w: (w + 3 * shares) / (w.sum() + 3),
    }.items():
        m = {"m": 3} if probability == "m-estimate" else {}
        tree = labor(probability=probability, **m).tree
        assert len(tree) == len(frequency)
        for node, plain in zip(tree, frequency, strict=True):
            np.testing.assert_allclose(node.weights, plain.weights)
            np.testing.assert_allclose(node.distribution, expected(node.weights))
            assert node.label == int(np.argmax(node.distribution))


@pytest.mark.parametrize(
    "settings", [{}, {"probability": "laplace"}, {"cost_matrix": [[0, 1.2], [1, 0]]}]
)
def test_the_risk_of_raised_branches_is_that_of_their_rows(settings):
    model = labor(**settings)
    assert any(step.action == "raised" for step in model.pruning_)
    changed = [step for step in model.pruning_ if step.action != "kept"]
    for step, following in pairwise(changed):
        assert following.risk_before == pytest.approx(step.risk_after)
    tree = model.tree
    costs = np.array(settings.get("cost_matrix", [[0, 1], [1, 0]]))
    risk = sum(float(costs[leaf.label] @ leaf.weights) for leaf in tree.leaves)
    assert changed[-1].risk_after == pytest.approx(risk)


def test_a_leaf_that_other_rows_leave_empty_predicts_as_the_node_above():
    schema = Schema(
        (Attribute("x", "nominal", ("p", "q", "r")),), Target("y", ("a", "b"))
    )
    recipe = RECIPES["id3"].changed(probability="laplace")
    codes, classes = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 0, 1])
    tree = grow_tree(MemorySource(schema, [codes], classes=classes), recipe)
    fewer = MemorySource(schema, [codes[:4]], classes=np.array([0, 0, 0, 1]))
    counted = recounted(tree, fewer, recipe=recipe)
    empty = counted.leaves[2]
    assert (empty.n_rows, empty.reason) == (0, Reason.EMPTY)
    np.testing.assert_allclose(empty.distribution, [4 / 6, 2 / 6])  # of 3 a and 1 b
