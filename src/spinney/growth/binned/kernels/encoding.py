"""Binning of numbers: at most 255 bins, found from a sample, without a full sort.

The code of a number v is the number of edges below it, so bin b holds the numbers above
edge b − 1 up to edge b. To find it without branches, the range of the edges is divided
into 4,096 cells of equal width. The cell never falls as the number grows. So all edges
in cells before that of v are below v, and no edge in later cells is. Only the edges in
its own cell are compared, mostly one or none.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import entry, kernel
from spinney.growth.binned.kernels import layout

LOOKUP_CELLS = 4096
# Few rows have fewer bins: each of them is looked at in every node.
MIN_BINS, MIN_ROWS_PER_BIN = 32, 8
ROWS_AT_ONCE = 2048  # of a matrix: its block stays in the cache, column by column


def bin_edges(
    sample: NDArray[Any],
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return rising edges between bins, and the values if each bin has one of them.

    >>> edges_of(np.array([3.0, 1.0, 3.0, np.nan, 2.0]))
    (array([1.5, 2.5]), array([1., 2., 3.]))
    """
    # All zeros alike: which of them is first depends on how a machine sorts.
    known = np.sort(sample[~np.isnan(sample)]).astype(np.float64) + 0.0
    if not len(known):
        return known, known
    rises = np.ones(len(known), np.bool_)
    np.not_equal(known[1:], known[:-1], out=rises[1:])
    values = known[rises]
    if len(values) < layout.BINS:
        low, high = values[:-1], values[1:]
        with np.errstate(over="ignore", invalid="ignore"):
            middle = low / 2 + high / 2
        return np.where((middle >= low) & (middle < high), middle, low), values
    n_bins = min(layout.MISSING_CODE, max(MIN_BINS, len(known) // MIN_ROWS_PER_BIN))
    places = np.arange(1, n_bins) * len(known) // n_bins
    return np.unique(known[places]), None


class ColumnEncoding(NamedTuple):
    """Encoding of numeric columns, and its output.

    By column: ``edges`` and their number; the ``low`` end and the ``scale`` of lookup
    cells; the most ``steps`` in one cell; the ``values`` of bins, if each is
    ``expected`` to hold one. By cell: ``first``, the number of edges in earlier cells.
    A column becomes attribute ``attributes`` of ``codes`` and ``by_attribute``.
    """

    edges: NDArray[np.float64]
    n_edges: NDArray[np.int64]
    first: NDArray[np.uint8]
    low: NDArray[np.float64]
    scale: NDArray[np.float64]
    steps: NDArray[np.int64]
    values: NDArray[np.float64]
    expected: NDArray[np.bool_]
    attributes: NDArray[np.int64]
    codes: NDArray[np.uint8]
    by_attribute: NDArray[np.uint8]


@entry
def index_edges(coding):
    """Count the edges before each lookup cell, by column.

    A column without a finite range has one cell: all its edges are compared.
    """
    edges, low, scale = coding.edges, coding.low, coding.scale
    for j in range(len(edges)):
        k = coding.n_edges[j]
        low[j], scale[j] = 0.0, 0.0
        if k > 1:
            low[j] = edges[j, 0]
            wide = (LOOKUP_CELLS - 1) / (edges[j, k - 1] - edges[j, 0])
            scale[j] = wide if 0 < wide < np.inf else 0.0
        before, most = 0, 0
        for cell in range(LOOKUP_CELLS):
            coding.first[j, cell] = before
            n_here = 0
            while (
                before < k and lookup_cell(edges[j, before], low[j], scale[j]) == cell
            ):
                before += 1
                n_here += 1
            most = max(most, n_here)
        coding.steps[j] = most


@kernel
def lookup_cell(number, low, scale):
    """Return the cell of a number; infinite ones, and NaN from 0 · ∞, have one too."""
    position = (number - low) * scale
    return np.int64(min(position, LOOKUP_CELLS - 1.0)) if position > 0 else 0


@entry
def encode_rows(coding, matrix, start, stop, wanted, odd):
    """Encode wanted columns of a range of rows.

    Numbers that differ from the expected value of their bin are counted in ``odd``.
    """
    first, edges, values = coding.first, coding.edges, coding.values
    codes, by_attribute = coding.codes, coding.by_attribute
    for begin in range(start, stop, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, stop)
        for j in wanted:
            low, scale, most = coding.low[j], coding.scale[j], coding.steps[j]
            a, expected, different = coding.attributes[j], coding.expected[j], 0
            for i in range(begin, end):
                number = np.float64(matrix[i, j])
                if number != number:
                    codes[i, a] = by_attribute[a, i] = layout.MISSING_CODE
                    continue
                code = np.int64(first[j, lookup_cell(number, low, scale)])
                for _ in range(most):
                    code += number > edges[j, code]
                codes[i, a] = by_attribute[a, i] = code
                if expected:
                    different += values[j, code] != number
            odd[j] += different
