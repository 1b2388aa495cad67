"""Compact trees of a forest: a few small arrays each, completed on access.

Trees of a forest are stored small: narrow number types, and no derived data. The
predictions of nodes are computed when rows are predicted, and a readable node is made
on first access.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney.data import Schema, Target
from spinney.growth.forest.shrinkage import shrunk
from spinney.growth.leaf_estimates import outputs_of_tree
from spinney.recipes import Recipe
from spinney.trees import (
    Candidate,
    CountTable,
    Groups,
    LazyNodes,
    Split,
    Threshold,
    Tree,
    TreeArrays,
    branch_table,
    ratio_of,
)
from spinney.trees.criteria import Criterion


def compact(tree: TreeArrays) -> TreeArrays:
    """Return a compact tree, without surrogates and models."""
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
    """Return weights in single precision if that is exact."""
    with np.errstate(over="ignore"):
        small = weights.astype(np.float32)
    return small if np.array_equal(small, weights) else weights


def with_counted_gains(tree: TreeArrays, schema: Schema, recipe: Recipe) -> TreeArrays:
    """Return packed trees of binary splits with gains computed from their counts.

    Kernels compute the same gains, but round in another order.
    """
    inner, below = np.flatnonzero(tree.inner), np.flatnonzero(tree.parent >= 0)
    # Of one parent the first branch comes first.
    pairs = below[np.argsort(tree.parent[below], kind="stable")].reshape(-1, 2)
    weights = tree.weights[pairs].astype(np.float64)
    numeric, nothing = schema.target.is_numeric, np.zeros(weights.shape[-1])
    rows = np.ceil(weights[..., :1] if numeric else weights).astype(np.int64)
    no_rows = np.zeros(rows.shape[-1], np.int64)
    branches = CountTable(np.arange(2), weights, rows, nothing, no_rows)
    gain = np.zeros(len(tree.gain))
    gain[inner] = recipe.measure(numeric=numeric).gain(branches)
    return replace(tree, gain=gain)


def completed(
    tree: TreeArrays,
    target: Target,
    recipes: Sequence[Recipe],
    shrinkages: tuple[float, ...] = (0.0,),
) -> TreeArrays:
    """Return compact trees side by side with the outputs and shares of their nodes.

    Each tree has its recipe. The outputs of several shrinkages stand side by side.
    """
    outputs = outputs_of_trees(tree, target, recipes)
    if shrinkages != (0.0,):
        weight = tree.weight(target)
        outputs = shrunk(outputs, weight, tree.parent, tree.depth, shrinkages)
    return replace(tree, outputs=outputs, shares=tree.shares_by_weight(target))


def outputs_of_trees(
    tree: TreeArrays, target: Target, recipes: Sequence[Recipe]
) -> Floats:
    """Return the outputs of each node, by the probability estimate of its recipe."""
    outputs = outputs_of_tree(tree, target, recipes[0])
    estimates = [(recipe.probability, recipe.m) for recipe in recipes]
    other_estimates = set(estimates) - {estimates[0]}
    tree_number = np.cumsum(tree.parent < 0) - 1  # of the tree that a node is of
    for estimate in other_estimates:
        has_estimate = np.array([other == estimate for other in estimates])[tree_number]
        recipe = recipes[estimates.index(estimate)]
        outputs[has_estimate] = outputs_of_tree(tree, target, recipe)[has_estimate]
    return outputs


def readable(tree: TreeArrays, schema: Schema, recipe: Recipe) -> Tree:
    """Return a compact tree with nodes that can be read.

    A node has the winning split, with the counts of its branches. Rows with a missing
    value count in their branches, for their classes are not stored; then ``gain`` is
    that of the counts, and else that of the search.
    """
    tree = with_value_sets(tree, schema)
    return Tree(schema, CompactNodes(tree, schema, recipe))


def with_value_sets(tree: TreeArrays, schema: Schema) -> TreeArrays:
    """Return a tree whose cuts of ordered nominal values are sets of values.

    A forest orders the values of high-cardinality attributes, so each cut is one
    number.
    """
    sizes = np.array([len(attribute.values) for attribute in schema.attributes])
    nominal = np.array([a.kind == "nominal" for a in schema.attributes], np.bool_)
    cuts = tree.inner & ~np.isnan(tree.cut)
    cuts[cuts] = nominal[tree.attribute[cuts]]
    if not cuts.any():
        return tree
    listed = np.where(cuts, sizes[tree.attribute], tree.listed).astype(np.int32)
    in_branches = np.where(cuts, listed, tree.in_branches)
    branches = np.empty(int(in_branches.sum()), tree.branches.dtype)
    owner = np.repeat(np.arange(len(tree)), in_branches)
    branches[~cuts[owner]] = tree.branches
    codes = ramps(in_branches)
    branches[cuts[owner]] = (codes > tree.cut[owner])[cuts[owner]]
    cut = np.where(cuts, np.nan, tree.cut)
    return replace(tree, cut=cut, listed=listed, branches=branches)


@dataclass(frozen=True, eq=False)
class CompactNodes(LazyNodes):
    """The nodes of a compact tree, each made on first access."""

    tree: TreeArrays
    schema: Schema
    recipe: Recipe

    def _arrays(self) -> TreeArrays:
        return completed(self.tree, self.schema.target, (self.recipe,))

    def candidates(self, number: int) -> tuple[tuple[Candidate, ...], int | None]:
        """Return the winning split, with the counts of its branches."""
        below = list(self.children[number])
        if not below:
            return (), None
        weights = np.asarray(self.tree.weights[below], dtype=np.float64)
        rows = self.tree.rows[below].astype(np.int64)
        split = self.arrays.split(number)
        n_missing = int(self.tree.absent[number])
        if n_missing:  # every branch that has such rows, or fractions, has them all
            got_missing = np.arange(len(rows)) == split.missing
            got_missing |= split.missing is None
            got_missing &= rows > 0
            rows[got_missing] = np.maximum(rows - n_missing, 1)[got_missing]
        numeric = self.schema.target.is_numeric
        by_class = rows[:, None] if numeric else _rows_by_class(weights, rows)
        ordinal = self.schema.attributes[split.attribute].kind == "ordinal"
        counts = _counts(split, weights, by_class, ordinal=ordinal)
        counted = counts.rows.sum() + counts.missing_rows.sum()
        counts.missing_rows[0] += int(self.tree.rows[number]) - counted
        gain = float(self.tree.gain[number])
        criterion = self.recipe.measure(numeric=numeric)
        is_known = not (n_missing and split.missing is None)
        return (_counted(split, counts, gain if is_known else None, criterion),), 0


def _rows_by_class(weights: Floats, totals: Integers) -> Integers:
    """Return estimated numbers of rows by class, which compact trees do not store.

    Each class with weight has at least one row, if there are enough; the heaviest class
    has the rest.
    """
    rows = (weights > 0).astype(np.int64)
    too_few = rows.sum(axis=1) > totals  # parts of rows
    rows[too_few] = 0
    rows[np.arange(len(rows)), weights.argmax(axis=1)] += totals - rows.sum(axis=1)
    return rows


def _counted(
    split: Split, counts: CountTable, gain: float | None, criterion: Criterion
) -> Candidate:
    """Return a split with its merit, and with its gain if that is not known."""
    branches = branch_table(counts, split)
    if gain is None:
        gain = float(criterion.gain(branches))
    if criterion.per is not None:
        merit = float(ratio_of(np.asarray(gain), criterion.per(branches)))
    else:
        is_gain = criterion.merit is criterion.gain
        merit = gain if is_gain else float(criterion.merit(branches))
    p_value = math.exp(-merit) if criterion.chance else None
    return Candidate(split, counts, gain, merit, p_value=p_value)


def _counts(
    split: Split, weights: Floats, rows: Integers, *, ordinal: bool
) -> CountTable:
    """Return counts by branch, each at a value of the branch.

    A branch of missing values alone has no such value: it is the line of these.
    """
    values: NDArray[Any]
    if isinstance(split, Groups):
        values = np.array([group[0] if group else -1 for group in split.groups])
    else:
        thresholds = [split.threshold] if isinstance(split, Threshold) else split.cuts
        # A threshold of ∞ separates missing values.
        cuts = np.where(np.isfinite(thresholds), thresholds, 0.0)
        if ordinal:
            cuts = np.floor(cuts).astype(np.int64)
        after = cuts[-1] + 1 if ordinal else np.nextafter(cuts[-1], np.inf)
        values = np.append(cuts, after)
    reachable = split.branch_of(values) == np.arange(len(values))
    rising = np.flatnonzero(reachable)[np.argsort(values[reachable])]
    return CountTable(
        values[rising],
        weights[rising],
        rows[rising],
        weights[~reachable].sum(axis=0),
        rows[~reachable].sum(axis=0),
    )
