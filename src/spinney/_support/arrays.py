"""Array types, runs of numbers, ranks, and sums over short axes."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


Integers = NDArray[np.int64]

Numbers = TypeVar("Numbers", Floats, Integers)

SHORT = 32


def ramps(counts: Integers) -> Integers:
    """Return 0, 1, 2 … up to each of the counts, one after the other.

    >>> ramps(np.array([2, 0, 3]))
    array([0, 1, 0, 1, 2])
    """
    return np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)


def distinct(numbers: Floats) -> tuple[Floats, Integers]:
    """Return the different numbers in their order, and the place of each among them.

    Flags, of which there are two, need no sorting. None is NaN, and 0 has one sign.

    >>> distinct(np.array([7.0, 2.0, 7.0]))
    (array([2., 7.]), array([1, 0, 1]))
    """
    if len(numbers):
        low, high = numbers.min(), numbers.max()
        highest = numbers == high
        if low < high and np.all(highest | (numbers == low)):
            return np.array([low, high]), highest.astype(np.int64)
    values, places = np.unique(numbers, return_inverse=True)
    return values, places


def sums_over(values: Numbers, axis: int) -> Numbers:
    """Return the sums along an axis from the end; of a short one, slice by slice.

    NumPy's own sum walks along the axis for every result, which is ten times as long
    where the axis holds two classes or two branches.

    >>> sums_over(np.array([[1.0, 2.0], [3.0, 4.0]]), -1)
    array([3., 7.])
    """
    return _along(np.add, values, axis)


def maxima_over(values: Numbers, axis: int) -> Numbers:
    """Return the maxima along an axis from the end; of a short one, slice by slice."""
    return _along(np.maximum, values, axis)


def _along(operation: np.ufunc, values: Numbers, axis: int) -> Numbers:
    length = values.shape[axis]
    if not 0 < length <= SHORT or values.ndim == 1:
        return np.asarray(operation.reduce(values, axis=axis))
    slices = values if axis == -1 else values.swapaxes(-1, axis)
    result = slices[..., 0]
    for at in range(1, length):
        result = operation(result, slices[..., at])
    return np.asarray(result)
