"""Trees whose nodes are counted in one order, whoever grew them.

The plain learner adds up the rows of a node value by value, compiled kernels as they
go. Where sums round, the last bits differ. A tree that either may have grown, by what
the process has loaded, is counted once more: its rows are sent down, and each node adds
up its own in the order of the table.
"""

from dataclasses import replace

import numpy as np

from spinney._support.arrays import Floats
from spinney.growth.leaf_estimates import outputs_of_tree
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.trees import RenumberedNodes, Tree
from spinney.trees.predict import flatten


def counted_in_order(
    tree: Tree, training: TrainingSet, recipe: Recipe, class_weights: Floats | None
) -> Tree:
    """Return a tree whose nodes have the weights, or moments, of rows in table order.

    ``training`` are the rows that the tree was grown on.
    """
    arrays, terms = tree.arrays, _terms(training, class_weights)
    sums = np.zeros((len(arrays), terms.shape[1]))
    for entries in flatten(tree).visits(training.columns, len(terms)):
        for column, own in enumerate(terms.T):
            parts = own[entries.rows] * entries.weights
            sums[:, column] += np.bincount(entries.nodes, parts, len(arrays))
    counted = replace(arrays, weights=sums)
    outputs = outputs_of_tree(counted, tree.schema.target, recipe)
    counted = replace(counted, outputs=outputs)
    every = np.arange(len(arrays))
    return Tree(tree.schema, RenumberedNodes(counted, tree.schema, tree.nodes, every))


def _terms(training: TrainingSet, class_weights: Floats | None) -> Floats:
    """Return what each row adds to a node: its weight by class, or its moments."""
    weights, target = training.weighed(class_weights).own_weights, training.classes
    origin = training.schema.target.origin
    if origin is None:
        terms = np.zeros((len(target), training.schema.n_classes))
        terms[np.arange(len(target)), target] = weights
        return terms
    first = weights * (np.asarray(target, np.float64) - origin)
    return np.column_stack([weights, first, first * (target - origin)])
