"""How many ways to split on an attribute are listed."""

import numpy as np
import pytest

from spinney.data import Attribute, Schema
from spinney.recipes.named_recipes import RECIPES
from spinney.search import enumerate_splits
from spinney.search.level_splits import Form
from spinney.search.tree_search import Search
from spinney.search.value_order import MAX_ENUMERATED
from spinney.trees.counts import CountTable


@pytest.mark.parametrize(
    "n_values, form, n_ways",
    [
        (MAX_ENUMERATED, Form.SUBSET, 2 ** (MAX_ENUMERATED - 1) - 1),
        (MAX_ENUMERATED + 1, Form.PREFIX, MAX_ENUMERATED),
    ],
)
def test_all_subsets_of_up_to_twelve_values(n_values, form, n_ways):
    """Of two classes prefixes hold the best: beyond, they are all that is listed."""
    table = CountTable.of(np.array([[k + 1, n_values - k] for k in range(n_values)]))
    values = tuple(map(str, range(n_values)))
    schema = Schema((Attribute("a", "nominal", values),), None)
    search = Search.of(RECIPES["cart"], numeric=False)
    ways = enumerate_splits(search, table, schema, 0, max_splits=3)
    assert (ways.form, ways.n_splits, len(ways.candidates)) == (form, n_ways, 3)
