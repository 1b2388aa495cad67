"""KMeans: the worked example, scikit-learn as a witness, tables, and bad input."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import cluster
from tests.helpers.strategies import TABLES

import spinney
from spinney import DataError, KMeans, ParameterError, SpinneyWarning
from spinney._support.jit.loading_time import MIN_KERNEL_WORK
from spinney.extensions.clustering.numeric_rows import pairwise_squares

FIVE = [[1.0, 1.0], [1.5, 2.0], [3.0, 4.0], [5.0, 7.0], [3.5, 5.0]]


def clumps(n=600, d=3, k=5, seed=0):
    random = np.random.default_rng(seed)
    middles = random.normal(scale=4, size=(k, d))
    return middles[random.integers(k, size=n)] + random.normal(size=(n, d))


# The worked example (kmeans_five.csv): starts at entities 2 and 4.


def test_worked_example():
    model = KMeans(2, init=[FIVE[1], FIVE[3]])
    distances = KMeans(2, init=[FIVE[1], FIVE[3]], max_iter=1).fit(FIVE)
    start = np.array([FIVE[1], FIVE[3]])
    told = np.sqrt(pairwise_squares(np.array(FIVE), start)).round(2)
    assert told[[0, 2, 4]].tolist() == [[1.12, 7.21], [2.5, 3.61], [3.61, 2.5]]
    model.fit(FIVE)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1]
    assert model.cluster_centers_.round(2).tolist() == [[1.83, 2.33], [4.25, 6.0]]
    assert model.n_iter_ == 2
    np.testing.assert_array_equal(distances.cluster_centers_, model.cluster_centers_)
    # The document goes on with centroids of two digits.
    moved = model.cluster_centers_.round(2)
    told = np.sqrt(pairwise_squares(np.array(FIVE), moved)).round(2)
    assert told.tolist() == [
        [1.57, 5.96],
        [0.47, 4.85],
        [2.04, 2.36],
        [5.64, 1.25],
        [3.15, 1.25],
    ]
    np.testing.assert_allclose(model.transform(FIVE), told, atol=0.01)


# scikit-learn


@pytest.mark.parametrize("algorithm", ["lloyd", "elkan"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_scikit_learn_from_the_same_start(algorithm, kind):
    cells = clumps().astype(kind)
    weights = np.random.default_rng(1).uniform(0.5, 2, size=len(cells))
    start = cells[:7]
    theirs = cluster.KMeans(7, init=start, n_init=1, tol=0, algorithm=algorithm)
    theirs.fit(cells, sample_weight=weights)
    ours = KMeans(7, init=start).fit(cells, sample_weight=weights)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(
        ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-5, atol=1e-6
    )
    assert ours.cluster_centers_.dtype == kind
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-5)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.score(cells) == pytest.approx(theirs.score(cells), rel=1e-5)


def test_starts_are_as_good_as_scikit_learns():
    cells = clumps(n=800, d=4, k=30)
    ours = [
        KMeans(20, random_state=s, max_iter=1).fit(cells).inertia_ for s in range(9)
    ]
    theirs = [
        cluster.KMeans(20, n_init=1, max_iter=1, random_state=s).fit(cells).inertia_
        for s in range(9)
    ]
    assert np.mean(ours) <= 1.05 * np.mean(theirs)


def test_tolerance_stops_sooner():
    cells = clumps(n=3000, k=2)
    exact = KMeans(12, random_state=0).fit(cells)
    loose = KMeans(12, random_state=0, tol=1e-2).fit(cells)
    assert loose.n_iter_ < exact.n_iter_
    np.testing.assert_array_equal(loose.labels_, loose.predict(cells))
    assert loose.inertia_ == pytest.approx(-loose.score(cells))


# The same result


def test_threads_and_compiled_loops_change_nothing(monkeypatch):
    cells = clumps(n=8_000, d=4).astype(np.float32)
    found = []
    for work, jobs in [(0, 1), (0, 2), (1e18, None)]:
        monkeypatch.setitem(MIN_KERNEL_WORK, "k-means", work)
        found.append(KMeans(9, random_state=3, n_jobs=jobs).fit(cells))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].labels_, other.labels_)
        np.testing.assert_array_equal(found[0].cluster_centers_, other.cluster_centers_)
        assert found[0].inertia_ == other.inertia_


def test_rows_that_must_not_be_written_are_read_in_place(monkeypatch):
    from spinney.extensions.clustering.kernels.assign import list_waiting

    monkeypatch.setitem(MIN_KERNEL_WORK, "k-means", 0)
    cells = clumps(n=400, d=4)
    model = KMeans(3, random_state=3).fit(cells)
    known = len(getattr(list_waiting, "signatures", ()))
    cells.flags.writeable = False
    again = KMeans(3, random_state=3).fit(cells, sample_weight=np.ones(400))
    np.testing.assert_array_equal(model.labels_, again.labels_)
    assert len(getattr(list_waiting, "signatures", ())) == known


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_weights_are_copies_and_order_does_not_count(init):
    random = np.random.default_rng(5)
    cells = random.normal(size=(60, 3))
    weights = random.choice([0, 1, 2, 4], size=60)  # products that need no rounding
    order = random.permutation(weights.sum())
    model = KMeans(6, init=init, random_state=1)
    weighted = model.fit(cells, sample_weight=weights).cluster_centers_
    copied = model.fit(np.repeat(cells, weights, axis=0)[order]).cluster_centers_
    np.testing.assert_array_equal(weighted, copied)


def test_callable_start():
    def first(cells, n_clusters, random_state):
        assert isinstance(random_state, np.random.RandomState)
        return cells[:n_clusters]

    cells = clumps()
    drawn = KMeans(4, init=first, n_init=1).fit(cells)
    given = KMeans(4, init=cells[:4]).fit(cells)
    np.testing.assert_array_equal(drawn.labels_, given.labels_)


def test_restarts_keep_the_best():
    cells = clumps(k=9)
    many = KMeans(9, init="random", n_init=10, random_state=0).fit(cells)
    assert (
        many.inertia_
        <= KMeans(9, init="random", n_init=1, random_state=0).fit(cells).inertia_
    )


def test_one_column_is_solved():
    values = np.random.default_rng(2).integers(0, 60, size=(80, 1)).astype(float)
    best = KMeans(5, init="optimal").fit(values)
    many = KMeans(5, init="random", n_init=200, random_state=0).fit(values)
    assert best.inertia_ <= many.inertia_ * (1 + 1e-12)
    assert many.inertia_ <= best.inertia_ * 1.0001
    assert best.n_iter_ <= 2
    with pytest.raises(ParameterError, match="one column"):
        KMeans(2, init="optimal").fit(FIVE)


# Numbers far from 1


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("power", [-120, -60, 60, 110])
def test_units_change_nothing(kind, power):
    cells = clumps().astype(kind)
    scaled = np.ldexp(cells, power)
    plain = KMeans(5, init=cells[:5]).fit(cells)
    other = KMeans(5, init=scaled[:5]).fit(scaled)
    np.testing.assert_array_equal(plain.labels_, other.labels_)
    np.testing.assert_array_equal(
        np.ldexp(plain.cluster_centers_, power), other.cluster_centers_
    )
    np.testing.assert_array_equal(plain.labels_, other.predict(scaled))


def test_largest_numbers():
    cells = np.array([[1e308, 1.0], [-1e308, 2.0], [9e307, 0.0]])
    model = KMeans(2, random_state=0).fit(cells)
    assert model.labels_[0] == model.labels_[2] != model.labels_[1]
    assert np.isfinite(model.cluster_centers_).all()


# Few distinct rows, empty clusters


def test_all_rows_equal():
    with pytest.warns(SpinneyWarning, match="1 distinct clusters"):
        model = KMeans(4, random_state=0).fit(np.full((30, 2), 0.1))
    np.testing.assert_array_equal(model.cluster_centers_, np.full((4, 2), 0.1))
    assert model.inertia_ == 0
    assert model.labels_.tolist() == [0] * 30


def test_one_row():
    model = KMeans(1).fit([[3.0, 4.0]])
    assert model.cluster_centers_.tolist() == [[3.0, 4.0]]
    assert model.predict([[0.0, 0.0]]).tolist() == [0]


def test_constant_column():
    cells = np.column_stack([clumps(), np.full(600, 7.0)])
    model = KMeans(5, init=cells[:5]).fit(cells)
    np.testing.assert_array_equal(model.cluster_centers_[:, -1], np.full(5, 7.0))
    without = KMeans(5, init=cells[:5, :-1]).fit(cells[:, :-1])
    np.testing.assert_array_equal(model.labels_, without.labels_)


def test_an_empty_cluster_gets_the_farthest_row():
    cells = [[0.0], [1.0], [2.0], [10.0]]
    model = KMeans(2, init=[[1.0], [99.0]]).fit(cells)
    assert model.labels_.tolist() == [0, 0, 0, 1]
    assert model.cluster_centers_.ravel().tolist() == [1.0, 10.0]


def test_of_equally_far_rows_the_first_fills():
    model = KMeans(2, init=[[0.0], [99.0]], max_iter=1)
    model.fit([[-3.0], [0.0], [3.0]])
    assert model.cluster_centers_.ravel().tolist() == [1.5, -3.0]


def test_rows_without_weight_are_labelled_only():
    model = KMeans(2, init=[[0.0], [9.0]])
    model.fit([[0.0], [9.0], [100.0]], sample_weight=[1, 1, 0])
    assert model.cluster_centers_.ravel().tolist() == [0.0, 9.0]
    assert model.labels_.tolist() == [0, 1, 1]


# Tables


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_tables_of_numbers(frame):
    cells = clumps()
    columns = {name: cells[:, place] for place, name in enumerate("abc")}
    plain = KMeans(5, random_state=0).fit(cells)
    model = KMeans(5, random_state=0).fit(frame(columns))
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(frame(columns)), plain.labels_)
    assert model.get_feature_names_out().tolist() == [f"kmeans{i}" for i in range(5)]


def test_files_and_queries():
    path = TABLES / "kmeans_five.csv"
    table = spinney.read_table(path)
    names = [name for name in table.names if table[name].kind == "numeric"][-2:]
    query = duckdb.sql(f"SELECT {', '.join(names)} FROM '{path}'")
    model = KMeans(2, init=[FIVE[1], FIVE[3]]).fit(query)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1]
    assert model.predict({names[1]: [2.0], names[0]: [1.0]}).tolist() == [0]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_nominal_columns_are_refused_by_name(frame):
    with pytest.raises(DataError, match=r"'shade' is nominal.*KPrototypes"):
        KMeans(2).fit(frame({"size": [1.0, 2.0, 3.0], "shade": ["red", "blue", "red"]}))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_missing_cells_are_refused_by_name(frame):
    with pytest.raises(DataError, match=r"'size' is missing .NaN. in row 1"):
        KMeans(2).fit(frame({"size": [1.0, None, 3.0], "b": [1.0, 2.0, 3.0]}))


# Bad input


@pytest.mark.parametrize(
    "cells, words",
    [
        ([[1.0], [np.nan]], "NaN"),
        ([[1.0], [np.inf]], "infinity"),
        ([["a"], ["b"]], "could not convert string"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        ([1.0, 2.0], "2D array"),
        ([[1.0]], "n_samples=1"),
    ],
)
def test_bad_rows(cells, words):
    with pytest.raises(DataError, match=words):
        KMeans(2).fit(cells)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_clusters": 0},
        {"n_clusters": -1},
        {"n_clusters": 2.5},
        {"n_clusters": True},
        {"max_iter": 0},
        {"tol": -1e-4},
        {"tol": np.nan},
        {"tol": "small"},
        {"n_init": 0},
        {"n_init": "many"},
        {"init": "k-means"},
        {"init": [[1.0]]},
        {"init": "random", "random_state": "seed"},
        {"init": [["a", "b"], ["c", "d"]]},
        {"n_jobs": 0},
    ],
)
def test_bad_parameters(parameters):
    with pytest.raises(ParameterError):
        KMeans(**{"n_clusters": 2, **parameters}).fit(FIVE)


def test_infinite_start():
    with pytest.raises(DataError, match="init contains NaN"):
        KMeans(2, init=[[1.0, np.inf], [0.0, 0.0]]).fit(FIVE)


@pytest.mark.parametrize(
    "weights", [[1, 1, 1, 1, -1], [0] * 5, [1, 1, 1, 1, np.nan], [1, 1]]
)
def test_bad_weights(weights):
    with pytest.raises(DataError):
        KMeans(2).fit(FIVE, sample_weight=weights)


def test_other_columns_at_predict():
    model = KMeans(2, random_state=0).fit(FIVE)
    with pytest.raises(DataError, match="3 features"):
        model.predict([[1.0, 2.0, 3.0]])
    named = KMeans(2, random_state=0).fit({"a": [1.0, 2.0], "b": [1.0, 5.0]})
    with pytest.raises(DataError, match="needs the column 'b'"):
        named.predict({"a": [1.0]})


def test_a_fit_that_fails_leaves_the_old_clusters():
    model = KMeans(2, random_state=0).fit(FIVE)
    before = model.clusters_
    with pytest.raises(DataError):
        model.fit([[np.nan]])
    assert model.clusters_ is before
    assert model.n_features_in_ == 2


def test_given_centroids_need_one_start():
    with pytest.warns(SpinneyWarning, match="n_init=3"):
        KMeans(2, init=[FIVE[1], FIVE[3]], n_init=3).fit(FIVE)
