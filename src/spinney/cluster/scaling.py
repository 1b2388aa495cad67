"""The power of two that cells are divided by, so that no square overflows or vanishes.

That changes no digit and no order of distances.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["power_of"]

# The power of two, either way, beyond which cells are scaled; by bytes of a cell.
LARGEST = {4: 40, 8: 400}


def power_of(*tables: NDArray[Any]) -> int:
    """Return the power of two to divide tables by; 0 where there is no need.

    >>> power_of(np.array([[3.0], [1.0]])), power_of(np.array([[1e200], [1.0]]))
    (0, 665)
    """
    most = max(
        (float(max(cells.max(), -cells.min())) for cells in tables if cells.size),
        default=0.0,
    )
    power = int(np.frexp(most)[1])
    return power if abs(power) > LARGEST[tables[0].dtype.itemsize] else 0
