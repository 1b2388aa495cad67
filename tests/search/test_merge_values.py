"""CHAID's merging by hand, at its edges, and where there are many categories."""

from math import erfc, exp, log, sqrt
from random import Random

import numpy as np
import pytest
from tests.helpers.merged_values import merge

from spinney.errors import ParameterError
from spinney.search.chaid import categories as portions
from spinney.search.chaid import groups as merger
from spinney.search.chaid.categories import Categories
from spinney.search.chaid.group_splits import best_bipartition, best_cut
from spinney.search.chaid.merge_values import Merging
from spinney.trees.counts import CountTable
from spinney.trees.criteria.significance import CERTAIN, chi_square_test
from spinney.trees.table_batch import TableBatch

FOUR = [[10, 30], [12, 28], [28, 12], [30, 10]]


def moments(groups: list[list[float]], missing: list[float] = ()) -> CountTable:
    def line(values: list[float]) -> list[float]:
        return [len(values), sum(values), sum(y * y for y in values)]

    return CountTable(
        np.arange(len(groups)),
        np.array([line(group) for group in groups], float),
        np.array([[len(group)] for group in groups]),
        np.array(line(missing), float),
        np.array([len(missing)]),
    )


# By hand. A table of two rows (a, b), (c, d) has χ² = n (ad − bc)² / product of the
# four sums, and with one degree of freedom p = erfc(√(χ² / 2)).


@pytest.mark.parametrize("kind, ways", [("ordinal", 3), ("nominal", 7)])
def test_four_values_become_two_groups(kind, ways):
    # 0-1 and 2-3: 80 · 80² / (40 · 40 · 22 · 58) = 0.2508, p = 0.617, a tie: 0-1 is
    # merged first. The nearest others: 1-2, 80 · 640² / 40⁴ = 12.8. Then 2-3. Two
    # groups (22, 58) and (58, 22) are left: 160 · 2880² / 80⁴ = 32.4.
    # CandidateSplits: C(3, 1) = 3 in order, S(4, 2) = 7 without.
    found = merge(CountTable.of(FOUR), kind=kind)
    assert found.groups == ((0, 1), (2, 3))
    assert found.missing is None
    assert found.statistic == pytest.approx(32.4, rel=1e-14)
    assert found.degrees == 1
    assert found.p == pytest.approx(erfc(sqrt(16.2)), rel=1e-12)
    assert found.adjusted_p == pytest.approx(ways * erfc(sqrt(16.2)), rel=1e-12)
    assert found.exact


def test_missing_values_float():
    # Missing (11, 29) is nearest to value 1: 80 · 40² / (40 · 40 · 23 · 57) = 0.0610,
    # then value 0 joins, 120 · 120² / (40 · 80 · 33 · 87) = 0.188, then 2-3 as above.
    # (33, 87) and (58, 22): 200 · 4320² / (120 · 80 · 91 · 109) = 39.197.
    # CandidateSplits: C(3, 0) + 2 · C(3, 1) = 7.
    found = merge(CountTable.of(FOUR, missing=[11, 29]), kind="ordinal")
    assert found.groups == ((0, 1), (2, 3))
    assert found.missing == 0
    assert found.statistic == pytest.approx(200 * 4320**2 / (120 * 80 * 91 * 109))
    assert exp(found.log_multiplier) == pytest.approx(7)


def test_missing_values_stand_alone():
    found = merge(CountTable.of(FOUR, missing=[40, 0]), kind="ordinal")
    assert found.groups == ((0, 1), (2, 3), ())
    assert found.missing == 2
    # CandidateSplits: C(3, 1) + 3 · C(3, 2) = 12.
    assert exp(found.log_multiplier) == pytest.approx(12)
    left_out = merge(CountTable.of(FOUR, missing=[40, 0]), floating=False)
    assert left_out == merge(CountTable.of(FOUR))


def test_a_merged_group_is_split_again():
    # Merged at p > 0.2: 0-1 (p = 0.872), then 4 (0.394), then 2, 28 · 4.8² …: groups
    # (6, 14) and (0, 4) with χ² = 24 · 24² / (20 · 4 · 6 · 18) = 1.6, p = 0.206.
    # In {0, 1, 2, 4} the split into (5, 9) and (1, 9) is the best:
    # 24 · 36² / (14 · 10 · 6 · 18) = 2.057, p = 0.1515 < 0.19.
    # Left: (5, 9), (1, 9), (12, 6), χ² = 7/24 + 4.40833 + 25/6 = 133/15, two degrees:
    # p = exp(−133/30). CandidateSplits: S(5, 3) = 25.
    table = CountTable.of([[3, 5], [2, 4], [0, 4], [12, 6], [1, 5]])
    chosen = Merging(alpha_merge=0.2, alpha_split_merged=0.19)
    found = merge(table, settings=chosen)
    assert found.groups == ((0, 1), (2, 4), (3,))
    assert found.log_p == pytest.approx(-133 / 30, rel=1e-13)
    assert exp(found.log_multiplier) == pytest.approx(25)
    whole = merge(table, settings=Merging(alpha_merge=0.2, alpha_split_merged=0))
    assert whole.groups == ((0, 1, 2, 4), (3,))


def test_exhaustive_takes_the_best_stage():
    # Stages of FOUR in order: four groups, χ² = 4 · … = 32.8 with 3 degrees; three,
    # 32.6 with 2, p = exp(−16.3); two, 32.4 with 1, p = erfc(√16.2) = 1.25e-8, the
    # smallest. Pairs that could merge: 3 + 2 + 1.
    found = merge(
        CountTable.of(FOUR), kind="ordinal", settings=Merging(method="exhaustive")
    )
    assert found.groups == ((0, 1), (2, 3))
    assert found.adjusted_p == pytest.approx(6 * erfc(sqrt(16.2)), rel=1e-12)
    # Three values that differ much: the first of two stages is the better one.
    apart = CountTable.of([[60, 0, 0], [0, 60, 0], [0, 0, 60]])
    stages = merge(apart, settings=Merging(method="exhaustive"))
    assert stages.groups == ((0,), (1,), (2,))
    assert exp(stages.log_multiplier) == pytest.approx(3 + 1)


def test_moments_are_merged_by_f():
    found = merge(moments([[1, 2, 3], [11, 12, 13], [2, 3, 1.5], [11, 12, 14]]))
    assert found.groups == ((0, 2), (1, 3))
    assert (found.degrees, found.within) == (1, 10)
    certain = merge(moments([[1, 1], [2, 2], [1, 1, 1]]))
    assert certain.groups == ((0, 2), (1,))
    assert (certain.statistic, certain.log_p) == (np.inf, CERTAIN)
    assert (certain.p, certain.adjusted_p) == (0, 0)


def test_the_likelihood_ratio():
    found = merge(CountTable.of(FOUR), settings=Merging(statistic="likelihood-ratio"))
    # Expected 40 everywhere: 4 (22 ln(22/40) + 58 ln(58/40)).
    assert found.statistic == pytest.approx(4 * (22 * log(0.55) + 58 * log(1.45)))


# Rules


def test_two_groups_are_left_to_their_test():
    found = merge(CountTable.of([[5, 5], [5, 5], [5, 5]]))
    assert len(found.groups) == 2
    assert found.p == 1


def test_nothing_merges_at_one():
    alike = CountTable.of([[5, 5]] * 4)
    found = merge(alike, settings=Merging(alpha_merge=1))
    assert found.groups == ((0,), (1,), (2,), (3,))


def test_light_groups_join_the_most_similar():
    table = CountTable.of([[30, 10], [3, 0], [10, 30]])
    chosen = Merging(alpha_merge=1, alpha_split_merged=0, least=5)
    assert merge(table, settings=chosen).groups == ((0, 1), (2,))
    too_much = Merging(least=60)
    found = merge(table, settings=too_much)
    assert found.groups == ((0, 1, 2),)
    assert (found.statistic, found.degrees, found.adjusted_p) == (0, 0, 1)


def test_order_is_respected():
    # 0 and 2 are the same, with another between.
    table = CountTable.of([[30, 10], [10, 30], [30, 10], [31, 9]])
    assert merge(table).groups == ((0, 2, 3), (1,))
    assert merge(table, kind="ordinal").groups == ((0,), (1,), (2, 3))


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_values_without_weight_go_with_their_neighbour(kind):
    table = CountTable.of([[0, 0], [30, 10], [0, 0], [10, 30], [0, 0]])
    found = merge(table, kind=kind)
    assert found.groups == ((0, 1, 2), (3, 4))
    assert found.log_multiplier == 0


@pytest.mark.parametrize(
    "table, groups, missing",
    [
        (CountTable.of(np.zeros((0, 2))), (), None),
        (CountTable.of(np.zeros((0, 2)), [1, 2]), ((),), 0),
        (CountTable.of(np.zeros((3, 2))), ((0, 1, 2),), None),
        (CountTable.of(np.zeros((3, 2)), [1, 2]), ((0, 1, 2),), 0),
        (CountTable.of([[3, 4]]), ((0,),), None),
        (CountTable.of([[3, 4], [1, 0]]), ((0,), (1,)), None),
        (CountTable.of([[3, 4]], [9, 1]), ((0,), ()), 1),
        (moments([[1.0]]), ((0,),), None),
    ],
)
@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
@pytest.mark.parametrize("method", ["chaid", "exhaustive"])
def test_small_tables(table, groups, missing, kind, method):
    found = merge(table, kind=kind, settings=Merging(method=method))
    assert (found.groups, found.missing) == (groups, missing)
    if len(groups) < 2:
        assert (found.statistic, found.degrees, found.adjusted_p) == (0, 0, 1)


def test_an_underflowing_p_is_still_told_apart():
    weak, strong = (
        merge(CountTable.of([[n, 0], [0, n], [n, 1]])) for n in (20_000, 30_000)
    )
    assert weak.p == strong.p == 0
    assert strong.log_adjusted < weak.log_adjusted < -1000


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "chi"},
        {"statistic": "f"},
        {"alpha_merge": 0},
        {"alpha_merge": 1.1},
        {"alpha_split_merged": 0.05},
        {"alpha_split_merged": -1},
        {"least": -1},
        {"least": float("nan")},
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong):
    # Users know the level of taking apart by the name that a recipe gives it.
    name = next(iter(wrong)).replace("alpha_split_merged", "alpha_resplit")
    with pytest.raises(ParameterError, match=name):
        Merging(**wrong)
    with pytest.raises(ParameterError, match="kind"):
        merge(CountTable.of(FOUR), kind="numeric")


def test_of_equal_splits_the_first_is_made():
    # Any of the three apart from the others: the sides of 0 are (0), (0, 1), (0, 2).
    group = 9 * np.eye(3)[None]
    inside, found = best_bipartition(group, max_log_p=0.0, test=chi_square_test)
    assert inside.tolist() == [[True, False, False]]
    assert found[0] == pytest.approx(-13.5)  # χ² = 27 with two degrees
    _, found = best_bipartition(group, max_log_p=-13.6, test=chi_square_test)
    assert found.tolist() == [0.0]


@pytest.mark.parametrize(
    "second, side",
    [
        ([1, 9], (0, 3)),
        ([9, 1], (0, 1, 3)),
        # It tells nothing, and may go with either: (0, 1, 3) comes before (0, 3).
        ([3, 3], (0, 1, 3)),
    ],
)
def test_missing_values_go_to_either_side_of_a_cut(second, side):
    group = np.array([[[9.0, 0], second, [0, 18], [9, 0]]])
    inside, _ = best_cut(group, missing=True, max_log_p=0.0, test=chi_square_test)
    assert tuple(np.flatnonzero(inside[0])) == side


def test_missing_values_that_have_merged_pair_no_more():
    stack = TableBatch.of([{0: CountTable.of(FOUR, missing=[11, 29])}])
    every = Categories.of(stack, ordered=np.array([True]), floating=True)
    merging = merger.Merger(every.portions(np.array([0])), chi_square_test)
    tables = np.array([0])
    merging._test_all_pairs(tables)
    assert np.isfinite(merging._logs[0]).sum(axis=0).tolist() == [3, 4]
    head, other, _ = merging._most_similar(tables)
    assert (head[0], other[0]) == (1, 4)
    merging._join(tables, head, other)
    assert np.isfinite(merging._logs[0]).sum(axis=0).tolist() == [3, 0]


@pytest.mark.parametrize("seed", range(40))
def test_merging_and_splitting_ends(seed):
    # A test that draws lots: pairs merge, and what was merged is split, at random.
    # Five categories, each its own class, so that a table shows who is in a group.
    class Lots:
        def __init__(self, table):
            stack = np.asarray(table)
            pairs = stack.reshape(-1, *stack.shape[-2:])
            keys = [repr(sorted(pair.tolist())) for pair in pairs]
            drawn = [Random(f"{seed} {key}").random() for key in keys]
            self.log_p = np.log(drawn).reshape(stack.shape[:-2])

        def least_log_p(self):
            return self.log_p.min(axis=-1)

    stack = TableBatch.of([{0: CountTable.of(np.eye(5))}])
    every = Categories.of(stack, ordered=np.array([False]), floating=True)
    merging = merger.Merger(every.portions(np.array([0])), Lots)
    merging.merge_similar(0.3, 0.29)
    assert merging.group[0].tolist() == [
        merging.group[0].tolist().index(head) for head in merging.group[0]
    ]


# Many categories


def random_table(
    n: int, n_classes: int, *, seed: int = 0, size: int = 60
) -> CountTable:
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet(np.full(n_classes, 3.0), n)
    counts = np.array([generator.multinomial(size, share) for share in shares])
    return CountTable.of(counts + generator.random(counts.shape) * (counts > 0))


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_too_many_categories_are_joined_first(monkeypatch, kind, n_classes):
    table = random_table(300, n_classes)
    whole = merge(table, kind=kind)
    monkeypatch.setattr(portions, "MAX_PORTIONS", 50)
    found = merge(table, kind=kind)
    assert not found.exact
    assert sorted(sum(found.groups, ())) == list(range(300))
    assert found.log_p < 0
    if kind == "ordinal":
        for group in found.groups:
            assert group == tuple(range(group[0], group[-1] + 1))
    if n_classes == 2 and kind == "nominal":
        # Groups of a binary target are intervals of shares; little is lost.
        assert found.log_p == pytest.approx(whole.log_p, rel=0.05)


def test_categories_with_equal_shares_stay_together(monkeypatch):
    monkeypatch.setattr(portions, "MAX_PORTIONS", 10)
    table = CountTable.of([[1, 3], [3, 1]] * 40)
    found = merge(table)
    assert found.groups == (tuple(range(0, 80, 2)), tuple(range(1, 80, 2)))


def test_a_hundred_thousand_categories():
    generator = np.random.default_rng(3)
    counts = generator.integers(0, 3, (100_000, 2)).astype(float)
    found = merge(CountTable.of(counts, missing=[9, 1]))
    assert not found.exact
    assert sum(map(len, found.groups)) == 100_000
    assert found.adjusted_p == 1  # chance alone: the multiplier is 2 to the 99,999


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("numeric", [False, True])
def test_ordered_splits_are_the_best_of_all(monkeypatch, seed, numeric):
    # With two classes, or a mean, cuts along the shares are exact: the same as trying
    # every subset. Weights are random, so there are no ties.
    if numeric:
        generator = np.random.default_rng(seed)
        table = moments([list(generator.normal(m, 1, 9)) for m in generator.random(12)])
    else:
        table = random_table(12, 2, seed=seed)
    chosen = Merging(alpha_merge=0.6, alpha_split_merged=0.599)
    tried = merge(table, settings=chosen)
    monkeypatch.setattr(merger, "MAX_ENUMERATED", 2)
    assert merge(table, settings=chosen) == tried


def test_splits_of_many_categories_with_many_classes_are_not_exact():
    table = random_table(60, 3, size=5)
    assert not merge(table).exact
    assert merge(table, settings=Merging(alpha_split_merged=0)).exact
