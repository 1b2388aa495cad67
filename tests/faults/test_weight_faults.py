"""Faults 17 to 22: weights of rows and classes."""

import numpy as np
import pandas as pd
import pytest
from tests.faults.fault_rows import grown, random_rows

import spinney
from spinney import DataError, ForestClassifier, TreeClassifier, TreeRegressor

ESTIMATORS = [TreeClassifier, TreeRegressor, ForestClassifier]


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart", "chaid"])
def test_fault_17_rows_of_weight_zero_are_not_there(recipe):
    rows = random_rows(40)
    junk = {"x": [99.0] * 9, "word": ["never"] * 9, "y": ["p"] * 9}
    padded = {name: rows[name] + junk[name] for name in rows}
    padded["w"] = [1.0] * 40 + [0.0] * 9
    weighed = {**rows, "w": [1.0] * 40}
    one, other = (grown(each, recipe, weight="w") for each in (padded, weighed))
    assert str(one) == str(other)
    assert one.outputs(rows).tobytes() == other.outputs(rows).tobytes()


def test_fault_17_no_bag_holds_nothing_but_weightless_rows():
    X = np.arange(40.0)[:, None]
    weights = np.zeros(40)
    weights[[3, 30]] = 1.0
    model = ForestClassifier(50, random_state=0)
    model.fit(X, (X[:, 0] > 20).astype(int), sample_weight=weights)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.predict([[3.0], [30.0]]).tolist() == [0, 1]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fault_18_all_weights_zero(estimator):
    with pytest.raises(DataError, match="zero for every row"):
        estimator().fit([[1], [2]], [0, 1], sample_weight=[0, 0])


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("weight", [1e-15, 1e-150, 1e100])
def test_fault_19_very_light_and_heavy_weights(weight):
    rows = random_rows(40)
    frame = pd.DataFrame(rows)[["x"]]
    odd, plain = (
        TreeClassifier("id3").fit(frame, rows["y"], sample_weight=[each] * 40)
        for each in (weight, 1.0)
    )
    assert odd.feature_importances_ == pytest.approx(plain.feature_importances_)
    assert odd.tree.n_leaves == plain.tree.n_leaves
    assert odd.predict_proba(frame) == pytest.approx(plain.predict_proba(frame))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fault_20_negative_weights(estimator):
    with pytest.raises(DataError, match="the weight of row 2 is -1"):
        estimator().fit([[1], [2]], [0, 1], sample_weight=[1, -1])
    rows = {"x": [1, 2], "y": ["a", "b"], "w": [1, -1]}
    with pytest.raises(DataError, match="'w'"):
        grown(rows, weight="w")


@pytest.mark.parametrize("estimator", [TreeClassifier, ForestClassifier])
def test_fault_21_a_class_without_weight_when_balanced(estimator):
    model = estimator(class_weight="balanced")
    model.fit([[1], [2], [3]] * 4, ["a", "b", "c"] * 4, sample_weight=[1, 1, 0] * 4)
    shares = model.predict_proba([[1], [3]])
    assert np.isfinite(shares).all()
    assert shares.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("missing", ["fractional", "own-category", "branch"])
@pytest.mark.parametrize("recipe", ["id3", "cart"])
def test_fault_22_weights_are_repetitions_with_missing_cells_too(missing, recipe):
    rows = random_rows(25, missing=0.3)
    times = [1 + i % 3 for i in range(25)]
    weighed = {**rows, "w": [float(n) for n in times]}
    again = np.repeat(np.arange(25), times)
    repeated = {name: [rows[name][i] for i in again] for name in rows}
    one = grown(weighed, recipe, weight="w", missing_policy=missing)
    other = grown(repeated, recipe, missing_policy=missing)
    assert one.tree.n_leaves == other.tree.n_leaves
    assert one.outputs(rows) == pytest.approx(other.outputs(rows))


def test_fault_22_a_weighted_forest_takes_missing_cells():
    rows = {**random_rows(60, missing=0.3), "w": [1.0 + i % 3 for i in range(60)]}
    forest = spinney.grow_forest(rows, "y", weight="w", n_estimators=5)
    assert np.isfinite(forest.outputs(rows)).all()
