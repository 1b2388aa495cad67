"""Nodes as lines of arrays: the stack of open nodes, and the finished records."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import ZERO, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.binned.kernels import layout
from spinney.growth.binned.kernels.draw import branch_key
from spinney.growth.binned.kernels.packed_rows import add_row, class_of, row_of
from spinney.growth.binned.kernels.split_scores import (
    SQUARES,
    is_numeric,
    limit_weight,
    side_score,
)

# Why a node is a leaf, in the order of the checks.
INNER, PURE, DEPTH, ROWS_TO_SPLIT, DEVIATION = range(5)
IDENTICAL, ROWS_IN_LEAF, MIN_GAIN = range(5, 8)

# Columns of nodes on the stack: where the rows begin and end, depth, parent, branch,
# and the slot of the histograms, or -1. After the split: where the rows of the second
# branch begin, and those with a missing value that surrogates route.
BEGIN, END, LEVEL, PARENT, BRANCH, SLOT, MIDDLE, MISSING_BEGIN = range(8)

# Columns of ``ints`` and ``floats``.
(
    ATTRIBUTE,
    PARENT_NODE,
    PARENT_BRANCH,
    NODE_DEPTH,
    LEFT_CHILD,
    RIGHT_CHILD,
    REASON,
    FIRST_LINE,
    N_LINES,
) = range(9)
CUT_LOW, CUT_HIGH, CUT_MISSING, GAIN = range(4)
EXACT = PARENT_BRANCH  # of a competitor: whether all its cuts were looked at

# Entries of ``state``: nodes on the stack, nodes and lines that are done, free slots,
# trees that were begun, and competitors that are done.
N_WAITING, N_NODES, N_LISTED, N_FREE, N_TREES, N_COMPETITORS = np.arange(6)

SLOTS = 32  # of histograms; a node without a free slot is counted when it is searched


class NodeRecords(NamedTuple):
    """Nodes in printing order.

    ``ints`` has attribute (-1 at a leaf), parent, branch, depth, both children, the
    reason, and the lines of its code counts. ``floats`` has the values beside the cut,
    the branch of missing values, and the gain. ``weights`` and ``counts`` have the
    totals of the node and, in their second half, of its rows with a missing value.
    """

    ints: NDArray[np.int32]
    floats: NDArray[np.float64]
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]


class CodeCounts(NamedTuple):
    """Counts by code of the attributes that are listed.

    ``codes`` has the code of each line, and 1 or 2 if a subset sends it left or right.
    """

    codes: NDArray[np.int64]
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]


class NodeStack(NamedTuple):
    """Stack of nodes with their totals, and the progress of growing.

    ``child_weights`` and ``child_counts`` are the totals of both children, and of the
    missing rows. ``pool`` has histograms, and ``free`` its unused slots. ``buffer``
    takes the rows that go right.
    """

    entries: NDArray[np.int64]
    keys: NDArray[np.uint64]
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]
    child_weights: NDArray[np.float64]
    child_counts: NDArray[np.int64]
    state: NDArray[np.int64]
    free: NDArray[np.int64]
    pool: NDArray[np.float64]
    buffer: NDArray[np.uint64]


def empty_stack(
    n_rows: int, max_depth: int, p: int, width: int, n_counts: int, slots: int
) -> NodeStack:
    """Return an empty stack of nodes: one per level, and one more."""
    size = min(max_depth, n_rows) + 2
    return NodeStack(
        np.empty((size, 8), np.int64),
        np.empty(size, np.uint64),
        np.empty((size, width)),
        np.empty((size, n_counts), np.int64),
        np.empty((3, width)),
        np.empty((3, n_counts), np.int64),
        np.array([0, 0, 0, slots, 0, 0]),
        np.arange(max(slots, 1)),
        np.empty((max(slots, 1), p, layout.BINS, width)),
        np.empty(n_rows, np.uint64),
    )


def empty_records(size: int, width: int, n_counts: int) -> NodeRecords:
    """Return uninitialised node records."""
    return NodeRecords(
        np.empty((size, 9), np.int32),
        np.empty((size, 4)),
        np.empty((size, 2 * width)),
        np.empty((size, 2 * n_counts), np.int64),
    )


def empty_code_counts(size: int, width: int, n_counts: int) -> CodeCounts:
    """Return uninitialised code counts."""
    return CodeCounts(
        np.empty((size, 2), np.int64),
        np.empty((size, width)),
        np.empty((size, n_counts), np.int64),
    )


def head(arrays: Any, size: int) -> Any:
    """Return views of the first lines of each array of a tuple."""
    return type(arrays)(*(array[:size] for array in arrays))


def copied_head(arrays: Any, size: int) -> Any:
    """Return copies of the first lines of each array of a tuple."""
    return type(arrays)(*(array.copy() for array in head(arrays, size)))


def doubled(arrays: Any) -> Any:
    """Return the arrays of a tuple with twice the capacity."""
    return type(arrays)(
        *(np.concatenate([array, np.empty_like(array)]) for array in arrays)
    )


def concatenated(parts: Sequence[Any]) -> Any:
    """Return the arrays of several tuples, concatenated by field."""
    arrays = zip(*parts, strict=True)
    return type(parts[0])(*(np.concatenate(array) for array in arrays))


def selected(arrays: Any, indices: Any) -> Any:
    """Return the selected lines of each array of a tuple."""
    return type(arrays)(*(array[indices] for array in arrays))


@kernel
def push_node(stack, begin, end, level, parent, side, slot, key):
    """Push a child onto the stack."""
    top = stack.state[N_WAITING]
    stack.entries[top, BEGIN], stack.entries[top, END] = begin, end
    stack.entries[top, LEVEL], stack.entries[top, PARENT] = level, parent
    stack.entries[top, BRANCH], stack.entries[top, SLOT] = side, slot
    stack.keys[top] = branch_key(key, side)
    for c in range(stack.weights.shape[1]):
        stack.weights[top, c] = stack.child_weights[side, c]
    for c in range(stack.counts.shape[1]):
        stack.counts[top, c] = stack.child_counts[side, c]
    stack.state[N_WAITING] += 1


@kernel
def begin_record(records, node, stack, top):
    """Write the record of a node, as a leaf for now."""
    parent, branch = stack.entries[top, PARENT], stack.entries[top, BRANCH]
    ints, floats = records.ints, records.floats
    ints[node, ATTRIBUTE], ints[node, PARENT_NODE] = -1, parent
    ints[node, PARENT_BRANCH] = branch
    ints[node, NODE_DEPTH] = stack.entries[top, LEVEL]
    ints[node, LEFT_CHILD], ints[node, RIGHT_CHILD] = -1, -1
    ints[node, FIRST_LINE], ints[node, N_LINES] = stack.state[N_LISTED], 0
    ints[node, REASON] = INNER
    floats[node, CUT_LOW], floats[node, CUT_HIGH] = np.nan, np.nan
    floats[node, CUT_MISSING], floats[node, GAIN] = -1.0, 0.0
    if parent >= 0:
        ints[parent, LEFT_CHILD + branch] = node
    width, n_counts = stack.weights.shape[1], stack.counts.shape[1]
    for c in range(width):
        records.weights[node, c] = stack.weights[top, c]
        records.weights[node, width + c] = 0.0
    for c in range(n_counts):
        records.counts[node, c] = stack.counts[top, c]
        records.counts[node, n_counts + c] = 0


@kernel
def reason_to_stop(rules, stack, top):
    """Return the reason why a node is a leaf, or INNER if it may be split."""
    if _is_pure(rules.kind, stack.weights, stack.counts, top):
        return PURE
    if stack.entries[top, LEVEL] >= rules.max_depth:
        return DEPTH
    if limit_weight(rules, stack.weights, top) < rules.min_node_weight:
        return ROWS_TO_SPLIT
    if rules.min_deviation > 0:
        spread = _spread(stack.weights, top) / stack.weights[top, 0]
        if np.sqrt(spread) < rules.min_deviation:
            return DEVIATION
    return INNER


@kernel
def _spread(weights, line):
    """Return Σw(y − mean)² of moments."""
    return max(weights[line, 3] - side_score(SQUARES, weights, line), 0.0)


@kernel
def _is_pure(kind, weights, counts, line):
    """Return whether all rows have one class, or one number within rounding."""
    if is_numeric(kind):
        return (
            counts[line, 0] == 1
            or _spread(weights, line) <= TOLERANCE * weights[line, 3]
        )
    present = 0
    for c in range(counts.shape[1]):
        present += counts[line, c] > 0
    return present <= 1


@kernel
def count_children(search, start, middle, stop, a):
    """Count the totals of both children, and of the rows with a missing value."""
    kind, labels, codes = search.rules.kind, search.labels, search.cells.codes
    weights, counts = search.stack.child_weights, search.stack.child_counts
    for side in range(3):
        for c in range(weights.shape[1]):
            weights[side, c] = 0.0
        for c in range(counts.shape[1]):
            counts[side, c] = 0
    for i in range(start, stop):
        word, side = search.rows[i], np.int64(i >= middle)
        add_to_node(kind, labels, word, weights, counts, side)
        if codes[row_of(word), a] == layout.MISSING_CODE:
            add_to_node(kind, labels, word, weights, counts, ZERO + 2)


@kernel
def add_to_node(kind, labels, word, weights, counts, line):
    """Add a row to totals: weights by class or moments, and numbers of rows."""
    add_row(kind, labels, word, weights, line)
    counts[line, class_of(word)] += 1


@kernel
def infer_children(search, start, middle, stop, a, top):
    """Set the totals of both children from the best cut, if sums are exact.

    If weights do not give the number of rows, the rows of the smaller child are
    counted, and so are missing rows. Totals left of the cut may be unknown
    (``record_cut``); then no value is missing.
    """
    stack, codes, rows = search.stack, search.cells.codes, search.rows
    cuts, counts_rows = search.work.cuts, search.rules.count_rows
    weights, counts = stack.child_weights, stack.child_counts
    width, n_counts, has_missing = weights.shape[1], counts.shape[1], 0.0
    smaller = np.int64(stop - middle < middle - start)
    begin, end = (middle, stop) if smaller else (start, middle)
    if np.isnan(cuts[a, layout.TOTALS]):
        for c in range(width):
            weights[2, c] = weights[smaller, c] = 0.0
            counts[2, c] = counts[smaller, c] = 0
        for i in range(begin, end):
            add_to_node(
                search.rules.kind, search.labels, rows[i], weights, counts, smaller
            )
        for c in range(width):
            weights[1 - smaller, c] = stack.weights[top, c] - weights[smaller, c]
            counts[1 - smaller, c] = stack.counts[top, c] - counts[smaller, c]
        return
    for c in range(width):
        weights[2, c] = cuts[a, layout.TOTALS + width + c]
        weights[0, c] = cuts[a, layout.TOTALS + c]
        if cuts[a, layout.MISSING_SIDE] == 0:
            weights[0, c] += weights[2, c]
        weights[1, c] = stack.weights[top, c] - weights[0, c]
        has_missing += weights[2, c]
    if not counts_rows:
        for side in range(3):
            for c in range(n_counts):
                counts[side, c] = np.int64(weights[side, c])
        return
    for c in range(n_counts):
        counts[smaller, c] = counts[2, c] = 0
    for i in range(begin, end):
        counts[smaller, class_of(rows[i])] += 1
    if has_missing > 0:
        for i in range(start, stop):
            if codes[row_of(rows[i]), a] == layout.MISSING_CODE:
                counts[2, class_of(rows[i])] += 1
    for c in range(n_counts):
        counts[1 - smaller, c] = stack.counts[top, c] - counts[smaller, c]


@kernel
def count_codes(search, start, stop, a, first_line):
    """Write the code counts of an attribute; return the number of lines."""
    cells, rows, code_counts = search.cells, search.rows, search.code_counts
    work = search.work
    line_of = work.ints
    for code in range(layout.BINS):
        line_of[layout.CODES, code] = -1
    for i in range(start, stop):
        line_of[layout.CODES, cells.codes[row_of(rows[i]), a]] = 0
    n = ZERO
    for code in range(cells.n_bins[a]):
        if line_of[layout.CODES, code] == 0:
            line_of[layout.CODES, code] = first_line + n
            code_counts.codes[first_line + n, 0] = code
            code_counts.codes[first_line + n, 1] = work.masks[a, code]
            for c in range(code_counts.weights.shape[1]):
                code_counts.weights[first_line + n, c] = 0.0
            for c in range(code_counts.counts.shape[1]):
                code_counts.counts[first_line + n, c] = 0
            n += 1
    kind, labels = search.rules.kind, search.labels
    for i in range(start, stop):
        word = rows[i]
        code = cells.codes[row_of(word), a]
        if code != layout.MISSING_CODE:
            line = line_of[layout.CODES, code]
            add_to_node(
                kind, labels, word, code_counts.weights, code_counts.counts, line
            )
    return n
