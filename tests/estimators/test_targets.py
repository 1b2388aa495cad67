"""Cells of y that are no class or no number are refused by row, value and remedy."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from spinney import (
    CellError,
    DataError,
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    TreeRegressor,
)
from spinney.estimators.targets import class_cells, number_cells

ROWS = [[1], [2], [3]]
HUGE = 10**400
DAY = datetime.timedelta(1)
OF_CLASSES = (TreeClassifier("cart"), ForestClassifier(2))
OF_NUMBERS = (TreeRegressor("cart"), ForestRegressor(2))


def forms(cells):
    """Yield cells as users hold them."""
    yield cells
    yield np.array([*cells, None], dtype=object)[:-1]
    yield pd.Series(cells, dtype=object)


def refusals(estimators, cells):
    """Yield the errors of fitting and of scoring."""
    for estimator in estimators:
        good = ["a", "b", "b"] if estimator in OF_CLASSES else [1, 2, 3]
        for y in forms(cells):
            with pytest.raises(DataError) as caught:
                estimator.fit(ROWS, y)
            yield caught.value
            with pytest.raises(DataError) as caught:
                estimator.fit(pd.DataFrame({"x": [1, 2, 3]}), y)
            yield caught.value
            with pytest.raises(DataError) as caught:
                estimator.fit(ROWS, good).score(ROWS, y)
            yield caught.value


@pytest.mark.parametrize(
    "nothing", [None, pd.NA, pd.NaT, float("nan"), Decimal("sNaN"), Decimal("NaN")]
)
def test_a_row_without_a_target(nothing):
    for estimators, wanted in ((OF_CLASSES, "class"), (OF_NUMBERS, "number")):
        for error in refusals(estimators, [1, nothing, 2]):
            assert "Input y contains NaN" in str(error)
            assert f"in row 2: every row needs a {wanted}: leave out" in str(error)


@pytest.mark.parametrize(
    "cell, text",
    [
        ([1], "[1]"),
        ({"a": 1}, "{'a': 1}"),
        ((1, 2), "(1, 2)"),
        ({1}, "{1}"),
        (2j, "2j"),
        (DAY, "datetime.timedelta(days=1)"),
        (datetime.date(2020, 1, 2), "datetime.date(2020, 1, 2)"),
        (..., "Ellipsis"),
    ],
)
def test_a_cell_that_is_no_value(cell, text):
    for estimators in (OF_CLASSES, OF_NUMBERS):
        for error in refusals(estimators, [1, cell, 2]):
            assert isinstance(error, CellError)
            assert f"y holds {text} in row 2, of type" in str(error)
            assert str(error).endswith(": make it text, or a number")


def test_numbers_beyond_the_machines():
    for error in refusals(OF_CLASSES, [1, HUGE, 2]):
        assert "y holds 1000" in str(error)
        assert "in row 2, beyond whole numbers of 64 bits" in str(error)
        assert len(str(error)) < 200
    for error in refusals(OF_NUMBERS, [1, -HUGE, 2]):
        assert "in row 2, which no float can hold: measure y in" in str(error)
    with pytest.raises(DataError, match="y holds something in row 1"):
        number_cells([10**9999], "")


@pytest.mark.parametrize("number", [float("inf"), -float("inf")])
def test_infinity(number):
    for estimators in (OF_CLASSES, OF_NUMBERS):
        for error in refusals(estimators, [1.0, number, 2.0]):
            assert "Input y contains " in str(error)
            assert "inf" in str(error)
            assert "in row 2: every row needs" in str(error)


def test_text_where_there_must_be_numbers():
    for error in refusals(OF_NUMBERS, [1, "few", 2]):
        assert "y holds 'few' in row 2, which is no number: use " in str(error)
        assert str(error).endswith("Classifier")


@pytest.mark.parametrize("y", [pa.array([[1], [2], [1]]), pa.array([b"a", b"b", b"a"])])
def test_columns_of_arrow(y):
    with pytest.raises(CellError, match="in row 1, of type"):
        TreeClassifier().fit(ROWS, y)


@pytest.mark.parametrize("y", [[[1, 2], [1, 2], [1, 2]], 3, {"y": [1, 2, 3]}, "abc"])
def test_what_is_no_column(y):
    for estimator in (TreeClassifier("cart"), TreeRegressor("cart")):
        with pytest.raises(DataError):
            estimator.fit(ROWS, y)


def test_objects_that_are_plain_values():
    truths = class_cells(np.array([True, False], dtype=object))
    assert truths.dtype == bool
    assert class_cells(np.array([2, 1], dtype=object)).dtype.kind == "i"
    assert class_cells(pd.Series(["b", "a"])).tolist() == ["b", "a"]
    halves = number_cells([Fraction(1, 2), Decimal("0.5"), "0.5", True], "")
    assert halves.tolist() == [0.5, 0.5, 0.5, 1.0]
    model = TreeClassifier("cart").fit(ROWS, np.array([True, False, False], object))
    assert model.predict(ROWS).tolist() == [True, False, False]
    assert model.score(ROWS, [True, False, False]) == 1


def test_labels_of_another_kind_than_the_classes_are_refused_in_score():
    model = TreeClassifier("cart").fit(ROWS, ["a", "b", "b"])
    with pytest.raises(DataError, match="string and number"):
        model.score(ROWS, [1, 2, 2])
