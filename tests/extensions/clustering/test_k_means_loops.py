"""The loops of k-means on small planted arrays, beside plain loops."""

import numba
import numpy as np
import pytest

from spinney.extensions.clustering.kernels import assign as loops
from spinney.extensions.clustering.kernels.assign import (
    CENTROID_MOVES,
    HALF_DISTANCE,
    LARGEST_MOVES,
    LARGEST_NORM,
    RELATIVE_ERROR,
    AssignmentTask,
    assign_waiting,
    list_waiting,
    squared_distances,
)
from spinney.extensions.clustering.kernels.seed import (
    SeedingTask,
    add_gains,
    choose_candidate,
)

# Whole numbers, so that sums on the scale 1 are what they seem.
ROWS = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0], [10.0, 2.0], [5.0, 0.0]])
CENTROIDS = np.array([[0.0, 0.0], [10.0, 0.0], [40.0, 40.0]])
UNIT = np.ones((3, ROWS.shape[1] + 1))


def squared_distance(one, other):
    """Return a squared distance, column by column."""
    return sum((x - y) ** 2 for x, y in zip(one, other, strict=True))


# Kernels, tried through the compiler.


@numba.njit
def call_squares(rows, row, points, point):
    short = loops.short_squared_distance(rows, row, points, point)
    return short, loops.squared_distance(rows, row, points, point)


@numba.njit
def call_two_least(products, norms, best, second, nearest):
    loops.two_least_distances(products, norms, best, second, nearest)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 2, 3, 7, 8, 19])
def test_squares_of_a_row_and_a_point(kind, columns):
    rng = np.random.default_rng(columns)
    rows, points = rng.normal(size=(2, 3, columns)).astype(kind)
    for row in range(3):
        for point in range(3):
            short, long = call_squares(rows, row, points, point)
            assert long == squared_distance(rows[row].tolist(), points[point].tolist())
            difference = (rows[row] - points[point]) ** 2
            parts = [
                np.add.accumulate(np.append(kind(0), difference[i::2])) for i in (0, 1)
            ]
            assert short == parts[0][-1] + parts[1][-1]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_two_least_of_each_row(kind):
    rng = np.random.default_rng(0)
    products = rng.integers(0, 9, (5, 37)).astype(kind)
    norms = rng.integers(0, 9, 5).astype(kind)
    best, second = np.zeros((2, 37), kind)
    nearest = np.zeros(37, np.int32)
    call_two_least(products, norms, best, second, nearest)
    for line, values in enumerate((products + norms[:, None]).T.tolist()):
        assert [best[line], second[line]] == sorted(values)[:2]
        assert nearest[line] == values.index(min(values))


# Seeding


def seeding(weights, error=0.0, off=0.0):
    """Ask what rows 2 and 4 would gain beside row 0, the one centroid so far.

    Their products are ``off`` by as much.
    """
    near = np.array([squared_distance(row, ROWS[0]) for row in ROWS])
    better, candidates = np.full(len(ROWS), 99, np.uint32), np.array([2, 4])
    sizes, limits = (ROWS**2).sum(axis=1), np.zeros(4)
    limits[RELATIVE_ERROR], limits[LARGEST_NORM] = (
        error,
        np.sqrt(sizes[candidates].max()),
    )
    task = SeedingTask(ROWS, weights, sizes, near, better, candidates, limits)
    products = -2 * ROWS[candidates] @ ROWS.T + off
    workspace = np.empty(len(ROWS)), np.empty(len(ROWS), np.int64)
    gains = np.zeros(2)
    add_gains(task, products, sizes[candidates], workspace, gains, np.array([0, 5]))
    return task, gains


@pytest.mark.parametrize("weights", [np.empty(0), np.array([1.0, 2.0, 3.0, 4.0, 5.0])])
@pytest.mark.parametrize("off", [-1.0, 0.0, 1.0])
def test_gains_and_taking_a_candidate(weights, off):
    task, gains = seeding(weights, 0.1, off)
    near, better = task.near, task.better
    labels = weights if len(weights) else np.ones(len(ROWS))
    for index, candidate in enumerate((2, 4)):
        off = [
            max(near[i] - squared_distance(ROWS[i], ROWS[candidate]), 0)
            for i in range(5)
        ]
        assert gains[index] == sum(
            w * each for w, each in zip(labels, off, strict=True)
        )
        for row, each in enumerate(off):
            assert bool(better[row] >> index & 1) == (each > 0)
    bins = np.array([0, 1, 1, 0, 1], np.uint16)
    totals = np.zeros((1, 2))
    choose_candidate(
        task, bins, totals, np.array([len(ROWS), 0, 1, 1])
    )  # candidate 1, row 4
    both = [
        min(squared_distance(row, ROWS[0]), squared_distance(row, ROWS[4]))
        for row in ROWS
    ]
    assert near.tolist() == both
    for number in range(2):
        rows = [row for row in range(5) if bins[row] == number]
        assert totals[0, number] == sum(labels[row] * both[row] for row in rows)


def test_products_that_are_far_off_spare_rows():
    task, gains = seeding(np.empty(0), 0.0, 1000.0)
    assert not gains.any()
    assert not task.better.any()


# Assigning


def assigning(clusters, upper, lower, *, weights=None):
    """Return the rows with these clusters and bounds, without moves and errors."""
    k = len(CENTROIDS)
    norms = np.array([squared_distance(point, [0, 0]) for point in CENTROIDS])
    return AssignmentTask(
        rows=ROWS,
        weights=np.empty(0) if weights is None else weights,
        sizes=np.array([squared_distance(row, [0, 0]) for row in ROWS]),
        labels=np.array(clusters, np.int32),
        upper=np.array(upper, np.float64),
        lower=np.array(lower, np.float64),
        centroids=CENTROIDS,
        norms=norms,
        moves=np.zeros((3, k)),
        limits=np.zeros(4),
        scales=UNIT,
    )


def test_sift_lists_rows_that_may_leave():
    # No cluster yet; bounds that are apart; half of the way to the next is farther;
    # bounds that meet, and a distance that is below the others all the same; none.
    task = assigning([-1, 0, 1, 1, 0], [9, 1, 9, 9, 9], [0, 2, 0, 3, 1])
    task.moves[HALF_DISTANCE] = 0.5, 2.0, 1.0
    pending = np.full(5, -1)
    n = list_waiting(task, pending, np.array([0, 5]))
    assert pending[:n].tolist() == [0, 4]
    assert task.upper.tolist() == [9, 1, 1, 2, 9]  # reached: true distances, now kept
    task.moves[CENTROID_MOVES, 0], task.moves[LARGEST_MOVES] = 2.0, 3.0
    n = list_waiting(task, pending, np.array([1, 2]))
    assert pending[:n].tolist() == [1]  # upper 1 + 2 is no longer below 2 - 3


@pytest.mark.parametrize("weights", [np.empty(0), np.array([1.0, 2.0, 3.0, 4.0, 5.0])])
def test_settle_sends_rows_to_the_first_nearest(weights):
    k = len(CENTROIDS)
    clusters = [-1, 1, 1, -1, -1]
    task = assigning(clusters, np.zeros(5), np.zeros(5), weights=weights)
    products = -2 * CENTROIDS @ ROWS.T
    task.limits[RELATIVE_ERROR], task.limits[LARGEST_NORM] = (
        1e-12,
        np.sqrt(task.norms.max()),
    )
    sums = np.zeros((2, k, 3), np.int64)
    workspace = (sums, *np.zeros((2, 5)), np.zeros(5, np.int32))
    changed = assign_waiting(task, products, np.arange(5), workspace, np.array([0, 5]))
    difference = [[squared_distance(row, point) for point in CENTROIDS] for row in ROWS]
    nearest = [line.index(min(line)) for line in difference]
    assert nearest == [0, 0, 1, 1, 0]  # row 4 lies between two centroids
    assert task.labels.tolist() == nearest
    assert changed == 4
    labels = weights if len(weights) else np.ones(5)
    expected = np.zeros((k, 3))
    for row in range(5):
        part = labels[row] * np.append(ROWS[row], 1)
        if clusters[row] != nearest[row]:
            expected[nearest[row]] += part
            if clusters[row] >= 0:
                expected[clusters[row]] -= part
    np.testing.assert_array_equal(sums[0], expected)
    assert not sums[1].any()
    for row, line in enumerate(difference):
        least, next_one = sorted(np.sqrt(line))[:2]
        assert task.upper[row] >= least >= task.upper[row] - 1e-4
        assert next_one - 1e-4 <= task.lower[row] <= next_one


def test_squared_distances_of_some_rows():
    out = np.full(5, -1.0)
    labels = np.array([0, 0, 1, 2, 1])
    squared_distances(ROWS, CENTROIDS, labels, out, np.array([1, 4]))
    assert out.tolist() == [-1.0, 1.0, 1.0, 900.0 + 38**2, -1.0]
