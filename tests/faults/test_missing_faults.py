"""Faults 10 to 16: missing values."""

import numpy as np
import pandas as pd
import pytest
from tests.faults.fault_rows import AB, NAN, answers, grown, random_rows, root_gains

import spinney
from spinney import DataError, SpinneyWarning
from spinney.recipes.vocabulary import MISSING

ROUTED = [name for name in MISSING if name != "drop"]


@pytest.mark.parametrize("missing", ["fractional", "branch", "surrogate"])
@pytest.mark.parametrize("n_rows", [60, 2500])
def test_fault_10_no_attribute_leaves_its_missing_cells_to_the_next(missing, n_rows):
    rows = random_rows(n_rows, missing=0.3)
    turned = {name: rows[name] for name in ("word", "x", "y")}
    alone = {name: {name: rows[name], "y": rows["y"]} for name in ("x", "word")}
    settings = {"missing": missing, "max_depth": 1}
    gains = root_gains(grown(rows, "cart", **settings))
    assert gains == pytest.approx(root_gains(grown(turned, "cart", **settings)))
    for name, single in alone.items():
        one = root_gains(grown(single, "cart", **settings))
        assert gains[name] == pytest.approx(one[name])


@pytest.mark.parametrize("missing", ["own-category", "branch"])
def test_fault_11_one_value_and_missing_cells_are_no_constant_column(missing):
    words = {"x": ["u", "u", None, None], "y": AB}
    assert answers(grown(words, missing="own-category"), words) == AB
    numbers = {"x": [1.0, 1.0, NAN, NAN], "z": [1.0, 2.0, 1.0, 2.0], "y": AB}
    model = grown(numbers, missing=missing)
    told = {"own-category": AB, "branch": None}[missing]
    assert told is None or answers(model, numbers) == told
    assert model.tree.n_leaves >= 2


@pytest.mark.parametrize("missing", ROUTED)
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_fault_12_columns_missing_in_part_or_whole(missing):
    full = {"x": [1.0, 1.0, 2.0, 2.0], "z": [1.0, 2.0, 1.0, 2.0], "y": AB}
    recipe = "cart" if missing == "surrogate" else "id3"
    model = grown(full, recipe, missing=missing)
    # Missing only when asked: what most rows, or all, would say.
    shares = model.predict_proba({"x": [NAN], "z": [NAN]})
    assert shares.sum() == pytest.approx(1)
    # Missing all over: the column is never asked.
    empty = grown({**full, "z": [NAN] * 4}, recipe, missing=missing)
    assert answers(empty, full) == AB
    assert "z" not in str(empty)
    # Missing only while growing.
    gap = {"x": [1.0, NAN, 2.0, 2.0], "z": [1.0, 1.0, 2.0, 2.0], "y": AB}
    assert answers(grown(gap, recipe, missing=missing), full)[2:] != ["a", "a"]


@pytest.mark.parametrize("missing", ["fractional", "branch", "own-category"])
@pytest.mark.parametrize("criterion", ["gini", "gain", "gain_ratio"])
def test_fault_13_gains_are_not_negative_with_missing_cells(missing, criterion):
    rows = random_rows(missing=0.3)
    tree = grown(rows, "id3", missing=missing, criterion=criterion).tree
    assert tree.n_leaves > 2
    for node in tree:
        assert all(candidate.gain >= -1e-12 for candidate in node.candidates)


def test_fault_13_poisson_and_limits_with_missing_cells():
    rows = random_rows(missing=0.3)
    numbers = {**rows, "y": [i % 7 + 0.5 for i in range(60)]}
    tree = grown(numbers, "cart", missing="branch", criterion="poisson").tree
    assert all(c.gain >= -1e-12 for node in tree for c in node.candidates)
    least = 0.05
    held = grown(rows, "cart", missing="branch", min_gain=least).tree
    free = grown(rows, "cart", missing="branch").tree
    assert held.n_leaves < free.n_leaves
    assert all(n.candidate.gain >= least for n in held if not n.is_leaf)


def test_fault_13_paths_of_rows_with_missing_cells():
    rows = random_rows(missing=0.3)
    model = grown(rows, "cart", missing="branch", min_samples_leaf=3)
    leaves = model.apply(rows)
    counted = {n.number: n.n_rows for n in model.tree if n.is_leaf}
    assert dict(zip(*np.unique(leaves, return_counts=True), strict=True)) == counted


def test_fault_14_texts_say_missing_and_not_infinity():
    rows = {"x": [1.0, 1.0, NAN, NAN], "y": AB}
    model = grown(rows, "id3", missing="own-category")
    texts = (str(model), str(model.rules()), model.export("dot"), model.export("svg"))
    for text in texts:
        assert "missing" in text
        assert "inf" not in text.lower().replace("info", "")


@pytest.mark.parametrize("missing", ROUTED)
@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
def test_fault_15_a_table_of_missing_cells_ends(missing):
    rows = {"x": [NAN] * 4, "z": [1.0, NAN, NAN, NAN], "y": AB}
    recipe = "cart" if missing == "surrogate" else "id3"
    assert grown(rows, recipe, missing=missing).tree.n_leaves <= 2
    with pytest.raises(DataError, match="no row"):
        grown(rows, missing="drop")


@pytest.mark.parametrize("nothing", [None, pd.NA, pd.NaT, NAN, np.datetime64("NaT")])
def test_fault_16_what_is_missing(nothing):
    assert spinney.read_table({"x": ["a", nothing]})["x"].missing.tolist() == [0, 1]


def test_fault_16_what_only_looks_missing(tmp_path):
    regions = {"x": ["NA", "NA", "EU", "EU"], "y": AB}
    assert spinney.read_table(regions)["x"].levels == ("EU", "NA")
    with pytest.warns(SpinneyWarning, match="'NA' is read as a value in 'x'"):
        model = grown(pd.DataFrame(regions))
    assert answers(model, regions) == AB
    path = tmp_path / "regions.csv"
    path.write_text("x,y\nNA,a\nNA,a\nEU,b\n,b\n")
    column = spinney.read_table(path)["x"]
    assert column.missing.tolist() == [0, 0, 0, 1]
    named = grown(path, missing_values=["NA"])
    assert "NA" not in str(named)
    # No number is taken for a gap.
    odd = {"x": [-1.0, -9999.0, np.finfo(float).min, 0.0], "y": AB}
    assert not spinney.read_table(odd)["x"].missing.any()
