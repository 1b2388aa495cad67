"""Opening rows: a table is read into memory, a relation is counted where it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from spinney._support.checks import check_named
from spinney.data import Declarations, Fingerprint, Schema
from spinney.data.duckdb import is_relation
from spinney.data.readers import opened_relation, read_table
from spinney.errors import ParameterError
from spinney.sources.base import Counts
from spinney.sources.rows.training_rows import TrainingSet, check_roles, rows_in_memory
from spinney.sources.sql.open_sql import source_in_duckdb
from spinney.sources.sql.sql_engine import Engine

SOURCES = ("memory", "duckdb")


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
        What tells rows that are not at hand from others.
    """

    training: TrainingSet | None = None
    counted: Counts | None = None
    origin: Fingerprint | None = None

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
            return int(self.source.root().rows.sum())
        return len(self.training.classes)

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
    from_zero: bool = False,
    identifiers: bool = True,
    format: str | None = None,
    encoding: str | None = None,
    complete: bool = False,
) -> Iterator[OpenedSource]:
    """Open the rows of a table that holds its target, for as long as they are needed.

    ``source`` says where rows are counted, in "memory" or in "duckdb": if not given,
    a relation where it is and anything else in memory. ``from_zero`` counts the
    moments of a numeric target from 0, not from its mean. ``identifiers`` says whether
    columns in memory stay that only tell rows apart, and ``complete`` that rows which
    lack a cell are left out.
    """
    check_roles(target, weight, declarations)
    reading: dict[str, Any] = {
        "declarations": declarations,
        "format": format,
        "encoding": encoding,
    }
    if not is_counted_away(data, source, connection):
        table = read_table(data, **reading)
        training = rows_in_memory(
            table,
            target,
            weight,
            declarations,
            from_zero=from_zero,
            identifiers=identifiers,
            complete=complete,
        )
        yield OpenedSource(training)
        return
    with (
        opened_relation(data, connection=connection, **reading) as relation,
        Engine(relation.relation, relation.connection) as engine,
    ):
        rows, origin = source_in_duckdb(
            engine,
            relation,
            target,
            weight,
            declarations,
            from_zero=from_zero,
            complete=complete,
        )
        yield OpenedSource(counted=rows, origin=origin)


def is_counted_away(data: Any, source: str | None, connection: Any = None) -> bool:
    """Return whether rows stay where they are, or refuse a connection without use."""
    if source is not None:
        check_named("source", source, SOURCES)
    away = source == "duckdb" or (source is None and is_relation(data))
    if connection is not None and not (away and is_relation(data)):
        msg = "connection= is that of a DuckDB relation: leave it out for other data"
        raise ParameterError(msg)
    return away
