"""A user's table and its engine, checked before reading."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote, unquote

from spinney import registry
from spinney._support.checks import check_named
from spinney.data import Declarations, declarations_of
from spinney.data.duckdb import is_relation, quote_identifier
from spinney.errors import DataError, ParameterError, Setting, did_you_mean, refusal
from spinney.sources.rows.training_rows import NO_TARGET

ENGINES = ("memory", *registry.ENTRIES["engine"])
ENGINE_BY_SCHEME = {
    "postgresql": "postgres",
    "postgres": "postgres",
    "sqlite": "sqlite",
}
# Classes of other libraries by module and name, so that no library is imported.
ENGINE_BY_CLASS = {
    ("psycopg", "Connection"): "postgres",
    ("sqlite3", "Connection"): "sqlite",
    ("pyspark.sql", "DataFrame"): "spark",
    ("dask.dataframe", "DataFrame"): "dask",
}
IN_DATABASES = ("postgres", "sqlite", "spark")

# Unsupported classes, and what to give instead.
UNSUPPORTED = {
    ("psycopg", "AsyncConnection"): "give a psycopg.Connection, which is not async",
    ("psycopg", "AsyncCursor"): "give a psycopg.Connection, which is not async",
    ("psycopg", "Cursor"): "give the connection that it is of",
    ("sqlite3", "Cursor"): "give the connection that it is of",
    ("_duckdb", "DuckDBPyConnection"): "give a relation: connection.table('name')",
    ("duckdb", "DuckDBPyConnection"): "give a relation: connection.table('name')",
}

# Parameters of public functions that declare columns, and that choose the engine and
# the format.
DECLARATION_PARAMETERS = (
    *("nominal", "ordinal", "numeric", "ignore", "values"),
    *("missing_values", "text_format"),
)
INPUT_PARAMETERS = (
    *("weight", "engine", "connection", "table"),
    *("memory_limit", "format", "encoding"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInput:
    """A table to learn from, with its declarations and engine, checked.

    Parameters
    ----------
    data : object
        A file, a frame, an array, a relation, an address or a connection.
    target, weight : str, optional
        The column to predict, if any, and the column of row weights.
    declarations : Declarations
        The declarations of the columns.
    engine : str, optional
        The engine that counts rows, one of ``ENGINES``. By default the engine of the
        data, or memory.
    connection : DuckDB connection, optional
        The connection of a relation.
    table : str, optional
        The table of a database, or a query.
    memory_limit : int or str, optional
        The memory limit of this process if an engine counts the rows
        (``MemoryBudget``); it includes DuckDB if DuckDB reads a file.
    format, encoding : str, optional
        Those of a file.

    Attributes
    ----------
    data_engine : str, optional
        The engine that the data names or belongs to.
    is_remote : bool
        Whether an engine counts the rows.
    """

    data: Any
    target: str = NO_TARGET
    weight: str | None = None
    declarations: Declarations = field(default_factory=Declarations)
    engine: str | None = None
    connection: Any = None
    table: str | None = None
    memory_limit: int | str | None = None
    format: str | None = None
    encoding: str | None = None
    data_engine: str | None = field(init=False)
    is_remote: bool = field(init=False)

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """Return the table that the arguments of a public function describe."""
        declared = {
            name: arguments[name]
            for name in DECLARATION_PARAMETERS
            if name in arguments
        }
        names = ("data", "target", *INPUT_PARAMETERS)
        options = {name: arguments[name] for name in names if name in arguments}
        return cls(declarations=declarations_of(**declared), **options)

    def __post_init__(self) -> None:
        """Refuse options that do not fit the data, and set the engine."""
        object.__setattr__(self, "data", database_address(self.data, self.table))
        if (relation := duckdb_relation(self.data, self.table)) is not None:
            object.__setattr__(self, "data", relation)
            object.__setattr__(self, "table", None)
        engine, table = self.engine, self.table
        if engine is not None and engine not in ENGINES:
            check_named("engine", engine, ("memory", *registry.names("engine")))
        data_engine = engine_of(self.data)
        if data_engine is not None and engine not in (None, "memory", data_engine):
            raise refusal(
                Setting("engine", engine),
                f"is not the engine of the table, {data_engine}",
                "leave it out",
            )
        if data_engine is None and engine in IN_DATABASES:
            raise refusal(
                Setting("engine", engine),
                "needs a table there",
                "give its address (postgresql://user@host/database or "
                "sqlite:///file.db), a connection, or a Spark data frame",
            )
        if table is not None and not isinstance(table, str):
            raise refusal(
                Setting("table", table),
                "is not text",
                "give the name of a table, or a SELECT",
            )
        in_database = data_engine in IN_DATABASES
        if not in_database and table is not None and engine in (None, *ENGINES):
            raise refusal(
                Setting("table", table),
                "applies only to a database",
                "remove it for other data",
            )
        related = is_relation(self.data)
        elsewhere = engine not in (None, "memory", *IN_DATABASES)
        elsewhere |= engine is None and related
        if self.connection is not None and not (elsewhere and related):
            msg = "connection= applies only to a DuckDB relation: remove it for other "
            raise ParameterError(msg + "data")
        stays = data_engine not in (None, "sqlite") and engine != "memory"
        object.__setattr__(self, "data_engine", data_engine)
        object.__setattr__(self, "is_remote", elsewhere or stays)


def database_address(data: Any, table: str | None) -> Any:
    """Return the address of an engine of SQLAlchemy, or of the file of a database.

    >>> database_address("orders.csv", None)
    'orders.csv'
    """
    if _lookup_class(data, {("sqlalchemy.engine", "Engine"): "engine"}):
        return data.url.render_as_string(hide_password=False)
    if table is None or not isinstance(data, str | os.PathLike) or "://" in str(data):
        return data
    with suppress(OSError), open(data, "rb") as file:
        start = file.read(16)
        if start.startswith(b"SQLite format 3"):
            return f"sqlite:///{quote(os.path.abspath(data))}"
        if start[8:12] == b"DUCK":
            return f"duckdb:///{quote(os.path.abspath(data))}"
    return data


def duckdb_relation(data: Any, table: str | None) -> Any:
    """Return the relation of a table, or a query, in a DuckDB file; else None."""
    if not isinstance(data, str) or not data.startswith("duckdb://"):
        return None
    import duckdb

    path = unquote(data.removeprefix("duckdb://").removeprefix("/"))
    if not os.path.isfile(path):
        msg = f"there is no file {path!r}"
        raise DataError(msg, remedy="write duckdb:///file.duckdb")
    try:
        connection = duckdb.connect(path, read_only=True)
        names = [name for (name,) in connection.execute("SHOW TABLES").fetchall()]
        if table is not None and table in names:
            return connection.table(quote_identifier(table))
        if table is not None and re.match(r"\s*(select|with|from)\b", table, re.I):
            return connection.sql(table)
    except duckdb.Error as error:
        msg = f"{path!r} cannot be read by DuckDB ({str(error).splitlines()[0]})"
        raise DataError(msg, remedy="check the file, or the query") from None
    if table is None:
        tables = f"one of {', '.join(names[:8])}"
        raise ParameterError(Setting("table"), " is needed", remedy=tables)
    msg = f"there is no table {table!r} in the database"
    raise DataError(msg, remedy=did_you_mean(table, names))


def engine_of(data: Any) -> str | None:
    """Return the engine that data names or belongs to, None if there is none.

    >>> engine_of("sqlite:///orders.db"), engine_of("orders.csv")
    ('sqlite', None)
    """
    if isinstance(data, str):
        scheme, mark, _ = data.partition("://")
        return ENGINE_BY_SCHEME.get(scheme.partition("+")[0]) if mark else None
    if remedy := _lookup_class(data, UNSUPPORTED):
        msg = f"data of type {type(data).__name__} is not a table"
        raise DataError(msg, remedy=remedy)
    return _lookup_class(data, ENGINE_BY_CLASS)


def _lookup_class(data: Any, by_class: Mapping[tuple[str, str], str]) -> str | None:
    """Return the entry for the class of an object, or for a base class."""
    for kind in type(data).__mro__:
        for (module, name), listed in by_class.items():
            inside = f"{kind.__module__}.".startswith(f"{module}.")
            if inside and kind.__name__ == name:
                return listed
    return None
