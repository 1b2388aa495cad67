"""Binning of numbers: at most 255 bins, found from a sample, without a full sort.

The code of a number v is the number of edges below it, so bin b holds the numbers above
edge b − 1 up to edge b. To find the code without branches, the range of the edges is
divided into 4,096 cells of equal width. A larger number never has an earlier cell. So
all edges in cells before the cell of v are below v, and edges in later cells are not.
Only the edges in its own cell are compared, mostly one or none.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import entry, kernel
from spinney.growth.binned.kernels import layout

LOOKUP_CELLS = 4096
# Few rows have fewer bins: each of them is looked at in every node.
MIN_BINS, MIN_ROWS_PER_BIN = 32, 8
BLOCK_ROWS = 2048  # of a matrix: its block stays in the cache, column by column


def bin_edges(
    sample: NDArray[Any],
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return rising edges between bins, and the values if each bin has one of them.

    >>> bin_edges(np.array([3.0, 1.0, 3.0, np.nan, 2.0]))
    (array([1.5, 2.5]), array([1., 2., 3.]))
    """
    # All zeros alike: which of them is first depends on how a machine sorts.
    numbers = np.sort(sample[~np.isnan(sample)]).astype(np.float64) + 0.0
    if not len(numbers):
        return numbers, numbers
    rises = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=rises[1:])
    values = numbers[rises]
    if len(values) < layout.BINS:
        low, high = values[:-1], values[1:]
        with np.errstate(over="ignore", invalid="ignore"):
            middle = low / 2 + high / 2
        return np.where((middle >= low) & (middle < high), middle, low), values
    n_bins = min(layout.MISSING_CODE, max(MIN_BINS, len(numbers) // MIN_ROWS_PER_BIN))
    places = np.arange(1, n_bins) * len(numbers) // n_bins
    return np.unique(numbers[places]), None


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
def index_edges(encoding):
    """Count the edges before each lookup cell, by column.

    A column without a finite range has one cell: all its edges are compared.
    """
    edges, low, scale = encoding.edges, encoding.low, encoding.scale
    for j in range(len(edges)):
        k = encoding.n_edges[j]
        low[j], scale[j] = 0.0, 0.0
        if k > 1:
            low[j] = edges[j, 0]
            cells_per_unit = (LOOKUP_CELLS - 1) / (edges[j, k - 1] - edges[j, 0])
            scale[j] = cells_per_unit if 0 < cells_per_unit < np.inf else 0.0
        n_before, max_steps = 0, 0
        for cell in range(LOOKUP_CELLS):
            encoding.first[j, cell] = n_before
            n_in_cell = 0
            while (
                n_before < k
                and lookup_cell(edges[j, n_before], low[j], scale[j]) == cell
            ):
                n_before += 1
                n_in_cell += 1
            max_steps = max(max_steps, n_in_cell)
        encoding.steps[j] = max_steps


@kernel
def lookup_cell(number, low, scale):
    """Return the lookup cell of a number; infinity and NaN from 0 · ∞ have one too."""
    position = (number - low) * scale
    return np.int64(min(position, LOOKUP_CELLS - 1.0)) if position > 0 else 0


@entry
def encode_rows(encoding, matrix, start, stop, columns, unexpected):
    """Encode columns of a range of rows.

    Numbers that differ from the expected value of their bin are counted as
    ``unexpected``.
    """
    first, edges, values = encoding.first, encoding.edges, encoding.values
    codes, by_attribute = encoding.codes, encoding.by_attribute
    for begin in range(start, stop, BLOCK_ROWS):
        end = min(begin + BLOCK_ROWS, stop)
        for j in columns:
            low, scale = encoding.low[j], encoding.scale[j]
            max_steps = encoding.steps[j]
            a, expected, n_unexpected = encoding.attributes[j], encoding.expected[j], 0
            for i in range(begin, end):
                number = np.float64(matrix[i, j])
                if number != number:
                    codes[i, a] = by_attribute[a, i] = layout.MISSING_CODE
                    continue
                code = np.int64(first[j, lookup_cell(number, low, scale)])
                for _ in range(max_steps):
                    code += number > edges[j, code]
                codes[i, a] = by_attribute[a, i] = code
                if expected:
                    n_unexpected += values[j, code] != number
            unexpected[j] += n_unexpected
