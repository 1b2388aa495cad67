"""Learning from rows, one after another: each updates the statistics of its leaf.

Nothing depends on the division of rows into batches: periodic work depends on the
number of rows at a leaf, or in the tree.
"""

import numpy as np

from spinney._support.jit.compile import entry, kernel
from spinney.extensions.streaming.kernels import layout
from spinney.extensions.streaming.kernels.attempt_split import best_split
from spinney.extensions.streaming.kernels.detect_drift import new_leaf, update_path
from spinney.extensions.streaming.kernels.leaf_statistics import (
    count_row,
    cut_after,
    release_slot,
    take_slot,
)
from spinney.extensions.streaming.kernels.naive_bayes import predict


@entry
def learn_rows(stream, rows):
    """Learn rows from ``NEXT_ROW`` on, as long as there is space for another split."""
    nodes, state, limits = stream.nodes, stream.state, stream.limits
    n_rows, row = len(rows.classes), state[layout.NEXT_ROW]
    while row < n_rows:
        if _needs_space(stream):
            break
        leaf = find_leaf(stream, rows.cells, row)
        by_counts, by_bayes, predicted = predict(stream, leaf, rows.cells, row)
        c, weight = rows.classes[row], rows.weights[row]
        nodes.correct[leaf, layout.BY_COUNTS] += weight * (by_counts == c)
        nodes.correct[leaf, layout.BY_BAYES] += weight * (by_bayes == c)
        rows.predicted[row] = predicted
        state[layout.N_CORRECT] += predicted == c
        state[layout.N_ROWS] += 1
        update_leaf(stream, leaf, rows, row)
        if limits[layout.DETECTS_DRIFT] > 0:
            update_path(stream, leaf, predicted != c)
        if (
            state[layout.N_INACTIVE] > 0
            and state[layout.N_ROWS] % limits[layout.RANK_EVERY] == 0
        ):
            rank_leaves(stream)
        row += 1
    state[layout.NEXT_ROW] = row


@kernel
def _needs_space(stream):
    """Return whether Python must enlarge arrays before the next split."""
    nodes, slots, state = stream.nodes, stream.slots, stream.state
    n_needed, n_slots = stream.limits[layout.MAX_BRANCHES], len(slots.n_rows)
    if state[layout.N_NODES] + n_needed > len(nodes.attribute):
        return True
    if state[layout.N_CODES] + n_needed > len(nodes.branch_by_code):
        return True
    return (
        state[layout.N_FREE] < n_needed
        and n_slots < stream.limits[layout.MAX_ACTIVE_LEAVES]
    )


@kernel
def find_leaf(stream, cells, row):
    """Return the leaf that a row reaches."""
    nodes, node = stream.nodes, np.int64(0)
    while nodes.attribute[node] >= 0:
        value = cells[row, nodes.attribute[node]]
        if value != value:
            branch = nodes.missing[node]
        elif nodes.codes[node] >= 0:
            branch = nodes.branch_by_code[nodes.codes[node] + np.int64(value)]
            if branch < 0:
                branch = nodes.missing[node]
        else:
            branch = np.int64(value > nodes.cut[node])
        node = nodes.child[node] + branch
    return node


@kernel
def update_leaf(stream, leaf, rows, row):
    """Count a row at its leaf, and attempt to split it after a grace period."""
    nodes, c = stream.nodes, rows.classes[row]
    weights, label = nodes.weights[leaf], nodes.label[leaf]
    weights[c] += rows.weights[row]
    nodes.rows[leaf] += 1
    is_tie = weights[c] == weights[label]
    if label < 0 or weights[c] > weights[label] or (is_tie and c < label):
        nodes.label[leaf] = c
    slot = nodes.slot[leaf]
    if slot < 0 or not count_row(stream, slot, rows, row):
        return
    if nodes.depth[leaf] >= stream.limits[layout.MAX_DEPTH]:
        return
    leaf_weight = 0.0
    for i in range(len(weights)):
        leaf_weight += weights[i]
    attribute, line, missing = best_split(stream, slot, leaf_weight)
    if attribute >= 0:
        _split(stream, leaf, attribute, line, missing)


@kernel
def _split(stream, leaf, attribute, line, missing):
    """Split a leaf by an attribute, unless that makes too many leaves."""
    nodes, slots, state = stream.nodes, stream.slots, stream.state
    slot, first = nodes.slot[leaf], stream.columns.first[attribute]
    n_lines, n_branches = stream.columns.n_lines[attribute], np.int64(2)
    if line < 0:
        n_branches = np.int64(0)
        for value in range(first, first + n_lines):
            n_branches += slots.rows[slot, value] > 0
    if state[layout.N_LEAVES] + n_branches - 1 > stream.limits[layout.MAX_LEAVES]:
        return
    child = state[layout.N_NODES]
    for node in range(child, child + n_branches):
        new_leaf(nodes, node, leaf, nodes.depth[leaf] + 1)
    state[layout.N_NODES] += n_branches
    state[layout.N_LEAVES] += n_branches - 1
    nodes.attribute[leaf], nodes.child[leaf] = attribute, child
    nodes.n_branches[leaf], nodes.missing[leaf] = n_branches, missing
    nodes.cut[leaf], nodes.codes[leaf] = np.nan, -1
    if line >= 0:
        nodes.cut[leaf] = cut_after(stream, slot, attribute, line)
    else:
        _set_codes(stream, leaf, slot)
    branch = np.int64(0)
    for value in range(n_lines):
        if line >= 0:
            branch = np.int64(value > line)
        if slots.rows[slot, first + value] > 0:
            _inherit(nodes, slots, child + branch, slot, first + value)
            branch += 1
    _inherit(nodes, slots, child + missing, slot, first + n_lines)
    nodes.slot[leaf] = -1
    release_slot(stream, slot)
    for node in range(child, child + n_branches):
        nodes.slot[node] = take_slot(stream)
        state[layout.N_INACTIVE] += nodes.slot[node] < 0


@kernel
def _inherit(nodes, slots, node, slot, line):
    """Add the rows of a line of the parent's table to a new leaf."""
    nodes.rows[node] += slots.rows[slot, line]
    weights, label = nodes.weights[node], np.int64(-1)
    for c in range(len(weights)):
        weights[c] += slots.counts[slot, line, c]
        if weights[c] > 0.0 and (label < 0 or weights[c] > weights[label]):
            label = np.int64(c)
    nodes.label[node] = label


@kernel
def _set_codes(stream, leaf, slot):
    """Set the branch of each value that a leaf has seen."""
    nodes, columns = stream.nodes, stream.columns
    attribute, start = nodes.attribute[leaf], stream.state[layout.N_CODES]
    first, branch = columns.first[attribute], np.int64(0)
    nodes.codes[leaf] = start
    stream.state[layout.N_CODES] += columns.n_lines[attribute]
    for code in range(columns.n_lines[attribute]):
        nodes.branch_by_code[start + code] = -1
        if stream.slots.rows[slot, first + code] > 0:
            nodes.branch_by_code[start + code] = branch
            branch += 1


@kernel
def _leaf_error(nodes, node):
    """Return the error of a leaf: the weight outside its majority class."""
    wrong = 0.0
    for c in range(nodes.weights.shape[1]):
        if c != nodes.label[node]:
            wrong += nodes.weights[node, c]
    return wrong


@kernel
def rank_leaves(stream):
    """Activate the leaves of the greatest error, if not all can be active.

    Each such inactive leaf takes the slot of an active leaf with less error, and starts
    an empty table.
    """
    nodes, state = stream.nodes, stream.state
    while True:
        lowest, highest = np.inf, -1.0
        deactivated, activated = np.int64(-1), np.int64(-1)
        for node in range(state[layout.N_NODES]):
            if nodes.attribute[node] != layout.LEAF:
                continue
            error = _leaf_error(nodes, node)
            if nodes.slot[node] >= 0 and error < lowest:
                lowest, deactivated = error, np.int64(node)
            elif nodes.slot[node] < 0 and error > highest:
                highest, activated = error, np.int64(node)
        if activated < 0:
            return
        if state[layout.N_FREE] > 0:
            state[layout.N_INACTIVE] -= 1
        elif deactivated >= 0 and highest > lowest:
            release_slot(stream, nodes.slot[deactivated])
            nodes.slot[deactivated] = -1
        else:
            return
        nodes.slot[activated] = take_slot(stream)


@entry
def find_leaves(stream, cells, leaves):
    """Set the leaf of each row."""
    for row in range(len(leaves)):
        leaves[row] = find_leaf(stream, cells, row)
