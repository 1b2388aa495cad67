"""Kneedle and the gap statistic: published examples, plain loops, made tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.twins import naive_choosing as naive

from spinney.extensions.clustering.choose_k.choice_rules import find_elbow
from spinney.extensions.clustering.choose_k.distinct_rows import (
    distinct_rows,
    sample_rows,
    uniform_numbers,
)
from spinney.extensions.clustering.choose_k.gap import (
    gap_statistics,
    reference_table,
    standard_error_rule,
)
from spinney.extensions.clustering.choose_k.select_k import WorkLimits, choose


def test_figure_2_of_the_kneedle_paper():
    """y = -1 / (x + 0.1) + 5 at ten points from 0 to 1: the knee is at x = 0.22.

    By hand, in the paper's words: y from -5 to 4.0909; at x = 2/9 the normalised y is
    6.8966 / 9.0909 = 0.7586, the difference 0.5364 and the threshold 0.5364 - 1/9; at
    5/9 the difference is 0.9322 - 0.5556 = 0.3766, below it.
    """
    x = np.linspace(0.0, 1.0, 10)
    found = find_elbow(x, 1 / (x + 0.1) - 5)  # turned upside down: it falls
    assert found.exists
    assert x[found.index] == pytest.approx(0.22, abs=0.005)
    assert found.differences[2] == pytest.approx(0.5364, abs=5e-5)
    assert found.differences[5] == pytest.approx(0.3766, abs=5e-5)
    assert found.threshold == pytest.approx(0.5364 - 1 / 9, abs=5e-5)


def test_a_convex_falling_curve_by_hand():
    """(100 - 20) / 99 - 2/9 = 0.586; at 4 it is 90/99 - 4/9 = 0.465 < 0.586 - 1/9."""
    y = np.array([100.0, 40, 20, 15, 10, 5, 4, 3, 2, 1])
    assert find_elbow(np.arange(10.0), y).index == 2


@settings(max_examples=examples(300))
@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.booleans())
def test_elbow_is_the_naive_one(y, falling):
    y = sorted(y, reverse=True) if falling else y
    x = [2 + 3 * place // 2 for place in range(len(y))]
    found = find_elbow(np.array(x, dtype=float), np.array(y, dtype=float))
    expected = naive.elbow(x, y)
    assert found.exists == (expected is not None)
    if expected is not None:
        assert found.index == expected
    else:
        assert found.differences[found.index] >= found.differences.max() - 1e-12


def test_no_elbow_in_a_line():
    found = find_elbow(np.arange(6.0), np.arange(6.0)[::-1])
    assert not found.exists
    assert found.index == 0


@settings(max_examples=examples(50))
@given(
    st.lists(st.integers(-9, 9), min_size=4, max_size=12),
    st.integers(1, 5),
    st.integers(0, 9),
)
def test_gaps_are_the_naive_ones(numbers, n_tables, seed):
    """With a stand-in for k-means: any positive function of rows and k will do."""
    cells = np.array(
        [[float(number), 1.5 * place] for place, number in enumerate(numbers)]
    )
    seen = []

    def inertia(rows, k, weights, own_seed):
        total = float(np.sum((rows - rows.mean(axis=0)) ** 2)) / k + 1.0
        seen.append((k, len(rows), total))
        return total

    ks = [1, 2, 3]
    data_inertias = [inertia(cells, k, None, seed) for k in ks]
    seen.clear()
    rows = distinct_rows(cells)
    found = gap_statistics(
        rows,
        ks,
        inertia,
        data_inertias=data_inertias,
        max_rows=99,
        n_tables=n_tables,
        seed=seed,
    )
    assert found.n_rows == len(numbers)
    assert found.n_tables == n_tables
    assert len(seen) == 3 * n_tables
    for place, k in enumerate(ks):
        references = [total for other, _, total in seen if other == k]
        expected = naive.gap(
            data_inertias[place], len(numbers), references, len(numbers)
        )
        assert found.gaps[place] == pytest.approx(expected[0], abs=1e-12)
        assert found.errors[place] == pytest.approx(expected[1], abs=1e-7)


def test_the_rule_of_one_standard_error():
    assert standard_error_rule([1.0, 1.2, 1.1], [0.0, 0.3, 0.0]) == 0
    assert standard_error_rule([1.0, 1.2, 1.1], [0.0, 0.1, 0.0]) == 1
    assert standard_error_rule([1.0, 1.2, 1.3], [0.0, 0.1, 0.05]) is None
    assert standard_error_rule([1.0, None, 1.3], [0.0, None, 0.05]) is None
    assert standard_error_rule([1.0, np.inf, 1.3], [0.0, 0.1, 0.05]) == 1


def test_reference_tables_fill_the_box():
    cells = np.array([[-1.0, 7.0, 3.0], [5.0, 7.0, 4.0]])
    table = reference_table(cells, 4000, seed=3)
    assert table.shape == (4000, 3)
    assert (table >= cells.min(axis=0)).all()
    assert (table <= cells.max(axis=0)).all()
    assert table[:, 0].mean() == pytest.approx(2.0, abs=0.15)
    assert table[:, 0].std() == pytest.approx(6 / np.sqrt(12), abs=0.1)
    assert abs(np.corrcoef(table[:, 0], table[:, 2])[0, 1]) < 0.06
    np.testing.assert_array_equal(table, reference_table(cells, 4000, seed=3))
    assert (table != reference_table(cells, 4000, seed=4)).any()


def clumps(middles, n=40, spread=0.4, seed=0):
    random = np.random.default_rng(seed)
    parts = [random.normal(middle, spread, size=(n, 2)) for middle in middles]
    return np.concatenate(parts)


@pytest.mark.parametrize(
    "middles", [[(0, 0)], [(0, 0), (6, 0)], [(0, 0), (6, 0), (3, 5)]]
)
def test_gap_finds_how_many_clumps_there_are(middles):
    choice = choose(clumps(middles), range(1, 6), rule="gap", measures=[])
    assert choice.k == len(middles)
    assert choice.gap_rows == 40 * len(middles)
    assert choice.gap_tables == 20


def test_gap_of_a_sample_says_so():
    cells = clumps([(0, 0), (4, 1), (15, 3)], n=100)
    limits = WorkLimits(gap_rows=90, gap_tables=7)
    choice = choose(cells, range(1, 6), rule="gap", measures=[], limits=limits)
    assert choice.k == 3
    assert (choice.gap_rows, choice.gap_tables) == (90, 7)
    assert "7 reference tables of 90 rows" in str(choice)


def test_gap_of_each_row_a_cluster_is_none():
    choice = choose(np.array([[0.0], [1.0], [5.0]]), rule="gap")
    assert [line.gap is None for line in choice.curve] == [False, False, True]
    assert choice.k in (1, 2)


def test_samples_are_by_weight():
    rows = distinct_rows(np.arange(50.0)[:, None], np.arange(50.0))
    assert len(rows) == 49  # the row of weight 0 is none
    for seed in range(5):
        some = sample_rows(rows, 35, seed=seed)
        assert some.weights.sum() == 35
        for cell, times in zip(some.cells[:, 0], some.weights, strict=True):
            assert abs(times - cell * 35 / 1225) < 1
    one, other = (sample_rows(rows, 35, seed=seed).cells.tolist() for seed in (0, 1))
    assert one != other


def test_numbers_are_uniform():
    numbers = uniform_numbers(10_000, seed=5)
    assert ((numbers >= 0) & (numbers < 1)).all()
    counts = np.histogram(numbers, bins=10, range=(0, 1))[0]
    assert (abs(counts - 1000) < 150).all()
