"""Tables in databases: addresses, connections and data frames, as engines."""

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
from spinney.data.duckdb import memory_of_connections
from spinney.data.readers import opened_relation, refuse_file_options
from spinney.errors import (
    DataError,
    ParameterError,
    Setting,
    did_you_mean,
    missing_extra,
    refusal,
)
from spinney.extensions.databases.engine_columns import engine_columns, loaded
from spinney.extensions.databases.engines.postgres_engine import PostgresEngine
from spinney.extensions.databases.engines.spark_engine import SparkEngine
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.engines.sqlite_engine import (
    SqliteEngine,
    plain_cursor,
)
from spinney.extensions.databases.expressions import table as table_named
from spinney.extensions.databases.open_sql import rows_in_duckdb, rows_in_engine
from spinney.sources.rows.sampleable_rows import ColumnRoles, RemoteData, RemoteOptions

CHANGES = (
    exp.Insert,
    exp.Update,
    exp.Delete,
    exp.Merge,
    exp.Create,
    exp.Drop,
    exp.Into,
)


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """A table, or a query, of a database, and which engine that is."""

    data: Any
    engine: str
    table: str | None


@contextmanager
def opened_rows(
    data: Any,
    roles: ColumnRoles,
    wanted: RemoteOptions,
    *,
    engine: str,
    connection: Any = None,
) -> Iterator[RemoteData]:
    """Give the rows of a table in an engine of SQL, which counts them."""
    with ExitStack() as stack:
        if engine == "duckdb":
            share = wanted.budget.duckdb if wanted.budget else None
            stack.enter_context(memory_of_connections(share))
            opened = opened_relation(data, connection=connection, **roles.reading)
            rows = rows_in_duckdb(stack.enter_context(opened), roles, wanted)
        else:
            refuse_file_options(roles.format, roles.encoding)
            at = DatabaseTable(data, engine, roles.table)
            rows = _source_in_database(at, roles, wanted)
        yield stack.enter_context(rows)


@contextmanager
def _source_in_database(
    at: DatabaseTable, roles: ColumnRoles, wanted: RemoteOptions
) -> Iterator[RemoteData]:
    with open_engine(at) as engine:
        columns, cells = engine_columns(engine, roles.declared)
        markers = roles.declared.missing
        yield rows_in_engine(engine, cells, columns, roles, wanted, markers=markers)


def table_in_database(
    at: DatabaseTable, declared: Declarations, memory_limit: int | str | None = None
) -> Table:
    """Return a table of a database, read into memory."""
    with open_engine(at) as engine:
        if isinstance(engine, SqliteEngine):
            return engine.table(declared, memory_limit)
        columns, cells = engine_columns(engine, declared)
        return loaded(engine, columns, cells)


@contextmanager
def open_engine(at: DatabaseTable, *, writes: bool = False) -> Iterator[SqlEngine]:
    """Give the engine that a table is in, connected for as long as it is needed."""
    if isinstance(at.data, str):
        opened = (
            _postgres(at.data)
            if at.engine == "postgres"
            else _sqlite(at.data, writes=writes)
        )
        with (
            opened as connection,
            open_engine(replace(at, data=connection)) as connected,
        ):
            yield connected
        return
    if at.engine == "spark":
        if at.table is not None:
            msg = ": a Spark data frame is a table by itself"
            raise ParameterError(Setting("table"), msg, remedy="leave it out")
        engine: SqlEngine = SparkEngine(at.data)
    elif at.engine == "sqlite":
        names = names_in("sqlite", at.data)
        engine = SqliteEngine(_rows(at.table, "sqlite", names), at.data)
    else:
        names = names_in("postgres", at.data)
        engine = PostgresEngine(_rows(at.table, "postgres", names), at.data)
    with engine:
        yield engine


def _rows(
    wanted: str | None, dialect: str, listed: list[tuple[str, str]]
) -> exp.Table | exp.Subquery:
    """Return a table by its name, or by schema and name, or a query as a table."""
    by_name = {name[-1]: name for name in reversed(listed)}
    by_name |= {".".join(name): name for name in listed}
    if wanted is None:
        raise ParameterError(
            Setting("table"),
            " is needed: the name of a table or view, or a SELECT",
            remedy=f"one of {', '.join(sorted(n[-1] for n in listed)[:8])}"
            if listed
            else "",
        )
    if dialect == "sqlite" and wanted not in by_name:  # to it capitals are the same
        alike = [name for name in by_name if name.casefold() == wanted.casefold()]
        wanted = alike[0] if alike else wanted
    if wanted in by_name:
        return table_named(*reversed(by_name[wanted]))
    if re.match(r"\s*(select|with|values|\()\b", wanted, re.IGNORECASE):
        return _query(wanted, dialect)
    msg = f"there is no table {wanted!r} in the database"
    raise DataError(msg, remedy=did_you_mean(wanted, list(by_name)))


def _query(words: str, dialect: str) -> exp.Subquery:
    """Return a query of the user's as a table, if it only reads."""
    try:
        statements = sqlglot.parse(words, dialect=dialect)
    except SqlglotError as error:
        reason = str(error).split("\n")[0]
        raise refusal(
            Setting("table", words), f"is no query ({reason})", "check its SQL"
        ) from None
    (query, *others) = statements
    reads = isinstance(query, exp.Query) and query.find(*CHANGES) is None
    if others or not reads:
        raise refusal(
            Setting("table", words), "is not one SELECT", "give one that only reads"
        )
    assert isinstance(query, exp.Query)
    if mark := query.find(exp.Placeholder, exp.Parameter):
        raise refusal(
            Setting("table", words),
            f"has a value to be bound, {mark.sql(dialect=dialect)}",
            "write the value itself",
        )
    return query.subquery(copy=False)


def names_in(engine: str, connection: Any) -> list[tuple[str, str]]:
    """Return schema and name of all tables and views, first what a name alone means."""
    if engine == "sqlite":
        with SqliteEngine(table_named("none"), connection).translated():
            return _names_in_sqlite(plain_cursor(connection))
    # In the order of the search path, then all others.
    statement = (
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n "
        "ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') "
        "AND n.nspname NOT LIKE 'pg_toast%' AND n.nspname <> "
        "'information_schema' ORDER BY n.nspname = 'pg_catalog', "
        "array_position(current_schemas(true), n.nspname) NULLS LAST, 1, 2"
    )
    with (
        PostgresEngine(table_named("none"), connection).translated(),
        connection.transaction(),
        PostgresEngine.cursor_of(connection) as cursor,
    ):
        cursor.execute(statement)
        return [(schema, name) for schema, name in cursor.fetchall()]


def _names_in_sqlite(cursor: Any) -> list[tuple[str, str]]:
    """Return what is in the temporary, the main and the attached databases."""
    attached = [name for _, name, _ in cursor.execute("PRAGMA database_list")]
    listed = []
    for schema in ["temp", *(name for name in attached if name != "temp")]:
        master = SqliteEngine(table_named("none"), cursor.connection).written(
            table_named(
                "sqlite_temp_master" if schema == "temp" else "sqlite_master", schema
            )
        )[0]
        statement = f"SELECT name FROM {master} WHERE type IN ('table', 'view')"
        listed += [(schema, name) for (name,) in cursor.execute(statement)]
    return listed


@contextmanager
def _sqlite(address: str, *, writes: bool = False) -> Iterator[Any]:
    """Connect to a file, to read it only: ``sqlite:///near`` or ``sqlite:////far``."""
    import sqlite3
    from pathlib import Path

    path = Path(unquote(address.removeprefix("sqlite://").removeprefix("/")))
    if not path.is_file():
        msg = f"there is no file {str(path)!r}"
        remedy = "write sqlite:///file.db, or sqlite:////folder/file.db"
        raise DataError(msg, remedy=remedy)
    with SqliteEngine(table_named("none"), None).translated():  # type: ignore[arg-type]
        mode = "rw" if writes else "ro"
        uri = f"{path.resolve().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def _postgres(address: str) -> Iterator[Any]:
    """Connect to a server."""
    try:
        import psycopg
    except ImportError:
        raise missing_extra(
            what="PostgreSQL needs", library="psycopg", extra="postgres"
        ) from None
    shown = without_password(address)
    try:
        connection = psycopg.connect(address, connect_timeout=20)
    except psycopg.Error as error:
        reason = " ".join(str(error).split()).replace(address, shown)
        msg = f"cannot connect to {shown} ({reason})"
        remedy = "check host, database, user and password"
        raise DataError(msg, remedy=remedy) from None
    try:
        # All statements see the table as it was at the first of them.
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        yield connection
    finally:
        connection.close()


def without_password(address: str) -> str:
    """Return an address as it may be shown.

    >>> without_password("postgresql://ann:secret@host/db?sslmode=require")
    'postgresql://ann@host/db'
    """
    try:
        parts = urlsplit(address)
    except ValueError:  # an address of IPv6 that has no end
        return f"{address.partition('://')[0]}://…"
    user, _, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    return f"{parts.scheme}://{name}{'@' if name else ''}{host}{parts.path}"
