"""Execution of a split: rows partitioned, children counted, the node recorded."""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.best_attribute import best_gain
from spinney.growth.binned.kernels.histogram_cuts import next_bin
from spinney.growth.binned.kernels.nodes import (
    count_children,
    count_codes,
    infer_children,
)
from spinney.growth.binned.kernels.packed_rows import cell_value, row_of
from spinney.growth.binned.kernels.split_scores import is_numeric

SINGLE = np.uint64(1)


@kernel
def partition_rows(search, start, stop, a, histograms):
    """Move the rows that go left to the front; return where the others begin.

    For a cut between bins this also finds the values next to it: the greatest on its
    left, the least on its right.
    """
    cells, rows, work = search.cells, search.rows, search.work
    cuts, go = work.cuts, work.ints
    column, buffer, node_rows = cells.column[a], search.stack.buffer, rows[start:stop]
    b, low = np.int64(cuts[a, layout.BIN]), cuts[a, layout.LOW]
    for code in range(cells.n_bins[a]):
        left = work.masks[a, code] == 1 if cells.nominal[a] else code <= b
        go[layout.IS_OPEN, code] = left
    go[layout.IS_OPEN, layout.MISSING_CODE] = cuts[a, layout.MISSING_SIDE] == 0
    after = next_bin(search.rules.kind, cells, a, histograms, cuts)
    if after >= 0 and column < 0:
        cuts[a, layout.LOW] = cells.values[a, b]
        cuts[a, layout.HIGH] = cells.values[a, after]
    inside = not cells.nominal[a] and low == low
    # The rows of these two bins are looked at more closely.
    one = b if column >= 0 and (inside or after >= 0) else ZERO - 1
    other = after if column >= 0 and after >= 0 else ZERO - 1
    greatest, least = -np.inf, np.inf
    at, waiting, goes = np.uint64(0), np.uint64(0), go[layout.IS_OPEN]
    line = work.order[layout.CODES_LINE, a]
    known = work.drawn_codes[line] if line >= 0 else cells.by_attribute[a]
    for i in range(np.uint64(0), np.uint64(len(node_rows))):
        word = node_rows[i]
        row = row_of(word)
        code = np.int64(known[i if line >= 0 else row])
        left = np.uint64(goes[code])
        if code == one:
            number = cell_value(cells, row, column)
            greatest = max(greatest, number)
            if inside:
                left = np.uint64(number <= low)
        elif code == other:
            least = min(least, cell_value(cells, row, column))
        node_rows[at] = word
        buffer[waiting] = word
        at += left
        waiting += SINGLE - left
    for i in range(waiting):
        node_rows[at + i] = buffer[i]
    if other >= 0:
        cuts[a, layout.LOW], cuts[a, layout.HIGH] = greatest, least
    return start + np.int64(at)


@kernel
def move_missing_last(search, start, stop, a):
    """Move rows with a missing value behind the others; return where they begin."""
    rows, codes, buffer = search.rows, search.cells.by_attribute, search.stack.buffer
    at, waiting = start, ZERO
    for i in range(start, stop):
        word = rows[i]
        known = np.int64(codes[a, row_of(word)] != layout.MISSING_CODE)
        rows[at] = word
        buffer[waiting] = word
        at += known
        waiting += 1 - known
    for i in range(waiting):
        rows[at + i] = buffer[i]
    return at


@kernel
def record_gain(search, top, node, a):
    """Record the best split of a node; return whether its gain suffices."""
    rules, records, gain = search.rules, search.records, best_gain(search, top, a)
    if gain < rules.min_gain * (1 - TOLERANCE):
        records.ints[node, nodes.REASON] = nodes.MIN_GAIN
        return False
    records.floats[node, nodes.GAIN] = gain
    records.ints[node, nodes.ATTRIBUTE] = a
    return True


@kernel
def split_node(search, top, a, histograms):
    """Execute and record the split of a node; return where its right rows begin."""
    rules, records, stack = search.rules, search.records, search.stack
    begin, end = stack.entries[top, nodes.BEGIN], stack.entries[top, nodes.END]
    cuts, node = search.work.cuts, stack.state[nodes.N_NODES]
    middle = partition_rows(search, begin, end, a, histograms)
    if is_numeric(rules.kind) or not rules.subtract:
        count_children(search, begin, middle, end, a)
    else:
        infer_children(search, begin, middle, end, a, top)
    records.floats[node, nodes.CUT_LOW] = cuts[a, layout.LOW]
    records.floats[node, nodes.CUT_HIGH] = cuts[a, layout.HIGH]
    records.floats[node, nodes.CUT_MISSING] = cuts[a, layout.MISSING_SIDE]
    width, n_counts = stack.weights.shape[1], stack.counts.shape[1]
    for c in range(width):
        records.weights[node, width + c] = stack.child_weights[2, c]
    for c in range(n_counts):
        records.counts[node, n_counts + c] = stack.child_counts[2, c]
    if search.cells.listed[a]:
        at = stack.state[nodes.N_LISTED]
        records.ints[node, nodes.N_LINES] = count_codes(search, begin, end, a, at)
        stack.state[nodes.N_LISTED] += records.ints[node, nodes.N_LINES]
    stack.entries[top, nodes.MIDDLE] = middle
    stack.entries[top, nodes.MISSING_BEGIN] = end
    if rules.missing_separate:
        stack.entries[top, nodes.MISSING_BEGIN] = move_missing_last(
            search, middle, end, a
        )
    return middle
