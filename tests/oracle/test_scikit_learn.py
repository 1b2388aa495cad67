"""CART without limits against scikit-learn's, which is CART too.

The trees need not be equal, as scikit-learn settles ties by chance. So either the
best decrease of impurity is compared, node by node, on data full of ties; or the
impurity that is left at each depth, on data where weights make ties impossible.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier
from tests.helpers.fuzz import examples
from tests.twins import naive
from tests.twins.naive_criteria import entropy, gini

from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.plain.learner import grow_tree
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource
from spinney.trees import Reason, Tree

CRITERIA = {
    "gini": ("gini", gini),
    "gain": ("entropy", entropy),
}

# Both sum in double precision, in another order.
ROUNDING = 1e-9


def grown(numbers, classes, *, weights, criterion: str, max_depth=None) -> Tree:
    attributes = tuple(
        Attribute(f"x{place}", "numeric") for place in range(numbers.shape[1])
    )
    schema = Schema(attributes, Target("class", ("a", "b", "c")))
    source = MemorySource(schema, list(numbers.T), classes=classes, weights=weights)
    recipe = RECIPES["cart"].changed(criterion=criterion, max_depth=max_depth)
    return grow_tree(source, recipe)


def left_impurity(model: DecisionTreeClassifier) -> float:
    """Return the impurity of the leaves, times their weights."""
    tree = model.tree_
    leaf = tree.children_left < 0
    return float((tree.impurity * tree.weighted_n_node_samples)[leaf].sum())


def stump_decrease(numbers, classes, weights, criterion: str) -> float | None:
    """Return the best decrease of impurity by one split; None if there is none."""
    name = CRITERIA[criterion][0]
    stump = DecisionTreeClassifier(criterion=name, max_depth=1, random_state=0)
    stump.fit(numbers, classes, sample_weight=weights)
    if stump.tree_.node_count == 1:
        return None
    return float(stump.tree_.impurity[0] - left_impurity(stump) / weights.sum())


# Quarters are exact in the single precision that scikit-learn works in.
QUARTERS = st.integers(-8, 8).map(lambda n: n / 4)
WEIGHTS = st.sampled_from((1.0, 2.0, 0.25, 1 / 3))


@st.composite
def samples(draw: st.DrawFn):
    n_rows, n_columns = draw(st.integers(2, 30)), draw(st.integers(1, 3))
    size = {"min_size": n_rows, "max_size": n_rows}
    columns = [draw(st.lists(QUARTERS, **size)) for _ in range(n_columns)]
    classes = draw(st.lists(st.integers(0, 2), **size))
    weights = draw(st.lists(WEIGHTS, **size))
    return np.array(columns).T, np.array(classes), np.array(weights)


@pytest.mark.parametrize("criterion", CRITERIA)
@given(sample=samples())
@settings(max_examples=examples(60))
def test_no_node_has_a_better_split(criterion: str, sample):
    numbers, classes, weights = sample
    tree = grown(numbers, classes, weights=weights, criterion=criterion)
    reached = [naive.route(tree, row) for row in numbers.tolist()]
    for node in tree:
        if node.reason is Reason.PURE:  # where scikit-learn may split by rounding
            continue
        here = np.array([parts[node.number] > 0 for parts in reached])
        best = stump_decrease(numbers[here], classes[here], weights[here], criterion)
        if best is None:
            assert node.is_leaf
        else:
            merit = node.candidates[node.chosen].merit
            assert merit == pytest.approx(best, rel=ROUNDING, abs=ROUNDING)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(3))
def test_the_same_impurity_is_left_at_every_depth(criterion: str, seed: int):
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(200, 4)).astype(np.float32).astype(np.float64)
    noisy = numbers[:, 0] + numbers[:, 1] * numbers[:, 2] + random.normal(size=200)
    classes = np.digitize(noisy, (-0.5, 0.7))
    weights = random.uniform(0.5, 2, size=200)
    name, impurity = CRITERIA[criterion]
    before = np.inf
    for depth in range(1, 9):
        tree = grown(
            numbers, classes, weights=weights, criterion=criterion, max_depth=depth
        )
        left = sum(
            leaf.weight * impurity(leaf.weights.tolist()) for leaf in tree.leaves
        )
        model = DecisionTreeClassifier(
            criterion=name, max_depth=depth, random_state=seed
        )
        model.fit(numbers, classes, sample_weight=weights)
        assert left == pytest.approx(left_impurity(model), rel=ROUNDING)
        # Rounding makes scikit-learn split some pure nodes once more; never us.
        assert tree.n_leaves <= model.get_n_leaves()
        assert left < before
        before = left
