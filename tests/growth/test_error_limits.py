"""The pessimistic error, against the book, plain loops and its own meaning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.twins.naive_rulesets import upper_limit

from spinney.errors import ParameterError
from spinney.growth.prune.error_limits import upper_errors

LEVELS = st.floats(0.01, 0.99)


@pytest.mark.parametrize(("total", "limit"), [(6, 0.206), (9, 0.143), (1, 0.750)])
def test_leaves_without_errors_of_quinlan(total, limit):
    # Quinlan (1993), C4.5: Programs for Machine Learning, page 41; 1 - 0.25^(1/N).
    assert upper_errors(0, total, 0.25) == pytest.approx(limit, abs=5e-4)
    assert upper_errors(0, total, 0.25) == pytest.approx(1 - 0.25 ** (1 / total))


def test_one_error_in_sixteen():
    # By hand: (1-U)^16 + 16 U (1-U)^15 = 0.25 at U = 0.15961. The book prints 0.157
    # (page 42), which its own definition does not give: the program approximates.
    limit = float(upper_errors(1, 16, 0.25))
    assert limit == pytest.approx(0.15961, abs=5e-6)
    assert (1 - limit) ** 16 + 16 * limit * (1 - limit) ** 15 == pytest.approx(0.25)
    assert limit == pytest.approx(0.157, abs=3e-3)


@given(st.integers(1, 60), st.data(), LEVELS)
def test_plain_loops_agree(total, data, level):
    errors = data.draw(st.integers(0, total - 1))
    found = upper_errors(errors, total, level)
    assert found == pytest.approx(upper_limit(errors, total, level), abs=1e-9)


@given(st.floats(0, 50), st.floats(0.01, 50), st.floats(0.01, 5), LEVELS)
def test_weights_that_are_not_whole(errors, right, more, level):
    limit = upper_errors(errors, errors + right, level)
    assert 0 <= limit <= 1
    assert upper_errors(errors + more, errors + more + right, level) >= limit - 1e-12
    assert upper_errors(errors, errors + right + more, level) <= limit + 1e-12
    whole = np.floor(errors)
    around = upper_errors([whole, whole + 1], errors + right + 1, level)
    here = upper_errors(errors, errors + right + 1, level)
    assert around[0] - 1e-12 <= here <= around[1] + 1e-12


def test_nothing_right_or_nothing_there():
    np.testing.assert_array_equal(upper_errors([3, 0, 4], [3, 0, 2], 0.25), [1, 1, 1])


def test_many_at_once():
    errors, weights = np.array([[0, 1], [2, 3]]), np.array([10, 20])
    found = upper_errors(errors, weights, 0.1)
    assert found.shape == (2, 2)
    assert found[1, 0] == upper_errors(2, 10, 0.1)


@pytest.mark.parametrize("level", [0, 1, -0.1, 2, "0.25", None, True, float("nan")])
def test_levels_that_are_none(level):
    with pytest.raises(ParameterError, match=r"confidence=.* must be a number between"):
        upper_errors(0, 1, level)
