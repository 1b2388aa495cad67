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

All that the work knows stands in arrays. When there is no more room for nodes it
returns, and goes on where it was when it is called again.
"""

import numpy as np

from spinney._support.jit.compile import ZERO, entry, kernel
from spinney._support.jit.references import reference
from spinney.growth.binned.loops import layout, nodes
from spinney.growth.binned.loops.bags import begin_tree
from spinney.growth.binned.loops.count import count
from spinney.growth.binned.loops.nodes import open_node, push, reason_to_stop
from spinney.growth.binned.loops.runners_up import record_rivals
from spinney.growth.binned.loops.search import (
    search_edges,
    search_inside,
    search_node,
    slack_of,
)
from spinney.growth.binned.loops.split import gains, split_node

# What an entry is asked to do; all but the first two with the node on top of the stack.
GROW, TREES, COUNT, EDGES, INSIDE, SPLIT, RIVALS = range(7)


@kernel
def share_counts(cells, labels, rules, rows, room, begin, middle, end, slot, work):
    """Count the smaller side; what is left of the node's counts is the larger's.

    Return the slots of both sides, -1 where a side is small enough to be sorted.
    """
    larger = max(middle - begin, end - middle)
    if larger <= rules.small or not rules.subtract or not room.state[nodes.FREE]:
        give_back(room, slot)
        return ZERO - 1, ZERO - 1
    new = room.free[room.state[nodes.FREE] - 1]
    left_is_smaller = middle - begin <= end - middle
    first = begin if left_is_smaller else middle
    last = middle if left_is_smaller else end
    p, pool = len(cells.n_bins), room.pool
    count(cells, labels, rules, rows, first, last, ZERO, p, pool[new], work.words)
    for a in range(p):
        for b in range(cells.n_bins[a]):
            for c in range(rules.width):
                pool[slot, a, b, c] -= pool[new, a, b, c]
        for c in range(rules.width):
            pool[slot, a, layout.ABSENT, c] -= pool[new, a, layout.ABSENT, c]
    if last - first > rules.small:
        room.state[nodes.FREE] -= 1
    else:
        new = ZERO - 1
    return (new, slot) if left_is_smaller else (slot, new)


@kernel
def give_back(room, slot):
    """Let others use the counts of a node."""
    if slot >= 0:
        room.free[room.state[nodes.FREE]] = slot
        room.state[nodes.FREE] += 1


@kernel
def grow_node(cells, labels, rules, rows, room, top, work, shape, listed, rivals):
    """Search and split the node that was on top, and let its sides wait."""
    begin, end, here = (
        room.at[top, nodes.BEGIN],
        room.at[top, nodes.END],
        room.state[nodes.DONE],
    )
    level, slot, p = (
        room.at[top, nodes.LEVEL],
        room.at[top, nodes.SLOT],
        len(cells.n_bins),
    )
    if slot < 0 and room.state[nodes.FREE] and end - begin > rules.small:
        room.state[nodes.FREE] -= 1
        slot = room.free[room.state[nodes.FREE]]
        count(
            cells, labels, rules, rows, begin, end, ZERO, p, room.pool[slot], work.words
        )
    lines = room.pool[slot] if slot >= 0 else work.lines
    key = room.keys[top]
    chosen, varying = search_node(
        cells,
        labels,
        rules,
        rows,
        begin,
        end,
        lines,
        slot >= 0,
        room.weights,
        top,
        room.keys[top:],
        work,
    )
    middle = begin
    if chosen < 0:
        shape.whole[here, nodes.REASON] = (
            nodes.ROWS_IN_LEAF if varying else nodes.IDENTICAL
        )
    elif not gains(rules, shape, here, chosen, work, room, top):
        chosen = -1
    else:
        middle = split_node(
            cells, labels, rules, rows, room, top, work, lines, chosen, shape, listed
        )
    if end - begin >= rules.rivals:
        record_rivals(
            cells,
            labels,
            rules,
            rows,
            room,
            top,
            here,
            ZERO,
            p,
            chosen,
            slot < 0 and end - begin <= rules.small,
            lines,
            work,
            rivals,
            listed,
        )
    if chosen < 0:
        give_back(room, slot)
        return
    left_slot, right_slot = ZERO - 1, ZERO - 1
    if slot >= 0 and level + 1 < rules.max_depth:
        left_slot, right_slot = share_counts(
            cells, labels, rules, rows, room, begin, middle, end, slot, work
        )
    else:
        give_back(room, slot)
    push(room, middle, end, level + 1, here, ZERO + 1, right_slot, key)
    push(room, begin, middle, level + 1, here, ZERO, left_slot, key)


@kernel
def grow_nodes(cells, labels, rules, rows, room, work, shape, listed, rivals):
    """Grow the nodes that wait, and theirs, until none is left or the room is full."""
    state = room.state
    while (
        state[nodes.WAITING]
        and state[nodes.DONE] < len(shape.whole)
        and state[nodes.LISTED] + rules.listing <= len(listed.codes)
        and state[nodes.RECORDED] + len(cells.n_bins) <= len(rivals.whole)
    ):
        state[nodes.WAITING] -= 1
        top, here = state[nodes.WAITING], state[nodes.DONE]
        open_node(shape, here, room, top)
        reason = reason_to_stop(rules, room, top)
        shape.whole[here, nodes.REASON] = reason
        if reason == nodes.INNER:
            grow_node(
                cells, labels, rules, rows, room, top, work, shape, listed, rivals
            )
        else:
            give_back(room, room.at[top, nodes.SLOT])
        state[nodes.DONE] += 1


@kernel
def grow_trees(cells, labels, rules, rows, room, work, shape, listed, rivals, bags):
    """Grow the trees of bags, until all are done or the room is full."""
    state = room.state
    while state[nodes.WAITING] or state[nodes.TREE] < len(bags.roots):
        if not state[nodes.WAITING]:
            begin_tree(rules.kind, labels, rows, room, bags, state[nodes.TREE])
            bags.roots[state[nodes.TREE]] = state[nodes.DONE]
            state[nodes.TREE] += 1
        grow_nodes(cells, labels, rules, rows, room, work, shape, listed, rivals)
        if state[nodes.WAITING]:
            return


@entry
def work_on(
    task,
    cells,
    labels,
    rules,
    rows,
    room,
    work,
    shape,
    listed,
    rivals,
    bags,
    first,
    last,
    floor,
):
    """Do a task; return where the right rows begin after SPLIT, -1 without one.

    COUNT, EDGES, INSIDE and RIVALS are about the attributes from ``first`` to ``last``
    of the node at the bottom of the stack, whose counts are ``work.lines``; SPLIT about
    its attribute ``first``.
    """
    cells, labels, rules = reference(cells), reference(labels), reference(rules)
    room, work = reference(room), reference(work)
    shape, listed, rivals = reference(shape), reference(listed), reference(rivals)
    if task == GROW:
        grow_nodes(cells, labels, rules, rows, room, work, shape, listed, rivals)
        return -1
    if task == TREES:
        bags = reference(bags)
        grow_trees(cells, labels, rules, rows, room, work, shape, listed, rivals, bags)
        return -1
    begin, end, lines = room.at[0, nodes.BEGIN], room.at[0, nodes.END], work.lines
    if task == COUNT:
        count(cells, labels, rules, rows, begin, end, first, last, lines, work.words)
        return -1
    slack = slack_of(rules.kind, room.weights, ZERO)
    if task == EDGES:
        for a in range(first, last):
            search_edges(cells, rules, lines, a, slack, work)
    elif task == INSIDE:
        for a in range(first, last):
            low = floor - 3 * slack
            search_inside(
                cells, labels, rules, rows, begin, end, lines, a, low, slack, work
            )
            floor = max(floor, work.founds[a, layout.WORTH])
    elif task == RIVALS:
        record_rivals(
            cells,
            labels,
            rules,
            rows,
            room,
            ZERO,
            ZERO,
            first,
            last,
            np.int64(shape.whole[0, nodes.ATTRIBUTE]),
            False,
            lines,
            work,
            rivals,
            listed,
        )
    else:
        open_node(shape, ZERO, room, ZERO)
        if reason_to_stop(rules, room, ZERO) == nodes.INNER and gains(
            rules, shape, ZERO, first, work, room, ZERO
        ):
            a = first
            return split_node(
                cells, labels, rules, rows, room, ZERO, work, lines, a, shape, listed
            )
    return -1
