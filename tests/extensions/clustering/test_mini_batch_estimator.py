"""MiniBatchKMeans: batches from memory, from files and from queries."""

import duckdb
import numpy as np
import pytest

from spinney import DataError, KMeans, MiniBatchKMeans, ParameterError
from spinney.data.readers import batches as reading
from spinney.extensions.clustering.estimators.mini_batch_estimator import (
    RunningCentroids,
)

CENTRES = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 9.0]])


def clumps(n=3000, seed=0):
    random = np.random.default_rng(seed)
    return CENTRES[random.integers(3, size=n)] + random.normal(size=(n, 2))


def in_order(centroids):
    return centroids[np.lexsort(centroids.round().T)]


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "rows.csv"
    np.savetxt(path, clumps(), delimiter=",", header="x,y", comments="")
    return path


def test_centroids_are_the_means_of_what_they_had():
    running = RunningCentroids(np.array([[0.0], [10.0]]), np.zeros(2))
    labels, inertia = running.learn(np.array([[1.0], [3.0], [9.0]]), None, 1)
    assert labels.tolist() == [0, 0, 1]
    assert inertia == 1 + 9 + 1
    assert running.centroids.ravel().tolist() == [2.0, 9.0]
    running.learn(np.array([[5.0], [8.0]]), np.array([2.0, 1.0]), 1)
    assert running.centroids.ravel().tolist() == [3.5, 8.5]
    assert running.weights.tolist() == [4.0, 2.0]


def test_a_centroid_that_never_had_a_row_goes_to_the_farthest():
    running = RunningCentroids(np.array([[0.0], [99.0]]), np.zeros(2))
    running.learn(np.array([[0.0], [-5.0], [4.0]]), None, 1)
    assert running.centroids[1].tolist() == [-5.0]


def test_it_is_near_to_k_means():
    cells = clumps()
    exact = KMeans(3, random_state=0).fit(cells)
    model = MiniBatchKMeans(3, batch_size=200, random_state=0).fit(cells)
    np.testing.assert_allclose(
        in_order(model.cluster_centers_), in_order(exact.cluster_centers_), atol=0.2
    )
    assert model.inertia_ <= 1.02 * exact.inertia_
    np.testing.assert_array_equal(model.labels_, model.predict(cells))
    assert model.n_steps_ == 15 * model.n_iter_


def test_the_same_seed_and_threads():
    cells = clumps()
    found = [
        MiniBatchKMeans(3, batch_size=100, random_state=4, n_jobs=jobs).fit(cells)
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(found[0].cluster_centers_, found[1].cluster_centers_)


def test_files_and_queries_stream(csv):
    query = duckdb.sql(f"SELECT * FROM '{csv}'")
    model = MiniBatchKMeans(3, batch_size=500, random_state=0, max_iter=2)
    by_file = model.fit(csv).cluster_centers_
    assert model.n_steps_ == 6 * model.n_iter_
    assert model.feature_names_in_.tolist() == ["x", "y"]
    np.testing.assert_array_equal(model.fit(query).cluster_centers_, by_file)
    np.testing.assert_allclose(in_order(by_file), in_order(CENTRES), atol=0.3)
    assert len(model.predict(query)) == 3000


def test_rows_come_without_arrow_too(csv, monkeypatch):
    import builtins

    monkeypatch.setattr("spinney.data.readers.batches.SMALL_FILE", 0)
    plain = builtins.__import__

    def without(name, *more):
        if name == "pyarrow":
            raise ImportError(name)
        return plain(name, *more)

    with reading.number_batches(csv, 700) as (_, batches):
        expected = list(batches)
    monkeypatch.setattr(builtins, "__import__", without)
    with reading.number_batches(csv, 700) as (names, batches):
        found = list(batches)
    assert names == ("x", "y")
    assert [len(batch) for batch in found] == [700, 700, 700, 700, 200]
    np.testing.assert_array_equal(np.concatenate(found), np.concatenate(expected))


def test_batches_of_any_size():
    cells = clumps()
    parts = [cells[:1], cells[1:2], cells[2:1000], cells[1000:1001], cells[1001:]]
    model = MiniBatchKMeans(3, random_state=0).fit_batches(iter(parts))
    assert model.n_steps_ == 3
    assert model.counts_.sum() == 3000


def test_partial_fit_goes_on():
    cells = clumps()
    model = MiniBatchKMeans(3, random_state=0)
    for first in range(0, 3000, 500):
        model.partial_fit(cells[first : first + 500])
    assert model.n_steps_ == 6
    assert len(model.labels_) == 500
    np.testing.assert_allclose(
        in_order(model.cluster_centers_), in_order(CENTRES), atol=0.3
    )


def test_refusals(tmp_path, csv):
    with pytest.raises(ParameterError, match="batch_size"):
        MiniBatchKMeans(2, batch_size=0).fit(clumps())
    with pytest.raises(DataError, match="fewer rows"):
        MiniBatchKMeans(5).fit_batches([clumps(2), clumps(2)])
    with pytest.raises(DataError, match="n_samples=2"):
        MiniBatchKMeans(5).partial_fit(clumps(2))
    with pytest.raises(DataError, match="sample_weight"):
        MiniBatchKMeans(2).fit(csv, sample_weight=np.ones(3000))
    words = tmp_path / "words.csv"
    words.write_text("x,y\n1,a\n2,b\n")
    with pytest.raises(DataError, match="'y' is nominal"):
        MiniBatchKMeans(2).fit(words)
    gaps = tmp_path / "gaps.csv"
    gaps.write_text("x,y\n1,2\n2,\n3,4\n")
    with pytest.raises(DataError, match="column 'y' has a missing cell"):
        MiniBatchKMeans(2).fit(gaps)
