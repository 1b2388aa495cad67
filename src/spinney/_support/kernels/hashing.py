"""One word for each of many columns, or rows, in one pass over a matrix.

The words are defined in ``spinney._support.column_hash`` and
``spinney._support.row_order``.
"""

import numpy as np

from spinney._support.jit.compile import entry, kernel

FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)
ONE, TWO = np.uint64(1), np.uint64(2)
ROWS_AT_ONCE = 2048  # a block of them stays in the cache, column by column

MISSING_WORD = np.float64(np.nan).view(np.uint64)
FIRST, SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
HALF = np.uint64(33)


@entry
def hash_columns(matrix, start, stop, hashes):
    """Add a range of rows to the hashes of the columns."""
    for begin in range(start, stop, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, stop)
        for j in range(matrix.shape[1]):
            total = hashes[j]
            for i in range(begin, end):
                word = np.float64(matrix[i, j]).view(np.uint64) * FACTOR
                total += (word ^ (word >> SHIFT)) * (TWO * np.uint64(i) + ONE)
            hashes[j] = total


@entry
def hash_rows(matrix, start, stop, keys):
    """Mix the columns into the keys of a range of rows."""
    for begin in range(start, stop, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, stop)
        for j in range(matrix.shape[1]):
            for i in range(begin, end):
                keys[i] = mixed(keys[i] ^ mixed(word_of(matrix[i, j])))


@kernel
def word_of(cell):
    """Return the bits of a number, with one pattern for missing, and one for 0."""
    if cell != cell:
        return MISSING_WORD
    return np.float64(cell + 0.0).view(np.uint64)


@kernel
def mixed(word):
    """Return a word with thoroughly mixed bits."""
    word += FACTOR
    word = (word ^ (word >> HALF)) * FIRST
    word = (word ^ (word >> HALF)) * SECOND
    return word ^ (word >> HALF)
