"""What an estimator takes: weights, columns by name or number, labels of any type."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.estimators.frames import N_ROWS, RECIPES
from tests.helpers.models import assert_same_model
from tests.helpers.strategies import TABLES

import spinney
from spinney import SpinneyWarning, TreeClassifier
from spinney.output.tree_text import to_text

# Weights


@pytest.mark.parametrize("recipe", RECIPES)
def test_rows_of_no_weight_leave_no_trace(recipe, rows):
    X, y = rows
    X = X.astype({"colour": object})
    odd = X.iloc[:5].assign(colour="ultraviolet", width=1e9)
    both = pd.concat([X, odd], ignore_index=True)
    labels = pd.concat([y, pd.Series(["no"] * 5, name="ripe")], ignore_index=True)
    weights = np.repeat([1.0, 0.0], [N_ROWS, 5])
    with_them = TreeClassifier(recipe).fit(both, labels, sample_weight=weights)
    without = TreeClassifier(recipe).fit(X, y, sample_weight=np.ones(N_ROWS))
    assert_same_model(with_them.model_, without.model_)


def test_weights_are_repetitions(rows):
    X, y = rows
    times = np.arange(N_ROWS) % 3 + 1
    # A surrogate needs two rows each way, whatever they weigh.
    recipe = TreeClassifier("cart", missing_policy="branch")
    weighted = clone(recipe).fit(X, y, sample_weight=times)
    repeated = clone(recipe).fit(X.loc[X.index.repeat(times)], y.repeat(times))
    weighted_text, repeated_text = (
        to_text(each.model_.tree) for each in (weighted, repeated)
    )
    assert weighted_text.startswith("ripe  (n = 90, weight 180: ")
    assert re.sub(r"n = \d+, weight ", "", weighted_text) == repeated_text


def test_class_weights_turn_labels():
    X, y = {"x": [0.0] * 4}, ["a", "a", "a", "b"]
    table = {**X, "y": y}
    assert spinney.grow(table, "y").predict(X).tolist() == ["a"] * 4
    heavy = spinney.grow(table, "y", class_weight={"b": 4})
    assert heavy.predict_proba(X)[0].tolist() == pytest.approx([3 / 7, 4 / 7])
    assert heavy.predict(X).tolist() == ["b"] * 4
    even = spinney.grow(table, "y", class_weight="balanced")
    assert even.predict_proba(X)[0].tolist() == pytest.approx([0.5, 0.5])
    fitted = TreeClassifier(class_weight={1: 4}).fit(np.zeros((4, 1)), [0, 0, 0, 1])
    assert fitted.predict([[0.0]]).tolist() == [1]


def test_light_rows_are_told(rows):
    X, y = rows
    with pytest.warns(SpinneyWarning, match="min_samples_leaf=2 counts weight"):
        TreeClassifier(min_samples_leaf=2).fit(X, y, sample_weight=[0.01] * N_ROWS)


# Names and numbers of columns


def test_an_array_after_a_frame_warns(fitted, rows):
    array = rows[0].astype(object).to_numpy()
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        found = fitted.predict(array)
    np.testing.assert_array_equal(found, fitted.predict(rows[0]))


def test_fit_wants_the_same_columns_in_the_same_order(fitted, rows):
    X, _ = rows
    with pytest.raises(ValueError, match="must be in the same order"):
        fitted.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="unseen at fit time:\n- more"):
        fitted.predict(X.assign(more=1))
    with pytest.raises(ValueError, match="yet now missing:\n- width"):
        fitted.predict(X.drop(columns="width"))


def test_grow_takes_columns_by_name(rows):
    X, y = rows
    model = spinney.grow(X.assign(ripe=y), "ripe", recipe="cart")
    mixed = X.assign(more=1)[["more", *X.columns[::-1]]]
    np.testing.assert_array_equal(model.predict(mixed), model.predict(X))
    with pytest.raises(spinney.DataError, match="needs the column 'width'"):
        model.predict(X.drop(columns="width"))


def test_another_number_of_columns():
    model = TreeClassifier().fit(np.arange(8.0).reshape(4, 2), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"X has 3 features, but .* expecting 2"):
        model.predict(np.zeros((1, 3)))


@pytest.mark.parametrize("unseen", ["violet", None])
def test_an_unseen_category_is_a_missing_one(unseen, fitted, rows):
    odd = rows[0].iloc[:3].assign(colour=pd.Series([unseen] * 3, dtype=object))
    missing = rows[0].iloc[:3].assign(colour=pd.Series([None] * 3, dtype=object))
    np.testing.assert_array_equal(
        fitted.predict_proba(odd), fitted.predict_proba(missing)
    )


def test_fit_takes_a_dictionary_of_columns():
    columns = {"a": [1.0, 2.0, 3.0, 4.0], "b": ["p", "q", "p", "q"]}
    model = TreeClassifier("cart").fit(columns, ["n", "y", "n", "y"])
    assert model.predict(columns).tolist() == ["n", "y", "n", "y"]


# Labels


@pytest.mark.parametrize(
    "labels", [["a", 1, "a", 1], [True, "x", True, "x"], [2, 0.5, 2, 0.5]]
)
def test_labels_of_mixed_types_keep_them(labels, tmp_path):
    columns = {"x": [1.0, 2.0, 3.0, 4.0], "y": labels}
    model = spinney.grow(columns, "y", nominal=["y"], recipe="cart")
    model.save(tmp_path / "model")
    for one in (model, spinney.load(tmp_path / "model")):
        found = one.predict(columns).tolist()
        assert [(type(label), label) for label in found] == [
            (type(label), label) for label in labels
        ]


@pytest.mark.parametrize(
    "labels, kind",
    [
        ([True, False, True, False], np.bool_),
        ([3, 1, 3, 1], np.int64),
        (["b", "a", "b", "a"], np.str_),
    ],
)
def test_labels_keep_their_type(labels, kind, tmp_path):
    columns = {"x": [1.0, 2.0, 3.0, 4.0], "y": labels}
    model = spinney.grow(columns, "y", recipe="cart")
    model.save(tmp_path / "model")
    fitted = TreeClassifier("cart").fit(np.arange(1.0, 5).reshape(4, 1), labels)
    for found in (
        model.predict(columns),
        spinney.load(tmp_path / "model").predict(columns),
        fitted.predict(np.arange(1.0, 5).reshape(4, 1)),
    ):
        assert isinstance(found[0], kind)
        assert found.tolist() == labels


@pytest.mark.parametrize("nothing", [None, np.nan])
def test_a_row_without_a_label_is_refused(nothing):
    labels = np.array(["a", nothing, "b"], dtype=object)
    with pytest.raises(ValueError, match=r"class|NaN"):
        TreeClassifier().fit(pd.DataFrame({"x": [1, 2, 3]}), labels)


# Scores without labels


def test_score_of_a_table_that_holds_its_target():
    path = TABLES / "netball.csv"
    model = spinney.grow(path, "play", recipe="id3", ignore=["day"], max_depth=1)
    frame = pd.read_csv(path)
    expected = np.mean(model.predict(frame) == frame["play"])
    assert model.score(path) == model.score(frame) == expected
    assert model.score(frame.drop(columns="play"), frame["play"]) == expected
    with pytest.raises(spinney.DataError, match="no column 'play'"):
        model.score(frame.drop(columns="play"))


def test_score_of_a_fitted_model_without_labels(fitted, rows):
    X, y = rows
    assert fitted.score(X.assign(ripe=y)) == fitted.score(X, y)


def test_score_of_rows_whose_class_is_unknown():
    columns = {"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "b", "a", "b"]}
    model = spinney.grow(columns, "y", recipe="cart")
    # A class that the model does not know is an error, a missing one is left out.
    assert model.score({**columns, "y": ["a", "b", "a", "maybe"]}) == 0.75
    with pytest.warns(spinney.SpinneyWarning, match="is missing in 1 of 4 rows"):
        assert model.score({**columns, "y": ["a", "b", "b", None]}) == 2 / 3
