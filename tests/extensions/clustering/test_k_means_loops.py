"""The loops of k-means on small planted arrays, beside plain loops."""

import numba
import numpy as np
import pytest

from spinney.extensions.clustering.loops import lanes as lane_loops
from spinney.extensions.clustering.loops.assign import (
    ERROR,
    FALLEN,
    GROWN,
    HALF,
    LONGEST,
    Assigning,
    settle,
    sift,
    squared_distances,
)
from spinney.extensions.clustering.loops.lanes import LANES
from spinney.extensions.clustering.loops.seed import Seeding, gains_of, take

# Whole numbers, so that sums on the scale 1 are what they seem.
ROWS = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0], [10.0, 2.0], [5.0, 0.0]])
CENTROIDS = np.array([[0.0, 0.0], [10.0, 0.0], [40.0, 40.0]])
UNIT = np.ones((3, ROWS.shape[1] + 1))
INFINITE = np.float64(np.inf)


def square(one, other):
    """Return a squared distance, column by column."""
    return sum((x - y) ** 2 for x, y in zip(one, other, strict=True))


# Lanes: written out for the compiler, so tried through it.


@numba.njit
def call_squares(rows, row, points, group, lanes):
    return lane_loops.squares(rows, row, points, group, lanes)


@numba.njit
def call_square(rows, row, points, point):
    return lane_loops.square(rows, row, points, point)


@numba.njit
def call_gain(before, weight, lanes, gains, line):
    return lane_loops.gain(before, weight, lanes, gains, line)


@numba.njit
def call_two_least(products, line, norms, lanes, places):
    lane_loops.two_least(products, line, norms, lanes, places)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 2, 7, 8, 19])
def test_squares_of_one_point_and_of_a_group(kind, columns):
    rng = np.random.default_rng(columns)
    rows = rng.integers(-9, 9, (3, columns)).astype(kind)
    points = rng.integers(-9, 9, (2 * LANES, columns)).astype(kind)
    groups = np.ascontiguousarray(points.reshape(2, LANES, columns).transpose(0, 2, 1))
    lanes = np.empty((1, LANES), kind)
    for row in range(3):
        for group in range(2):
            some = points[group * LANES : (group + 1) * LANES]
            expected = [square(rows[row].tolist(), point.tolist()) for point in some]
            assert call_squares(rows, row, groups, group, lanes) == min(expected)
            assert lanes[0].tolist() == expected
        assert call_square(rows, row, points, 5) == square(rows[row], points[5])


def test_gain_adds_what_is_nearer_and_says_which():
    lanes = np.array([[4.0, 1.0, 9.0, 0.0, 5.0, 4.5, 3.0, 7.0]])
    gains = np.ones((2, LANES))
    bits = call_gain(np.float64(4.5), 2.0, lanes, gains, 1)
    off = [max(4.5 - near, 0.0) for near in lanes[0].tolist()]
    assert gains[1].tolist() == [1 + 2.0 * each for each in off]
    assert gains[0].tolist() == [1.0] * LANES
    assert bits == sum(1 << lane for lane, each in enumerate(off) if each > 0)


def test_two_least_by_lane():
    products = np.arange(6.0 * LANES).reshape(2, 3 * LANES) % 11
    norms = np.arange(3.0 * LANES)[::-1].copy() % 7
    lanes, places = np.zeros((2, LANES)), np.zeros(LANES, np.int32)
    call_two_least(products, 1, norms, lanes, places)
    for lane in range(LANES):
        values = [
            products[1, g * LANES + lane] + norms[g * LANES + lane] for g in range(3)
        ]
        assert [lanes[0, lane], lanes[1, lane]] == sorted(values)[:2]
        assert places[lane] == values.index(min(values))


# Seeding


def in_lanes(rows):
    """Return rows as one group of lanes, filled up with the first."""
    padded = np.vstack([rows, np.repeat(rows[:1], LANES - len(rows), axis=0)])
    return np.ascontiguousarray(padded.T[None])


def seeding(weights, gap):
    """Ask what rows 2 and 4 would gain beside row 0, the one centroid so far."""
    near = np.array([square(row, ROWS[0]) for row in ROWS])
    owner = np.zeros(len(ROWS), np.int32)
    better = np.zeros((1, len(ROWS)), np.uint8)
    gains = np.zeros((1, LANES))
    points, lanes = in_lanes(ROWS[[2, 4]]), np.empty((1, LANES))
    span = np.array([len(ROWS), 0, 1])
    gap = np.array([gap])
    task = Seeding(ROWS, weights, near, owner, better, points)
    gains_of(task, gap, lanes, gains, span)
    return task, gains


@pytest.mark.parametrize("weights", [np.empty(0), np.array([1.0, 2.0, 3.0, 4.0, 5.0])])
def test_gains_and_taking_a_candidate(weights):
    task, gains = seeding(weights, 0.0)
    near, owner, better = task.near, task.owner, task.better
    own = weights if len(weights) else np.ones(len(ROWS))
    for lane, candidate in enumerate((2, 4)):
        off = [max(near[i] - square(ROWS[i], ROWS[candidate]), 0) for i in range(5)]
        assert gains[0, lane] == sum(w * each for w, each in zip(own, off, strict=True))
        for row, each in enumerate(off):
            assert bool(better[0, row] >> lane & 1) == (each > 0)
    bins = np.array([0, 1, 1, 0, 1], np.uint16)
    totals, lanes = np.zeros((1, 2)), np.empty((1, LANES))
    span = np.array([len(ROWS), 0, 1, 1, 7])  # candidate 1, row 4, is centroid 7
    take(task, bins, lanes, totals, span)
    both = [min(square(row, ROWS[0]), square(row, ROWS[4])) for row in ROWS]
    assert near.tolist() == both
    assert owner.tolist() == [0, 0, 7, 7, 7]
    for number in range(2):
        rows = [row for row in range(5) if bins[row] == number]
        assert totals[0, number] == sum(own[row] * both[row] for row in rows)


def test_rows_within_the_gap_gain_nothing():
    task, gains = seeding(np.empty(0), 1000.0)
    assert not gains.any()
    assert not task.better.any()


# Assigning


def assigning(clusters, upper, lower, *, weights=None):
    """Return the rows with these clusters and bounds, without moves and errors."""
    k = len(CENTROIDS)
    norms = np.full(LANES, INFINITE)
    norms[:k] = [square(point, [0, 0]) for point in CENTROIDS]
    return Assigning(
        rows=ROWS,
        weights=np.empty(0) if weights is None else weights,
        sizes=np.array([square(row, [0, 0]) for row in ROWS]),
        own=np.array(clusters, np.int32),
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
    task.moves[HALF] = 0.5, 2.0, 1.0
    waiting = np.full(5, -1)
    n = sift(task, waiting, np.array([0, 5]))
    assert waiting[:n].tolist() == [0, 4]
    assert task.upper.tolist() == [9, 1, 1, 2, 9]  # reached: true distances, now kept
    task.moves[GROWN, 0], task.moves[FALLEN] = 2.0, 3.0
    n = sift(task, waiting, np.array([1, 2]))
    assert waiting[:n].tolist() == [1]  # upper 1 + 2 is no longer below 2 - 3


@pytest.mark.parametrize("weights", [np.empty(0), np.array([1.0, 2.0, 3.0, 4.0, 5.0])])
def test_settle_sends_rows_to_the_first_nearest(weights):
    k = len(CENTROIDS)
    clusters = [-1, 1, 1, -1, -1]
    task = assigning(clusters, np.zeros(5), np.zeros(5), weights=weights)
    products = np.zeros((5, LANES))
    products[:, :k] = -2 * ROWS @ CENTROIDS.T
    task.limits[ERROR], task.limits[LONGEST] = 1e-12, np.sqrt(task.norms[:k].max())
    sums = np.zeros((2, k, 3), np.int64)
    room = (sums, np.zeros((2, LANES)), np.zeros(LANES, np.int32))
    changed = settle(task, products, np.arange(5), room, np.array([0, 5]))
    apart = [[square(row, point) for point in CENTROIDS] for row in ROWS]
    nearest = [line.index(min(line)) for line in apart]
    assert nearest == [0, 0, 1, 1, 0]  # row 4 lies between two centroids
    assert task.own.tolist() == nearest
    assert changed == 4
    own = weights if len(weights) else np.ones(5)
    expected = np.zeros((k, 3))
    for row in range(5):
        part = own[row] * np.append(ROWS[row], 1)
        if clusters[row] != nearest[row]:
            expected[nearest[row]] += part
            if clusters[row] >= 0:
                expected[clusters[row]] -= part
    np.testing.assert_array_equal(sums[0], expected)
    assert not sums[1].any()
    for row, line in enumerate(apart):
        least, next_one = sorted(np.sqrt(line))[:2]
        assert task.upper[row] >= least >= task.upper[row] - 1e-4
        assert next_one - 1e-4 <= task.lower[row] <= next_one


def test_squared_distances_of_some_rows():
    out = np.full(5, -1.0)
    labels = np.array([0, 0, 1, 2, 1])
    squared_distances(ROWS, CENTROIDS, labels, out, np.array([1, 4]))
    assert out.tolist() == [-1.0, 1.0, 1.0, 900.0 + 38**2, -1.0]
