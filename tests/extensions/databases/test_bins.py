"""Numbers of many values: by bins, of which few are opened, to the same tree."""

from typing import Any

import numpy as np
import pytest
from tests.helpers.database_tables import in_postgres
from tests.sources.comparing import assert_same_tree, opened

import spinney
from spinney.extensions.databases import number_bins
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.recipes import Recipe
from spinney.sources import open_bins

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

RECIPES = {
    "cart": Recipe.named("cart").changed(missing_policy="branch"),
    "fractional": Recipe.named("cart").changed(missing_policy="fractional"),
    "surrogates": Recipe.named("cart"),
    "gain ratio": Recipe.named("c4.5").changed(
        mdl_correction=False, thresholds="midpoint", pruning="none"
    ),
    "c4.5": Recipe.named("c4.5"),  # whose cuts cost what they cost
}


@pytest.fixture
def small_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_bins, "MAX_VALUES", 20)
    monkeypatch.setattr(number_bins, "MAX_ROWS_BY_VALUE", 20)
    monkeypatch.setattr(number_bins, "QUANTILES", 3)
    monkeypatch.setattr(number_bins, "PARTS", 3)


@pytest.fixture
def finer_bins(small_bins: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_bins, "MAX_LINES", 30)
    monkeypatch.setattr(open_bins, "MAX_PARTS", 4)


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    heard: list[str] = []
    written = SqlEngine.to_sql

    def heard_statement(engine: SqlEngine, statement: Any) -> Any:
        words, values = written(engine, statement)
        heard.append(words)
        return words, values

    monkeypatch.setattr(SqlEngine, "to_sql", heard_statement)
    return heard


def rows_of(seed: int, *, missing: float = 0.0, n_rows: int = 300) -> dict[str, Any]:
    """Return numbers that say something of three classes, one with many ties."""
    random = np.random.default_rng(seed)
    first, second = random.normal(size=(2, n_rows))
    third = random.integers(0, 60, n_rows) / 4
    label = np.digitize(first + 0.4 * random.normal(size=n_rows), [-0.5, 0.6])
    label[second > 1.2] = 0
    columns = {
        "first": first.tolist(),
        "second": second.tolist(),
        "third": third.tolist(),
        "few": random.integers(0, 4, n_rows).astype(float).tolist(),
        "y": np.array(["a", "b", "c"])[label].tolist(),
        "w": random.integers(1, 4, n_rows).astype(float).tolist(),
    }
    for name in ("first", "second", "third"):
        for at in np.flatnonzero(random.random(n_rows) < missing):
            columns[name][at] = None
    return columns


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("recipe", RECIPES)
def test_bins_give_the_tree_of_all_values(recipe, missing, small_bins, tmp_path):
    columns = rows_of(0, missing=missing)
    options = {"recipe": RECIPES[recipe], "weight": "w", "min_samples_leaf": 3}
    expected = spinney.grow(columns, "y", **options).tree
    with opened("bound relation", columns, tmp_path) as (rows, how):
        found = spinney.grow(rows, "y", **options, **how).tree
    assert len(expected) > 10
    assert_same_tree(expected, found, whole=True)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("recipe", ["cart", "fractional", "gain ratio"])
def test_bins_that_are_opened_to_finer_ones(recipe, missing, finer_bins, tmp_path):
    columns = rows_of(5, missing=missing)
    options = {"recipe": RECIPES[recipe], "weight": "w", "min_samples_leaf": 3}
    expected = spinney.grow(columns, "y", **options).tree
    with opened("bound relation", columns, tmp_path) as (rows, how):
        found = spinney.grow(rows, "y", **options, **how).tree
    assert_same_tree(expected, found, whole=True)


def test_no_cut_leaves_enough_on_both_sides(finer_bins, statements, tmp_path):
    columns = rows_of(5)
    options = {"recipe": RECIPES["cart"], "min_samples_leaf": 200}
    with opened("bound relation", columns, tmp_path) as (rows, how):
        tree = spinney.grow(rows, "y", **options, **how).tree
    assert len(tree) == 1
    # Bins that hold the middle of the rows are opened until they are too small.
    assert sum("k0" in text for text in statements) <= 3


@pytest.mark.parametrize("max_lines", [30, 1000])
def test_postgres_has_bins_too(max_lines, finer_bins, postgres, monkeypatch):
    monkeypatch.setattr(open_bins, "MAX_LINES", max_lines)
    columns = rows_of(3, missing=0.05)
    options = {"recipe": RECIPES["fractional"], "max_depth": 4}
    expected = spinney.grow(columns, "y", **options).tree
    with in_postgres(postgres)(columns) as (data, how):
        found = spinney.grow(data, "y", **options, **how).tree
    assert assert_same_tree(expected, found, whole=True) > 0  # competitors of bins


def test_a_level_is_two_statements_of_few_lines(
    small_bins, statements, tmp_path, monkeypatch
):
    monkeypatch.setattr(number_bins, "QUANTILES", 16)
    columns = rows_of(1, n_rows=2000)
    lines: list[int] = []
    fetch = SqlEngine.fetch

    def counted(engine: SqlEngine, statement: Any) -> Any:
        answer = fetch(engine, statement)
        lines.append(len(answer[0]))
        return answer

    options = {"recipe": RECIPES["cart"], "max_depth": 4}
    with (
        pytest.MonkeyPatch.context() as patch,
        opened("bound relation", columns, tmp_path) as (rows, how),
    ):
        patch.setattr(SqlEngine, "fetch", counted)
        spinney.grow(rows, "y", recipe=RECIPES["cart"], max_depth=0, **how)
        before = sum(text.startswith("SELECT") for text in statements)
        statements.clear()
        lines.clear()
        tree = spinney.grow(rows, "y", **options, **how).tree
    counting = [text for text in statements if text.startswith("SELECT")][before:]
    assert tree.height == 4
    assert len(counting) <= 2 * 4  # by bins, and those that are opened
    assert max(lines[before:]) < 1500  # where the root has 4060 values


def test_lines_of_a_statement_have_a_bound(
    small_bins, statements, tmp_path, monkeypatch
):
    monkeypatch.setattr(number_bins, "QUANTILES", 16)
    monkeypatch.setattr(open_bins, "MAX_LINES", 150)
    monkeypatch.setattr(open_bins, "MAX_PARTS", 8)
    columns = rows_of(1, n_rows=2000)
    columns["y"] = ["b" if label == "c" else label for label in columns["y"]]
    expected = spinney.grow(columns, "y", recipe=RECIPES["cart"], max_depth=1).tree
    lines: list[int] = []
    fetch = SqlEngine.fetch

    def counted(engine: SqlEngine, statement: Any) -> Any:
        answer = fetch(engine, statement)
        if "k0" in str(statement) or "k1" in str(statement):
            lines.append(len(answer[0]))
        return answer

    monkeypatch.setattr(SqlEngine, "fetch", counted)
    with opened("bound relation", columns, tmp_path) as (rows, how):
        options = {"recipe": RECIPES["cart"], "max_depth": 1}
        found = spinney.grow(rows, "y", **options, **how).tree
    assert_same_tree(expected, found, whole=True)
    # Opened bins hold more rows than are listed at once: they are divided, and then
    # the parts that may hold the best cut, the only ones left, are listed.
    assert len(lines) == 2
    assert max(lines) <= 2 * 150  # for each class
