"""Criteria of distance, by hand and by what their papers prove of them."""

from dataclasses import replace
from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import distance
from tests.twins import naive_criteria

from spinney.errors import ParameterError
from spinney.trees import criteria
from spinney.trees.counts import CountTable
from spinney.trees.criteria.arithmetic import c_sep_working, hellinger_working

HALVES = st.integers(2, 5).flatmap(
    lambda n_classes: st.lists(
        st.lists(st.integers(0, 12), min_size=n_classes, max_size=n_classes).filter(
            any
        ),
        min_size=2,
        max_size=2,
    )
)


def test_c_sep_by_hand():
    # (6, 2) · (3, 3) = 24; the lengths are √40 and √18.
    assert criteria.c_sep([[6, 2], [3, 3]]) == pytest.approx(1 - 24 / sqrt(40 * 18))
    assert criteria.c_sep([[6, 0], [0, 3]]) == 1  # no class on both sides
    assert criteria.c_sep([[6, 2], [3, 1]]) == pytest.approx(0, abs=1e-15)


@given(HALVES)
def test_c_sep_is_the_cosine_distance_of_scipy(halves: list[list[int]]):
    expected = distance.cosine(*halves)
    assert criteria.c_sep(halves) == pytest.approx(expected, abs=1e-12)


def test_c_sep_of_extreme_weights():
    for scale in (1e-300, 1e300):
        table = CountTable.of([[6, 2], [3, 3]])
        found = criteria.c_sep(replace(table, weights=table.weights * scale))
        assert found == pytest.approx(1 - 24 / sqrt(40 * 18))


def test_twoing_by_hand():
    # 8/14 · 6/14 / 4 · (|6/8 − 3/6| + |2/8 − 3/6|)²
    assert criteria.twoing([[6, 2], [3, 3]]) == pytest.approx(48 / 196 / 4 * 0.25)


@given(HALVES)
def test_twoing_is_half_of_gini_for_the_best_two_groups_of_classes(
    halves: list[list[int]],
):
    # Breiman et al. (1984), theorem 4.10.
    cells = np.array(halves, dtype=float)
    best = 0.0
    for sides in product((False, True), repeat=cells.shape[1]):
        mask = np.array(sides)
        groups = np.stack([cells[:, mask].sum(1), cells[:, ~mask].sum(1)], axis=1)
        best = max(best, float(criteria.gini_gain(groups)))
    assert criteria.twoing(halves) == pytest.approx(best / 2, abs=1e-12)


@pytest.mark.parametrize("name", ["c_sep", "twoing"])
def test_more_than_two_branches_are_refused(name: str):
    measure = criteria.CRITERIA[name].gain
    with pytest.raises(ParameterError, match=rf"{name} .* has 3: .*grouping='binary'"):
        measure(CountTable.of([[1, 2], [3, 4], [5, 6]]))
    # Branches without rows are none; one branch alone separates nothing.
    assert measure([[0, 0], [3, 1], [0, 0], [1, 3]]) == measure([[3, 1], [1, 3]])
    assert measure([[3, 1], [0, 0], [0, 0]]) == 0
    assert measure([[3, 1]]) == 0


def test_hellinger_by_hand():
    # Of the first class 9/10 go left, of the second 1/10.
    expected = sqrt(2 * (sqrt(0.9) - sqrt(0.1)) ** 2)
    assert criteria.hellinger([[9, 10], [1, 90]]) == pytest.approx(expected)
    assert criteria.hellinger([[5, 0], [0, 2]]) == pytest.approx(sqrt(2))


def test_hellinger_of_more_classes_is_the_mean_over_pairs():
    cells = np.array([[9.0, 10.0, 4.0], [1.0, 90.0, 4.0]])
    pairs = [criteria.hellinger(cells[:, [i, j]]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert criteria.hellinger(cells) == pytest.approx(np.mean(pairs))
    # A class that is not there is in no pair.
    wider = np.insert(cells, 1, 0.0, axis=1)
    assert criteria.hellinger(wider) == pytest.approx(np.mean(pairs))
    assert criteria.hellinger([[3, 0], [2, 0]]) == 0
    assert criteria.hellinger([[3], [2]]) == 0


@given(HALVES, st.data())
def test_hellinger_does_not_see_how_common_a_class_is(
    halves: list[list[int]], data: st.DataObject
):
    cells = np.array(halves, dtype=float)
    factor = st.sampled_from((0.01, 0.5, 3.0, 1000.0))
    n_classes = cells.shape[1]
    factors = data.draw(st.lists(factor, min_size=n_classes, max_size=n_classes))
    found = criteria.hellinger(cells * np.array(factors))
    assert found == pytest.approx(criteria.hellinger(cells), abs=1e-12)


def test_missing_rows_discount():
    for name in ("c_sep", "twoing", "hellinger"):
        measure = criteria.CRITERIA[name].merit
        known = measure(CountTable.of([[6, 2], [3, 3]]))
        part = measure(CountTable.of([[6, 2], [3, 3]], missing=[1, 5]))
        assert part == pytest.approx(known * 14 / 20)


@given(HALVES)
def test_the_twin_says_the_same(halves: list[list[int]]):
    for name in ("c_sep", "twoing", "hellinger"):
        found = criteria.CRITERIA[name].gain(CountTable.of(halves, missing=[1.5]))
        expected = naive_criteria.GAINS[name](halves, 1.5 * len(halves[0]))
        assert found == pytest.approx(expected, abs=1e-12)


def test_c_sep_of_a_branch_of_one_row():
    """cos of (1, 0) and (1, 3) is 1/√10."""
    table = CountTable.of(np.array([[1.0, 0], [0, 0], [1, 3]]))
    first, second = c_sep_working(table, ("a", "b", "c"), ("+", "-"))
    assert first == "cos = (1 × 1 + 0 × 3) / (1.000 × 3.162) = 0.316"
    assert second == "c_sep = 1 − 0.316 = 0.684"


@pytest.mark.parametrize("n_classes, n_more", [(5, 0), (6, 5)])
def test_ten_pairs_of_classes_are_written_out(n_classes, n_more):
    table = CountTable.of(np.array([np.arange(1.0, n_classes + 1), np.ones(n_classes)]))
    *lines, last = hellinger_working(table, ("l", "r"), tuple("abcdef"[:n_classes]))
    assert ("+ …" in last, len(lines)) == (n_more > 0, 10 + (n_more > 0))
    assert not n_more or lines[-1] == f"and {n_more} more pairs of classes"
