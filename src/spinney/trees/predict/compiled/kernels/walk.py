"""The compiled walk of rows down trees that are stored in one array.

Several rows take each step together, so their loads do not wait for each other, and no
branch is predicted. All rows go through one tree before the next begins, so the tree
stays in the cache. A leaf is its own child, so a row at a leaf stays there. Every few
steps such rows are removed from the list of open rows::

    on the list   0 1 2 3 4 5   →   0 2 3 5   →   3
    arrived           1 4            0 2 5

Where cells are float32 and no node has a table, a node is a word of 64 bits, so that
one load brings all of it and twice as many nodes stay in the cache: the cut, rounded
down to float32 (no such value lies between the two), eight bits of attribute and the
first child, counted from the root::

    bit   0 … 31   32 … 39     40 … 63
          cut      attribute   child
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import entry, kernel

LANES = 1024  # rows on one list
ROWS_ABREAST = 16
FIRST_STEPS, STEPS = 16, 4  # before rows are taken from the list, and before again
MOST_ATTRIBUTES, MOST_NODES = 1 << 8, 1 << 24  # of a tree whose nodes are words

# The lowest bits of a route: the branch of missing values, 0 or 1; that they are open;
# or that a table has the branch of every code.
OPEN, BY_TABLE = 2, 3

# Unsigned indices need no test of their sign.
ZERO, ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT = np.arange(9, dtype=np.uint64)
UPPER, CHILD = np.uint64(32), np.uint64(40)
ATTRIBUTE, LOWER = np.uint64(MOST_ATTRIBUTES - 1), np.uint64((1 << 32) - 1)


class KernelTrees(NamedTuple):
    """Trees that are stored in one array.

    ``nodes`` (nodes × 4) and ``cuts`` (nodes × 2) share memory: the cut, the first
    child, the route. ``words`` has the nodes as words, or is empty. ``tables`` has the
    branches of codes, ``trees`` (trees × 2) root and depth, ``outputs`` (leaves ×
    outputs) the predictions of leaves. ``simple`` means that no node has a table.
    """

    nodes: NDArray[np.int32]
    cuts: NDArray[np.float64]
    words: NDArray[np.uint64]
    tables: NDArray[Any]
    trees: NDArray[Any]
    outputs: NDArray[np.float64]
    simple: bool


@entry
def descend(packed, cells, bag, lanes, into, sums):
    """Send rows down trees; add up the outputs of their leaves, or record the leaves.

    Parameters
    ----------
    packed : KernelTrees
        The trees.
    cells : rows × attributes
        Numbers and codes, NaN where missing.
    bag : rows × trees
        1 if a tree skips a row; if empty, no row is skipped.
    lanes : 3 × LANES
        Workspace: the open rows, their nodes, and the node that each row has reached.
    into : rows × trees, or rows × 2
        The leaves, -1 for an open or skipped row; or the numbers of trees that skipped
        a row, and that left it open.
    sums : rows × outputs
        The sums of outputs; if empty, leaves are recorded.
    """
    nodes, cuts, words, trees = packed.nodes, packed.cuts, packed.words, packed.trees
    has_missing = not packed.simple
    if packed.simple:
        has_missing = has_missing_cells(cells)
    for t in range(trees.shape[0]):
        for start in range(0, cells.shape[0], LANES):
            stop = min(start + LANES, cells.shape[0])
            part = cells[start:stop]
            n = list_rows(bag, t, start, stop, trees[t, 0], lanes)
            steps_left, steps = trees[t, 1], min(FIRST_STEPS, trees[t, 1])
            while n > 0:
                if has_missing:
                    walk_any(part, nodes, cuts, packed.tables, steps, lanes, n)
                elif words.shape[0] > 0:
                    walk_words(part, words, np.uint64(trees[t, 0]), steps, lanes, n)
                else:
                    walk_complete(part, nodes, cuts, steps, lanes, n)
                n = keep_open_rows(nodes, lanes, n)
                steps_left -= steps
                steps = min(STEPS, steps_left)
            if sums.shape[0] == 0:
                for i in range(stop - start):
                    into[start + i, t] = nodes[max(lanes[2, i], 0), 0]
            else:
                add(nodes, packed.outputs, lanes, into[start:stop], sums[start:stop])


@kernel
def list_rows(bag, t, start, stop, root, lanes):
    """List the rows that go down a tree; return their number."""
    n = np.int64(stop - start)
    for i in range(n):
        lanes[0, i], lanes[1, i], lanes[2, i] = i, root, -1
    if bag.shape[0] > 0:
        n = np.int64(0)
        for i in range(stop - start):
            lanes[0, n] = i
            n += bag[start + i, t] == 0
    return n


@kernel
def keep_open_rows(nodes, lanes, n):
    """Store the nodes of rows; keep the rows that have not reached a leaf."""
    n_kept = ZERO
    for i in range(n):
        row, node = lanes[ZERO, np.uint64(i)], lanes[ONE, np.uint64(i)]
        lanes[TWO, np.uint64(row)] = node
        lanes[ZERO, n_kept], lanes[ONE, n_kept] = row, node
        n_kept += np.uint64(nodes[np.uint64(node), TWO] != node)
    return np.int64(n_kept)


@kernel
def has_missing_cells(cells):
    """Return whether any cell is missing."""
    missing = False
    for row in range(cells.shape[0]):
        for a in range(cells.shape[1]):
            missing |= cells[row, a] != cells[row, a]
    return missing


@kernel
def add(nodes, outputs, lanes, into, sums):
    """Add the outputs of leaves to the sums of their rows."""
    for i in range(sums.shape[0]):
        row = np.uint64(i)
        if lanes[TWO, row] >= 0:
            leaf = nodes[np.uint64(lanes[TWO, row]), ZERO]
            if leaf < 0:
                into[row, ONE] += 1
            else:
                for c in range(outputs.shape[1]):
                    sums[row, np.uint64(c)] += outputs[np.uint64(leaf), np.uint64(c)]
        else:
            into[row, ZERO] += 1


@kernel
def walk_words(cells, words, root, steps, lanes, n):
    """Send rows down a tree of words, eight at a time, with nodes in registers."""
    in_eights = n - n % 8
    for first in range(0, in_eights, 8):
        eight = np.uint64(first)
        rows, reached = lanes[ZERO, eight:], lanes[ONE, eight:]
        a, b = np.uint64(reached[ZERO]), np.uint64(reached[ONE])
        c, d = np.uint64(reached[TWO]), np.uint64(reached[THREE])
        e, f = np.uint64(reached[FOUR]), np.uint64(reached[FIVE])
        g, h = np.uint64(reached[SIX]), np.uint64(reached[SEVEN])
        for _ in range(steps):
            a = below(cells, words, root, a, rows[ZERO])
            b = below(cells, words, root, b, rows[ONE])
            c = below(cells, words, root, c, rows[TWO])
            d = below(cells, words, root, d, rows[THREE])
            e = below(cells, words, root, e, rows[FOUR])
            f = below(cells, words, root, f, rows[FIVE])
            g = below(cells, words, root, g, rows[SIX])
            h = below(cells, words, root, h, rows[SEVEN])
        reached[ZERO], reached[ONE], reached[TWO], reached[THREE] = a, b, c, d
        reached[FOUR], reached[FIVE], reached[SIX], reached[SEVEN] = e, f, g, h
    for i in range(in_eights, n):
        a = np.uint64(lanes[ONE, i])
        for _ in range(steps):
            a = below(cells, words, root, a, lanes[ZERO, i])
        lanes[ONE, i] = a


@kernel
def below(cells, words, root, node, row):
    """Return the node that a row goes to."""
    word = words[node]
    value = cells[np.uint64(row), (word >> UPPER) & ATTRIBUTE]
    cut = np.uint32(word & LOWER).view(np.float32)
    return root + (word >> CHILD) + np.uint64(value > cut)


@kernel
def walk_complete(cells, nodes, cuts, steps, lanes, n):
    """Send rows without missing cells down a tree of thresholds."""
    for first in range(0, n, ROWS_ABREAST):
        for _ in range(steps):
            for i in range(first, min(first + ROWS_ABREAST, n)):
                lane = np.uint64(i)
                node = np.uint64(lanes[ONE, lane])
                attribute = np.uint64(nodes[node, THREE] >> 2)
                value = cells[np.uint64(lanes[ZERO, lane]), attribute]
                lanes[ONE, lane] = nodes[node, TWO] + (value > cuts[node, ZERO])


@kernel
def walk_any(cells, nodes, cuts, tables, steps, lanes, n):
    """Send rows down any tree."""
    for first in range(0, n, ROWS_ABREAST):
        for _ in range(steps):
            for i in range(first, min(first + ROWS_ABREAST, n)):
                lane = np.uint64(i)
                node = np.uint64(lanes[ONE, lane])
                route, child = nodes[node, THREE] & 3, np.int64(nodes[node, TWO])
                attribute = np.uint64(nodes[node, THREE] >> 2)
                value = cells[np.uint64(lanes[ZERO, lane]), attribute]
                missing = value != value
                if route < OPEN:
                    right = (value > cuts[node, ZERO]) | (missing & (route == 1))
                    lanes[ONE, lane] = child + right
                elif route == BY_TABLE:
                    branch = branch_of(tables, nodes[node, ZERO], value)
                    lanes[ONE, lane] = child + branch if branch >= 0 else 0
                else:
                    right = value > cuts[node, ZERO]
                    lanes[ONE, lane] = 0 if missing else child + right


@kernel
def branch_of(tables, first, value):
    """Return the branch of a code in a table: length, other branch, then each code."""
    index = np.int64(1)
    if value < tables[first]:  # not where it is NaN
        index += 1 + np.int64(value)
    return tables[first + index]
