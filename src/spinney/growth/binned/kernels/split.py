"""The execution of a split: partition rows, count children, record the node."""

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

ONE = np.uint64(1)


@kernel
def partition_rows(search, start, stop, a, histograms):
    """Move the rows that go left to the front; return the start of the others.

    For a cut between bins, also find the values beside it: the greatest on its left,
    the least on its right.
    """
    cells, rows, work = search.cells, search.rows, search.work
    cuts, goes_left_lines = work.cuts, work.ints
    column, buffer, node_rows = cells.column[a], search.stack.buffer, rows[start:stop]
    b, low = np.int64(cuts[a, layout.BIN]), cuts[a, layout.LOW]
    for code in range(cells.n_bins[a]):
        left = work.masks[a, code] == 1 if cells.nominal[a] else code <= b
        goes_left_lines[layout.IS_OPEN, code] = left
    goes_left_lines[layout.IS_OPEN, layout.MISSING_CODE] = (
        cuts[a, layout.MISSING_SIDE] == 0
    )
    after = next_bin(search.rules.kind, cells, a, histograms, cuts)
    if after >= 0 and column < 0:
        cuts[a, layout.LOW] = cells.values[a, b]
        cuts[a, layout.HIGH] = cells.values[a, after]
    inside = not cells.nominal[a] and low == low
    # The rows of these two bins are looked at more closely.
    low_bin = b if column >= 0 and (inside or after >= 0) else ZERO - 1
    high_bin = after if column >= 0 and after >= 0 else ZERO - 1
    greatest, least = -np.inf, np.inf
    n_left, n_right = np.uint64(0), np.uint64(0)
    goes_left = goes_left_lines[layout.IS_OPEN]
    line = work.order[layout.CODES_LINE, a]
    codes = work.drawn_codes[line] if line >= 0 else cells.by_attribute[a]
    for i in range(np.uint64(0), np.uint64(len(node_rows))):
        word = node_rows[i]
        row = row_of(word)
        code = np.int64(codes[i if line >= 0 else row])
        left = np.uint64(goes_left[code])
        if code == low_bin:
            number = cell_value(cells, row, column)
            greatest = max(greatest, number)
            if inside:
                left = np.uint64(number <= low)
        elif code == high_bin:
            least = min(least, cell_value(cells, row, column))
        node_rows[n_left] = word
        buffer[n_right] = word
        n_left += left
        n_right += ONE - left
    for i in range(n_right):
        node_rows[n_left + i] = buffer[i]
    if high_bin >= 0:
        cuts[a, layout.LOW], cuts[a, layout.HIGH] = greatest, least
    return start + np.int64(n_left)


@kernel
def move_missing_last(search, start, stop, a):
    """Move rows with a missing value behind the others; return their start."""
    rows, codes, buffer = search.rows, search.cells.by_attribute, search.stack.buffer
    end, n_missing = start, ZERO
    for i in range(start, stop):
        word = rows[i]
        is_known = np.int64(codes[a, row_of(word)] != layout.MISSING_CODE)
        rows[end] = word
        buffer[n_missing] = word
        end += is_known
        n_missing += 1 - is_known
    for i in range(n_missing):
        rows[end + i] = buffer[i]
    return end


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
    """Execute and record the split of a node; return the start of its right rows."""
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
        first_line = stack.state[nodes.N_LISTED]
        records.ints[node, nodes.N_LINES] = count_codes(
            search, begin, end, a, first_line
        )
        stack.state[nodes.N_LISTED] += records.ints[node, nodes.N_LINES]
    stack.entries[top, nodes.MIDDLE] = middle
    stack.entries[top, nodes.MISSING_BEGIN] = end
    if rules.missing_separate:
        stack.entries[top, nodes.MISSING_BEGIN] = move_missing_last(
            search, middle, end, a
        )
    return middle
