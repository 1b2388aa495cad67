"""What new users stumbled over: said once, and in the same way everywhere."""

import warnings

import numpy as np
import pandas as pd
import pytest

import spinney
from spinney.errors import SpinneyWarning
from spinney.growth.folds import recipe_choice
from spinney.output.explorer.tree_data import digits_of
from spinney.trees import arrays_of, candidate_arrays_of

MARKED = pd.DataFrame({"x": [*"?1234567"]})
LABELS = ["a", "b"] * 4


@pytest.mark.parametrize(
    "model", [spinney.TreeClassifier("cart"), spinney.ForestClassifier(2)]
)
def test_fit_doubts_a_question_mark_as_grow_does(model):
    with pytest.warns(SpinneyWarning, match=r"'\?' is a value like others in 'x'"):
        model.fit(MARKED, LABELS)
    with pytest.warns(SpinneyWarning, match=r"'\?' is a value like others in 'x'"):
        spinney.grow(MARKED.assign(y=LABELS), "y", recipe="cart")


@pytest.mark.filterwarnings("error::spinney.SpinneyWarning")
def test_fit_knows_what_is_declared_missing():
    spinney.TreeClassifier("cart", missing_values=["?"]).fit(MARKED, LABELS)


@pytest.mark.parametrize("other", ["Yes", "yes ", " YES", "y es"])
def test_classes_that_read_alike(other):
    data = {"x": [*range(6)], "sold": ["yes", "no", other] * 2}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        spinney.grow(data, "sold", recipe="cart")
    alike = [str(each.message) for each in told if "read alike" in str(each.message)]
    assert len(alike) == (other != "y es")


def test_auto_names_the_leaves_of_its_own_tree(monkeypatch):
    monkeypatch.setattr(recipe_choice, "MOST_COMPARED", 60)  # trees of some rows only
    rng = np.random.default_rng(3)
    x = rng.normal(size=(150, 3))
    y = np.where(x[:, 0] + rng.normal(size=150) / 2 > 0, "high", "low")
    model = spinney.TreeClassifier().fit(x, y)
    (chosen,) = [each for each in model.tried_ if each.chosen]
    assert chosen.leaves == sum(leaf.n_rows > 0 for leaf in model.tree.leaves)


def test_the_explorer_shows_a_cut_in_six_digits():
    data = {"x": [5095.0, 5096.0, 7000.0], "y": ["a", "b", "b"]}
    tree = spinney.grow(data, "y", recipe="cart").tree
    digits = int(digits_of(arrays_of(tree), candidate_arrays_of(tree))[0])
    assert f"{tree.root.split.threshold:.{digits}g}" == "5095.5"
