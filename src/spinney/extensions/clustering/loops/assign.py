"""Each row to its nearest centroid, by bounds that spare most rows.

A row keeps its cluster, an upper bound u of the distance to that centroid, and a lower
bound l of the distances to all others. As centroids move, u rises by what its own one
moved and l falls by the most that any moved (Hamerly 2010). No bound is rewritten for
that: both are kept as they would have been at the start, less or plus all moves since,
which ``moves`` has. A row whose u is below l, or below half of the distance from its
centroid to the next, stays (:func:`sift`). For the others the products of rows and
centroids come from a product of matrices, and :func:`settle` looks for the least of ::

    |x − c|² − |x|² = |c|² − 2 x·c

All bounds are wider than any rounding of theirs, and where two centroids are equally
near but for a rounding, their distances are computed anew in float64, column by column:
so the answer is that of plain loops, the first of the nearest ones.

Sums are whole numbers (``exact_sums``): what leaves a cluster and what comes to it is
subtracted and added exactly, in any order.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import entry, kernel
from spinney.extensions.clustering.loops.lanes import LANES, square, two_least

# Lines of ``moves``, by cluster: what its centroid moved since the start; half of its
# distance to the next; and, all alike, the sum of the most that any moved.
GROWN, HALF, FALLEN = np.arange(3)

# Cells of ``limits``: the error of a squared distance, relative and absolute; the
# relative error of a bound that is kept; the largest norm of a centroid.
ERROR, TINY, KEPT, LONGEST = np.arange(4)


class Assigning(NamedTuple):
    """Rows with their clusters, -1 at first, and bounds; and the centroids.

    ``sizes`` are |x|² of the centred rows; ``norms`` are |c|², filled up to groups of
    lanes; ``scales`` are those of the sums.
    """

    rows: NDArray[Any]
    weights: NDArray[np.float64]
    sizes: NDArray[Any]
    own: NDArray[np.int32]
    upper: NDArray[Any]
    lower: NDArray[Any]
    centroids: NDArray[Any]
    norms: NDArray[Any]
    moves: NDArray[np.float64]
    limits: NDArray[np.float64]
    scales: NDArray[np.float64]


@kernel
def keep_upper(upper, row, reach, moved, limits):
    """Keep an upper bound as it would have been at the start."""
    upper[row] = reach - moved + limits[KEPT] * (reach + moved)


@entry
def sift(task, waiting, span):
    """List the rows that may have to leave their clusters; return how many.

    ``span`` has the first and the last row.
    """
    rows, centroids, moves, limits = task.rows, task.centroids, task.moves, task.limits
    own, upper, lower = task.own, task.upper, task.lower
    n = 0
    for row in range(span[0], span[1]):
        cluster = own[row]
        if cluster >= 0:
            others = np.float64(lower[row]) - moves[FALLEN, cluster]
            others = max(others, moves[HALF, cluster])
            moved = moves[GROWN, cluster]
            if np.float64(upper[row]) + moved < others:
                continue
            near = np.float64(square(rows, row, centroids, np.int64(cluster)))
            reach = np.sqrt(near * (1.0 + limits[ERROR]) + limits[TINY])
            if reach < others:
                keep_upper(upper, row, reach, moved, limits)
                continue
        waiting[n] = row
        n += 1
    return n


@entry
def settle(task, products, waiting, room, span):
    """Send the rows that wait to their nearest centroids; return how many left.

    ``products`` are −2 x·c, a line for each row that waits, filled up to groups of
    lanes. ``room`` is (sums, lanes, groups); ``span`` has the first and the last of the
    rows that wait.
    """
    rows, weights, sizes, scales = task.rows, task.weights, task.sizes, task.scales
    centroids, norms = task.centroids, task.norms
    own, upper, lower = task.own, task.upper, task.lower
    moves, limits = task.moves, task.limits
    sums, lanes, groups = room
    changed = 0
    for turn in range(span[0], span[1]):
        row, line = waiting[turn], turn - span[0]
        two_least(products, np.int64(line), norms, lanes, groups)
        best, second, lane = np.float64(lanes[0, 0]), np.inf, 0
        for other in range(1, LANES):
            value = np.float64(lanes[0, other])
            if value < best:
                second = min(best, second)
                best, lane = value, other
            else:
                second = min(value, second)
        second = min(second, np.float64(lanes[1, lane]))
        nearest = np.int64(groups[lane]) * LANES + lane
        size = np.float64(sizes[row])
        length = np.sqrt(size) + limits[LONGEST]
        error = limits[ERROR] * length * length + limits[TINY]
        # In truth the best is at most best + error, the others at least second − error.
        high, low = best + error, second - error
        if low <= high:
            high, low = high + 2.0 * error, best - error
            most = best + 2.0 * error
            nearest = first_nearest(rows, row, centroids, norms, products, line, most)
        before = np.int64(own[row])
        reach = np.sqrt(max(high + size, 0.0))
        keep_upper(upper, row, reach, moves[GROWN, nearest], limits)
        least = np.sqrt(max(low + size, 0.0))
        fallen = moves[FALLEN, nearest]
        lower[row] = least + fallen - limits[KEPT] * (least + fallen)
        if nearest != before:
            changed += 1
            own[row] = nearest
            weight = weights[row] if weights.size else 1.0
            if before >= 0:
                add_row(rows, row, weight, before, np.int64(-1), scales, sums)
            add_row(rows, row, weight, nearest, np.int64(1), scales, sums)
    return changed


@kernel
def first_nearest(rows, row, centroids, norms, products, line, most):
    """Return the first nearest of the centroids that are not beyond ``most``."""
    best, nearest = np.inf, np.int64(0)
    for cluster in range(centroids.shape[0]):
        if np.float64(products[line, cluster] + norms[cluster]) > most:
            continue
        total = 0.0
        for column in range(rows.shape[1]):
            apart = np.float64(rows[row, column]) - np.float64(
                centroids[cluster, column]
            )
            total += apart * apart
        if total < best:
            best, nearest = total, np.int64(cluster)
    return nearest


@kernel
def add_row(rows, row, weight, cluster, sign, scales, sums):
    """Add a row to the sums of a cluster, or take it off."""
    n_columns = rows.shape[1]
    for column in range(n_columns + 1):
        part = weight
        if column < n_columns:
            part *= np.float64(rows[row, column])
        high = np.rint(part * scales[0, column])
        low = np.rint((part - high * scales[1, column]) * scales[2, column])
        sums[0, cluster, column] += sign * np.int64(high)
        sums[1, cluster, column] += sign * np.int64(low)


@entry
def squared_distances(rows, centroids, labels, out, span):
    """Write each row's squared distance to its centroid, in float64."""
    for row in range(span[0], span[1]):
        total = 0.0
        for column in range(rows.shape[1]):
            apart = np.float64(rows[row, column]) - np.float64(
                centroids[labels[row], column]
            )
            total += apart * apart
        out[row] = total
