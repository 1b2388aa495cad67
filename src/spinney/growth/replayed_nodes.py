"""Trees of compiled kernels that agree with those of the plain learner to the bit.

Kernels grow the tree of a small table in a fraction of the plain learner's time, but do
not store every competitor. Most trees are only used to predict. So the rows are stored,
and the plain learner grows the same tree again when the competitors of a node are read.

The plain learner sums the rows of a node value by value, compiled kernels by running
sums. If sums round, the last bits differ. If the loaded kernels decide which of the two
grows a tree, it is counted again: rows are sent down, and each node sums its rows in
table order.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Schema
from spinney.errors import SpinneyWarning
from spinney.growth.leaf_estimates import outputs_of_tree
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.trees import (
    Candidate,
    CandidateArrays,
    LazyNodes,
    RenumberedNodes,
    Tree,
    TreeArrays,
)
from spinney.trees.predict import flatten


@dataclass(frozen=True, eq=False)
class ReplayedNodes(LazyNodes):
    """Nodes of a tree of kernels, with the candidates of the plain learner."""

    grown: Tree
    schema: Schema
    replay: Callable[[], Tree]

    def _arrays(self) -> TreeArrays:
        return self.grown.arrays

    def candidates(self, number: int) -> tuple[Sequence[Candidate], int | None]:
        """Return the candidates of a node, and which of them won."""
        return self._regrown.nodes.candidates(number)

    def _candidate_arrays(self) -> CandidateArrays:
        return self._regrown.nodes.candidate_arrays

    @cached_property
    def _regrown(self) -> Tree:
        """The tree grown again, or the kernels' tree if near ties made them differ."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpinneyWarning)  # they were shown before
            regrown = self.replay()
        replayed, grown = regrown.arrays, self.arrays
        agree = len(replayed) == len(grown) and all(
            np.array_equal(getattr(replayed, name), getattr(grown, name))
            for name in ("parent", "attribute")
        )
        return regrown if agree else self.grown

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep no rows in a copy or a pickle."""
        return attrgetter("nodes"), (self._regrown,)


def replayed(tree: Tree, replay: Callable[[], Tree]) -> Tree:
    """Return a tree of kernels, whose competitors are found by growing it again."""
    return Tree(tree.schema, ReplayedNodes(tree, tree.schema, replay))


def counted_in_order(
    tree: Tree, training: TrainingSet, recipe: Recipe, class_weights: Floats | None
) -> Tree:
    """Return a tree with node weights, or moments, summed in table order.

    ``training`` has the training rows of the tree.
    """
    arrays, terms = tree.arrays, _terms(training, class_weights)
    sums = np.zeros((len(arrays), terms.shape[1]))
    for entries in flatten(tree).visits(training.columns, len(terms)):
        for column, column_terms in enumerate(terms.T):
            amounts = column_terms[entries.rows] * entries.weights
            sums[:, column] += np.bincount(entries.nodes, amounts, len(arrays))
    counted = replace(arrays, weights=sums)
    outputs = outputs_of_tree(counted, tree.schema.target, recipe)
    counted = replace(counted, outputs=outputs)
    places = np.arange(len(arrays))
    return Tree(tree.schema, RenumberedNodes(counted, tree.schema, tree.nodes, places))


def _terms(training: TrainingSet, class_weights: Floats | None) -> Floats:
    """Return what each row adds to a node: its weight by class, or its moments."""
    weights, target = training.weighed(class_weights).sample_weights, training.classes
    origin = training.schema.target.origin
    if origin is None:
        terms = np.zeros((len(target), training.schema.n_classes))
        terms[np.arange(len(target)), target] = weights
        return terms
    first = weights * (np.asarray(target, np.float64) - origin)
    return np.column_stack([weights, first, first * (target - origin)])
