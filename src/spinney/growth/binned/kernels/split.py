"""A split carried out: rows put in order, both sides summed up, the node recorded."""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.between_bins import bin_after
from spinney.growth.binned.kernels.cell_numbers import number_at
from spinney.growth.binned.kernels.choose import gain_of
from spinney.growth.binned.kernels.nodes import count_sides, infer_sides, list_codes
from spinney.growth.binned.kernels.row_words import number_of
from spinney.growth.binned.kernels.score import of_numbers

SINGLE = np.uint64(1)


@kernel
def partition(search, start, stop, a, lines):
    """Put the rows that go left first, and return where the others begin.

    On the way the values next to a cut between bins are found: the greatest on its
    left, the least on its right.
    """
    cells, rows, work = search.cells, search.rows, search.work
    cuts, go = work.cuts, work.wholes
    column, spare, here = cells.column[a], search.stack.spare, rows[start:stop]
    b, low = np.int64(cuts[a, layout.BIN]), cuts[a, layout.LOW]
    for code in range(cells.n_bins[a]):
        left = work.masks[a, code] == 1 if cells.nominal[a] else code <= b
        go[layout.OPENED, code] = left
    go[layout.OPENED, layout.ABSENT] = cuts[a, layout.MISSING] == 0
    after = bin_after(search.rules.kind, cells, a, lines, cuts)
    if after >= 0 and column < 0:
        cuts[a, layout.LOW] = cells.values[a, b]
        cuts[a, layout.HIGH] = cells.values[a, after]
    inside = not cells.nominal[a] and low == low
    # The rows of these two bins are looked at more closely.
    one = b if column >= 0 and (inside or after >= 0) else ZERO - 1
    other = after if column >= 0 and after >= 0 else ZERO - 1
    greatest, least = -np.inf, np.inf
    at, waiting, goes = np.uint64(0), np.uint64(0), go[layout.OPENED]
    line = work.order[layout.LINE_OF, a]
    known = work.gathered[line] if line >= 0 else cells.by_attribute[a]
    for i in range(np.uint64(0), np.uint64(len(here))):
        word = here[i]
        row = number_of(word)
        code = np.int64(known[i if line >= 0 else row])
        left = np.uint64(goes[code])
        if code == one:
            number = number_at(cells, row, column)
            greatest = max(greatest, number)
            if inside:
                left = np.uint64(number <= low)
        elif code == other:
            least = min(least, number_at(cells, row, column))
        here[at] = word
        spare[waiting] = word
        at += left
        waiting += SINGLE - left
    for i in range(waiting):
        here[at + i] = spare[i]
    if other >= 0:
        cuts[a, layout.LOW], cuts[a, layout.HIGH] = greatest, least
    return start + np.int64(at)


@kernel
def set_aside(search, start, stop, a):
    """Put rows that lack a value after the others, and return where they begin."""
    rows, codes, spare = search.rows, search.cells.by_attribute, search.stack.spare
    at, waiting = start, ZERO
    for i in range(start, stop):
        word = rows[i]
        known = np.int64(codes[a, number_of(word)] != layout.ABSENT)
        rows[at] = word
        spare[waiting] = word
        at += known
        waiting += 1 - known
    for i in range(waiting):
        rows[at + i] = spare[i]
    return at


@kernel
def gains(search, top, here, a):
    """Record the best split of a node; return whether it gains enough."""
    rules, shape, gain = search.rules, search.shape, gain_of(search, top, a)
    if gain < rules.min_gain * (1 - TOLERANCE):
        shape.whole[here, nodes.REASON] = nodes.MIN_GAIN
        return False
    shape.real[here, nodes.GAIN] = gain
    shape.whole[here, nodes.ATTRIBUTE] = a
    return True


@kernel
def split_node(search, top, a, lines):
    """Carry out and record the split of a node; return where its right rows begin."""
    rules, shape, stack = search.rules, search.shape, search.stack
    begin, end = stack.at[top, nodes.BEGIN], stack.at[top, nodes.END]
    cuts, here = search.work.cuts, stack.state[nodes.DONE]
    middle = partition(search, begin, end, a, lines)
    if of_numbers(rules.kind) or not rules.subtract:
        count_sides(search, begin, middle, end, a)
    else:
        infer_sides(search, begin, middle, end, a, top)
    shape.real[here, nodes.CUT_LOW] = cuts[a, layout.LOW]
    shape.real[here, nodes.CUT_HIGH] = cuts[a, layout.HIGH]
    shape.real[here, nodes.CUT_MISSING] = cuts[a, layout.MISSING]
    width, n_counts = stack.weights.shape[1], stack.counts.shape[1]
    for c in range(width):
        shape.weights[here, width + c] = stack.side_weights[2, c]
    for c in range(n_counts):
        shape.counts[here, n_counts + c] = stack.side_counts[2, c]
    if search.cells.listed[a]:
        at = stack.state[nodes.LISTED]
        shape.whole[here, nodes.LINES] = list_codes(search, begin, end, a, at)
        stack.state[nodes.LISTED] += shape.whole[here, nodes.LINES]
    stack.at[top, nodes.MIDDLE], stack.at[top, nodes.ASIDE] = middle, end
    if rules.apart:
        stack.at[top, nodes.ASIDE] = set_aside(search, middle, end, a)
    return middle
