"""The numbers of cells, in the precision that they came in.

A table of float32 is not copied to be one of float64, and loops are compiled once for
both: one of two matrices has the cells, and the other has no rows.
"""

import numpy as np

from spinney._support.jit.compile import kernel, prefetch


@kernel
def is_single(cells):
    """Return whether the numbers came in single precision."""
    return len(cells.singles) > 0


@kernel
def number_at(cells, row, column):
    """Return the number of a cell; NaN where it is missing."""
    if is_single(cells):
        return np.float64(cells.singles[row, column])
    return cells.doubles[row, column]


@kernel
def ask_ahead(cells, row, column):
    """Let the memory bring a cell that will be read soon."""
    if is_single(cells):
        prefetch(cells.singles, row, column)
    else:
        prefetch(cells.doubles, row, column)
