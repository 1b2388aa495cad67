"""Named recipes that split on columns of many values warn, once, of all of them."""

import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest

import spinney
from spinney.cli import run
from spinney.data import Attribute, Schema, Target
from spinney.models import high_cardinality_columns

RANDOM = np.random.default_rng(1)
NOISE = {f"noise{k}": RANDOM.integers(0, 60, 400) for k in range(4)}
ROWS = pd.DataFrame({"x": RANDOM.random(400)})
for name, codes in NOISE.items():
    ROWS[name] = [f"v{code}" for code in codes]
ROWS["y"] = np.where(ROWS["x"] + RANDOM.normal(0, 0.5, 400) > 0.5, "yes", "no")
ONE = ROWS[["x", "noise0", "y"]]


def told_of(grow, *args, **options):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        grow(*args, **options)
    texts = [str(each.message) for each in told]
    return [text for text in texts if "high-cardinality" in text]


@pytest.mark.parametrize("recipe", ["cart", "id3"])
def test_one_warning_says_what_to_do(recipe):
    (told,) = told_of(spinney.grow, ONE, "y", recipe=recipe)
    assert told == (
        "splits on high-cardinality columns overfit: 'noise0' (60 values): "
        "leave them out (ignore=['noise0']), or take recipe='auto'"
    )
    # What is said to help does.
    assert not told_of(spinney.grow, ONE, "y", recipe=recipe, ignore=["noise0"])
    assert not told_of(spinney.grow, ONE, "y", recipe="auto")


def test_several_are_told_of_together():
    (told,) = told_of(spinney.grow, ROWS, "y", recipe="cart")
    assert "values) and 1 more: leave them out (ignore=…), or take" in told
    assert len(told) <= 2 * 80 + 60  # names of columns beside two lines


def test_a_tree_that_does_not_split_on_them_says_nothing():
    options = {"recipe": "cart", "max_depth": 1, "forced_splits": {(): "x"}}
    assert not told_of(spinney.grow, ONE, "y", **options)


def test_of_numbers_too():
    rows = ONE.assign(y=ONE["x"] + RANDOM.normal(0, 1, 400))
    assert len(told_of(spinney.grow, rows, "y", recipe="cart")) == 1


def test_engines_and_estimators_warn_and_forests_do_not(capsys, tmp_path):
    relation = duckdb.from_df(ONE)
    assert len(told_of(spinney.grow, relation, "y", recipe="id3")) == 1
    X, y = ONE[["x", "noise0"]], ONE["y"]
    (told,) = told_of(spinney.TreeClassifier("cart").fit, X, y)
    assert told.endswith("leave them out of X, or take recipe='auto'")
    assert not told_of(spinney.TreeClassifier().fit, X, y)
    assert not told_of(spinney.grow_forest, ONE, "y", n_estimators=3)
    assert not told_of(spinney.evaluate, ONE, "y", ["cart"], folds=2)
    path = tmp_path / "rows.csv"
    ONE.to_csv(path, index=False)
    assert run(["grow", str(path), "--target", "y", "--recipe", "cart"]) == 0
    said = capsys.readouterr().err
    assert "leave them out (--ignore noise0), or take --recipe 'auto'" in said


@pytest.mark.parametrize(
    "n_values, n_rows, is_found",
    [(20, 100, False), (21, 420, True), (21, 421, False), (100, 2000, True)],
)
def test_which_columns_are_meant(n_values, n_rows, is_found):
    values = tuple(map(str, range(n_values)))
    attributes = (Attribute("c", "nominal", values), Attribute("x", "numeric"))
    schema = Schema(attributes, Target("y", ("a", "b")))
    found = {"c": n_values} if is_found else {}
    assert high_cardinality_columns(schema, n_rows) == found
