"""The table in memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.data.table import Column, Table, factorise, level_order
from spinney.errors import DataError


@pytest.fixture
def table():
    return Table(
        (
            Column("n", "numeric", np.array([1.0, np.nan, 3.0])),
            Column("c", "nominal", np.array([1, 0, -1], dtype=np.int32), ("a", "b")),
        ),
        3,
    )


def test_names_and_columns_by_name(table):
    assert table.names == ("n", "c")
    assert table["c"].levels == ("a", "b")


def test_unknown_name(table):
    with pytest.raises(DataError, match="no column 'm': known: 'n', 'c'"):
        table["m"]


def test_missing(table):
    assert table["n"].missing.tolist() == [False, True, False]
    assert table["c"].missing.tolist() == [False, False, True]


def test_without(table):
    assert table.without(["n"]).names == ("c",)
    assert table.without(["n", "c"]).n_rows == 3
    assert table.without([]).names == table.names


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (slice(0, 2), [1, 0]),
        (np.array([2, 0, 0]), [-1, 1, 1]),
        (np.array([True, False, True]), [1, -1]),
        (np.array([], dtype=np.intp), []),
    ],
)
def test_take(table, rows, expected):
    taken = table.take(rows)
    assert taken.n_rows == len(expected)
    assert taken["c"].cells.tolist() == expected
    assert taken["c"].levels == ("a", "b")


def test_level_order_keeps_types_apart():
    assert sorted(["b", 2, True, "1", 1, False, 0.5], key=level_order) == [
        False,
        True,
        0.5,
        1,
        2,
        "1",
        "b",
    ]


def test_factorise_keeps_types_apart():
    codes, levels = factorise(["1", 1, None, True, 1])
    assert codes.tolist() == [2, 1, -1, 0, 1]
    assert list(map(repr, levels)) == ["True", "1", "'1'"]


def test_factorise_nothing():
    codes, levels = factorise([])
    assert (codes.tolist(), levels) == ([], ())
    codes, levels = factorise([None, None])
    assert (codes.tolist(), levels) == ([-1, -1], ())


@given(st.lists(st.none() | st.text(max_size=3)))
def test_the_way_for_text_agrees_with_the_general_one(values):
    codes, levels = factorise(values)
    general_codes, general_levels = factorise([*values, 0])
    assert codes.dtype == general_codes.dtype == np.int32
    assert levels == general_levels[1:]
    assert codes.tolist() == [max(code - 1, -1) for code in general_codes[:-1].tolist()]


@given(st.lists(st.none() | st.text(max_size=2) | st.booleans() | st.integers(0, 3)))
def test_codes_give_the_values_back(values):
    codes, levels = factorise(values)
    back = [None if code < 0 else levels[code] for code in codes]
    assert list(map(repr, back)) == list(map(repr, values))
    assert list(levels) == sorted(levels, key=level_order)
