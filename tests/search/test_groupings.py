"""Ways to group the values of an attribute."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.strategies import textbook
from tests.twins import naive_splits
from tests.twins.naive_criteria import GAINS

from spinney._support.ties import first_best
from spinney.search.groupings import ENUMERATED, midpoint, multiway, subsets, thresholds
from spinney.sources.base import Request
from spinney.trees.counts import CountTable
from spinney.trees.criteria import CRITERIA

FINITE = st.floats(allow_nan=False, allow_infinity=False)
LARGEST = np.finfo(float).max


# Midpoints


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


def test_midpoints_of_density_and_sugar():
    # EXPECTED.md, 000: 16 each.
    table = textbook("watermelon_3.0", numeric=("density", "sugar"))
    (tables,) = table.source.tables([Request(0, (6, 7))])
    density, sugar = thresholds(tables[6]), thresholds(tables[7])
    assert len(density) == len(sugar) == 16
    assert (density.sides(0), density.sides(15)) == (0.244, 0.7465)
    assert (sugar.sides(0), sugar.sides(15)) == (0.0495, 0.418)


# Ties


def test_the_first_of_equal_merits_is_best():
    assert first_best(np.array([0.1, 0.3, 0.3])) == 1
    assert first_best(np.array([0.1, 0.3 - 1e-13, 0.3])) == 1
    assert first_best(np.array([0.1, 0.3 - 1e-11, 0.3])) == 2


def test_the_tolerance_grows_with_the_merit():
    assert first_best(np.array([1e6 - 1e-7, 1e6])) == 0
    assert first_best(np.array([1e6 - 1e-5, 1e6])) == 1


# Thresholds and multiway


def test_thresholds_cut_between_neighbours():
    ways = thresholds(CountTable.of([[1, 0], [0, 2], [3, 0]], missing=[1, 0]))
    assert [ways.sides(way) for way in range(len(ways))] == [0.5, 1.5]
    assert ways.table.weights.tolist() == [[[1, 0], [3, 2]], [[1, 2], [3, 0]]]
    assert ways.table.rows.tolist() == [[[1, 0], [3, 2]], [[1, 2], [3, 0]]]
    assert ways.table.missing.tolist() == [1, 0]
    assert ways.exact


def test_the_rest_of_a_cut_without_rows_weighs_nothing():
    # 0.1 + 0.2 and 0.3 differ: only rows tell that class 0 is all on the left.
    table = CountTable.of([[0.1, 0], [0.2, 0], [0, 1]])
    ways = thresholds(table)
    assert ways.table.weights[1, 1].tolist() == [0, 1]


@pytest.mark.parametrize("weights", [[[1, 2]], np.zeros((0, 2))])
def test_fewer_than_two_values_cannot_be_grouped(weights):
    table = CountTable.of(weights)
    assert thresholds(table) is None
    assert subsets(table) is None
    assert multiway(table, np.arange(3)) is None


def test_multiway_has_a_branch_for_absent_values_too():
    table = CountTable.of([[1, 0], [0, 2]])
    ways = multiway(table, np.arange(4))
    assert len(ways) == 1
    assert ways.sides(0) == ((0,), (1,), (2,), (3,))
    assert ways.table.weights.tolist() == [[[1, 0], [0, 2], [0, 0], [0, 0]]]


# Subsets


def random_table(n_values: int, n_classes: int, seed: int) -> CountTable:
    weights = np.random.default_rng(seed).integers(0, 9, (n_values, n_classes))
    weights[:, 0] += 1  # no value is absent
    return CountTable.of(weights)


def best_by_brute_force(table: CountTable, criterion: str) -> float:
    cells = table.weights.tolist()
    best = -np.inf
    for sides in naive_splits.all_subsets(range(len(cells))):
        branches = [
            [sum(column) for column in zip(*(cells[c] for c in side), strict=True)]
            for side in sides
        ]
        best = max(best, GAINS[criterion](branches))
    return best


@pytest.mark.parametrize("criterion", sorted(GAINS))
@pytest.mark.parametrize(
    "n_values, n_classes", [(2, 2), (5, 2), (9, 2), (5, 3), (8, 4)]
)
def test_the_best_subset_is_the_best_of_all(
    criterion: str, n_values: int, n_classes: int
):
    for seed in range(5):
        table = random_table(n_values, n_classes, seed)
        ways = subsets(table, free=CRITERIA[criterion].ordered)
        assert ways.exact
        found = CRITERIA[criterion].gain(ways.table).max()
        expected = best_by_brute_force(table, criterion)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_two_classes_need_only_prefixes():
    # Breiman et al. (1984), theorem 4.5: ordered by the share of one class.
    ways = subsets(CountTable.of([[1, 1], [3, 0], [0, 3], [1, 2]]))
    found = [ways.sides(way) for way in range(len(ways))]
    assert found == [((0, 2, 3), (1,)), ((0, 1), (2, 3)), ((0, 1, 3), (2,))]


@pytest.mark.parametrize("n_values", [4, ENUMERATED, ENUMERATED + 1])
def test_where_not_every_subset_is_allowed_prefixes_are_not_enough(n_values: int):
    ways = subsets(random_table(n_values, 2, 0), free=False)
    exact = n_values <= ENUMERATED
    assert ways.exact == exact
    assert len(ways) == (2 ** (n_values - 1) - 1 if exact else n_values - 1)


def test_two_of_many_classes_are_two_classes():
    weights = np.zeros((20, 5))
    weights[:, 1], weights[:, 4] = np.arange(20), 7
    ways = subsets(CountTable.of(weights))
    assert len(ways) == 19
    assert ways.exact


def test_more_classes_need_every_subset_once():
    ways = subsets(random_table(4, 3, 0))
    found = [ways.sides(way) for way in range(len(ways))]
    assert len(found) == 7
    assert set(found) == set(naive_splits.all_subsets(range(4)))


def test_the_sides_of_a_way_have_its_counts():
    table = random_table(6, 3, 1)
    ways = subsets(table)
    for way in range(len(ways)):
        for side, codes in enumerate(ways.sides(way)):
            expected = table.weights[list(codes)].sum(axis=0)
            assert ways.table.weights[way, side].tolist() == expected.tolist()


def test_codes_that_are_absent_are_on_no_side():
    table = CountTable.of([[1, 2, 0], [0, 1, 1], [2, 0, 1]])
    table = CountTable(
        np.array([1, 4, 6]),
        table.weights,
        table.rows,
        table.missing,
        table.missing_rows,
    )
    assert {code for side in subsets(table).sides(0) for code in side} == {1, 4, 6}


@pytest.mark.parametrize("n_values", [ENUMERATED, ENUMERATED + 1])
def test_beyond_a_number_of_values_the_search_says_that_it_is_not_exact(n_values: int):
    ways = subsets(random_table(n_values, 3, 2))
    exact = n_values <= ENUMERATED
    assert ways.exact == exact
    assert len(ways) == (2 ** (n_values - 1) - 1 if exact else n_values - 1)


def test_the_search_along_the_principal_component_finds_a_planted_subset():
    # Even codes are of class 0, odd ones of class 1 or 2 alike.
    weights = np.array(
        [[9, 0, 0] if code % 2 == 0 else [0, 5, 4] for code in range(16)]
    )
    ways = subsets(CountTable.of(weights))
    best = first_best(CRITERIA["gini"].gain(ways.table))
    assert ways.sides(best)[0] == tuple(range(0, 16, 2))


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=9, unique=True))
@settings(max_examples=examples(50))
def test_thresholds_lie_between_the_values(values: list[int]):
    values = sorted(values)
    table = CountTable.of([[1, 1]] * len(values))
    table = CountTable(
        np.array(values, dtype=float),
        table.weights,
        table.rows,
        table.missing,
        table.missing_rows,
    )
    ways = thresholds(table)
    for way, (low, high) in enumerate(pairwise(values)):
        assert ways.sides(way) == (low + high) / 2
