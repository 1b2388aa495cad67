"""The nearest prototypes of rows of numbers and codes.

A code is a row of the table ``mismatches``, which has the mismatch with each prototype;
the row of missing cells is 0. So the distances from a row to all prototypes are sums of
a few rows of the table, added in the same order as in ``mixed_cells``.

Sums are whole numbers (``exact_sums``), and so are the weights of values by cluster, so
that rows are subtracted exactly, in any order.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import entry, kernel


class MixedTask(NamedTuple):
    """Rows, and prototypes: ``points`` are their numbers, column × cluster."""

    numbers: NDArray[np.float64]
    codes: NDArray[np.int32]
    points: NDArray[np.float64]
    mismatches: NDArray[np.float64]
    gamma: float


@kernel
def add_up(task, row, lanes):
    """Write the distances from a row to all prototypes into the first lane."""
    n_clusters, numbers, codes = lanes.shape[1], task.numbers, task.codes
    points, mismatches, gamma = task.points, task.mismatches, task.gamma
    for cluster in range(n_clusters):
        lanes[0, cluster] = 0.0
        lanes[1, cluster] = 0.0
    for column in range(numbers.shape[1]):
        cell = numbers[row, column]
        if cell == cell:
            for cluster in range(n_clusters):
                difference = cell - points[column, cluster]
                lanes[0, cluster] += difference * difference
    for column in range(codes.shape[1]):
        line = codes[row, column]
        for cluster in range(n_clusters):
            lanes[1, cluster] += mismatches[line, cluster]
    for cluster in range(n_clusters):
        lanes[0, cluster] += gamma * lanes[1, cluster]


@entry
def assign_rows(task, weights, labels, scales, workspace, span):
    """Assign some rows to their nearest prototypes; return how many changed.

    ``labels`` is the cluster of each row, or -1; the workspace is (sums, counts,
    lanes), with the changes of sums and counts.
    """
    sums, counts, lanes = workspace
    changed = 0
    for row in range(span[0], span[1]):
        add_up(task, row, lanes)
        nearest, best = np.int64(0), lanes[0, 0]
        for cluster in range(1, lanes.shape[1]):
            if lanes[0, cluster] < best:
                nearest, best = np.int64(cluster), lanes[0, cluster]
        before = np.int64(labels[row])
        if nearest != before:
            changed += 1
            labels[row] = nearest
            weight = weights[row] if weights.size else 1.0
            change = (row, nearest, np.int64(1))
            add_mixed(task, change, weight, scales, sums, counts)
            if before >= 0:
                change = (row, before, np.int64(-1))
                add_mixed(task, change, weight, scales, sums, counts)
    return changed


@kernel
def add_mixed(task, change, weight, scales, sums, counts):
    """Add a row to the sums and counts of a cluster, or subtract it."""
    row, cluster, sign = change
    numbers, codes = task.numbers, task.codes
    width = numbers.shape[1]
    for column in range(2 * width + 1):
        part = weight
        if column < 2 * width:
            cell = numbers[row, column % width]
            if cell != cell:
                continue
            if column < width:
                part *= cell
        high = np.rint(part * scales[0, column])
        low = np.rint((part - high * scales[1, column]) * scales[2, column])
        sums[0, cluster, column] += sign * np.int64(high)
        sums[1, cluster, column] += sign * np.int64(low)
    unit = sign * np.int64(np.rint(weight * scales[0, 2 * width]))
    for column in range(codes.shape[1]):
        counts[codes[row, column], cluster] += unit
