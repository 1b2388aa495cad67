"""Where thresholds lie between two values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney.search.cut_points import midpoint

FINITE = st.floats(allow_nan=False, allow_infinity=False)
LARGEST = np.finfo(float).max


@given(FINITE, FINITE)
@settings(max_examples=examples(300))
def test_a_midpoint_separates(one: float, other: float):
    low, high = sorted((one, other))
    if low < high:
        assert low <= midpoint(low, high) < high


@pytest.mark.parametrize(
    "low, high, expected",
    [
        (0.36, 0.403, 0.3815),
        (1.0, 2.0, 1.5),
        (-3.0, 3.0, 0.0),
        (-1.7e308, 1.7e308, 0.0),
        (1.6e308, 1.7e308, 1.65e308),
        (-1.7e308, -1.6e308, -1.65e308),
        (0.0, 5e-324, 0.0),
        (5e-324, 1e-323, 5e-324),
        (-5e-324, 0.0, -5e-324),
        (1e-320, 3e-320, 2e-320),
    ],
)
def test_midpoints_by_hand(low: float, high: float, expected: float):
    assert midpoint(low, high) == expected


@pytest.mark.parametrize("low", [1.0, 0.1, -1.0, 1e300, -1e-300, 123456.789])
def test_between_neighbouring_floats_the_lower_one_goes_left(low: float):
    high = float(np.nextafter(low, np.inf))
    assert midpoint(low, high) == low


def test_between_values_closer_than_twelve_digits_the_midpoint_is_not_rounded():
    low, high = 1.0 + 4e-13, 1.0 + 5e-13
    assert low < midpoint(low, high) < high


def test_the_largest_numbers():
    low = float(np.nextafter(LARGEST, 0))
    assert midpoint(low, LARGEST) == low
    assert midpoint(-LARGEST, LARGEST) == 0
