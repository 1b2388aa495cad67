"""Buckets on their own: plain arrays in, labels and codes out, and what is refused."""

import numpy as np
import pytest

import spinney
from spinney.errors import DataError, ParameterError, SpinneyError
from spinney.search.buckets import bucket_texts


def test_labels():
    assert bucket_texts(np.array([2.5, 7.0])) == ("≤ 2.5", "2.5 < … ≤ 7", "> 7")
    assert bucket_texts(np.array([1.0]), ascii_only=True) == ("<= 1", "> 1")
    days = bucket_texts(np.array([1.0, 2.0]), unit="days since 1970-01-01")
    assert days[1] == "1970-01-02 < … ≤ 1970-01-03"
    assert bucket_texts(np.empty(0)) == ("any number",)


def test_buckets_of_plain_numbers():
    buckets = spinney.discretise([1, 2, None, 9, float("nan"), 9.5, 30], n_buckets=3)
    assert len(buckets) == 3
    assert buckets.cuts.tolist() == [5.5, 19.75]
    assert buckets.counts.tolist() == [2, 2, 1]
    assert buckets.exact
    assert buckets.codes([5.5, 5.6, None, -1e300]).tolist() == [0, 1, -1, 0]
    assert str(buckets) == (
        "≤ 5.5            2\n"
        "5.5 < … ≤ 19.75  2\n"
        "> 19.75          1"
    )  # fmt: skip
    assert repr(buckets) == ("<Buckets: 3 by k-means: ≤ 5.5, 5.5 < … ≤ 19.75, > 19.75>")
    with pytest.raises(ValueError, match="read-only"):
        buckets.cuts[0] = 3


def test_rows_without_weight_or_class_are_left_out():
    buckets = spinney.discretise(
        [1, 2, 3, 4, 100, 200],
        "equal-width",
        n_buckets=3,
        classes=["a", "b", "a", "b", None, "c"],
        weights=[1, 0.5, 1, 2, 1, 0],
    )
    assert buckets.cuts.tolist() == [2, 3]
    assert buckets.counts.tolist() == [1.5, 1, 2]


def test_containers_agree():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    plain = [1, 5, None, 7]
    wanted = [0, 1, -1, 2]
    for given in (
        plain,
        tuple(plain),
        np.array([1, 5, np.nan, 7], dtype=np.float32),
        np.array(plain, dtype=object),
        pandas.Series(plain),
        pandas.Series(plain, dtype="Int64"),
        polars.Series(plain),
    ):
        buckets = spinney.discretise(given, "equal-frequency", n_buckets=3)
        assert buckets.codes(given).tolist() == wanted


@pytest.mark.parametrize(
    "values",
    [
        [],
        [None, None],
        [float("nan")],
        [1, float("inf")],
        [None, float("-inf")],
        [1, 10**400],
        ["a", "b"],
        ["1", 2],
        [True, False],
        [1, object()],
        [[1, 2], [3, 4]],
        [[1], [2, 3]],
        3,
        "abc",
        None,
        {"a": 1},
        np.array(["2020-01-01"], dtype="datetime64[ns]"),
        [1 + 2j],
    ],
)
def test_what_are_no_numbers(values):
    with pytest.raises(DataError):
        spinney.discretise(values)


def test_refusals_name_the_row_and_the_remedy():
    with pytest.raises(DataError, match=r"values holds inf in row 2.*turn it into"):
        spinney.discretise([1, np.inf])
    with pytest.raises(DataError, match="values holds 'x' in row 3, which is no numb"):
        spinney.discretise([1, None, "x"])
    buckets = spinney.discretise([1, 2])
    with pytest.raises(DataError, match="values holds inf in row 1"):
        buckets.codes([np.inf])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1], "the weight -1 in row 2"),
        ([1, None], "a missing cell in row 2"),
        ([1], "weights has 1 rows and values 2"),
        ([0, 0], "no row has a number, a weight"),
        ([1, "x"], "'x' in row 2"),
        ([np.inf, 1], "inf in row 1"),
        ([1e308, 1e308], "add up to infinity"),
    ],
)
def test_what_are_no_weights(weights, message):
    with pytest.raises(DataError, match=message):
        spinney.discretise([1, 2], weights=weights)


def test_classes_are_wanted_and_counted():
    with pytest.raises(ParameterError, match="needs classes: give classes="):
        spinney.discretise([1, 2], "entropy-mdl")
    with pytest.raises(DataError, match="classes has 1 rows and values 2"):
        spinney.discretise([1, 2], "entropy-mdl", classes=["a"])
    with pytest.raises(SpinneyError):
        spinney.discretise([1, 2], "entropy-mdl", classes=[object(), object()])


@pytest.mark.parametrize(
    "classes",
    [
        ["a", "a", "b", "b"],
        [0, 0, 1, 1],
        [0.5, 0.5, 1, 1],
        [True, True, False, False],
        ["a", "a", 1, 1],
        np.array(["2020-01-01", "2020-01-01", "2021-01-01", "2021-01-01"], "M8[D]"),
    ],
)
def test_classes_of_any_type(classes):
    buckets = spinney.discretise([1, 2, 3, 4], "entropy-mdl", classes=classes)
    assert buckets.cuts.tolist() == [2.5]
