"""Objects that are near to what a function takes: refused by name, or simply taken."""

import sqlite3

import duckdb
import pytest

import spinney
from spinney.errors import DataError, ParameterError

SHOP = {"x": list(range(8)), "y": ["a", "b"] * 4}


def in_sqlite():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE shop (x, y)")
    rows = zip(*SHOP.values(), strict=True)
    connection.executemany("INSERT INTO shop VALUES (?, ?)", rows)
    return connection


def as_dict(cursor, row):
    names = [each[0] for each in cursor.description]
    return dict(zip(names, row, strict=True))


@pytest.mark.parametrize("factory", [None, sqlite3.Row, as_dict])
def test_rows_of_a_connection_may_be_anything(factory):
    connection = in_sqlite()
    connection.row_factory = factory
    model = spinney.grow(connection, "y", recipe="cart", table="shop")
    assert str(model) == str(spinney.grow(SHOP, "y", recipe="cart"))
    assert connection.row_factory is factory


class AsyncConnection:
    """Stands for that of psycopg."""


AsyncConnection.__module__ = "psycopg.connection_async"


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        (in_sqlite().cursor(), "give the connection that it is of"),
        (duckdb.connect(), r"give a relation: connection\.table\('name'\)"),
        (AsyncConnection(), "give a psycopg.Connection, which is not async"),
    ],
)
@pytest.mark.parametrize("table", [None, "shop"])
def test_what_is_nearly_a_connection(data, remedy, table):
    with pytest.raises(DataError, match=f"is not a table: {remedy}"):
        spinney.grow(data, "y", table=table)


@pytest.mark.parametrize("data", [in_sqlite(), "sqlite:///shop.db", SHOP])
def test_a_table_is_a_text(data):
    with pytest.raises(ParameterError, match="table=3 is not text: give the name"):
        spinney.grow(data, "y", table=3)


@pytest.mark.parametrize("address", ["postgresql://[", "postgresql://a:b@[::1/db"])
def test_an_address_without_an_end(address):
    pytest.importorskip("psycopg")
    with pytest.raises(DataError, match="cannot connect to postgresql://…") as error:
        spinney.grow(address, "y", table="t")
    assert "a:b" not in str(error.value)


def test_a_lesson_of_what_is_no_tree():
    model = spinney.grow(SHOP, "y", recipe="id3")
    for pruned in (3, "model.spinney", model.tree):
        with pytest.raises(ParameterError, match="is not a tree: pass what"):
            model.lesson(SHOP, pruned=pruned)


@pytest.mark.parametrize("model", [3, "model.spinney", None])
def test_a_score_of_what_is_no_model(model):
    with pytest.raises(ParameterError, match=r"model=.* has no target") as error:
        spinney.score(model, SHOP)
    assert error.value.parameter == "model"
