"""How many folds there are, where nobody says."""

import warnings

import pytest

import spinney
from spinney.errors import ParameterError


@pytest.mark.parametrize(
    ("labels", "folds", "told"),
    [
        (["a"] * 9 + ["b"] * 4, 9, "no class has more than 9 rows"),
        (["a"] * 10 + ["b"] * 10, 10, None),
        ([0.5 + i for i in range(6)], 6, "there are 6 rows"),
        ([0.5 + i for i in range(12)], 10, None),
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
    with pytest.raises(ParameterError, match="of any class, at most 1: give more"):
        spinney.evaluate(rows, "y", "cart")
