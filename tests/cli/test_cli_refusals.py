"""What the shell refuses by name; and pruning by costs."""

import json

import pytest


@pytest.mark.parametrize(
    "recipe, remedy",
    [
        ("cart:max_depth=1,max_depth=2", "max_depth is set twice"),
        ("cart:max-depth=1,max_depth=2", "max_depth is set twice"),
        ("cart:missing=branch,missing-policy=branch", "missing is set twice"),
        ("cart:recipe=id3", "the recipe is 'cart', before the colon"),
    ],
)
def test_settings_of_a_recipe_are_set_once(folder, tool, recipe, remedy):
    (folder / "rows.csv").write_text("c,y\nu,no\nv,yes\n", encoding="utf-8")
    outcome = tool("evaluate", "rows.csv", "--target", "y", "--recipe", recipe)
    assert outcome.code == 2
    assert remedy in outcome.err


def test_pruning_by_costs(folder, works):
    rows = "c,y\nu,no\nu,no\nu,no\nv,no\nv,yes\nv,yes\nv,yes\n"
    (folder / "rows.csv").write_text(rows, encoding="utf-8")
    costs = "actual,predicted,cost\nyes,no,1\nno,yes,9\n"
    (folder / "costs.csv").write_text(costs, encoding="utf-8")
    works("grow", "rows.csv", "--target", "y", "--recipe", "id3", "-o", "m.spinney")
    command = ["prune", "m.spinney", "--method", "cost-complexity", "--alpha", "0"]

    def leaves(*options):
        return json.loads(works(*command, "--json", *options))["leaves"]["after"]

    assert leaves() == 2
    # The label of v is yes, which costs 9 · 1; that of the root is no, 1 · 3.
    assert leaves("--costs", "costs.csv") == 1
