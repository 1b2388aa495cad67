"""Adult and covertype, counted in engines: the trees of the same rows in memory.

The plain learner grows them in memory, for loops do not know all competitors exactly.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.helpers.database_tables import in_postgres
from tests.helpers.real_tables import arguments_of, needs_tables

import spinney
from spinney.growth import growers
from spinney.testing import assert_same_tree

pytestmark = [
    pytest.mark.slow,
    needs_tables,
    pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning"),
]
CART = spinney.Recipe.named("cart").changed(missing_policy="branch", pruning="none")
C45 = spinney.Recipe.named("c4.5").changed(raising=False)


@pytest.fixture(autouse=True)
def plain_learner_of_any_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growers, "MAX_WAIT", np.inf)
    monkeypatch.setattr(growers, "MAX_WAIT_MULTIWAY", np.inf)


@pytest.mark.parametrize(
    "name, options",
    [
        ("adult", {"recipe": CART, "max_depth": 7}),
        ("adult", {"recipe": C45, "max_depth": 4}),
        ("covertype", {"recipe": CART, "max_depth": 6}),
    ],
)
def test_trees_of_duckdb_are_those_of_memory(name, options):
    given = arguments_of(name)
    expected = spinney.grow(**given, **options)
    found = spinney.grow(**given, **options, engine="duckdb", memory_limit=0)
    assert len(expected.tree) > 30
    assert_same_tree(expected.tree, found.tree, whole=True)


def test_adult_in_a_database(postgres):
    given = arguments_of("adult")
    frame = pd.read_csv(given.pop("data"), keep_default_na=False)
    columns: dict[str, list[Any]] = {
        str(name): cells.tolist() for name, cells in frame.items()
    }
    options = {"recipe": CART, "max_depth": 6}
    expected = spinney.grow(frame, **given, **options)
    with in_postgres(postgres)(columns) as (data, how):
        found = spinney.grow(data, **given, **options, memory_limit=0, **how)
    assert_same_tree(expected.tree, found.tree, whole=True)
