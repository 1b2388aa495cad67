"""Criteria that weigh a split against chance, by hand and against SciPy."""

from math import comb, log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.helpers.strategies import textbook
from tests.trees.test_criteria import tables_of
from tests.twins import naive_criteria

from spinney.trees import criteria
from spinney.trees.counts import CountTable
from spinney.trees.criteria import CRITERIA

OUTLOOK = [[2, 3], [4, 0], [3, 2]]  # yes and no, for sunny, overcast, rain

COUNTS = st.integers(2, 4).flatmap(
    lambda n_classes: st.lists(
        st.lists(
            st.integers(0, 30).map(lambda n: n / 3),
            min_size=n_classes,
            max_size=n_classes,
        ),
        min_size=2,
        max_size=5,
    )
)


def test_chi_square_by_hand():
    # 9 and 5 of 14: 45/14 and 25/14 expected where 5 rows are, 36/14 and 20/14 where 4.
    squares = 2 * (17 / 14) ** 2 + 2 * (3 / 14) ** 2
    statistic = squares * 14 / 45 / 2 + squares * 14 / 25 / 2
    statistic += (20 / 14) ** 2 * (14 / 36 + 14 / 20)
    assert statistic == pytest.approx(3.546666666666667)
    assert criteria.phi_square(OUTLOOK) == pytest.approx(statistic / 14)
    # With two degrees of freedom p is exp(−χ² / 2).
    assert criteria.chi_square(OUTLOOK) == pytest.approx(statistic / 2)


def test_g_is_the_information_gain_times_the_rows():
    statistic = 2 * log(2) * 14 * float(criteria.gain(OUTLOOK))
    assert statistic == pytest.approx(4.789, abs=5e-4)
    assert criteria.g(OUTLOOK) == pytest.approx(statistic / 2)
    assert CRITERIA["g"].gain is criteria.gain


@pytest.mark.parametrize("name, ratio", [("chi_square", None), ("g", "log-likelihood")])
def test_p_values_are_those_of_scipy(name: str, ratio: str | None):
    for table in tables_of(textbook("buys_computer")).values():
        found = stats.chi2_contingency(table.weights, correction=False, lambda_=ratio)
        assert CRITERIA[name].merit(table) == pytest.approx(-log(found.pvalue))


def test_f_by_hand_and_by_scipy():
    # 1, 2, 3 | 4, 5, 6: 13.5 between, 4 within with 4 degrees of freedom.
    moments = [[3, 6, 14], [3, 15, 77]]
    found = stats.f_oneway([1, 2, 3], [4, 5, 6])
    assert found.statistic == pytest.approx((13.5 / 1) / (4 / 4))
    assert criteria.f(moments) == pytest.approx(-log(found.pvalue))
    assert CRITERIA["f"].gain(CountTable.of_moments(moments)) * 6 == pytest.approx(13.5)


@given(st.lists(st.lists(st.integers(0, 6), max_size=6), min_size=2, max_size=4))
def test_f_is_that_of_plain_sums_of_squares(groups: list[list[int]]):
    filled = [group for group in groups if group]
    numbers = [y for group in filled for y in group]
    moments = [[len(g), sum(g), sum(y * y for y in g)] for g in groups]
    between = within = 0.0
    for group in filled:
        centre = sum(group) / len(group)
        between += len(group) * (centre - sum(numbers) / len(numbers)) ** 2
        within += sum((y - centre) ** 2 for y in group)
    degrees = len(filled) - 1, len(numbers) - len(filled)
    if min(degrees) < 1 or between < 1e-9:
        expected = 0.0
    elif within < 1e-9:
        expected = 1e300
    else:
        ratio = (between / degrees[0]) / (within / degrees[1])
        expected = -stats.f.logsf(ratio, *degrees)
    assert criteria.f(moments) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_attributes_compete_by_p_and_not_by_the_statistic():
    # χ² is greater where there are more branches, but so are the degrees of freedom.
    many = [[3, 1], [1, 3], [3, 1], [1, 3], [2, 2], [2, 2]]  # 4, with 5 degrees
    two = [[8, 4], [4, 8]]  # 8/3, with 1 degree
    assert criteria.phi_square(many) > criteria.phi_square(two)
    assert criteria.chi_square(two) > criteria.chi_square(many)


def test_merits_are_told_apart_where_p_underflows():
    huge = [[[n, 0], [0, n]] for n in (5_000, 5_001)]
    for name in ("chi_square", "g"):
        small, large = CRITERIA[name].merit(CountTable.of(huge))
        assert 4_000 < small < large < 1e5
    assert criteria.f([[2, 2, 2], [2, 4, 8]]) == 1e300  # nothing varies within
    assert criteria.f([[2, 2, 2], [2, 2, 2]]) == 0  # nothing varies at all


def test_missing_rows_lower_the_effect_and_leave_the_test_of_the_known():
    table = CountTable.of(OUTLOOK, missing=[3, 3])
    assert criteria.phi_square(table) == pytest.approx(3.546666666666667 / 20)
    assert criteria.chi_square(table) == criteria.chi_square(OUTLOOK)
    assert criteria.mdl(table) == pytest.approx(criteria.mdl(OUTLOOK) * 14 / 20)


# Description length


def code(*counts: int) -> float:
    """Return the bits for the classes of rows, by whole numbers."""
    total, orders = 0, 1
    for count in counts:
        total += count
        orders *= comb(total, count)
    return log2(orders * comb(total + len(counts) - 1, len(counts) - 1))


@pytest.mark.parametrize("counts", [(9, 5), (0, 0), (4, 0), (2, 0, 7), (1, 2, 3, 4)])
def test_description_length_counts_codes(counts: tuple[int, ...]):
    # Kononenko (1995): of 9 and 5, log₂ 15 distributions and log₂ 2002 orders.
    found = criteria.description_length(counts)
    assert found == pytest.approx(code(*counts), abs=1e-12)


def test_mdl_by_hand():
    saved = code(9, 5) - code(2, 3) - code(4, 0) - code(3, 2)
    # 15 · 2002, 6 · 10, 5 · 1 and 6 · 10 codes.
    assert saved == pytest.approx(log2(30_030 / (60 * 5 * 60)))
    assert criteria.mdl(OUTLOOK) == pytest.approx(saved / 14)


def test_telling_nothing_costs_bits():
    assert criteria.mdl([[10, 20], [20, 40]]) < 0
    assert criteria.mdl([[1, 1], [1, 0]]) == 0  # 12 codes before, 6 · 2 after


def test_an_attribute_of_many_values_is_not_favoured_by_mdl():
    names = [[1, 0]] * 6 + [[0, 1]] * 6
    halves = [[5, 1], [1, 5]]
    assert criteria.gain(names) > criteria.gain(halves)
    assert criteria.mdl(names) < criteria.mdl(halves)


@given(COUNTS, st.integers(0, 9))
def test_the_twin_says_the_same(cells: list[list[float]], absent: int):
    missing = [absent / 3] + [0.0] * (len(cells[0]) - 1)
    table = CountTable.of(cells, missing=missing)
    if not table.sizes.any():
        return
    for name in ("chi_square", "g", "mdl", "hellinger"):
        for found, expected in (
            (CRITERIA[name].gain(table), naive_criteria.GAINS[name]),
            (CRITERIA[name].merit(table), naive_criteria.MERITS[name]),
        ):
            assert np.isfinite(found)
            told = expected(cells, absent / 3)
            assert found == pytest.approx(told, rel=1e-9, abs=1e-9)


def test_the_parts_of_chi_square_are_all_there_that_of_one_row_too():
    table = CountTable.of([[1, 0], [0, 0], [2, 3]])
    lines = CRITERIA["chi_square"].working(table, ["a", "b", "c"], ["no", "yes"])
    assert lines[2] == "chi-square = 1.000 + 0.200 = 1.200"
    assert not any(line.startswith("b:") for line in lines)
