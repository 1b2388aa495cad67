"""How many folds there are, where nobody says."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import spinney
from spinney.errors import DataError, ParameterError
from spinney.extensions.evaluation.measures import GROUPS

TABLES = Path(__file__).parents[2] / "tables"


@pytest.mark.parametrize(
    ("labels", "folds", "told"),
    [
        (list("abcd") * 8, 8, "no class has more than 8 rows"),
        (["a"] * 15 + ["b"] * 15, 10, None),
        ([0.5 + i for i in range(32)], 10, None),
        (["a"] * 9 + ["b"] * 4, 13, None),  # one row at a time
        ([0.5 + i for i in range(6)], 6, None),
    ],
)
def test_folds_that_nobody_asked_for(labels, folds, told):
    rows = {"x": list(range(len(labels))), "y": labels}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        curve = spinney.learning_curve(rows, "y", "cart", sizes=[1.0])
        result = spinney.evaluate(rows, "y", "cart")
    assert result.scheme.folds in (folds, None)
    assert result.scheme.as_dict()["folds"] == folds
    assert len(result.folds) == len(curve.folds) == folds
    about = [str(w.message) for w in found if "are taken" in str(w.message)]
    assert [told in text for text in about] == ([] if told is None else [True] * 2)


def test_classes_of_one_row_each_cannot_be_divided():
    rows = {"x": list(range(12)), "y": list("abcdefghijkl")}
    with pytest.raises(DataError, match=r"no class has two rows.*: give more rows"):
        spinney.evaluate(rows, "y", "cart")
    with pytest.raises(ParameterError, match="of any class, at most 1: give more"):
        spinney.evaluate(rows, "y", "cart", repeats=2)


def buys_computer():
    return spinney.read_table(TABLES / "buys_computer.csv")


def test_leave_one_out_of_the_textbooks_table():
    """004's 14 rows: each is predicted by the tree of the other 13."""
    found = spinney.evaluate(buys_computer(), "buys_computer", "id3", folds="loo")
    table = pd.read_csv(TABLES / "buys_computer.csv")
    labels = []
    for row in range(14):
        model = spinney.grow(table.drop(index=row), "buys_computer", recipe="id3")
        labels.append(model.predict(table[row : row + 1])[0])
    truth = table["buys_computer"]
    [line] = found.table
    assert line["accuracy"] == pytest.approx(np.mean(truth == labels))
    balanced = metrics.balanced_accuracy_score(truth, labels)
    assert line["balanced_accuracy"] == pytest.approx(balanced)
    assert line["balanced_accuracy"] != pytest.approx(line["accuracy"])
    assert line["auc"] is None  # it would rank shares that 14 trees gave
    assert "AUC" not in str(found)
    assert line["accuracy_sd"] is None
    assert len(found.folds) == 14
    assert str(found).startswith("buys_computer: 14 rows, leave-one-out, seed 0\n")


@pytest.mark.parametrize("folds", [None, 14])
def test_leave_one_out_is_what_small_tables_have(folds):
    found, expected = (
        spinney.evaluate(buys_computer(), "buys_computer", ["id3", "cart"], folds=each)
        for each in (folds, "loo")
    )
    assert found.scheme == expected.scheme
    measures = ("recipe", *GROUPS["quality"], "leaves")
    for one, other in zip(found.table, expected.table, strict=True):
        assert [one.get(m) for m in measures] == [other.get(m) for m in measures]
    assert found.compare()[0].measure == "accuracy"


def test_leave_one_out_of_numbers_is_measured_over_all_rows():
    rows = {"x": list(range(12)), "y": [i / 2 + (i % 3) for i in range(12)]}
    found = spinney.evaluate(rows, "y", ["cart", "m5"])
    errors = [r.measures["mae"] for r in found.folds if r.recipe == "cart"]
    line = found.table[0]
    assert line["mae"] == pytest.approx(np.mean(errors))
    assert line["rmse"] == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert line["r2"] is not None
    # The RMSE of one row is its error: no test of means of those.
    assert found.compare()[0].measure == "mae"
    with pytest.raises(ParameterError, match=r"no mean over rows.*compare 'mae'"):
        found.compare("rmse")
    assert "Differences of MAE" in str(found)
    assert "Differences" not in found.text(measures=["rmse"])


def test_leave_one_out_that_cannot_be():
    rows = {"x": list(range(6)), "y": ["a"] * 5 + ["b"]}
    with pytest.raises(
        ParameterError, match="repeats=2 has no effect on leave-one-out"
    ):
        spinney.evaluate(rows, "y", "cart", folds="loo", repeats=2)
    with pytest.raises(ParameterError, match="folds='all' must be a whole number, or"):
        spinney.evaluate(rows, "y", "cart", folds="all")
    once = {"x": [1], "y": ["a"]}
    with pytest.raises(DataError, match="there is 1 sample"):
        spinney.evaluate(once, "y", "cart", folds="loo")
