"""The nearest centroid of each row, by bounds that skip most rows.

A row has its cluster, an upper bound u of the distance to that centroid, and a lower
bound l of the distances to all others. As centroids move, u rises by the move of its
own centroid and l falls by the largest move (Hamerly 2010). Stored bounds are relative
to the initial centroids: ``moves`` has the sums of moves since. A row stays if u is
below l, or below half of the distance from its centroid to the next
(:func:`list_waiting`). For the other rows a product of matrices yields x·c, and
:func:`assign_waiting` finds the least ::

    |x − c|² − |x|² = |c|² − 2 x·c

All bounds are wider than their rounding errors. If the distances to two centroids
differ only by rounding, they are recomputed in float64, column by column. So the result
is that of plain loops: the first nearest centroid.

Sums are whole numbers (``exact_sums``), so that rows are added to and subtracted from
clusters exactly, in any order.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import entry, kernel

# Lines of ``moves``, by cluster: the sum of its centroid's moves; half of its distance
# to the nearest other centroid; the sum of the largest moves.
CENTROID_MOVES, HALF_DISTANCE, LARGEST_MOVES = np.arange(3)

# Cells of ``limits``: the relative and absolute error of a squared distance; the
# relative error of a stored bound; the largest norm of a centroid.
RELATIVE_ERROR, ABSOLUTE_ERROR, STORED_ERROR, LARGEST_NORM = np.arange(4)


class AssignmentTask(NamedTuple):
    """Rows with their clusters (initially -1) and bounds, and the centroids.

    ``sizes`` are |x|² of the centred rows, ``norms`` |c|²; ``scales`` are those of the
    sums.
    """

    rows: NDArray[Any]
    weights: NDArray[np.float64]
    sizes: NDArray[Any]
    labels: NDArray[np.int32]
    upper: NDArray[Any]
    lower: NDArray[Any]
    centroids: NDArray[Any]
    norms: NDArray[Any]
    moves: NDArray[np.float64]
    limits: NDArray[np.float64]
    scales: NDArray[np.float64]


@kernel
def squared_distance(rows, row, points, point):
    """Return the squared distance of a row to a point, in float64."""
    total = 0.0
    for column in range(rows.shape[1]):
        difference = np.float64(rows[row, column]) - np.float64(points[point, column])
        total += difference * difference
    return total


@kernel
def short_squared_distance(rows, row, points, point):
    """Return the square in the precision of the rows: even columns plus odd ones."""
    width = rows.shape[1]
    difference = rows[row, 0] - points[point, 0]
    even = difference * difference
    odd = even - even
    for column in range(1, width - 1, 2):
        difference = rows[row, column] - points[point, column]
        odd += difference * difference
        difference = rows[row, column + 1] - points[point, column + 1]
        even += difference * difference
    if width % 2 == 0:
        difference = rows[row, width - 1] - points[point, width - 1]
        odd += difference * difference
    return even + odd


@kernel
def store_upper(upper, row, reach, moved, limits):
    """Store an upper bound relative to the initial centroids."""
    upper[row] = reach - moved + limits[STORED_ERROR] * (reach + moved)


@entry
def list_waiting(task, pending, span):
    """List the rows of a range that may change cluster; return how many."""
    rows, centroids, moves, limits = task.rows, task.centroids, task.moves, task.limits
    labels, upper, lower = task.labels, task.upper, task.lower
    n = 0
    for row in range(span[0], span[1]):
        cluster = labels[row]
        if cluster >= 0:
            bound = np.float64(lower[row]) - moves[LARGEST_MOVES, cluster]
            bound = max(bound, moves[HALF_DISTANCE, cluster])
            moved = moves[CENTROID_MOVES, cluster]
            if np.float64(upper[row]) + moved < bound:
                continue
            near = np.float64(short_squared_distance(rows, row, centroids, cluster))
            near *= 1.0 + limits[RELATIVE_ERROR]
            reach = np.sqrt(near + limits[ABSOLUTE_ERROR])
            if reach < bound:
                store_upper(upper, row, reach, moved, limits)
                continue
        pending[n] = row
        n += 1
    return n


@kernel
def two_least_distances(products, norms, best, second, nearest):
    """Write the two least sums of each row, and the cluster of the least.

    The inner loop is over rows, so that it vectorises.
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
def assign_waiting(task, products, pending, workspace, span):
    """Assign waiting rows to their nearest centroids; return how many changed.

    ``products`` are −2 x·c with a column for each row of the range ``span``. The
    workspace is (sums, best, second, nearest): the changes of sums, and the results of
    :func:`two_least_distances`.
    """
    rows, weights, sizes, scales = task.rows, task.weights, task.sizes, task.scales
    centroids, norms = task.centroids, task.norms
    labels, upper, lower = task.labels, task.upper, task.lower
    moves, limits = task.moves, task.limits
    sums, firsts, seconds, clusters = workspace
    two_least_distances(products, norms, firsts, seconds, clusters)
    changed = 0
    for position in range(span[0], span[1]):
        row, line = pending[position], position - span[0]
        best, second = np.float64(firsts[line]), np.float64(seconds[line])
        nearest = np.int64(clusters[line])
        size = np.float64(sizes[row])
        length = np.sqrt(size) + limits[LARGEST_NORM]
        error = limits[RELATIVE_ERROR] * length * length + limits[ABSOLUTE_ERROR]
        # The true best is at most best + error, the others at least second − error.
        high, low = best + error, second - error
        if low <= high:
            high, low = high + 2.0 * error, best - error
            limit = best + 2.0 * error
            nearest = first_nearest(rows, row, centroids, norms, products, line, limit)
        before = np.int64(labels[row])
        reach = np.sqrt(max(high + size, 0.0))
        store_upper(upper, row, reach, moves[CENTROID_MOVES, nearest], limits)
        least = np.sqrt(max(low + size, 0.0))
        least += moves[LARGEST_MOVES, nearest]
        lower[row] = least - limits[STORED_ERROR] * least
        if nearest != before:
            changed += 1
            labels[row] = nearest
            weight = weights[row] if weights.size else 1.0
            if before >= 0:
                add_row(rows, row, weight, before, np.int64(-1), scales, sums)
            add_row(rows, row, weight, nearest, np.int64(1), scales, sums)
    return changed


@kernel
def first_nearest(rows, row, centroids, norms, products, line, limit):
    """Return the first nearest among the centroids within ``limit``."""
    best, nearest = np.inf, np.int64(0)
    for cluster in range(centroids.shape[0]):
        if np.float64(products[cluster, line] + norms[cluster]) > limit:
            continue
        near = squared_distance(rows, row, centroids, cluster)
        if near < best:
            best, nearest = near, np.int64(cluster)
    return nearest


@kernel
def add_row(rows, row, weight, cluster, sign, scales, sums):
    """Add a row to the sums of a cluster, or subtract it."""
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
        out[row] = squared_distance(rows, row, centroids, labels[row])
