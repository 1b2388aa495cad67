"""An attribute with a great many values: two subsets, whatever the grouping."""

import pytest

import spinney
from spinney.search.missing_values import MAX_BRANCHES

# Values of one row each: named recipes warn of such columns.
pytestmark = pytest.mark.filterwarnings("ignore:splits on high-cardinality")


def table(n_values: int) -> dict[str, list]:
    return {
        "name": [f"v{i:06}" for i in range(n_values)] * 2,
        "other": ["p", "q"] * n_values,
        "y": [("a", "b")[i % 3 == 0] for i in range(n_values)] * 2,
    }


@pytest.mark.filterwarnings("ignore:column .* alone predicts:UserWarning")
@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart"])
def test_too_many_for_a_branch_each(recipe):
    model = spinney.grow(table(MAX_BRANCHES + 1), "y", recipe=recipe)
    root = model.tree.root
    assert len(root.children) == 2
    assert model.tree.n_leaves == 2
    text = model.tree.condition(model.tree.nodes[1])
    assert "and " in text
    assert len(text) < 2000
    assert len(str(model.rules())) < 4000
    # What is asked is whole, though it is not shown whole.
    assert model.score(table(MAX_BRANCHES + 1)) == 1.0


@pytest.mark.filterwarnings("ignore:column .* alone predicts:UserWarning")
def test_as_many_as_are_allowed():
    model = spinney.grow(table(MAX_BRANCHES), "y", recipe="id3")
    assert len(model.tree.root.children) == MAX_BRANCHES
