"""Predictions that a database makes: what the model says, all of it or nothing."""

import sqlite3

import pytest
from tests.helpers.database_tables import TABLE, fill_sqlite, in_postgres, quoted

import spinney
from spinney.cli import run
from spinney.errors import DataError, ParameterError, SpinneyWarning
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.predict_into import predict_into

COLUMNS = {
    "size": [1.0, 2.0, 3.0, 4.0, 5.0, None],
    "colour": ["red", "red", "blue", "blue", "red", None],
    "y": ["a", "a", "b", "b", "b", "a"],
}
INTO = 'what "follows"; DROP TABLE x; --'


@pytest.fixture
def connection():
    connected = sqlite3.connect(":memory:")
    fill_sqlite(connected, COLUMNS)
    yield connected
    connected.close()


def names(connection):
    listed = connection.execute(
        "SELECT name FROM sqlite_master UNION ALL SELECT name FROM sqlite_temp_master"
    )
    return sorted(name for (name,) in listed)


def predicted(model):
    return [str(each) for each in model.predict(COLUMNS)]


@pytest.mark.parametrize("kind", ["tree", "forest", "rules"])
def test_a_database_predicts_what_the_model_does(kind, connection, tmp_path, postgres):
    if kind in ("tree", "rules"):
        model = spinney.grow(COLUMNS, "y", recipe="c4.5", min_samples_leaf=1)
        if kind == "rules":
            model = model.ruleset(COLUMNS)
    else:
        model = spinney.grow_forest(COLUMNS, "y", n_estimators=3, random_state=0)
    expected = predicted(model)
    assert predict_into(model, connection, INTO, table=TABLE) == 6
    asked = f'SELECT "predicted y" FROM {quoted(INTO)} ORDER BY rowid'
    assert [label for (label,) in connection.execute(asked)] == expected
    assert names(connection) == sorted([TABLE, INTO])
    with in_postgres(postgres)(COLUMNS) as (address, how):
        assert predict_into(model, address, INTO, overwrite=True, **how) == 6
        import psycopg

        with psycopg.connect(address) as server:
            lines = server.execute(
                f'SELECT size, "predicted y" FROM {quoted(INTO)}'.encode()
            ).fetchall()
            server.execute(f"DROP TABLE {quoted(INTO)}".encode())
    assert dict(lines) == dict(zip(COLUMNS["size"], expected, strict=True))


def test_a_query_is_read_and_a_table_is_replaced_only_if_told(connection):
    model = spinney.grow(COLUMNS, "y", recipe="cart")
    part = f"SELECT * FROM {quoted(TABLE)} WHERE size < 4"
    assert predict_into(model, connection, "p", table=part) == 3
    with pytest.raises(
        ParameterError, match=r"already exists in the database.*set overwrite"
    ):
        predict_into(model, connection, "p", table=TABLE)
    assert connection.execute("SELECT count(*) FROM p").fetchone() == (3,)
    assert predict_into(model, connection, "p", table=TABLE, overwrite=True) == 6
    with pytest.raises(ParameterError, match="is also the input table"):
        predict_into(model, connection, TABLE, table=TABLE, overwrite=True)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM orders",
        "SELECT * FROM ORDERS",
        'SELECT * FROM main."Orders" AS o',
        "SELECT * FROM (SELECT * FROM orders WHERE size > 1) AS inside",
        "WITH some AS (SELECT * FROM orders) SELECT * FROM some",
        "SELECT * FROM few WHERE size IN (SELECT size FROM orders)",
        "SELECT * FROM seen",
    ],
)
def test_no_table_that_a_query_reads_is_replaced(query, connection):
    connection.execute(f"CREATE TABLE orders AS SELECT * FROM {quoted(TABLE)}")
    connection.execute("CREATE TABLE few AS SELECT * FROM orders LIMIT 2")
    if "seen" in query:  # SQLite itself keeps what a view reads
        connection.execute("CREATE VIEW seen AS SELECT * FROM orders")
    model = spinney.grow(COLUMNS, "y", recipe="cart")
    before = names(connection)
    for into in ("orders", "Orders", "main.orders"):
        with pytest.raises(DataError if "seen" in query else ParameterError) as refused:
            predict_into(model, connection, into, table=query, overwrite=True)
        if "seen" not in query:
            assert f"into={into!r} is also the input table" in str(refused.value)
    assert connection.execute("SELECT count(*) FROM orders").fetchone() == (6,)
    assert names(connection) == before


@pytest.mark.parametrize("recipe", ["cart", "c4.5"])
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_the_table_of_an_earlier_run_is_predicted_anew(
    engine, recipe, connection, request
):
    """Its columns leaf, p(a) and predicted y were taken for what the query makes."""
    model = spinney.grow(COLUMNS, "y", recipe=recipe)
    made = f"p({predicted(model)[0]})"
    old = {
        **COLUMNS,
        "id": [float(at) for at in range(6)],
        "leaf": [float(at % 3) for at in range(6)],
        made: [0.5] * 6,
        "predicted y": ["old"] * 6,
        "t": ["x"] * 6,
        "q": ["y"] * 6,
    }
    words = f"columns '{made}'.*'predicted y' are replaced by the new predictions"
    words = words.replace("(", r"\(").replace(")", r"\)")
    asked = f'SELECT "predicted y", "{made}", leaf, t FROM "scored" ORDER BY id'
    if engine == "sqlite":
        connection.execute(f"DROP TABLE {quoted(TABLE)}")
        fill_sqlite(connection, old)
        with pytest.warns(SpinneyWarning, match=words):
            predict_into(model, connection, "scored", table=TABLE)
        lines = connection.execute(asked).fetchall()
    else:
        import psycopg

        with in_postgres(request.getfixturevalue("postgres"))(old) as (address, how):
            with pytest.warns(SpinneyWarning, match=words):
                predict_into(model, address, "scored", **how)
            with psycopg.connect(address) as server:
                lines = server.execute(asked.encode()).fetchall()
                server.execute("DROP TABLE scored")
    labels, shares, leaves, texts = zip(*lines, strict=True)
    assert [*labels] == predicted(model)
    classes = [f"p({each})" for each in model.schema.target.classes]
    expected = model.outputs(COLUMNS)[:, classes.index(made)]
    assert [*shares] == pytest.approx(expected)
    assert [*leaves] == old["leaf"]
    assert [*texts] == old["t"]


@pytest.mark.parametrize("mark", [":n", "?", "@n"])
def test_a_query_that_waits_for_a_value_is_refused(mark, connection):
    model = spinney.grow(COLUMNS, "y", recipe="cart")
    query = f"SELECT * FROM {quoted(TABLE)} WHERE size > {mark}"
    words = rf"contains the parameter \{mark}: write its value instead"
    with pytest.raises(ParameterError, match=words) as refused:
        predict_into(model, connection, "p", table=query)
    assert refused.value.parameter == "table"
    with pytest.raises(ParameterError, match=words):
        spinney.grow(connection, "y", table=query)
    quoted_mark = query.replace(mark, f"'{mark}'")  # a text is none
    assert predict_into(model, connection, "p", table=quoted_mark) == 0


def test_a_name_with_its_schema_is_replaced_there_alone(connection):
    model = spinney.grow(COLUMNS, "y", recipe="cart")
    connection.execute("ATTACH ':memory:' AS other")
    connection.execute("CREATE TABLE other.p AS SELECT 1 AS one")
    assert predict_into(model, connection, "p", table=TABLE) == 6
    assert connection.execute("SELECT * FROM other.p").fetchall() == [(1,)]
    with pytest.raises(
        ParameterError, match=r"into='main.p' already exists in the database"
    ):
        predict_into(model, connection, "main.p", table=TABLE)
    part = f"SELECT * FROM main.{quoted(TABLE)} WHERE size < 4"
    assert predict_into(model, connection, "main.p", table=part, overwrite=True) == 3
    assert predict_into(model, connection, "other.p", table=TABLE, overwrite=True) == 6
    assert connection.execute("SELECT count(*) FROM main.p").fetchone() == (3,)
    # Reading one p and writing the other takes nothing away.
    with pytest.warns(SpinneyWarning, match="are replaced by the new predictions"):
        assert (
            predict_into(model, connection, "p", table="other.p", overwrite=True) == 6
        )


def test_a_server_replaces_no_table_that_a_query_reads(postgres):
    model = spinney.grow(COLUMNS, "y", recipe="cart")
    with in_postgres(postgres)(COLUMNS) as (address, _):
        import psycopg

        with psycopg.connect(address, autocommit=True) as server:
            server.execute(
                f"CREATE TABLE orders AS SELECT * FROM {quoted(TABLE)}".encode()
            )
            try:
                for query in ("SELECT * FROM Orders", "SELECT * FROM public.orders"):
                    for into in ("orders", "public.orders"):
                        with pytest.raises(
                            ParameterError, match="also the input table"
                        ):
                            predict_into(
                                model, address, into, table=query, overwrite=True
                            )
                assert server.execute("SELECT count(*) FROM orders").fetchone() == (6,)
            finally:
                server.execute("DROP TABLE orders")


@pytest.mark.parametrize("words", ["CREATE TABLE", "DROP VIEW", "ALTER TABLE"])
def test_what_fails_leaves_nothing(words, connection, monkeypatch):
    model = spinney.grow(COLUMNS, "y", recipe="cart")
    predict_into(model, connection, "p", table=TABLE)
    before = connection.execute("SELECT * FROM p").fetchall()
    run_statement = SqlEngine.run

    def failing(engine, statement):
        if statement.startswith(words):
            with engine.translated_errors():
                raise sqlite3.OperationalError("database or disk is full")
        run_statement(engine, statement)

    monkeypatch.setattr(SqlEngine, "run", failing)
    with pytest.raises(DataError, match=r"SQLite cannot write.*free space"):
        predict_into(model, connection, "p", table=TABLE, overwrite=True)
    assert names(connection) == sorted([TABLE, "p"])
    assert connection.execute("SELECT * FROM p").fetchall() == before


def test_a_column_that_is_not_there(connection):
    model = spinney.grow({**COLUMNS, "other": list("qqrrrq")}, "y", recipe="cart")
    connection.execute("CREATE TABLE few AS SELECT 1 AS colour")
    with pytest.raises(DataError, match=r"needs the column.*size"):
        predict_into(model, connection, "p", table="few")
    assert "p" not in names(connection)


def test_the_shell(tmp_path, capsys):
    path, model = tmp_path / "shop.db", tmp_path / "m.spinney"
    connection = sqlite3.connect(path)
    fill_sqlite(connection, COLUMNS)
    spinney.grow(COLUMNS, "y", recipe="cart").save(model)
    command = ["predict", str(model), f"sqlite:///{path}", "--table", TABLE]
    assert run([*command, "--into", "p"]) == 0
    assert "6 rows written to the table p" in capsys.readouterr().err
    assert connection.execute("SELECT count(*) FROM p").fetchone() == (6,)
    assert run([*command, "--into", "p"]) == 2
    assert "or set --overwrite" in capsys.readouterr().err
    assert run([*command, "--into", "p", "--overwrite"]) == 0
    assert run([*command, "--into", "q", "--leaf"]) == 2
    assert "--leaf cannot be used with --into" in capsys.readouterr().err
    assert run(command) == 2
    assert "needs --into" in capsys.readouterr().err
    assert run(["predict", str(model), "new.csv", "--into", "p"]) == 2
    assert "stores predictions in a database" in capsys.readouterr().err
    connection.close()


@pytest.mark.parametrize(
    ("recipe", "target"),
    [("cart", "y"), ("c4.5", "y"), ("cart", "size"), ("m5", "size")],
)
def test_columns_named_true_and_false_keep_their_names(recipe, target):
    """SQLite calls such a column of a view or of a subquery by a number."""
    columns = {
        "true": [float(at % 7) for at in range(40)],
        "column2": [str(at % 3) for at in range(40)],
        "False": [float(at % 5) for at in range(40)],
    }
    size = [3.5 * a + b for a, b in zip(columns["true"], columns["False"], strict=True)]
    data = {**columns, "y": ["b" if each > 9 else "a" for each in size], "size": size}
    del data["size" if target == "y" else "y"]
    connection = sqlite3.connect(":memory:")
    fill_sqlite(connection, data)
    model = spinney.grow(data, target, recipe=recipe, nominal=["column2"])
    assert {"true", "False"} & {*model.asked}
    assert predict_into(model, connection, "predictions", table=TABLE) == 40
    asked = 'SELECT t."true", t."column2", t."False" FROM predictions AS t'
    lines = [*zip(*columns.values(), strict=True)]
    assert connection.execute(asked).fetchall() == lines
    query = model.export("sql", dialect="sqlite", table=TABLE, keep=[*columns])
    for words in (query, "SELECT * FROM predictions"):
        cursor = connection.execute(words)
        names = [each[0] for each in cursor.description]
        assert {*columns} <= {*names}
        at = names.index(f"predicted {target}")
        expected = list(model.predict(data))
        exactly = expected if target == "y" else pytest.approx(expected)
        assert [line[at] for line in cursor] == exactly
    listed = connection.execute("SELECT name FROM sqlite_temp_master").fetchall()
    connection.close()
    assert listed == []
