"""Weakest links beside scikit-learn's, where both go by squared errors."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune.cost_complexity_sequence import sequence_of
from spinney.growth.prune.prune_methods import pruned
from spinney.growth.prune.risk import leaf_risks
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource


def rows(seed: int, n_rows: int = 150) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    table = random.normal(size=(n_rows, 3))
    numbers = table[:, 0] + table[:, 1] ** 2 + random.normal(size=n_rows)
    return table, numbers, random.integers(1, 4, n_rows).astype(float)


def ours(table: np.ndarray, numbers: np.ndarray, weights: np.ndarray):
    attributes = tuple(Attribute(f"x{place}", "numeric") for place in range(3))
    schema = Schema(attributes, Target("y", origin=float(numbers.mean())))
    source = MemorySource(schema, list(table.T), classes=numbers, weights=weights)
    return grow_tree(source, RECIPES["cart"])


@pytest.mark.parametrize("seed", range(5))
def test_the_pruning_path_of_a_regression_tree(seed):
    """ccp_alpha is ours over the weight of all rows: its risk is a mean square."""
    table, numbers, weights = rows(seed)
    tree = ours(table, numbers, weights)
    other = DecisionTreeRegressor(random_state=0)
    path = other.cost_complexity_pruning_path(table, numbers, weights)
    found = sequence_of(tree, leaf_risks(tree))
    scale = weights.sum()
    # scikit-learn cuts one link at a time, so that equal alphas come repeatedly.
    alphas, risks = path.ccp_alphas * scale, path.impurities * scale
    last = np.append(np.diff(alphas) > 1e-7 * alphas[1:], True)
    assert found.alphas == pytest.approx(alphas[last], rel=1e-6, abs=1e-9)
    assert [row.risk for row in found.subtrees] == pytest.approx(
        risks[last], rel=1e-6, abs=1e-9
    )


@pytest.mark.parametrize("seed", range(3))
def test_pruned_trees_predict_alike(seed):
    table, numbers, weights = rows(seed)
    tree = ours(table, numbers, weights)
    alphas = sequence_of(tree, leaf_risks(tree)).alphas
    for alpha in (alphas[:-1] + alphas[1:])[::10] / 2:
        other = DecisionTreeRegressor(random_state=0, ccp_alpha=alpha / weights.sum())
        other.fit(table, numbers, weights)
        small = pruned(tree, "cost-complexity", alpha=float(alpha)).tree
        assert small.n_leaves == other.get_n_leaves()
        values = sorted(leaf.value for leaf in small.leaves)
        leaves = other.tree_.value[other.tree_.children_left < 0, 0, 0]
        assert values == pytest.approx(sorted(leaves))
