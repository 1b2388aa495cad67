"""Opening rows: a table is read into memory, a relation is counted where it is."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from spinney import registry
from spinney._support.checks import check_named
from spinney._support.memory_room import MemoryBudget, bytes_of, usual_room
from spinney.data import Declarations, Fingerprint, Schema, Table
from spinney.data.duckdb import is_relation
from spinney.data.readers import read_table, refuse_file_options
from spinney.errors import DataError, ParameterError, Setting, phrase, refusal
from spinney.sources.base import Counts
from spinney.sources.rows.hashed_rows import HashedRows, Reserves, Roles, Wanted
from spinney.sources.rows.training_rows import TrainingSet, check_roles, rows_in_memory

SOURCES = ("memory", *registry.ENTRIES["engine"])
ADDRESSES = {"postgresql": "postgres", "postgres": "postgres", "sqlite": "sqlite"}
# Classes of other libraries by module and name, so that none of these is imported.
CLASSES = {
    ("psycopg", "Connection"): "postgres",
    ("sqlite3", "Connection"): "sqlite",
    ("pyspark.sql", "DataFrame"): "spark",
    ("dask.dataframe", "DataFrame"): "dask",
}
IN_DATABASES = ("postgres", "sqlite", "spark")

# What is near to one of these, and what to give instead.
NEAR = {
    ("psycopg", "AsyncConnection"): "give a psycopg.Connection, which is not async",
    ("psycopg", "AsyncCursor"): "give a psycopg.Connection, which is not async",
    ("psycopg", "Cursor"): "give the connection that it is of",
    ("sqlite3", "Cursor"): "give the connection that it is of",
    ("_duckdb", "DuckDBPyConnection"): "give a relation: connection.table('name')",
    ("duckdb", "DuckDBPyConnection"): "give a relation: connection.table('name')",
}


@dataclass(frozen=True)
class OpenedSource:
    """Rows that trees can be grown on.

    Parameters
    ----------
    training : TrainingSet, optional
        The rows, where they are at hand.
    counted : Counts, optional
        What counts them, where they are not.
    origin : Fingerprint, optional
        What tells rows of an engine from others, whether they were read or not.
    reserved : TrainingSet, optional
        Rows of an engine that were reserved, and are not among these.
    hashed : HashedRows, optional
        The rows with their numbers, where these were asked for.
    """

    training: TrainingSet | None = None
    counted: Counts | None = None
    origin: Fingerprint | None = None
    reserved: TrainingSet | None = None
    hashed: HashedRows | None = None

    @property
    def is_away(self) -> bool:
        """Whether the rows are those of an engine, which are not always read.

        What is grown must not depend on how much memory there is.
        """
        return self.training is None or self.origin is not None

    @property
    def at_hand(self) -> TrainingSet:
        """The rows, which must be at hand."""
        assert self.training is not None
        return self.training

    @property
    def schema(self) -> Schema:
        """What the codes of the rows mean."""
        return self.source.schema if self.training is None else self.training.schema

    @cached_property
    def source(self) -> Counts:
        """Who answers a learner's questions; made when somebody asks."""
        return self.counted or self.at_hand.source()

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        if self.training is None:
            return self.source.root().n_rows
        return len(self.training.classes)

    @property
    def has_one_class(self) -> bool:
        """Whether all rows have one class, or number: a tree of them is one leaf."""
        if self.training is None:
            return self.source.root().is_pure
        classes = self.training.classes
        return bool((classes == classes[0]).all())

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        rows = self.training
        return self.source.root().weight if rows is None else rows.weight

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """What tells the rows from others."""
        return self.origin or self.at_hand.fingerprint()


@contextmanager
def open_source(
    data: Any,
    target: str,
    *,
    weight: str | None = None,
    declarations: Declarations,
    source: str | None = None,
    connection: Any = None,
    table: str | None = None,
    memory_limit: int | str | None = None,
    reserves: Reserves | None = None,
    seed: int = 0,
    hashed: bool = False,
    from_zero: bool = False,
    identifiers: bool = False,
    format: str | None = None,
    encoding: str | None = None,
    complete: bool = False,
) -> Iterator[OpenedSource]:
    """Open the rows of a table that holds its target, for as long as they are needed.

    ``source`` says where rows are counted, one of ``SOURCES``: if not given, what is in
    a database where it is and anything else in memory. ``table`` is that of a database,
    or a query. ``memory_limit`` is what this process may take where rows are counted
    elsewhere, DuckDB included where it reads a file (``MemoryBudget``).
    ``reserves`` says which share of the rows of an engine is reserved, if any, of so
    many and a target; which ones follows from their hashes and a ``seed``. ``hashed``
    gives rows of an engine numbers, by which others can draw.
    ``from_zero`` counts the moments of a numeric target from 0, not from its mean.
    ``identifiers`` says whether columns stay that only tell rows apart, and
    ``complete`` that rows which lack a cell are left out.
    """
    check_roles(target, weight, declarations)
    is_away = is_counted_away(data, source, connection, table=table)
    limit = None if memory_limit is None else bytes_of(memory_limit)
    roles = Roles(
        target,
        weight,
        declarations,
        from_zero,
        complete,
        identifiers,
        format,
        encoding,
        table,
    )
    if not is_away:
        yield _read(data, roles, memory_limit)
        return
    budget = MemoryBudget(memory_limit) if limit and memory_limit else None
    room = usual_room() if limit is None else budget.rows if budget else 0
    wanted = Wanted(reserves, seed, hashed, room, budget)
    engine = source or engine_of(data) or "duckdb"
    # Statements are SQLGlot's, which nobody loads who does not count in an engine.
    opened = registry.load("engine", engine).opened_rows(
        data, roles, wanted, engine=engine, connection=connection
    )
    with opened as away:
        yield OpenedSource(
            away.training, away.source, away.origin, away.reserved, away.hashed
        )


def table_of_rows(
    data: Any,
    declarations: Declarations,
    *,
    format: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    memory_limit: int | str | None = None,
) -> Table:
    """Return the rows of a file, a frame or a database, in memory."""
    is_counted_away(data, "memory", table=table)  # refuses what has no use
    engine = engine_of(data)
    if memory_limit is not None and engine != "sqlite":
        raise refusal(
            Setting("memory_limit", memory_limit),
            "is for rows that are counted elsewhere",
            phrase("leave it out, or count in {}", Setting("source", "duckdb")),
        )
    if engine not in IN_DATABASES:
        return read_table(
            data, declarations=declarations, format=format, encoding=encoding
        )
    refuse_file_options(format, encoding)
    databases = registry.load("engine", engine)
    at = databases.DatabaseTable(data, engine, table)
    found: Table = databases.table_in_database(at, declarations, memory_limit)
    return found


def _read(data: Any, roles: Roles, limit: int | str | None) -> OpenedSource:
    """Return rows in memory that trees can be grown on."""
    rows = table_of_rows(data, table=roles.table, memory_limit=limit, **roles.reading)
    training = rows_in_memory(
        rows,
        roles.target,
        roles.weight,
        roles.declared,
        from_zero=roles.from_zero,
        identifiers=roles.identifiers,
        complete=roles.complete,
    )
    return OpenedSource(training)


def engine_of(data: Any) -> str | None:
    """Return the engine that data names or belongs to, None if there is none.

    >>> engine_of("sqlite:///orders.db"), engine_of("orders.csv")
    ('sqlite', None)
    """
    if isinstance(data, str):
        return ADDRESSES.get(data.partition("://")[0]) if "://" in data else None
    if remedy := _listed(data, NEAR):
        msg = f"data of type {type(data).__name__} is no table"
        raise DataError(msg, remedy=remedy)
    return _listed(data, CLASSES)


def _listed(data: Any, by_class: Mapping[tuple[str, str], str]) -> str | None:
    """Return what is listed for the class of an object, or for one that it extends."""
    for kind in type(data).__mro__:
        for (module, name), listed in by_class.items():
            inside = f"{kind.__module__}.".startswith(f"{module}.")
            if inside and kind.__name__ == name:
                return listed
    return None


def is_counted_away(
    data: Any, source: str | None, connection: Any = None, *, table: str | None = None
) -> bool:
    """Return whether rows stay where they are, or refuse what has no use."""
    if source is not None and source not in SOURCES:
        check_named("source", source, ("memory", *registry.names("engine")))
    engine = engine_of(data)
    if engine is not None and source not in (None, "memory", engine):
        raise refusal(
            Setting("source", source),
            f"is not where the table is, in {engine}",
            "leave it out",
        )
    if engine is None and source in IN_DATABASES:
        raise refusal(
            Setting("source", source),
            "needs a table there",
            "give its address (postgresql://user@host/database or sqlite:///file.db), "
            "a connection, or a Spark data frame",
        )
    if table is not None and not isinstance(table, str):
        raise refusal(
            Setting("table", table),
            "is no text",
            "give the name of a table, or a SELECT",
        )
    if engine not in IN_DATABASES and table is not None and source in (None, *SOURCES):
        raise refusal(
            Setting("table", table), "is that of a database", "leave it out for others"
        )
    away = source not in (None, "memory", *IN_DATABASES)
    away |= source is None and is_relation(data)
    if connection is not None and not (away and is_relation(data)):
        msg = "connection= is that of a DuckDB relation: leave it out for other data"
        raise ParameterError(msg)
    return away or (engine not in (None, "sqlite") and source != "memory")
