"""Categories of many values, ordered once for all trees of a forest."""

import dataclasses
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest

import spinney
from spinney.data.schema import Attribute, Schema, Target
from spinney.errors import SpinneyWarning
from spinney.growth.forest import away_growth, with_ordered_categories
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


def means(training: TrainingSet) -> list[float]:
    """Return the mean label of each value in the order of its codes, by a loop."""
    sums, sizes = defaultdict(float), defaultdict(float)
    entries = zip(
        training.columns[0], training.classes, training.own_weights, strict=True
    )
    for code, label, weight in entries:
        sums[code] += weight * float(label)
        sizes[code] += weight
    n_values = len(training.schema.attributes[0].values)
    return [sums[code] / sizes[code] for code in range(n_values) if sizes[code]]


@pytest.mark.parametrize(
    "target",
    [Target("y", origin=0.0), Target("y", ("no", "yes"))],
    ids=["mean", "share"],
)
def test_values_stand_in_the_order_of_mean_or_share(target):
    training = rows(300, target)
    ordered = with_ordered_categories(training, [CART])
    attribute = ordered.schema.attributes[0]
    assert attribute.kind == "ordinal"
    assert sorted(attribute.values) == sorted(training.schema.attributes[0].values)
    rising = np.diff(means(ordered))
    assert (rising >= -1e-12).all() or (rising <= 1e-12).all()
    for before, after in zip(training.columns[0], ordered.columns[0], strict=True):
        if before < 0:
            assert after == -1
        else:
            name = training.schema.attributes[0].values[before]
            assert attribute.values[after] == name
    # Values that no row has stand at the end, in their order.
    assert attribute.values[-5:] == ("v295", "v296", "v297", "v298", "v299")


def test_few_values_and_other_groupings_are_left_alone():
    training = rows(255, Target("y", ("no", "yes")))
    assert with_ordered_categories(training, [CART]).schema == training.schema
    many = rows(300, Target("y", ("no", "yes")))
    assert with_ordered_categories(many, [RECIPES["id3"]]).schema == many.schema
    several = rows(13, Target("y", ("a", "b", "c")))
    attribute = with_ordered_categories(several, [CART]).schema.attributes[0]
    assert attribute.kind == "ordinal"


@pytest.fixture
def plain_is_a_failure(monkeypatch):
    def grow(*_arguments, **_options):
        pytest.fail("a tree was grown without the compiled loops")

    monkeypatch.setattr(away_growth, "grow_tree", grow)


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
    with pytest.warns(SpinneyWarning, match="looks better than it is"):
        model.fit(cells[:3000], classes[:3000])
    assert model.score(cells[3000:], classes[3000:]) > 0.93
    assert model.oob_score_ > 0.93
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
    lighter = dataclasses.replace(training, weights=training.own_weights / 10)
    expected = with_ordered_categories(training, [CART]).schema.attributes[0].values
    for other in (training.taken(order), lighter):
        attribute = with_ordered_categories(other, [CART]).schema.attributes[0]
        assert attribute.values == expected
