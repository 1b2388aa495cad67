"""Loops that take eight numbers with one instruction.

The compiler does not find such instructions by itself in loops over rows that are
skipped, so they are written out here; without a compiler NumPy does the same.

Points stand in *groups* of eight *lanes*: ``points[group, column, lane]``, so that the
numbers of a column lie side by side. :func:`squares` adds up the even columns and the
odd ones, and the two sums: the same bits everywhere. :func:`square`, of one point, adds
the columns in an order of its own, and may round once where that would round twice.
"""

from functools import partial
from typing import Any

import numpy as np

from spinney._support.jit.compile import instruction

LANES = 8


def _plain_squares(rows: Any, row: int, points: Any, group: int, lanes: Any) -> Any:
    """Write the squared distances of a row to a group; return the least."""
    apart = rows[row][:, None] - points[group]
    sums = np.zeros((2, LANES), rows.dtype)
    for column, squared in enumerate(apart * apart):
        sums[column % 2] += squared
    lanes[0] = sums[0] + sums[1]
    return lanes[0].min()


def _plain_square(rows: Any, row: int, points: Any, point: int) -> Any:
    """Return the squared distance of a row to a point."""
    apart = rows[row] - points[point]
    return apart @ apart


def _plain_gain(before: Any, weight: float, lanes: Any, gains: Any, line: int) -> int:
    """Add to each lane what its point takes off a squared distance, times a weight.

    Return which lanes take something off, a bit each.
    """
    off = before - lanes[0]
    gains[line] += np.where(off > 0, off, 0).astype(np.float64) * weight
    return int(np.packbits(off > 0, bitorder="little")[0])


def _plain_two_least(
    products: Any, line: int, norms: Any, lanes: Any, groups: Any
) -> None:
    """Write the two least sums of each lane, and the group of the least."""
    values = (products[line] + norms).reshape(-1, LANES)
    order = np.argsort(values, axis=0, kind="stable")
    lanes[0] = np.take_along_axis(values, order[:1], axis=0)[0]
    lanes[1] = np.inf
    if len(values) > 1:
        lanes[1] = np.take_along_axis(values, order[1:2], axis=0)[0]
    groups[:] = order[0]


_written = partial(instruction, "spinney.extensions.clustering.loops.lane_instructions")
squares = _written("squares", _plain_squares)
square = _written("square", _plain_square)
gain = _written("gain", _plain_gain)
two_least = _written("two_least", _plain_two_least)
