"""What k-means++ asks of all rows: what each candidate would gain, and taking one.

``near`` is each row's squared distance to the nearest centroid so far, ``owner`` that
centroid. Let D be the distance of a row to its owner, and y a candidate. By the
triangle inequality the row stays where it is if y is at least 2 D from the owner; so
``gap``, for each centroid a quarter of its least squared distance to the candidates,
less a rounding, spares many rows. What is spared would have gained nothing, and nothing
is added. ``better`` keeps which candidates are nearer to a row than its owner, a bit
each: only those rows are looked at when one is taken.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import entry
from spinney.extensions.clustering.loops.lanes import LANES, gain, squares


class Seeding(NamedTuple):
    """The rows, how near they are so far, and the candidates in groups of lanes."""

    rows: NDArray[Any]
    weights: NDArray[np.float64]
    near: NDArray[Any]
    owner: NDArray[np.int32]
    better: NDArray[np.uint8]
    points: NDArray[Any]


@entry
def gains_of(seeding, gap, lanes, gains, span):
    """Add up, block by block, what each point would take off the squared distances.

    ``gains`` has one line per block and group of points; ``span`` is the number of rows
    in a block, and the first and last block to do.
    """
    rows, points, weights = seeding.rows, seeding.points, seeding.weights
    near, owner, better = seeding.near, seeding.owner, seeding.better
    n, groups, size = rows.shape[0], points.shape[0], span[0]
    for block in range(span[1], span[2]):
        for row in range(block * size, min(n, (block + 1) * size)):
            before = near[row]
            spared = before <= gap[owner[row]]
            weight = weights[row] if weights.size else 1.0
            for group in range(groups):
                better[group, row] = 0
                if spared:
                    continue
                if squares(rows, row, points, group, lanes) < before:
                    better[group, row] = gain(
                        before, weight, lanes, gains, block * groups + group
                    )


@entry
def take(seeding, bins, lanes, totals, span):
    """Take candidate number ``span[3]`` in, as centroid number ``span[4]``.

    ``totals`` gets the weighted sums of the squared distances by block and bin.
    """
    rows, points, weights = seeding.rows, seeding.points, seeding.weights
    near, owner, better = seeding.near, seeding.owner, seeding.better
    n, size = rows.shape[0], span[0]
    group, lane = span[3] // LANES, span[3] % LANES
    for block in range(span[1], span[2]):
        totals[block] = 0.0
        for row in range(block * size, min(n, (block + 1) * size)):
            if (better[group, row] >> lane) & 1:
                squares(rows, row, points, group, lanes)
                near[row] = lanes[0, lane]
                owner[row] = span[4]
            weight = weights[row] if weights.size else 1.0
            totals[block, bins[row]] += weight * np.float64(near[row])
