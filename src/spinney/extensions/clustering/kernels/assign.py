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

# Lines of ``moves``, by cluster: what its centroid moved since the start; half of its
# distance to the next; and, all alike, the sum of the most that any moved.
GROWN, HALF, FALLEN = np.arange(3)

# Cells of ``limits``: the error of a squared distance, relative and absolute; the
# relative error of a bound that is kept; the largest norm of a centroid.
ERROR, TINY, KEPT, LONGEST = np.arange(4)


class Assigning(NamedTuple):
    """Rows with their clusters, -1 at first, and bounds; and the centroids.

    ``sizes`` are |x|² of the centred rows, ``norms`` |c|²; ``scales`` are those of the
    sums.
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
def square(rows, row, points, point):
    """Return the squared distance of a row to a point, in float64."""
    total = 0.0
    for column in range(rows.shape[1]):
        apart = np.float64(rows[row, column]) - np.float64(points[point, column])
        total += apart * apart
    return total


@kernel
def short_square(rows, row, points, point):
    """Return that in the precision of the rows: even columns, odd ones, their sum."""
    width = rows.shape[1]
    apart = rows[row, 0] - points[point, 0]
    even = apart * apart
    odd = even - even
    for column in range(1, width - 1, 2):
        apart = rows[row, column] - points[point, column]
        odd += apart * apart
        apart = rows[row, column + 1] - points[point, column + 1]
        even += apart * apart
    if width % 2 == 0:
        apart = rows[row, width - 1] - points[point, width - 1]
        odd += apart * apart
    return even + odd


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
            near = np.float64(short_square(rows, row, centroids, cluster))
            reach = np.sqrt(near * (1.0 + limits[ERROR]) + limits[TINY])
            if reach < others:
                keep_upper(upper, row, reach, moved, limits)
                continue
        waiting[n] = row
        n += 1
    return n


@kernel
def two_least(products, norms, best, second, nearest):
    """Write the two least sums of each row, and the cluster of the least.

    Rows lie side by side, so that one instruction takes several of them.
    """
    n = products.shape[1]
    for line in range(n):
        best[line] = np.inf
        second[line] = np.inf
        nearest[line] = 0
    for cluster in range(products.shape[0]):
        norm = norms[cluster]
        for line in range(n):
            value, least = products[cluster, line] + norm, best[line]
            below = value < least
            worse = least if below else value
            second[line] = worse if worse < second[line] else second[line]
            best[line] = value if below else least
            nearest[line] = cluster if below else nearest[line]


@entry
def settle(task, products, waiting, room, span):
    """Send the rows that wait to their nearest centroids; return how many left.

    ``products`` are −2 x·c, a column for each row that waits. ``room`` is (sums, best,
    second, nearest): what the clusters gain, and what :func:`two_least` writes;
    ``span`` has the first and the last of the rows that wait.
    """
    rows, weights, sizes, scales = task.rows, task.weights, task.sizes, task.scales
    centroids, norms = task.centroids, task.norms
    own, upper, lower = task.own, task.upper, task.lower
    moves, limits = task.moves, task.limits
    sums, firsts, seconds, clusters = room
    two_least(products, norms, firsts, seconds, clusters)
    changed = 0
    for turn in range(span[0], span[1]):
        row, line = waiting[turn], turn - span[0]
        best, second = np.float64(firsts[line]), np.float64(seconds[line])
        nearest = np.int64(clusters[line])
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
        if np.float64(products[cluster, line] + norms[cluster]) > most:
            continue
        near = square(rows, row, centroids, cluster)
        if near < best:
            best, nearest = near, np.int64(cluster)
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
        out[row] = square(rows, row, centroids, labels[row])
