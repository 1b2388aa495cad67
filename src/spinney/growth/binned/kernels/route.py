"""Rows routed down a grown tree: each node has a range of one array of row numbers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import ZERO, entry, kernel
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.layout import Cells
from spinney.growth.binned.kernels.packed_rows import cell_value


class RoutedTree(NamedTuple):
    """A tree with its routed rows; ``by_code`` has codes and their branches."""

    cells: Cells
    ints: NDArray[np.int32]
    floats: NDArray[np.float64]
    by_code: NDArray[np.int64]
    spans: NDArray[np.int64]
    rows: NDArray[np.uint32]


@kernel
def route_node(tree, node, marks, buffer):
    """Move the rows of a node's first branch before the others, in stable order.

    ``tree.spans`` has the bounds of a node's rows; the spans of both children are set.
    ``marks`` are by code, and ``buffer`` has space for all rows.
    """
    cells, rows, spans = tree.cells, tree.rows, tree.spans
    ints, floats, by_code = tree.ints, tree.floats, tree.by_code
    begin, end = spans[node, 0], spans[node, 1]
    a, low = ints[node, nodes.ATTRIBUTE], floats[node, nodes.CUT_LOW]
    column, missing_left = cells.column[a], floats[node, nodes.CUT_MISSING] == 0
    if cells.nominal[a]:
        for code in range(layout.BINS):
            marks[code] = 0
        for line in range(
            ints[node, nodes.FIRST_LINE],
            ints[node, nodes.FIRST_LINE] + ints[node, nodes.N_LINES],
        ):
            marks[by_code[line, 0]] = by_code[line, 1] == 1
    elif column < 0:
        for code in range(cells.n_bins[a]):
            marks[code] = cells.values[a, code] <= low
    marks[layout.MISSING_CODE] = missing_left
    end_left, n_right = begin, ZERO
    for i in range(begin, end):
        row = rows[i]
        if column < 0:
            left = marks[cells.codes[row, a]]
        else:
            number = cell_value(cells, row, column)
            left = ZERO + (number <= low or (missing_left and number != number))
        rows[end_left] = row
        buffer[n_right] = row
        end_left += left
        n_right += 1 - left
    for i in range(n_right):
        rows[end_left + i] = buffer[i]
    for branch in range(2):
        child = ints[node, nodes.LEFT_CHILD + branch]
        spans[child, 0] = end_left if branch else begin
        spans[child, 1] = end if branch else end_left


@entry
def route_tree(tree, marks, buffer):
    """Route the rows of the root to the leaves."""
    for node in range(len(tree.ints)):
        if tree.ints[node, nodes.ATTRIBUTE] >= 0:
            route_node(tree, node, marks, buffer)
