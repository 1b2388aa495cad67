"""What tells one column of numbers from another: a word for each.

With bᵢ the bits of number i, and all arithmetic modulo 2⁶⁴, the word of a column is

    Σ (2i + 1) · m(bᵢ),   m(b) = w ⊕ (w ≫ 29),  w = K b

so the order of the rows counts, and so does every bit.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.threads import in_threads

__all__ = ["MANY_CELLS", "mark_of", "marks_of", "matrix_behind"]

FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)
MANY_CELLS = 2_000_000  # worth a compiled loop


def marks_of(columns: Sequence[NDArray[Any]]) -> list[int]:
    """Return the words of columns; those of many cells by a compiled loop."""
    matrix = matrix_behind(columns)
    if matrix is None or matrix.size < MANY_CELLS:
        return [mark_of(column) for column in columns]
    from spinney.kernels.marking import mark_rows

    def marked(start: int, stop: int) -> NDArray[np.uint64]:
        marks = np.zeros(len(columns), np.uint64)
        mark_rows(matrix, start, stop, marks)
        return marks

    parts = np.array(in_threads(marked, len(matrix)))
    return [int(mark) for mark in np.asarray(parts.sum(axis=0, dtype=np.uint64))]


def mark_of(column: NDArray[Any]) -> int:
    """Return the word of a column.

    >>> mark_of(np.array([0.0, 1.0])) == mark_of(np.array([1.0, 0.0]))
    False
    """
    words = np.ascontiguousarray(column, dtype="<f8").view("<u8") * FACTOR
    words ^= words >> SHIFT
    words *= np.arange(1, 2 * len(words) + 1, 2, dtype=np.uint64)
    return int(words.sum(dtype=np.uint64))


def matrix_behind(columns: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """Return the matrix of floats that columns are all views of, in order, if any.

    Its rows are side by side. It is not to be written to, though it does not say so:
    to the compiler, arrays that do are of another type, and loops would be translated
    again for them.
    """
    first = columns[0] if len(columns) else None
    if first is None or first.dtype not in (np.float32, np.float64):
        return None
    size, start = first.dtype.itemsize, first.ctypes.data
    for place, column in enumerate(columns):
        if column is None or column.base is None or column.base is not first.base:
            return None
        if column.dtype != first.dtype or column.shape != first.shape:
            return None
        if column.strides != (len(columns) * size,):
            return None
        if column.ctypes.data != start + place * size:
            return None
    return np.asarray(_Matrix(first, (len(first), len(columns)), start))


class _Matrix:
    """Memory that belongs to another array, for NumPy to take as a matrix."""

    def __init__(self, owner: NDArray[Any], shape: tuple[int, int], start: int) -> None:
        self.owner = owner  # for as long as the matrix lives
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": owner.dtype.str,
            "data": (start, False),
        }
