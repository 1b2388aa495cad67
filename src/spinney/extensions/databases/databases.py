"""Open the SQL engine of a database address, connection or Spark data frame."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote, urlsplit

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from spinney.data import Declarations, Table
from spinney.data.duckdb import connection_memory_limit
from spinney.data.readers import opened_relation, refuse_file_options
from spinney.errors import (
    DataError,
    ParameterError,
    Setting,
    did_you_mean,
    missing_extra,
    refusal,
)
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engine_columns import engine_columns, load_table
from spinney.extensions.databases.engines.postgres_engine import PostgresEngine
from spinney.extensions.databases.engines.spark_engine import SparkEngine
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.engines.sqlite_engine import (
    SqliteEngine,
    plain_cursor,
)
from spinney.extensions.databases.open_sql import rows_in_duckdb, rows_in_engine
from spinney.sources.rows.sampleable_rows import ColumnRoles, RemoteData, RemoteOptions

WRITING_STATEMENTS = (
    exp.Insert,
    exp.Update,
    exp.Delete,
    exp.Merge,
    exp.Create,
    exp.Drop,
    exp.Into,
)


_CATALOGUES = ("pg_catalog", "information_schema")


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """A table or query in a database, with the name of its engine."""

    data: Any
    engine: str
    table: str | None


@contextmanager
def opened_rows(
    data: Any,
    roles: ColumnRoles,
    options: RemoteOptions,
    *,
    engine: str,
    connection: Any = None,
) -> Iterator[RemoteData]:
    """Yield the training data of a table in a SQL engine."""
    with ExitStack() as stack:
        if engine == "duckdb":
            n_bytes = options.budget.duckdb if options.budget else None
            stack.enter_context(connection_memory_limit(n_bytes))
            opened = opened_relation(data, connection=connection, **roles.reading)
            rows = rows_in_duckdb(stack.enter_context(opened), roles, options)
            yield stack.enter_context(rows)
        else:
            refuse_file_options(roles.format, roles.encoding)
            database_table = DatabaseTable(data, engine, roles.table)
            database = stack.enter_context(open_engine(database_table))
            columns, cells = engine_columns(database, roles.declared)
            yield rows_in_engine(
                database, cells, columns, roles, options, markers=roles.declared.missing
            )


def table_in_database(
    database_table: DatabaseTable,
    declared: Declarations,
    memory_limit: int | str | None = None,
) -> Table:
    """Return a database table, read into memory."""
    with open_engine(database_table) as engine:
        if isinstance(engine, SqliteEngine):
            return engine.table(declared, memory_limit)
        columns, cells = engine_columns(engine, declared)
        return load_table(engine, columns, cells)


@contextmanager
def open_engine(
    database_table: DatabaseTable, *, writes: bool = False
) -> Iterator[SqlEngine]:
    """Yield the connected engine of a table; disconnect at the end."""
    if isinstance(database_table.data, str):
        opened = (
            _connect_postgres(database_table.data)
            if database_table.engine == "postgres"
            else _connect_sqlite(database_table.data, writes=writes)
        )
        with (
            opened as connection,
            open_engine(replace(database_table, data=connection)) as connected,
        ):
            yield connected
        return
    if database_table.engine == "spark":
        if database_table.table is not None:
            msg = ": a Spark data frame is already a table"
            raise ParameterError(Setting("table"), msg, remedy="leave it out")
        engine: SqlEngine = SparkEngine(database_table.data)
    elif database_table.engine == "sqlite":
        names = list_tables("sqlite", database_table.data)
        engine = SqliteEngine(
            _table_or_query(database_table.table, "sqlite", names), database_table.data
        )
    else:
        names = list_tables("postgres", database_table.data)
        engine = PostgresEngine(
            _table_or_query(database_table.table, "postgres", names),
            database_table.data,
        )
    with engine:
        yield engine


def _table_or_query(
    requested: str | None, dialect: str, tables: list[tuple[str, str]]
) -> exp.Table | exp.Subquery:
    """Return a table by its name, or by schema and name, or a query as a table."""
    by_name: dict[str, tuple[str, str]] = {}
    for name in tables:  # those of the user come first
        by_name.setdefault(name[-1], name)
    by_name |= {".".join(name): name for name in tables}
    if requested is None:
        raise ParameterError(
            Setting("table"),
            " is needed: the name of a table or view, or a SELECT",
            remedy=f"one of {', '.join(sorted(n[-1] for n in tables)[:8])}"
            if tables
            else "",
        )
    if dialect == "sqlite" and requested not in by_name:  # SQLite ignores case
        alike = [name for name in by_name if name.casefold() == requested.casefold()]
        requested = alike[0] if alike else requested
    if requested in by_name:
        return sql.table(*reversed(by_name[requested]))
    if re.match(r"\s*(select|with|values|\()\b", requested, re.IGNORECASE):
        return _parse_query(requested, dialect)
    msg = f"there is no table {requested!r} in the database"
    known = [name for name, (schema, _) in by_name.items() if schema not in _CATALOGUES]
    raise DataError(msg, remedy=did_you_mean(requested, known))


def _parse_query(words: str, dialect: str) -> exp.Subquery:
    """Return the user's query as a subquery; refuse a query that writes."""
    try:
        statements = sqlglot.parse(words, dialect=dialect)
    except SqlglotError as error:
        reason = str(error).split("\n")[0]
        raise refusal(
            Setting("table", words), f"is not a valid query ({reason})", "check its SQL"
        ) from None
    (query, *others) = statements
    reads = isinstance(query, exp.Query) and query.find(*WRITING_STATEMENTS) is None
    if others or not reads:
        raise refusal(
            Setting("table", words), "is not a single SELECT", "give one SELECT"
        )
    assert isinstance(query, exp.Query)
    if mark := query.find(exp.Placeholder, exp.Parameter):
        raise refusal(
            Setting("table", words),
            f"contains the parameter {mark.sql(dialect=dialect)}",
            "write its value instead",
        )
    return query.subquery(copy=False)


def list_tables(engine: str, connection: Any) -> list[tuple[str, str]]:
    """Return (schema, name) of all tables and views, in search-path order."""
    if engine == "sqlite":
        with SqliteEngine(sql.table("none"), connection).translated_errors():
            return _list_sqlite_tables(plain_cursor(connection))
    # The search path first, then all other schemas.
    statement = (
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n "
        "ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') "
        "AND n.nspname NOT LIKE 'pg_toast%' AND n.nspname <> "
        "'information_schema' ORDER BY n.nspname = 'pg_catalog', "
        "array_position(current_schemas(true), n.nspname) NULLS LAST, 1, 2"
    )
    with (
        PostgresEngine(sql.table("none"), connection).translated_errors(),
        connection.transaction(),
        PostgresEngine.cursor_of(connection) as cursor,
    ):
        cursor.execute(statement)
        return [(schema, name) for schema, name in cursor.fetchall()]


def _list_sqlite_tables(cursor: Any) -> list[tuple[str, str]]:
    """Return (schema, name) of the temporary, main and attached tables and views."""
    attached = [name for _, name, _ in cursor.execute("PRAGMA database_list")]
    tables = []
    for schema in ["temp", *(name for name in attached if name != "temp")]:
        master = SqliteEngine(sql.table("none"), cursor.connection).to_sql(
            sql.table(
                "sqlite_temp_master" if schema == "temp" else "sqlite_master", schema
            )
        )[0]
        statement = f"SELECT name FROM {master} WHERE type IN ('table', 'view')"
        tables += [(schema, name) for (name,) in cursor.execute(statement)]
    return tables


@contextmanager
def _connect_sqlite(address: str, *, writes: bool = False) -> Iterator[Any]:
    """Connect to a file: ``sqlite:///relative`` or ``sqlite:////absolute``."""
    import sqlite3
    from pathlib import Path

    path = Path(unquote(address.removeprefix("sqlite://").removeprefix("/")))
    if not path.is_file():
        msg = f"there is no file {str(path)!r}"
        remedy = "write sqlite:///file.db, or sqlite:////folder/file.db"
        raise DataError(msg, remedy=remedy)
    with SqliteEngine(sql.table("none"), None).translated_errors():  # type: ignore[arg-type]
        mode = "rw" if writes else "ro"
        uri = f"{path.resolve().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def _connect_postgres(address: str) -> Iterator[Any]:
    """Connect to a PostgreSQL server."""
    try:
        import psycopg
    except ImportError:
        raise missing_extra(
            what="PostgreSQL needs", library="psycopg", extra="postgres"
        ) from None
    shown = without_password(address)
    try:
        # The driver, as SQLAlchemy names it, is no part of the address.
        plain = re.sub(r"^(postgres(?:ql)?)\+\w+://", r"\1://", address)
        connection = psycopg.connect(plain, connect_timeout=20)
    except psycopg.Error as error:
        reason = " ".join(str(error).split()).replace(address, shown)
        msg = f"cannot connect to {shown} ({reason})"
        remedy = "check host, database, user and password"
        raise DataError(msg, remedy=remedy) from None
    try:
        # All statements see the same snapshot of the table.
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        yield connection
    finally:
        connection.close()


def without_password(address: str) -> str:
    """Return an address without its password.

    >>> without_password("postgresql://ann:secret@host/db?sslmode=require")
    'postgresql://ann@host/db'
    """
    try:
        parts = urlsplit(address)
    except ValueError:  # an IPv6 address without its closing bracket
        return f"{address.partition('://')[0]}://…"
    user, _, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    return f"{parts.scheme}://{name}{'@' if name else ''}{host}{parts.path}"
