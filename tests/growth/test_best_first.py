"""Class weights, costs and limits: loops grow what the plain learner grows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth.test_grow_binned import training_sets
from tests.helpers.alike import same_node, same_tree
from tests.helpers.fuzz import examples

from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.best_first import limited
from spinney.growth.binned.binned_limits import can_grow_binned
from spinney.growth.growers import BINNED, MULTIWAY, PLAIN
from spinney.growth.growth_options import Options
from spinney.growth.multiway.multiway_limits import can_grow_multiway
from spinney.recipes import RECIPES
from spinney.sources.rows.training_rows import TrainingSet
from spinney.sources.training_data import TrainingData
from spinney.trees import Reason

CART, C45 = RECIPES["cart"], RECIPES["c4.5"]
LIMITS = st.sampled_from([None, 1, 2, 3, 5, 8, 100])
WEIGHTS = st.sampled_from([None, (2.0, 0.5, 1.0, 3.0, 10 / 3)])


# ``costs[label][true]``; those of fewer classes are in the corner.
COSTS = st.sampled_from(
    [
        None,
        None,
        1.0 - np.eye(5),
        np.array(
            [
                [0, 1, 4, 1, 1],
                [5, 0, 1, 2, 1],
                [1, 3, 0, 1, 9],
                [1, 1, 1, 0, 1],
                [2, 1, 1, 1, 0],
            ]
        )
        / 3,
    ]
)


def options_of(training, weights, costs=None) -> Options:
    n = training.schema.n_classes
    if not n:
        return Options()
    return Options(
        class_weights=None if weights is None else np.array(weights[:n]),
        costs=None if costs is None else costs[:n, :n],
    )


def same_with_surrogates(one, other):
    """Refuse nodes that differ, or send missing values otherwise."""
    same_node(one, other)
    assert one.default_branch == other.default_branch
    assert [each.split for each in one.surrogates] == [
        each.split for each in other.surrogates
    ]


@given(
    training_sets(),
    LIMITS,
    WEIGHTS,
    COSTS,
    st.sampled_from(["branch", "surrogate"]),
    st.sampled_from([{}, {"min_samples_leaf": 3}, {"min_samples_split": 0.3}]),
)
@settings(max_examples=examples(80), deadline=None)
def test_loops_of_two_branches(training, max_leaves, weights, costs, missing, limits):
    recipe = CART.changed(max_leaves=max_leaves, missing_policy=missing, **limits)
    options = options_of(training, weights, costs)
    if can_grow_binned(training, recipe, options):
        plain = PLAIN.grow(TrainingData(training), recipe, options)
        compiled = BINNED.grow(TrainingData(training), recipe, options)
        same_tree(plain, compiled, same_with_surrogates)


@pytest.mark.parametrize(
    "limits",
    [{"min_samples_leaf": 12}, {"min_samples_leaf": 0.03}, {"min_samples_split": 60}],
    ids=str,
)
@pytest.mark.parametrize("n_values", [6, 1000], ids=["in bins", "in order"])
def test_costs_alter_weights_but_not_limits(limits, n_values):
    random = np.random.default_rng(n_values)
    schema = Schema(
        (Attribute("x", "numeric"), Attribute("z", "numeric")), Target("y", ("a", "b"))
    )
    columns = tuple(random.integers(0, n_values, 700).astype(float) for _ in range(2))
    classes = (columns[0] + random.normal(size=700) * n_values > n_values).astype(int)
    training = TrainingSet(schema, columns, classes, None)
    recipe = CART.changed(missing_policy="branch", **limits)
    options = Options(costs=np.array([[0.0, 1.0], [6.0, 0.0]]))
    assert can_grow_binned(training, recipe, options)
    plain = PLAIN.grow(TrainingData(training), recipe, options)
    compiled = BINNED.grow(TrainingData(training), recipe, options)
    same_tree(plain, compiled, same_node)
    assert compiled.schema.target.costs == ((0.0, 1.0), (6.0, 0.0))
    leaves = [leaf.n_rows for leaf in compiled.leaves]
    assert min(leaves) >= limits.get("min_samples_leaf", 1)


@given(training_sets(), LIMITS, WEIGHTS)
@settings(max_examples=examples(60), deadline=None)
def test_loops_of_many_branches(training, max_leaves, weights):
    recipe = C45.changed(max_leaves=max_leaves)
    options = options_of(training, weights)
    if can_grow_multiway(training, recipe, options):
        plain = PLAIN.grow_and_prune(TrainingData(training), recipe, options)
        compiled = MULTIWAY.grow_and_prune(TrainingData(training), recipe, options)
        same_tree(plain.tree, compiled.tree, same_node)
        steps = ([(s.node, s.action) for s in each.steps] for each in (plain, compiled))
        assert next(steps) == next(steps)


@pytest.mark.parametrize("max_leaves", [1, 2, 3, 4])
def test_the_split_of_the_greatest_gain_over_all_rows_comes_first(max_leaves):
    # Left of 4 the classes alternate in pairs; right of it one row of eight is odd.
    schema = Schema((Attribute("x", "numeric"),), Target("y", ("a", "b")))
    classes = np.array([0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0])
    rows = TrainingSet(schema, (np.arange(12.0),), classes, None)
    recipe = CART.changed(missing_policy="branch")
    whole = PLAIN.grow(TrainingData(rows), recipe, Options())
    tree = limited(whole, recipe.changed(max_leaves=max_leaves))
    assert tree.n_leaves == min(max_leaves, whole.n_leaves)
    closed = [node for node in tree if node.reason is Reason.LEAVES]
    assert bool(closed) == (max_leaves < whole.n_leaves)
    assert all(node.candidates for node in closed)
    assert whole.n_leaves == 3
