"""Rows that lack the value a node asks for, sent by its surrogates.

The rows of a node stand in three stretches: those of the first branch, those of the
second, and those that lack the value. The latter go by the first surrogate whose value
they have, else to the heavier branch. Then both children are counted.
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
SENT, COUNTED = 2, 3


class MissingRouting(NamedTuple):
    """Nodes whose rows are about to leave them.

    Rows with their labels, of this ``kind``, and what each weighs by itself; ``ints``
    of the nodes; in ``spans`` where the rows with a value begin and end, of the nodes
    and of their children, which will have the others too; in ``ends`` where those end.
    ``sums`` and ``counts`` become the totals of the children of every inner node.
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
    """Send the rows of all inner nodes, and count their children."""
    for node in range(len(routing.ints)):
        if routing.ints[node, nodes.ATTRIBUTE] >= 0:
            _route_node(routing, node)


@kernel
def _route_node(routing, node):
    """Send the rows of a node that lack its value, and count both children."""
    rows, spans, child = (
        routing.rows,
        routing.spans,
        routing.ints[node, nodes.LEFT_CHILD],
    )
    begin, aside, end = spans[node, 0], spans[node, 1], routing.ends[node]
    middle, at = spans[child, 1], routing.records.line_of[node]
    _narrow_thresholds(routing, aside, end, at)
    last, first_right = _heavier_branch(routing, begin, middle, aside), middle
    for i in range(aside, end):
        word = rows[i]
        if _branch_of(routing, row_of(word), at, last) == 0:
            rows[i], rows[first_right] = rows[first_right], word
            first_right += 1
    spans[child, 1] = spans[child + 1, 0] = first_right
    spans[child + 1, 1] = end
    kind, labels = routing.kind, routing.labels
    sums, counts = routing.sums[at], routing.counts[at]
    for i in range(begin, end):
        side = np.int64(i >= first_right)
        add_to_node(kind, labels, rows[i], sums, counts, side)
        if middle <= i < first_right:
            add_to_node(kind, labels, rows[i], sums, counts, ZERO + SENT)


@kernel
def _narrow_thresholds(routing, aside, end, at):
    """Let thresholds lie half-way to the next value that any row of the node has."""
    cells, records = routing.cells, routing.records
    for k in range(records.attributes.shape[1]):
        a = records.attributes[at, k]
        if a < 0:
            return
        if cells.nominal[a]:
            continue
        low, high = (
            records.floats[at, k, RECORD_LOW],
            records.floats[at, k, RECORD_HIGH],
        )
        for i in range(aside, end):
            number = _number(cells, row_of(routing.rows[i]), a)
            if low < number < high:
                high = number
        records.floats[at, k, RECORD_HIGH] = high


@kernel
def _number(cells, row, a):
    """Return the number of a row; NaN where it is missing."""
    column = cells.column[a]
    if column >= 0:
        return cell_value(cells, row, column)
    code = cells.codes[row, a]
    return np.nan if code == layout.MISSING_CODE else cells.values[a, code]


@kernel
def _heavier_branch(routing, begin, middle, end):
    """Return the heavier branch of the rows that have the value, of equals the first.

    By what rows weigh themselves.
    """
    one, other = 0.0, 0.0
    for i in range(begin, end):
        weight = routing.row_weights[row_of(routing.rows[i])]
        if i < middle:
            one += weight
        else:
            other += weight
    return np.int64(one / max(one, other) < 1 - TOLERANCE)


@kernel
def _branch_of(routing, row, at, last):
    """Return the branch of a row by the first surrogate that knows it, else the last.

    A code that the node's rows did not tell the branch of is as good as missing.
    """
    cells, records = routing.cells, routing.records
    for k in range(records.attributes.shape[1]):
        a = records.attributes[at, k]
        if a < 0:
            break
        code = cells.codes[row, a]
        if code == layout.MISSING_CODE:
            continue
        if not cells.nominal[a]:
            right = _number(cells, row, a) > records.floats[at, k, RECORD_LOW]
            return np.int64(right != (records.floats[at, k, REVERSED] > 0))
        if records.masks[at, k, code]:
            return np.int64(records.masks[at, k, code]) - 1
    return last
