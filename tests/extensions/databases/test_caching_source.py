"""Rows that are read once they have room: the same tree, and no more than that."""

import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.extensions.databases.test_bins import rows_of
from tests.helpers.database_tables import in_postgres
from tests.sources.comparing import assert_same_tree, opened

import spinney
from spinney.errors import ParameterError
from spinney.extensions.databases import caching_source
from spinney.extensions.databases.caching_source import CachingSource
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.sql_source import SqlSource
from spinney.recipes import Recipe
from spinney.sources.rows.sampleable_rows import CELL_BYTES
from spinney.sources.training_data import open_data

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

RECIPES = {
    "cart": Recipe.named("cart"),  # surrogates
    "c4.5": Recipe.named("c4.5"),  # rows are divided, and branches raised
    "chi2": Recipe.named("chaid").changed(alpha_split=1.0),
}
N_CELLS = 4 + 3  # what a line is taken to hold: node, class and weight beside four


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many lines were fetched, each time."""
    sizes: list[int] = []
    fetch = SqlSource.fetched

    def counted(source: SqlSource, nodes: Any) -> Any:
        lines = fetch(source, nodes)
        sizes.append(len(lines.node))
        return lines

    monkeypatch.setattr(SqlSource, "fetched", counted)
    return sizes


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many lines were held at once, after each time some were fetched."""
    sizes: list[int] = []
    alive: list[tuple[Any, int]] = []
    fetch = CachingSource._fetch

    def counted(source: CachingSource, nodes: Any) -> Any:
        given = fetch(source, nodes)
        alive.append((weakref.ref(given), len(given.level(nodes)[0])))
        sizes.append(sum(n for rows, n in alive if rows() is not None))
        return given

    monkeypatch.setattr(CachingSource, "_fetch", counted)
    return sizes


@pytest.mark.parametrize("recipe", RECIPES)
def test_held_nodes_grow_the_same_tree(recipe, fetched, held, monkeypatch, tmp_path):
    monkeypatch.setattr(caching_source, "FETCHED_ROWS", 60)
    columns = rows_of(1, missing=0.1)
    options = {"recipe": RECIPES[recipe], "weight": "w", "min_samples_leaf": 2}
    expected = spinney.grow(columns, "y", **options)
    room = 4 * 100 * CELL_BYTES * N_CELLS  # for a hundred lines
    with opened("bound relation", columns, tmp_path) as (rows, how):
        found = spinney.grow(rows, "y", **options, **how, memory_limit=room)
    assert len(expected.tree) > 10
    # χ² of tables that stand beside others differs in the last bit.
    assert_same_tree(expected.tree, found.tree, whole=recipe != "chi2")
    assert len(fetched) > 1
    assert max(fetched) <= max(held) <= 100


def test_nodes_of_leaves_alone_are_let_go(held, monkeypatch, tmp_path):
    # Of each kind half the rows: two leaves, so no rows are sent on from there.
    monkeypatch.setattr(caching_source, "FETCHED_ROWS", 60)
    kinds = [f"kind {i}" for i in range(12) for _ in range(40)]
    high = [float(j % 2) for j in range(len(kinds))]
    label = [f"{kind} {number}" for kind, number in zip(kinds, high, strict=True)]
    columns = {"kind": kinds, "high": high, "y": label}
    recipe = Recipe.named("id3")
    with opened("bound relation", columns, tmp_path) as (rows, how):
        room = 4 * 100 * CELL_BYTES * 5
        spinney.grow(rows, "y", recipe=recipe, **how, memory_limit=room)
    assert len(held) >= 5
    assert max(held) <= 100


@pytest.mark.parametrize("order", [(300, 30, 200, 30), (30, 200, 30, 300)])
def test_pruning_holds_no_more_than_growing(order, held, monkeypatch, tmp_path):
    # Small branches on both sides of large ones, whose own branches are held in turn.
    monkeypatch.setattr(caching_source, "FETCHED_ROWS", 60)
    random = np.random.default_rng(5)
    kinds = [f"kind {i}" for i, n in enumerate(order) for _ in range(n)]
    first, second = random.normal(size=(2, len(kinds)))
    noisy = first + second * (random.random(len(kinds)) < 0.6) > 0
    label = np.where(noisy, np.array(kinds), "none").tolist()
    columns = {"kind": kinds, "a": first.tolist(), "b": second.tolist(), "y": label}
    recipe = Recipe.named("c4.5")
    expected = spinney.grow(columns, "y", recipe=recipe)
    with opened("bound relation", columns, tmp_path) as (rows, how):
        room = 4 * 100 * CELL_BYTES * 6
        found = spinney.grow(rows, "y", recipe=recipe, **how, memory_limit=room)
    assert_same_tree(expected.tree, found.tree, whole=True)
    assert list(expected.model_.steps) == list(found.model_.steps)
    assert len(held) > 4
    assert max(held) <= 100


def test_what_is_held_together_follows_each_other():
    kept: list[set[int]] = []
    away = SimpleNamespace(store_nodes=lambda nodes: kept.append(set(nodes)))
    n_rows = {1: 5, 2: 50, 3: 5, 4: 6}
    source = CachingSource(away, 10)  # type: ignore[arg-type]
    assert source.batches(n_rows) == [[2], [1, 3], [4]]
    source = CachingSource(away, 11)  # type: ignore[arg-type]
    assert source.batches(n_rows, in_order=True) == [[2], [1], [3, 4]]
    assert kept == [{1, 2, 3, 4}] * 2


def test_a_node_without_rows_takes_its_turn():
    source = CachingSource(None, 10)  # type: ignore[arg-type]
    assert source.batches({3: 0}) == [[3]]


def test_a_table_that_has_room_is_read_by_one_statement(fetched, monkeypatch, postgres):
    columns = rows_of(2, missing=0.1)
    monkeypatch.setattr(
        open_data, "default_memory_limit", lambda: 300 * CELL_BYTES * N_CELLS
    )
    written: list[str] = []
    write = SqlEngine.to_sql

    def heard(engine: SqlEngine, statement: Any) -> Any:
        words, values = write(engine, statement)
        written.append(words)
        return words, values

    monkeypatch.setattr(SqlEngine, "to_sql", heard)
    for recipe in ("cart", "c4.5"):
        expected = spinney.grow(columns, "y", recipe=recipe, weight="w").tree
        with in_postgres(postgres)(columns) as (data, how):
            found = spinney.grow(data, "y", recipe=recipe, weight="w", **how).tree
        assert_same_tree(expected, found, whole=True)
    assert not any(words.startswith("CREATE") for words in written)
    assert not fetched


def test_a_second_tree_finds_the_rows_again(monkeypatch, tmp_path):
    # Constructed attributes are those of a first tree: the source grows several.
    monkeypatch.setattr(caching_source, "FETCHED_ROWS", 60)
    columns = rows_of(3)
    recipe = Recipe.named("c4.5").changed(construct=2)
    expected = spinney.grow(columns, "y", recipe=recipe).tree
    with opened("bound relation", columns, tmp_path) as (rows, how):
        room = 4 * 100 * CELL_BYTES * N_CELLS
        found = spinney.grow(rows, "y", recipe=recipe, **how, memory_limit=room).tree
    assert_same_tree(expected, found, whole=True)


def test_a_value_without_rows_is_as_good_as_missing(tmp_path):
    # The surrogate "kind" has never seen "rare" with a known "first": the next one is
    # asked, as in memory.
    random = np.random.default_rng(0)
    n_rows = 120
    first = random.normal(size=n_rows)
    second = first + random.normal(size=n_rows) / 9
    kinds = np.where(first > 0, "high", "low").tolist()
    cells: list[float | None] = first.tolist()
    for at in range(0, n_rows, 10):
        cells[at], kinds[at] = None, "rare"
    columns = {
        "first": cells,
        "kind": kinds,
        "second": second.tolist(),
        "y": np.where(first > 0.1, "a", "b").tolist(),
    }
    options = {"recipe": "cart", "pruning": "none"}
    expected = spinney.grow(columns, "y", **options).tree
    with opened("bound relation", columns, tmp_path) as (rows, how):
        found = spinney.grow(rows, "y", **options, **how).tree
    assert any(node.surrogates for node in expected)
    assert_same_tree(expected, found, whole=True)


@pytest.mark.parametrize(
    "limit, message",
    [
        ("many", "memory_limit='many' is no size"),
        (-1, "memory_limit=-1 is no size"),
        ("2GiB", "applies only if an engine counts the rows"),
    ],
)
def test_limits_that_are_refused(limit, message):
    columns = {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "b"]}
    with pytest.raises(ParameterError, match=message):
        spinney.grow(columns, "y", memory_limit=limit)


def test_levels_are_told(tmp_path):
    told: list[tuple[int, int]] = []
    with opened("bound relation", rows_of(4), tmp_path) as (rows, how):
        options = {"recipe": "cart", "max_depth": 3, "memory_limit": 0}
        tell = lambda done, of: told.append((done, of))  # noqa: E731
        spinney.grow(rows, "y", progress=tell, **options, **how)
    assert told == [(1, 3), (2, 3), (3, 3)]
