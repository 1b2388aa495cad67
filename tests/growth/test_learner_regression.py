"""Numbers as targets: by hand, against scikit-learn, in DuckDB, in the shell."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import spinney
from spinney import (
    DataError,
    ParameterError,
    SpinneyNote,
    TreeClassifier,
    TreeRegressor,
)
from spinney.trees.criteria import poisson_gain, squared_error_gain, variance_gain
from spinney.trees.criteria.impurity import poisson

SIZES = {
    "sort": ["a", "a", "b", "b", "c", "c"],
    "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    "y": [1.5, 2.5, 10.0, 12.0, 30.0, 31.0],
}


def test_gains_by_hand():
    """1, 2, 3 and 10, 20 with 2 + 3 rows: Σ 6 and 30, Σ of squares 14 and 500.

    All: n 5, Σ 36, Σ² 514, spread 514 − 36²/5 = 254.8. Parts: 2 and 50.
    With n − 1: 63.7 − (3/5 · 1 + 2/5 · 50) = 43.1; with n: (254.8 − 52)/5 = 40.56.
    """
    table = [[3, 6, 14], [2, 30, 500]]
    assert float(variance_gain(table)) == pytest.approx(43.1)
    assert float(squared_error_gain(table)) == pytest.approx(40.56)
    deviance = 2 * (6 * np.log(2) + 30 * np.log(15) - 36 * np.log(7.2)) / 5
    assert float(poisson_gain(table)) == pytest.approx(deviance)


def test_the_deviance_of_nothing_has_no_sign():
    """It is shown: −0 is no number that a person writes."""
    assert str(float(poisson([3.0, 0.0, 0.0]))) == "0.0"
    assert str(float(poisson([3.0, 3.0, 3.0]))) == "0.0"


def test_a_number_is_told_from_classes():
    assert isinstance(spinney.grow(SIZES, "y"), TreeRegressor)
    whole = {**SIZES, "y": [1, 2, 3, 1, 2, 3]}
    with pytest.warns(SpinneyNote, match="read as classes"):
        assert isinstance(spinney.grow(whole, "y"), TreeClassifier)
    assert isinstance(spinney.grow(whole, "y", numeric=["y"]), TreeRegressor)
    named = spinney.grow(SIZES, "y", nominal=["y"], recipe="cart")
    assert isinstance(named, TreeClassifier)


def test_a_criterion_must_suit_the_target():
    with pytest.raises(ParameterError, match=r"criterion='gini'.*is a number.*use 'va"):
        spinney.grow(SIZES, "y", criterion="gini")
    with pytest.raises(ParameterError, match=r"criterion='variance'.*is classes"):
        spinney.grow(SIZES, "sort", criterion="variance")
    with pytest.raises(ParameterError, match=r"class_weight.*'y' is a number"):
        spinney.grow(SIZES, "y", class_weight="balanced")


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
@pytest.mark.parametrize("limits", [{}, {"min_samples_leaf": 3}, {"max_depth": 3}])
def test_scikit_learn_predicts_the_same(criterion, limits):
    generator = np.random.default_rng(7)
    numbers = generator.normal(size=(120, 4)).astype(np.float32).astype(float)
    y = np.exp(numbers[:, 0]) + generator.normal(size=120) ** 2
    ours = TreeRegressor("cart", criterion=criterion, **limits).fit(numbers, y)
    theirs = DecisionTreeRegressor(criterion=criterion, random_state=0, **limits)
    theirs.fit(numbers, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(numbers), theirs.predict(numbers))
    assert ours.score(numbers, y) == pytest.approx(theirs.score(numbers, y))


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
@pytest.mark.parametrize("y", [SIZES["y"], [1, 5, 21, 22, 23, 70]])
def test_duckdb_grows_the_same(tmp_path, recipe, y):
    columns = {**SIZES, "y": y, "w": [1, 2, 1, 1, 3, 1]}
    path = tmp_path / "sizes.csv"
    lines = zip(*columns.values(), strict=True)
    text = "\n".join([",".join(columns), *(",".join(map(str, line)) for line in lines)])
    path.write_text(text + "\n", encoding="utf-8")
    options = {"recipe": recipe, "weight": "w", "numeric": ["y"]}
    here = spinney.grow(str(path), "y", **options)
    there = spinney.grow(str(path), "y", source="duckdb", **options)
    assert str(here) == str(there)
    np.testing.assert_allclose(here.predict(columns), there.predict(columns))


def test_text_rules_and_arithmetic():
    model = spinney.grow(SIZES, "y", recipe="cart", max_depth=1)
    assert str(model).splitlines() == [
        "y  (6: mean 14.5, sd 13.05)",
        "├── sort ∈ {a, b} → 6.5  (4: mean 6.5, sd 5.276)",
        "└── sort = c → 30.5  (2: mean 30.5, sd 0.7071)",
    ]
    assert str(model.rules()[1]) == "IF sort = c THEN y = 30.5  (support 2, sd 0.7071)"
    assert model.rules().as_dicts()[1]["deviation"] == pytest.approx(0.5**0.5)
    text = str(model.explain(node=0))
    assert "gain = 142.000 − (4/6 × 20.875 + 2/6 × 0.250) = 128.000" in text
    row = model.explain(row={"sort": ["c"], "x": [1.0]})
    assert row.label == 30.5
    assert str(row).endswith("y = 30.5")


def test_no_shares_where_there_are_no_classes():
    model = TreeRegressor().fit([[1.0], [2.0]], [0.5, 1.5])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(DataError, match="'a' in row 1, which is no number"):
        TreeRegressor().fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(ValueError, match="infinity"):
        TreeRegressor().fit([[1.0], [2.0]], [1.0, np.inf])


def test_missing_values_divide_the_rows():
    columns = {"x": [1.0, 2.0, None, 8.0], "y": [0.5, 0.5, 5.0, 9.5]}
    model = spinney.grow(columns, "y", recipe="cart", missing="fractional", max_depth=1)
    left, right = model.tree.leaves
    assert (left.weight, right.weight) == pytest.approx((2 + 2 / 3, 1 + 1 / 3))
    assert model.predict({"x": [None]})[0] == pytest.approx(
        2 / 3 * left.value + 1 / 3 * right.value
    )
