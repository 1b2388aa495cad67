"""Numbers near the limits of floats: by which power of two they are divided meanwhile.

That changes no digit and no order of distances, and no square overflows or vanishes.
Numbers that are too large are brought to the largest size that needs no scaling, no
further: so the small ones beside them keep as much of their squares as can be.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.errors import DataError, Setting

# The largest number, as a power of two, that needs no scaling; by bytes of a float.
LARGEST = {4: 40, 8: 400}
# The largest centroid to start from: its distances still have squares.
FARTHEST = {4: 60, 8: 500}
# Of weights, as they are multiplied with squares.
HEAVIEST = 100


def power_of(largest: float, limit: int) -> int:
    """Return the power of two to divide by where the largest number is this.

    0 where there is no need.

    >>> power_of(3.0, 400), power_of(2.0**500, 400), power_of(2.0**-500, 400)
    (0, 101, -499)
    """
    power = int(np.frexp(largest)[1])
    if power > limit:
        return power - limit
    return power if power < -limit else 0


def scaling_power(*tables: NDArray[Any]) -> int:
    """Return the power of two to divide tables by; 0 where there is no need.

    >>> tables = np.array([[3.0], [1.0]]), np.array([[2.0**500]])
    >>> scaling_power(tables[0]), scaling_power(*tables)
    (0, 101)
    """
    limit = LARGEST.get(tables[0].dtype.itemsize, LARGEST[8])
    return power_of(largest_of(*tables), limit)


def row_powers(cells: NDArray[Any], points: NDArray[Any]) -> Integers:
    """Return the power of two to divide each row by, and the points beside it.

    No other row counts, so that what is found for a row is the same in any table.

    >>> row_powers(np.array([[3.0], [2.0**500]]), np.array([[1.0]])).tolist()
    [0, 101]
    """
    kind = np.result_type(cells, points)
    limit = LARGEST.get(kind.itemsize, LARGEST[8])
    most = np.full(len(cells), largest_of(points[~np.isnan(points)]))
    np.maximum(most, np.fmax.reduce(cells, axis=1, initial=0), out=most)
    np.maximum(most, -np.fmin.reduce(cells, axis=1, initial=0), out=most)
    powers = np.frexp(most)[1].astype(np.int64)
    beyond = np.where(powers > limit, powers - limit, 0)
    return np.where(powers < -limit, powers, beyond)


def in_groups(
    groups: Integers, nearest: Callable[[Any], tuple[Integers, Floats]]
) -> tuple[Integers, Floats]:
    """Return labels and distances of all rows, found for one group at a time."""
    kinds = np.unique(groups)
    if len(kinds) <= 1:
        return nearest(slice(None))
    labels, distances = np.zeros(len(groups), np.intp), np.zeros(len(groups))
    for kind in kinds:
        rows = np.flatnonzero(groups == kind)
        labels[rows], distances[rows] = nearest(rows)
    return labels, distances


def scaled(cells: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return cells whose squares neither overflow nor vanish, and the power of two.

    Cells of usual size are returned as they are, with the power 0.

    >>> scaled(np.array([[3.0], [1.0]]))[1], scaled(np.array([[1e200], [1.0]]))[1]
    (0, 265)
    """
    power = scaling_power(cells)
    return (np.ldexp(cells, -power) if power else cells), power


def rounding_square(cells: NDArray[Any]) -> float:
    """Return the largest squared distance that rounding alone could have made.

    >>> rounding_square(np.array([[2.0, -1.0]])) == 2 * (32 * 2.0**-52) ** 2
    True
    """
    return float(cells.shape[1] * (16 * np.finfo(float).eps * largest_of(cells)) ** 2)


def scaled_start(start: Any, rows: NDArray[Any], power: int) -> NDArray[Any]:
    """Return given centroids over a power of two, as the rows are.

    Those whose distances to the rows have no squares are refused.
    """
    given = np.asarray(start, dtype=np.float64)
    scaled: NDArray[Any] = np.ldexp(given, -power)
    known = ~np.isnan(given)
    if largest_of(scaled[known]) > 2.0 ** FARTHEST[rows.dtype.itemsize]:
        largest, most = largest_of(given[known]), largest_of(rows[~np.isnan(rows)])
        raise DataError(
            Setting("init"),
            f" holds {largest:g}, and the rows nothing beyond "
            f"{np.ldexp(most, power):g}",
            remedy="squares of such distances overflow; give centroids that are nearer "
            "to the rows",
        )
    return scaled.astype(rows.dtype)


def scaled_weights(weights: Floats) -> tuple[Floats, int]:
    """Return weights whose products neither overflow nor vanish, and their power.

    >>> scaled_weights(np.array([1.0, 2.0]))[1]
    0
    >>> scaled_weights(np.array([2.0**-1074, 2.0**-1073]))
    (array([0.25, 0.5 ]), -1072)
    """
    power = power_of(float(weights.max()), HEAVIEST) if len(weights) else 0
    return (np.ldexp(weights, -power) if power else weights), power


def largest_of(*tables: NDArray[Any]) -> float:
    """Return the largest number of some tables but for its sign; 0 if there is none."""
    return max(
        (float(max(cells.max(), -cells.min())) for cells in tables if cells.size),
        default=0.0,
    )
