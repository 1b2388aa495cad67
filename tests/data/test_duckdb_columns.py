"""SQL expressions for the columns of a DuckDB relation."""

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

from spinney.data.declarations import Declarations
from spinney.data.duckdb.columns import (
    SqlColumn,
    load,
    plan,
    quote_identifier,
    translated_errors,
)
from spinney.data.duckdb.sql_text import quote_text
from spinney.errors import DataError, SpinneyNote, SpinneyWarning


@pytest.fixture
def connection():
    with duckdb.connect() as made:
        yield made


def one(connection, values, **declared):
    """Return the planned column of SELECT x from these SQL values, and its cells."""
    rows = ", ".join(f"({value})" for value in values)
    relation = connection.sql(f"SELECT x FROM (VALUES {rows}) AS t(x)")
    columns = plan(relation, Declarations(**declared))
    cells = relation.project(f"{columns[0].expression} AS cell").fetchall()
    return columns[0], [cell for (cell,) in cells], load(relation, columns)["x"]


NUMBER_FORMATS = [
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "UBIGINT",
]


@pytest.mark.parametrize("kind", [*NUMBER_FORMATS, "FLOAT", "DOUBLE", "DECIMAL(9, 3)"])
def test_numbers(connection, kind):
    column, cells, loaded = one(connection, [f"7::{kind}", "NULL"])
    assert (column.kind, column.unit) == ("numeric", None)
    assert cells == [7.0, None]
    np.testing.assert_array_equal(loaded.cells, [7.0, np.nan])


@pytest.mark.parametrize("kind", [*NUMBER_FORMATS, "FLOAT", "DOUBLE", "DECIMAL(9, 3)"])
def test_numbers_declared_nominal_are_written_as_integers(connection, kind):
    column, cells, loaded = one(
        connection, [f"7::{kind}", "NULL", f"9::{kind}"], nominal=("x",), missing=("9",)
    )
    assert cells == ["7", None, None]
    assert column.value("7") == 7
    assert loaded.levels == (7,)


def test_both_zeros_and_nan(connection):
    values = ["0.0::DOUBLE", "'-0.0'::DOUBLE", "'nan'::DOUBLE"]
    _, cells, loaded = one(connection, values)
    assert list(map(repr, cells)) == ["0.0", "0.0", "None"]
    assert not np.signbit(loaded.cells).any()
    assert one(connection, values, nominal=("x",))[1] == ["0", "0", None]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["'b'", "''", "NULL", "'?'"], ["b", None, None, None]),
        (["'b'::ENUM('b', '?')", "NULL"], ["b", None]),
        (
            ["'6ccd780c-baba-1026-9564-5b8c656024db'::UUID"],
            ["6ccd780c-baba-1026-9564-5b8c656024db"],
        ),
    ],
)
def test_texts(connection, values, expected):
    column, cells, loaded = one(connection, values, missing=("?",))
    assert column.kind == "nominal"
    assert cells == expected
    assert loaded.levels == (expected[0],)


def test_an_enumeration_declares_values_that_no_row_has(connection):
    column, _, loaded = one(connection, ["'b'::ENUM('b', 'a')", "NULL"])
    assert (column.levels, column.of_type) == (("a", "b"), True)
    assert (loaded.levels, loaded.without_rows) == (("a", "b"), ("a",))


def test_booleans(connection):
    column, cells, loaded = one(connection, ["true", "NULL", "false"])
    assert cells == ["true", None, "false"]
    assert column.value("true") is True
    assert column.text(False) == "false"
    assert loaded.levels == (False, True)
    assert one(connection, ["true", "false"], numeric=("x",))[1] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("value", "number", "unit"),
    [
        ("DATE '1970-01-03'", 2, "days since 1970-01-01"),
        ("DATE '1969-12-31'", -1, "days since 1970-01-01"),
        *(
            (f"{kind} '1970-01-01 00:01:00'", 60, "seconds since 1970-01-01T00:00:00")
            for kind in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
        ),
        (
            "TIMESTAMPTZ '1970-01-01 01:00:00+01'",
            0,
            "seconds since 1970-01-01T00:00:00",
        ),
        ("TIME '00:01:00.5'", 60.5, "seconds since midnight"),
    ],
)
def test_times(connection, value, number, unit):
    column, cells, _ = one(connection, [value, "NULL"])
    assert (column.kind, column.unit) == ("numeric", unit)
    assert cells == [number, None]


def test_times_that_are_markers_are_missing(connection):
    _, cells, _ = one(
        connection, ["DATE '9999-12-31'", "DATE '1970-01-01'"], missing=("9999-12-31",)
    )
    assert cells == [None, 0]


def test_times_declared_nominal_are_text(connection):
    assert one(connection, ["DATE '2020-01-02'"], nominal=("x",))[1] == ["2020-01-02"]
    instant = "TIMESTAMPTZ '2020-01-01 01:00:00.5+01'"
    assert one(connection, [instant], nominal=("x",))[1] == ["2020-01-01 00:00:00.5"]


@pytest.mark.parametrize("value", ["DATE 'infinity'", "TIMESTAMP '-infinity'"])
def test_times_at_infinity_are_refused(connection, value):
    with pytest.raises(DataError, match="'x' holds inf"):
        one(connection, [value])


def test_ordinal_levels_are_values_of_the_type(connection):
    column, cells, loaded = one(
        connection, ["2.0::DOUBLE", "1.0::DOUBLE"], ordinal={"x": ("1", "2", "3")}
    )
    assert column.levels == (1, 2, 3)
    assert cells == ["2", "1"]
    assert loaded.cells.tolist() == [1, 0]
    column, _, loaded = one(
        connection, ["'low'", "'high'"], ordinal={"x": ("low", "high")}
    )
    assert column.levels == loaded.levels == ("low", "high")


def test_a_level_outside_the_order_is_refused(connection):
    with pytest.raises(DataError, match=r"'x' holds 4, .*levels 1 < 2"):
        one(connection, ["1", "4"], ordinal={"x": ("1", "2")})


def test_text_declared_numeric(connection):
    _, cells, _ = one(
        connection, ["'1.5'", "''", "'-'"], numeric=("x",), missing=("-",)
    )
    assert cells == [1.5, None, None]
    with pytest.raises(DataError, match=r"holds 'a'.*missing_values=\['a'\]\)"):
        one(connection, ["'1'", "'b'", "'a'"], numeric=("x",))
    with pytest.raises(DataError, match="holds '1_0'"):
        one(connection, ["'1_0'"], numeric=("x",))


@pytest.mark.parametrize("value", ["'inf'::DOUBLE", "'-inf'::FLOAT"])
def test_infinity_is_refused(connection, value):
    with pytest.raises(DataError, match=r"'x' holds -?inf"):
        one(connection, [value])
    with pytest.raises(DataError, match=r"'x' holds -?inf"):
        one(connection, [value], nominal=("x",))


def test_large_integers_are_warned_of(connection):
    for kind in ("BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT"):
        sign = "" if kind.startswith("U") else "-"
        with pytest.warns(SpinneyWarning, match="'x' holds integers beyond"):
            one(connection, [f"({sign}{2**53 + 1})::{kind}"])
        one(connection, [f"({sign}{2**53})::{kind}"])


@pytest.mark.parametrize(
    "value",
    ["[1]", "{'a': 1}", "'x'::BLOB", "MAP {'a': 1}", "INTERVAL 1 DAY", "'{}'::JSON"],
)
def test_other_types_are_excluded_unless_declared(connection, value):
    relation = connection.sql(f"SELECT {value} AS x, 1 AS y")
    with pytest.warns(SpinneyNote, match="'x' has type .* and was excluded"):
        assert [column.name for column in plan(relation)] == ["y"]
    with pytest.raises(DataError, match=r"'x' has type .*ignore=\['x'\]"):
        plan(relation, Declarations(nominal=("x",)))
    assert len(plan(relation, Declarations(ignore=("x",)))) == 1


def test_every_column_ignored(connection):
    with pytest.raises(DataError, match="leave at least one"):
        plan(connection.sql("SELECT 1 AS x"), Declarations(ignore=("x",)))


def test_names_of_the_users_choice(connection):
    relation = connection.sql("SELECT 1 AS c0, 'x' AS c1")
    columns = plan(relation, Declarations(nominal=("a",)), names=["a", "A"])
    assert [column.name for column in columns] == ["a", "A"]
    assert load(relation, columns)["a"].levels == (1,)


def test_expressions_group_like_the_levels(connection):
    relation = connection.sql("SELECT i % 3 AS x, i AS y FROM range(10) AS r(i)")
    column, _ = plan(relation, Declarations(nominal=("x",)))
    counts = relation.aggregate(
        f"{column.expression} AS cell, count(*) AS n", column.expression
    ).fetchall()
    assert {column.value(cell): n for cell, n in counts} == {0: 4, 1: 3, 2: 3}


@given(number=st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=examples(200))
def test_text_is_the_inverse_of_value(number):
    column = SqlColumn("x", "nominal", '"x"', family="number")
    relation = duckdb.sql(f"SELECT CAST('{number!r}' AS DOUBLE) AS x")
    planned = plan(relation, Declarations(nominal=("x",)))
    ((cell,),) = relation.project(f"{planned[0].expression} AS cell").fetchall()
    assert column.value(cell) == number
    if abs(number) < 1e38:
        assert column.text(column.value(cell)) == cell


@given(text=st.text(max_size=10))
@settings(max_examples=examples(100))
def test_quoted_text_is_itself(text):
    text = text.encode("utf-8", "ignore").decode()
    assert duckdb.sql(f"SELECT {quote_text(text)} AS x").fetchall() == [(text,)]


def test_what_lies_under_a_mask_is_not_read():
    class Masked:
        def project(self, _):
            return self

        def fetchnumpy(self):
            cells = np.array(["a", "garbage"], dtype=object)
            numbers = np.ma.array([1.0, 99.0], mask=[False, True])
            texts = np.ma.array(cells, mask=[False, True])
            return {"spinney column 0": texts, "spinney column 1": numbers}

    columns = (SqlColumn("t", "nominal", '"t"'), SqlColumn("n", "numeric", '"n"'))
    table = load(Masked(), columns)
    assert table["t"].levels == ("a",)
    assert table["t"].cells.tolist() == [0, -1]
    np.testing.assert_array_equal(table["n"].cells, [1.0, np.nan])


def test_quoted_names():
    assert quote_identifier('a"; DROP TABLE b; --') == '"a""; DROP TABLE b; --"'
    with pytest.raises(DataError, match="NUL character"):
        quote_identifier("a\0b")


def test_errors_of_duckdb_are_one_line():
    with (
        pytest.raises(DataError, match="t cannot be read by DuckDB") as caught,
        translated_errors("t"),
    ):
        duckdb.sql("SELECT nothing FROM nowhere")
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__
