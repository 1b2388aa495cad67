"""The prediction of a node, from the weights of its rows."""

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Target
from spinney.recipes import Recipe
from spinney.trees import TreeArrays


def outputs_of(
    weights: Floats, target: Target, *, recipe: Recipe, root_weights: Floats | None
) -> Floats:
    """Return what a node predicts: the probability of each class, or the mean.

    ``weights`` may be those of many nodes, a line each. ``root_weights`` are those of
    all rows, the prior of an m-estimate (Cestnik 1990); the prior of Laplace's rule is
    one row of each class.

    Examples
    --------
    >>> from spinney.recipes.named_recipes import RECIPES
    >>> laplace = RECIPES["c4.5"].changed(probability="laplace")
    >>> weights, root_weights = np.array([3.0, 0.0]), np.array([5.0, 9.0])
    >>> outputs_of(weights, Target("play", ("no", "yes")), recipe=laplace,
    ...            root_weights=root_weights)
    array([0.8, 0.2])
    """
    if target.origin is not None:
        return np.asarray(target.origin + weights[..., 1:2] / weights[..., :1])
    total = weights.sum(axis=-1, keepdims=True)
    if recipe.probability == "laplace":
        return np.asarray((weights + 1) / (total + weights.shape[-1]))
    if recipe.probability == "m-estimate":
        assert root_weights is not None
        prior = recipe.m * root_weights / root_weights.sum(axis=-1, keepdims=True)
        return np.asarray((weights + prior) / (total + recipe.m))
    return np.asarray(weights / total)


def outputs_of_tree(
    tree: TreeArrays,
    target: Target,
    recipe: Recipe,
    root_weights: Floats | None = None,
) -> Floats:
    """Return the predictions of all nodes of a tree, or of several packed trees.

    A node without rows has the prediction of its parent. ``root_weights`` are the
    weights of all rows, by default the weights of the roots.
    """
    weights = np.asarray(tree.weights, dtype=np.float64)
    leans = target.origin is None and recipe.probability == "m-estimate"
    if root_weights is None and leans:
        roots = np.where(tree.parent < 0, np.arange(len(tree)), 0)
        root_weights = weights[np.maximum.accumulate(roots)]
    with np.errstate(invalid="ignore", divide="ignore"):
        outputs = outputs_of(weights, target, recipe=recipe, root_weights=root_weights)
    for node in np.flatnonzero(tree.rows == 0):  # parents before their children
        outputs[node] = outputs[tree.parent[node]]
    return outputs
