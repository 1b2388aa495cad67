"""Trees of real tables: what must hold of all of them, whoever counts the rows."""

import warnings

import numpy as np
import pytest
from tests.helpers.real_tables import arguments_of, needs_tables

import spinney

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
    needs_tables,
]


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
            str(spinney.grow(**arguments, recipe=recipe, max_depth=5, engine=source))
            for source in ("memory", "duckdb")
        ]
    assert texts[0] == texts[1]
