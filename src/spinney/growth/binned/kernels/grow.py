"""A whole subtree in one call: count, search, partition, repeat.

The rows of a node are a stretch of one array of words (see ``row_words``); a split puts
those that go left before the others, both in their old order. Nodes wait on a stack,
the right branch below the left one, so that they come out in printing order::

    take the node on top
    if it must be a leaf: say why
    else: search its attributes; partition its rows; let both sides wait

Counts of a *large* node are kept by attribute and bin. Its smaller child is counted and
the larger one is what remains, where sums are exact. A *small* node is finished by
sorting its rows, attribute by attribute. Rows lie far apart in memory, so what will be
read is asked for ahead.

All that the work knows stands in arrays. When there is no more stack for nodes it
returns, and goes on where it was when it is called again.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from spinney._support.jit.compile import FALSE, ZERO, entry, kernel
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.bags import Bags, begin_tree
from spinney.growth.binned.kernels.choose import choose
from spinney.growth.binned.kernels.count import count
from spinney.growth.binned.kernels.nodes import open_node, push, reason_to_stop
from spinney.growth.binned.kernels.row_words import RowWords
from spinney.growth.binned.kernels.runners_up import record_runners_up
from spinney.growth.binned.kernels.score import slack_of
from spinney.growth.binned.kernels.search import (
    open_bins,
    search_edges,
    search_node,
    weigh_node,
)
from spinney.growth.binned.kernels.split import gains, split_node


class Task(IntEnum):
    """What the entry does; all but the first two with the node on top of the stack."""

    GROW = 0
    TREES = 1
    COUNT = 2
    EDGES = 3
    INSIDE = 4
    CHOOSE = 5
    SPLIT = 6
    RUNNERS_UP = 7


class Search(NamedTuple):
    """All that the growing of a tree reads and writes.

    Rows and rules; the nodes that wait, and where one is searched; the nodes that are
    done with the codes that they list, and the splits that lost; the bags of a forest.
    """

    cells: layout.Cells
    labels: layout.Labels
    rules: layout.Rules
    rows: RowWords
    stack: nodes.NodeStack
    work: layout.Workspace
    shape: nodes.Shape
    listed: nodes.Lines
    runners_up: nodes.Shape
    bags: Bags


@kernel
def share_counts(search, begin, middle, end, slot):
    """Count the smaller side; what is left of the node's counts is the larger's.

    Return the slots of both sides, -1 where a side is small enough to be sorted.
    """
    cells, rules, stack = search.cells, search.rules, search.stack
    larger = max(middle - begin, end - middle)
    if larger <= rules.small or not rules.subtract or not stack.state[nodes.FREE]:
        give_back(stack, slot)
        return ZERO - 1, ZERO - 1
    new = stack.free[stack.state[nodes.FREE] - 1]
    left_is_smaller = middle - begin <= end - middle
    first = begin if left_is_smaller else middle
    last = middle if left_is_smaller else end
    p, pool = len(cells.n_bins), stack.pool
    count(search, first, last, ZERO, p, pool[new])
    for a in range(p):
        for b in range(cells.n_bins[a]):
            for c in range(rules.width):
                pool[slot, a, b, c] -= pool[new, a, b, c]
        for c in range(rules.width):
            pool[slot, a, layout.ABSENT, c] -= pool[new, a, layout.ABSENT, c]
    if last - first > rules.small:
        stack.state[nodes.FREE] -= 1
    else:
        new = ZERO - 1
    return (new, slot) if left_is_smaller else (slot, new)


@kernel
def give_back(stack, slot):
    """Let others use the counts of a node."""
    if slot >= 0:
        stack.free[stack.state[nodes.FREE]] = slot
        stack.state[nodes.FREE] += 1


@kernel
def grow_node(search, top):
    """Search and split the node that was on top, and let its sides wait."""
    rules, stack, p = search.rules, search.stack, len(search.cells.n_bins)
    begin, end = stack.at[top, nodes.BEGIN], stack.at[top, nodes.END]
    level, slot = stack.at[top, nodes.LEVEL], stack.at[top, nodes.SLOT]
    here, key = stack.state[nodes.DONE], stack.keys[top]
    if slot < 0 and stack.state[nodes.FREE] and end - begin > rules.small:
        stack.state[nodes.FREE] -= 1
        slot = stack.free[stack.state[nodes.FREE]]
        count(search, begin, end, ZERO, p, stack.pool[slot])
    lines = stack.pool[slot] if slot >= 0 else search.work.lines
    chosen, varies = search_node(search, top, lines, slot >= 0)
    middle = begin
    if chosen < 0:
        reason = nodes.ROWS_IN_LEAF if varies else nodes.IDENTICAL
        search.shape.whole[here, nodes.REASON] = reason
    elif not gains(search, top, here, chosen):
        chosen = -1
    else:
        middle = split_node(search, top, chosen, lines)
    if end - begin >= rules.runners_up:
        is_sorted = slot < 0 and end - begin <= rules.small
        record_runners_up(search, top, here, ZERO, p, chosen, is_sorted, lines)
    if chosen < 0 or rules.apart:
        # Rows that stay apart are sent first (``route``): then the sides are known.
        give_back(stack, slot)
        return
    left_slot, right_slot = ZERO - 1, ZERO - 1
    if slot >= 0 and level + 1 < rules.max_depth:
        left_slot, right_slot = share_counts(search, begin, middle, end, slot)
    else:
        give_back(stack, slot)
    push(stack, middle, end, level + 1, here, ZERO + 1, right_slot, key)
    push(stack, begin, middle, level + 1, here, ZERO, left_slot, key)


@kernel
def grow_nodes(search):
    """Grow the nodes that wait, and theirs, until none is left or the room is full."""
    rules, shape, stack = search.rules, search.shape, search.stack
    state, p = stack.state, len(search.cells.n_bins)
    while (
        state[nodes.WAITING]
        and state[nodes.DONE] < len(shape.whole)
        and state[nodes.LISTED] + rules.listing <= len(search.listed.codes)
        and state[nodes.RECORDED] + p <= len(search.runners_up.whole)
    ):
        state[nodes.WAITING] -= 1
        top, here = state[nodes.WAITING], state[nodes.DONE]
        open_node(shape, here, stack, top)
        reason = reason_to_stop(rules, stack, top)
        shape.whole[here, nodes.REASON] = reason
        if reason == nodes.INNER:
            grow_node(search, top)
        else:
            give_back(stack, stack.at[top, nodes.SLOT])
        state[nodes.DONE] += 1


@kernel
def grow_trees(search):
    """Grow the trees of bags, until all are done or the room is full."""
    state, roots = search.stack.state, search.bags.roots
    while state[nodes.WAITING] or state[nodes.TREE] < len(roots):
        if not state[nodes.WAITING]:
            begin_tree(search, state[nodes.TREE])
            roots[state[nodes.TREE]] = state[nodes.DONE]
            state[nodes.TREE] += 1
        grow_nodes(search)
        if state[nodes.WAITING]:
            return


@entry
def work_on(search, task, first, last, floor):
    """Do a task; return what CHOOSE chose, and where the right rows begin after SPLIT.

    -1 without one. COUNT, EDGES, INSIDE and RUNNERS_UP are about the attributes from
    ``first`` to ``last`` of the node at the bottom of the stack, whose counts are
    ``work.lines``; CHOOSE is about all of them, SPLIT about its attribute ``first``.
    """
    if task == Task.GROW:
        grow_nodes(search)
        return -1
    if task == Task.TREES:
        grow_trees(search)
        return -1
    rules, stack, lines = search.rules, search.stack, search.work.lines
    begin, end = stack.at[0, nodes.BEGIN], stack.at[0, nodes.END]
    if task == Task.COUNT:
        count(search, begin, end, first, last, lines)
        return -1
    if task == Task.CHOOSE:
        return choose(search, ZERO, len(search.cells.n_bins))
    slack = slack_of(rules.kind, stack.weights, ZERO)
    weigh_node(search, ZERO)
    if task == Task.EDGES:
        for a in range(first, last):
            search_edges(search, lines, a, slack)
    elif task == Task.INSIDE:
        for a in range(first, last):
            floor = open_bins(search, begin, end, lines, a, floor, slack)
    elif task == Task.RUNNERS_UP:
        chosen = np.int64(search.shape.whole[0, nodes.ATTRIBUTE])
        record_runners_up(search, ZERO, ZERO, first, last, chosen, FALSE, lines)
    else:
        open_node(search.shape, ZERO, stack, ZERO)
        reason = reason_to_stop(rules, stack, ZERO)
        if reason == nodes.INNER and gains(search, ZERO, ZERO, first):
            return split_node(search, ZERO, first, lines)
    return -1
