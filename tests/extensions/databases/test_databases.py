"""Tables in databases: how they are named, what is refused, what is left behind."""

import datetime
import sqlite3
from contextlib import contextmanager

import duckdb
import pandas as pd
import pytest
from tests.helpers.database_tables import (
    TABLE,
    fill_sqlite,
    in_postgres,
    in_sqlite,
    quoted,
)
from tests.helpers.hostile_names import NAMES
from tests.sources.comparing import assert_same_tree

import spinney
from spinney.cli import run
from spinney.data import Declarations
from spinney.errors import DataError, ParameterError, SpinneyWarning
from spinney.extensions.databases import databases
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.databases import _table_or_query
from spinney.extensions.databases.engines.spark_engine import SparkEngine
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.engines.sqlite_engine import SqliteEngine
from spinney.sources.training_data.table_input import engine_of

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

COLUMNS = {
    "size": [1.0, 2.0, 3.0, 4.0, 5.0, None],
    "colour": ["red", "red", "blue", "blue", "red", None],
    "y": ["a", "a", "b", "b", "b", "a"],
}
HOSTILE = [name for name in NAMES if "\0" not in name and len(name) < 60]


@contextmanager
def connected():
    connection = sqlite3.connect(":memory:")
    try:
        yield connection
    finally:
        connection.close()


def temporary(connection):
    listed = "SELECT table_name FROM duckdb_tables() WHERE temporary"
    return connection.execute(listed).fetchall()


def grown(data, **options):
    return spinney.grow(data, "y", recipe="cart", **options)


def hostile_columns():
    """Return names and values that have broken other programs, a few of each."""
    values = [name for name in HOSTILE if "\n" not in name and "\u2028" not in name]
    n_rows = 4 * len(values)
    columns = {
        name: [values[(row * (at + 1)) % len(values)] for row in range(n_rows)]
        for at, name in enumerate(HOSTILE[:5])
    }
    columns[HOSTILE[5]] = [values[row % 3] for row in range(n_rows)]
    return columns, HOSTILE[5]


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_hostile_names_and_values(engine, tmp_path, request):
    columns, target = hostile_columns()
    open_table = in_sqlite(tmp_path)
    if engine == "postgres":
        open_table = in_postgres(request.getfixturevalue("postgres"))
    for recipe in ("cart", "c4.5"):
        expected = spinney.grow(columns, target, recipe=recipe)
        with open_table(columns) as (data, how):
            found = spinney.grow(data, target, recipe=recipe, **how)
        assert found.tree.schema == expected.tree.schema
        assert_same_tree(expected.tree, found.tree, whole=True)


def test_literals_are_as_good_as_bound_values(postgres, monkeypatch):
    columns, target = hostile_columns()
    expected = spinney.grow(columns, target, recipe="cart")
    with in_postgres(postgres)(columns) as (data, how):
        monkeypatch.setattr(databases.PostgresEngine, "max_parameters", 3)
        found = spinney.grow(data, target, recipe="cart", **how)
    assert_same_tree(expected.tree, found.tree, whole=True)


def test_a_query_is_a_table_and_nothing_may_be_changed():
    with connected() as connection:
        fill_sqlite(connection, COLUMNS)
        named = quoted(TABLE)
        part = grown(connection, table=f"SELECT size, y FROM {named} WHERE size < 5")
        assert part.tree.root.n_rows == 4
        for words in (
            f"SELECT 1; DROP TABLE {named}",
            f"WITH x AS (DELETE FROM {named} RETURNING *) SELECT * FROM x",
            "SELECT FROM WHERE",
        ):
            with pytest.raises(ParameterError, match="table"):
                grown(connection, table=words)
        assert grown(connection, table=TABLE).tree.root.n_rows == 6
        left = "SELECT name FROM sqlite_temp_master"
        assert connection.execute(left).fetchall() == []


@pytest.mark.parametrize(
    "options, message",
    [
        ({}, "table is needed"),
        ({"table": "orderz"}, "there is no table 'orderz' in the database"),
        (
            {"table": "t", "engine": "postgres"},
            "is not the engine of the table, sqlite",
        ),
        ({"table": "t", "format": "csv"}, "format"),
    ],
)
def test_what_is_refused(options, message):
    with connected() as connection:
        connection.execute("CREATE TABLE t (x, y)")
        with pytest.raises((DataError, ParameterError), match=message):
            grown(connection, **options)


@pytest.mark.parametrize(
    "cells, options, message",
    [
        ([1.0, b"\0\1", 2.0], {}, "column 'x' has type BLOB, which is neither"),
        ([1.0, float("inf"), 2.0], {}, "column 'x' holds inf"),
        (["1", "wide", "2"], {"numeric": ["x"]}, "column 'x'.*'wide'"),
        ([1, 7, 2], {"nominal": ["x"], "values": {"x": [1, 2]}}, "column 'x'.*7"),
        ([1.0, 2.0, 3.0], {"ignore": ["x", "y"]}, "ignore"),
    ],
    ids=["bytes", "infinite", "no number", "not declared", "nothing left"],
)
def test_cells_that_have_no_place(cells, options, message):
    with connected() as connection:
        connection.execute("CREATE TABLE t (x, y)")
        lines = [*zip(cells, "aab", strict=True)]
        connection.executemany("INSERT INTO t VALUES (?, ?)", lines)
        with pytest.raises((DataError, ParameterError), match=message):
            grown(connection, table="t", **options)


@pytest.mark.parametrize(
    "cells, options",
    [
        (["1", "2.5", "", "?", "7", "9"], {"numeric": ["x"], "missing_values": ["?"]}),
        ([1.0, 2.0, -9.0, -9.0, 7.0, 9.0], {"missing_values": ["-9"]}),
        ([True, False, None, True, False, True], {}),
        ([None] * 6, {"nominal": ["x"], "values": {"x": [1, 2]}}),
        ([1, 2, 2, 1, None, 2], {"nominal": ["x"], "values": {"x": [1, 2, 3]}}),
    ],
    ids=["texts", "numbers that are missing", "booleans", "no value", "declared"],
)
def test_cells_are_read_as_those_of_a_table(cells, options, tmp_path):
    columns = {"x": cells, "size": [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], "y": list("aaabbb")}
    expected = grown(columns, **options)
    with in_sqlite(tmp_path)(columns) as (data, how):
        found = grown(data, **how, **options)
    assert found.tree.schema == expected.tree.schema
    assert_same_tree(expected.tree, found.tree, whole=True)


@pytest.mark.filterwarnings("error::spinney.errors.SpinneyWarning")
def test_integers_that_floating_numbers_do_not_tell_apart(tmp_path):
    columns = {"x": [2**60, 2**60 + 1, 2, 3], "y": list("aabb")}
    with in_sqlite(tmp_path)(columns) as (data, how):
        with pytest.warns(SpinneyWarning, match="'x'"):
            grown(data, **how)
        assert grown(data, **how, nominal=["x"]).tree.root.n_rows == 4


def test_a_table_is_that_of_a_database():
    with pytest.raises(ParameterError, match="applies only to a database"):
        grown(COLUMNS, table="t")
    with pytest.raises(ParameterError, match="needs a table there"):
        grown(COLUMNS, engine="sqlite")


def test_a_connection_of_a_class_of_ones_own():
    class Connection(sqlite3.Connection):
        pass

    connection = sqlite3.connect(":memory:", factory=Connection)
    fill_sqlite(connection, COLUMNS)
    assert grown(connection, table=TABLE).tree.root.n_rows == 6
    connection.close()


def test_no_password_is_shown():
    pytest.importorskip("psycopg")
    with pytest.raises(DataError) as refused:
        grown("postgresql://ann:geheim@127.0.0.1:1/shop", table="t")
    assert "geheim" not in str(refused.value)
    assert "postgresql://ann@127.0.0.1:1/shop" in str(refused.value)


def test_rows_of_a_database_may_be_read():
    with connected() as connection:
        fill_sqlite(connection, COLUMNS)
        read = grown(connection, table=TABLE, engine="memory")
        other = grown(connection, table=TABLE, engine="sqlite")
    assert_same_tree(grown(COLUMNS).tree, other.tree, whole=True)
    assert_same_tree(read.tree, other.tree, whole=True)


@pytest.mark.parametrize("limit", [0, "1kB"])
@pytest.mark.parametrize("options", [{"recipe": "cart"}, {}])
def test_rows_of_sqlite_need_room(limit, options):
    with connected() as connection:
        fill_sqlite(connection, COLUMNS)
        with pytest.raises(ParameterError, match=r"too small for 6 rows.*'duckdb'"):
            spinney.grow(connection, "y", table=TABLE, memory_limit=limit, **options)
        assert grown(connection, table=TABLE, memory_limit="1MB").tree.n_leaves > 1


@pytest.mark.parametrize(
    ("declared", "cells", "kind", "values"),
    [
        ("BOOLEAN", [1, 0, 1, None], "nominal", (False, True)),
        ("BOOLEAN", [1, 0, 2, 1], "numeric", ()),
        ("TEXT", [None] * 4, "nominal", ()),
        ("REAL", [None] * 4, "numeric", ()),
        ("", [1, "one", 2.5, None], "nominal", ("1", "2.5", "one")),
        ("TEXT", ["1", "2", "1", ""], "nominal", ("1", "2")),
        ("DATE", ["2024-02-30"] * 4, "nominal", ("2024-02-30",)),
        ("TIMESTAMP", ["2024-02-28 10:00Z"] * 4, "nominal", ("2024-02-28 10:00Z",)),
    ],
)
def test_what_is_stored_says_what_a_column_is(declared, cells, kind, values):
    with connected() as connection:
        connection.execute(f"CREATE TABLE t (x {declared}, y TEXT)")
        lines = list(zip(cells, "aabb", strict=True))
        connection.executemany("INSERT INTO t VALUES (?, ?)", lines)
        at = databases.DatabaseTable(connection, "sqlite", "t")
        column = databases.table_in_database(at, Declarations())["x"]
        assert (column.kind, column.levels) == (kind, values)


def test_dates_are_numbers_in_every_database(tmp_path, postgres):
    days = [datetime.date(2024, 2, 27) + datetime.timedelta(n) for n in range(6)]
    moments = [
        datetime.datetime(1969, 12, 31, 23, 59, 59, 250_000)
        + datetime.timedelta(hours=7 * n, microseconds=n)
        for n in range(6)
    ]
    columns = {"day": days, "moment": moments, "y": list("aabbab")}
    expected = grown(columns)
    with connected() as connection:
        connection.execute("CREATE TABLE t (day DATE, moment TIMESTAMP, y TEXT)")
        lines = zip(map(str, days), map(str, moments), columns["y"], strict=True)
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", list(lines))
        in_file = grown(connection, table="t")
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres) as server:
        server.execute("CREATE TEMP TABLE t (day date, moment timestamp, y text)")
        for line in zip(*columns.values(), strict=True):
            server.execute("INSERT INTO t VALUES (%s, %s, %s)", line)
        on_server = grown(server, table="t")
    for found in (in_file, on_server):
        assert found.tree.schema == expected.tree.schema
        assert_same_tree(expected.tree, found.tree, whole=True)


def test_the_shell(tmp_path, capsys):
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    fill_sqlite(connection, COLUMNS)
    connection.close()
    command = ["grow", f"sqlite:///{path}", "--table", TABLE, "--target", "y"]
    assert run([*command, "--recipe", "cart"]) == 0
    assert "size ≤ 2.5" in capsys.readouterr().out
    assert run([*command[:2], "--target", "y"]) == 2
    assert "--table is needed" in capsys.readouterr().err
    assert run([*command, "--engine", "postgres"]) == 2
    assert (
        "--engine 'postgres' is not the engine of the table" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "engine, words",
    [
        (
            SparkEngine,
            """SELECT `a``b"c`, 'it\\'s \\\\ x' FROM `t` AS `spinney rows`""",
        ),
        (SqliteEngine, """SELECT "a`b""c", 'it''s \\ x' FROM "t" AS "spinney rows\""""),
    ],
)
def test_every_dialect_quotes_in_its_own_way(engine, words, monkeypatch):
    monkeypatch.setattr(engine, "max_parameters", 0)  # so that values are literals
    statement = sql.select(
        [sql.column('a`b"c'), sql.param("it's \\ x")], sql.table("t")
    )
    assert engine.__new__(engine).to_sql(statement) == (words, {})


# Faults


@pytest.fixture
def after(monkeypatch):
    """Let something happen before the n-th statement that counts or keeps."""

    def arrange(number, happens):
        execute, seen = SqlEngine.execute, []

        def watched(engine, statement):
            seen.append(statement)
            if len(seen) == number:
                happens(engine)
            return execute(engine, statement)

        monkeypatch.setattr(SqlEngine, "execute", watched)

    return arrange


@contextmanager
def in_duckdb():
    frame = pd.DataFrame(COLUMNS)
    with duckdb.connect() as connection:
        connection.from_df(frame).create("t")
        yield connection, {"data": connection.table("t"), "connection": connection}


@pytest.mark.parametrize("number", [3, 5])
def test_a_table_that_is_dropped_meanwhile(number, after):
    with in_duckdb() as (connection, how):
        after(number, lambda engine: engine._connection.execute("DROP TABLE t"))
        with pytest.raises(DataError, match="was dropped or renamed"):
            grown(**how, memory_limit=0)
        assert temporary(connection) == []


@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_leaves_nothing(fault, after):
    def happens(engine):
        assert temporary(engine._connection) != []
        raise fault

    with in_duckdb() as (connection, how):
        after(9, happens)
        with pytest.raises(fault):
            grown(**how, memory_limit=0)
        assert temporary(connection) == []


def test_a_connection_that_is_lost(postgres, after):
    psycopg = pytest.importorskip("psycopg")

    def terminate(engine):
        with psycopg.connect(postgres, autocommit=True) as other:
            number = engine._connection.info.backend_pid
            other.execute("SELECT pg_terminate_backend(%s)", [number])

    with in_postgres(postgres)(COLUMNS) as (address, how):
        after(7, terminate)
        with pytest.raises(DataError, match="connect again"):
            grown(address, **how)


def test_permission_denied(postgres):
    psycopg = pytest.importorskip("psycopg")
    with in_postgres(postgres)(COLUMNS) as (address, how):
        with psycopg.connect(postgres, autocommit=True) as server:
            server.execute("DROP ROLE IF EXISTS nobody_here")
            server.execute("CREATE ROLE nobody_here LOGIN")
        stranger = address.replace("tester@", "nobody_here@")
        with pytest.raises(DataError, match=r"permission denied.*ask for the right"):
            grown(stranger, **how)


def test_a_full_disk(postgres):
    psycopg = pytest.importorskip("psycopg")
    with in_postgres(postgres)(COLUMNS) as (address, how):
        with psycopg.connect(address) as connection:
            engine = databases.PostgresEngine(sql.table("t"), connection)
            full = psycopg.errors.DiskFull("could not extend file: No space left")
            problem, remedy = engine.explain_error(full)
        assert "No space left" in str(problem)
        assert "free space" in str(remedy)
        assert how["table"] == TABLE


def test_a_disk_that_is_too_small_for_duckdb():
    # Half of the rows are kept beside the table: with memory for neither, and no disk.
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i % 7 AS y, random() AS x0, random() AS x1, "
            "random() AS x2 FROM range(400000) AS r(i)"
        )
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET memory_limit = '24MB'")
        connection.execute("SET max_temp_directory_size = '2MB'")
        relation = connection.sql("SELECT * FROM t")
        with pytest.raises(DataError, match="free space"):
            spinney.grow(
                relation, "y", connection=connection, memory_limit=0, recipe="id3"
            )
        left = "SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'spinney%'"
        assert connection.execute(left).fetchone() == (0,)


def test_rows_that_are_read_when_the_connection_is_lost(postgres, after):
    psycopg = pytest.importorskip("psycopg")

    def terminate(engine):
        with psycopg.connect(postgres, autocommit=True) as other:
            number = engine._connection.info.backend_pid
            other.execute("SELECT pg_terminate_backend(%s)", [number])

    with in_postgres(postgres)(COLUMNS) as (address, how):
        after(5, terminate)
        with pytest.raises(DataError, match="connect again"):
            grown(address, memory_limit="1GiB", **how)


def orders_file(folder, name="shop.db"):
    connection = sqlite3.connect(folder / name)
    connection.execute("CREATE TABLE orders (x, y)")
    rows = [(i, i % 2) for i in range(9)]
    connection.executemany("INSERT INTO orders VALUES (?, ?)", rows)
    connection.commit()
    connection.close()
    return folder / name


def test_the_file_of_a_database_is_an_address(tmp_path):
    path = orders_file(tmp_path, "the shop.db")
    for data in (path, str(path)):
        assert spinney.look(data, table="orders").n_rows == 9


def test_a_duckdb_file_is_an_address(tmp_path):
    path = tmp_path / "the shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        rows = "SELECT range x, [1] l FROM range(9)"
        connection.execute(f'CREATE TABLE "my orders" AS {rows}')
    for data in (path, f"duckdb:///{path}"):
        summary = spinney.look(data, table="my orders")
        assert [column.name for column in summary.columns] == ["x"]
        assert "column 'l' has type INTEGER[] and was excluded" in str(summary)
    assert spinney.look(path, table='SELECT x FROM "my orders" LIMIT 3').n_rows == 3
    with pytest.raises(DataError, match=r"no table 'order'.*'my orders'"):
        spinney.look(path, table="order")
    with pytest.raises(ParameterError, match=r"table is needed: one of my orders"):
        spinney.look(f"duckdb:///{path}")
    with pytest.raises(DataError, match="there is no file"):
        spinney.look("duckdb:///none.duckdb", table="x")


def test_tables_of_the_user_are_named_first():
    tables = [("public", "orders"), ("app", "people"), ("pg_catalog", "pg_class")]
    with pytest.raises(DataError, match=r"known: 'orders', 'people', 'public.orders'"):
        _table_or_query("zzz", "postgres", tables)
    with pytest.raises(DataError) as error:
        _table_or_query("zzz", "postgres", tables)
    assert "pg_class" not in str(error.value)


def test_a_driver_in_the_address_is_no_matter():
    assert engine_of("postgresql+psycopg://ann@host/shop") == "postgres"
