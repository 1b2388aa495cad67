"""How values, numbers, dates and weights read, and that numbers read back."""

import datetime
from math import inf, ulp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney._support.text import number_text, shown, value_text, weight_text
from spinney.data.times import CLOCK_UNIT, DAY_UNIT, INSTANT_UNIT, parse_time


@pytest.mark.parametrize(
    "value, text",
    [
        ("7", "7"),
        (7, "7"),
        (7.0, "7"),
        (-7.0, "-7"),
        (0.1, "0.1"),
        (1e15, "1000000000000000"),
        (1e16, "1e+16"),
        (-0.0, "0"),
        (inf, "inf"),
        (True, "true"),
        (False, "false"),
        ("True", "True"),
        (2**70, str(2**70)),
    ],
)
def test_values(value, text):
    assert value_text(value) == text


@given(st.text() | st.integers() | st.booleans() | st.floats(allow_nan=False))
def test_what_is_shown_is_one_printable_line(value):
    text = shown(value)
    assert text.isprintable()
    if value_text(value).isprintable():
        assert text == value_text(value)


@pytest.mark.parametrize(
    "value, text",
    [
        ("two\nlines", "two\\nlines"),
        ("\t\x1b[31m", "\\t\\x1b[31m"),
        ("\u202egnp", "\\u202egnp"),
        ("\ud800", "\\ud800"),
        ("grün ≤ 3", "grün ≤ 3"),
        ("back\\slash", "back\\slash"),
    ],
)
def test_control_characters_are_escaped(value, text):
    assert shown(value) == text


@given(st.floats(allow_nan=False))
def test_a_number_reads_back_as_itself(number):
    assert float(number_text(number)) == number


@given(st.integers(-300_000, 300_000))
def test_a_day_reads_back_as_itself(day):
    assert parse_time(number_text(float(day), DAY_UNIT), DAY_UNIT) == day


@given(st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1)))
def test_an_instant_reads_back_as_itself(moment):
    seconds = (moment - datetime.datetime(1970, 1, 1)) / datetime.timedelta(seconds=1)
    assert number_text(seconds, INSTANT_UNIT) == moment.isoformat()


@pytest.mark.parametrize(
    "number, unit, text",
    [
        (0.0, DAY_UNIT, "1970-01-01"),
        (-1.0, DAY_UNIT, "1969-12-31"),
        (1.5, DAY_UNIT, "1970-01-02T12:00:00"),
        (86400.0, INSTANT_UNIT, "1970-01-02T00:00:00"),
        (0.25, INSTANT_UNIT, "1970-01-01T00:00:00.250000"),
        (3661.0, CLOCK_UNIT, "01:01:01"),
        (1e18, DAY_UNIT, "1e+18"),  # beyond the calendar
        (7.0, "kg", "7"),
        (7.5, None, "7.5"),
    ],
)
def test_numbers_with_units(number, unit, text):
    assert number_text(number, unit) == text


@given(st.floats(1e-300, 1e15))
def test_a_weight_is_within_half_a_unit_of_its_last_digit(weight):
    text = weight_text(weight)
    assert float(text) == pytest.approx(weight, abs=5.1e-5 + ulp(weight))
    assert float(text) > 0
    if weight.is_integer():
        assert text == str(int(weight))
    elif "e" not in text:
        assert len(text.partition(".")[2]) <= 4


@pytest.mark.parametrize(
    "weight, text",
    [
        (0.0, "0"),
        (7.0, "7"),
        (7 / 15, "0.4667"),
        (2.5, "2.5"),
        (100.00001, "100"),
        (1e-9, "1e-09"),
        (0.00004, "4e-05"),
        (1e308, "1e+308"),
        (1e16, "1e+16"),
        (-1e16, "-1e+16"),
        (float("inf"), "inf"),
    ],
)
def test_weights(weight, text):
    assert weight_text(weight) == text
