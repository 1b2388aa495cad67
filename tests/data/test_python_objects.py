"""NumPy arrays, and the Python objects that a column can hold."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from spinney.data.readers import read_table
from spinney.errors import CellError, DataError, SpinneyWarning


def test_times_of_day(values):
    table = read_table({"x": [datetime.time(0, 1, 0, 500_000), None]})
    assert values(table) == {"x": [60.5, None]}
    assert table["x"].unit == "seconds since midnight"


def test_days_and_instants_together_are_instants(values):
    cells = [datetime.date(1970, 1, 2), datetime.datetime(1970, 1, 1, 1)]
    assert values(read_table({"x": cells})) == {"x": [86400, 3600]}


def test_dates_beside_text_are_refused():
    with pytest.raises(DataError, match=r"'x' mixes day and text cells"):
        read_table({"x": [datetime.date(1970, 1, 2), "soon"]})


def test_numbers_of_every_type(values):
    cells = [1, 2.5, Decimal("0.5"), Fraction(1, 4), np.float32(3), np.int8(4)]
    assert values(read_table({"x": [*cells, Decimal("nan")]})) == {
        "x": [1, 2.5, 0.5, 0.25, 3, 4, None]
    }


def test_text_and_numbers_together_keep_their_types(values):
    table = read_table({"x": ["1", 1, 1.0, True, 2.5, None]})
    assert table["x"].kind == "nominal"
    assert list(map(repr, table["x"].levels)) == ["True", "1", "2.5", "'1'"]
    assert values(table)["x"] == ["1", 1, 1, True, 2.5, None]


@pytest.mark.parametrize("order", [[1, 1.0, "a"], [1.0, 1, "a"]])
def test_levels_do_not_depend_on_the_order_of_rows(order):
    assert list(map(repr, read_table({"x": order})["x"].levels)) == ["1", "'a'"]


@pytest.mark.parametrize(
    "cell", [{"a": 1}, [1], (1,), b"x", 1j, object(), datetime.timedelta(1)]
)
def test_a_cell_that_is_no_value_is_refused(cell):
    pattern = rf"'x' holds a {type(cell).__name__} in row 2.*must be a string or a"
    with pytest.raises(CellError, match=pattern) as caught:
        read_table({"x": ["a", cell]})
    assert "argument must be a string or a number" in str(caught.value)
    assert isinstance(caught.value, TypeError)


def test_an_integer_beyond_float64_is_refused():
    with (
        pytest.warns(SpinneyWarning, match="2\\*\\*53"),
        pytest.raises(DataError, match="'x' holds inf"),
    ):
        read_table({"x": [10**400]})


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1, 2], [3, 4]]),
        np.array([[1, 2], [3, 4]], order="F"),
        np.array([[1, 0, 2, 0], [3, 0, 4, 0]])[:, ::2],
        np.array([[1, 2], [3, 4]], dtype=np.float16),
        np.array([[1, 2], [3, 4]], dtype=np.longdouble),
        np.array([[1, 2], [3, 4]], dtype=np.uint64),
        np.array([[1, 2], [3, 4]], dtype=object),
    ],
)
def test_arrays(array, values):
    array.setflags(write=False)
    assert values(read_table(array)) == {"x0": [1, 3], "x1": [2, 4]}


def test_array_of_objects_column_by_column():
    array = np.array([["a", 1, True], [None, 2.5, False]], dtype=object)
    table = read_table(array)
    assert [column.kind for column in table.columns] == [
        "nominal",
        "numeric",
        "nominal",
    ]
    assert table["x2"].levels == (False, True)


def test_arrays_of_text_booleans_and_times(values):
    assert values(read_table(np.array([["a", ""]]))) == {"x0": ["a"], "x1": [None]}
    assert values(read_table(np.array([[True]]))) == {"x0": [True]}
    table = read_table(np.array([["1970-01-02"], ["NaT"]], dtype="datetime64[D]"))
    assert values(table) == {"x0": [1, None]}
    assert table["x0"].unit == "days since 1970-01-01"
    table = read_table(np.array([["1970-01-02"]], dtype="datetime64[ns]"))
    assert values(table) == {"x0": [86400]}


def test_masked_array(values):
    array = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert values(read_table(array)) == {"x0": [1, 3], "x1": [None, 4]}


def test_uint64_maximum_is_warned_of():
    with pytest.warns(SpinneyWarning, match="'x0'"):
        read_table(np.array([[2**64 - 1]], dtype=np.uint64))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3), "1-dimensional.*reshape"),
        (np.zeros((1, 1, 1)), "3-dimensional"),
        (np.zeros(2, dtype=[("a", int)]), "structured array"),
        (np.zeros((2, 0)), "has no columns"),
        (np.zeros((1, 1), dtype=complex), "must be a string or a number"),
    ],
)
def test_arrays_that_are_no_tables(array, message):
    with pytest.raises(DataError, match=message):
        read_table(array)


class Unwilling(float):
    def __float__(self):
        raise RuntimeError("not today")


@pytest.mark.parametrize(
    "cell, message",
    [
        (np.timedelta64(3, "s"), "a timedelta64 in row 2"),
        (Unwilling(2), r"without a value: RuntimeError\('not today'\)"),
    ],
)
def test_cells_that_are_no_numbers_after_all(cell, message):
    with pytest.raises(CellError, match=rf"'x' .*{message}.*ignore=\['x'\]"):
        read_table({"x": [1.5, cell]})
    with pytest.raises(CellError, match=message):
        read_table({"x": ["a", cell]})


def test_a_signalling_nan_is_missing():
    column = read_table({"x": [Decimal("1.5"), Decimal("sNaN"), Decimal("NaN")]})["x"]
    assert column.missing.tolist() == [False, True, True]
