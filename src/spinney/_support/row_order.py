"""An order of rows that depends on their contents, not on their positions.

Random choices (the rows of a forest's tree, the folds of a cross-validation) are made
in this order. So shuffling the rows has no effect, and a row of weight 2 equals two
rows. Numbers count by their ranks, so the unit has no effect.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.jit.loading_time import wants_kernels
from spinney._support.matrix_view import matrix_behind
from spinney._support.threads import in_threads

MAX_COPIES = 20_000

# The finaliser of MurmurHash3: every bit of a word stirs all others.
_FACTORS = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(33)


@dataclass(frozen=True, slots=True)
class Copies:
    """The rows in order, each repeated by its weight.

    Parameters
    ----------
    places : array of int
        The row of each copy; copies of equal rows are adjacent.
    weight : float, optional
        The weight of each copy; None if every row comes once with its own weight.
    twins : array of int
        For each row, the row that shares its copies: the first of equal rows if a copy
        weighs more than 1, else the row itself.
    """

    places: Integers
    weight: float | None
    twins: Integers


def row_copies(
    columns: Sequence[NDArray[Any]],
    weights: Floats | None = None,
    *,
    ranked: bool = True,
) -> Copies:
    """Return the rows by what is in them; a row of weight k comes k times.

    Numbers count by their ranks or, which is faster, by what they are.

    Beyond ``MAX_COPIES`` a copy stands for as many rows as it takes to have no more,
    as far as the weights of different rows have a common divisor. Where weights are
    not whole numbers, or there would still be more copies than that and than four a
    row, each row comes once.

    >>> shade, size = np.array([2, 0, 2, 1]), np.array([0.5, np.nan, 0.5, 0.1])
    >>> order = row_copies([shade, size]).places
    >>> turned = row_copies([shade[::-1], size[::-1]]).places
    >>> (shade[order] == shade[::-1][turned]).all()
    np.True_
    >>> len(row_copies([shade, size], np.array([1.0, 3.0, 1.0, 2.0])).places)
    7
    >>> few = row_copies([shade, size], np.array([1e6, 3e6, 1e6, 2e6]))
    >>> len(few.places), few.weight
    (17500, 400.0)
    """
    n_rows = len(columns[0])
    # The last column is that of the target.
    matrix = None if ranked else matrix_behind(columns[:-1])
    keys = _keys(columns, matrix, ranked=ranked)
    positions = np.arange(n_rows)
    row_weights = np.ones(n_rows) if weights is None else weights
    order = _by_key(keys, weights)
    total = float(row_weights.sum())
    is_whole = total < 2**53 and bool(np.all(row_weights == np.floor(row_weights)))
    if is_whole:
        repeats = row_weights[order].astype(np.int64)
        if total <= MAX_COPIES:
            return Copies(np.repeat(order, repeats), 1.0, positions)
        starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]))
        merged = np.add.reduceat(repeats, starts)
        unit = _unit(int(np.gcd.reduce(merged)), int(total))
        if unit == 1 and total <= 4 * n_rows:
            return Copies(np.repeat(order, repeats), 1.0, positions)
        if total / unit <= max(MAX_COPIES, 4 * n_rows):
            sizes = np.diff(starts, append=n_rows)
            twins = np.empty_like(positions)
            twins[order] = np.repeat(order[starts], sizes)
            return Copies(np.repeat(order[starts], merged // unit), float(unit), twins)
    return Copies(order, None, positions)


def order_of(
    columns: Sequence[NDArray[Any]], weights: Floats | None = None
) -> Integers:
    """Return the rows by what is in them, each of them once.

    >>> shade = np.array([2, 0, 2, 1])
    >>> (shade[order_of([shade])] == shade[::-1][order_of([shade[::-1]])]).all()
    np.True_
    """
    return _by_key(_keys(columns, None, ranked=True), weights)


def row_keys(columns: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    """Return a word for each row: one for all equal rows, whatever their order.

    >>> shade = np.array([2, 0, 2])
    >>> [int((row_keys([shade]) == key).sum()) for key in row_keys([shade])]
    [2, 1, 2]
    """
    return _keys(columns, None, ranked=True)


def _by_key(keys: NDArray[np.uint64], weights: Floats | None) -> Integers:
    # Of equal rows that differ in weight the order must be one, too.
    if weights is None:
        return np.argsort(keys)
    return np.lexsort((weights, keys))


def _unit(divisor: int, total: int) -> int:
    """Return the least divisor of a divisor that leaves few copies of a total.

    >>> _unit(6000, 24_000), _unit(7, 70_000), _unit(1, 30_000)
    (2, 7, 1)
    """
    parts = np.arange(1, max(1, divisor * MAX_COPIES // total) + 1)
    return divisor // int(parts[divisor % parts == 0].max())


def keys_of(cells: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a word for each row of a matrix of numbers: one for all equal rows.

    >>> keys = keys_of(np.array([[0.5, 0.0], [1.0, 2.0], [0.5, -0.0]]))
    >>> keys[0] == keys[2] != keys[1]
    np.True_
    """
    return _keys(list(cells.T), cells, ranked=False)


def _keys(
    columns: Sequence[NDArray[Any]], matrix: NDArray[Any] | None, *, ranked: bool
) -> NDArray[np.uint64]:
    """Return a word for each row, mixed from its columns one after the other.

    ``matrix`` has the first of the columns; a large matrix uses a compiled kernel.
    """
    keys = np.zeros(len(columns[0]) if matrix is None else len(matrix), np.uint64)
    if matrix is not None and wants_kernels("hash", matrix.size):
        from spinney._support.kernels.hashing import hash_rows

        def mix_range(start: int, stop: int) -> None:
            hash_rows(matrix, start, stop, keys)

        in_threads(mix_range, len(matrix))
        columns = columns[matrix.shape[1] :]
    for column in columns:
        keys = _mixed(keys ^ _mixed(_cell_words(column, ranked=ranked)))
    return keys


def _cell_words(column: NDArray[Any], *, ranked: bool) -> NDArray[np.uint64]:
    """Return cells as words: codes, or ranks of numbers, with one word for missing."""
    if column.dtype.kind == "f":
        if not ranked:
            numbers = np.asarray(column, dtype=np.float64) + 0.0  # -0.0 is 0.0
            numbers[np.isnan(numbers)] = np.nan
            return numbers.view(np.uint64)
        column = np.unique(column, return_inverse=True)[1]
    return column.astype(np.int64).view(np.uint64)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return words with thoroughly mixed bits."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    for factor in _FACTORS:
        words = (words ^ (words >> _SHIFT)) * factor
    return np.asarray(words ^ (words >> _SHIFT))
