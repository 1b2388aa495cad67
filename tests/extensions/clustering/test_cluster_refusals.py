"""What clusters refuse, with a word for it, and what stays as it was then."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix, issparse

from spinney import KMeans, KPrototypes, MiniBatchKMeans, explain_clusters
from spinney.errors import DataError, ParameterError

ROWS = np.array([[1.0, 1.0], [1.5, 2.0], [3.0, 4.0], [5.0, 7.0], [3.5, 5.0]])
FRAME = pd.DataFrame(ROWS, columns=["a", "b"])
ALL = pytest.mark.parametrize("kind", [KMeans, MiniBatchKMeans, KPrototypes])
NUMBERS = pytest.mark.parametrize("kind", [KMeans, MiniBatchKMeans])


@ALL
def test_a_table_without_rows(kind):
    model = kind(2, random_state=0).fit(FRAME)
    with pytest.raises(DataError, match="no rows"):
        model.predict(FRAME.iloc[:0])
    with pytest.raises(DataError, match="no rows"):
        kind(2).fit(FRAME.iloc[:0])


@ALL
@pytest.mark.parametrize("bad", [[1, 2], [-1] * 5, [np.nan] * 5, [1j] * 5])
def test_weights_that_are_none(kind, bad):
    model = kind(2, random_state=0).fit(FRAME)
    for use in (model.score, kind(2).fit):
        with pytest.raises(DataError):
            use(FRAME, sample_weight=bad)


@ALL
def test_weights_whose_sum_is_beyond_floats(kind):
    with pytest.raises(DataError, match=r"weights in sample_weight overflows.*divide"):
        kind(2).fit(FRAME, sample_weight=[1e308] * 5)


@ALL
def test_a_square_that_overflows_counts_by_its_weight(kind):
    model = kind(2, random_state=0).fit(ROWS)
    far = np.vstack([ROWS, [[1e200, 1e200]]])
    assert model.score(far, sample_weight=[1, 1, 1, 1, 1, 0]) == model.score(ROWS)
    assert model.score(far) == -np.inf


@ALL
@pytest.mark.parametrize(
    "rows", [csr_matrix(ROWS), pd.DataFrame(ROWS, columns=[0, "b"])]
)
def test_what_scikit_learn_refuses_is_our_error(kind, rows):
    if kind is KPrototypes and issparse(rows):
        model = kind(2, random_state=0)
        assert model.fit(rows).cost_ == model.fit(ROWS).cost_
        return
    with pytest.raises(DataError):
        kind(2).fit(rows)


@NUMBERS
@pytest.mark.parametrize(("cell", "name"), [(np.nan, "NaN"), (-np.inf, "-infinity")])
def test_a_cell_of_an_array_is_named(kind, cell, name):
    rows = ROWS.copy()
    rows[3, 1] = cell
    with pytest.raises(DataError, match=f"column 1 contains {name} in row 3"):
        kind(2).fit(rows)


@NUMBERS
def test_masked_cells_are_no_numbers(kind):
    with pytest.raises(DataError, match="masked"):
        kind(2).fit(np.ma.masked_array(ROWS, mask=ROWS > 4))


@pytest.mark.parametrize("bad", [None, "auto", "x", [2], 0])
def test_batches_need_a_number_of_clusters(bad, tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.to_csv(path, index=False)
    model = MiniBatchKMeans(bad)
    for use, rows in [
        (model.fit, ROWS),
        (model.fit, path),
        (model.fit_batches, [ROWS]),
        (model.partial_fit, ROWS),
    ]:
        with pytest.raises(ParameterError, match="n_clusters"):
            use(rows)


def test_batches_that_are_none():
    with pytest.raises(DataError, match="batches=None"):
        MiniBatchKMeans(2).fit_batches(None)
    with pytest.raises(DataError, match="no rows"):
        MiniBatchKMeans(2).fit_batches([FRAME, FRAME.iloc[:0]])
    with pytest.raises(DataError, match="no rows"):
        MiniBatchKMeans(2).partial_fit(FRAME).partial_fit(FRAME.iloc[:0])


def test_batches_whose_columns_are_found_by_name():
    first = {"a": [0.0, 10.0], "b": [1.0, 11.0]}
    second = {"b": [3.0, 13.0], "a": [2.0, 12.0]}
    model = MiniBatchKMeans(2, init=[[0, 0], [10, 10]]).fit_batches([first, second])
    assert model.cluster_centers_.tolist() == [[1.0, 2.0], [11.0, 12.0]]


def test_batches_that_fail_leave_the_old_clusters():
    model = MiniBatchKMeans(2, random_state=0).fit(FRAME)
    before = dict(vars(model))
    with pytest.raises(DataError):
        model.fit_batches([FRAME, FRAME[["a"]]])
    assert vars(model) == before


def test_batches_start_on_rows_of_weight():
    weights = np.zeros(20_000)
    weights[[5, -1]] = 1
    rows = np.arange(20_000.0)[:, None]
    model = MiniBatchKMeans(2, batch_size=100, random_state=0)
    model.fit(rows, sample_weight=weights)
    assert sorted(model.cluster_centers_[:, 0]) == [5.0, 19_999.0]


@pytest.mark.parametrize("rows", [0, -1, "x", 1.5])
def test_a_trace_shows_a_row_at_least(rows):
    model = KMeans(2, random_state=0).fit(ROWS)
    with pytest.raises(ParameterError, match="rows="):
        model.explain(ROWS, rows=rows)


def test_no_rows_have_no_clusters_to_explain():
    with pytest.raises(DataError, match="no rows"):
        explain_clusters({"a": []}, [])


def test_a_later_row_that_no_float_holds_in_units_of_its_column():
    rows = {"size": [0.0, 0.01, 0.1, 0.11]}
    model = KMeans(2, standardise=True, random_state=0).fit(rows)
    with pytest.raises(DataError, match=r"'size' contains 1e\+308, which overflows"):
        model.predict({"size": [0.0, 1e308]})
