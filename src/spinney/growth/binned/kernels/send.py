"""Rows sent down a grown tree: each node has a stretch of one array of row numbers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import ZERO, entry, kernel
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.cell_numbers import number_at
from spinney.growth.binned.kernels.layout import Cells


class SentTree(NamedTuple):
    """A tree, and the rows that are sent down it.

    ``whole`` and ``real`` are of its nodes, ``by_code`` of their lines of codes.
    """

    cells: Cells
    whole: NDArray[np.int32]
    real: NDArray[np.float64]
    by_code: NDArray[np.int64]
    spans: NDArray[np.int64]
    rows: NDArray[np.uint32]


@kernel
def send_rows(tree, node, marks, spare):
    """Put the rows of a node's first branch before the others, in their order.

    ``tree.spans`` has where the rows of a node begin and end; those of both children
    are set. ``marks`` are of codes, ``spare`` has room for all rows.
    """
    cells, rows, spans = tree.cells, tree.rows, tree.spans
    whole, real, by_code = tree.whole, tree.real, tree.by_code
    begin, end = spans[node, 0], spans[node, 1]
    a, low = whole[node, nodes.ATTRIBUTE], real[node, nodes.CUT_LOW]
    column, absent_left = cells.column[a], real[node, nodes.CUT_MISSING] == 0
    if cells.nominal[a]:
        for code in range(layout.BINS):
            marks[code] = 0
        for line in range(
            whole[node, nodes.LINE], whole[node, nodes.LINE] + whole[node, nodes.LINES]
        ):
            marks[by_code[line, 0]] = by_code[line, 1] == 1
    elif column < 0:
        for code in range(cells.n_bins[a]):
            marks[code] = cells.values[a, code] <= low
    marks[layout.ABSENT] = absent_left
    at, waiting = begin, ZERO
    for i in range(begin, end):
        row = rows[i]
        if column < 0:
            left = marks[cells.codes[row, a]]
        else:
            number = number_at(cells, row, column)
            left = ZERO + (number <= low or (absent_left and number != number))
        rows[at] = row
        spare[waiting] = row
        at += left
        waiting += 1 - left
    for i in range(waiting):
        rows[at + i] = spare[i]
    for branch in range(2):
        child = whole[node, nodes.CHILD + branch]
        spans[child, 0] = at if branch else begin
        spans[child, 1] = end if branch else at


@entry
def send_all(tree, marks, spare):
    """Send the rows of the root to the leaves."""
    for node in range(len(tree.whole)):
        if tree.whole[node, nodes.ATTRIBUTE] >= 0:
            send_rows(tree, node, marks, spare)
