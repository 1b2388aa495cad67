"""Nodes as lines of arrays: those that wait, and those that are done."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.kernels.compiled import entry, kernel
from spinney.kernels.layout import ABSENT, BINS, MISSING, ZERO
from spinney.kernels.scoring import SQUARES, size_of, worth

__all__ = ["Lines", "Shape", "Stack", "open_node", "shape_for", "stack_for"]

# Why a node is a leaf, in the order in which the reasons are looked for.
INNER, PURE, DEPTH, ROWS_TO_SPLIT, IDENTICAL, ROWS_IN_LEAF, MIN_GAIN = range(7)

# Columns of what waits: where its rows begin and end, its depth, parent, branch, and
# which of the kept counts are its own, or -1.
BEGIN, END, LEVEL, PARENT, BRANCH, SLOT = range(6)

# Columns of ``whole`` and ``real``.
ATTRIBUTE, ABOVE, SIDE, HEIGHT, CHILD, OTHER_CHILD, REASON, LINE, LINES = range(9)
CUT_LOW, CUT_HIGH, CUT_MISSING, GAIN = range(4)


class Stack(NamedTuple):
    """Nodes that wait, with their totals."""

    at: NDArray[np.int64]
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]


class Shape(NamedTuple):
    """Nodes in printing order.

    ``whole`` has attribute (-1 at a leaf), parent, branch, depth, both children, the
    reason, and which lines of ``codes`` are its own; ``real`` the values beside the
    cut, where missing rows go, and the gain; ``weights`` and ``counts`` the totals of
    the node and, in their second half, of its rows whose value is missing.
    """

    whole: NDArray[np.int32]
    real: NDArray[np.float64]
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]


class Lines(NamedTuple):
    """Counts by code of the attributes that are listed.

    ``codes`` has the code of each line, and 1 or 2 if a subset sends it left or right.
    """

    codes: NDArray[np.int64]
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]


@entry
def stack_for(deepest, width, n_counts):
    """Return room for the nodes that wait: one a level, and one more."""
    size = deepest + 2
    return Stack(
        np.empty((size, 6), np.int64),
        np.empty((size, width)),
        np.empty((size, n_counts), np.int64),
    )


@entry
def shape_for(size, width, n_counts):
    """Return room for nodes; pages that are not written to take no memory."""
    return Shape(
        np.empty((size, 9), np.int32),
        np.empty((size, 4)),
        np.empty((size, 2 * width)),
        np.empty((size, 2 * n_counts), np.int64),
    )


@entry
def lines_for(size, width, n_counts):
    """Return room for lines of codes."""
    return Lines(
        np.empty((size, 2), np.int64),
        np.empty((size, width)),
        np.empty((size, n_counts), np.int64),
    )


@kernel
def longer(lines):
    """Return lines of codes with twice the room."""
    size = len(lines.codes)
    more = lines_for(2 * size, lines.weights.shape[1], lines.counts.shape[1])
    for i in range(size):
        more.codes[i, 0], more.codes[i, 1] = lines.codes[i, 0], lines.codes[i, 1]
        for c in range(lines.weights.shape[1]):
            more.weights[i, c] = lines.weights[i, c]
        for c in range(lines.counts.shape[1]):
            more.counts[i, c] = lines.counts[i, c]
    return more


@entry
def push(stack, top, begin, end, level, parent, branch, slot, weights, counts, at):
    """Let a node wait, whose totals are those at a line of weights and counts."""
    stack.at[top, BEGIN], stack.at[top, END] = begin, end
    stack.at[top, LEVEL], stack.at[top, PARENT] = level, parent
    stack.at[top, BRANCH], stack.at[top, SLOT] = branch, slot
    for c in range(weights.shape[1]):
        stack.weights[top, c] = weights[at, c]
    for c in range(counts.shape[1]):
        stack.counts[top, c] = counts[at, c]


@entry
def open_node(shape, here, stack, top, n_lines):
    """Begin the record of a node, as a leaf for now."""
    above, branch = stack.at[top, PARENT], stack.at[top, BRANCH]
    whole, real = shape.whole, shape.real
    whole[here, ATTRIBUTE], whole[here, ABOVE] = -1, above
    whole[here, SIDE], whole[here, HEIGHT] = branch, stack.at[top, LEVEL]
    whole[here, CHILD], whole[here, OTHER_CHILD] = -1, -1
    whole[here, LINE], whole[here, LINES] = n_lines, 0
    real[here, CUT_LOW], real[here, CUT_HIGH] = np.nan, np.nan
    real[here, CUT_MISSING], real[here, GAIN] = -1.0, 0.0
    if above >= 0:
        whole[above, CHILD + branch] = here
    width, n_counts = stack.weights.shape[1], stack.counts.shape[1]
    for c in range(width):
        shape.weights[here, c] = stack.weights[top, c]
        shape.weights[here, width + c] = 0.0
    for c in range(n_counts):
        shape.counts[here, c] = stack.counts[top, c]
        shape.counts[here, n_counts + c] = 0


@entry
def reason_to_stop(rules, stack, top):
    """Return why a node is a leaf before anything is counted; INNER where it is not."""
    if is_pure(rules.kind, stack.weights, stack.counts, top):
        return PURE
    if stack.at[top, LEVEL] >= rules.max_depth:
        return DEPTH
    if size_of(rules.kind, stack.weights, top) < rules.least_node:
        return ROWS_TO_SPLIT
    return INNER


@kernel
def is_pure(kind, weights, counts, at):
    """Return whether all rows have one class, or one number but for rounding."""
    if kind == SQUARES:
        rest = weights[at, 3] - worth(kind, weights, at)
        return counts[at, 0] == 1 or rest <= 1e-12 * weights[at, 3]
    present = 0
    for c in range(counts.shape[1]):
        present += counts[at, c] > 0
    return present <= 1


@entry
def count_sides(kind, cells, labels, rows, start, middle, stop, a, sides):
    """Set the totals of both sides, and of the rows whose value is missing."""
    for side in range(3):
        for c in range(sides.weights.shape[1]):
            sides.weights[side, c] = 0.0
        for c in range(sides.counts.shape[1]):
            sides.counts[side, c] = 0
    for i in range(start, stop):
        row, side = rows[i], np.int64(i >= middle)
        tally(kind, labels, row, sides.weights, sides.counts, side)
        if cells.codes[row, a] == ABSENT:
            tally(kind, labels, row, sides.weights, sides.counts, ZERO + 2)


@kernel
def tally(kind, labels, row, weights, counts, at):
    """Add a row to totals: weights by class or moments, and numbers of rows."""
    weight = labels.weights[row]
    if kind == SQUARES:
        moved = weight * labels.numbers[row]
        weights[at, 0] += weight
        weights[at, 1 if moved > 0 else 2] += moved
        weights[at, 3] += moved * labels.numbers[row]
        counts[at, 0] += 1
    else:
        c = labels.classes[row]
        weights[at, c] += weight
        counts[at, c] += 1


@kernel
def infer_sides(lines, a, work, stack, top, sides):
    """Set the same totals from sums, where each row weighs 1."""
    for c in range(sides.weights.shape[1]):
        sides.weights[2, c] = lines[a, ABSENT, c]
        sides.weights[0, c] = work.lefts[a, c]
        if work.founds[a, MISSING] == 0:
            sides.weights[0, c] += sides.weights[2, c]
        sides.weights[1, c] = stack.weights[top, c] - sides.weights[0, c]
    for side in range(3):
        for c in range(sides.counts.shape[1]):
            sides.counts[side, c] = np.int64(sides.weights[side, c])


@entry
def list_codes(kind, cells, labels, rows, start, stop, a, masks, lines, at):
    """Set the lines of the codes of an attribute; return how many there are."""
    line_of = np.full(BINS, -1)
    for i in range(start, stop):
        line_of[cells.codes[rows[i], a]] = 0
    n = ZERO
    for code in range(cells.n_bins[a]):
        if line_of[code] == 0:
            line_of[code] = at + n
            lines.codes[at + n, 0], lines.codes[at + n, 1] = code, masks[a, code]
            for c in range(lines.weights.shape[1]):
                lines.weights[at + n, c] = 0.0
            for c in range(lines.counts.shape[1]):
                lines.counts[at + n, c] = 0
            n += 1
    for i in range(start, stop):
        row = rows[i]
        code = cells.codes[row, a]
        if code != ABSENT:
            tally(kind, labels, row, lines.weights, lines.counts, line_of[code])
    return n
