"""Numbers and weights near the limits of floats, and ties but for a rounding."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from spinney import KMeans, KPrototypes, MiniBatchKMeans, load
from spinney._support.jit.loading_time import wants_kernels
from spinney.errors import DataError, ParameterError, SpinneyWarning
from spinney.extensions.clustering import fit_k_means as fit
from spinney.extensions.clustering.fit_k_means import KMeansMethod, k_means_plus_plus
from spinney.extensions.clustering.numeric_rows import NumericRows
from spinney.extensions.clustering.random_rows import RandomStream, RowSampler
from spinney.output.file.model_files import save_model

ROWS = np.array([[1.0, 1.0], [1.5, 2.0], [3.0, 4.0], [5.0, 7.0], [3.5, 5.0]])
START = ROWS[[1, 3]]


def make_clusters(kind, rows, weights=None):
    start = "cao" if kind is KPrototypes else START
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpinneyWarning)
        warnings.simplefilter("error", RuntimeWarning)
        return kind(2, init=start).fit(rows, sample_weight=weights)


@pytest.mark.parametrize("kind", [KMeans, MiniBatchKMeans, KPrototypes])
@pytest.mark.parametrize("unit", [2.0**1010, 2.0**-1074, 2.0**-600])
def test_the_unit_of_weights_changes_nothing(kind, unit):
    weights = np.array([1.0, 2.0, 1.0, 3.0, 2.0])
    usual = make_clusters(kind, ROWS, weights)
    model = make_clusters(kind, ROWS, weights * unit)
    assert np.array_equal(model.cluster_centers_, usual.cluster_centers_)
    assert np.array_equal(model.labels_, usual.labels_)
    assert model.counts_.tolist() == (usual.counts_ * unit).tolist()


@pytest.mark.parametrize("kind", [KMeans, MiniBatchKMeans, KPrototypes])
def test_a_weight_that_vanishes_beside_another(kind):
    model = make_clusters(kind, ROWS, [1e308, 1e-308, 1.0, 1.0, 1.0])
    assert np.isfinite(model.cluster_centers_).all()
    assert model.cluster_centers_[model.labels_[0]].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("power", [1020, 700, -600, -1000])
def test_batches_of_huge_and_tiny_rows(power):
    start = np.ldexp(START, power)
    model = MiniBatchKMeans(2, init=start).fit(np.ldexp(ROWS, power))
    usual = MiniBatchKMeans(2, init=START).fit(ROWS)
    expected = np.ldexp(usual.cluster_centers_, power)
    np.testing.assert_array_equal(model.labels_, usual.labels_)
    np.testing.assert_allclose(model.cluster_centers_, expected, rtol=1e-15)


def test_batches_from_one_end_of_floats_to_the_other():
    batches = [np.array([[1e308], [-1e308]]), np.array([[-1.7e308], [1.7e308]])]
    model = MiniBatchKMeans(2, random_state=0).fit_batches(batches)
    assert sorted(model.cluster_centers_[:, 0]) == pytest.approx([-1.35e308, 1.35e308])
    alone = MiniBatchKMeans(1, random_state=0).fit_batches(batches)
    assert abs(alone.cluster_centers_[0, 0]) < 1e293


@pytest.mark.parametrize("kind", [KMeans, KPrototypes])
def test_small_columns_beside_a_huge_one(kind):
    wide = np.column_stack([np.full(5, 1e200), ROWS])
    found = kind(2, init=wide[[1, 3]]).fit(wide)
    usual = kind(2, init=ROWS[[1, 3]]).fit(ROWS)
    assert found.inertia_ == usual.inertia_
    assert np.array_equal(found.cluster_centers_[:, 1:], usual.cluster_centers_)


@pytest.mark.parametrize("power", [700, -700])
@pytest.mark.parametrize("kind", [KMeans, MiniBatchKMeans])
def test_distances_of_huge_and_tiny_rows(kind, power):
    rows = np.ldexp(ROWS, power)
    model = kind(2, init=rows[[1, 3]]).fit(rows)
    usual = kind(2, init=ROWS[[1, 3]]).fit(ROWS)
    expected = np.ldexp(usual.transform(ROWS), power)
    np.testing.assert_allclose(model.transform(rows), expected, rtol=1e-14)


def test_single_precision_rows_of_a_model_in_double_precision():
    model = KMeans(2, init=START * 1e100).fit(ROWS * 1e100)
    rows = np.array([[1.0, 1.0], [3e38, 3e38]], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(rows).tolist() == [0, 0]
    precise = KMeans(2, init=[[0.0], [1.0 + 2.0**-40]], max_iter=1)
    precise.fit([[0.0], [1.0 + 2.0**-40]])
    middle = np.array([[0.5]], np.float32)
    assert precise.predict(middle).tolist() == [0]


@pytest.mark.parametrize("kind", [KMeans, MiniBatchKMeans, KPrototypes])
def test_a_start_beyond_all_measure_is_refused(kind):
    with pytest.raises(DataError, match=r"init contains 1e\+308.*nearer to the rows"):
        kind(2, init=[[1e308, 0.0], [1e307, 0.0]]).fit(ROWS)


def test_a_start_that_single_precision_does_not_hold_is_refused():
    with pytest.raises(DataError, match=r"init contains 1e\+100"):
        KMeans(2, init=[[1e100, 0.0], [1.0, 0.0]]).fit(ROWS.astype(np.float32))


def test_candidates_that_tie_but_for_a_rounding():
    # Two rows near to each other lower the sum alike, whichever of them is taken.
    generator = np.random.default_rng(8)
    for seed in range(60):
        rows = generator.normal(size=(40, 3))
        times = generator.integers(1, 4, 40)
        many = np.repeat(rows, times, axis=0)
        own = times.astype(float)
        for turn in range(2):
            draws = RandomStream(seed).branch(turn)
            one = k_means_plus_plus(NumericRows(rows, own), 15, draws, RowSampler(rows))
            draws = RandomStream(seed).branch(turn)
            two = k_means_plus_plus(
                NumericRows(many, np.empty(0)), 15, draws, RowSampler(many)
            )
            assert np.array_equal(rows[one], many[two])


def test_starts_that_tie_but_for_a_rounding():
    generator = np.random.default_rng(9)
    for seed in range(60):
        grid = generator.integers(0, 3, (40, 2)) / 3
        order = generator.permutation(40)
        method = KMeansMethod(n_init=6, seed=seed)
        one, two = method.fit(grid, 4), method.fit(grid[order], 4)
        assert np.array_equal(one.centroids, two.centroids)


def test_a_file_of_clusters_whose_inertia_is_beyond_floats(tmp_path):
    model = KMeans(2, init=START * 1e200).fit(ROWS * 1e200)
    assert model.inertia_ == np.inf
    model.save(tmp_path / "huge.spinney")
    again = load(tmp_path / "huge.spinney")
    assert again.inertia_ == np.inf
    assert np.array_equal(again.predict(ROWS * 1e200), model.labels_)


def test_few_rows_of_many_columns_are_for_compiled_loops(monkeypatch):
    asked = []
    real = fit.make_numeric_rows

    def asking(cells, weights, work, n_jobs):
        asked.append(wants_kernels("k-means", work))
        return real(cells, weights, 0, n_jobs)

    monkeypatch.setattr(fit, "make_numeric_rows", asking)
    KMeansMethod(n_init=2).fit(np.eye(4, 3000), 2)
    KMeansMethod(n_init=2).fit(np.eye(4, 30), 2)
    assert asked == [True, False]


def test_a_file_whose_tolerance_is_none(tmp_path):
    clusters = KMeans(2, init=START).fit(ROWS).clusters_
    wrong = replace(clusters, settings={**clusters.settings, "tol": None})
    with pytest.raises(ParameterError, match="tol must be a number"):
        save_model(wrong, tmp_path / "wrong.spinney")
