"""The kernels of multiway trees, each against plain Python."""

from math import log2
from statistics import NormalDist

import numpy as np
import pytest
from tests.helpers.plain_kernels import MULTIWAY, plain

from spinney.growth.prune.error_limits import added_errors

layout, count, errors, search, grow, prune = plain(
    *(
        MULTIWAY + each
        for each in ("layout", "value_counts", "errors", "search", "grow", "prune")
    )
)

NO_COSTS = np.zeros((0, 0))
NEVER = 2**40  # nodes, at which growing would pause
LIMITS = layout.Limits(
    n_classes=2,
    impurity=layout.ENTROPY,
    ratio=False,
    slack=0.0,
    max_depth=9,
    min_node_weight=2.0,
    min_branch_weight=1.0,
    min_cut_fraction=0.0,
    min_branch_fraction=0.0,
    min_gain=1e-9,
    mdl_correction=False,
    competitor_rows=100,
    max_side_minimum=25.0,
    altered=np.ones(2),
    reuse=True,
)


def growth_of(columns, kinds, classes, *, fractions=None, **limits):
    """Return a growth of all rows, the root waiting; codes are values, too."""
    n, p, limits = len(classes), len(columns), LIMITS._replace(**limits)
    n_codes = [int(max(c for c in column if c is not None)) + 1 for column in columns]
    codes = np.empty((n, p + 1), np.uint16)
    for a, column in enumerate(columns):
        codes[:, a] = [n_codes[a] if code is None else code for code in column]
    codes[:, p] = classes
    facts = np.zeros((p, 5), np.int64)
    facts[:, layout.KIND], facts[:, layout.N_CODES] = kinds, n_codes
    facts[:, layout.TABLE_START] = np.cumsum([0, *(k + 1 for k in n_codes[:-1])])
    numbers = np.arange(max(n_codes), dtype=float)
    k, lines = limits.n_classes, sum(n_codes) + p
    size, most = 8 * n + 8, max(n_codes) + 2
    members = layout.Members(
        np.arange(size, dtype=np.uint32),
        np.ones(size),
        np.empty(size, np.uint32),
        np.empty(size),
        np.zeros((size, 5), np.int64),
        np.zeros((size, p), np.uint8),
    )
    if fractions is not None:
        members.fractions[:n] = fractions
    grown = layout.Grown(
        np.zeros((size, 9), np.int32),
        np.zeros((size, k)),
        np.zeros((size, k), np.int64),
        np.zeros((size, 6), np.int32),
        np.zeros((size, 2)),
        np.zeros(4 * size, np.int32),
        np.zeros((4 * size, k)),
        np.zeros((4 * size, k), np.int64),
        np.array([1, 1, 0, 0, 0, NEVER]),
    )
    work = layout.Workspace(
        table=np.empty(2 * k * lines),
        listed=np.empty((p, 2), np.uint64),
        codes=np.empty(most, np.int64),
        value_weights=np.empty(2 * k * most),
        scores=np.empty(most),
        keys=np.empty(n, np.uint64),
        key_buffer=np.empty(n, np.uint64),
        histogram=np.empty(256, np.int64),
        vectors=np.empty(layout.VECTORS * 2 * k),
        results=np.zeros((p, 5), np.int64),
        merits=np.zeros((p, 2)),
        logs=np.array([0.0, *(x * log2(x) for x in range(1, n + 1))]),
        present=np.empty(k, np.int64),
        sides=np.empty((p, 6 * k)),
    )
    weights = np.bincount(classes, fractions, minlength=k)
    grown.nodes[0, [layout.PARENT, layout.CHOSEN]] = -1, -1
    grown.weights[0], grown.counts[0] = weights, np.bincount(classes, minlength=k)
    members.stack[0] = 0, n, 0, fractions is None, 0
    ranked = layout.RankedColumns(codes, facts, numbers, np.zeros(p))
    return layout.Growth(ranked, limits, members, grown, work)


def entropy(weights):
    shares = np.asarray(weights) / np.sum(weights)
    return -sum(share * log2(share) for share in shares if share > 0)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("fractions", [None, [1.0, 0.5, 2.0, 1.0, 0.25, 1.0]])
def test_runs_are_the_codes_that_occur_with_their_weights(many, fractions, monkeypatch):
    if many:  # as if there were more codes than a table has lines
        monkeypatch.setattr(count, "MAX_TABLE_CODES", 0)
    column, classes = [3, 0, 3, None, 0, 5], [0, 1, 1, 0, 1, 0]
    growth = growth_of([column], [layout.NUMERIC], classes, fractions=fractions)
    count.count_tables(growth, 0, 0, 1)
    n_values = count.collect_values(growth, 0, 0)
    assert growth.work.codes[:n_values].tolist() == [0, 3, 5]
    weights = np.ones(6) if fractions is None else np.array(fractions)
    width = 2 if fractions is None else 4
    for j, code in enumerate([0, 3, 5, None]):
        own = [i for i in range(6) if column[i] == code]
        expected = [sum(weights[i] for i in own if classes[i] == c) for c in range(2)]
        if fractions is not None:
            expected += [sum(classes[i] == c for i in own) for c in range(2)]
        away = layout.MISSING * 4
        line = growth.work.value_weights[width * j :]
        if code is None:
            line = growth.work.vectors[away:]
        assert line[:width].tolist() == expected


def test_many_keys_are_sorted_by_digits():
    codes = np.random.default_rng(0).integers(0, 700, 300)
    growth = growth_of([codes.tolist()], [layout.NUMERIC], [0, 1] * 150)
    assert count._sort_keys(growth, 0, 0) == 300
    assert (growth.work.keys >> np.uint64(32)).tolist() == sorted(codes.tolist())


@pytest.mark.parametrize("impurity", [layout.GINI, layout.ENTROPY])
def test_the_best_cut_of_an_attribute_has_the_greatest_gain(impurity):
    rng = np.random.default_rng(1)
    for _ in range(10):
        column, classes = rng.integers(0, 8, 20), rng.integers(0, 2, 20)
        growth = growth_of([column], [layout.NUMERIC], classes, impurity=impurity)
        search.search_attributes(growth, 0, 0, 1)

        def impure(own, classes=classes):
            weights = np.bincount(classes[own], minlength=2)
            if impurity == layout.ENTROPY:
                return entropy(weights)
            return 1 - np.sum((weights / weights.sum()) ** 2)

        gains = {}
        for low in np.unique(column)[:-1]:
            left = column <= low
            after = left.mean() * impure(left) + (~left).mean() * impure(~left)
            gains[low] = impure(column == column) - after
        best = max(gains.values())
        assert growth.work.merits[0, layout.GAIN] == pytest.approx(best)
        below, above = growth.work.results[0, [layout.LOW_CODE, layout.HIGH_CODE]]
        assert gains[below] == pytest.approx(best)
        assert above == min(column[column > below])


def test_a_branch_for_each_value_gains_and_is_divided_by_its_own_entropy():
    column, classes = [0, 0, 1, 1, 2, None], [0, 0, 1, 1, 0, 1]
    growth = growth_of([column], [layout.NOMINAL], classes, ratio=True)
    search.search_attributes(growth, 0, 0, 1)
    gain = 5 / 6 * entropy([3, 2])
    assert growth.work.merits[0, layout.GAIN] == pytest.approx(gain)
    merit = gain / entropy([2, 2, 1, 1])
    assert growth.work.merits[0, layout.MERIT] == pytest.approx(merit)
    assert growth.work.results[0, layout.N_MISSING] == 1
    assert search.choose_attribute(growth) == 0


def test_the_first_of_equal_attributes_is_chosen_and_none_that_gains_nothing():
    classes = [0, 0, 1, 1]
    same, useless = [0, 0, 1, 1], [0, 1, 0, 1]
    growth = growth_of([useless, same, same], [layout.NUMERIC] * 3, classes)
    search.search_attributes(growth, 0, 0, 3)
    assert search.choose_attribute(growth) == 1
    growth = growth_of([[0] * 4], [layout.NUMERIC], classes)
    search.search_attributes(growth, 0, 0, 1)
    assert search.choose_attribute(growth) == -layout.IDENTICAL


def test_a_planted_tree_is_grown_with_divided_rows():
    # Class 1 where the value is 1; the row without a value goes both ways.
    column, classes = [0, 0, 0, 1, 1, None], [0, 0, 0, 1, 1, 0]
    growth = growth_of([column], [layout.NOMINAL], classes, min_node_weight=9.0)
    assert grow.grow_nodes(growth, grow.Task.GROW, 0, 1) == layout.DONE
    grown = growth.grown
    assert grown.state[layout.N_NODES] == 3
    assert grown.nodes[0, layout.FIRST_CHILD] == 1
    assert grown.weights[1:3].tolist() == [[3 + 3 / 5, 0], [2 / 5, 2]]
    assert grown.counts[1:3].tolist() == [[4, 0], [1, 2]]
    reasons = grown.nodes[1:3, layout.REASON].tolist()
    assert reasons == [layout.PURE, layout.EXHAUSTED]
    assert layout.chosen_candidate(grown, 0) == 0
    assert layout.is_nominal(growth, 0)


def test_members_of_a_split_node_stand_in_the_order_of_the_stack():
    column, classes = [2, 0, 1, 0, 2, None], [0, 1, 0, 0, 1, 1]
    other = [0, 1, 1, 0, 1, 0]
    kinds = [layout.NOMINAL, layout.NOMINAL]
    growth = growth_of([column, other], kinds, classes, min_node_weight=1.0)
    search.search_attributes(growth, 0, 0, 2)
    growth.work.results[1, layout.CAN_SPLIT] = 0  # so that the first one is chosen
    assert grow.grow_nodes(growth, grow.Task.SPLIT, 0, 2) == layout.DONE
    members, waiting = growth.members, growth.grown.state[layout.N_WAITING]
    assert waiting == 3
    rows = {}
    for top in range(waiting):
        begin, end, plain_node = layout.member_range(members, top)
        assert not plain_node
        branch = members.stack[top, layout.NODE] - 1
        rows[int(branch)] = members.rows[begin:end].tolist()
        assert members.fractions[begin:end][-1] == pytest.approx(
            [0.4, 0.2, 0.4][branch]
        )
    assert rows == {2: [0, 4, 5], 1: [2, 5], 0: [1, 3, 5]}
    assert members.used[:waiting].tolist() == [[1, 0]] * 3


@pytest.mark.parametrize(
    ("array", "room", "needed"),
    [
        ("nodes", layout.SHORT_OF_NODES, 3),
        ("candidates", layout.SHORT_OF_CANDIDATES, 1),
        ("line_codes", layout.SHORT_OF_LINES, 3),  # missing rows, and both sides
    ],
)
def test_too_little_room_is_told_before_anything_is_changed(array, room, needed):
    growth = growth_of([[0, 1, 2, 3]], [layout.NUMERIC], [0, 0, 1, 1])
    whole = getattr(growth.grown, array)
    short = growth.grown._replace(**{array: whole[: needed - 1].copy()})
    assert grow.grow_nodes(growth._replace(grown=short), grow.Task.GROW, 0, 1) == room
    enough = growth.grown._replace(**{array: whole[:needed].copy()})
    assert short.state.tolist() == [1, 1, 0, 0, 0, NEVER]
    done = grow.grow_nodes(growth._replace(grown=enough), grow.Task.GROW, 0, 1)
    assert done == layout.DONE
    assert enough.line_counts[:3].tolist() == [[0, 0], [2, 0], [0, 2]]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [([6, 0], 0.0), ([14, 5], 5.0), ([3, 0.5], 0.5), ([0, 0], 0.0)],
)
def test_a_leaf_may_make_as_many_errors_as_in_plain_python(weights, expected):
    lines, prior = np.array([weights], float), np.zeros(2)
    rules = layout.Rules(True, 0.25, NormalDist().inv_cdf(0.75), 1.0, NO_COSTS, 1.0)
    assert errors.leaf_errors(rules, lines, 0, prior) == expected
    total = expected + (added_errors(sum(weights), expected) if sum(weights) else 0)
    assert errors.estimated_errors(rules, lines, 0, prior) == pytest.approx(total)


def test_the_prior_may_change_what_a_leaf_predicts():
    lines = np.array([[2.0, 3.0]])
    rules = layout.Rules(True, 0.25, NormalDist().inv_cdf(0.75), 5.0, NO_COSTS, 1.0)
    assert errors.risk(rules, lines, 0, np.array([4.0, 0.0])) == 3
    assert errors.risk(rules._replace(scale=1.0), lines, 0, np.zeros(2)) == 2


def test_costs_decide_the_label_of_a_leaf_and_its_risk():
    lines, prior = np.array([[6.0, 2.0]]), np.zeros(2)
    costs = np.array([[0.0, 4.0], [1.0, 0.0]])  # the label 0 costs 8, the label 1 6
    rules = layout.Rules(True, 0.25, NormalDist().inv_cdf(0.75), 1.0, costs, 4.0)
    assert errors.leaf_errors(rules, lines, 0, prior) == 6
    assert errors.risk(rules, lines, 0, prior) == 6
    dear = rules._replace(costs=2 * costs, max_cost=8.0)
    assert errors.leaf_errors(dear, lines, 0, prior) == 6
    assert errors.risk(dear, lines, 0, prior) == 12
    assert errors.leaf_errors(rules._replace(costs=NO_COSTS), lines, 0, prior) == 2


@pytest.mark.parametrize("raising", [False, True])
def test_a_split_that_saves_no_error_is_pruned(raising):
    rng = np.random.default_rng(0)
    useful = np.repeat([0, 1], 40)
    noise, classes = rng.integers(0, 2, 80), useful.copy()
    classes[[3, 50]] = 1 - classes[[3, 50]]
    kinds = [layout.NOMINAL, layout.NOMINAL]
    growth = growth_of([useful, noise], kinds, classes, min_gain=0.0)
    grow.grow_nodes(growth, grow.Task.GROW, 0, 2)
    grown, n_nodes = growth.grown, int(growth.grown.state[layout.N_NODES])
    assert n_nodes > 3
    room = len(grown.nodes)
    records = layout.PruneRecords(
        np.arange(room, dtype=np.int32),
        np.zeros(room, np.uint8),
        np.zeros(room),
        np.zeros(room),
        np.zeros((room, 2), np.int64),
        np.zeros((room, 4)),
        np.zeros(2),
        np.zeros(3),
    )
    growth.members.rows[:80] = np.arange(80)
    growth.members.stack[0] = 0, 80, 0, 1, 0
    grown.state[layout.N_WAITING] = 1
    rules = layout.Rules(raising, 0.25, NormalDist().inv_cdf(0.75), 1.0, NO_COSTS, 1.0)
    arrays = (growth.members, grown, records, growth.work)
    assert prune.prune(layout.Pruning(growth.columns, rules, *arrays)) == layout.DONE
    assert grown.nodes[0, layout.N_CHILDREN] == 2
    assert grown.nodes[1:3, layout.N_CHILDREN].tolist() == [0, 0]
    seen = sum(1 + added_errors(40, 1) for _ in range(2))
    assert records.estimates[0] == pytest.approx(seen)
    assert records.steps[: grown.state[layout.N_STEPS], 1].tolist() == [
        layout.REPLACED,
        layout.REPLACED,
        layout.KEPT,
    ]
