"""Categories of many values, ordered once for all trees of a forest."""

import dataclasses
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.growth.cross_fitting import cross_fit, folds_of_rows
from spinney.growth.forest import forest_growth, with_ordered_categories
from spinney.recipes import RECIPES
from spinney.sources.rows.training_rows import TrainingSet

CART = RECIPES["cart"]


def rows(n_values: int, target: Target, seed: int = 0, n_rows: int = 3000):
    """Return rows of one category, some of them missing, and one number."""
    random = np.random.default_rng(seed)
    values = tuple(f"v{number}" for number in range(n_values))
    codes = np.where(
        random.random(n_rows) < 0.1, -1, random.integers(0, n_values - 5, n_rows)
    )
    labels = random.normal(size=n_rows)
    if not target.is_numeric:
        labels = random.integers(0, len(target.classes), n_rows)
    schema = Schema(
        (Attribute("z", "nominal", values), Attribute("x", "numeric")), target
    )
    weights = random.integers(1, 4, n_rows).astype(float)
    return TrainingSet(schema, (codes, random.random(n_rows)), labels, weights)


def score_of(labels, weights, mean, share) -> float:
    """Return the shrunk mean of labels, from that of all, by a loop."""
    total = size = 0.0
    for label, weight in zip(labels, weights, strict=True):
        total += weight * (label - mean)
        size += weight
    return total / (size + 1 / share) if size else 0.0


def naive_scores(training, folds):
    """Return the scores of values, and of rows by the other folds, in plain loops."""
    codes, labels = training.columns[0].tolist(), training.classes.astype(float)
    weights = training.sample_weights
    known = [row for row, code in enumerate(codes) if code >= 0]
    unit = sum(weights[row] for row in known) / len(known)
    weights = weights / unit
    n = len(known)
    mean = sum(weights[row] * labels[row] for row in known) / n
    if training.schema.target.is_numeric:
        labels, mean = labels - mean, 0.0
        labels = labels / max(abs(labels[row]) for row in known)
    by_value = defaultdict(list)
    for row in known:
        by_value[codes[row]].append(row)
    between = sizes = 0.0
    for rows_of_value in by_value.values():
        size = sum(weights[row] for row in rows_of_value)
        own = sum(weights[row] * labels[row] for row in rows_of_value) / size
        between += size * (own - mean) ** 2
        sizes += size**2
    total = sum(weights[row] * (labels[row] - mean) ** 2 for row in known)
    groups = len(by_value)
    within = (total - between) / (n - groups)
    each = (n - sizes / n) / (groups - 1)
    share = (between / (groups - 1) - within) / each / within

    def score(rows_of_value):
        chosen = labels[rows_of_value], weights[rows_of_value]
        return score_of(*chosen, mean, share)

    values = {code: score(own) for code, own in by_value.items()}
    by_row = {
        row: score([r for r in by_value[codes[row]] if folds[r] != folds[row]])
        for row in known
    }
    return values, by_row


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "target",
    [Target("y", origin=0.0), Target("y", ("no", "yes"))],
    ids=["mean", "share"],
)
def test_the_order_is_that_of_scores_in_plain_loops(target, seed):
    training = rows(25, target, seed=seed, n_rows=400)
    shift = np.random.default_rng(seed).normal(size=26)[training.columns[0]]
    labels = shift + np.random.default_rng(9).normal(size=400)
    if not target.is_numeric:
        labels = (labels > 0).astype(np.int64)
    training = dataclasses.replace(training, classes=labels)
    folds = folds_of_rows(training)
    assert sorted(np.bincount(folds)) == [80] * 5
    values, by_row = naive_scores(training, folds)
    fit = cross_fit(training, 0, folds)
    assert fit.is_significant
    neutral = [values.get(code, 0.0) for code in fit.order.tolist()]
    assert (np.diff(neutral) >= -1e-9).all()
    for row, place in enumerate(fit.cells.codes.tolist()):
        if training.columns[0][row] < 0:
            assert place == -1
        else:  # no value is nearer than the one that it looks like
            nearest = min(abs(each - by_row[row]) for each in neutral)
            assert abs(neutral[place] - by_row[row]) <= nearest + 1e-9


def test_values_stand_in_the_order_of_their_scores_and_stay_nominal():
    training = rows(300, Target("y", ("no", "yes")))
    ordered = with_ordered_categories(training, [CART])
    before, after = training.schema.attributes[0], ordered.schema.attributes[0]
    assert after.kind == "nominal"
    assert sorted(after.values) == sorted(before.values)
    pairs = zip(training.columns[0], ordered.columns[0], strict=True)
    for old, new in pairs:
        assert (old < 0) == (new < 0)
        assert old < 0 or after.values[new] == before.values[old]
    # Labels drawn by chance: the column is not asked about.
    assert set(ordered.ordered[0].codes.tolist()) == {-1, 0}


def test_few_values_and_other_groupings_are_left_alone():
    training = rows(12, Target("y", ("no", "yes")))
    assert not with_ordered_categories(training, [CART]).ordered
    many = rows(300, Target("y", ("no", "yes")))
    assert with_ordered_categories(many, [RECIPES["id3"]]).schema == many.schema
    assert with_ordered_categories(rows(13, Target("y", ("a", "b"))), [CART]).ordered
    # An engine orders no values: rows drawn by what is in them are to be its rows.
    some = rows(255, Target("y", ("no", "yes")))
    assert not with_ordered_categories(some, [CART], hashed=True).ordered


@pytest.fixture
def plain_is_a_failure(monkeypatch):
    def grow(*_arguments, **_options):
        pytest.fail("a tree was grown without the compiled kernels")

    monkeypatch.setattr(forest_growth, "grow_tree", grow)


def table(n_rows: int = 4000, n_values: int = 400):
    """Return a column of many values that tells the class, and noise."""
    random = np.random.default_rng(1)
    codes = random.integers(0, n_values, n_rows)
    classes = np.where(codes % 2 == 0, "even", "odd")
    names = np.char.add("v", codes.astype(str)).astype(object)
    names[random.random(n_rows) < 0.05] = None
    return pd.DataFrame({"z": names, "x": random.random(n_rows)}), classes


@pytest.mark.usefixtures("plain_is_a_failure")
def test_a_forest_of_many_values_is_grown_by_loops_and_kept(tmp_path):
    cells, classes = table()
    model = spinney.ForestClassifier(20, random_state=0, oob_score=True)
    model.fit(cells[:3000], classes[:3000])
    found = model.score(cells[3000:], classes[3000:])
    assert found > 0.93
    assert abs(model.oob_score_ - found) < 0.03
    model.save(tmp_path / "forest.spinney")
    loaded = spinney.load(tmp_path / "forest.spinney")
    expected = model.predict_proba(cells[3000:])
    np.testing.assert_array_equal(loaded.predict_proba(cells[3000:]), expected)
    # A value that was never seen is as good as a missing one.
    odd = pd.DataFrame({"z": ["never", None], "x": [0.5, 0.5]})
    one, other = model.predict_proba(odd)
    assert one.tolist() == other.tolist()


@pytest.mark.usefixtures("plain_is_a_failure")
def test_numbers_are_predicted_from_many_values():
    cells, classes = table()
    numbers = (classes == "even") + np.random.default_rng(0).normal(size=len(cells)) / 9
    model = spinney.ForestRegressor(20, random_state=0).fit(
        cells[:3000], numbers[:3000]
    )
    assert model.score(cells[3000:], numbers[3000:]) > 0.7


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_the_order_does_not_depend_on_rows_or_units(n_classes):
    target = Target("y", ("a", "b", "c")[:n_classes]) if n_classes else None
    training = rows(300, target or Target("y", origin=0.0))
    if not n_classes:
        numbers = np.round(training.classes, 1)  # many means are nearly equal
        training = dataclasses.replace(training, classes=numbers)
    order = np.random.default_rng(3).permutation(len(training.classes))
    lighter = dataclasses.replace(training, weights=training.sample_weights / 10)
    expected = with_ordered_categories(training, [CART]).schema.attributes[0].values
    for other in (training.take(order), lighter):
        attribute = with_ordered_categories(other, [CART]).schema.attributes[0]
        assert attribute.values == expected
