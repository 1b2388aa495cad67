"""The iterations of k-means as tables."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.conftest import TABLES
from tests.twins.naive_lloyd import lloyd_step

import spinney
from spinney import KMeans
from spinney._support.text_table import in_columns, number_cells
from spinney.errors import DataError, ParameterError
from spinney.extensions.clustering import explain_k_means

START = [[1.5, 2.0], [5.0, 7.0]]


@pytest.fixture
def five():
    table = spinney.read_table(TABLES / "kmeans_five.csv")
    return np.column_stack([table["attr1"].cells, table["attr2"].cells])


def test_the_worked_example(five):
    trace = explain_k_means(five, START, names=["attr1", "attr2"])
    first, second = trace.iterations
    assert first.distances.round(2)[[0, 2, 4]].tolist() == [
        [1.12, 7.21],
        [2.5, 3.61],
        [3.61, 2.5],
    ]
    assert first.clusters.tolist() == [0, 0, 0, 1, 1]
    assert first.after.round(2).tolist() == [[1.83, 2.33], [4.25, 6.0]]
    # The document goes on with rounded centroids, which gives 2.04 and 3.15 for
    # entities 3 and 5; from the exact ones they are 2.03 and 3.14.
    printed = [[1.57, 5.96], [0.47, 4.85], [2.04, 2.36], [5.64, 1.25], [3.15, 1.25]]
    np.testing.assert_allclose(second.distances, printed, atol=0.0101)
    rounded = explain_k_means(five, first.after.round(2)).iterations[0].distances
    assert rounded.round(2).tolist() == printed
    assert second.changed == 0
    assert trace.clustering.converged
    lines = str(trace).splitlines()
    assert "    1    1.0      1  1.12  7.21        0" in lines
    assert "        0     3   1.83   2.33" in lines
    assert lines[-1].startswith("converged after 2 iterations; inertia")


# Few coordinates, so that points coincide and distances tie.
points_of = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=12
)


@given(points_of, points_of.map(lambda points: points[:3]))
def test_every_iteration_is_the_naive_step(points, start):
    trace = explain_k_means(points, start)
    for place, one in enumerate(trace.iterations):
        for row, apart in zip(points, one.distances, strict=True):
            assert apart == pytest.approx(
                [
                    sum((a - b) ** 2 for a, b in zip(row, c, strict=True)) ** 0.5
                    for c in one.before.tolist()
                ]
            )
        nearest, moved = lloyd_step(points, one.before.tolist())
        assert one.sizes.sum() == len(points)
        if place + 1 < len(trace.iterations):
            np.testing.assert_array_equal(one.after, trace.iterations[place + 1].before)
        if nearest == one.clusters.tolist() and len(set(nearest)) == len(start):
            np.testing.assert_allclose(one.after, moved)
    inertias = [one.inertia for one in trace.iterations]
    assert all(after <= before + 1e-9 for before, after in pairwise(inertias))
    assert inertias[-1] == pytest.approx(trace.clustering.inertia)


def test_many_rows_are_cut_short_and_said_so():
    rows = np.random.default_rng(0).normal(size=(300, 2))
    trace = explain_k_means(rows, rows[:3], rows=4)
    assert trace.iterations[0].distances.shape == (4, 3)
    assert trace.iterations[0].sizes.sum() == 300
    assert "… 296 more rows follow; the figures below are for all rows" in str(trace)
    assert "... 296 more rows follow" in trace.text(ascii_only=True)
    assert trace.text(ascii_only=True).isascii()
    one = explain_k_means(rows[:5], rows[:2], rows=4)
    assert "… 1 more row follows" in str(one)


def test_many_iterations_have_a_line_each_in_the_middle():
    rows = np.random.default_rng(1).normal(size=(400, 2))
    trace = explain_k_means(rows, rows[:6], rows=2)
    assert trace.clustering.n_iterations == len(trace.iterations) > 12
    lines = str(trace).splitlines()
    assert sum(line.startswith("iteration") for line in lines) == len(trace.iterations)
    assert any(line.startswith("iteration 7: ") for line in lines)


def test_many_clusters_tell_the_nearest_two():
    rows = np.arange(30.0).reshape(-1, 1)
    text = str(explain_k_means(rows, rows[:12], rows=3, max_iterations=1))
    assert "row  x0  cluster  distance  next  distance" in text
    assert "not converged after" in text


def test_a_narrow_terminal():
    rows = np.random.default_rng(0).normal(size=(30, 6))
    names = [f"a long name {place}" for place in range(6)]
    text = explain_k_means(rows, rows[:4], names=names).text(width=60)
    tables = [line for line in text.splitlines() if line.startswith("  ")]
    assert max(map(len, tables)) <= 60
    assert "to 3  cluster" in text


def test_huge_numbers_have_distances():
    rows = np.array([[1e200], [3e200], [9e200]])
    trace = explain_k_means(rows, rows[:2])
    assert trace.iterations[0].distances[0].tolist() == [0, pytest.approx(2e200)]
    assert "e+200" in str(trace)


@pytest.mark.parametrize(
    ("points", "start", "error"),
    [
        ([[np.nan]], [[1.0]], DataError),
        ([[1.0]], [[np.nan]], DataError),
        ([[1.0, 2.0]], [[1.0]], ParameterError),
        ([1.0, 2.0], [[1.0]], DataError),
    ],
)
def test_refusals(points, start, error):
    with pytest.raises(error):
        explain_k_means(points, start)


def test_an_estimator_explains_itself(five, tmp_path):
    for recorded_settings in ({}, {"standardise": True}, {"n_init": 3}):
        model = KMeans(2, random_state=0, **recorded_settings).fit(five)
        trace = model.explain(five)
        assert trace.iterations[-1].clusters.tolist() == model.labels_.tolist()
        assert trace.clustering.inertia == model.inertia_
        model.save(tmp_path / "c")
        assert str(spinney.load(tmp_path / "c").explain(five)) == str(trace)
        with pytest.raises(DataError, match="other clusters"):
            model.explain(five + np.arange(10).reshape(5, 2))


def test_standardised_columns():
    rows = np.array([[1.0, 1000.0], [2.0, 9000.0], [9.0, 1500.0], [10.0, 8000.0]])
    plain = KMeans(2, random_state=0).fit(rows)
    scaled = KMeans(2, standardise=True, init=rows[[0, 2]]).fit(rows)
    assert plain.labels_[0] == plain.labels_[2]
    spread = rows.std(axis=0)
    same = KMeans(2, init=rows[[0, 2]] / spread).fit(rows / spread)
    np.testing.assert_array_equal(scaled.labels_, same.labels_)
    np.testing.assert_allclose(scaled.cluster_centers_, same.cluster_centers_ * spread)
    np.testing.assert_array_equal(scaled.predict(rows), scaled.labels_)
    np.testing.assert_allclose(scaled.transform(rows), same.transform(rows / spread))
    given = KMeans(2, standardise=True, init=rows[:2]).fit(rows)
    np.testing.assert_allclose(given.clusters_.start, rows[:2] / spread)
    constant = np.column_stack([rows[:, 0], np.ones(4)])
    centers = KMeans(2, standardise=True, random_state=0).fit(constant).cluster_centers_
    assert np.isfinite(centers).all()


def test_tables():
    assert number_cells([0.05, 0.0123]) == ["0.0500", "0.0123"]
    assert number_cells([0.1, 0.2]) == ["0.1", "0.2"]
    assert number_cells([1e12, 1.0]) == ["1e+12", "1"]
    assert number_cells([]) == []
    columns = [["a", "1"], ["bb", "22"], ["ccc", "333"]]
    assert in_columns(columns, width=6, indent=0) == [
        "a  bb",
        "1  22",
        "",
        "a  ccc",
        "1  333",
    ]
