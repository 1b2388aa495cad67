"""Rows with a missing split value, routed by surrogates.

The rows of a node are in three ranges: first branch, second branch, and missing.
Missing rows follow the first surrogate with a known value, else the heavier branch.
Then both children are counted.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import ZERO, entry, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.layout import Cells, Labels
from spinney.growth.binned.kernels.nodes import add_to_node
from spinney.growth.binned.kernels.packed_rows import PackedRows, cell_value, row_of
from spinney.growth.binned.kernels.surrogates import (
    RECORD_HIGH,
    RECORD_LOW,
    REVERSED,
    SurrogateRecords,
)

# What is counted of a node: its children, and what surrogates sent to the first.
ROUTED_LEFT, N_TOTALS = 2, 3


class MissingRouting(NamedTuple):
    """The nodes whose missing rows are to be routed.

    Rows have labels of this ``kind`` and their own weights. ``spans`` has the bounds of
    the known rows of nodes and their children, which the missing rows will join.
    ``ends`` has the ends of the missing rows. ``sums`` and ``counts`` receive the
    totals of the children of every inner node.
    """

    cells: Cells
    labels: Labels
    kind: int
    row_weights: NDArray[np.float64]
    rows: PackedRows
    ints: NDArray[np.int32]
    spans: NDArray[np.int64]
    ends: NDArray[np.int64]
    records: SurrogateRecords
    sums: NDArray[np.float64]
    counts: NDArray[np.int64]


@entry
def route_missing_rows(routing):
    """Route the rows of all inner nodes, and count their children."""
    for node in range(len(routing.ints)):
        if routing.ints[node, nodes.ATTRIBUTE] >= 0:
            _route_node(routing, node)


@kernel
def _route_node(routing, node):
    """Route the rows of a node with a missing value, and count both children."""
    rows, spans = routing.rows, routing.spans
    child = routing.ints[node, nodes.LEFT_CHILD]
    begin, missing_begin, end = spans[node, 0], spans[node, 1], routing.ends[node]
    middle, line = spans[child, 1], routing.records.line_of[node]
    _narrow_thresholds(routing, missing_begin, end, line)
    default_branch = _heavier_branch(routing, begin, middle, missing_begin)
    first_right = middle
    for i in range(missing_begin, end):
        word = rows[i]
        if _surrogate_branch(routing, row_of(word), line, default_branch) == 0:
            rows[i], rows[first_right] = rows[first_right], word
            first_right += 1
    spans[child, 1] = spans[child + 1, 0] = first_right
    spans[child + 1, 1] = end
    kind, labels = routing.kind, routing.labels
    sums, counts = routing.sums[line], routing.counts[line]
    for i in range(begin, end):
        side = np.int64(i >= first_right)
        add_to_node(kind, labels, rows[i], sums, counts, side)
        if middle <= i < first_right:
            add_to_node(kind, labels, rows[i], sums, counts, ZERO + ROUTED_LEFT)


@kernel
def _narrow_thresholds(routing, missing_begin, end, line):
    """Move thresholds to the midpoint with the next value of any row of the node."""
    cells, records = routing.cells, routing.records
    for k in range(records.attributes.shape[1]):
        a = records.attributes[line, k]
        if a < 0:
            return
        if cells.nominal[a]:
            continue
        low = records.floats[line, k, RECORD_LOW]
        high = records.floats[line, k, RECORD_HIGH]
        for i in range(missing_begin, end):
            number = _cell_number(cells, row_of(routing.rows[i]), a)
            if low < number < high:
                high = number
        records.floats[line, k, RECORD_HIGH] = high


@kernel
def _cell_number(cells, row, a):
    """Return the number of a row; NaN where it is missing."""
    column = cells.column[a]
    if column >= 0:
        return cell_value(cells, row, column)
    code = cells.codes[row, a]
    return np.nan if code == layout.MISSING_CODE else cells.values[a, code]


@kernel
def _heavier_branch(routing, begin, middle, end):
    """Return the heavier branch of the known rows by own weights; ties go first."""
    left_weight, right_weight = 0.0, 0.0
    for i in range(begin, end):
        weight = routing.row_weights[row_of(routing.rows[i])]
        if i < middle:
            left_weight += weight
        else:
            right_weight += weight
    return np.int64(left_weight / max(left_weight, right_weight) < 1 - TOLERANCE)


@kernel
def _surrogate_branch(routing, row, line, default_branch):
    """Return the branch by the first surrogate with a known value, else the default.

    A code without a branch at this node counts as missing.
    """
    cells, records = routing.cells, routing.records
    for k in range(records.attributes.shape[1]):
        a = records.attributes[line, k]
        if a < 0:
            break
        code = cells.codes[row, a]
        if code == layout.MISSING_CODE:
            continue
        if not cells.nominal[a]:
            right = _cell_number(cells, row, a) > records.floats[line, k, RECORD_LOW]
            return np.int64(right != (records.floats[line, k, REVERSED] > 0))
        if records.masks[line, k, code]:
            return np.int64(records.masks[line, k, code]) - 1
    return default_branch
