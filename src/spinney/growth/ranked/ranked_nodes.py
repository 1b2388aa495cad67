"""The nodes of a tree of several branches, made when somebody looks at them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.segments import sums_in_order
from spinney.data import Schema
from spinney.growth.leaf_estimates import outputs_of_tree
from spinney.growth.ranked.loops.layout import (
    ATTRIBUTE,
    BRANCH,
    CANDIDATE,
    CANDIDATES,
    CHILD,
    CHILDREN,
    CHOSEN,
    CUT,
    GAIN,
    HIGH,
    LINE,
    LINES,
    LOW,
    MERIT,
    NODES,
    PARENT,
    REASON,
    Grown,
)
from spinney.recipes import Recipe
from spinney.search import midpoint, midpoints
from spinney.trees import (
    Candidate,
    CandidateArrays,
    CountTable,
    Groups,
    LazyNodes,
    Node,
    QuestionArrays,
    Reason,
    Split,
    Threshold,
    TreeArrays,
    branch_table,
    reason_codes,
    splits_of_questions,
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
    Reason.LEAVES,
)


@dataclass(frozen=True, eq=False)
class RankedNodes(LazyNodes):
    """Nodes in printing order, each made when it is first asked for.

    ``order`` says which line of ``grown`` each node is, ``numbers`` the reverse,
    ``levels`` which lines are at each depth, and ``altered`` what weights of classes
    were multiplied by because errors cost.
    """

    grown: Grown
    values: tuple[NDArray[Any], ...]
    schema: Schema
    recipe: Recipe
    order: Integers
    numbers: Integers
    levels: Sequence[Integers]
    altered: Floats
    _made: dict[int, Node] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.order)

    def candidates(self, number: int) -> tuple[tuple[Candidate, ...], int | None]:
        """Return the splits of a node, and which of them won."""
        facts = self.grown.nodes[self.order[number]].tolist()
        lines = range(facts[CANDIDATE], facts[CANDIDATE] + facts[CANDIDATES])
        chosen = None if facts[CHOSEN] < 0 else facts[CHOSEN]
        return tuple(map(self._candidate, lines)), chosen

    def candidate_arrays(self) -> CandidateArrays:
        """Return the splits of all nodes, none of them made."""
        grown, nodes = self.grown, self.grown.nodes[self.order]
        count = nodes[:, CANDIDATES].astype(np.int64)
        every = np.repeat(nodes[:, CANDIDATE].astype(np.int64), count) + ramps(count)
        facts = grown.candidates[every]
        asked, first = facts[:, ATTRIBUTE], facts[:, LINE].astype(np.int64)
        cuts, n_values = self._cuts(every), facts[:, LINES].astype(np.int64) - 1
        sizes = np.array([len(values) for values in self.values], np.int64)
        n_branches = np.where(np.isnan(cuts), sizes[asked], 2)
        listed = np.where(np.isnan(cuts), n_branches, 0)
        splits = splits_of_questions(
            QuestionArrays(
                attribute=asked,
                cut=cuts,
                listed=listed,
                branches=ramps(listed),  # every code has a branch of its own
                cuts=np.zeros(0),
            ),
            n_branches=n_branches,
            missing=np.full(len(every), -1),
            shares=self._all_shares(every, n_branches),
        )
        line = np.repeat(first, n_values) + 1 + ramps(n_values)
        merits = grown.merits[every][:, [GAIN, MERIT]]
        for index in np.flatnonzero(np.isnan(merits[:, 0])):
            counted = self._candidate(every[index])
            merits[index] = counted.gain, counted.merit
        return CandidateArrays(
            count=count,
            chosen=np.maximum(nodes[:, CHOSEN], -1).astype(np.int64),
            splits=splits,
            gain=merits[:, 0],
            merit=merits[:, 1],
            exact=np.ones(len(every), np.int64),
            p_value=np.full(len(every), np.nan),
            n_values=n_values,
            values=self._values(np.repeat(asked, n_values), grown.line_codes[line]),
            weights=grown.line_weights[line],
            rows=grown.line_counts[line],
            missing_weights=grown.line_weights[first],
            missing_rows=grown.line_counts[first],
        )

    def _values(self, attribute: NDArray[Any], code: NDArray[Any]) -> Floats:
        """Return what codes of attributes stand for; a category for itself."""
        values = np.empty(len(code))
        for index, own in enumerate(self.values):
            here = attribute == index
            values[here] = own[code[here]]
        return values

    def _arrays(self) -> TreeArrays:
        """Return the tree with what its nodes predict."""
        grown, nodes = self.grown, self.grown.nodes[self.order]
        inner = np.flatnonzero(nodes[:, CHOSEN] >= 0)
        winners = (nodes[inner, CANDIDATE] + nodes[inner, CHOSEN]).astype(np.int64)
        lines = grown.candidates[winners, LINE].astype(np.int64)

        def spread(entries: NDArray[Any], value: float) -> NDArray[Any]:
            """Return an array over all nodes, with these entries at the inner ones."""
            filled = np.full(len(nodes), value, entries.dtype)
            filled[inner] = entries
            return filled

        asked = grown.candidates[winners, ATTRIBUTE]
        nominal = np.array([a.kind == "nominal" for a in self.schema.attributes])
        listed = np.where(nominal[asked], nodes[inner, CHILDREN], 0)
        tree = TreeArrays(
            attribute=spread(asked, -1),
            parent=np.where(
                nodes[:, PARENT] < 0, -1, self.numbers[nodes[:, PARENT]]
            ).astype(np.int32),
            cut=spread(self._cuts(winners), 0.0),
            missing=np.full(len(nodes), -1, np.int32),
            gain=spread(self._gains(winners), 0.0),
            weights=grown.weights[self.order],
            rows=grown.counts[self.order].sum(axis=1),
            absent=spread(grown.line_counts[lines].sum(axis=1), 0),
            reason=REASONS[nodes[:, REASON]],
            listed=spread(listed, 0),
            branches=ramps(listed),  # every code has a branch of its own
            cuts=np.zeros(0),
            shares=self._all_shares(winners, nodes[inner, CHILDREN].astype(np.int64)),
        )
        outputs = outputs_of_tree(tree, self.schema.target, self.recipe)
        return replace(tree, outputs=outputs)

    def _cuts(self, winners: Integers) -> Floats:
        """Return the thresholds of candidates, NaN of those that group codes."""
        facts = self.grown.candidates[winners]
        cuts = np.full(len(winners), np.nan)
        for index, attribute in enumerate(self.schema.attributes):
            own, values = facts[:, ATTRIBUTE] == index, self.values[index]
            if attribute.kind == "nominal" or not own.any():
                continue
            ends = values[facts[own][:, [LOW, HIGH]]].astype(np.float64)
            cuts[own] = midpoints(*ends.T)
            if attribute.kind == "numeric" and self.recipe.thresholds == "observed":
                cuts[own] = values[np.searchsorted(values, cuts[own], side="right") - 1]
        return cuts

    def _gains(self, winners: Integers) -> Floats:
        """Return the gains of candidates; counted now where other rows came."""
        gains: Floats = self.grown.merits[winners, GAIN]
        for index in np.flatnonzero(np.isnan(gains)):
            gains[index] = self._candidate(winners[index]).gain
        return gains

    def _all_shares(self, winners: Integers, n_branches: Integers) -> Floats:
        """Return the shares of all branches of candidates, one after another."""
        grown, facts = self.grown, self.grown.candidates[winners]
        number = facts[:, LINES].astype(np.int64) - 1  # the first has what is missing
        owner = np.repeat(np.arange(len(winners)), number)
        line = facts[owner, LINE] + 1 + ramps(number)
        codes = grown.line_codes[line].astype(np.int64)
        by_code = np.isnan(self._cuts(winners))[owner]
        branch = np.where(by_code, codes, codes > facts[owner, CUT])
        first = n_branches.cumsum() - n_branches
        weights = np.zeros((n_branches.sum(), grown.weights.shape[1]))
        np.add.at(weights, first[owner] + branch, grown.line_weights[line])
        shares = sums_in_order(weights)
        for size in np.unique(n_branches):
            edges = first[n_branches == size, None] + np.arange(size)
            shares[edges] /= sums_in_order(shares[edges])[:, None]
        return shares

    def _candidate(self, at: int) -> Candidate:
        """Return a split and the counts behind it."""
        grown, facts = self.grown, self.grown.candidates[at].tolist()
        attribute = facts[ATTRIBUTE]
        lines = slice(facts[LINE], facts[LINE] + facts[LINES])
        codes = grown.line_codes[lines].astype(np.int64)
        weights, counts = grown.line_weights[lines], grown.line_counts[lines]
        values, kind = self.values[attribute], self.schema.attributes[attribute].kind
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
            split = Groups(attribute, groups, _shares(table, codes[1:], len(values)))
        else:
            low, high = values[facts[LOW]], values[facts[HIGH]]
            threshold = midpoint(float(low), float(high))
            sides = (codes[1:] > facts[CUT]).astype(np.int64)
            if kind == "numeric" and self.recipe.thresholds == "observed":
                below = np.searchsorted(values, threshold, side="right") - 1
                threshold = float(values[below])
            split = Threshold(attribute, threshold, _shares(table, sides, 2))
        gain, merit = grown.merits[at, [GAIN, MERIT]].tolist()
        if np.isnan(gain):  # counted again when its node took other rows
            criterion = self.recipe.measure(numeric=False)
            branches = branch_table(table, split).scaled(self.altered)
            gain, merit = (
                float(criterion.gain(branches)),
                float(criterion.merit(branches)),
            )
        return Candidate(split, table, gain, merit)


def _shares(table: CountTable, branches: Integers, n: int) -> tuple[float, ...]:
    sizes = sums_in_order(table.merged(branches, n).weights)
    return tuple((sizes / sums_in_order(sizes)).tolist())


def cut_back(grown: Grown, lines: Integers, reason: int) -> Grown:
    """Return what was grown with some nodes as leaves, and nothing below them."""
    nodes = grown.nodes.copy()
    nodes[lines, CHILDREN], nodes[lines, CHOSEN], nodes[lines, REASON] = 0, -1, reason
    left = np.sort(np.concatenate(levels_of(nodes)))
    line = np.full(len(nodes), -1, np.int32)  # children stay together, and in order
    line[left] = np.arange(len(left))
    nodes = nodes[left]
    nodes[1:, PARENT] = line[nodes[1:, PARENT]]
    inner = nodes[:, CHILDREN] > 0
    nodes[inner, CHILD] = line[nodes[inner, CHILD]]
    state = grown.state.copy()
    state[NODES] = len(left)
    return grown._replace(
        nodes=nodes, weights=grown.weights[left], counts=grown.counts[left], state=state
    )


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


def printing_order(
    nodes: NDArray[np.int32], levels: Sequence[Integers]
) -> tuple[Integers, Integers]:
    """Return the lines of nodes in printing order, and the number of each line.

    Lines that no node leads to have the number -1. ``levels`` are those of the nodes.
    """
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
