"""An order of rows that depends on what is in them, not on where they stand.

Where something is drawn (the rows of a forest's tree, the folds of a cross-validation),
it is drawn in this order, so that a table with its rows shuffled gives the same tree,
and a row of weight 2 the same as two rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.counts import Floats, Integers

__all__ = ["MOST_COPIES", "rows_in_order"]

MOST_COPIES = 1_000_000

# The finaliser of MurmurHash3: every bit of a word stirs all others.
_FACTORS = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(33)


def rows_in_order(
    columns: Sequence[NDArray[Any]], weights: Floats | None = None
) -> Integers:
    """Return the places of rows by what is in them; a row of weight k comes k times.

    Rows with equal cells stand together. Where weights are not whole numbers, or
    together more than a million and twice the rows, each row comes once.

    Examples
    --------
    >>> shade, size = np.array([2, 0, 2, 1]), np.array([0.5, np.nan, 0.5, 0.1])
    >>> order = rows_in_order([shade, size])
    >>> (shade[order] == shade[::-1][rows_in_order([shade[::-1], size[::-1]])]).all()
    np.True_
    >>> len(rows_in_order([shade, size], np.array([1.0, 3.0, 1.0, 2.0])))
    7
    """
    n_rows = len(columns[0])
    keys = np.zeros(n_rows, dtype=np.uint64)
    for column in columns:
        keys = _stirred(keys ^ _stirred(_words(column)))
    if weights is None:
        return np.argsort(keys, kind="stable")
    # Of equal rows that differ in weight the order must be one, too.
    order = np.lexsort((weights, keys))
    total = float(weights.sum())
    whole = bool(np.all(weights == np.floor(weights)))
    if whole and total <= max(MOST_COPIES, 2 * n_rows):
        return np.repeat(order, weights[order].astype(np.int64))
    return order


def _words(column: NDArray[Any]) -> NDArray[np.uint64]:
    """Return cells as words: equal where the cells are, missing ones among them."""
    if column.dtype.kind != "f":
        return column.astype(np.int64).view(np.uint64)
    numbers = column.astype(np.float64) + 0.0  # -0.0 is 0.0
    numbers[np.isnan(numbers)] = np.nan  # of the many bit patterns one
    return numbers.view(np.uint64)


def _stirred(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return words whose bits all depend on each other."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    for factor in _FACTORS:
        words = (words ^ (words >> _SHIFT)) * factor
    return np.asarray(words ^ (words >> _SHIFT))
