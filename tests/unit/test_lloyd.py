"""Lloyd's iterations against a naive step, and what must hold of any of them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive_lloyd import lloyd_step

from spinney.cluster import distances, lloyd
from spinney.errors import DataError

# Few coordinates, so that points coincide and distances tie.
coordinate = st.integers(-3, 3).map(float)
point = st.tuples(coordinate, coordinate).map(list)
points_of = st.lists(point, min_size=1, max_size=12)
centroids_of = st.lists(point, min_size=1, max_size=4)


def inertia(points: list, clusters: np.ndarray, centroids: np.ndarray) -> float:
    return float(((np.array(points) - centroids[clusters]) ** 2).sum())


@given(points_of, centroids_of)
def test_every_iteration_is_the_naive_step(points, centroids):
    centres = centroids
    for step in lloyd(points, centroids):
        for row, measured in zip(points, step.distances, strict=True):
            assert measured == pytest.approx(
                [
                    sum((a - b) ** 2 for a, b in zip(row, c, strict=True)) ** 0.5
                    for c in centres
                ]
            )
        nearest, moved = lloyd_step(points, centres)
        # Means are not exact, and what is equally near may differ by a rounding.
        for place, cluster in enumerate(step.clusters):
            best = step.distances[place][nearest[place]]
            assert step.distances[place][cluster] == pytest.approx(best)
        if nearest == step.clusters.tolist():
            assert step.centroids.tolist() == [pytest.approx(c) for c in moved]
        centres = step.centroids.tolist()


@given(points_of, centroids_of)
def test_inertia_never_rises_and_the_end_is_a_fixed_point(points, centroids):
    trace = lloyd(points, centroids)
    inertias = [inertia(points, step.clusters, step.centroids) for step in trace]
    for before, after in pairwise(inertias):
        assert after <= before + 1e-9
    last = trace[-1]
    np.testing.assert_array_equal(last.clusters, trace[-2].clusters)
    again = lloyd(points, last.centroids)
    assert len(again) == 2
    np.testing.assert_allclose(again[-1].centroids, last.centroids)


def test_a_point_between_two_centroids_goes_to_the_first():
    trace = lloyd([[0.0], [1.0], [2.0]], [[2.0], [0.0]])
    assert trace[0].clusters.tolist() == [1, 0, 0]
    assert trace[0].centroids.tolist() == [[1.5], [0.0]]


def test_a_centroid_without_points_stays():
    trace = lloyd([[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [9.0, 9.0]])
    assert [step.centroids.tolist() for step in trace] == [
        [[0.5, 0.5], [9.0, 9.0]],
        [[0.5, 0.5], [9.0, 9.0]],
    ]


def test_the_given_centroids_are_not_changed():
    centroids = np.array([[0.0], [5.0]])
    lloyd([[1.0], [4.0]], centroids)
    assert centroids.tolist() == [[0.0], [5.0]]


def test_distances():
    assert distances([[0, 0], [3, 4]], [[0, 0], [3, 0]]).tolist() == [[0, 3], [5, 4]]


@pytest.mark.parametrize(
    "points, centroids",
    [
        ([[1.0, 2.0]], [[1.0]]),
        ([1.0, 2.0], [[1.0]]),
        ([[1.0]], [1.0]),
    ],
)
def test_shapes_that_do_not_fit(points, centroids):
    with pytest.raises(DataError, match="the same columns"):
        lloyd(points, centroids)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(odd):
    with pytest.raises(DataError, match="finite"):
        lloyd([[1.0], [odd]], [[1.0]])
    with pytest.raises(DataError, match="finite"):
        lloyd([[1.0]], [[odd]])


def test_no_centroids_are_refused():
    with pytest.raises(DataError):
        lloyd([[1.0]], np.empty((0, 1)))
