"""The words of many columns in one pass, as ``spinney.marks`` says what they are."""

import numpy as np

from spinney.kernels.compiled import entry

__all__ = ["mark_rows"]

FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)
ONE, TWO = np.uint64(1), np.uint64(2)
ROWS_AT_ONCE = 2048  # a block of them stays in the cache, column by column


@entry
def mark_rows(matrix, marks):
    """Add the words of the columns of a matrix."""
    n_rows, n_columns = matrix.shape
    for begin in range(0, n_rows, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, n_rows)
        for j in range(n_columns):
            total = marks[j]
            for i in range(begin, end):
                word = np.float64(matrix[i, j]).view(np.uint64) * FACTOR
                total += (word ^ (word >> SHIFT)) * (TWO * np.uint64(i) + ONE)
            marks[j] = total
