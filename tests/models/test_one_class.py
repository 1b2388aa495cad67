"""Rows of one class, or number: a single leaf that predicts it, and a warning."""

import json
import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score, learning_curve
from sklearn.tree import DecisionTreeClassifier

import spinney
from spinney import SpinneyWarning
from spinney.cli import run
from spinney.recipes import RECIPES
from spinney.trees import Reason

ROWS = {
    "x": [7.0 * place % 11 for place in range(40)],
    "c": ["r", "g", "b", "g"] * 10,
    "y": ["a"] * 40,
}
WARNING = (
    "target 'y': all 40 rows have one class, 'a': the model always predicts it; "
    "check the target"
)
OF_CLASSES = sorted({*RECIPES} - {"m5"})


def grown(rows=ROWS, grow=spinney.grow, **settings):
    with pytest.warns(SpinneyWarning) as told:
        model = grow(rows, "y", **settings)
    assert [str(each.message) for each in told] == [WARNING]
    return model


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("recipe", OF_CLASSES)
def test_every_recipe_grows_one_leaf_that_works_everywhere(recipe, tmp_path):
    model = grown(recipe=recipe)
    assert model.tree.root.reason is Reason.PURE
    path = tmp_path / "m.spinney"
    model.save(path)
    for each in (model, spinney.load(path)):
        assert each.predict(ROWS).tolist() == ["a"] * 40
        assert each.predict_proba(ROWS).tolist() == [[1.0]] * 40
    assert str(model).startswith("y → a")
    assert "ALWAYS y = a" in str(model.rules())
    assert "<svg" in model.plot().svg
    assert str(model.explain(node=0))
    assert str(model.explain(row={"x": [1.0], "c": ["r"]}))
    assert "<html" in model.lesson(ROWS).html
    assert model.score(ROWS) == 1
    for method in ("cost-complexity", "reduced-error"):
        given = {"validation": ROWS} if method == "reduced-error" else {"data": ROWS}
        assert model.prune(method, **given).tree.n_leaves == 1
    for format in ("python", "sql", "c", "javascript", "pmml"):
        assert model.export(format)


@pytest.mark.parametrize(
    "settings",
    [
        {"validation_share": 0.3},
        {"recipe": "cart", "pruning": "cost-complexity"},
        {"recipe": "cart", "ccp_alpha": 0.01},
        {"recipe": "c4.5", "class_weight": "balanced"},
        {"recipe": "c4.5", "keep_rows": True},
        {"recipe": "cart", "cost_matrix": [[0]]},
    ],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_what_is_asked_beside_does_no_harm(settings):
    with pytest.warns(SpinneyWarning, match="rows have one class, 'a'"):
        model = spinney.grow(ROWS, "y", **settings)
    assert model.tree.n_leaves == 1


@pytest.mark.parametrize("limit", [None, 0])
@pytest.mark.parametrize("recipe", [None, "c4.5", "cart", "chaid"])
def test_engines_grow_it_too(recipe, limit):
    rows = duckdb.sql("SELECT i % 7 AS x, 'a' AS y FROM range(40) AS t(i)")
    model = grown(rows, recipe=recipe, memory_limit=limit)
    assert model.predict_proba({"x": [1]}).tolist() == [[1.0]]


def test_parts_grow_it_too():
    halves = [{name: cells[:20] for name, cells in ROWS.items()}] * 2
    assert grown(halves, source="parts", recipe="id3").tree.n_leaves == 1


@pytest.mark.parametrize("recipe", ["cart", "c4.5", "id3", "chaid"])
def test_forests_predict_it(recipe, tmp_path):
    model = grown(grow=spinney.grow_forest, recipe=recipe, n_estimators=3)
    assert model.predict_proba(ROWS).tolist() == [[1.0]] * 40
    assert np.all(model.feature_importances_ == 0)
    model.save(tmp_path / "f.spinney")
    assert spinney.load(tmp_path / "f.spinney").predict(ROWS)[0] == "a"


@pytest.mark.parametrize(
    "estimator", [spinney.TreeClassifier, spinney.ForestClassifier]
)
def test_estimators_are_constant_where_scikit_learn_is(estimator):
    X, y = pd.DataFrame({"x": ROWS["x"]}), np.array(["a"] * 30 + ["b"] * 10)
    with pytest.warns(SpinneyWarning, match="all 30 rows have one class"):
        model = estimator().fit(X[:30], y[:30])
    assert model.classes_.tolist() == ["a"]
    assert model.predict_proba(X).tolist() == [[1.0]] * 40
    # The first training sets of a curve have one class: their scores were missing.
    curve = {"train_sizes": [5, 15], "cv": 2, "error_score": "raise"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpinneyWarning)
        found = learning_curve(estimator(), X, y, **curve)[2]
    expected = learning_curve(DecisionTreeClassifier(), X, y, **curve)[2]
    np.testing.assert_array_equal(found[0], expected[0])


def test_a_fold_without_the_rare_class_has_a_score():
    X, y = pd.DataFrame({"x": range(9)}), [*"aaaaaaaa", "b"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = cross_val_score(spinney.TreeClassifier(), X, y, cv=3)
    assert not np.isnan(scores).any()


def test_the_shell_grows_one_leaf(tmp_path, capsys):
    table, model = tmp_path / "rows.csv", str(tmp_path / "m.spinney")
    pd.DataFrame(ROWS).to_csv(table, index=False)
    asked = [str(table), "--target", "y"]
    for recipe in ("auto", "hoeffding"):
        assert run(["grow", *asked, "--recipe", recipe, "-o", model, "--force"]) == 0
        written = capsys.readouterr()
        assert WARNING in written.err
        assert "the tree is a single leaf: pure" in written.err
        assert written.out == "y → a  (40: a 40 (100 %))\n"
    assert run(["score", model, str(table), "--json"]) == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    assert (measures["accuracy"], measures["log_loss"], measures["auc"]) == (1, 0, None)
    assert run(["evaluate", *asked]) == 0
    text = capsys.readouterr().out
    assert "1.000" in text
    assert (
        "Differences of accuracy on the same folds: none, so no test is made." in text
    )


NUMBERS = ROWS | {"y": [0.5] * 40}
ONE_NUMBER = "all 40 rows have one value, 0.5: the model always predicts it"


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("recipe", ["auto", "cart", "m5", "c4.5", "chaid", "id3"])
def test_recipes_grow_one_leaf_of_one_number(recipe, tmp_path):
    with pytest.warns(SpinneyWarning, match=ONE_NUMBER):
        model = spinney.grow(NUMBERS, "y", recipe=recipe)
    assert model.tree.root.reason is Reason.PURE
    model.save(tmp_path / "m.spinney")
    for each in (model, spinney.load(tmp_path / "m.spinney")):
        assert each.predict(ROWS).tolist() == [0.5] * 40
    assert "ALWAYS y = 0.5" in str(model.rules())
    assert "<svg" in model.plot().svg
    for format in ("python", "sql", "c", "javascript", "pmml"):
        assert model.export(format)


@pytest.mark.parametrize("y", [0.0, 1e-200, 0.1, 3.5])
@pytest.mark.parametrize("settings", [{}, {"criterion": "poisson"}])
def test_one_number_of_any_size_is_learnt(y, settings):
    with pytest.warns(SpinneyWarning, match="rows have one value"):
        model = spinney.TreeRegressor("cart", **settings).fit([[1], [2], [3]], [y] * 3)
    assert model.predict([[9]]).tolist() == [pytest.approx(y, rel=1e-15)]


@pytest.mark.parametrize("limit", [None, 0])
@pytest.mark.parametrize("recipe", [None, "cart", "m5"])
def test_engines_grow_one_number_too(recipe, limit):
    rows = duckdb.sql("SELECT i % 7 AS x, 0.5 AS y FROM range(40) AS t(i)")
    with pytest.warns(SpinneyWarning, match=ONE_NUMBER):
        model = spinney.grow(rows, "y", recipe=recipe, memory_limit=limit)
    assert model.predict({"x": [1]}).tolist() == [0.5]


def test_forests_and_parts_learn_one_number():
    halves = [{name: cells[:20] for name, cells in NUMBERS.items()}] * 2
    with pytest.warns(SpinneyWarning, match=ONE_NUMBER):
        assert spinney.grow(halves, "y", source="parts").tree.n_leaves == 1
    with pytest.warns(SpinneyWarning, match=ONE_NUMBER):
        model = spinney.grow_forest(NUMBERS, "y", n_estimators=3)
    assert model.predict(ROWS).tolist() == [0.5] * 40
