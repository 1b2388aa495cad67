"""Where the rows of nodes are: tables made anew, numbers changed, to the same tree."""

from contextlib import nullcontext
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.extensions.databases.test_bins import (
    RECIPES,
    rows_of,
    small_bins,
    statements,
)
from tests.helpers.stacks import by_node
from tests.sources.comparing import answers_of, assert_same_tables, assert_same_tree

import spinney
from spinney.data.duckdb.connection import HASH_BITS, HASH_SETTING
from spinney.extensions.databases import node_rows
from spinney.extensions.databases.engines import duckdb_engine
from spinney.extensions.databases.engines.duckdb_engine import DuckDBEngine
from spinney.sources.base import Source, TableRequest
from spinney.trees.split import Groups, Intervals, Route, Threshold

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")
__all__ = ["small_bins", "statements"]


def columns_of(seed: int, missing: float) -> dict[str, Any]:
    """Return numbers and names, some of them missing."""
    columns = rows_of(seed, missing=missing)
    names = np.random.default_rng(seed).choice(["p", "q", "r", "s", ""], 300).tolist()
    columns["name"] = [name or None for name in names]
    return columns


def grown_in_duckdb(columns: dict[str, Any], **options: Any) -> Any:
    with duckdb.connect() as connection:
        relation = connection.from_arrow(pa.table(columns))
        return spinney.grow(
            relation, "y", connection=connection, memory_limit=0, **options
        ).tree


@pytest.mark.parametrize("few", [0, 1000], ids=["lists", "case"])
@pytest.mark.parametrize("changes", [True, False], ids=["changed", "anew"])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("recipe", ["cart", "fractional", "surrogates", "gain ratio"])
def test_every_way_gives_the_tree_of_memory(
    recipe, missing, changes, few, small_bins, monkeypatch
):
    monkeypatch.setattr(DuckDBEngine, "prefers_update", changes)
    monkeypatch.setattr(node_rows, "FEW_NODES", few)
    columns = columns_of(1, missing)
    options = {"recipe": RECIPES[recipe], "weight": "w", "min_samples_leaf": 3}
    expected = spinney.grow(columns, "y", **options).tree
    found = grown_in_duckdb(columns, **options)
    assert expected.height > 4
    assert_same_tree(expected, found, whole=True)


@pytest.mark.parametrize("sampled", [1, 50])
@pytest.mark.parametrize("missing", [0.0, 0.9])
def test_quantiles_of_some_rows_give_the_tree_of_memory(
    missing, sampled, small_bins, monkeypatch
):
    monkeypatch.setattr(duckdb_engine, "SAMPLE_ROWS", sampled)
    columns = columns_of(2, missing)
    options = {"recipe": RECIPES["cart"], "min_samples_leaf": 3}
    expected = spinney.grow(columns, "y", **options).tree
    assert_same_tree(expected, grown_in_duckdb(columns, **options), whole=True)


def test_numbers_are_changed_until_half_of_the_lines_are_nowhere(
    small_bins, statements
):
    """Of 300 rows 200 are of one class, and end at once."""
    columns = {
        "a": [float(n) for n in range(300)],
        "y": ["x" if n < 200 else "yz"[n % 2] for n in range(300)],
    }
    options = {"recipe": RECIPES["cart"], "max_depth": 5, "min_samples_leaf": 2}
    expected = spinney.grow(columns, "y", **options).tree
    found = grown_in_duckdb(columns, **options)
    assert_same_tree(expected, found, whole=True)
    steps = [s for s in statements if s.startswith("UPDATE") or '"child"' in s]
    assert [s.split()[0] for s in steps][:4] == ["UPDATE", "UPDATE", "CREATE", "UPDATE"]


ROUTES = {
    "cut": Route(Threshold(0, 0.1, (0.5, 0.5), missing=1)),
    "divided": Route(Threshold(0, 0.1, (0.25, 0.75))),
    "otherwise": Route(Threshold(2, 5.0, (0.5, 0.5)), default_branch=0),
    "whether known": Route(Threshold(1, np.inf, (0.9, 0.1), missing=1)),
    "codes": Route(Groups(4, ((0, 2), (1,)), (0.5, 0.5), missing=1)),
    "every code": Route(Groups(4, ((0,), (1,), (2,), (3,)), (0.25,) * 4)),
    "intervals": Route(Intervals(2, (3.0, 9.0), (0.3, 0.3, 0.4), missing=2)),
}


@pytest.mark.parametrize("few", [0, 1000], ids=["lists", "case"])
@pytest.mark.parametrize("route", ROUTES)
def test_routes_lead_where_they_do_in_memory(route, few, small_bins, monkeypatch):
    """Of two children one goes on and the other stays, whose rows are asked again.

    At last the root is asked, whose lines have other numbers by then.
    """
    monkeypatch.setattr(node_rows, "FEW_NODES", few)
    columns = columns_of(2, 0.1)
    del columns["w"]
    every = (0, 1, 2, 3, 4)

    def ask(source: Source) -> list[Any]:
        source.partition(
            0, Route(Threshold(1, 0.0, (0.5, 0.5), missing=0)), {0: 3, 1: 5}
        )
        found = by_node(
            source.tables([TableRequest(3, every), TableRequest(5, every)]), 2
        )
        n_branches = ROUTES[route].split.n_branches
        children = {branch: 7 + branch for branch in range(n_branches) if branch != 1}
        source.partition(3, ROUTES[route], children)
        wanted = [*children.values(), 5]
        stacks = source.tables([TableRequest(node, every) for node in wanted])
        found += by_node(stacks, len(wanted))
        found += by_node(source.tables([TableRequest(wanted[0], every)]), 1)
        source.partition(0, Route(Threshold(2, 8.0, (0.5, 0.5), missing=1)), {1: 20})
        found += by_node(source.tables([TableRequest(20, every)]), 1)
        return found + by_node(source.tables([TableRequest(0, every)]), 1)

    memory, *others = answers_of(ask, columns, "y")
    for other in others:
        assert_same_tables(memory, other)


@pytest.mark.parametrize("broken", [False, True])
def test_what_a_connection_was_set_to_it_is_after(broken, small_bins, monkeypatch):
    heard = set()
    run = DuckDBEngine._run

    def heard_run(engine, statement, values):
        heard.add(setting_of(connection))
        if broken and statement.startswith("UPDATE"):
            raise ZeroDivisionError
        return run(engine, statement, values)

    monkeypatch.setattr(DuckDBEngine, "_run", heard_run)
    with duckdb.connect() as connection:
        connection.execute(f"SET SESSION {HASH_SETTING} = 9")
        relation = connection.from_arrow(pa.table(rows_of(0)))
        given = {"connection": connection, "memory_limit": 0}
        with pytest.raises(ZeroDivisionError) if broken else nullcontext():
            spinney.grow(relation, "y", recipe=RECIPES["cart"], **given)
        assert heard == {HASH_BITS}
        assert setting_of(connection) == 9


def setting_of(connection: Any) -> int:
    ((value,),) = connection.execute(
        f"SELECT current_setting('{HASH_SETTING}')"
    ).fetchall()
    return int(value)


def test_a_connection_whose_settings_are_locked_is_used_as_it_is():
    columns = rows_of(0)
    with duckdb.connect() as connection:
        connection.execute("SET lock_configuration = true")
        relation = connection.from_arrow(pa.table(columns))
        given = {"connection": connection, "memory_limit": 0, "recipe": "cart"}
        found = spinney.grow(relation, "y", **given).tree
    assert_same_tree(spinney.grow(columns, "y", recipe="cart").tree, found, whole=True)


@pytest.mark.parametrize("began", [False, True], ids=["alone", "in a transaction"])
@pytest.mark.parametrize("broken", [False, True])
def test_tables_that_have_no_room_are_kept_in_a_file(
    broken, began, small_bins, tmp_path, statements, monkeypatch
):
    """Not within a transaction of the user's, which may write to no other file."""
    monkeypatch.setattr(duckdb_engine, "CELL_BYTES", 2**40)
    columns, folder = columns_of(3, 0.1), tmp_path / "not there yet"
    options = {"recipe": RECIPES["fractional"], "weight": "w", "min_samples_leaf": 3}
    expected = spinney.grow(columns, "y", **options).tree
    seen = set()
    run = DuckDBEngine._run

    def seen_run(engine, statement, values):
        seen.update(path.name for path in folder.glob("*/*.db"))
        if broken and "UPDATE" in statement:
            raise ZeroDivisionError
        return run(engine, statement, values)

    monkeypatch.setattr(DuckDBEngine, "_run", seen_run)
    with duckdb.connect() as connection:
        connection.execute(f"SET temp_directory = '{folder}'")
        if began:
            connection.execute("BEGIN")
        relation = connection.from_arrow(pa.table(columns))
        options |= {"connection": connection, "memory_limit": 0}
        if broken:
            options["recipe"] = RECIPES["cart"]
        with pytest.raises(ZeroDivisionError) if broken else nullcontext():
            found = spinney.grow(relation, "y", **options).tree
            assert_same_tree(expected, found, whole=True)
        left = connection.execute("SELECT database_name FROM duckdb_databases()")
        assert not any("spinney" in name for (name,) in left.fetchall())
        views = connection.execute("SELECT view_name FROM duckdb_views()")
        assert not any("spinney" in name for (name,) in views.fetchall())
    assert seen == (set() if began else {"rows.db"})
    assert not folder.exists()
    assert any(text.startswith("CREATE TABLE") for text in statements) is not began
