"""Fast k-means is plain k-means: the same clusters, bit for bit."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.twins.naive_kmeans import k_means as naive

from spinney._support.jit.compile import OFF
from spinney.errors import SpinneyWarning
from spinney.extensions.clustering.compiled_rows import CompiledNumericRows
from spinney.extensions.clustering.fit_k_means import (
    k_means_plus_plus,
    sample_by_weight,
)
from spinney.extensions.clustering.lloyd import iterate
from spinney.extensions.clustering.numeric_rows import NumericRows
from spinney.extensions.clustering.random_rows import RandomStream, RowSampler

NONE = np.empty(0)

# Few coordinates, so that rows coincide and distances tie; or any of middling size.
small = st.integers(-3, 3).map(float)
middling = st.floats(-1e6, 1e6, width=32).filter(lambda x: x == 0 or abs(x) > 1e-3)


@st.composite
def tables(draw):
    """Return rows, a start, weights or none, and the type of the cells."""
    cell = draw(st.sampled_from([small, small, middling]))
    n_columns = draw(st.integers(1, 4))
    row = st.lists(cell, min_size=n_columns, max_size=n_columns)
    rows = draw(st.lists(row, min_size=1, max_size=25))
    centroid = st.one_of(row, st.sampled_from(rows))
    centroids = draw(st.lists(centroid, min_size=1, max_size=12))
    weights = None
    if draw(st.booleans()):
        weight = st.sampled_from([0.0, 1.0, 2.0, 0.1, 0.7, 3.0])
        weights = draw(st.lists(weight, min_size=len(rows), max_size=len(rows)))
        weights[0] = 1.0
    kind = draw(st.sampled_from([np.float32, np.float64]))
    return rows, centroids, weights, kind


def both(rows, weights, kind):
    cells = np.array(rows, dtype=kind)
    given_weights = NONE if weights is None else np.array(weights)
    return (
        NumericRows(cells, given_weights),
        CompiledNumericRows(cells, given_weights, 1),
    )


@settings(max_examples=examples(300))
@given(tables())
def test_both_ways_are_the_naive_one(table):
    rows, centroids, weights, kind = table
    expected = naive(rows, centroids, weights, kind, max_iterations=40)
    for own in both(rows, weights, kind):
        found = iterate(
            own, np.array(centroids, dtype=kind), max_iterations=40, tolerance=0.0
        )
        assert found.labels.tolist() == expected.labels
        assert found.centroids.tolist() == expected.centroids
        assert found.n_iterations == expected.n_iterations


@given(tables())
def test_inertia_never_rises(table):
    rows, centroids, weights, kind = table
    inertias = naive(rows, centroids, weights, kind, max_iterations=40).inertias
    for before, after in pairwise(inertias):
        assert after <= before * (1 + 1e-5) + 1e-12


@given(tables(), st.integers(0, 3), st.booleans())
def test_both_ways_start_from_the_same_rows(table, seed, plus):
    rows, centroids, weights, kind = table
    draw = k_means_plus_plus if plus else sample_by_weight
    first, second = (
        draw(own, len(centroids), RandomStream(seed), RowSampler(own.cells)).tolist()
        for own in both(rows, weights, kind)
    )
    assert first == second


def clumps(n, d, k, kind, seed=0, offset=0.0):
    n = n // 200 if OFF else n  # loops that are not compiled take their time
    random = np.random.default_rng(seed)
    middles = random.normal(size=(k, d)) * 2 + offset
    cells = middles[random.integers(k, size=n)] + random.normal(size=(n, d))
    return cells.astype(kind)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n, d, k", [(40_000, 2, 23), (17_000, 9, 8), (17_000, 33, 20)])
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_many_rows_in_threads(kind, n, d, k, offset):
    cells = clumps(n, d, k, kind, offset=offset)
    found = []
    for own in (NumericRows(cells, NONE), CompiledNumericRows(cells, NONE, 1)):
        start = k_means_plus_plus(own, k, RandomStream(1), RowSampler(cells))
        found.append(iterate(own, cells[start], max_iterations=12, tolerance=0.0))
    rows = CompiledNumericRows(cells, NONE, 1)
    rows.n_jobs = 2
    start = k_means_plus_plus(rows, k, RandomStream(1), RowSampler(cells))
    found.append(iterate(rows, cells[start], max_iterations=12, tolerance=0.0))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].labels, other.labels)
        np.testing.assert_array_equal(found[0].centroids, other.centroids)
        assert found[0].inertia == other.inertia
        assert found[0].n_iterations == other.n_iterations


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_pixels_tie_often(kind):
    """Whole numbers in a few thousand rows: many are equally near to two centroids."""
    random = np.random.default_rng(3)
    cells = random.integers(0, 4, size=(150 if OFF else 5000, 3)).astype(kind)
    results = [
        iterate(own, cells[:50], max_iterations=50, tolerance=0.0)
        for own in (NumericRows(cells, NONE), CompiledNumericRows(cells, NONE, 1))
    ]
    np.testing.assert_array_equal(results[0].labels, results[1].labels)
    np.testing.assert_array_equal(results[0].centroids, results[1].centroids)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_rows_halfway_between_centroids(kind, offset):
    """Only the last bit of a distance in float64 decides where these belong."""
    random = np.random.default_rng(4)
    centroids = (random.normal(size=(40, 17)) + offset).astype(kind)
    one, other = random.integers(40, size=(2, 100 if OFF else 4000))
    cells = ((centroids[one] + centroids[other]) / 2).astype(kind)
    results = [
        iterate(own, centroids, max_iterations=1, tolerance=0.0)
        for own in (NumericRows(cells, NONE), CompiledNumericRows(cells, NONE, 1))
    ]
    np.testing.assert_array_equal(results[0].centroids, results[1].centroids)
    np.testing.assert_array_equal(results[0].labels, results[1].labels)


def test_warning_is_ours():
    from spinney import KMeans

    with pytest.warns(SpinneyWarning, match="2 distinct clusters"):
        KMeans(3, random_state=0).fit([[1.0], [1.0], [2.0]])
