"""Types of arrays, and runs of numbers."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


Integers = NDArray[np.int64]


def ramps(counts: Integers) -> Integers:
    """Return 0, 1, 2 … up to each of the counts, one after the other.

    >>> ramps(np.array([2, 0, 3]))
    array([0, 1, 0, 1, 2])
    """
    return np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
