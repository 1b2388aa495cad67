"""Hashes of columns of numbers, a word for each.

With bᵢ the bits of number i, and all arithmetic modulo 2⁶⁴, the word of a column is

    Σ (2i + 1) · m(bᵢ),   m(b) = w ⊕ (w ≫ 29),  w = K b

so the hash depends on the order of the rows and on every bit.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.loading_time import wants_kernels
from spinney._support.matrix_view import matrix_behind
from spinney._support.threads import in_threads

FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


def column_hashes(columns: Sequence[NDArray[Any]]) -> list[int]:
    """Return the hash of each column; large columns use a compiled kernel."""
    matrix = matrix_behind(columns)
    if matrix is None or not wants_kernels("hash", matrix.size):
        return [column_hash(column) for column in columns]
    from spinney._support.kernels.hashing import hash_columns

    def marked(start: int, stop: int) -> NDArray[np.uint64]:
        marks = np.zeros(len(columns), np.uint64)
        hash_columns(matrix, start, stop, marks)
        return marks

    parts = np.array(in_threads(marked, len(matrix)))
    return [int(mark) for mark in np.asarray(parts.sum(axis=0, dtype=np.uint64))]


def column_hash(column: NDArray[Any]) -> int:
    """Return the word of a column.

    >>> column_hash(np.array([0.0, 1.0])) == column_hash(np.array([1.0, 0.0]))
    False
    """
    words = np.ascontiguousarray(column, dtype="<f8").view("<u8") * FACTOR
    words ^= words >> SHIFT
    words *= np.arange(1, 2 * len(words) + 1, 2, dtype=np.uint64)
    return int(words.sum(dtype=np.uint64))
