"""Numbers to bins: at most 255, found from a sample, without a full sort.

The code of a number v is how many edges lie below it, so the bin b holds the numbers
above edge b − 1 up to edge b. To find it without branches, the range of the edges is
divided into 4,096 cells of equal width. The function that gives a number its cell never
falls as the number grows, so all edges in cells before that of v are below v, all edges
in later cells are not, and only those in its own cell are compared; mostly there is one
or none.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import entry, kernel
from spinney.growth.binned.loops import layout

CELLS = 4096
# Few rows have fewer bins: each of them is looked at in every node.
FEWEST_BINS, ROWS_OF_A_BIN = 32, 8
ROWS_AT_ONCE = 2048  # of a matrix: its block stays in the cache, column by column


def edges_of(
    sample: NDArray[Any],
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return rising edges between bins, and the values if each bin has one of them.

    >>> edges_of(np.array([3.0, 1.0, 3.0, np.nan, 2.0]))
    (array([1.5, 2.5]), array([1., 2., 3.]))
    """
    known = np.sort(sample[~np.isnan(sample)], kind="stable").astype(np.float64)
    if not len(known):
        return known, known
    values = known[np.append(True, known[1:] != known[:-1])]
    if len(values) < layout.BINS:
        low, high = values[:-1], values[1:]
        with np.errstate(over="ignore", invalid="ignore"):
            middle = low / 2 + high / 2
        return np.where((middle >= low) & (middle < high), middle, low), values
    n_bins = min(layout.ABSENT, max(FEWEST_BINS, len(known) // ROWS_OF_A_BIN))
    places = np.arange(1, n_bins) * len(known) // n_bins
    return np.unique(known[places]), None


@entry
def prepare(edges, n_edges, first, low, scale, steps):
    """Find for each column, and each of its cells, how many edges lie in cells before.

    ``steps`` becomes the largest number of edges in one cell. A column whose range
    is no finite number, or nothing, has one cell: all its edges are compared.
    """
    for j in range(len(n_edges)):
        k = n_edges[j]
        low[j], scale[j] = 0.0, 0.0
        if k > 1:
            low[j] = edges[j, 0]
            wide = (CELLS - 1) / (edges[j, k - 1] - edges[j, 0])
            scale[j] = wide if 0 < wide < np.inf else 0.0
        before, most = 0, 0
        for cell in range(CELLS):
            first[j, cell] = before
            here = 0
            while before < k and cell_of(edges[j, before], low[j], scale[j]) == cell:
                before += 1
                here += 1
            most = max(most, here)
        steps[j] = most


@kernel
def cell_of(number, low, scale):
    """Return the cell of a number; infinite ones, and NaN from 0 · ∞, have one too."""
    at = (number - low) * scale
    return np.int64(min(at, CELLS - 1.0)) if at > 0 else 0


@entry
def code_rows(
    matrix,
    start,
    stop,
    edges,
    first,
    low,
    scale,
    steps,
    values,
    expected,
    odd,
    codes,
    by_attribute,
    places,
    wanted,
):
    """Code wanted columns of a stretch of rows, as the attributes ``places`` says.

    Where a bin is ``expected`` to hold one value, what differs from it is counted in
    ``odd``.
    """
    for begin in range(start, stop, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, stop)
        for j in wanted:
            lowest, wide, most, different = low[j], scale[j], steps[j], 0
            at = places[j]
            for i in range(begin, end):
                number = np.float64(matrix[i, j])
                if number != number:
                    codes[i, at] = by_attribute[at, i] = layout.ABSENT
                    continue
                code = np.int64(first[j, cell_of(number, lowest, wide)])
                for _ in range(most):
                    code += number > edges[j, code]
                codes[i, at] = by_attribute[at, i] = code
                if expected[j]:
                    different += values[j, code] != number
            odd[j] += different
