"""What is declared and has no row changes nothing that is learnt.

A tree with declared values is the tree without them and leaves that no row comes to:
splits, merits and what is pruned are the same. So the tree without is the twin.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.recipes import by_recipe

import spinney
from spinney.errors import SpinneyError
from spinney.trees import Tree
from spinney.trees.split import Groups

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

# c4.5 leaves attributes of many values out of an average, and counts those of the
# header as J48 does: by gain alone it has no average.
RECIPES: dict[str, dict[str, Any]] = {
    "id3": {"recipe": "id3"},
    "c4.5": {"recipe": "c4.5", "criterion": "gain", "min_gain": 0.0},
    "own category": {"recipe": "id3", "missing_policy": "own-category"},
    "cart": {"recipe": "cart"},
    "cart, branch": {"recipe": "cart", "missing_policy": "branch"},
    "chaid": {"recipe": "chaid", "alpha_split": 1.0, "min_samples_split": 2},
    "m5": {"recipe": "m5", "pruning": "none"},
}
SEEN, UNSEEN = ("b", "d", "f"), ("a", "c", "e", "g")
PRUNINGS: dict[str, dict[str, Any]] = {
    "cost-complexity": {"alpha": 0.6},
    "pessimistic": {},
    "mdl": {},
    "error-based": {},
}


@st.composite
def tables(draw: st.DrawFn, *, numeric: bool) -> dict[str, list[Any]]:
    n_rows = draw(st.integers(6, 24))

    def column(cells: list[Any]) -> list[Any]:
        drawn = st.lists(st.sampled_from(cells), min_size=n_rows, max_size=n_rows)
        return draw(drawn)

    labels = [0.5, 1.25, 2.0, 9.5] if numeric else ["no", "yes"]
    return {
        "name": column([*SEEN, None]),
        "other": column([*SEEN]),
        "x": column([1.0, 2.0, 3.0]),
        "y": [*labels[:2], *column(labels)[2:]],
    }


def learnt(tree: Tree) -> list[tuple[Any, ...]]:
    """Return what rows make of a tree: all nodes that some came to."""
    return [
        (
            node.depth,
            node.n_rows,
            node.weights.tolist(),
            tree.label(node),
            None if node.is_leaf else (node.candidate.attribute, node.candidate.merit),
        )
        for node in tree
        if node.n_rows
    ]


def grown(table: dict[str, list[Any]], recipe: str) -> tuple[Any, Any]:
    """Return the models with and without values that no row has."""
    options = by_recipe(**RECIPES[recipe])
    if recipe == "m5":
        options["numeric"] = ["y"]
    values = {name: [*SEEN, *UNSEEN] for name in ("name", "other")}
    return (
        spinney.grow(table, "y", **options, values=values),
        spinney.grow(table, "y", **options),
    )


@pytest.mark.parametrize("recipe", RECIPES)
def test_declared_values_add_leaves_without_rows_and_nothing_else(recipe):
    @given(table=tables(numeric=recipe == "m5"))
    @settings(max_examples=examples(15), deadline=None)
    def compare(table: dict[str, list[Any]]) -> None:
        try:
            declared, plain = grown(table, recipe)
        except SpinneyError:
            return  # a table of which nothing can be learnt
        assert learnt(declared.tree) == learnt(plain.tree)
        assert np.array_equal(declared.outputs(table), plain.outputs(table))
        if declared.model_.recipe.grouping == "multiway":
            for node in declared.tree:
                if isinstance(node.split, Groups):
                    # Each value of the domain has its branch, and so its leaf.
                    codes = [code for group in node.split.groups for code in group]
                    assert codes == list(range(len(SEEN) + len(UNSEEN)))

    compare()


@pytest.mark.parametrize("method", PRUNINGS)
def test_declared_values_prune_nothing(method):
    @given(table=tables(numeric=False))
    @settings(max_examples=examples(15), deadline=None)
    def compare(table: dict[str, list[Any]]) -> None:
        try:
            models = grown(table, "id3")
        except SpinneyError:
            return
        rows = {"data": table} if method == "error-based" else {}
        declared, plain = (
            model.prune(method, **PRUNINGS[method], **rows) for model in models
        )
        assert learnt(declared.tree) == learnt(plain.tree)

    compare()


def test_a_value_without_rows_goes_to_a_leaf_that_says_what_its_parent_does():
    table = {"sky": [*"bbdd"], "y": ["no", "no", "yes", "no"]}
    model = spinney.grow(table, "y", recipe="id3", values={"sky": [*"abcd"]})
    unseen = model.predict_proba({"sky": ["a", "c"]})
    assert unseen.tolist() == [[0.75, 0.25]] * 2
    assert model.apply({"sky": ["a", "c"]}).tolist() == [1, 3]
