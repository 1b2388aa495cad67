"""The best two subsets of many values: against all of them, and what bounds them."""

from itertools import product

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.sources.comparing import arrow_of, assert_same_tree

import spinney
from spinney.search import groupings
from spinney.search.bounded_subsets import (
    beam_width_for,
    best_subset,
    least_extra_costs,
)
from spinney.search.value_order import principal_score
from spinney.trees.counts import CountTable
from spinney.trees.criteria import CRITERIA, entropy, gini, misclassification

IMPURITIES = {"gini": gini, "entropy": entropy, "error": misclassification}


def cost_of(weights, impurity, left):
    """Return what two subsets cost, in plain loops."""
    cost = 0.0
    for side in (True, False):
        sums = [
            sum(w[c] for w, goes in zip(weights, left, strict=True) if goes == side)
            for c in range(len(weights[0]))
        ]
        cost += sum(sums) * float(impurity(sums))
    return cost


def least_cost(weights, impurity, least=0.0):
    """Return the least cost of all subsets whose sides weigh enough."""
    costs = [np.inf]
    for rest in product((True, False), repeat=len(weights) - 1):
        left = (True, *rest)
        sides = [
            sum(sum(w) for w, goes in zip(weights, left, strict=True) if goes == side)
            for side in (True, False)
        ]
        if not all(left) and min(sides) >= least:
            costs.append(cost_of(weights, impurity, left))
    return min(costs)


@st.composite
def lines(draw, most_values=8):
    n_classes = draw(st.integers(2, 5))
    cell = st.sampled_from((0, 0, 1, 2, 3, 7)) | st.sampled_from((0.1, 1 / 3, 2.5))
    line = st.lists(cell, min_size=n_classes, max_size=n_classes).filter(any)
    return draw(st.lists(line, min_size=2, max_size=most_values))


@given(weights=lines(), name=st.sampled_from(sorted(IMPURITIES)), data=st.data())
@settings(max_examples=examples(120), deadline=None)
def test_with_room_for_all_it_is_the_best_of_all(weights, name, data):
    impurity = IMPURITIES[name]
    least = data.draw(st.sampled_from((0.0, 0.0, 1.0, 4.0)))
    table = np.array(weights, dtype=float)
    found = best_subset(
        table,
        impurity,
        value_weights=table.sum(axis=1),
        min_weight=least,
        beam_width=10_000,
    )
    expected = least_cost(weights, impurity, least * (1 - 1e-12))
    if found is None:
        assert expected == np.inf
        return
    scale = 1e-9 * table.sum()
    assert found.cost == pytest.approx(expected, abs=scale)
    assert found.bound == pytest.approx(found.cost, abs=scale)
    assert cost_of(weights, impurity, found.left) == pytest.approx(expected, abs=scale)
    assert found.left[0]
    assert not found.left.all()


@given(
    weights=lines(),
    name=st.sampled_from(sorted(IMPURITIES)),
    beam_width=st.integers(0, 3),
)
@settings(max_examples=examples(120), deadline=None)
def test_without_room_the_bound_holds(weights, name, beam_width):
    impurity, table = IMPURITIES[name], np.array(weights, dtype=float)
    found = best_subset(
        table,
        impurity,
        value_weights=table.sum(axis=1),
        min_weight=0.0,
        beam_width=beam_width,
    )
    scale = 1e-9 * table.sum()
    expected = least_cost(weights, impurity)
    assert found.bound - scale <= expected <= found.cost + scale
    assert cost_of(weights, impurity, found.left) == pytest.approx(
        found.cost, abs=scale
    )


@given(
    prices=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6
    )
)
@settings(max_examples=examples(60), deadline=None)
def test_the_least_of_two_prices(prices):
    sums = [
        max((p[0] for p, goes in zip(prices, left, strict=True) if goes), default=0)
        + max(
            (p[1] for p, goes in zip(prices, left, strict=True) if not goes), default=0
        )
        for left in product((True, False), repeat=len(prices))
    ]
    found = least_extra_costs(*np.array(prices, dtype=float).T[:, None])
    assert found.tolist() == [min(sums)]


def test_values_of_equal_shares_stay_together():
    weights = np.array([[1, 2, 0], [2, 4, 0], [5, 0, 0], [1, 0, 0], [0, 1, 3]], float)
    found = best_subset(
        weights, gini, value_weights=weights.sum(axis=1), min_weight=0.0, beam_width=9
    )
    assert found.left[0] == found.left[1]
    assert found.left[2] == found.left[3]


def test_values_that_are_all_alike_are_parted_somehow():
    weights = np.array([[1.0, 2, 3]] * 14)
    found = best_subset(
        weights, gini, value_weights=weights.sum(axis=1), min_weight=0.0, beam_width=9
    )
    assert 0 < found.left.sum() < 14
    assert found.bound == pytest.approx(found.cost)


def many_values(n_rows, n_values, n_classes, seed=0):
    """Return a table of two columns of many values, and classes that follow them."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, n_values, (2, n_rows))
    merits = random.normal(size=(2, n_values, n_classes))
    score = merits[0][codes[0]] + merits[1][codes[1]]
    labels = np.argmax(score + random.gumbel(size=score.shape), axis=1)
    return {
        "one": [f"v{code:02d}" for code in codes[0]],
        "two": [f"v{code:02d}" for code in codes[1]],
        "y": [f"c{label}" for label in labels],
    }


def test_of_three_classes_many_values_are_parted_exactly_and_it_is_said():
    table = many_values(2_000, 18, 3)
    model = spinney.grow(table, "y", recipe="cart", pruning="none", max_depth=1)
    root = model.tree.root
    assert [each.exact for each in root.candidates] == [True, True]
    assert "the best of the 2^17 − 1 splitting subsets of 18 values" in str(
        model.explain(node=0)
    )
    # No prefix of the order along the main direction is as good.
    chosen = root.candidate
    halves = [float(CRITERIA["gini"].gain(chosen.branches)), chosen.gain]
    assert halves[0] == pytest.approx(halves[1])


@pytest.mark.filterwarnings("ignore:splits on high-cardinality:spinney.SpinneyWarning")
def test_where_it_is_not_proved_a_bound_is_kept(tmp_path):
    table = many_values(600, 30, 6)
    model = spinney.grow(table, "y", recipe="cart", pruning="none", max_depth=1)
    root = model.tree.root
    (best, *_) = root.candidates
    assert not best.exact
    apart = float(CRITERIA["gini"].gain(CountTable.of(best.table.weights)))
    assert best.gain < best.bound <= apart + 1e-12
    text = str(model.explain(node=0))
    assert (
        "not proved to be the best of the 2^29 − 1 splitting subsets of 30 values"
        in text
    )
    assert "% below it" in text
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    assert loaded.tree.root.candidates[0].bound == best.bound
    assert loaded.export("json") == model.export("json")
    assert f'"bound": {best.bound!r}' in model.export("json")


@pytest.mark.parametrize("criterion", ["gini", "gain", "misclassification"])
def test_duckdb_parts_many_values_alike(criterion):
    table = many_values(700, 16, 4, seed=3)
    options = {"recipe": "cart", "pruning": "none", "criterion": criterion}
    plain = spinney.grow(table, "y", max_depth=3, **options)
    with duckdb.connect() as connection:
        relation = connection.from_arrow(arrow_of(table))
        counted = spinney.grow(
            relation, "y", connection=connection, max_depth=3, **options
        )
        assert_same_tree(counted.tree, plain.tree, whole=True)
    marks = [
        [(c.exact, c.bound) for n in model.tree for c in n.candidates]
        for model in (plain, counted)
    ]
    assert marks[0] == marks[1]


def test_room_grows_with_the_rows_and_not_without_end():
    assert beam_width_for(199, 3, 0.01) == 0
    assert beam_width_for(200, 3, 0.01) == 4
    assert beam_width_for(20, 3, 1.0) == 64
    assert beam_width_for(10**9, 60, 1.0) == 256


@pytest.mark.parametrize("criterion", ["variance_root", "sdr"])
def test_roots_of_variances_are_parted_by_all_subsets(criterion):
    # Means 2, 2.5, 3 and 4; the best subset takes the first and the third or so, which
    # no prefix in the order of the means is.
    random = np.random.default_rng(5)
    better = 0
    for _ in range(60):
        numbers = {v: random.choice([0.0, 1, 2, 5, 10], size=4) for v in "abcd"}
        table = {
            "letter": [v for v in "abcd" for _ in range(4)],
            "y": np.concatenate(list(numbers.values())).tolist(),
        }
        model = spinney.grow(
            table,
            "y",
            recipe="cart",
            criterion=criterion,
            pruning="none",
            max_depth=1,
            numeric=["y"],
        )
        candidate = model.tree.root.candidates[0]
        lines_ = candidate.table.weights
        gains = {
            left: float(
                CRITERIA[criterion].gain(
                    CountTable.of_moments(
                        [
                            lines_[[*left]].sum(axis=0),
                            np.delete(lines_, [*left], axis=0).sum(axis=0),
                        ]
                    )
                )
            )
            for left in [(0,), (0, 1), (0, 2), (0, 3), (0, 1, 2), (0, 1, 3), (0, 2, 3)]
        }
        assert candidate.gain == pytest.approx(max(gains.values()), abs=1e-9)
        order = np.argsort(lines_[:, 1] / lines_[:, 0], kind="stable").tolist()
        prefixes = [set(order[:i]) for i in (1, 2, 3)]
        prefixes += [set(range(4)) - each for each in prefixes]
        of_prefixes = [g for left, g in gains.items() if set(left) in prefixes]
        better += max(gains.values()) > max(of_prefixes) + 1e-6
    assert better > 0


def test_all_ways_of_many_values_list_the_one_that_was_searched_for():
    table = many_values(700, 16, 4, seed=3)
    model = spinney.grow(table, "y", recipe="cart", pruning="none", max_depth=1)
    asked = model.explain(0).chosen
    told = model.explain(0, attribute=asked, data=table)
    (best,) = [way for way in told.ways if way.best]
    assert best.taken
    assert best.lines.gain == pytest.approx(model.tree.root.candidate.gain)
    assert told.searched
    assert told.exact
    assert best.lines.exact
    assert "branch and bound proved that no other is better" in str(told)


def test_a_search_that_gave_up_says_so(monkeypatch):
    monkeypatch.setattr(groupings, "beam_width_for", lambda *_: 1)
    table = many_values(700, 16, 4, seed=3)
    model = spinney.grow(table, "y", recipe="cart", pruning="none", max_depth=1)
    told = model.explain(0, attribute=model.explain(0).chosen, data=table)
    assert told.searched
    assert not told.exact
    assert "branch and bound stopped early" in str(told)


def test_without_room_it_is_the_best_prefix_and_nothing_is_searched():
    for seed in range(20):
        weights = np.random.default_rng(seed).integers(1, 30, (14, 4)).astype(float)
        found = best_subset(
            weights,
            gini,
            value_weights=weights.sum(axis=1),
            min_weight=0.0,
            beam_width=0,
        )
        order = principal_score(weights).argsort()
        prefixes = [np.isin(np.arange(14), order[:n]) for n in range(1, 14)]
        least = min(cost_of(weights.tolist(), gini, each) for each in prefixes)
        assert found.cost == pytest.approx(least, rel=1e-12)
