"""The nodes of a multiway tree, made on demand."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.segments import starts_of, sums_in_order
from spinney.data import Schema
from spinney.growth.leaf_estimates import outputs_of_tree
from spinney.growth.multiway.kernels import layout
from spinney.growth.multiway.kernels.layout import Grown
from spinney.recipes import Recipe
from spinney.search import midpoints
from spinney.trees import (
    CandidateArrays,
    LazyNodes,
    Reason,
    RoutingArrays,
    TreeArrays,
    printing_places,
    reason_codes,
    splits_of_routing,
    winner_arrays,
)

# By the kernels' numbers of reasons.
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
class MultiwayNodes(LazyNodes):
    """Nodes in printing order, each made when it is first read.

    ``order`` is the line of each node in ``grown``, and ``numbers`` the inverse.
    ``levels`` has the lines at each depth. ``altered`` has the factors of class weights
    under costs.
    """

    grown: Grown
    values: tuple[NDArray[Any], ...]
    schema: Schema
    recipe: Recipe
    order: Integers
    numbers: Integers
    levels: Sequence[Integers]
    altered: Floats

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.order)

    def _candidate_arrays(self) -> CandidateArrays:
        nodes = self.grown.nodes[self.order]
        count = nodes[:, layout.N_CANDIDATES].astype(np.int64)
        indices = np.repeat(
            nodes[:, layout.FIRST_CANDIDATE].astype(np.int64), count
        ) + ramps(count)
        chosen = np.maximum(nodes[:, layout.CHOSEN], -1).astype(np.int64)
        return replace(self._some_candidates(indices), count=count, chosen=chosen)

    def _some_candidates(self, indices: Integers) -> CandidateArrays:
        """Return some candidates with their counts, without node numbers."""
        grown, empty = self.grown, np.zeros(0, np.int64)
        facts = grown.candidates[indices]
        attribute = facts[:, layout.ATTRIBUTE]
        first = facts[:, layout.FIRST_LINE].astype(np.int64)
        cuts = self._cuts(facts)
        n_values = facts[:, layout.N_LINES].astype(np.int64) - 1
        sizes = np.array([len(values) for values in self.values], np.int64)
        n_branches = np.where(np.isnan(cuts), sizes[attribute], 2)
        listed = np.where(np.isnan(cuts), n_branches, 0)
        line = np.repeat(first, n_values) + 1 + ramps(n_values)  # the first is missing
        routing = RoutingArrays(
            attribute=attribute,
            cut=cuts,
            listed=listed,
            branches=ramps(listed),  # every code has a branch of its own
            cuts=np.zeros(0),
        )
        owner = np.repeat(np.arange(len(indices)), n_values)
        codes = grown.line_codes[line]
        branch = np.where(
            np.isnan(cuts)[owner], codes, codes > facts[owner, layout.CUT]
        )
        candidates = CandidateArrays(
            count=empty,
            chosen=empty,
            splits=splits_of_routing(
                routing,
                n_branches=n_branches,
                missing=np.full(len(indices), -1),
                shares=_shares(grown.line_weights[line], owner, branch, n_branches),
            ),
            gain=grown.merits[indices, layout.GAIN],
            merit=grown.merits[indices, layout.MERIT],
            exact=np.ones(len(indices), np.int64),
            p_value=np.full(len(indices), np.nan),
            n_values=n_values,
            values=self._values(attribute[owner], codes),
            weights=grown.line_weights[line],
            rows=grown.line_counts[line],
            missing_weights=grown.line_weights[first],
            missing_rows=grown.line_counts[first],
        )
        criterion = self.recipe.measure(numeric=False)
        for index in np.flatnonzero(
            np.isnan(candidates.gain)
        ).tolist():  # took other rows
            branches = candidates.candidate(index, self.schema).branches.scaled(
                self.altered
            )
            candidates.gain[index] = criterion.gain(branches)
            candidates.merit[index] = criterion.merit(branches)
        return candidates

    def _values(self, attribute: NDArray[Any], code: NDArray[Any]) -> Floats:
        """Return the values of codes; the value of a category is its code."""
        values = np.empty(len(code))
        for index, attribute_values in enumerate(self.values):
            rows = attribute == index
            values[rows] = attribute_values[code[rows]]
        return values

    def _cuts(self, facts: NDArray[np.int32]) -> Floats:
        """Return the thresholds of candidates, NaN for multiway splits."""
        cuts = np.full(len(facts), np.nan)
        for index, attribute in enumerate(self.schema.attributes):
            rows, values = facts[:, layout.ATTRIBUTE] == index, self.values[index]
            if attribute.kind == "nominal" or not rows.any():
                continue
            ends = values[facts[rows][:, [layout.LOW, layout.HIGH]]].astype(np.float64)
            cuts[rows] = midpoints(*ends.T)
            if attribute.kind == "numeric" and self.recipe.thresholds == "observed":
                cuts[rows] = values[
                    np.searchsorted(values, cuts[rows], side="right") - 1
                ]
        return cuts

    def _arrays(self) -> TreeArrays:
        grown, nodes = self.grown, self.grown.nodes[self.order]
        inner, parent = nodes[:, layout.CHOSEN] >= 0, nodes[:, layout.PARENT]
        winners = self._some_candidates(
            (nodes[:, layout.FIRST_CANDIDATE] + nodes[:, layout.CHOSEN])[inner]
        )
        tree = TreeArrays(
            **winner_arrays(
                inner, winners.splits, winners.gain, winners.missing_rows.sum(axis=1)
            ),
            parent=np.where(parent < 0, -1, self.numbers[parent]).astype(np.int32),
            weights=grown.weights[self.order],
            rows=grown.counts[self.order].sum(axis=1),
            reason=REASONS[nodes[:, layout.REASON]],
        )
        outputs = outputs_of_tree(tree, self.schema.target, self.recipe)
        return replace(tree, outputs=outputs)


def _shares(
    weights: Floats, owner: Integers, branch: Integers, n_branches: Integers
) -> Floats:
    """Return the proportions of all branches of candidates, from weights by value."""
    first = starts_of(n_branches)
    by_branch = np.zeros((first[-1], weights.shape[1]))
    np.add.at(by_branch, first[owner] + branch, weights)
    shares = sums_in_order(by_branch)
    for size in np.unique(n_branches):
        edges = first[:-1][n_branches == size, None] + np.arange(size)
        shares[edges] /= sums_in_order(shares[edges])[:, None]
    return shares


def cut_back(grown: Grown, lines: Integers, reason: int) -> Grown:
    """Return the tree after making some nodes leaves and removing their descendants."""
    nodes = grown.nodes.copy()
    nodes[lines, layout.N_CHILDREN], nodes[lines, layout.CHOSEN] = 0, -1
    nodes[lines, layout.REASON] = reason
    remaining = np.sort(np.concatenate(levels_of(nodes)))
    new_line = np.full(len(nodes), -1, np.int32)  # children stay together, and in order
    new_line[remaining] = np.arange(len(remaining))
    nodes = nodes[remaining]
    nodes[1:, layout.PARENT] = new_line[nodes[1:, layout.PARENT]]
    inner = nodes[:, layout.N_CHILDREN] > 0
    nodes[inner, layout.FIRST_CHILD] = new_line[nodes[inner, layout.FIRST_CHILD]]
    state = grown.state.copy()
    state[layout.N_NODES] = len(remaining)
    return grown._replace(
        nodes=nodes,
        weights=grown.weights[remaining],
        counts=grown.counts[remaining],
        state=state,
    )


def levels_of(nodes: NDArray[np.int32]) -> list[Integers]:
    """Return the lines of the nodes at each depth; children are adjacent."""
    levels = [np.zeros(1, np.int64)]
    while True:
        n_children = nodes[levels[-1], layout.N_CHILDREN].astype(np.int64)
        first = np.repeat(
            nodes[levels[-1], layout.FIRST_CHILD].astype(np.int64), n_children
        )
        ends = np.cumsum(n_children)
        if not len(first):
            return levels
        levels.append(
            first + np.arange(len(first)) - np.repeat(ends - n_children, n_children)
        )


def sums_below(
    nodes: NDArray[np.int32], levels: Sequence[Integers], leaf_values: NDArray[Any]
) -> NDArray[Any]:
    """Return for each node the sum over its leaves, or its own value at a leaf."""
    sums = np.where(nodes[: len(leaf_values), layout.N_CHILDREN] > 0, 0, leaf_values)
    for level in reversed(levels[1:]):
        np.add.at(sums, nodes[level, layout.PARENT], sums[level])
    return sums


def printing_order(
    nodes: NDArray[np.int32], levels: Sequence[Integers]
) -> tuple[Integers, Integers]:
    """Return the lines of nodes in printing order, and the number of each line.

    Lines outside of all levels have the number -1.
    """
    numbers = printing_places(nodes[:, layout.PARENT], levels)
    lines = np.flatnonzero(numbers >= 0)
    order = np.empty(len(lines), np.int64)
    order[numbers[lines]] = lines
    return order, numbers
