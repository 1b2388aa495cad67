"""The matrix behind columns that are views of it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def matrix_behind(columns: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """Return the float matrix whose columns these are, in order, or None.

    Its rows are contiguous. It must not be written to, although it is not marked
    read-only: read-only arrays would be another type to the compiler.
    """
    first = columns[0] if len(columns) else None
    if first is None or first.dtype not in (np.float32, np.float64):
        return None
    size, start = first.dtype.itemsize, first.ctypes.data
    for index, column in enumerate(columns):
        if column is None or column.base is None or column.base is not first.base:
            return None
        if column.dtype != first.dtype or column.shape != first.shape:
            return None
        if column.strides != (len(columns) * size,):
            return None
        if column.ctypes.data != start + index * size:
            return None
    return np.asarray(_Matrix(first, (len(first), len(columns)), start))


class _Matrix:
    """Memory of another array, for NumPy to use as a matrix."""

    def __init__(self, owner: NDArray[Any], shape: tuple[int, int], start: int) -> None:
        self.owner = owner  # for as long as the matrix lives
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": owner.dtype.str,
            "data": (start, False),
        }
