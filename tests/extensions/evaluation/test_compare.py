"""The corrected resampled t-test, against arithmetic on paper."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from spinney.errors import ParameterError
from spinney.extensions.evaluation import Comparison, corrected_t_test
from spinney.extensions.evaluation.report import _comparison_texts

numbers = st.lists(st.integers(-50, 50).map(lambda n: n / 100), min_size=2, max_size=30)


def test_by_hand():
    # Mean 0.03, squares of deviations add up to 0.002: variance 0.0005. The factor
    # is 1/5 + 20/80 = 0.45, so t = 0.03 / sqrt(0.000225) = 0.03 / 0.015 = 2. With
    # tan(θ) = 2/√4 = 1, P(|T| > t) for 4 degrees is 1 − sin θ (1 + cos² θ / 2).
    t, degrees, p = corrected_t_test([0.02, 0.04, 0, 0.06, 0.03], n_train=80, n_test=20)
    assert t == pytest.approx(2)
    assert degrees == 4
    assert p == pytest.approx(1 - math.sqrt(0.5) * 1.25)


def test_order_of_the_recipes_turns_the_sign():
    t, _, p = corrected_t_test([0.1, 0.3, 0.2], n_train=2, n_test=1)
    turned, _, same = corrected_t_test([-0.1, -0.3, -0.2], n_train=2, n_test=1)
    assert (turned, same) == (-t, p)


@given(numbers)
def test_without_the_correction_it_is_the_plain_test(differences):
    t, degrees, p = corrected_t_test(differences, n_train=1, n_test=0)
    if len(set(differences)) == 1:
        assert p == 1 if differences[0] == 0 else math.isnan(p)
        return
    plain = stats.ttest_1samp(differences, 0)
    assert t == pytest.approx(plain.statistic, abs=1e-9)
    assert p == pytest.approx(plain.pvalue, abs=1e-9)
    assert degrees == plain.df


@given(numbers)
def test_the_correction_makes_p_larger(differences):
    _, _, plain = corrected_t_test(differences, n_train=1, n_test=0)
    _, _, corrected = corrected_t_test(differences, n_train=9, n_test=1)
    if len(set(differences)) == 1:
        assert str(plain) == str(corrected)  # 1, or nan
        return
    assert 0 <= plain <= corrected <= 1


def test_no_difference_at_all():
    t, degrees, p = corrected_t_test([0, 0, 0], n_train=2, n_test=1)
    assert math.isnan(t)
    assert (degrees, p) == (2, 1)


# 0.9 − 0.8, 0.8 − 0.7 and 0.4 − 0.3 are three different floats.
ROUNDED = [0.8 - 0.9, 0.7 - 0.8, 0.3 - 0.4]


@pytest.mark.parametrize("differences", [[-0.1] * 3, ROUNDED])
def test_the_same_difference_everywhere(differences):
    t, degrees, p = corrected_t_test(differences, n_train=2, n_test=1)
    assert (t, degrees) == (-math.inf, 2)
    assert math.isnan(p)


def test_what_is_not_known_is_told_as_such():
    found = Comparison("a", "b", "accuracy", 0.1, math.inf, 2, math.nan)
    assert (found.as_dict()["t"], found.as_dict()["p"]) == (None, None)
    assert _comparison_texts(found) == ("0.1000", "t = infinite", "p undefined")
    same = Comparison("a", "b", "accuracy", 0.0, math.nan, 2, 1.0)
    assert (same.as_dict()["t"], same.as_dict()["p"]) == (None, 1.0)
    assert _comparison_texts(same) == ("0.0000", "all equal", "untested")


def test_one_fold_is_too_few():
    with pytest.raises(ParameterError, match="two folds or more, not 1"):
        corrected_t_test([0.1], n_train=2, n_test=1)
