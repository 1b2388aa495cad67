"""Groupings of the values of attributes, of many tables at once."""

from collections.abc import Callable
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
from spinney.search.cut_points import midpoint
from spinney.search.groupings import (
    CandidateSplits,
    all_subsets,
    best_prefixes,
    multiway,
    ordered,
    thresholds,
)
from spinney.search.value_order import principal_score
from spinney.sources.base import TableRequest
from spinney.trees.counts import CountTable
from spinney.trees.criteria import CRITERIA
from spinney.trees.table_batch import TableBatch, joined_batches

Builder = Callable[[TableBatch], CandidateSplits]


def alone(table: CountTable) -> TableBatch:
    return TableBatch.of([{0: table}])


def prefixes(batch: TableBatch) -> CandidateSplits:
    return best_prefixes(batch, is_unrestricted=np.ones(len(batch), dtype=bool))


def sides(
    candidates: CandidateSplits, batch: TableBatch, candidate: int
) -> tuple[tuple[int, ...], ...]:
    """Return the values on each side of a way of the only table."""
    line_branches = candidates.line_branches(np.array([candidate]))
    return tuple(
        tuple(batch.values[line_branches == side].astype(int)) for side in (0, 1)
    )


def enumerate_splits(
    candidates: CandidateSplits, batch: TableBatch
) -> list[tuple[tuple[int, ...], ...]]:
    return [sides(candidates, batch, candidate) for candidate in range(len(candidates))]


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
    batch = alone(CountTable.of([[1, 0], [0, 2], [3, 0]], missing=[1, 0]))
    candidates = thresholds(batch)
    assert enumerate_splits(candidates, batch) == [((0,), (1, 2)), ((0, 1), (2,))]
    assert candidates.table.weights.tolist() == [[[1, 0], [3, 2]], [[1, 2], [3, 0]]]
    assert candidates.table.rows.tolist() == [[[1, 0], [3, 2]], [[1, 2], [3, 0]]]
    assert candidates.table.missing.tolist() == [[1, 0]] * 2
    assert candidates.missing_at.tolist() == [-1, -1]
    assert candidates.exact.all()


def test_midpoints_of_density_and_sugar():
    # EXPECTED.md, 000: 16 each.
    table = textbook("watermelon_3.0", numeric=("density", "sugar"))
    batch = joined_batches(table.source.tables([TableRequest(0, (6, 7))]))
    candidates = thresholds(batch)
    assert candidates.owner.tolist() == [0] * 16 + [1] * 16
    cuts = [
        midpoint(low, high)
        for number in (0, 1)
        for low, high in pairwise(batch.table(number).values.tolist())
    ]
    assert (cuts[0], cuts[15]) == (0.244, 0.7465)
    assert (cuts[16], cuts[31]) == (0.0495, 0.418)


def test_numbers_closer_than_a_step_are_not_parted():
    batch = alone(CountTable.of([[1, 0], [0, 2], [3, 0]]))
    assert len(thresholds(batch, np.array([1.0]))) == 0
    assert len(thresholds(batch, np.array([0.5]))) == 2


def test_the_rest_of_a_cut_without_rows_weighs_nothing():
    # 0.1 + 0.2 and 0.3 differ: only rows tell that class 0 is all on the left.
    candidates = thresholds(alone(CountTable.of([[0.1, 0], [0.2, 0], [0, 1]])))
    assert candidates.table.weights[1, 1].tolist() == [0, 1]


# Cuts that cannot be the best


def best_cut(
    candidates: CandidateSplits, batch: TableBatch, name: str, least: float
) -> tuple:
    """Return the branches of the first best cut that is allowed, and its gain."""
    gains = np.asarray(CRITERIA[name].gain(candidates.table))
    gains[(candidates.table.sizes < least).any(axis=1)] = -np.inf
    if not (gains > -np.inf).any():
        return ()
    best = first_best(gains)
    return tuple(candidates.line_branches(np.array([best])).tolist()), gains[best]


def test_cuts_between_rows_of_one_class_are_left_out():
    batch = alone(CountTable.of([[2, 0], [1, 0], [1, 0], [0, 3], [0, 1], [1, 1]]))
    candidates = thresholds(batch, min_weight=np.array([0.0]))
    # The first cut and the last have no neighbour on one side.
    assert [len(left) for left, _ in enumerate_splits(candidates, batch)] == [1, 3, 5]
    assert candidates.n_excluded.tolist() == [2]
    # A limit makes a cut between others one at the end: three rows on the left.
    candidates = thresholds(batch, min_weight=np.array([3.0]))
    assert [len(left) for left, _ in enumerate_splits(candidates, batch)] == [
        1,
        2,
        3,
        4,
        5,
    ]


@pytest.mark.parametrize(
    "table",
    [
        CountTable.of([[1, 0], [1, 0], [1, 0], [0, 2]], missing=[1, 0]),
        CountTable.of([[0.5, 0], [0.5, 0], [0.5, 0], [0, 2]]),
        CountTable.of([[1, 0], [1, 0], [1, 0], [0, 1000]]),
        CountTable.of_moments([[1, 2, 4], [1, 2, 4], [1, 2, 4], [1, 3, 9]]),
    ],
)
def test_no_cut_is_left_out_where_that_is_not_proven(table):
    candidates = thresholds(alone(table), min_weight=np.array([0.0]))
    assert len(candidates) == 3
    assert not np.any(candidates.n_excluded)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(
        st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any),
        min_size=2,
        max_size=40,
    ),
    st.lists(st.integers(0, 2), min_size=40, max_size=40),
    st.integers(0, 6),
    st.sampled_from([c.name for c in CRITERIA.values() if c.boundaries]),
)
def test_the_best_cut_is_not_left_out(lines, classes, least, name):
    # Half of the lines have rows of one class, so that there is much to leave out.
    for line, label in zip(lines[::2], classes, strict=False):
        line[:] = [max(line) if each == label else 0 for each in range(3)]
    batch = alone(CountTable.of(lines))
    every, some = (
        thresholds(batch),
        thresholds(batch, min_weight=np.array([float(least)])),
    )
    assert len(every) == len(some) + some.n_excluded.sum()
    assert best_cut(some, batch, name, least) == best_cut(every, batch, name, least)


@pytest.mark.parametrize("weights", [[[1, 2]], np.zeros((0, 2))])
def test_fewer_than_two_values_cannot_be_grouped(weights):
    batch = alone(CountTable.of(weights))
    assert len(thresholds(batch)) == 0
    assert len(prefixes(batch)) == 0
    assert len(multiway(batch, np.array([3]))) == 0


def test_multiway_has_a_branch_for_absent_values_too():
    batch = alone(CountTable.of([[1, 0], [0, 2]]))
    candidates = multiway(batch, np.array([4]))
    assert candidates.line_branches(np.array([0])).tolist() == [0, 1]
    assert candidates.table.weights.tolist() == [[[1, 0], [0, 2], [0, 0], [0, 0]]]


def test_an_order_of_all_codes_is_cut_between_those_that_occur():
    batch = alone(CountTable.of([[1, 0], [0, 2], [3, 0]]))
    candidates = ordered(batch, np.array([5, 0, 2]))
    assert enumerate_splits(candidates, batch) == [((1,), (0, 2)), ((1, 2), (0,))]
    assert candidates.table.weights[:, 0].tolist() == [[0, 2], [3, 2]]


@pytest.mark.parametrize("build", [thresholds, prefixes])
@pytest.mark.parametrize("scale", [1, 0.1])
def test_a_stack_is_searched_as_each_of_its_tables(build: Builder, scale: float):
    tables = [random_table(n, 2, n) for n in (2, 7, 1, 3, 16, 5)]
    scaled = [table.scaled(np.array([scale, scale])) for table in tables]
    together = build(TableBatch.of([{0: table} for table in scaled]))
    one_by_one = [build(alone(table)) for table in scaled]
    assert together.owner.tolist() == [
        number
        for number, candidates in enumerate(one_by_one)
        for _ in range(len(candidates))
    ]
    expected = np.concatenate([candidates.table.weights for candidates in one_by_one])
    np.testing.assert_array_equal(together.table.weights, expected)


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
        batch = alone(table)
        easy = n_classes == 2 and CRITERIA[criterion].ordered
        candidates = prefixes(batch) if easy else all_subsets(batch)
        assert candidates.exact.all()
        found = CRITERIA[criterion].gain(candidates.table).max()
        expected = best_by_brute_force(table, criterion)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_two_classes_need_only_prefixes():
    # Breiman et al. (1984), theorem 4.5: ordered by the share of one class.
    batch = alone(CountTable.of([[1, 1], [3, 0], [0, 3], [1, 2]]))
    candidates = prefixes(batch)
    assert enumerate_splits(candidates, batch) == [
        ((0, 2, 3), (1,)),
        ((0, 1), (2, 3)),
        ((0, 1, 3), (2,)),
    ]


def test_where_not_every_subset_is_allowed_prefixes_are_not_exact():
    batch = alone(random_table(13, 2, 0))
    candidates = best_prefixes(batch, is_unrestricted=np.array([False]))
    assert len(candidates) == 12
    assert not candidates.exact.any()


def test_two_of_many_classes_are_two_classes():
    weights = np.zeros((20, 5))
    weights[:, 1], weights[:, 4] = np.arange(20), 7
    candidates = prefixes(alone(CountTable.of(weights)))
    assert len(candidates) == 19
    assert candidates.exact.all()


def test_more_classes_need_every_subset_once():
    batch = alone(random_table(4, 3, 0))
    subsets = enumerate_splits(all_subsets(batch), batch)
    assert len(subsets) == 7
    assert set(subsets) == set(naive_splits.all_subsets(range(4)))


@pytest.mark.parametrize("build", [all_subsets, prefixes])
def test_the_sides_of_a_way_have_its_counts(build: Builder):
    table = random_table(6, 3, 1)
    batch = alone(table)
    candidates = build(batch)
    for candidate in range(len(candidates)):
        for side, codes in enumerate(sides(candidates, batch, candidate)):
            expected = table.weights[list(codes)].sum(axis=0)
            assert (
                candidates.table.weights[candidate, side].tolist() == expected.tolist()
            )


def test_along_the_principal_component_nothing_is_proven():
    assert not prefixes(alone(random_table(13, 3, 2))).exact.any()


@pytest.mark.parametrize("seed", range(5))
def test_the_principal_component_is_of_rows_and_not_of_values(seed):
    """Twin: the direction in which the class shares of rows vary most."""
    weights = np.random.default_rng(seed).integers(0, 40, (15, 3)) ** 2.0
    shares = weights / weights.sum(axis=1, keepdims=True)
    mean = weights.sum(axis=0) / weights.sum()
    spread = np.zeros((3, 3))
    for line, share in zip(weights, shares, strict=True):
        spread += line.sum() * np.outer(share - mean, share - mean)
    along = (shares - mean) @ np.linalg.eigh(spread)[1][:, -1]
    score = principal_score(weights)
    assert score == pytest.approx(along * np.sign(along @ score), abs=1e-9)


def test_the_search_along_the_principal_component_finds_a_planted_subset():
    # Even codes are of class 0, odd ones of class 1 or 2 alike.
    weights = np.array(
        [[9, 0, 0] if code % 2 == 0 else [0, 5, 4] for code in range(16)]
    )
    batch = alone(CountTable.of(weights))
    candidates = prefixes(batch)
    best = first_best(CRITERIA["gini"].gain(candidates.table))
    assert sides(candidates, batch, best)[0] == tuple(range(0, 16, 2))


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=9, unique=True))
@settings(max_examples=examples(50))
def test_thresholds_lie_between_the_values(values: list[int]):
    table = CountTable.of([[1, 1]] * len(values))
    table = CountTable(
        np.array(sorted(values), dtype=float),
        table.weights,
        table.rows,
        table.missing,
        table.missing_rows,
    )
    batch = alone(table)
    candidates = thresholds(batch)
    for candidate in range(len(candidates)):
        left, right = sides(candidates, batch, candidate)
        assert max(left) < min(right)
