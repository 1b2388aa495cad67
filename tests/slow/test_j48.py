"""The recipe c4.5 on all 24 tables, beside what Weka's J48 prints of them.

Weka's header names values that no row has; each is a leaf without rows there and here.
"""

import json

import pytest
from tests.helpers.real_tables import arguments_of, facts_of, needs_tables
from tests.helpers.recipes import by_recipe
from tests.helpers.weka import FIXTURES, VARIANTS, assert_prints_alike

import spinney

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


def with_header(name: str) -> dict:
    """Return how a table is read as Weka does: a header names all values."""
    arguments, levels = all_nominal(name), facts_of(name)["levels"]
    nominal = [each for each in arguments["nominal"] if each != arguments["target"]]
    return {**arguments, "values": {each: levels[each] for each in nominal}}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", SUMMARY)
def test_leaves_size_and_training_accuracy(name, variant):
    arguments = with_header(name)
    model = spinney.grow(**arguments, **by_recipe(recipe="c4.5", **VARIANTS[variant]))
    expected = SUMMARY[name][variant]
    correct = round(model.score(arguments["data"]) * expected["rows"])
    found = (model.tree.n_leaves, len(model.tree), correct)
    assert found == (expected["leaves"], expected["size"], expected["correct"])
    text = FIXTURES / f"{name}.{variant}.txt"
    if text.exists():
        assert_prints_alike(model.tree, text.read_text(encoding="utf-8"))
