"""Powers of two that bring numbers near the limits of floats into a safe range.

Division by a power of two changes no digit and no order of distances, and no square
overflows or vanishes. Large numbers are divided by the smallest sufficient power, so
that the squares of small numbers in the same table keep as many digits as possible.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.errors import DataError, Setting

# The largest exponents that need no scaling, by bytes of a float.
LARGEST = {4: 40, 8: 400}
# Those of initial centroids: squared distances to them are finite.
FARTHEST = {4: 60, 8: 500}
# That of weights, as they are multiplied with squares.
HEAVIEST = 100


def power_for(largest: float, limit: int) -> int:
    """Return the power of two to divide by, given the largest number; 0 if none.

    >>> power_for(3.0, 400), power_for(2.0**500, 400), power_for(2.0**-500, 400)
    (0, 101, -499)
    """
    power = int(np.frexp(largest)[1])
    if power > limit:
        return power - limit
    return power if power < -limit else 0


def scaling_power(*tables: NDArray[Any]) -> int:
    """Return the power of two to divide tables by; 0 if none.

    >>> tables = np.array([[3.0], [1.0]]), np.array([[2.0**500]])
    >>> scaling_power(tables[0]), scaling_power(*tables)
    (0, 101)
    """
    limit = LARGEST.get(tables[0].dtype.itemsize, LARGEST[8])
    return power_for(largest_absolute(*tables), limit)


def row_powers(cells: NDArray[Any], points: NDArray[Any]) -> Integers:
    """Return the power of two to divide each row by, whatever the other rows.

    >>> row_powers(np.array([[3.0], [2.0**500]]), np.array([[1.0]])).tolist()
    [0, 101]
    """
    kind = np.result_type(cells, points)
    limit = LARGEST.get(kind.itemsize, LARGEST[8])
    largest = np.full(len(cells), largest_absolute(points[~np.isnan(points)]))
    np.maximum(largest, np.fmax.reduce(cells, axis=1, initial=0), out=largest)
    np.maximum(largest, -np.fmin.reduce(cells, axis=1, initial=0), out=largest)
    powers = np.frexp(largest)[1].astype(np.int64)
    excess = np.where(powers > limit, powers - limit, 0)
    return np.where(powers < -limit, powers, excess)


def nearest_by_group(
    groups: Integers, nearest: Callable[[Any], tuple[Integers, Floats]]
) -> tuple[Integers, Floats]:
    """Return labels and distances of all rows, computed for each group of rows."""
    kinds = np.unique(groups)
    if len(kinds) <= 1:
        return nearest(slice(None))
    labels, distances = np.zeros(len(groups), np.intp), np.zeros(len(groups))
    for kind in kinds:
        rows = np.flatnonzero(groups == kind)
        labels[rows], distances[rows] = nearest(rows)
    return labels, distances


def scaled(cells: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return cells over a power of two, so that squares are floats, and that power.

    >>> scaled(np.array([[3.0], [1.0]]))[1], scaled(np.array([[1e200], [1.0]]))[1]
    (0, 265)
    """
    power = scaling_power(cells)
    return (np.ldexp(cells, -power) if power else cells), power


def rounding_square(cells: NDArray[Any]) -> float:
    """Return the largest squared distance that rounding alone can cause.

    >>> rounding_square(np.array([[2.0, -1.0]])) == 2 * (32 * 2.0**-52) ** 2
    True
    """
    return float(
        cells.shape[1] * (16 * np.finfo(float).eps * largest_absolute(cells)) ** 2
    )


def scaled_start(start: Any, rows: NDArray[Any], power: int) -> NDArray[Any]:
    """Return the user's centroids over the rows' power of two; refuse distant ones."""
    start = np.asarray(start, dtype=np.float64)
    scaled: NDArray[Any] = np.ldexp(start, -power)
    present = ~np.isnan(start)
    if largest_absolute(scaled[present]) > 2.0 ** FARTHEST[rows.dtype.itemsize]:
        largest = largest_absolute(start[present])
        largest_cell = np.ldexp(largest_absolute(rows[~np.isnan(rows)]), power)
        raise DataError(
            Setting("init"),
            f" contains {largest:g}, and the rows nothing beyond {largest_cell:g}: "
            "squared distances overflow",
            remedy="give centroids nearer to the rows",
        )
    return scaled.astype(rows.dtype)


def scaled_weights(weights: Floats) -> tuple[Floats, int]:
    """Return weights over a power of two, so that products are floats.

    >>> scaled_weights(np.array([1.0, 2.0]))[1]
    0
    >>> scaled_weights(np.array([2.0**-1074, 2.0**-1073]))
    (array([0.25, 0.5 ]), -1072)
    """
    power = power_for(float(weights.max()), HEAVIEST) if len(weights) else 0
    return (np.ldexp(weights, -power) if power else weights), power


def largest_absolute(*tables: NDArray[Any]) -> float:
    """Return the largest absolute number of some tables; 0 if there is none."""
    return max(
        (float(max(cells.max(), -cells.min())) for cells in tables if cells.size),
        default=0.0,
    )
