"""What columns mean to a model."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.data.schema import Attribute, Schema, Target
from spinney.data.table import Column, Table
from spinney.data.times import DAY_UNIT, INSTANT_UNIT
from spinney.errors import DataError

COLOR = Attribute("color", "nominal", ("dark", "green", "light"))
SIZE = Attribute("size", "ordinal", ("small", "large"))
WIDTH = Attribute("width", "numeric")
SCHEMA = Schema((COLOR, SIZE, WIDTH), Target("ripe", (False, True)))


def nominal(name: str, codes: list[int], levels: tuple) -> Column:
    return Column(name, "nominal", np.array(codes, dtype=np.int32), levels)


def numeric(name: str, numbers: list[float]) -> Column:
    return Column(name, "numeric", np.array(numbers))


def test_names_places_and_classes():
    assert SCHEMA.names == ("color", "size", "width")
    assert SCHEMA.position("width") == 2
    assert SCHEMA.n_classes == 2


def test_an_unknown_attribute_gets_a_suggestion():
    with pytest.raises(DataError, match="no attribute 'colour': did you mean 'color'"):
        SCHEMA.position("colour")


def test_the_same_levels_keep_their_codes():
    column = nominal("color", [2, -1, 0], COLOR.values)
    assert COLOR.encode(column) is column.cells


def test_other_levels_are_coded_anew_and_unknown_ones_are_missing():
    column = nominal("color", [0, 1, 2, -1], ("blue", "light", "dark"))
    assert COLOR.encode(column).tolist() == [-1, 2, 0, -1]


def test_a_column_without_levels_is_missing_everywhere():
    assert COLOR.encode(nominal("color", [-1, -1], ())).tolist() == [-1, -1]


@pytest.mark.parametrize("levels", [("7", "8"), (7, 8), (7.0, 8.0)])
def test_values_match_by_their_text(levels: tuple):
    for values in (("7", "8"), (7, 8), (7.0, 8.0)):
        attribute = Attribute("n", "nominal", values)
        assert attribute.encode(nominal("n", [1, 0], levels)).tolist() == [1, 0]


def test_truth_matches_by_its_text_but_is_no_number():
    attribute = Attribute("flag", "nominal", (False, True))
    assert attribute.encode(nominal("flag", [0, 1], ("true", "1"))).tolist() == [1, -1]


def test_values_of_equal_text_are_told_apart_by_their_type():
    attribute = Attribute("n", "nominal", (1, "1"))
    assert attribute.encode(nominal("n", [0, 1], ("1", 1))).tolist() == [1, 0]


def test_numbers_read_as_values():
    attribute = Attribute("n", "nominal", ("1", "2"))
    column = numeric("n", [2.0, np.nan, 1.0, 3.0])
    assert attribute.encode(column).tolist() == [1, -1, 0, -1]


def test_values_read_as_numbers():
    column = nominal("width", [1, -1, 0], ("1.5", "2e3"))
    np.testing.assert_array_equal(WIDTH.encode(column), [2000, np.nan, 1.5])


def test_numbers_stay_numbers():
    column = numeric("width", [1.0, np.nan])
    assert WIDTH.encode(column) is column.cells


def test_text_in_a_numeric_column_is_refused():
    column = nominal("width", [0, 1], ("1", "wide"))
    with pytest.raises(DataError, match=r"'width' was numeric .* but holds 'wide'"):
        WIDTH.encode(column)


@pytest.mark.parametrize("text", ["1_000", "inf", "nan!"])
def test_text_that_only_python_takes_for_a_number_is_refused(text):
    with pytest.raises(DataError, match="'width' was numeric"):
        WIDTH.encode(nominal("width", [0], (text,)))


def test_days_and_instants_are_one_time_line():
    days = Attribute("when", "numeric", (), DAY_UNIT)
    seconds = Attribute("when", "numeric", (), INSTANT_UNIT)
    instant = Column("when", "numeric", np.array([86_400.0 * 1.5]), unit=INSTANT_UNIT)
    day = Column("when", "numeric", np.array([2.0]), unit=DAY_UNIT)
    assert days.encode(instant).tolist() == [1.0]  # its day
    assert seconds.encode(day).tolist() == [172_800.0]
    for text in ("1970-01-03", "1970-01-03 00:00:00"):
        assert days.encode(nominal("when", [0], (text,))).tolist() == [2.0]
        assert seconds.encode(nominal("when", [0], (text,))).tolist() == [172_800.0]


@given(st.integers(-10_000, 80_000), st.integers(0, 86_399_999_999))
def test_an_instant_is_its_day_to_the_microsecond(day, micros):
    start = datetime.datetime(1970, 1, 1)
    moment = start + datetime.timedelta(days=day, microseconds=micros)
    seconds = ((moment - start) // datetime.timedelta(microseconds=1)) / 1e6
    days = Attribute("when", "numeric", (), DAY_UNIT)
    column = Column("when", "numeric", np.array([seconds, np.nan]), unit=INSTANT_UNIT)
    number, missing = days.encode(column).tolist()
    assert number == day
    assert np.isnan(missing)
    text = nominal("when", [0], (moment.isoformat(),))
    assert days.encode(text).tolist() == [number]


def test_times_and_plain_numbers_do_not_mix():
    days = Attribute("when", "numeric", (), DAY_UNIT)
    with pytest.raises(DataError, match=r"'when' counted days .* plain numbers here"):
        days.encode(numeric("when", [3.0]))
    day = Column("width", "numeric", np.array([2.0]), unit=DAY_UNIT)
    with pytest.raises(DataError, match=r"'width' counted plain numbers .* days since"):
        WIDTH.encode(day)
    with pytest.raises(DataError, match=r"'when' was a date or time .* '24/12/2024'"):
        days.encode(nominal("when", [0, 1], ("2024-12-24", "24/12/2024")))


@pytest.mark.parametrize("words", [("False", "True"), ("FALSE", "TRUE"), (False, True)])
@pytest.mark.parametrize(
    "levels", [(False, True), ("false", "true"), ("False", "True")]
)
def test_booleans_meet_their_words(words, levels):
    attribute = Attribute("flag", "nominal", words)
    if all(isinstance(value, str) for value in (*words, *levels)) and words != levels:
        assert attribute.encode(nominal("flag", [0, 1], levels)).tolist() == [-1, -1]
    else:
        assert attribute.encode(nominal("flag", [0, 1], levels)).tolist() == [0, 1]


def test_a_table_is_read_by_the_names_of_its_columns():
    table = Table(
        (
            numeric("width", [1.0, 2.0]),
            nominal("further", [0, 0], ("x",)),
            nominal("color", [0, 1], ("green", "dark")),
            nominal("size", [1, 0], ("large", "small")),
        ),
        2,
    )
    color, size, width = SCHEMA.encode(table)
    assert color.tolist() == [1, 0]
    assert size.tolist() == [0, 1]
    assert width.tolist() == [1, 2]


def test_columns_that_are_not_needed_may_be_absent():
    table = Table((numeric("width", [1.0]),), 1)
    color, size, width = SCHEMA.encode(table, np.array([2]))
    assert color is None
    assert size is None
    assert width.tolist() == [1]


def test_columns_that_are_needed_must_be_there():
    table = Table((numeric("widht", [1.0]),), 1)
    with pytest.raises(DataError, match="columns 'color', 'size', 'width', which"):
        SCHEMA.encode(table)
    with pytest.raises(DataError, match=r"column 'width', .*did you mean 'widht'"):
        SCHEMA.encode(table, np.array([2]))


def test_only_the_first_absent_columns_are_named():
    many = Schema(
        tuple(Attribute(f"c{place}", "numeric") for place in range(12)),
        Target("y", ("a", "b")),
    )
    with pytest.raises(DataError, match="'c9' and 2 more, which"):
        many.encode(Table((), 0))


def test_classes_keep_their_own_types():
    column = nominal("ripe", [0, 1, 2, -1], ("true", "false", "perhaps"))
    assert SCHEMA.target.encode(column).tolist() == [1, 0, -1, -1]
