"""k-means++: the gain of each candidate, and the choice of one.

``near`` is each row's squared distance to the nearest centroid so far. A product of
matrices yields the distances to the candidates up to rounding. Those that may be less
than ``near`` are recomputed as NumPy does: even columns plus odd ones. ``better`` has a
bit for each candidate nearer to a row than ``near``: only those rows are updated when a
candidate is chosen.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import entry
from spinney.extensions.clustering.kernels.assign import (
    ABSOLUTE_ERROR,
    LARGEST_NORM,
    RELATIVE_ERROR,
    short_squared_distance,
)


class SeedingTask(NamedTuple):
    """The rows, their distances so far, and the candidate rows.

    ``sizes`` are |x|² of the centred rows; ``limits`` are those of ``assign``.
    """

    rows: NDArray[Any]
    weights: NDArray[np.float64]
    sizes: NDArray[Any]
    near: NDArray[Any]
    better: NDArray[np.uint32]
    candidates: NDArray[np.int64]
    limits: NDArray[np.float64]


@entry
def add_gains(seeding, products, norms, workspace, gains, span):
    """Add up the decrease of squared distances by each candidate over a range of rows.

    ``products`` are −2 x·y with a column for each row, ``norms`` |y|²; ``workspace`` is
    (thresholds, pending), arrays for all rows.
    """
    rows, weights, sizes = seeding.rows, seeding.weights, seeding.sizes
    near, better, candidates = seeding.near, seeding.better, seeding.candidates
    limits, first = seeding.limits, span[0]
    thresholds, pending = workspace
    # (|x| + |y|)² is at most 2 |x|² + 2 |y|².
    error = 2.0 * limits[RELATIVE_ERROR]
    max_error = error * limits[LARGEST_NORM] ** 2 + limits[ABSOLUTE_ERROR]
    for row in range(first, span[1]):
        size = np.float64(sizes[row])
        reach = np.float64(near[row]) * (1.0 + error) + error * size + max_error
        thresholds[row - first] = reach - size
        better[row] = 0
    for index in range(candidates.size):
        norm, gain, bit = norms[index], gains[index], np.uint32(1) << np.uint32(index)
        n = 0
        for row in range(first, span[1]):  # without an unpredictable branch
            pending[n] = row
            is_below = products[index, row - first] + norm <= thresholds[row - first]
            n += np.int64(is_below)
        for position in range(n):
            row = pending[position]
            squared_distance = short_squared_distance(
                rows, row, rows, candidates[index]
            )
            if squared_distance < near[row]:
                weight = weights[row] if weights.size else 1.0
                gain += np.float64(near[row] - squared_distance) * weight
                better[row] |= bit
        gains[index] = gain


@entry
def choose_candidate(seeding, bins, totals, span):
    """Choose candidate ``span[3]``, and sum squared distances by block and bin.

    ``span`` begins with the size of a block, and the first and last block.
    """
    rows, weights = seeding.rows, seeding.weights
    near, better = seeding.near, seeding.better
    n, size = rows.shape[0], span[0]
    candidate, bit = seeding.candidates[span[3]], np.uint32(span[3])
    for block in range(span[1], span[2]):
        totals[block] = 0.0
        for row in range(block * size, min(n, (block + 1) * size)):
            if (better[row] >> bit) & np.uint32(1):
                near[row] = short_squared_distance(rows, row, rows, candidate)
            weight = weights[row] if weights.size else 1.0
            totals[block, bins[row]] += weight * np.float64(near[row])
