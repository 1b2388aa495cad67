"""The subtrees of single nodes, each grown by one thread."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import Pace
from spinney.growth.binned.binned_dataset import BinnedDataset
from spinney.growth.binned.kernels import nodes
from spinney.growth.binned.kernels.grow import (
    Bags,
    SearchState,
    Task,
    no_bags,
    run_task,
)
from spinney.growth.binned.kernels.layout import empty_workspace
from spinney.growth.binned.kernels.nodes import (
    CodeCounts,
    NodeRecords,
    NodeStack,
    concatenated,
    copied_head,
    doubled,
    empty_code_counts,
    empty_records,
    empty_stack,
    head,
)
from spinney.growth.binned.kernels.packed_rows import PackedRows

INITIAL_NODES = 1024
MAX_INITIAL_NODES = 65_536  # unused memory costs nothing
CELLS_PER_PAUSE = 4_000_000  # looked at before the first pause, about
INITIAL_COMPETITOR_NODES = 256  # nodes with competitors


class Grown(NamedTuple):
    """The records of grown nodes, their code counts, and their competitors."""

    records: NodeRecords
    code_counts: CodeCounts
    competitors: NodeRecords


@dataclass
class RowRange:
    """Node whose subtree is still to be grown: rows, depth, totals and histograms."""

    begin: int
    end: int
    depth: int
    key: np.uint64
    weights: Floats
    counts: NDArray[np.int64]
    histograms: Floats | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.end - self.begin


def stack_with_node(
    dataset: BinnedDataset, node: RowRange, max_depth: int, slots: int
) -> NodeStack:
    """Return a stack with one node."""
    p, width = len(dataset.cells.n_bins), dataset.rules.width
    n_counts = len(node.counts)
    stack = empty_stack(node.n_rows, max_depth, p, width, n_counts, slots)
    stack.entries[0] = node.begin, node.end, node.depth, -1, 0, -1, -1, -1
    stack.keys[0], stack.weights[0] = node.key, node.weights
    stack.counts[0], stack.state[nodes.N_WAITING] = node.counts, 1
    return stack


def new_search(
    dataset: BinnedDataset,
    rows: PackedRows,
    stack: NodeStack,
    *,
    n_nodes: int,
    n_lines: int,
    n_competitors: int,
) -> SearchState:
    """Return the state of a search with space for these numbers of lines."""
    p, n_drawn = len(dataset.cells.n_bins), dataset.rules.n_drawn
    width = dataset.rules.width
    n_counts, drawn = stack.counts.shape[1], n_drawn if n_drawn < p else 0
    return SearchState(
        cells=dataset.cells,
        labels=dataset.labels,
        rules=dataset.rules,
        rows=rows,
        stack=stack,
        work=empty_workspace(len(stack.buffer), p, width, drawn),
        records=empty_records(n_nodes, width, n_counts),
        code_counts=empty_code_counts(n_lines, width, n_counts),
        competitors=empty_records(n_competitors, width, n_counts),
        bags=no_bags(),
    )


def grow_range(dataset: BinnedDataset, rows: PackedRows, node: RowRange) -> Grown:
    """Grow the subtree of a range of rows, whose order is lost."""
    keep_competitors = dataset.rules.n_drawn >= len(dataset.cells.n_bins)
    slots = (
        nodes.SLOTS
        if keep_competitors and node.n_rows > dataset.rules.small_node_rows
        else 0
    )
    stack = stack_with_node(dataset, node, dataset.rules.max_depth - node.depth, slots)
    if slots and node.histograms is not None:
        stack.state[nodes.N_FREE] -= 1
        stack.entries[0, nodes.SLOT] = stack.free[stack.state[nodes.N_FREE]]
        stack.pool[stack.entries[0, nodes.SLOT]] = node.histograms
    return grow_stack(dataset, rows, stack)


def grow_stack(dataset: BinnedDataset, rows: PackedRows, stack: NodeStack) -> Grown:
    """Return the grown subtrees of the nodes on a stack."""
    return _grown(Task.GROW, dataset, rows, stack, no_bags())


def grow_bags(
    dataset: BinnedDataset,
    in_bags: NDArray[np.uint8],
    seeds: NDArray[np.uint64],
    base: Floats | None,
) -> tuple[Grown, Integers]:
    """Return the trees of some bags, and the index of each tree's root.

    The nodes of all trees are numbered consecutively.

    Parameters
    ----------
    dataset : BinnedDataset
        All rows, encoded.
    in_bags : array of uint8, trees × rows
        The number of occurrences of each row in each bag.
    seeds : array of uint64
        The seeds of the draws at nodes, one per tree.
    base : array, optional
        Weight of a row per occurrence in a bag; 1 by default. If there are several
        bags, weights are integers, and each bag weighs less than 2³².
    """
    base = np.zeros(0) if base is None else base
    are_whole, total = bool(np.all(base == np.floor(base))), float(base.sum())
    min_weight = float(base[base > 0].min(initial=np.inf)) if len(base) else 1.0
    rules = dataset.rules._replace(
        single_row_weight=1.5 * min_weight,
        count_rows=True,
        subtract=are_whole and total <= 2.0**53,
    )
    # Kernels overwrite the weights with those of each bag.
    packs_classes = dataset.labels.packs_classes and are_whole and total < 2.0**32
    labels = dataset.labels._replace(
        weights=np.empty(len(base)), packs_classes=packs_classes
    )
    n, p = in_bags.shape[1], len(dataset.cells.n_bins)
    slots = nodes.SLOTS if rules.n_drawn >= p and n > rules.small_node_rows else 0
    stack = empty_stack(n, rules.max_depth, p, rules.width, len(dataset.counts), slots)
    bags = Bags(in_bags, base, seeds, np.zeros(len(seeds), np.int64))
    dataset, rows = replace(dataset, labels=labels, rules=rules), np.empty(n, np.uint64)
    return _grown(Task.TREES, dataset, rows, stack, bags), bags.roots


def _grown(
    task: Task, dataset: BinnedDataset, rows: PackedRows, stack: NodeStack, bags: Bags
) -> Grown:
    """Grow nodes; enlarge arrays that are full.

    Growing a few nodes at a time makes pauses, in which the work may be stopped.
    """
    rules, n = dataset.rules, len(stack.buffer)
    p = len(dataset.cells.n_bins)
    # More nodes than a full tree has if classes are easily separated.
    expected = max(1, len(bags.roots)) * n // 3
    capacity = min(max(INITIAL_NODES, expected), MAX_INITIAL_NODES)
    keep_competitors = INITIAL_COMPETITOR_NODES if n >= rules.competitor_rows else 1
    search = new_search(
        dataset,
        rows,
        stack,
        n_nodes=capacity,
        n_lines=2 * rules.max_code_lines,
        n_competitors=p * keep_competitors,
    )._replace(bags=bags)
    state, pace = stack.state, Pace(CELLS_PER_PAUSE // (n * min(rules.n_drawn, p) + 1))
    while state[nodes.N_WAITING] or state[nodes.N_TREES] < len(bags.roots):
        with pace as n_more:
            records = head(search.records, state[nodes.N_NODES] + n_more)
            run_task(search._replace(records=records), int(task), 0, 0, 0.0)
        if state[nodes.N_NODES] == len(search.records.ints):
            search = search._replace(records=doubled(search.records))
        if state[nodes.N_LISTED] + rules.max_code_lines > len(search.code_counts.codes):
            search = search._replace(code_counts=doubled(search.code_counts))
        if state[nodes.N_COMPETITORS] + p > len(search.competitors.ints):
            search = search._replace(competitors=doubled(search.competitors))
    # Forests convert these arrays at once, so unused memory need not be freed.
    trim = copied_head if task == Task.GROW else head
    return Grown(
        trim(search.records, state[nodes.N_NODES]),
        trim(search.code_counts, state[nodes.N_LISTED]),
        trim(search.competitors, state[nodes.N_COMPETITORS]),
    )


def concatenate_subtrees(parts: Sequence[Grown]) -> tuple[Grown, Integers]:
    """Return concatenated subtrees, and the bounds of each.

    Records and competitors are renumbered; the caller sets links between subtrees.
    """
    records, code_counts, competitors = (
        concatenated(arrays) for arrays in zip(*parts, strict=True)
    )
    starts = np.cumsum([0, *(len(part.records.ints) for part in parts)])
    lines = np.cumsum([0, *(len(part.code_counts.codes) for part in parts)])
    offsets = np.stack([starts[:-1], lines[:-1]], axis=1).astype(np.int32)
    n_competitors = [len(part.competitors.ints) for part in parts]
    records.ints[:, nodes.FIRST_LINE] += np.repeat(offsets[:, 1], np.diff(starts))
    columns = [nodes.PARENT_NODE, nodes.FIRST_LINE]
    competitors.ints[:, columns] += np.repeat(offsets, n_competitors, axis=0)
    return Grown(records, code_counts, competitors), starts
