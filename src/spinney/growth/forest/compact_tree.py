"""A tree of a forest as few arrays, and what it becomes.

A forest holds many trees, so a tree is kept small: a line a node, in printing order. A
node that somebody wants to read is made of these when it is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import Schema, Target
from spinney.growth.forest.shrinkage import shrunk
from spinney.growth.leaf_estimates import outputs_of
from spinney.recipes import Recipe
from spinney.trees import (
    Candidate,
    CountTable,
    Groups,
    Intervals,
    Node,
    Reason,
    Split,
    Threshold,
    Tree,
    labels_of,
    no_models,
    reason_codes,
)
from spinney.trees.predict import FlatTree, Questions, no_questions


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A tree, a line a node in printing order.

    Parameters
    ----------
    attribute : array of int32
        What the node asks about; -1 at a leaf.
    parent : array of int32
        The node above; -1 at the root. The children of a node, in their order, are
        its branches.
    cut : array of float64
        The threshold, or the first cut of several intervals; NaN where values are
        grouped.
    missing : array of int16
        The branch of missing values; -1 where they are divided, and at leaves.
    gain : array of float64
        What the split gains.
    weights : array of float32 or float64, nodes × classes, or × 3
        The class weights, or the moments; single precision where that is exact.
    rows, absent : arrays of int32
        How many rows came to the node, and how many of them lack its attribute.
    reason : array of int8
        Why it is a leaf, the code of a reason.
    listed : array of int32
        How many entries it has in ``branches``, where values are grouped, or in
        ``cuts``, where there are further cuts.
    branches : array of int16
        For each code of a node that groups values its branch, or -1.
    cuts : array of float64
        Further cuts.
    """

    attribute: NDArray[np.int32]
    parent: NDArray[np.int32]
    cut: Floats
    missing: NDArray[np.int16]
    gain: Floats
    weights: NDArray[np.floating]
    rows: NDArray[np.int32]
    absent: NDArray[np.int32]
    reason: NDArray[np.int8]
    listed: NDArray[np.int32]
    branches: NDArray[np.int16]
    cuts: Floats

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.attribute)

    @property
    def inner(self) -> NDArray[np.bool_]:
        """Which nodes ask something."""
        return np.asarray(self.attribute >= 0)

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return int(np.count_nonzero(self.attribute < 0))

    @property
    def depth(self) -> Integers:
        """The number of questions above each node."""
        depth = np.zeros(len(self), dtype=np.int64)
        here = np.flatnonzero(self.parent < 0)
        order, first, count = self._children()
        level = 0
        while len(here):
            depth[here] = level
            counts = count[here]
            steps = np.arange(counts.sum()) - np.repeat(
                counts.cumsum() - counts, counts
            )
            here = order[np.repeat(first[here], counts) + steps]
            level += 1
        return depth

    def weight(self, target: Target) -> Floats:
        """Return the weight of each node."""
        if target.is_numeric:
            return np.asarray(self.weights[:, 0], dtype=np.float64)
        return np.asarray(self.weights.sum(axis=1, dtype=np.float64))

    def improvements(self, target: Target) -> Floats:
        """Return what each node gained: its gain times its weight."""
        return np.asarray(self.weight(target) * np.maximum(self.gain, 0.0))

    def _children(self) -> tuple[Integers, Integers, Integers]:
        """Return all children by parent, where those of a node begin, how many."""
        below = self.parent >= 0
        order = np.argsort(self.parent, kind="stable")[np.count_nonzero(~below) :]
        count = np.bincount(self.parent[below], minlength=len(self))
        return order, count.cumsum() - count, count

    def _starts(self) -> tuple[Integers, Integers]:
        """Return where the entries of each node begin, in ``branches`` and ``cuts``."""
        grouped = np.isnan(self.cut)
        in_branches = np.where(grouped, self.listed, 0)
        in_cuts = np.where(grouped, 0, self.listed)
        return in_branches.cumsum() - in_branches, in_cuts.cumsum() - in_cuts

    def outputs(self, target: Target, recipe: Recipe) -> Floats:
        """Return what each node predicts: class shares, or one number."""
        weights = np.asarray(self.weights, dtype=np.float64)
        roots = np.where(self.parent < 0, np.arange(len(self)), 0)
        everything = weights[np.maximum.accumulate(roots)]
        with np.errstate(invalid="ignore", divide="ignore"):
            found = outputs_of(weights, target, recipe=recipe, everything=everything)
        for node in np.flatnonzero(self.rows == 0):  # parents before their children
            found[node] = found[self.parent[node]]
        return found

    def flat(
        self, target: Target, recipe: Recipe, shrinkages: tuple[float, ...] = (0.0,)
    ) -> FlatTree:
        """Return the tree as arrays to predict by.

        What nodes say under each of several shrinkages stands side by side.
        """
        n = len(self)
        order, first, count = self._children()
        first_code, first_cut = self._starts()
        grouped = np.isnan(self.cut)
        asked = Questions(
            self.attribute.astype(np.int64),
            self.cut,
            first_code + 1,
            np.where(grouped, self.listed, 0).astype(np.int64),
            np.zeros(n, dtype=bool),
            np.append(-1, self.branches).astype(np.int64),
            first_cut,
            np.where(grouped, 0, self.listed).astype(np.int64),
            self.cuts,
        )
        sizes = self.weight(target)
        with np.errstate(invalid="ignore", divide="ignore"):
            below = np.bincount(self.parent[order], sizes[order], minlength=n)
            shares = sizes[order] / below[self.parent[order]]
        return FlatTree(
            asked,
            no_questions(),
            self.missing.astype(np.int64),
            first,
            count,
            np.zeros(n, dtype=np.int64),
            np.zeros(n, dtype=np.int64),
            order,
            shares,
            self._shrunk(target, recipe, shrinkages),
            no_models(n),
        )

    def _shrunk(
        self, target: Target, recipe: Recipe, shrinkages: tuple[float, ...]
    ) -> Floats:
        """Return what nodes say under each shrinkage, side by side."""
        told = self.outputs(target, recipe)
        if shrinkages == (0.0,):
            return told
        return shrunk(told, self.weight(target), self.parent, self.depth, shrinkages)

    def tree(self, schema: Schema, recipe: Recipe) -> Tree:
        """Return the tree with nodes that can be read.

        A node has the split that won, with the counts of its branches; rows whose
        value is missing are counted where they went.
        """
        order, first, count = self._children()
        depth, outputs = self.depth, self.outputs(schema.target, recipe)
        labels = labels_of(outputs, schema.target.costs)
        sizes, starts = self.weight(schema.target), self._starts()
        weights = np.asarray(self.weights, dtype=np.float64)
        rows = self.rows[:, None].astype(np.int64)
        if not schema.target.is_numeric:
            rows = _rows_by_class(weights, self.rows)
        branch = np.zeros(len(self), dtype=np.int64)
        branch[order] = np.arange(len(order)) - first[self.parent[order]]
        nodes = []
        for number in range(len(self)):
            below = order[first[number] : first[number] + count[number]]
            candidates: tuple[Candidate, ...] = ()
            if len(below):
                shares = tuple((sizes[below] / sizes[below].sum()).tolist())
                split = self._split(number, shares, starts)
                counts = _counts(split, weights[below], rows[below])
                counts.missing_rows[0] = self.absent[number]
                gain = float(self.gain[number])
                candidates = (Candidate(split, counts, gain, gain),)
            nodes.append(
                Node(
                    number,
                    None if self.parent[number] < 0 else int(self.parent[number]),
                    int(branch[number]),
                    int(depth[number]),
                    weights[number],
                    int(self.rows[number]),
                    outputs[number],
                    int(labels[number]),
                    candidates,
                    0 if candidates else None,
                    tuple(map(int, below)),
                    Reason.of_code(int(self.reason[number])),
                )
            )
        return Tree(schema, tuple(nodes))

    def _split(
        self,
        number: int,
        shares: tuple[float, ...],
        starts: tuple[Integers, Integers],
    ) -> Split:
        """Return what a node asks."""
        attribute, cut = int(self.attribute[number]), float(self.cut[number])
        into = None if self.missing[number] < 0 else int(self.missing[number])
        size = int(self.listed[number])
        if np.isnan(cut):
            own = self.branches[starts[0][number] : starts[0][number] + size]
            groups = tuple(
                tuple(map(int, np.flatnonzero(own == branch)))
                for branch in range(len(shares))
            )
            return Groups(attribute, groups, shares, into)
        if size:
            more = self.cuts[starts[1][number] : starts[1][number] + size]
            return Intervals(attribute, (cut, *more.tolist()), shares, into)
        return Threshold(attribute, cut, shares, into)


def _rows_by_class(weights: Floats, totals: NDArray[np.int32]) -> Integers:
    """Return numbers of rows by class, which are not kept.

    There is one at least where there is weight; the others are counted at the heaviest
    class, so that all add up.
    """
    rows = (weights > 0).astype(np.int64)
    places = np.arange(len(rows)), weights.argmax(axis=1)
    rows[places] += totals - rows.sum(axis=1)
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


def narrowed(weights: Floats) -> NDArray[np.floating]:
    """Return weights in single precision where that is exact."""
    with np.errstate(over="ignore"):
        small = weights.astype(np.float32)
    return small if np.array_equal(small, weights) else weights


def alike(members: Sequence[Member]) -> tuple[Member, ...]:
    """Return trees whose weights are all in single precision, or none."""
    if len({member.weights.dtype for member in members}) < 2:
        return tuple(members)
    return tuple(
        replace(member, weights=member.weights.astype(np.float64)) for member in members
    )


def as_one(members: Sequence[Member]) -> tuple[Member, Integers]:
    """Return trees side by side, as one of several roots, and where those are."""
    if len(members) == 1:
        return members[0], np.zeros(1, np.int64)
    sizes = np.array([len(member) for member in members])
    roots = sizes.cumsum() - sizes
    arrays = {
        field.name: np.concatenate([getattr(member, field.name) for member in members])
        for field in fields(Member)
    }
    parent = arrays["parent"] + np.repeat(roots, sizes)
    parent[roots] = -1
    arrays["parent"] = parent.astype(np.int32)
    return Member(**arrays), roots


def member_of(tree: Tree) -> Member:
    """Return a readable tree as a member of a forest."""
    n = len(tree)
    attribute, parent = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    cut, missing = np.zeros(n), np.full(n, -1, np.int16)
    gain = np.zeros(n)
    rows, absent = np.zeros(n, np.int32), np.zeros(n, np.int32)
    listed = np.zeros(n, np.int32)
    branches: list[Integers] = [np.zeros(0, np.int64)]
    cuts: list[float] = []
    for node in tree:
        here = node.number
        parent[here] = -1 if node.parent is None else node.parent
        rows[here] = node.n_rows
        split = node.split
        if split is None:
            continue
        attribute[here], gain[here] = split.attribute, node.candidate.gain
        missing[here] = -1 if split.missing is None else split.missing
        absent[here] = int(node.candidate.table.missing_rows.sum())
        if isinstance(split, Groups):
            lookup = split.lookup()
            branches.append(lookup)
            cut[here], listed[here] = np.nan, len(lookup)
        elif isinstance(split, Intervals):
            cut[here], listed[here] = split.cuts[0], len(split.cuts) - 1
            cuts.extend(split.cuts[1:])
        else:
            cut[here] = split.threshold
    return Member(
        attribute,
        parent,
        cut,
        missing,
        gain,
        narrowed(np.array([node.weights for node in tree])),
        rows,
        absent,
        reason_codes(*(node.reason for node in tree)),
        listed,
        np.concatenate(branches).astype(np.int16),
        np.array(cuts, dtype=np.float64),
    )
