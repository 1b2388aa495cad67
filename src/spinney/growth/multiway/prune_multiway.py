"""Error-based pruning of a multiway tree by compiled kernels."""

from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.growth.multiway.kernels import layout
from spinney.growth.multiway.kernels.layout import Grown, PruneRecords, Pruning, Rules
from spinney.growth.multiway.kernels.prune import prune
from spinney.growth.multiway.multiway_dataset import MultiwayDataset
from spinney.growth.multiway.multiway_nodes import (
    MultiwayNodes,
    levels_of,
    printing_order,
    sums_below,
)
from spinney.growth.multiway.multiway_workspace import (
    EXTRA_LINES,
    MEMBER_ARRAYS,
    NODE_ARRAYS,
    PRUNE_ARRAYS,
    WRITTEN_ARRAYS,
    enlarged,
    members_for,
    workspace_for,
)
from spinney.growth.prune import Pruned, PruneStep, Steps
from spinney.growth.prune.error_based import COLLAPSE_SLACK, COUNTED, ESTIMATED
from spinney.recipes import Recipe
from spinney.search import midpoint
from spinney.trees import Tree, labels_of

ACTIONS = {
    layout.COLLAPSED: "collapsed",
    layout.REPLACED: "replaced",
    layout.RAISED: "raised",
    layout.KEPT: "kept",
}


def prune_multiway(tree: Tree, nodes: MultiwayNodes, rows: MultiwayDataset) -> Pruned:
    """Return the tree after error-based pruning with its training rows."""
    pruning = _Pruning(nodes, rows)
    pruning.run()
    return Pruned(pruning.tree(tree), Steps(pruning.steps(tree, nodes)))


class _Pruning:
    def __init__(self, nodes: MultiwayNodes, rows: MultiwayDataset) -> None:
        self.nodes, self.rows = nodes, rows
        recipe, n_rows = nodes.recipe, len(rows.columns.codes)
        prior, weight = _prior(recipe, rows.weights)
        costs = np.array(rows.schema.target.costs or np.zeros((0, 0)), np.float64)
        self.rules = Rules(
            recipe.raising,
            float(recipe.confidence),
            NormalDist().inv_cdf(1 - recipe.confidence),
            1.0 + weight,
            costs,
            float(costs.max(initial=0.0)) or 1.0,
        )
        # Pruning must not change the grown tree.
        self.grown = enlarged(nodes.grown, WRITTEN_ARRAYS)
        self.grown = self.grown._replace(state=nodes.grown.state.copy())
        _set_cuts(self.grown, nodes)
        capacity, n_nodes = len(self.grown.nodes), len(nodes)
        self.records = PruneRecords(
            np.arange(capacity, dtype=np.int32),
            np.zeros(capacity, np.uint8),
            np.zeros(capacity),
            np.zeros(capacity),
            np.zeros((n_nodes + 64, 2), np.int64),
            np.zeros((n_nodes + 64, 4)),
            prior,
            np.zeros(3),
        )
        size = 2 * n_rows + EXTRA_LINES if recipe.raising else 1
        self.members = members_for(size, 4096, 0)
        self.work = workspace_for(rows, 1)

    def run(self) -> None:
        """Collapse top-down, then prune bottom-up."""
        n_rows, fractions = len(self.rows.columns.codes), self.rows.fractions
        self.collapse()
        if self.rules.raising:
            self.members.rows[:n_rows] = np.arange(n_rows, dtype=np.uint32)
            if fractions is not None:
                self.members.fractions[:n_rows] = fractions
        self.members.stack[0] = 0, n_rows, 0, fractions is None, 0
        self.grown.state[layout.N_WAITING] = 1
        while True:
            arrays = (self.members, self.grown, self.records, self.work)
            short = prune(Pruning(self.rows.columns, self.rules, *arrays))
            if short == layout.DONE:
                return
            self.enlarge(int(short))

    def collapse(self) -> None:
        """Make leaves, top-down, of subtrees without fewer training errors."""
        nodes, records, numbers = self.grown.nodes, self.records, self.nodes.numbers
        leaf_errors, risks = np.zeros(len(numbers)), np.zeros(len(numbers))
        with_rows = np.flatnonzero(self.grown.counts[: len(numbers)].any(axis=1))
        weights = self.grown.weights[with_rows]
        sizes, lines = weights.sum(axis=1), np.arange(len(with_rows))
        costs = self.rows.schema.target.costs
        leaf_errors[with_rows] = sizes - weights[lines, labels_of(weights, costs)]
        predicted = (weights + records.prior) / (sizes + self.rules.scale - 1)[:, None]
        labels = labels_of(predicted, costs)
        if costs is None:
            risks[with_rows] = sizes - weights[lines, labels]
        else:
            risks[with_rows] = (weights * self.rules.costs[labels]).sum(axis=1)
        levels = self.nodes.levels
        as_tree, tree_risks = (
            sums_below(nodes, levels, leaf_values)
            for leaf_values in (leaf_errors, risks)
        )
        useless = nodes[: len(leaf_errors), layout.N_CHILDREN] > 0
        useless &= as_tree >= leaf_errors - COLLAPSE_SLACK
        gone = np.zeros(len(leaf_errors), np.bool_)
        for level in levels[1:]:
            above = nodes[level, layout.PARENT]
            gone[level] = gone[above] | useless[above]
        cut = np.flatnonzero(useless & ~gone)
        cut = cut[np.argsort(numbers[cut])]
        nodes[cut, layout.N_CHILDREN] = 0
        after = tree_risks[0] + np.cumsum(risks[cut] - tree_risks[cut])
        risk = np.append(tree_risks[0], after)
        figures = (as_tree[cut], leaf_errors[cut], risk[:-1], after)
        records.steps[: len(cut), 0] = cut
        records.steps[: len(cut), 1] = layout.COLLAPSED
        records.measures[: len(cut)] = np.stack(figures, axis=1)
        records.total[0] = risk[-1]
        self.grown.state[layout.N_STEPS] = len(cut)

    def enlarge(self, short: int) -> None:
        """Enlarge the arrays that are full."""
        self.members = enlarged(self.members, MEMBER_ARRAYS[short])
        self.grown = enlarged(self.grown, NODE_ARRAYS[short])
        self.records = enlarged(self.records, PRUNE_ARRAYS[short])

    def tree(self, tree: Tree) -> Tree:
        """Return the pruned tree, numbered in printing order."""
        nodes, grown = self.nodes, self.grown
        n_nodes = int(grown.state[layout.N_NODES])
        grown = grown._replace(
            nodes=grown.nodes[:n_nodes],
            weights=grown.weights[:n_nodes],
            counts=grown.counts[:n_nodes],
        )
        levels = levels_of(grown.nodes)
        for depth, level in enumerate(levels[1:]):
            above = np.repeat(
                levels[depth], grown.nodes[levels[depth], layout.N_CHILDREN]
            )
            grown.nodes[level, layout.PARENT] = above
            grown.nodes[level, layout.DEPTH] = depth + 1
        order, numbers = printing_order(grown.nodes, levels)
        self.give_reasons(order)
        pruned = MultiwayNodes(
            grown,
            nodes.values,
            nodes.schema,
            nodes.recipe,
            order,
            numbers,
            levels,
            nodes.altered,
        )
        return Tree(tree.schema, pruned)

    def give_reasons(self, lines: Integers) -> None:
        """Set the reasons of new leaves, and of leaves with other rows."""
        nodes, is_recounted = self.grown.nodes, self.records.is_recounted
        lines = lines[nodes[lines, layout.N_CHILDREN] == 0]
        nodes[lines, layout.CHOSEN] = -1
        inner = nodes[lines, layout.REASON] == layout.INNER
        lines = lines[(is_recounted[lines] > 0) | inner]
        present = np.count_nonzero(self.grown.weights[lines], axis=1)
        reasons = np.where(present == 1, layout.PURE, layout.PRUNED)
        no_rows = ~self.grown.counts[lines].any(axis=1)
        nodes[lines, layout.REASON] = np.where(no_rows, layout.EMPTY, reasons)

    def steps(self, tree: Tree, nodes: MultiwayNodes) -> Iterator[PruneStep]:
        """Return the steps, with node numbers before pruning."""
        n_steps, numbers = int(self.grown.state[layout.N_STEPS]), nodes.numbers
        listed, measures = self.records.steps[:n_steps], self.records.measures[:n_steps]
        return _steps(tree, listed, measures, numbers)


def _steps(
    tree: Tree, listed: Integers, measures: Floats, numbers: Integers
) -> Iterator[PruneStep]:
    for (line, action), figures in zip(listed.tolist(), measures.tolist(), strict=True):
        number = int(numbers[line])
        yield PruneStep(
            number,
            tree.condition(tree.nodes[number]),
            figures[layout.BEFORE],
            figures[layout.AFTER],
            action in (layout.COLLAPSED, layout.REPLACED),
            ACTIONS[action],
            measure=COUNTED if action == layout.COLLAPSED else ESTIMATED,
            risk_before=figures[layout.RISK_BEFORE],
            risk_after=figures[layout.RISK_AFTER],
        )


def _prior(recipe: Recipe, root_weights: Floats) -> tuple[Floats, float]:
    """Return the prior that is added to class weights, and its sum."""
    if recipe.probability == "laplace":
        return np.ones(len(root_weights)), float(len(root_weights))
    if recipe.probability == "m-estimate":
        return recipe.m * root_weights / root_weights.sum(), recipe.m
    return np.zeros(len(root_weights)), 0.0


def _set_cuts(grown: Grown, nodes: MultiwayNodes) -> None:
    """Set the last code that goes left, for rows from outside of the node.

    Such rows may have values between the two values beside a threshold.
    """
    inner = nodes.grown.nodes[nodes.grown.nodes[:, layout.N_CHILDREN] > 0]
    lines = (inner[:, layout.FIRST_CANDIDATE] + inner[:, layout.CHOSEN]).astype(
        np.int64
    )
    splits = grown.candidates[lines]
    has_between = splits[:, layout.HIGH] > splits[:, layout.LOW] + 1
    lines, splits = lines[has_between], splits[has_between]
    for attribute in set(splits[:, layout.ATTRIBUTE].tolist()):
        of_attribute = splits[:, layout.ATTRIBUTE] == attribute
        if nodes.schema.attributes[attribute].kind != "nominal":
            values = nodes.values[attribute]
            ends = values[splits[of_attribute][:, [layout.LOW, layout.HIGH]]].astype(
                np.float64
            )
            grown.candidates[lines[of_attribute], layout.CUT] = _last_left(values, ends)


def _last_left(values: NDArray[Any], ends: Floats) -> Integers:
    """Return the code of the last value that is not above the midpoints of pairs."""
    with np.errstate(over="ignore"):
        middles = ends.sum(axis=1) / 2
    cuts = np.searchsorted(values, middles, side="right") - 1
    # Midpoints that are halves are exact; the others are computed one by one.
    halves = (np.abs(middles) < 1e10) & (2 * middles == np.floor(2 * middles))
    for index in np.flatnonzero(~halves).tolist():
        threshold = midpoint(*map(float, ends[index]))
        cuts[index] = np.searchsorted(values, threshold, side="right") - 1
    return np.asarray(cuts)
