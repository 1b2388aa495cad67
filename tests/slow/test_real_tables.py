"""Real tables, if somebody has them: SPINNEY_DATA names the folder.

It must hold the tables and ``schema.json``, which says for each table its file,
target, kinds, levels of ordinals, columns to ignore and marker of missing cells.
"""

import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import spinney

FOLDER = os.environ.get("SPINNEY_DATA", "")
# fmt: off
TABLES = (
    "iris", "vote", "soybean_large", "breast_cancer", "credit_g", "diabetes", "glass",
    "ionosphere", "labor", "mushroom", "car", "tic_tac_toe", "hypothyroid", "heart_c",
    "anneal", "vehicle", "segment", "sonar", "zoo", "nursery", "primary_tumor",
    "titanic3", "penguins", "contact_lenses", "weather_numeric", "weather_nominal",
)
# fmt: on

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="SPINNEY_DATA names no folder of tables"),
]


def facts_of(name: str) -> dict:
    return json.loads(Path(FOLDER, "schema.json").read_text(encoding="utf-8"))[name]


def arguments_of(name: str) -> dict:
    facts = facts_of(name)
    kinds = {
        column: kind
        for column, kind in facts["types"].items()
        if column != facts["target"] and column not in facts["ignore"]
    }
    marker = facts["missing_marker"]
    return {
        "data": str(Path(FOLDER, facts["file"])),
        "target": facts["target"],
        "ignore": facts["ignore"],
        "nominal": [column for column, kind in kinds.items() if kind == "nominal"],
        "ordinal": {
            column: facts["levels"][column]
            for column, kind in kinds.items()
            if kind == "ordinal"
        },
        "missing_values": [] if marker in (None, "empty") else [marker],
    }


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
@pytest.mark.parametrize("name", TABLES)
def test_trees_of_real_tables(name, recipe):
    arguments = arguments_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", spinney.SpinneyWarning)
        model = spinney.grow(**arguments, recipe=recipe)
    tree = model.tree
    for node in tree:
        if not node.is_leaf:
            below = sum(child.weights for child in tree.children(node))
            np.testing.assert_allclose(below, node.weights, rtol=1e-9, atol=1e-9)
    majority = tree.root.distribution.max()
    assert model.score(arguments["data"]) >= majority - 1e-9
    paths = model.decision_path(arguments["data"])
    leaves = [leaf.number for leaf in tree.leaves]
    np.testing.assert_allclose(paths[:, leaves].sum(axis=1), 1, rtol=1e-9)


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
@pytest.mark.parametrize("name", ["iris", "labor", "heart_c", "penguins", "car"])
def test_real_tables_give_the_same_tree_in_duckdb(name, recipe):
    arguments = arguments_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", spinney.SpinneyWarning)
        texts = [
            str(spinney.grow(**arguments, recipe=recipe, max_depth=5, source=source))
            for source in ("memory", "duckdb")
        ]
    assert texts[0] == texts[1]
