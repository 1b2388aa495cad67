"""Buckets: figures of documents and by hand, and what is refused."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest
from sklearn.datasets import load_iris

import spinney
from spinney._support import kmeans_1d as one_dimension
from spinney.errors import ParameterError
from spinney.search.buckets import (
    METHODS,
    bucketed,
    cuts_of,
    entropy_mdl,
    equal_frequency,
    equal_width,
    is_exact,
    k_means,
)
from spinney.search.buckets import entropy_buckets as information
from spinney.search.buckets import k_means_buckets as clusters
from spinney.trees.counts import CountTable


def table_of(values, weights=None) -> CountTable:
    """Return the table of distinct values; each of weight 1, or by class."""
    cells = [[1.0]] * len(values) if weights is None else weights
    return replace(CountTable.of(cells), values=np.array(values, dtype=float))


# Equal width


def test_equal_width_cuts_the_range():
    assert equal_width(table_of(range(11)), 5).tolist() == [2, 4, 6, 8]


def test_a_value_at_an_edge_is_left_of_it():
    # 0.1 is the first of two edges, though 0.3 / 3 is a little less than 0.1.
    table = table_of([0, 0.1, 0.2, 0.3])
    cuts = equal_width(table, 3)
    assert cuts.tolist() == [0.1, 0.2]
    assert bucketed(table, cuts).sizes.tolist() == [2, 1, 1]


def test_equal_width_keeps_the_lowest_edge_of_a_gap():
    assert equal_width(table_of([0, 1, 100]), 10).tolist() == [10]
    assert equal_width(table_of([0, 99, 100]), 10).tolist() == [10]
    assert equal_width(table_of([0, 55, 100]), 10).tolist() == [10, 60]


@pytest.mark.parametrize(
    "values",
    [
        [-1.7e308, 0.0, 1.7e308],
        [0.0, 5e-324],
        [1.0, np.nextafter(1.0, 2.0)],
        [1e9, 1e9 + 1e-6, 1e9 + 2e-6],
        [-1e-310, 1e-310],
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_hard_numbers(values, method):
    classes = [[40.0, 0.0], [0.0, 40.0], [40.0, 0.0]][: len(values)]
    cuts = cuts_of(table_of(values, classes), method, 3)
    assert np.isfinite(cuts).all()
    assert (np.diff(cuts) > 0).all()
    assert (bucketed(table_of(values, classes), cuts).sizes > 0).all()
    assert len(cuts)


@pytest.mark.parametrize("scale", [1.0, 1.5e307, 1e-320, -1.0, -1.5e307])
@pytest.mark.parametrize("method", METHODS)
def test_scales_beyond_squares(scale, method):
    values = sorted(scale * value for value in (-9, -8, -7, 5, 6, 11))
    kinds = [[40.0, 0.0]] * 3 + [[0.0, 40.0]] * 3
    table = table_of(values, kinds)
    cuts = cuts_of(table, method, 2)
    assert bucketed(table, cuts).rows.sum(axis=1).tolist() == [120, 120]


# Equal frequency


def test_of_two_equally_near_ends_the_lower_is_taken_whatever_the_rows_weigh():
    """The middle value as it is: its ends are equally far from half of the weight."""
    sizes = [7e6 / 3, 5e6 / 9, 8e6 / 7, 5e6 / 9, 7e6 / 3]
    half = sum(sizes) / 2
    lower, upper = sizes[0] + sizes[1], sizes[0] + sizes[1] + sizes[2]
    assert half - lower > upper - half  # by a rounding
    table = table_of(range(5), [[size] for size in sizes])
    assert equal_frequency(table, 2).tolist() == [1.5]


def test_equal_frequency_of_equal_weights():
    assert equal_frequency(table_of(range(9)), 3).tolist() == [2.5, 5.5]


def test_a_heavy_value_is_not_split_and_the_rest_is_shared():
    # 8 of 12 at the value 0: then 4 are left for two buckets.
    table = table_of([0, 1, 2, 3, 4], [[8.0], [1.0], [1.0], [1.0], [1.0]])
    assert equal_frequency(table, 3).tolist() == [0.5, 2.5]


def test_of_two_equally_near_ends_the_lower():
    # Half of 3 is 1.5, as far from 1 as from 2.
    assert equal_frequency(table_of([1, 2, 3]), 2).tolist() == [1.5]
    tenths = table_of([1, 2, 3], [[0.1], [0.1], [0.1]])
    assert equal_frequency(tenths, 2).tolist() == [1.5]


def test_a_value_is_left_for_every_bucket():
    # The last value has nearly all, and still four buckets are made.
    table = table_of([1, 2, 3, 4], [[1.0], [1.0], [1.0], [100.0]])
    assert equal_frequency(table, 4).tolist() == [1.5, 2.5, 3.5]
    assert equal_frequency(table, 2).tolist() == [3.5]


# k-means


def test_ckmeans_examples():
    """The examples in the tests of the R package Ckmeans.1d.dp (Wang and Song 2011)."""
    found = spinney.discretise([-1, 2, -1, 2, 4, 5, 6, -1, 2, -1], n_buckets=3)
    assert found.codes([-1, 2, 4, 5, 6]).tolist() == [0, 1, 2, 2, 2]
    assert found.counts.tolist() == [4, 3, 3]
    assert spinney.discretise(range(1, 11), n_buckets=2).cuts.tolist() == [5.5]
    values = [-3, 2.2, -6, 7, 9, 11, -6.3, 75, 82.6, 32.3, -9.5, 62.5, 7, 95.2]
    found = spinney.discretise(values, n_buckets=8)
    clusters = [2, 2, 1, 3, 3, 3, 1, 6, 7, 4, 1, 5, 3, 8]
    assert (found.codes(values) + 1).tolist() == clusters
    assert found.counts.tolist() == [3, 2, 4, 1, 1, 1, 1, 1]


def test_weights_move_the_cut():
    # {0}, {1, 3} leaves 1/2 · 2² = 2, {0, 1}, {3} leaves 1/2; with 100 at 1 and 0
    # and 1 at 3 it is 50 for {0, 1} against 4 · 100/101 = 3.96.
    assert k_means(table_of([0, 1, 3]), 2).tolist() == [2]
    heavy = table_of([0, 1, 3], [[100.0], [100.0], [1.0]])
    assert k_means(heavy, 2).tolist() == [0.5]


def test_of_equal_partitions_the_one_with_the_lowest_last_cut():
    assert k_means(table_of([0, 1, 2]), 2).tolist() == [0.5]
    # {1.7}, {1.9, 2.1} and {1.7, 1.9}, {2.1} are equal but for a rounding.
    assert k_means(table_of([1.7, 1.9, 2.1, 2.3, 2.4]), 3).tolist() == [1.8, 2.2]
    # {0}, {1, 2}, {3, 4} and two others leave 1/2 + 1/2; the last cut can be 2.5
    # in two of them, and then the first is 0.5 or 1.5.
    assert k_means(table_of([0, 1, 2, 3, 4]), 3).tolist() == [0.5, 2.5]


def test_an_outlier_does_not_drown_the_others():
    # The squares of 10¹² are 10²⁴; sums of squares of the small ones are below 10.
    values = [1, 2, 3, 10, 11, 12, 21, 22, 1e12]
    assert k_means(table_of(values), 4).tolist() == [6.5, 16.5, 500000000011]
    far = [1e10 + value for value in (1, 2, 3, 10, 11, 12, 21, 22)]
    assert k_means(table_of(far), 3).tolist() == [1e10 + 6.5, 1e10 + 16.5]


def test_many_values_are_merged_into_cells_first(monkeypatch):
    values = np.arange(60) + 100 * (np.arange(60) // 20)
    table = table_of(values)
    exact = k_means(table, 3)
    assert exact.tolist() == [69.5, 189.5]
    monkeypatch.setattr(clusters, "MAX_VALUES", 50)
    monkeypatch.setattr(clusters, "CELLS", 12)
    assert not is_exact(table, "k-means", 3)
    assert is_exact(table, "k-means", 60)  # one bucket for each value
    assert is_exact(table, "equal-width", 3)
    assert k_means(table, 3).tolist() == exact.tolist()  # 20 are four cells of five
    assert not spinney.discretise(values, n_buckets=3).exact
    assert len(k_means(table, 30)) == 29
    # 7 · 9 = 63 values in 7 cells of 9: the cuts can only be where cells end.
    monkeypatch.setattr(clusters, "CELLS", 7)
    assert k_means(table_of(np.arange(63)), 3).tolist() in ([17.5, 35.5], [17.5, 44.5])


def test_squares_of_cells_are_those_of_their_values():
    values = np.array([0.0, 1, 5, 6, 7, 20])
    sizes = np.array([1.0, 2, 3, 1, 1, 4])
    runs = one_dimension.Runs(sizes, values, np.zeros(6))
    single = one_dimension._Squares(runs)
    cells = one_dimension._Squares(one_dimension.merged_runs(runs, np.array([0, 2, 5])))
    ends = np.array([0, 2, 5, 6])
    for i in range(3):
        for j in range(i, 3):
            whole = single.between(np.array([ends[i]]), np.array([ends[j + 1] - 1]))
            merged = cells.between(np.array([i]), np.array([j]))
            assert merged == pytest.approx(whole, rel=1e-12)


# Entropy and description length


def test_description_of_a_cut_by_hand():
    # a a b b: Ent = 1, the parts are pure; k = 2, k₁ = k₂ = 1.
    # (log₂ 3 + log₂ 7 − 2) / 4 = (1.585 + 2.807 − 2) / 4 = 0.598 < gain = 1
    bound = information._description(np.array([2.0, 2.0]), np.array([[2.0, 0], [0, 2]]))
    assert bound == pytest.approx((log2(3) + log2(7) - 2) / 4, rel=1e-12)
    assert bound == pytest.approx(0.598, abs=5e-4)
    kinds = [[1.0, 0], [1, 0], [0, 1], [0, 1]]
    assert entropy_mdl(table_of([1, 2, 3, 4], kinds)).tolist() == [2.5]


def test_a_value_of_two_classes_is_no_part_of_a_run_of_one():
    """One row of another class is enough: the cut is where the run of one ends.

    Of (90, 20) rows the cut leaves (50, 0) and (40, 20): a gain of 0.18 bits, where
    its description takes (log2(109) + 3.3) / 110 = 0.09.
    """
    weights = [[50.0, 0.0], *[[2.0, 1.0]] * 20]
    assert entropy_mdl(CountTable.of(weights)).tolist() == [0.5]


def test_a_cut_that_is_not_worth_its_description():
    # a b a b: the best cut is a | b a b, with gain 1 − 3/4 · 0.918 = 0.311;
    # (log₂ 3 + log₂ 7 − (2 − 0 − 2 · 0.918)) / 4 = (1.585 + 2.807 − 0.163) / 4 = 1.057
    kinds = [[1.0, 0], [0, 1], [1, 0], [0, 1]]
    parts = np.array([[1.0, 0], [1, 2]])
    bound = information._description(np.array([2.0, 2.0]), parts)
    assert bound == pytest.approx(1.057, abs=5e-4)
    assert entropy_mdl(table_of([1, 2, 3, 4], kinds)).tolist() == []


def test_more_classes_than_powers_of_three_fit_a_float():
    k = 1000
    whole = np.full(k, 2.0)
    half = np.where(np.arange(k) < k // 2, 2.0, 0.0)
    bound = information._description(whole, np.array([half, whole - half]))
    delta = k * log2(3) - (k * log2(k) - k * log2(k / 2))
    assert bound == pytest.approx((log2(2 * k - 1) + delta) / (2 * k), rel=1e-12)


def test_weights_below_one_row_are_never_worth_a_cut():
    # N − 1 is near 0, and its logarithm would make any cut a good one.
    kinds = np.array([[1.0, 0], [0, 1], [1, 0], [0, 1]])
    table = table_of([1, 2, 3, 4], kinds * 0.2501)
    assert entropy_mdl(table).tolist() == []


def test_missing_rows_are_no_part_of_the_description():
    kinds = [[2.0, 0], [2, 0], [0, 2], [0, 2]]
    table = CountTable.of(kinds, [100, 90])
    assert entropy_mdl(table).tolist() == [1.5]


def test_iris():
    """The cuts of Weka's filter; ``tests/oracle`` has more of them."""
    iris = load_iris()
    cuts = [
        spinney.discretise(column, "entropy-mdl", classes=iris.target).cuts.tolist()
        for column in iris.data.T
    ]
    assert cuts == [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]


def test_a_numeric_target_has_no_entropy():
    moments = CountTable.of_moments([[2, 1, 1], [3, 2, 2], [1, 0, 0]])
    with pytest.raises(ParameterError, match=r"'entropy-mdl' needs classes.*'k-means'"):
        cuts_of(moments, "entropy-mdl", 3)


# Tables


@pytest.mark.parametrize("method", ["equal-width", "equal-frequency", "k-means"])
def test_moments_count_by_their_weight(method):
    sizes = [2.0, 3.0, 1.0, 7.0, 1.0]
    moments = CountTable.of_moments([[size, -9, 40] for size in sizes], [3, 1, 1])
    by_class = CountTable.of([[size] for size in sizes])
    cuts = cuts_of(moments, method, 3)
    assert cuts.tolist() == cuts_of(by_class, method, 3).tolist()
    merged = bucketed(moments, cuts)
    assert merged.is_moments
    assert merged.sizes.sum() == 14
    assert merged.missing.tolist() == [3, 1, 1]


def test_bucketed_adds_up_and_keeps_missing_rows():
    table = CountTable.of([[3, 3], [4, 2], [1, 4]], [1, 0.5])
    merged = bucketed(table, np.array([1.0]))
    assert merged.values.tolist() == [0, 1]
    assert merged.weights.tolist() == [[7, 5], [1, 4]]
    assert merged.rows.tolist() == [[7, 5], [1, 4]]
    assert merged.missing.tolist() == [1, 0.5]


@pytest.mark.parametrize("method", METHODS)
def test_one_value_or_none_has_no_cut(method):
    assert cuts_of(table_of([3], [[1.0, 1.0]]), method, 4).tolist() == []
    nothing = CountTable.of(np.empty((0, 2)))
    assert cuts_of(nothing, method, 4).tolist() == []


@pytest.mark.parametrize("method", ["equal-width", "equal-frequency", "k-means"])
def test_fewer_values_than_buckets(method):
    assert len(cuts_of(table_of([1, 2, 4]), method, 9)) == 2


@pytest.mark.parametrize("method", METHODS)
def test_values_without_weight_are_not_seen(method):
    kinds = [[4.0, 0], [0, 0], [0, 4], [0, 0], [4, 0], [0, 0]]
    seen = table_of([1, 3, 5], [[4.0, 0], [0, 4], [4, 0]])
    cuts = cuts_of(table_of([1, 2, 3, 4, 5, 6], kinds), method, 3)
    assert cuts.tolist() == cuts_of(seen, method, 3).tolist()


@pytest.mark.parametrize("n", [1, 0, -3, 2.0, "3", None, True, 10**6, [2]])
def test_a_number_of_buckets_is_whole(n):
    with pytest.raises(ParameterError, match="must be a whole number from 2"):
        cuts_of(table_of([1, 2]), "k-means", n)


def test_whole_numbers_of_numpy_count():
    assert cuts_of(table_of([1, 2]), "k-means", np.int32(2)).tolist() == [1.5]


def test_unknown_methods_have_a_remedy():
    with pytest.raises(ParameterError, match=r"='kmeans'.*did you mean 'k-means'"):
        cuts_of(table_of([1, 2]), "kmeans", 2)
    with pytest.raises(ParameterError, match="method=3 is unknown: known: 'equal-w"):
        cuts_of(table_of([1, 2]), 3, 2)
