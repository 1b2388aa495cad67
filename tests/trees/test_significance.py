"""The tests of significance against hand, closed forms and scipy.stats."""

from math import erfc, lgamma, log, log1p, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special, stats

from spinney.trees.counts import CountTable
from spinney.trees.criteria import tails
from spinney.trees.criteria.significance import CERTAIN, chi_square_test, f_test, g_test
from spinney.trees.criteria.tails import log_chi_square_tail, log_f_tail


def log_chi_square(statistic: float, degrees: float) -> float:
    return float(log_chi_square_tail(np.array([statistic]), np.array([degrees]))[0])


def log_f(statistic: float, between: float, within: float) -> float:
    numbers = (np.array([number]) for number in (statistic, between, within))
    return float(log_f_tail(*numbers)[0])


def moments(*groups: list[float]) -> np.ndarray:
    return np.array([[len(g), sum(g), sum(y * y for y in g)] for g in groups], float)


# By hand


def test_chi_square_by_hand():
    # Expected 15 everywhere: 4 · 5² / 15 = 20 / 3, one degree: p = erfc(√(x / 2)).
    test = chi_square_test(CountTable.of([[20, 10], [10, 20]]))
    assert test.statistic == pytest.approx(20 / 3, rel=1e-15)
    assert test.degrees == 1
    assert test.p == pytest.approx(erfc(sqrt(10 / 3)), rel=1e-13)


def test_g_by_hand():
    # 2 · (20 ln(20/15) + 10 ln(10/15)) · 2 = 40 (2 ln(4/3) + ln(2/3)) = 40 ln(32/27).
    test = g_test([[20, 10], [10, 20]])
    assert test.statistic == pytest.approx(40 * log(32 / 27), rel=1e-14)
    assert test.degrees == 1


def test_f_by_hand():
    # 1, 2, 3 and 4, 5, 6: between 6 · 1.5² = 13.5 with 1 degree, within 4 with 4.
    # F = 13.5; t = √13.5 with 4 degrees.
    test = f_test(moments([1, 2, 3], [4, 5, 6]))
    assert test.statistic == pytest.approx(13.5, rel=1e-14)
    assert (test.degrees, test.within) == (1, 4)
    assert test.p == pytest.approx(2 * stats.t.sf(sqrt(13.5), 4), rel=1e-12)


def test_a_stack_of_tables_is_tested_table_by_table():
    tables = np.array([[[3, 1], [1, 3], [0, 0]], [[5, 0], [2, 0], [1, 0]]], float)
    test = chi_square_test(tables)
    assert test.degrees.tolist() == [1, 0]
    assert test.statistic.tolist() == [2, 0]
    assert test.p.tolist() == [pytest.approx(erfc(1.0)), 1]
    assert f_test(np.stack([moments([1, 2], [3, 5]), moments([1], [2])])).p[1] == 1


def test_proportional_rows_are_no_different():
    for test in (chi_square_test, g_test):
        found = test([[1 / 3, 2 / 3, 0.1], [1, 2, 0.3], [7, 14, 2.1]])
        assert found.log_p == pytest.approx(0, abs=1e-13)


def test_f_without_variance():
    apart = f_test(moments([0.1] * 3, [0.3] * 3))
    assert apart.statistic == np.inf
    assert (apart.log_p, apart.p) == (CERTAIN, 0)
    for nothing in (moments([0.1] * 3, [0.1] * 4), moments([2], [3]), moments([1, 2])):
        found = f_test(nothing)
        assert (found.statistic, found.degrees, found.p) == (0, 0, 1)


def test_f_far_from_its_origin():
    # All values at 1e6: what differs is rounding, and must not look certain.
    assert f_test(moments([1e6 + 0.1] * 7, [1e6 + 0.1] * 3)).p == 1


# The far tails, by closed forms


@pytest.mark.parametrize("place", [0.3, 5, 300, 644, 645, 700, 5000, 1e7])
def test_two_degrees_are_an_exponential(place):
    assert log_chi_square(2 * place, 2) == pytest.approx(-place, rel=1e-12)


@pytest.mark.parametrize("half", [2, 5, 50, 500, 5000])
@pytest.mark.parametrize("factor", [1.0, 1.5, 2, 4, 40, 1000])
def test_even_degrees_are_a_sum(half, factor):
    # Q(a, x) = e^(−x) Σ_{k < a} x^k / k! for whole a.
    place = half * factor + 10
    powers = np.arange(half)
    terms = powers * log(place) - special.gammaln(powers + 1)
    expected = float(special.logsumexp(terms)) - place
    assert log_chi_square(2 * place, 2 * half) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("statistic", [0.01, 1, 80, 1200, 1300, 1e5])
def test_one_degree_is_the_normal_tail(statistic):
    expected = log(2) + stats.norm.logsf(sqrt(statistic))
    assert log_chi_square(statistic, 1) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("within", [1, 3, 10, 1000, 1e6])
@pytest.mark.parametrize("statistic", [0.1, 1, 10, 1e4, 1e9])
def test_two_degrees_between_are_a_power(within, statistic):
    expected = -within / 2 * log1p(2 * statistic / within)
    assert log_f(statistic, 2, within) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("within", [5, 40, 3001, 200_000])
@pytest.mark.parametrize("statistic", [3.0, 300, 1e3, 1e70, 1e200])
def test_even_degrees_between_are_a_sum(within, statistic):
    # I_x(a, b) = x^a Σ_{k < b} Γ(a + k) / (Γ(a) k!) (1 − x)^k for whole b.
    a, b = within / 2, 4
    x = within / (within + 2 * b * statistic)
    terms = [
        lgamma(a + k) - lgamma(a) - lgamma(k + 1) + k * log1p(-x) for k in range(b)
    ]
    expected = a * log(x) + float(special.logsumexp(terms))
    assert log_f(statistic, 2 * b, within) == pytest.approx(expected, rel=1e-10)


def test_continued_fractions_say_what_scipy_does_where_it_has_digits(
    monkeypatch,
):
    statistic = np.geomspace(5, 60, 40)
    squares = [(12 * statistic, np.full(40, 7.0)), (30 * statistic, np.full(40, 60.0))]
    ratios = [
        (statistic, np.full(40, 40.0), np.full(40, 10.0)),
        (statistic, np.full(40, 5.0), np.full(40, 300.0)),
    ]
    near = [*(log_chi_square_tail(*each) for each in squares)]
    near += [log_f_tail(*each) for each in ratios]
    monkeypatch.setattr(tails, "SMALL", 1.0)  # all are far now
    far = [*(log_chi_square_tail(*each) for each in squares)]
    far += [log_f_tail(*each) for each in ratios]
    for one, other in zip(near, far, strict=True):
        chosen = one > np.log(1e-250)
        assert chosen.sum() > 10
        assert other[chosen] == pytest.approx(one[chosen], rel=1e-12, abs=1e-12)


def test_logarithms_fall_across_the_change_of_methods():
    for degrees in (1, 3, 8, 101):
        places = np.linspace(1000, 2000, 5000)
        logs = log_chi_square_tail(places, np.full(len(places), degrees))
        steps = np.diff(logs)
        assert np.all(steps < 0)
        assert np.abs(np.diff(steps)).max() < 1e-4
    places = np.geomspace(1, 1e6, 5000)
    full = np.full(len(places), 7.0)
    steps = np.diff(log_f_tail(places, full, 100 * full))
    assert np.all(steps < 0)
    assert np.abs(np.diff(steps)).max() < 0.01


# Independent programs


counts = arrays(np.float64, (3, 4), elements=st.integers(1, 30).map(float))


@given(counts)
def test_scipy_agrees_on_tables_of_classes(table):
    pearson = stats.chi2_contingency(table, correction=False)
    found = chi_square_test(table)
    assert found.statistic == pytest.approx(pearson.statistic, rel=1e-10, abs=1e-12)
    assert found.degrees == pearson.dof
    assert found.p == pytest.approx(pearson.pvalue, rel=1e-9)
    ratio = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    found = g_test(table)
    assert found.statistic == pytest.approx(ratio.statistic, rel=1e-9, abs=1e-11)
    assert found.p == pytest.approx(ratio.pvalue, rel=1e-9)


@given(counts, st.sets(st.integers(0, 2), max_size=1), st.sets(st.integers(0, 3)))
def test_empty_rows_and_columns_do_not_count(table, rows, columns):
    table = table.copy()
    table[list(rows)] = 0
    table[:, list(columns)] = 0
    kept = np.delete(np.delete(table, list(rows), 0), list(columns), 1)
    for test in (chi_square_test, g_test):
        with_empty, without = test(table), test(kept)
        assert with_empty.degrees == without.degrees
        assert with_empty.log_p == pytest.approx(without.log_p, rel=1e-12, abs=1e-14)
        if min(kept.shape) < 2:
            assert (with_empty.statistic, with_empty.degrees, with_empty.p) == (0, 0, 1)


values = st.lists(st.integers(-5, 9).map(float), min_size=2, max_size=9)
pairs = arrays(np.float64, (2, 3), elements=st.integers(0, 9).map(float))


@given(st.lists(pairs, min_size=1, max_size=6))
def test_no_p_of_several_is_below_their_bound(tables):
    for test in (chi_square_test, g_test):
        found = test(np.stack(tables))
        assert found.least_log_p() <= found.log_p.min() + 1e-12
        if len(tables) == 1:
            assert found.least_log_p() == found.log_p[0]


@given(st.data(), st.integers(3, 6))
def test_no_p_of_several_splits_of_moments_is_below_their_bound(data, n_members):
    members = data.draw(st.lists(values, min_size=n_members, max_size=n_members))
    lines = moments(*members)
    cuts = [[lines[:k].sum(axis=0), lines[k:].sum(axis=0)] for k in range(1, n_members)]
    found = f_test(np.array(cuts))
    assert found.least_log_p() <= found.log_p.min() + 1e-12


@given(st.lists(values, min_size=2, max_size=4))
def test_scipy_agrees_on_moments(groups):
    found = f_test(moments(*groups))
    varied = [len(set(group)) > 1 for group in groups]
    if any(varied):
        expected = stats.f_oneway(*groups)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
        if found.statistic == 0:  # SciPy's may be a little below 0, and its p nan
            assert (found.p, found.degrees, found.within) == (1, 0, 0)
            return
        assert found.p == pytest.approx(expected.pvalue, rel=1e-8)
        assert found.within == sum(map(len, groups)) - len(groups)


@given(st.lists(values, min_size=2, max_size=4), st.integers(2, 5))
def test_weights_are_frequencies(groups, times):
    once = moments(*groups)
    repeated = moments(*(group * times for group in groups))
    assert f_test(once * times).log_p == pytest.approx(
        f_test(repeated).log_p, rel=1e-9, abs=1e-12
    )


# Extremes

extremes = st.sampled_from((0.0, 5e-300, 1e-9, 1 / 3, 1.0, 7.0, 1e6, 1e15, 1e200))


@given(arrays(np.float64, (3, 3), elements=extremes))
def test_p_is_a_probability_on_extreme_tables(table):
    for test in (chi_square_test, g_test):
        found = test(table)
        assert 0 <= found.p <= 1
        assert np.isfinite(found.log_p)
        assert found.log_p <= 0


@given(arrays(np.float64, (3, 4), elements=st.floats(-1e60, 1e60)))
def test_p_is_a_probability_on_extreme_moments(numbers):
    sizes = np.abs(numbers[:, :1]) % 1e6
    first = sizes * numbers[:, 1:2]
    second = first * numbers[:, 1:2] * (1 + np.abs(numbers[:, 2:3]) % 1)
    found = f_test(np.hstack([sizes, first, second]))
    assert 0 <= found.p <= 1
    assert CERTAIN <= found.log_p <= 0


@pytest.mark.parametrize("between, within", [(2, 0), (0, 2), (0, 0)])
def test_an_f_without_degrees_of_freedom_says_nothing(between, within):
    assert log_f(3.0, between, within) == 0.0
