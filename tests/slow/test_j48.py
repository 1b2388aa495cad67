"""The recipe c4.5 on all 24 tables, beside what Weka's J48 prints of them.

Weka's header names values that no row has; each is a leaf without rows there, and
none here, so those are added to our leaves before they are compared.
"""

import json

import pytest
from tests.helpers.real_tables import arguments_of, facts_of, needs_tables
from tests.helpers.recipes import by_recipe
from tests.helpers.weka import FIXTURES, VARIANTS, assert_prints_alike

import spinney
from spinney.trees.split import Groups
from spinney.trees.tree import Tree

SUMMARY = json.loads((FIXTURES / "summary.json").read_text(encoding="utf-8"))

pytestmark = [
    pytest.mark.slow,
    needs_tables,
    pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning"),
]


def all_nominal(name: str) -> dict:
    """Return how a table is read with its ordinals as names."""
    arguments = arguments_of(name)
    ordinals = arguments.pop("ordinal")
    return {**arguments, "nominal": [*arguments["nominal"], *ordinals]}


def n_values_without_rows(tree: Tree, name: str) -> int:
    levels = facts_of(name)["levels"]
    attributes = [
        tree.schema.attributes[node.split.attribute]
        for node in tree
        if isinstance(node.split, Groups)
    ]
    return sum(len(levels[a.name]) - len(a.values) for a in attributes)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", SUMMARY)
def test_leaves_size_and_training_accuracy(name, variant):
    arguments = all_nominal(name)
    model = spinney.grow(**arguments, **by_recipe(recipe="c4.5", **VARIANTS[variant]))
    expected = SUMMARY[name][variant]
    empty = n_values_without_rows(model.tree, name)
    correct = round(model.score(arguments["data"]) * expected["rows"])
    found = (model.tree.n_leaves + empty, len(model.tree) + empty, correct)
    assert found == (expected["leaves"], expected["size"], expected["correct"])
    text = FIXTURES / f"{name}.{variant}.txt"
    if text.exists():
        assert_prints_alike(model.tree, text.read_text(encoding="utf-8"))
