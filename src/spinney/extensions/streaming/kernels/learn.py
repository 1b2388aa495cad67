"""Rows go down the tree one after another; the leaf that each comes to learns it.

Nothing depends on how the rows are divided into batches: whatever is done from time to
time is done by the number of rows that a leaf, or the tree, has seen.
"""

import numpy as np

from spinney._support.jit.compile import entry, kernel
from spinney.extensions.streaming.kernels.attempt_split import best_split
from spinney.extensions.streaming.kernels.detect_drift import new_leaf, watch_path
from spinney.extensions.streaming.kernels.layout import (
    BY_BAYES,
    BY_COUNTS,
    COUNTING,
    LEAF,
    MAX_DEPTH,
    MAX_LEAVES,
    MOST_BRANCHES,
    N_CODES,
    N_FREE,
    N_IDLE,
    N_LEAVES,
    N_NODES,
    N_RIGHT,
    N_ROWS,
    NEXT_ROW,
    RANK_EVERY,
    WATCHES,
)
from spinney.extensions.streaming.kernels.leaf_statistics import (
    count_row,
    cut_after,
    leave_slot,
    take_slot,
)
from spinney.extensions.streaming.kernels.naive_bayes import tell


@entry
def learn_rows(stream, rows):
    """Learn rows from ``NEXT_ROW`` on, as long as there is room for another split."""
    nodes, at, limits = stream.nodes, stream.at, stream.limits
    n_rows, row = len(rows.classes), at[NEXT_ROW]
    while row < n_rows:
        if _lacks_room(stream):
            break
        leaf = leaf_of(stream, rows.cells, row)
        by_counts, by_bayes, told = tell(stream, leaf, rows.cells, row)
        c, weight = rows.classes[row], rows.weights[row]
        nodes.right[leaf, BY_COUNTS] += weight * (by_counts == c)
        nodes.right[leaf, BY_BAYES] += weight * (by_bayes == c)
        rows.told[row] = told
        at[N_RIGHT] += told == c
        at[N_ROWS] += 1
        _learn(stream, leaf, rows, row)
        if limits[WATCHES] > 0:
            watch_path(stream, leaf, told != c)
        if at[N_IDLE] > 0 and at[N_ROWS] % limits[RANK_EVERY] == 0:
            rank_leaves(stream)
        row += 1
    at[NEXT_ROW] = row


@kernel
def _lacks_room(stream):
    """Return whether Python has to make something larger before the next split."""
    nodes, slots, at = stream.nodes, stream.slots, stream.at
    most, n_slots = stream.limits[MOST_BRANCHES], len(slots.seen)
    if at[N_NODES] + most > len(nodes.attribute):
        return True
    if at[N_CODES] + most > len(nodes.branch_of):
        return True
    return at[N_FREE] < most and n_slots < stream.limits[COUNTING]


@kernel
def leaf_of(stream, cells, row):
    """Return the leaf that a row comes to."""
    nodes, node = stream.nodes, np.int64(0)
    while nodes.attribute[node] >= 0:
        value = cells[row, nodes.attribute[node]]
        if value != value:
            branch = nodes.missing[node]
        elif nodes.codes[node] >= 0:
            branch = nodes.branch_of[nodes.codes[node] + np.int64(value)]
            if branch < 0:
                branch = nodes.missing[node]
        else:
            branch = np.int64(value > nodes.cut[node])
        node = nodes.child[node] + branch
    return node


@kernel
def _learn(stream, leaf, rows, row):
    """Count a row at its leaf, which may ask something then."""
    nodes, c = stream.nodes, rows.classes[row]
    own, label = nodes.weights[leaf], nodes.label[leaf]
    own[c] += rows.weights[row]
    nodes.rows[leaf] += 1
    if label < 0 or own[c] > own[label] or (own[c] == own[label] and c < label):
        nodes.label[leaf] = c
    slot = nodes.slot[leaf]
    if slot < 0 or not count_row(stream, slot, rows, row):
        return
    if nodes.depth[leaf] >= stream.limits[MAX_DEPTH]:
        return
    of_leaf = 0.0
    for each in range(len(own)):
        of_leaf += own[each]
    attribute, line, missing = best_split(stream, slot, of_leaf)
    if attribute >= 0:
        _split(stream, leaf, attribute, line, missing)


@kernel
def _split(stream, leaf, attribute, line, missing):
    """Let a leaf ask about an attribute, if there may be so many leaves."""
    nodes, slots, at = stream.nodes, stream.slots, stream.at
    slot, first = nodes.slot[leaf], stream.columns.first[attribute]
    n_lines, n_branches = stream.columns.n_lines[attribute], np.int64(2)
    if line < 0:
        n_branches = np.int64(0)
        for each in range(first, first + n_lines):
            n_branches += slots.rows[slot, each] > 0
    if at[N_LEAVES] + n_branches - 1 > stream.limits[MAX_LEAVES]:
        return
    child = at[N_NODES]
    for node in range(child, child + n_branches):
        new_leaf(nodes, node, leaf, nodes.depth[leaf] + 1)
    at[N_NODES] += n_branches
    at[N_LEAVES] += n_branches - 1
    nodes.attribute[leaf], nodes.child[leaf] = attribute, child
    nodes.n_branches[leaf], nodes.missing[leaf] = n_branches, missing
    nodes.cut[leaf], nodes.codes[leaf] = np.nan, -1
    if line >= 0:
        nodes.cut[leaf] = cut_after(stream, slot, attribute, line)
    else:
        _set_codes(stream, leaf, slot)
    branch = np.int64(0)
    for each in range(n_lines):
        if line >= 0:
            branch = np.int64(each > line)
        if slots.rows[slot, first + each] > 0:
            _inherit(nodes, slots, child + branch, slot, first + each)
            branch += 1
    _inherit(nodes, slots, child + missing, slot, first + n_lines)
    nodes.slot[leaf] = -1
    leave_slot(stream, slot)
    for node in range(child, child + n_branches):
        nodes.slot[node] = take_slot(stream)
        at[N_IDLE] += nodes.slot[node] < 0


@kernel
def _inherit(nodes, slots, node, slot, line):
    """Let a new leaf take the rows of a line of its parent's table."""
    nodes.rows[node] += slots.rows[slot, line]
    own, label = nodes.weights[node], np.int64(-1)
    for c in range(len(own)):
        own[c] += slots.counts[slot, line, c]
        if own[c] > 0.0 and (label < 0 or own[c] > own[label]):
            label = np.int64(c)
    nodes.label[node] = label


@kernel
def _set_codes(stream, leaf, slot):
    """Say which branch each value takes that a leaf has seen."""
    nodes, columns = stream.nodes, stream.columns
    attribute, start = nodes.attribute[leaf], stream.at[N_CODES]
    first, branch = columns.first[attribute], np.int64(0)
    nodes.codes[leaf] = start
    stream.at[N_CODES] += columns.n_lines[attribute]
    for code in range(columns.n_lines[attribute]):
        nodes.branch_of[start + code] = -1
        if stream.slots.rows[slot, first + code] > 0:
            nodes.branch_of[start + code] = branch
            branch += 1


@kernel
def _promise(nodes, node):
    """Return what a leaf gets wrong: the weight that is not of its commonest class."""
    wrong = 0.0
    for c in range(nodes.weights.shape[1]):
        if c != nodes.label[node]:
            wrong += nodes.weights[node, c]
    return wrong


@kernel
def rank_leaves(stream):
    """Let the leaves count that get most wrong, where not all can.

    One after another, an idle leaf takes the slot of a counting one that gets less
    wrong; its table begins anew.
    """
    nodes, at = stream.nodes, stream.at
    while True:
        least, most = np.inf, -1.0
        leaving, coming = np.int64(-1), np.int64(-1)
        for node in range(at[N_NODES]):
            if nodes.attribute[node] != LEAF:
                continue
            promise = _promise(nodes, node)
            if nodes.slot[node] >= 0 and promise < least:
                least, leaving = promise, np.int64(node)
            elif nodes.slot[node] < 0 and promise > most:
                most, coming = promise, np.int64(node)
        if coming < 0:
            return
        if at[N_FREE] > 0:
            at[N_IDLE] -= 1
        elif leaving >= 0 and most > least:
            leave_slot(stream, nodes.slot[leaving])
            nodes.slot[leaving] = -1
        else:
            return
        nodes.slot[coming] = take_slot(stream)


@entry
def find_leaves(stream, cells, leaves):
    """Set the leaf that each row comes to."""
    for row in range(len(leaves)):
        leaves[row] = leaf_of(stream, cells, row)
