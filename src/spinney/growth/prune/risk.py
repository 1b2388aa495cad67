"""The training risk R(t) of nodes and trees, from the counts at the nodes alone.

The risk of a node as a leaf is its misclassified weight, or the cost under a cost
matrix, or for a numeric target the squared errors Σ w (y − v)². Weights at nodes
include class weights. The counts do not give the errors of a linear model, so its risk
is NaN.
"""

from collections.abc import Sequence

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Target
from spinney.trees import Tree, ratio_of, spread_of


def leaf_risks(tree: Tree, costs: Floats | None = None) -> Floats:
    """Return the risk of each node as a leaf.

    Parameters
    ----------
    tree : Tree
        The tree, whose labels are used unchanged.
    costs : array of shape (classes, classes), optional
        ``costs[label][true]``; by default the costs of the tree, or 1 for every error.
    """
    target = tree.schema.target
    matrix = costs_of(target, costs)
    if matrix is None:
        return leaf_errors(tree)
    weights = np.asarray(tree.arrays.weights, np.float64)
    return np.asarray((weights * matrix[tree.nodes.labels]).sum(axis=1))


def leaf_risk(
    weights: Floats, label: int, costs: Sequence[Sequence[float]] | None = None
) -> float:
    """Return the risk of a leaf with these class weights and this label.

    >>> leaf_risk(np.array([3.0, 1.0]), 0)
    1.0
    >>> leaf_risk(np.array([3.0, 1.0]), 0, [[0, 5], [1, 0]])
    5.0
    """
    if costs is None:
        return float(weights.sum() - weights[label])
    return float(weights @ np.asarray(costs[label]))


def leaf_errors(tree: Tree) -> Floats:
    """Return the misclassified weight at each node, or the squared errors."""
    target, arrays = tree.schema.target, tree.arrays
    weights = np.array(arrays.weights, np.float64)
    if target.is_numeric:
        values = tree.arrays.predicted - (target.origin or 0.0)
        errors = squared_errors(weights, values)
        models = arrays.models
        return errors if models is None else np.where(models.has, np.nan, errors)
    weights[np.arange(len(tree)), tree.nodes.labels] = 0.0
    return np.asarray(weights.sum(axis=1))


def squared_errors(moments: Floats, values: Floats) -> Floats:
    """Return Σ w (y − v)² from the moments Σw, Σwy, Σwy²."""
    weight, mean = moments[:, 0], ratio_of(moments[:, 1], moments[:, 0])
    # About the mean first, so that little cancels; the rest is its distance from v.
    return np.asarray(spread_of(moments) + weight * (values - mean) ** 2)


def sums_below(
    tree: Tree, as_leaf: Floats, split_costs: Floats | None = None
) -> Floats:
    """Return for each node the sum over its leaves, plus the sum over its splits."""
    sums, children = as_leaf.tolist(), tree.nodes.children
    for node in reversed(range(len(sums))):
        if children[node]:
            split_cost = 0.0 if split_costs is None else split_costs[node]
            sums[node] = split_cost + sum(sums[child] for child in children[node])
    return np.array(sums)


def costs_of(target: Target, costs: Floats | None = None) -> Floats | None:
    """Return the given cost matrix, or that of the target, or None."""
    if costs is not None:
        return costs
    return None if target.costs is None else np.array(target.costs)
