"""The nodes of a tree of several branches, made when somebody looks at them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney.data import Schema
from spinney.growth.leaf_estimates import outputs_of
from spinney.growth.ranked.loops.layout import (
    ATTRIBUTE,
    BRANCH,
    CANDIDATE,
    CANDIDATES,
    CHILD,
    CHILDREN,
    CHOSEN,
    CUT,
    DEPTH,
    GAIN,
    HIGH,
    LINE,
    LINES,
    LOW,
    MERIT,
    PARENT,
    REASON,
    Grown,
)
from spinney.recipes import Recipe
from spinney.search import midpoint
from spinney.trees import (
    Candidate,
    CountTable,
    Groups,
    LazyNodes,
    Node,
    Reason,
    Split,
    Threshold,
    branch_table,
    labels_of,
    reason_codes,
)

# By the loops' numbers of reasons.
REASONS = reason_codes(
    None,
    Reason.EMPTY,
    Reason.PURE,
    Reason.EXHAUSTED,
    Reason.DEPTH,
    Reason.ROWS_TO_SPLIT,
    Reason.IDENTICAL,
    Reason.ROWS_IN_LEAF,
    Reason.MIN_GAIN,
    Reason.PRUNED,
)


@dataclass(frozen=True, eq=False)
class RankedNodes(LazyNodes):
    """Nodes in printing order, each made when it is first asked for.

    ``order`` says which line of ``grown`` each node is, ``numbers`` the reverse.
    """

    grown: Grown
    values: tuple[NDArray[Any], ...]
    schema: Schema
    recipe: Recipe
    order: Integers
    numbers: Integers
    _made: dict[int, Node] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.order)

    def _node(self, place: int) -> Node:
        """Make a node."""
        at, target = self.order[place], self.schema.target
        facts = self.grown.nodes[at].tolist()
        weights = np.array(self.grown.weights[at])
        n_rows = int(self.grown.counts[at].sum())
        parent = None if facts[PARENT] < 0 else int(self.numbers[facts[PARENT]])
        if n_rows or parent is None:
            outputs = outputs_of(
                weights, target, recipe=self.recipe, everything=self.grown.weights[0]
            )
        else:
            outputs = self[parent].distribution
        first, n_children = facts[CHILD], facts[CHILDREN]
        candidates = range(facts[CANDIDATE], facts[CANDIDATE] + facts[CANDIDATES])
        return Node(
            place,
            parent,
            facts[BRANCH],
            facts[DEPTH],
            weights,
            n_rows,
            outputs,
            int(labels_of(outputs, target.costs)),
            tuple(map(self._candidate, candidates)),
            None if facts[CHOSEN] < 0 else facts[CHOSEN],
            tuple(self.numbers[first : first + n_children].tolist()),
            Reason.of_code(int(REASONS[facts[REASON]])),
        )

    def _candidate(self, at: int) -> Candidate:
        """Return a split and the counts behind it."""
        grown, facts = self.grown, self.grown.candidates[at].tolist()
        place = facts[ATTRIBUTE]
        lines = slice(facts[LINE], facts[LINE] + facts[LINES])
        codes = grown.line_codes[lines].astype(np.int64)
        weights, counts = grown.line_weights[lines], grown.line_counts[lines]
        values, kind = self.values[place], self.schema.attributes[place].kind
        table = CountTable(
            values[codes[1:]],
            weights[1:].copy(),
            counts[1:].copy(),
            weights[0].copy(),
            counts[0].copy(),
        )
        split: Split
        if kind == "nominal":
            groups = tuple((code,) for code in range(len(values)))
            split = Groups(place, groups, _shares(table, codes[1:], len(values)))
        else:
            low, high = values[facts[LOW]], values[facts[HIGH]]
            threshold = midpoint(float(low), float(high))
            sides = (codes[1:] > facts[CUT]).astype(np.int64)
            if kind == "numeric" and self.recipe.thresholds == "observed":
                below = np.searchsorted(values, threshold, side="right") - 1
                threshold = float(values[below])
            split = Threshold(place, threshold, _shares(table, sides, 2))
        gain, merit = grown.merits[at, [GAIN, MERIT]].tolist()
        if np.isnan(gain):  # counted again when its node took other rows
            criterion = self.recipe.measure(numeric=False)
            branches = branch_table(table, split)
            gain, merit = (
                float(criterion.gain(branches)),
                float(criterion.merit(branches)),
            )
        return Candidate(split, table, gain, merit)


def _shares(table: CountTable, branches: Integers, n: int) -> tuple[float, ...]:
    sizes = table.merged(branches, n).sizes
    return tuple((sizes / sizes.sum()).tolist())


def levels_of(nodes: NDArray[np.int32]) -> list[Integers]:
    """Return the lines of the nodes at each depth; children stand together."""
    levels = [np.zeros(1, np.int64)]
    while True:
        number = nodes[levels[-1], CHILDREN].astype(np.int64)
        first = np.repeat(nodes[levels[-1], CHILD].astype(np.int64), number)
        ends = np.cumsum(number)
        if not len(first):
            return levels
        levels.append(first + np.arange(len(first)) - np.repeat(ends - number, number))


def sums_below(
    nodes: NDArray[np.int32], levels: Sequence[Integers], own: NDArray[Any]
) -> NDArray[Any]:
    """Return for each node the sum over its leaves, or its own if it is one."""
    sums = np.where(nodes[: len(own), CHILDREN] > 0, 0, own)
    for level in reversed(levels[1:]):
        np.add.at(sums, nodes[level, PARENT], sums[level])
    return sums


def printing_order(nodes: NDArray[np.int32]) -> tuple[Integers, Integers]:
    """Return the lines of nodes in printing order, and the number of each line.

    Lines that no node leads to have the number -1.
    """
    levels = levels_of(nodes)
    sizes, numbers = np.ones(len(nodes), np.int64), np.full(len(nodes), -1, np.int64)
    for level in reversed(levels[1:]):
        np.add.at(sizes, nodes[level, PARENT], sizes[level])
    numbers[0] = 0
    for level in levels[1:]:
        # How many nodes stand before, among those of this level that have one parent.
        before = np.cumsum(sizes[level]) - sizes[level]
        eldest = np.arange(len(level)) - nodes[level, BRANCH]
        numbers[level] = numbers[nodes[level, PARENT]] + 1 + before - before[eldest]
    left = np.flatnonzero(numbers >= 0)
    order = np.empty(len(left), np.int64)
    order[numbers[left]] = left
    return order, numbers
