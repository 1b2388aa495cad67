"""Rules of thousands of random tables, and of real ones: one fires, and it is right."""

from itertools import islice

import numpy as np
import pytest
from tests.helpers.fired_rules import recipes_of, violations
from tests.helpers.real_tables import (
    arguments_of,
    facts_of,
    needs_tables,
    table_names,
)

import spinney
from spinney.data.declarations import declarations_of
from spinney.errors import DataError
from spinney.recipes import RECIPES

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TABLES, CHUNKS = 2000, 20
ROWS = 1500  # of a real table, from all over it


def random_table(random: np.random.Generator) -> dict[str, list[object]]:
    """Return mixed columns with holes, and two targets."""
    n_rows = int(random.integers(6, 80))
    table: dict[str, list[object]] = {}
    holes = 0.15 * random.integers(0, 2)
    for place in range(int(random.integers(1, 5))):
        if random.random() < 0.3:
            cells = random.choice([-2.5, -0.1, 0.1, 0.3, 1.0, 7.25], n_rows).tolist()
        else:
            cells = random.choice([*"abcdefg"][: random.integers(2, 8)], n_rows)
            cells = cells.tolist()
        here = random.random(n_rows) < holes
        here[0] = False
        table[f"x{place}"] = [
            None if hole else c for c, hole in zip(cells, here, strict=True)
        ]
    table["class"] = [*"uv", *random.choice([*"uvw"], n_rows - 2).tolist()]
    table["number"] = np.round(random.normal(size=n_rows), 2).tolist()
    return table


def rows_like(table, random: np.random.Generator, n_rows: int = 60):
    """Return rows of the same values, each drawn by itself, and some missing."""
    return {
        name: [
            None if random.random() < 0.15 else cells[random.integers(len(cells))]
            for _ in range(n_rows)
        ]
        for name, cells in table.items()
        if name.startswith("x")
    }


def assert_rules_are_rules(model, *tables) -> None:
    for table in tables:
        columns = model.schema.encode(model.read(table, whole=True))
        assert violations(model.tree, columns, model.apply(table)) == []


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_tables(chunk):
    ways = {t: list(recipes_of(numeric=t == "number")) for t in ("class", "number")}
    for seed in range(chunk, TABLES, CHUNKS):
        random = np.random.default_rng(seed)
        table = random_table(random)
        target, other = random.permutation(["class", "number"]).tolist()
        others = rows_like(table, random)
        # A seventh of all recipes, groupings and policies, of each table another one.
        for recipe in islice(ways[target], seed % 7, None, 7):
            try:
                model = spinney.grow(table, target, recipe=recipe, ignore=[other])
            except DataError:  # complete rows may be too few, or of one class
                assert recipe.drops_rows
                continue
            assert_rules_are_rules(model, table, others)


@needs_tables
@pytest.mark.parametrize("name", table_names())
def test_real_tables(name):
    arguments = arguments_of(name)
    target = arguments.pop("target")
    table = spinney.read_table(
        arguments.pop("data"), declarations=declarations_of(**arguments)
    )
    rows = np.linspace(0, table.n_rows - 1, min(table.n_rows, ROWS)).astype(int)
    table = table.take(rows)
    numeric = facts_of(name)["task"] == "regression"
    # Each recipe as it is, and one of seven of those with other settings.
    ways = [name for name in RECIPES if numeric or name != "m5"]
    for recipe in [*ways, *islice(recipes_of(numeric=numeric), 3, None, 7)]:
        declared = [target] if numeric else []
        try:
            model = spinney.grow(table, target, recipe=recipe, numeric=declared)
        except DataError:  # no row may be complete
            assert getattr(recipe, "drops_rows", False)
            continue
        assert_rules_are_rules(model, table)
