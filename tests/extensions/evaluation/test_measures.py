"""Measures, against plain loops and scikit-learn called directly."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import spinney
from spinney.errors import ParameterError
from spinney.extensions.evaluation.measures import (
    GROUPS,
    MEASURES,
    class_measures,
    measure_named,
    number_measures,
    size_measures,
)
from spinney.extensions.evaluation.report import PRIORITY

TABLES = Path(__file__).parents[2] / "tables"


@st.composite
def predictions(draw):
    """Draw classes, predictions, shares that add up to 1, and weights."""
    n_rows, n_classes = draw(st.integers(1, 12)), draw(st.integers(2, 4))
    codes = st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows)
    parts = st.lists(st.integers(0, 3), min_size=n_classes, max_size=n_classes)
    rows = st.lists(parts.filter(any), min_size=n_rows, max_size=n_rows)
    shares = np.array(draw(rows), dtype=float)
    weights = draw(st.lists(st.integers(1, 4), min_size=n_rows, max_size=n_rows))
    return (
        np.array(draw(codes)),
        np.array(draw(codes)),
        shares / shares.sum(axis=1, keepdims=True),
        np.array(weights, dtype=float),
    )


def naive_area(truth, scores, weights):
    """Return the share of pairs that are in order; a tie is half a pair."""
    right = pairs = 0.0
    for i, one in enumerate(truth):
        for j, other in enumerate(truth):
            if one and not other:
                weight = weights[i] * weights[j]
                pairs += weight
                tie = abs(scores[i] - scores[j]) <= 1e-12
                right += weight * (0.5 if tie else scores[i] > scores[j])
    return right / pairs if pairs else None


def naive_measures(truth, predicted, shares, weights):
    """Return the measures in plain loops."""
    classes = range(shares.shape[1])
    total = sum(weights)
    right = brier = loss = 0.0
    for row, code in enumerate(truth):
        right += weights[row] * (predicted[row] == code)
        brier += weights[row] * sum(
            (shares[row][c] - (c == code)) ** 2 for c in classes
        )
        loss -= weights[row] * math.log(max(shares[row][code], 2.0**-52))
    recalls, fs = [], []
    for c in classes:
        of_class = sum(w for w, code in zip(weights, truth, strict=True) if code == c)
        said = sum(w for w, code in zip(weights, predicted, strict=True) if code == c)
        hits = sum(
            w
            for w, code, guess in zip(weights, truth, predicted, strict=True)
            if code == guess == c
        )
        if of_class:
            recalls.append(hits / of_class)
        if of_class or said:
            fs.append(2 * hits / (of_class + said))
    areas = [
        naive_area([code == c for code in truth], shares[:, c], weights)
        for c in ([1] if len(classes) == 2 else classes)
    ]
    known = [area for area in areas if area is not None]
    return {
        "accuracy": right / total,
        "balanced_accuracy": sum(recalls) / len(recalls),
        "macro_f": sum(fs) / len(fs),
        "auc": sum(known) / len(known) if known else None,
        "log_loss": loss / total,
        "brier": brier / total,
    }


@given(predictions())
def test_classes_against_plain_loops(drawn):
    truth, predicted, shares, weights = drawn
    found = class_measures(truth, predicted, shares, weights=weights)
    expected = naive_measures(truth, predicted, shares, weights)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if value is None:
            assert found[name] is None
        else:
            assert found[name] == pytest.approx(value, abs=1e-9), name


@given(predictions())
def test_a_row_of_weight_three_is_three_rows(drawn):
    truth, predicted, shares, weights = drawn
    times = weights.astype(int)
    one = class_measures(truth, predicted, shares, weights=weights)
    other = class_measures(
        *(np.repeat(part, times, axis=0) for part in (truth, predicted, shares))
    )
    for name, value in one.items():
        assert other[name] == (None if value is None else pytest.approx(value)), name


def test_area_of_three_classes_is_that_of_scikit_learn():
    random = np.random.default_rng(0)
    truth = random.integers(0, 3, 60)
    shares = random.dirichlet([1, 1, 1], 60)
    found = class_measures(truth, shares.argmax(axis=1), shares)
    expected = metrics.roc_auc_score(truth, shares, multi_class="ovr", average="macro")
    assert found["auc"] == pytest.approx(expected)


def test_areas_are_the_same_however_equal_shares_are_rounded():
    truth = np.array([0, 1, 0, 1, 1, 0])
    shares = np.array([0.3, 0.3, 0.6, 0.6, 0.6, 0.3])
    wrong = truth == 0  # which rounding puts before or after the others
    areas = []
    for rounding in (0.0, 3e-15 * wrong, -3e-15 * wrong):
        second = shares + rounding
        both = np.array([1 - second, second]).T
        areas.append(class_measures(truth, truth, both)["auc"])
    # 0.3 ties with two and loses to one, 0.6 wins of two and ties with one, twice.
    assert areas == pytest.approx(3 * [(1 + 2 * 2.5) / 9])


def test_an_impossible_class_costs_36_and_is_finite():
    found = class_measures([1], [0], [[1, 0]])
    assert found["log_loss"] == pytest.approx(52 * math.log(2))
    assert found["brier"] == 2
    assert found["auc"] is None


def test_costs_by_hand():
    # Two good rows taken for bad at 1 each, one bad for good at 5: 7 over 5 rows.
    costs = np.array([[0, 1], [5, 0]])  # [label][true]; bad is 0, good 1
    found = class_measures(
        [1, 1, 0, 0, 1], [0, 0, 1, 0, 1], np.full((5, 2), 0.5), costs=costs
    )
    assert found["cost"] == pytest.approx(7 / 5)


@given(st.data())
def test_numbers_against_plain_loops(data):
    n_rows = data.draw(st.integers(1, 12))
    numbers = st.lists(st.integers(-9, 9), min_size=n_rows, max_size=n_rows)
    truth, predicted = data.draw(numbers), data.draw(numbers)
    weights = [abs(w) + 1 for w in data.draw(numbers)]
    total = sum(weights)

    def mean(values):
        return sum(w * v for w, v in zip(weights, values, strict=True)) / total

    def covariance(one, other):
        a, b = mean(one), mean(other)
        return mean([(x - a) * (y - b) for x, y in zip(one, other, strict=True)])

    errors = [x - y for x, y in zip(truth, predicted, strict=True)]
    squares = mean([error**2 for error in errors])
    found = number_measures(truth, predicted, weights=np.array(weights))
    assert found["rmse"] == pytest.approx(math.sqrt(squares))
    assert found["mae"] == pytest.approx(mean(map(abs, errors)))
    if len(set(truth)) == 1:
        assert found["r2"] is None
        assert found["correlation"] is None
        return
    assert found["r2"] == pytest.approx(1 - squares / covariance(truth, truth))
    if len(set(predicted)) == 1:
        assert found["correlation"] is None
    else:
        product = covariance(truth, truth) * covariance(predicted, predicted)
        expected = covariance(truth, predicted) / math.sqrt(product)
        assert found["correlation"] == pytest.approx(expected, abs=1e-9)


def test_correlation_of_large_numbers_is_finite():
    large = np.array([1e120, 2e120, 4e120])  # the product of variances overflows
    assert number_measures(large, large / 2)["correlation"] == pytest.approx(1)


@pytest.mark.parametrize(
    "table, target, recipe, numeric",
    [
        ("watermelon_3.0", "ripe", "id3", ["id"]),
        ("iris", "class", "cart", []),
        ("iris", "class", "c4.5", []),
        ("cpu_prp", "class", "m5", []),
    ],
)
def test_sizes_beside_rules_and_paths(table, target, recipe, numeric):
    path = TABLES / f"{table}.csv"
    model = spinney.grow(path, target, recipe=recipe, numeric=numeric)
    found = size_measures(model)
    conditions = [len(rule.conditions) for rule in model.rules()]
    assert model.tree.rule_lengths == conditions
    assert found["rules"] == found["leaves"] == len(conditions)
    assert found["conditions_per_rule"] == pytest.approx(np.mean(conditions))
    questions = model.decision_path(path).sum(axis=1) - 1  # no cell is missing
    assert found["mean_path_length"] == pytest.approx(questions.mean())
    assert found["weighted_external_path_length"] == pytest.approx(questions.sum())
    assert found["external_path_length"] == sum(
        leaf.depth for leaf in model.tree.leaves
    )


def test_sizes_of_a_forest_are_those_of_its_trees():
    forest = spinney.grow_forest(TABLES / "iris.csv", "class", n_estimators=4)
    found = size_measures(forest)
    trees = [member.tree for member in forest.trees]
    for name in ("external_path_length", "weighted_external_path_length"):
        assert found[name] == pytest.approx(sum(getattr(tree, name) for tree in trees))
    mean = np.mean([tree.mean_path_length for tree in trees])
    assert found["mean_path_length"] == pytest.approx(mean)
    assert found["rules"] is None


def test_groups_hold_every_measure_once():
    assert sorted(GROUPS["all"]) == sorted(
        name
        for group in ("quality", "interpretability", "speed")
        for name in GROUPS[group]
    )
    assert set(PRIORITY) == set(MEASURES)


def test_an_unknown_measure():
    with pytest.raises(ParameterError, match="did you mean 'accuracy'"):
        measure_named("acuracy")
    with pytest.raises(ParameterError, match="measure='rmse' is unknown"):
        measure_named("rmse", ("accuracy",))


def test_a_probability_may_be_one_and_a_rounding():
    exact, rounded = (
        class_measures([0, 1], [0, 1], [[share, 0.0], [0.2, 0.8]])
        for share in (1.0, 1.0000000000000002)
    )
    assert rounded == exact
