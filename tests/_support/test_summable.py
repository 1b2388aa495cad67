"""Numbers that add up exactly, held against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney._support.summable import (
    MAX_NUMBERS,
    MIN_BITS,
    add_up_exactly,
    least_bit,
    round_to_exact_sums,
)

SIZES = st.sampled_from([1e-200, 1e-3, 0.1, 1.0, 7.0, 1e9, 1e120])


@given(
    numbers=st.lists(st.floats(0.1, 10), min_size=1, max_size=30),
    size=SIZES,
    factors=st.lists(st.integers(-20, 20), min_size=30, max_size=30),
)
@settings(max_examples=examples(60), deadline=None)
def test_sums_of_any_of_them_in_any_order_are_exact(numbers, size, factors):
    given_numbers = np.array(numbers) * size
    times = np.array(factors[: len(numbers)], float)
    rounded = round_to_exact_sums(given_numbers, [times, times**2])
    assert add_up_exactly(rounded, [times, times**2])
    for each in (rounded, rounded * times, rounded * times**2):
        exact = [Fraction(x) for x in each.tolist()]
        for order in (slice(None), slice(None, None, -1), slice(None, None, 2)):
            assert Fraction(float(np.cumsum(each[order])[-1])) == sum(exact[order])
    assert np.all(np.abs(rounded / given_numbers - 1) <= 2.0 ** -(MIN_BITS + 1))
    assert np.array_equal(round_to_exact_sums(rounded, [times, times**2]), rounded)


@pytest.mark.parametrize(
    "numbers",
    [
        np.array([1.0, 3.0, 2.0**52]),  # whole
        np.array([2.0**52, 2.0**52 - 1]),
        np.array([0.5, 0.75]),
        np.array([1e-12, 0.3]),  # the lightest would lose its digits
        np.array([1e-320, 3e-320]),  # no multiple is a float that has parts
        np.full(MAX_NUMBERS + 1, 0.1),
    ],
    ids=["whole", "large", "halves", "range", "subnormal", "many"],
)
def test_numbers_that_add_up_or_cannot_are_left_alone(numbers):
    assert round_to_exact_sums(numbers) is numbers


def test_few_numbers_of_one_size_are_moved_by_less_than_a_tie():
    numbers = np.random.default_rng(0).uniform(0.5, 2, MAX_NUMBERS)
    assert np.abs(round_to_exact_sums(numbers) / numbers - 1).max() < 2e-12


def test_equal_numbers_stay_equal_and_twice_as_much_is_twice():
    one = round_to_exact_sums(np.full(100, 0.1))
    assert np.all(one == one[0])
    assert np.array_equal(round_to_exact_sums(np.full(100, 0.2)), 2 * one)


def test_the_least_bit_of_numbers_is_that_of_fractions():
    for power in (-1060, -3, 0, 40):
        assert least_bit(np.array([3.0, 5.0]) * 2.0**power) == power
