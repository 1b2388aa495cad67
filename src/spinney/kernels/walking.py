"""Rows on their way down trees that lie in one array.

Sixteen rows take a step each, and then the next: their loads do not wait for each
other, and no step is guessed. All rows go through one tree before the next one begins,
so that the tree stays in the cache. A leaf is its own child, so a row that has
arrived stays there while others go on.
"""

import numpy as np

from spinney.kernels.compiled import entry, kernel

__all__ = ["BY_TABLE", "LANES", "OPEN", "descend"]

LANES = 16
STEPS = 4  # between two looks at whether all rows have arrived

# Where a missing value goes, in the lowest bits of a question: to branch 0 or 1, or
# nowhere; or that a table tells the branch of every code.
OPEN, BY_TABLE = 2, 3

# Indices that cannot be negative spare a test of their sign.
ZERO, ONE, TWO, THREE = np.arange(4, dtype=np.uint64)


@entry
def descend(cells, nodes, cuts, tables, trees, outputs, simple, bag, lanes, into, sums):
    """Send rows down trees; add up the outputs of their leaves, or note the leaves.

    Parameters
    ----------
    cells : rows × attributes
        Numbers and codes, NaN where missing.
    nodes, cuts : nodes × 4, nodes × 2
        One memory: the cut, the first child, the question.
    tables : array
        Branches of codes.
    trees : trees × 2
        Root and depth.
    outputs : leaves × outputs
        What leaves predict.
    simple : bool
        Whether no node has a table.
    bag : rows × trees
        1 where a row does not go down a tree; without lines, all rows go.
    lanes : 2 × LANES
        To work in.
    into : rows × trees, or rows × 2
        The leaves, -1 where a row is open; or how many trees a row went down, and in
        how many it was left open.
    sums : rows × outputs
        The sums of outputs; without lines, leaves are noted.
    """
    n_rows, absent = cells.shape[0], not simple
    if simple:
        absent = has_nan(cells)
    for t in range(trees.shape[0]):
        row = np.int64(0)
        while row < n_rows:
            n = np.int64(0)
            if bag.shape[0] == 0:
                n = min(LANES, n_rows - row)
                for i in range(n):
                    lanes[0, i], lanes[1, i] = row + i, trees[t, 0]
                row += n
            while n < LANES and row < n_rows:
                lanes[0, n], lanes[1, n] = row, trees[t, 0]
                n += bag[row, t] == 0
                row += 1
            if absent:
                walk_any(cells, nodes, cuts, tables, trees[t, 1], lanes, n)
            else:
                walk_known(cells, nodes, cuts, trees[t, 1], lanes, n)
            if sums.shape[0] == 0:
                for i in range(n):
                    into[lanes[0, i], t] = nodes[lanes[1, i], 0]
            else:
                add(nodes, outputs, lanes, n, into, sums)


@kernel
def has_nan(cells):
    """Return whether any cell is missing."""
    found = False
    for row in range(cells.shape[0]):
        for a in range(cells.shape[1]):
            found |= cells[row, a] != cells[row, a]
    return found


@kernel
def add(nodes, outputs, lanes, n, into, sums):
    """Add the outputs of leaves to the sums of their rows."""
    for i in range(n):
        row, leaf = np.uint64(lanes[0, i]), nodes[np.uint64(lanes[1, i]), ZERO]
        into[row, ZERO] += 1
        if leaf < 0:
            into[row, ONE] += 1
        else:
            for c in range(outputs.shape[1]):
                sums[row, np.uint64(c)] += outputs[np.uint64(leaf), np.uint64(c)]


@kernel
def walk_known(cells, nodes, cuts, depth, lanes, n):
    """Send rows down a tree of thresholds, where no cell is missing."""
    while depth > 0:
        for _ in range(min(STEPS, depth)):
            for i in range(n):
                row, node = np.uint64(lanes[0, i]), np.uint64(lanes[1, i])
                value = cells[row, np.uint64(nodes[node, THREE] >> 2)]
                lanes[1, i] = nodes[node, TWO] + (value > cuts[node, ZERO])
        depth -= STEPS
        if depth > 0 and arrived(nodes, lanes, n):
            break


@kernel
def walk_any(cells, nodes, cuts, tables, depth, lanes, n):
    """Send rows down any tree."""
    while depth > 0:
        for _ in range(min(STEPS, depth)):
            for i in range(n):
                row, node = np.uint64(lanes[0, i]), np.uint64(lanes[1, i])
                way, child = nodes[node, THREE] & 3, np.int64(nodes[node, TWO])
                value = cells[row, np.uint64(nodes[node, THREE] >> 2)]
                missing = value != value
                if way < OPEN:
                    right = (value > cuts[node, ZERO]) | (missing & (way == 1))
                    lanes[1, i] = child + right
                elif way == BY_TABLE:
                    branch = branch_of(tables, nodes[node, ZERO], value)
                    lanes[1, i] = child + branch if branch >= 0 else 0
                else:
                    right = value > cuts[node, ZERO]
                    lanes[1, i] = 0 if missing else child + right
        depth -= STEPS
        if depth > 0 and arrived(nodes, lanes, n):
            break


@kernel
def branch_of(tables, first, value):
    """Return the branch of a code: its length, the branch of others, then each code."""
    place = np.int64(1)
    if value < tables[first]:  # not where it is NaN
        place += 1 + np.int64(value)
    return tables[first + place]


@kernel
def arrived(nodes, lanes, n):
    """Return whether all rows are at leaves."""
    found = True
    for i in range(n):
        found &= nodes[np.uint64(lanes[1, i]), TWO] == lanes[1, i]
    return found
