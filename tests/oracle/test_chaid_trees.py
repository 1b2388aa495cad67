"""Whole CHAID trees beside those that R's chaidr printed."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.recipes import by_recipe

import spinney

HERE = Path(__file__).parent
TREES = json.loads(
    (HERE / "fixtures" / "chaid" / "chaidr.json").read_text(encoding="utf-8")
)
TABLES = HERE.parent / "tables"


@pytest.mark.parametrize("name", ["titanic.chaid", "titanic.exhaustive"])
def test_titanic(name):
    model = spinney.grow(
        str(TABLES / "titanic.csv"),
        "Survived",
        weight="Freq",
        **by_recipe(
            recipe="chaid",
            exhaustive=name.endswith("exhaustive"),
            alpha_resplit=0,
            min_samples_split=100,
            min_samples_leaf=50,
        ),
    )
    tree = model.tree
    places = {1: 0}
    expected = {entry["node"]: entry for entry in TREES[name]["nodes"]}
    for number, entry in expected.items():
        if entry["parent"] is not None:
            parent = tree.nodes[places[entry["parent"]]]
            values = tree.schema.attributes[parent.split.attribute].values
            group = {values.index(value) for value in entry["group"]}
            (branch,) = [
                b for b, g in enumerate(parent.split.groups) if set(g) == group
            ]
            places[number] = parent.children[branch]
        node = tree.nodes[places[number]]
        assert node.weight == entry["rows"]
        assert tree.label(node) == entry["prediction"]
        share = 100 * node.distribution[node.label]
        assert share == pytest.approx(entry["percent"], abs=0.051)
        assert node.is_leaf == (entry["split"] is None)
        if entry["split"]:
            candidate = node.candidate
            asked = tree.schema.names[candidate.attribute]
            assert asked == entry["split"]["attribute"]
            chi_square = candidate.gain * node.weight
            assert chi_square == pytest.approx(entry["split"]["chi2"], rel=2e-3)
            # chaidr multiplies by SPSS's c(c² − 1)/2, Biggs by c(c² − 1)/6.
            factor = 3 if name.endswith("exhaustive") else 1
            assert factor * candidate.p_value == pytest.approx(
                entry["split"]["adjusted_p"], rel=5e-3
            )
    assert len(places) == len(tree)


def test_p_values_underflow_and_stay_in_order(tmp_path):
    rows = np.arange(5000)
    table = {
        "x": rows % 2,
        "z": (rows + (rows % 50 == 0)) % 2,
        "y": np.where(rows % 2, "a", "b"),
    }
    model = spinney.grow(table, "y", recipe="chaid", nominal=["x", "z"])
    first, second = model.tree.root.candidates
    assert first.p_value == second.p_value == 0.0
    assert first.merit > second.merit > 1000
    assert model.tree.n_leaves == 2
    model.save(tmp_path / "m.spinney")
    assert spinney.load(tmp_path / "m.spinney").export("json") == model.export("json")


def test_explain_shows_the_multiplier():
    model = spinney.grow(
        str(TABLES / "titanic.csv"), "Survived", recipe="chaid", weight="Freq"
    )
    women = model.tree.nodes[1]
    text = str(model.explain(node=women.number))
    assert "times 6 ways to group the values: p = 2.51e-28" in text


def test_numbers_are_merged_from_buckets_and_f_tests_numbers():
    model = spinney.grow(str(TABLES / "penguins.csv"), "species", recipe="chaid")
    root = model.tree.root
    assert root.candidate.p_value < 1e-40
    assert len(root.children) > 2
    with pytest.warns(spinney.SpinneyWarning, match="2 of 344 rows"):
        heavy = spinney.grow(
            str(TABLES / "penguins.csv"), "body_mass_g", recipe="chaid", max_depth=1
        )
    assert heavy.tree.root.candidate.p_value < 1e-40
