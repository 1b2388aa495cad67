"""A whole subtree in one call: count, search, partition, repeat.

The rows of a node are a range of one array of packed words (``packed_rows``). A split
moves the rows that go left before the others, both in their old order. Nodes wait on a
stack, the right branch below the left one, so that they come out in printing order::

take the node on top
if it must be a leaf: record the reason
else: search its attributes; partition its rows; push both children

Histograms of a *large* node are kept. Its smaller child is counted, and the larger one
is the difference if sums are exact. A *small* node is finished by sorting its rows,
attribute by attribute. Rows lie far apart in memory, so they are prefetched.

The whole state is in arrays. When these are full the kernel returns, and it continues
when it is called again.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import FALSE, ZERO, entry, kernel
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.best_attribute import choose_attribute
from spinney.growth.binned.kernels.competitors import record_competitors
from spinney.growth.binned.kernels.draw import mix
from spinney.growth.binned.kernels.histograms import count
from spinney.growth.binned.kernels.nodes import (
    add_to_node,
    begin_record,
    push_node,
    reason_to_stop,
)
from spinney.growth.binned.kernels.packed_rows import PackedRows, pack_row
from spinney.growth.binned.kernels.search import (
    refine_attribute,
    search_edges,
    search_node,
    set_node_weight,
)
from spinney.growth.binned.kernels.split import record_gain, split_node
from spinney.growth.binned.kernels.split_scores import is_numeric, tie_tolerance


class Task(IntEnum):
    """The tasks of the entry; most tasks concern the top node of the stack."""

    GROW = 0
    TREES = 1
    COUNT = 2
    EDGES = 3
    INSIDE = 4
    CHOOSE = 5
    SPLIT = 6
    COMPETITORS = 7


class Bags(NamedTuple):
    """The bags of rows from which trees are grown.

    ``counts`` (trees × rows) is the number of occurrences of a row in a bag, ``base``
    its weight per occurrence (empty: 1), ``seeds`` the seeds of draws at nodes.
    ``roots`` receives the root of each tree.
    """

    counts: NDArray[np.uint8]
    base: NDArray[np.float64]
    seeds: NDArray[np.uint64]
    roots: NDArray[np.int64]


def no_bags() -> Bags:
    """Return empty arrays in place of bags."""
    return Bags(
        np.zeros((0, 0), np.uint8),
        np.zeros(0),
        np.zeros(0, np.uint64),
        np.zeros(0, np.int64),
    )


class SearchState(NamedTuple):
    """State of growing a tree: rows, rules, stack, workspace, results and bags."""

    cells: layout.Cells
    labels: layout.Labels
    rules: layout.Rules
    rows: PackedRows
    stack: nodes.NodeStack
    work: layout.Workspace
    records: nodes.NodeRecords
    code_counts: nodes.CodeCounts
    competitors: nodes.NodeRecords
    bags: Bags


@kernel
def subtract_histograms(search, begin, middle, end, slot):
    """Count the smaller child; the larger child gets the difference to its parent.

    Return the slots of both children, -1 for a child that is small enough to be sorted.
    """
    cells, rules, stack = search.cells, search.rules, search.stack
    larger = max(middle - begin, end - middle)
    if (
        larger <= rules.small_node_rows
        or not rules.subtract
        or not stack.state[nodes.N_FREE]
    ):
        release_slot(stack, slot)
        return ZERO - 1, ZERO - 1
    child_slot = stack.free[stack.state[nodes.N_FREE] - 1]
    left_is_smaller = middle - begin <= end - middle
    first = begin if left_is_smaller else middle
    last = middle if left_is_smaller else end
    p, pool = len(cells.n_bins), stack.pool
    count(search, first, last, ZERO, p, pool[child_slot])
    for a in range(p):
        for b in range(cells.n_bins[a]):
            for c in range(rules.width):
                pool[slot, a, b, c] -= pool[child_slot, a, b, c]
        for c in range(rules.width):
            pool[slot, a, layout.MISSING_CODE, c] -= pool[
                child_slot, a, layout.MISSING_CODE, c
            ]
    if last - first > rules.small_node_rows:
        stack.state[nodes.N_FREE] -= 1
    else:
        child_slot = ZERO - 1
    return (child_slot, slot) if left_is_smaller else (slot, child_slot)


@kernel
def release_slot(stack, slot):
    """Release the histogram of a node."""
    if slot >= 0:
        stack.free[stack.state[nodes.N_FREE]] = slot
        stack.state[nodes.N_FREE] += 1


@kernel
def grow_node(search, top):
    """Search and split the top node, and push its children."""
    rules, stack, p = search.rules, search.stack, len(search.cells.n_bins)
    begin, end = stack.entries[top, nodes.BEGIN], stack.entries[top, nodes.END]
    level, slot = stack.entries[top, nodes.LEVEL], stack.entries[top, nodes.SLOT]
    node, key = stack.state[nodes.N_NODES], stack.keys[top]
    if slot < 0 and stack.state[nodes.N_FREE] and end - begin > rules.small_node_rows:
        stack.state[nodes.N_FREE] -= 1
        slot = stack.free[stack.state[nodes.N_FREE]]
        count(search, begin, end, ZERO, p, stack.pool[slot])
    histograms = stack.pool[slot] if slot >= 0 else search.work.histograms
    chosen, varies = search_node(search, top, histograms, slot >= 0)
    middle = begin
    if chosen < 0:
        reason = nodes.ROWS_IN_LEAF if varies else nodes.IDENTICAL
        search.records.ints[node, nodes.REASON] = reason
    elif not record_gain(search, top, node, chosen):
        chosen = -1
    else:
        middle = split_node(search, top, chosen, histograms)
    if end - begin >= rules.competitor_rows:
        is_sorted = slot < 0 and end - begin <= rules.small_node_rows
        record_competitors(search, top, node, ZERO, p, chosen, is_sorted, histograms)
    if chosen < 0 or rules.missing_separate:
        # Rows that stay apart are sent first (``route``): then the sides are known.
        release_slot(stack, slot)
        return
    left_slot, right_slot = ZERO - 1, ZERO - 1
    if slot >= 0 and level + 1 < rules.max_depth:
        left_slot, right_slot = subtract_histograms(search, begin, middle, end, slot)
    else:
        release_slot(stack, slot)
    push_node(stack, middle, end, level + 1, node, ZERO + 1, right_slot, key)
    push_node(stack, begin, middle, level + 1, node, ZERO, left_slot, key)


@kernel
def grow_nodes(search):
    """Grow the subtrees of nodes on the stack, until done or an array is full."""
    rules, records, stack = search.rules, search.records, search.stack
    state, p = stack.state, len(search.cells.n_bins)
    while (
        state[nodes.N_WAITING]
        and state[nodes.N_NODES] < len(records.ints)
        and state[nodes.N_LISTED] + rules.max_code_lines
        <= len(search.code_counts.codes)
        and state[nodes.N_COMPETITORS] + p <= len(search.competitors.ints)
    ):
        state[nodes.N_WAITING] -= 1
        top, node = state[nodes.N_WAITING], state[nodes.N_NODES]
        begin_record(records, node, stack, top)
        reason = reason_to_stop(rules, stack, top)
        records.ints[node, nodes.REASON] = reason
        if reason == nodes.INNER:
            grow_node(search, top)
        else:
            release_slot(stack, stack.entries[top, nodes.SLOT])
        state[nodes.N_NODES] += 1


@kernel
def begin_tree(search, tree):
    """Push the root of a tree, after setting the weights of its rows."""
    kind, labels, rows = search.rules.kind, search.labels, search.rows
    bags, stack = search.bags, search.stack
    counts, base, weights = bags.counts, bags.base, labels.weights
    classes = labels.classes
    for c in range(stack.weights.shape[1]):
        stack.weights[0, c] = 0.0
    for c in range(stack.counts.shape[1]):
        stack.counts[0, c] = 0
    n = ZERO
    for row in range(counts.shape[1]):
        n_times = counts[tree, row]
        if n_times == 0:
            continue
        label = ZERO if is_numeric(kind) else np.int64(classes[row])
        if len(base):
            weights[row] = n_times * base[row]
            rows[n] = pack_row(row, label, ZERO)
        else:
            rows[n] = pack_row(row, label, n_times)
        add_to_node(kind, labels, rows[n], stack.weights, stack.counts, ZERO)
        n += 1
    entries = stack.entries
    entries[0, nodes.BEGIN], entries[0, nodes.END], entries[0, nodes.LEVEL] = 0, n, 0
    entries[0, nodes.PARENT], entries[0, nodes.BRANCH] = -1, 0
    entries[0, nodes.SLOT] = -1
    stack.keys[0] = mix(bags.seeds[tree])
    stack.state[nodes.N_WAITING] = 1


@kernel
def grow_trees(search):
    """Grow a tree for each bag, until all are done or an array is full."""
    state, roots = search.stack.state, search.bags.roots
    while state[nodes.N_WAITING] or state[nodes.N_TREES] < len(roots):
        if not state[nodes.N_WAITING]:
            begin_tree(search, state[nodes.N_TREES])
            roots[state[nodes.N_TREES]] = state[nodes.N_NODES]
            state[nodes.N_TREES] += 1
        grow_nodes(search)
        if state[nodes.N_WAITING]:
            return


@entry
def run_task(search, task, first, last, floor):
    """Run a task; return the chosen attribute, or the start of the right rows, or -1.

    COUNT, EDGES, INSIDE and COMPETITORS concern attributes ``first`` to ``last`` of the
    bottom node, whose histograms are in ``work``. CHOOSE concerns all attributes, SPLIT
    the attribute ``first``.
    """
    if task == Task.GROW:
        grow_nodes(search)
        return -1
    if task == Task.TREES:
        grow_trees(search)
        return -1
    rules, stack, histograms = search.rules, search.stack, search.work.histograms
    begin, end = stack.entries[0, nodes.BEGIN], stack.entries[0, nodes.END]
    if task == Task.COUNT:
        count(search, begin, end, first, last, histograms)
        return -1
    if task == Task.CHOOSE:
        return choose_attribute(search, ZERO, len(search.cells.n_bins))
    slack = tie_tolerance(rules.kind, stack.weights, ZERO)
    set_node_weight(search, ZERO)
    if task == Task.EDGES:
        for a in range(first, last):
            search_edges(search, histograms, a, slack)
    elif task == Task.INSIDE:
        for a in range(first, last):
            floor = refine_attribute(search, begin, end, histograms, a, floor, slack)
    elif task == Task.COMPETITORS:
        chosen = np.int64(search.records.ints[0, nodes.ATTRIBUTE])
        record_competitors(search, ZERO, ZERO, first, last, chosen, FALSE, histograms)
    else:
        begin_record(search.records, ZERO, stack, ZERO)
        reason = reason_to_stop(rules, stack, ZERO)
        if reason == nodes.INNER and record_gain(search, ZERO, ZERO, first):
            return split_node(search, ZERO, first, histograms)
    return -1
