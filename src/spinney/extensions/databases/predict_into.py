"""Predictions made by a database and stored there as a table."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from sqlglot import exp

from spinney import registry
from spinney._support.text import ascii_lower, first_of
from spinney.data import missing_columns
from spinney.errors import ParameterError, Setting, phrase, refusal, warn
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.databases import (
    DatabaseTable,
    list_tables,
    open_engine,
)
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.models.fitted_model import FittedBase
from spinney.sources.training_data import engine_of

MAX_LISTED = 4  # column names shown in a warning


def predict_into(
    model: FittedBase,
    data: Any,
    into: str,
    *,
    table: str | None = None,
    overwrite: bool = False,
) -> int:
    """Store predictions of a table in its database; return the number of new rows.

    The new table has all columns and the predictions of ``model.export("sql")``. A
    column with the name of a prediction, as after an earlier run, is replaced with a
    warning. No row leaves the database; after an error there is no new table.

    Parameters
    ----------
    model : tree, forest, rules or clusters
    data : address or connection
        A database, as ``spinney.grow`` takes it.
    into : str
        The name of the new table, or schema and name.
    table : str, optional
        The table or view to read, or one SELECT.
    overwrite : bool
        Whether to replace an existing table. Examples
    --------
    >>> import sqlite3, spinney
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.executescript(
    ...     "CREATE TABLE shop (x, y); "
    ...     "INSERT INTO shop VALUES (1, 'a'), (2, 'a'), (3, 'b'), (4, 'b')"
    ... )
    >>> tree = spinney.grow(connection, "y", table="shop", recipe="cart")
    >>> predict_into(tree, connection, "predictions", table="shop")
    4
    >>> connection.execute('SELECT x, "predicted y" FROM predictions').fetchall()
    [(1, 'a'), (2, 'a'), (3, 'b'), (4, 'b')]
    """
    engine = engine_of(data)
    if engine is None:
        raise refusal(
            Setting("into", into),
            "stores predictions in a database, but DATA is no database",
            "give its address as DATA, such as postgresql://user@host/database",
        )

    def query(rows: str, columns: Sequence[str]) -> str:
        exported: Any = model
        keep = _without_predictions(columns, model, engine)
        return str(exported.export("sql", dialect=engine, table=rows, keep=keep))

    database_table = DatabaseTable(data, engine, table)
    return write_table(
        database_table, into, query, needed=model.asked, overwrite=overwrite
    )


def _without_predictions(columns: Sequence[str], model: Any, engine: str) -> list[str]:
    """Return the columns that are not named like predictions; warn of the others."""
    prediction_names = registry.load("operation", "names of predictions")
    replaced: list[str] = prediction_names(model, engine, columns)
    if replaced:
        listed = first_of([*map(repr, replaced)], MAX_LISTED)
        who = f"column {listed} is" if len(replaced) == 1 else f"columns {listed} are"
        warn(f"{who} replaced by the new predictions, which have the same names")
    return [name for name in columns if name not in replaced]


CAN_WRITE = ("postgres", "sqlite")


def write_table(
    database_table: DatabaseTable,
    into: str,
    query: Callable[[str, Sequence[str]], str],
    *,
    needed: Sequence[str] = (),
    overwrite: bool = False,
) -> int:
    """Store a query's result as a table; return the number of rows.

    Parameters
    ----------
    database_table : DatabaseTable
        The table that is read.
    into : str
        The name of the new table, or schema and name.
    query : function
        Returns the query as text, given the name and the columns of the rows.
    needed : sequence of str
        The columns that the query reads.
    overwrite : bool
        Whether to replace an existing table.
    """
    if database_table.engine not in CAN_WRITE:
        raise refusal(
            Setting("into", into),
            f"cannot be used with {database_table.engine}",
            f"use {' or '.join(CAN_WRITE)}, or export the model as SQL",
        )
    name, _, schema = (part[::-1] for part in into[::-1].partition("."))
    if not name or (not schema and "." in into):
        raise refusal(Setting("into", into), "is not a table name")
    # In SQLite a name alone means the main database, never an attached one.
    schema = schema or ("main" if database_table.engine == "sqlite" else "")
    target = sql.table(name, schema or None)
    with open_engine(database_table, writes=True) as engine, _transaction(engine):
        engine.purpose = "write the predictions"
        replaced = _existing_table(
            engine, database_table, target, Setting("into", into), overwrite=overwrite
        )
        view, new_name = f"spinney_{token_hex(8)}", f"spinney_new_{token_hex(8)}"
        drop = f"DROP {_create_stand_in(engine, view)} {view}"
        columns = _column_names(engine, f"SELECT * FROM {view}")
        if lacking := [name for name in needed if name not in columns]:
            raise missing_columns(lacking, columns)
        new_table = _sql(engine, sql.table(new_name, schema or None))
        words = query(view, columns)
        engine.run(f"CREATE TABLE {new_table} AS {words}")
        _rename_columns(engine, new_table, _column_names(engine, words))
        engine.run(drop)
        if replaced is not None:
            engine.run(f"DROP TABLE {_sql(engine, replaced)}")
        engine.run(f"ALTER TABLE {new_table} RENAME TO {_sql(engine, sql.table(name))}")
        (n_lines,) = engine.fetch_row(
            sql.select([sql.alias(sql.count_all(), "n")], target)
        )
    return int(n_lines)


def _existing_table(
    engine: SqlEngine,
    database_table: DatabaseTable,
    target: exp.Table,
    into: Setting,
    *,
    overwrite: bool,
) -> exp.Table | None:
    """Return the existing table to replace, or None; refuse to replace other tables."""
    tables = list_tables(database_table.engine, engine.connection)
    found = _find_table(target, tables, engine.dialect)
    if found is None:
        return None
    # A WITH name that equals a table's counts as reading that table.
    read = (
        _find_table(t, tables, engine.dialect) for t in engine.rows.find_all(exp.Table)
    )
    if found in read:
        raise ParameterError(
            into, " is also the input table", remedy="write to another one"
        )
    if not overwrite:
        raise ParameterError(
            into,
            " already exists in the database",
            remedy=phrase("name another table, or set {}", Setting("overwrite")),
        )
    return sql.table(*reversed(found))


def _find_table(
    target: exp.Table, tables: Sequence[tuple[str, str]], dialect: str
) -> tuple[str, str] | None:
    """Return schema and name of a table as the database spells them, or None."""

    def is_meant(part: exp.Expr | None, name: str) -> bool:
        if not isinstance(part, exp.Identifier):
            return part is None
        folded = dialect == "sqlite"
        written = part.name if part.quoted and not folded else ascii_lower(part.name)
        return written == (ascii_lower(name) if folded else name)

    return next(
        (
            (schema, name)
            for schema, name in tables
            if is_meant(target.this, name) and is_meant(target.args.get("db"), schema)
        ),
        None,
    )


def _create_stand_in(engine: SqlEngine, name: str) -> str:
    """Create a stand-in for the rows; return its kind, VIEW or TABLE.

    In SQLite the columns of tables, but not of views, may be named "true" or "false".
    """
    rows = _sql(engine, sql.select([exp.Star()], engine.rows))
    # PostgreSQL cannot bind values in a view; this statement has none.
    engine.run(f"CREATE TEMPORARY VIEW {name} AS {rows}")
    names = _column_names(engine, rows)
    if _column_names(engine, f"SELECT * FROM {name}") == names:
        return "VIEW"
    engine.run(f"DROP VIEW {name}")
    engine.run(f"CREATE TEMPORARY TABLE {name} AS {rows}")
    _rename_columns(engine, name, names)
    return "TABLE"


def _rename_columns(
    engine: SqlEngine, table_name: str, new_names: Sequence[str]
) -> None:
    """Give the columns of a stored query result their final names."""
    names = _column_names(engine, f"SELECT * FROM {table_name}")
    for name, new_name in zip(names, new_names, strict=True):
        if name != new_name:
            old, new = (
                _sql(engine, exp.to_identifier(n, quoted=True))
                for n in (name, new_name)
            )
            engine.run(f"ALTER TABLE {table_name} RENAME COLUMN {old} TO {new}")


def _column_names(engine: SqlEngine, query: str) -> list[str]:
    """Return the names of the columns of a query."""
    # A query may end with a comment; SQLite renames columns of subqueries.
    with engine.translated_errors():
        described = engine.connection.execute(f"{query}\nLIMIT 0").description
    return [entry[0] for entry in described]


def _sql(engine: SqlEngine, expression: exp.Expr) -> str:
    return engine.to_sql(expression)[0]


@contextmanager
def _transaction(engine: Any) -> Iterator[None]:
    """Run statements in one transaction. The PostgreSQL engine already runs in one."""
    if engine.dialect == "postgres":
        yield
        return
    begin, end, undo = "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"
    if engine.connection.in_transaction:
        mark = f"spinney_{token_hex(8)}"
        begin, end, undo = f"SAVEPOINT {mark}", f"RELEASE {mark}", f"ROLLBACK TO {mark}"
    engine.run(begin)
    try:
        yield
        engine.run(end)
    except BaseException:
        engine.run(undo)
        raise
