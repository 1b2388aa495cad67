"""Every recipe × setting, grown three ways: by stacks, by compiled kernels, in DuckDB.

The plain learner over rows in memory is the reference; loops are asked wherever they
can grow a tree, however small its table; DuckDB counts the rows where they are.
"""

from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.helpers.alike import same_node
from tests.helpers.fuzz import examples
from tests.helpers.recipes import by_recipe
from tests.sources.comparing import arrow_of, assert_same_tree

import spinney
from spinney.errors import SpinneyError
from spinney.growth import growers, pipeline
from spinney.growth.folds import fold_growth

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

FREE = {"pruning": "none"}
RECIPES: dict[str, dict[str, Any]] = {
    "id3": {"recipe": "id3"},
    "c4.5": {"recipe": "c4.5", **FREE},
    "cart": {"recipe": "cart"},
    "cart, branch": {
        "recipe": "cart",
        "missing_policy": "branch",
        "min_samples_leaf": 2,
    },
    "cart by gain": {"recipe": "cart", "criterion": "gain", "missing_policy": "branch"},
    "chaid": {
        "recipe": "chaid",
        "alpha_split": 1.0,
        "min_samples_split": 2,
        "min_samples_leaf": 1,
    },
    "cart of means": {"recipe": "cart", "min_samples_leaf": 2},
    "m5": {"recipe": "m5", "leaves": "mean", "smoothing": 0.0, **FREE},
}
OF_NUMBERS = ("cart of means", "m5")
SETTINGS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "class weight": {"class_weight": {"a": 3.0, "b": 1.0}},
    "cost matrix": {"cost_matrix": {"a": {"b": 4.0}, "b": {"a": 1.0}}},
    "leaves": {"max_leaves": 4},
    "missing": {},
    "missing, cost matrix": {"cost_matrix": {"a": {"b": 4.0}, "b": {"a": 1.0}}},
    "weights": {"weight": "w"},
    "declared values": {
        "values": {"colour": ["red", "green", "blue", "cyan", "pink", "white"]}
    },
    "question": {"forced_splits": {(): "x > 0.2"}},
    "reuse": {"reuse_attributes": False},
    "drop": {"missing_policy": "drop"},
}
# What no kernels grow: merged groups; missing cells and names of M5's; what a user has
# written; attributes that are asked about once, in two branches; complete rows of a
# branch per value.
NOT_BY_LOOPS = {("chaid", setting) for setting in SETTINGS} | {
    *((recipe, "question") for recipe in RECIPES),
    *((recipe, "drop") for recipe in ("id3", "c4.5")),
    *((recipe, "reuse") for recipe in RECIPES if recipe not in ("id3", "c4.5")),
    ("m5", "missing"),
}
CASES = [
    (recipe, setting)
    for recipe in RECIPES
    for setting in SETTINGS
    if recipe not in OF_NUMBERS or not setting.endswith(("class weight", "cost matrix"))
    if recipe != "m5" or setting != "declared values"  # which has no names here
]
NUMBERS = (-2.5, 0.0, 0.1, 0.3, 1.0, 4.0, 1e6)


@st.composite
def drawn_tables(draw: st.DrawFn, recipe: str, setting: str) -> dict[str, list[Any]]:
    """Draw columns: numbers, names unless M5 is to be grown, a target, weights."""
    n_rows = draw(st.integers(6, 40))

    def column(cells: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(cells, min_size=n_rows, max_size=n_rows))

    gap = [None] if setting.startswith(("missing", "drop")) else []
    numbers = st.sampled_from([*NUMBERS, *gap])
    names = st.sampled_from(["red", "green", "blue", *gap])
    table = {"x": column(numbers), "z": column(numbers)}
    if gap:
        table["x"][0] = None  # else loops may grow what they leave out
    if recipe != "m5":
        table["colour"] = column(names)
    if recipe in OF_NUMBERS:
        table["y"] = column(st.sampled_from([0.5, 1.25, 2.0, 3.75, 9.5, 10.0]))
    else:
        table["y"] = ["a", "b", *column(st.sampled_from("ab"))[2:]]
    if setting == "weights":
        table["w"] = column(st.sampled_from([1, 2, 3]))
    return table


def grown(table: Any, options: dict[str, Any], *, loops: bool) -> tuple[Any, str]:
    """Return the tree of a table and who grew it, which may be loops or not."""
    chosen = []
    choose = growers.choose_grower

    def noted(*arguments: Any, **more: Any) -> Any:
        chosen.append(choose(*arguments, **more))
        return chosen[-1]

    with pytest.MonkeyPatch.context() as patch:
        price = -1.0 if loops else np.inf
        patch.setattr(growers, "MAX_WAIT", price)
        patch.setattr(growers, "MAX_WAIT_MULTIWAY", price)
        for module in (growers, pipeline, fold_growth):
            patch.setattr(module, "choose_grower", noted)
        tree = spinney.grow(table, "y", **options).tree
    return tree, chosen[0].name


@pytest.mark.parametrize(("recipe", "setting"), CASES)
def test_node_by_node(recipe, setting):
    by_loops = []
    options = by_recipe(**{**RECIPES[recipe], **SETTINGS[setting]})
    if recipe in OF_NUMBERS:
        options["numeric"] = ["y"]

    @given(table=drawn_tables(recipe, setting))
    @settings(
        max_examples=examples(12),
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    def compare(table: dict[str, list[Any]]) -> None:
        try:
            plain, _ = grown(table, options, loops=False)
        except SpinneyError:
            return  # a table of which nothing can be learnt
        compiled, engine_name = grown(table, options, loops=True)
        by_loops.append(engine_name != "plain")
        assert len(plain) == len(compiled)
        for one, other in zip(plain, compiled, strict=True):
            same_node(one, other)
        with duckdb.connect() as connection:
            relation = connection.from_arrow(arrow_of(table))
            counted = spinney.grow(relation, "y", connection=connection, **options)
        assert_same_tree(counted.tree, plain, whole=True)

    compare()
    expected = (recipe, setting) not in NOT_BY_LOOPS
    assert any(by_loops) == expected
