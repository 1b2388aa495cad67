"""Trees of a forest: few arrays each, and what they become.

A forest holds many trees, so a tree is kept small: narrow numbers, and nothing that can
be had from the rest. What nodes predict is worked out when rows come, and a node that
somebody wants to read is made when it is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import Schema, Target
from spinney.growth.forest.shrinkage import shrunk
from spinney.growth.leaf_estimates import outputs_of_tree
from spinney.recipes import Recipe
from spinney.trees import (
    Candidate,
    CountTable,
    Groups,
    LazyNodes,
    Node,
    Split,
    Threshold,
    Tree,
    TreeArrays,
)


def compact(tree: TreeArrays) -> TreeArrays:
    """Return a tree as a forest keeps it; without surrogates and models."""
    return TreeArrays(
        attribute=tree.attribute.astype(np.int32, copy=False),
        parent=tree.parent.astype(np.int32, copy=False),
        cut=tree.cut,
        missing=tree.missing.astype(np.int16, copy=False),
        gain=tree.gain,
        weights=narrowed(tree.weights),
        rows=tree.rows.astype(np.int32, copy=False),
        absent=tree.absent.astype(np.int32, copy=False),
        reason=tree.reason,
        listed=tree.listed.astype(np.int32, copy=False),
        branches=tree.branches.astype(np.int16, copy=False),
        cuts=tree.cuts,
    )


def narrowed(weights: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return weights in single precision where that is exact."""
    with np.errstate(over="ignore"):
        small = weights.astype(np.float32)
    return small if np.array_equal(small, weights) else weights


def alike(trees: Sequence[TreeArrays]) -> tuple[TreeArrays, ...]:
    """Return trees whose weights are all in single precision, or none."""
    if len({tree.weights.dtype for tree in trees}) < 2:
        return tuple(trees)
    return tuple(
        replace(tree, weights=tree.weights.astype(np.float64)) for tree in trees
    )


def completed(
    tree: TreeArrays,
    target: Target,
    recipe: Recipe,
    shrinkages: tuple[float, ...] = (0.0,),
) -> TreeArrays:
    """Return a compact tree with what its nodes predict, and shares.

    What nodes say under each of several shrinkages stands side by side.
    """
    outputs = outputs_of_tree(tree, target, recipe)
    if shrinkages != (0.0,):
        weight = tree.weight(target)
        outputs = shrunk(outputs, weight, tree.parent, tree.depth, shrinkages)
    return replace(tree, outputs=outputs, shares=tree.shares_by_weight(target))


def readable(tree: TreeArrays, schema: Schema, recipe: Recipe) -> Tree:
    """Return a compact tree with nodes that can be read.

    A node has the split that won, with the counts of its branches; rows whose value
    is missing are counted where they went.
    """
    return Tree(schema, CompactNodes(tree, schema, recipe))


@dataclass(frozen=True, eq=False)
class CompactNodes(LazyNodes):
    """The nodes of a compact tree, each made when it is first asked for."""

    of_bag: ClassVar[bool] = True
    tree: TreeArrays
    schema: Schema
    recipe: Recipe
    _made: dict[int, Node] = field(default_factory=dict, repr=False)

    def _arrays(self) -> TreeArrays:
        return completed(self.tree, self.schema.target, self.recipe)

    def candidates(self, number: int) -> tuple[tuple[Candidate, ...], int | None]:
        """Return the split that won, with the counts of its branches."""
        below = list(self.children(number))
        if not below:
            return (), None
        weights = np.asarray(self.tree.weights[below], dtype=np.float64)
        rows = self.tree.rows[below, None].astype(np.int64)
        if not self.schema.target.is_numeric:
            rows = _rows_by_class(weights, rows[:, 0])
        split = self.split(number)
        counts = _counts(split, weights, rows)
        counts.missing_rows[0] = self.tree.absent[number]
        gain = float(self.tree.gain[number])
        return (Candidate(split, counts, gain, gain),), 0


def _rows_by_class(weights: Floats, totals: Integers) -> Integers:
    """Return numbers of rows by class, which are not kept.

    There is one at least where there is weight; the others are counted at the heaviest
    class, so that all add up.
    """
    rows = (weights > 0).astype(np.int64)
    rows[np.arange(len(rows)), weights.argmax(axis=1)] += totals - rows.sum(axis=1)
    return rows


def _counts(split: Split, weights: Floats, rows: Integers) -> CountTable:
    """Return counts by branch, each at a value that goes there.

    A branch that only missing values take has no such value, and no line.
    """
    values: NDArray[Any]
    if isinstance(split, Groups):
        values = np.array([group[0] if group else -1 for group in split.groups])
    else:
        cuts = [split.threshold] if isinstance(split, Threshold) else split.cuts
        values = np.array([*cuts, np.nextafter(cuts[-1], np.inf)])
    here = split.branch_of(values) == np.arange(len(values))
    return CountTable(
        values[here],
        weights[here],
        rows[here],
        np.zeros(weights.shape[1]),
        np.zeros(rows.shape[1], dtype=np.int64),
    )
