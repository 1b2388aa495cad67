"""The recipe c4.5 beside Weka's J48; fixtures/README.md says version and command."""

import json

import pytest
from tests.helpers.recipes import by_recipe
from tests.helpers.strategies import TABLES
from tests.helpers.weka import FIXTURES, VARIANTS, assert_prints_alike

import spinney

SUMMARY = json.loads((FIXTURES / "summary.json").read_text(encoding="utf-8"))
# fmt: off
FACTS = {
    "weather_nominal": {"target": "play"},
    "weather_numeric": {"target": "play"},
    "contact_lenses": {"target": "contact-lenses"},
    "iris": {"target": "class"},
    "labor": {"target": "class", "missing_values": ["?"]},
    "vote": {"target": "Class", "missing_values": ["?"]},
    "zoo": {
        "target": "class_type", "ignore": ["animal_name"], "nominal": [
            "class_type",
            "hair", "feathers", "eggs", "milk", "airborne", "aquatic", "predator",
            "toothed", "backbone", "breathes", "venomous", "fins", "tail", "domestic",
            "catsize",
        ],
    },
}
# fmt: on


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", FACTS)
def test_the_tree_of_a_small_table(name, variant):
    table = TABLES / f"{name}.csv"
    model = spinney.grow(
        table, **FACTS[name], **by_recipe(recipe="c4.5", **VARIANTS[variant])
    )
    expected = SUMMARY[name][variant]
    assert model.tree.n_leaves == expected["leaves"]
    assert len(model.tree) == expected["size"]
    assert round(model.score(table) * expected["rows"]) == expected["correct"]
    text = FIXTURES / f"{name}.{variant}.txt"
    if text.exists():
        assert_prints_alike(model.tree, text.read_text(encoding="utf-8"))


def test_rows_in_duckdb_give_the_same_pruned_tree():
    given = {**FACTS["labor"], "recipe": "c4.5"}
    models = [
        spinney.grow(TABLES / "labor.csv", **given, engine=source)
        for source in ("memory", "duckdb")
    ]
    assert str(models[0]) == str(models[1])
    steps = [[(s.node, s.action) for s in model.pruning_] for model in models]
    assert steps[0] == steps[1]
    assert "raised" in {action for _, action in steps[0]}
