"""Measures of clusters beside plain loops, scikit-learn, and arithmetic by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    calinski_harabasz_score,
    davies_bouldin_score,
    silhouette_score,
)
from tests.helpers.fuzz import examples
from tests.twins import naive_choosing as naive

from spinney.errors import DataError
from spinney.extensions.clustering.choose_k import cluster_measures as measures_module
from spinney.extensions.clustering.choose_k.cluster_measures import (
    calinski_harabasz,
    davies_bouldin,
    silhouettes,
)


def silhouette(cells, labels, weights=None):
    """Return the silhouette of one clustering."""
    return silhouettes(cells, [labels], weights)[0]


small = st.integers(-3, 3).map(float)
middling = st.floats(-1e6, 1e6, width=32).filter(lambda x: x == 0 or abs(x) > 1e-3)


@st.composite
def clusterings(draw):
    """Return rows, labels, and weights that are whole numbers, or none."""
    cell = draw(st.sampled_from([small, middling]))
    n_columns = draw(st.integers(1, 3))
    row = st.lists(cell, min_size=n_columns, max_size=n_columns)
    rows = draw(st.lists(row, min_size=1, max_size=12))
    n = len(rows)
    labels = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    weights = None
    if draw(st.booleans()):
        weights = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
        weights[0] = max(1, weights[0])
    return rows, labels, weights


def close(found, expected):
    if expected is None or found is None:
        return found is expected
    return found == pytest.approx(expected, rel=1e-7, abs=1e-9)


@settings(max_examples=examples(200))
@given(clusterings())
def test_each_measure_is_the_naive_one(clustering):
    rows, labels, weights = clustering
    cells = np.array(rows)
    own = None if weights is None else np.array(weights, dtype=float)
    for measure in ("silhouette", "davies_bouldin", "calinski_harabasz"):
        expected = getattr(naive, measure)(rows, labels, weights)
        # One centroid, or none of the scatter, but for a rounding: not told apart.
        if expected is not None and not abs(expected) < 1e9:
            continue
        found = globals()[measure](cells, labels, own)
        if found is not None and np.isinf(found):
            continue
        assert close(found, expected), measure


def blobs(n, seed=0):
    random = np.random.default_rng(seed)
    labels = random.integers(4, size=n)
    return random.normal(size=(n, 3)) + 4 * labels[:, None], labels


@pytest.mark.parametrize("seed", range(3))
def test_scikit_learn_agrees(seed):
    cells, labels = blobs(300, seed)
    assert silhouette(cells, labels) == pytest.approx(silhouette_score(cells, labels))
    assert calinski_harabasz(cells, labels) == pytest.approx(
        calinski_harabasz_score(cells, labels)
    )
    assert davies_bouldin(cells, labels) == pytest.approx(
        davies_bouldin_score(cells, labels)
    )


def test_several_at_once_in_blocks_and_threads(monkeypatch):
    cells, labels = blobs(300)
    monkeypatch.setattr(measures_module, "MAX_ROWS", 7)
    labelings = [labels, labels % 2, np.zeros(300), np.arange(300)]
    one, two = (silhouettes(cells, labelings, n_jobs=n) for n in (1, 2))
    assert one == two
    assert one[0] == pytest.approx(silhouette_score(cells, labels))
    assert one[1] == pytest.approx(silhouette_score(cells, labels % 2))
    assert one[2:] == [None, 0.0]


def test_by_hand():
    """Rows 0, 1 and 4, 6 on a line.

    Widths: of 0, a = 1 and b = 5, 4/5; of 1, a = 1 and b = 4, 3/4; of 4, a = 2 and
    b = 3.5, 3/7; of 6, a = 2 and b = 5.5, 7/11. Centroids 0.5 and 5, mean 2.75; W =
    0.5 + 2 = 2.5, B = 4 · 2.25² = 20.25. Spreads 0.5 and 1, their distance 4.5.
    """
    cells, labels = np.array([[0.0], [1.0], [4.0], [6.0]]), [0, 0, 1, 1]
    expected = (4 / 5 + 3 / 4 + 3 / 7 + 7 / 11) / 4
    assert silhouette(cells, labels) == pytest.approx(expected)
    assert calinski_harabasz(cells, labels) == pytest.approx(20.25 / (2.5 / 2))
    assert davies_bouldin(cells, labels) == pytest.approx(1.5 / 4.5)


def test_one_cluster_has_no_measure():
    cells = np.array([[0.0], [1.0]])
    for measure in (silhouette, calinski_harabasz, davies_bouldin):
        assert measure(cells, [3, 3]) is None


def test_each_row_a_cluster():
    cells = np.array([[0.0], [1.0], [5.0]])
    assert silhouette(cells, [0, 1, 2]) == 0.0
    assert calinski_harabasz(cells, [0, 1, 2]) is None
    assert davies_bouldin(cells, [0, 1, 2]) is None


def test_no_scatter():
    """0.1 three times has a mean that is not 0.1, but no scatter."""
    cells, labels = np.array([[0.1]] * 3 + [[0.7]] * 3), [0] * 3 + [1] * 3
    assert silhouette(cells, labels) == pytest.approx(1.0)
    assert calinski_harabasz(cells, labels) == np.inf
    assert davies_bouldin(cells, labels) == 0.0


def test_equal_rows_in_two_clusters():
    cells = np.ones((4, 2))
    assert silhouette(cells, [0, 0, 1, 1]) == 0.0
    assert davies_bouldin(cells, [0, 0, 1, 1]) == 0.0
    crossed = np.array([[0.0], [2.0], [0.0], [2.0]])
    assert davies_bouldin(crossed, [0, 0, 1, 1]) == np.inf


@pytest.mark.parametrize("scale", [1e-250, 1e-5, 1e200, 1e300])
def test_no_scale_overflows(scale):
    cells, labels = blobs(60)
    for measure in (silhouette, calinski_harabasz, davies_bouldin):
        assert measure(cells * scale, labels) == pytest.approx(measure(cells, labels))


def test_bad_input():
    cells = np.zeros((3, 1))
    with pytest.raises(DataError, match="one label"):
        silhouette(cells, [0, 1])
    with pytest.raises(DataError, match="one weight"):
        davies_bouldin(cells, [0, 1, 1], np.ones(2))
    with pytest.raises(DataError, match="finite"):
        calinski_harabasz(np.array([[np.nan], [1.0]]), [0, 1])
    with pytest.raises(DataError, match="at least 0"):
        silhouette(cells, [0, 1, 1], np.array([1.0, -1.0, 1.0]))
