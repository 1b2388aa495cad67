"""Training data: tables in memory, or remote tables counted in their engine."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from spinney import registry
from spinney._support.memory_budget import MemoryBudget, bytes_of, default_memory_limit
from spinney.data import Fingerprint, Schema, Table
from spinney.data.readers import read_table, refuse_file_options
from spinney.errors import Setting, phrase, refusal
from spinney.sources.base import Counts
from spinney.sources.rows.sampleable_rows import (
    ColumnRoles,
    RemoteOptions,
    ReservedFraction,
    SampleableRows,
)
from spinney.sources.rows.training_rows import TrainingSet, check_roles, rows_in_memory
from spinney.sources.training_data.table_input import IN_DATABASES, TableInput


@dataclass(frozen=True)
class TrainingData:
    """The rows of a table to learn from, in memory or remote.

    Parameters
    ----------
    training : TrainingSet, optional
        The rows, if they are in memory.
    counted : Counts, optional
        The source of remote rows.
    origin : Fingerprint, optional
        The fingerprint of rows of an engine, even if fetched.
    reserved : TrainingSet, optional
        Reserved validation rows of an engine, in addition.
    sampleable : SampleableRows, optional
        The rows with their hashes, if requested.
    """

    training: TrainingSet | None = None
    counted: Counts | None = None
    origin: Fingerprint | None = None
    reserved: TrainingSet | None = None
    sampleable: SampleableRows | None = None

    @property
    def is_remote(self) -> bool:
        """Whether the rows belong to an engine, even if fetched.

        The tree must not depend on the available memory.
        """
        return self.training is None or self.origin is not None

    @property
    def in_memory_rows(self) -> TrainingSet:
        """The rows; they must be in memory."""
        assert self.training is not None
        return self.training

    @property
    def schema(self) -> Schema:
        """The schema of the rows."""
        return self.source.schema if self.training is None else self.training.schema

    @cached_property
    def source(self) -> Counts:
        """The source of count tables, made on first use."""
        return self.counted or self.in_memory_rows.source()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        if self.training is None:
            return self.source.root().n_rows
        return len(self.training.classes)

    @cached_property
    def has_one_class(self) -> bool:
        """Whether all rows have one class or target number: their tree is a leaf."""
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
        """The fingerprint of the rows."""
        return self.origin or self.in_memory_rows.fingerprint()


@contextmanager
def open_source(
    table: TableInput,
    *,
    reserves: ReservedFraction | None = None,
    seed: int = 0,
    sampleable: bool = False,
    from_zero: bool = False,
    identifiers: bool = False,
    complete: bool = False,
) -> Iterator[TrainingData]:
    """Open the training data of a table; close it at the end.

    The options are those of :class:`RemoteOptions` and :class:`ColumnRoles`.
    """
    roles = ColumnRoles(
        table.target,
        table.weight,
        table.declarations,
        from_zero,
        complete,
        identifiers,
        table.format,
        table.encoding,
        table.table,
    )
    check_roles(roles.target, roles.weight, roles.declared)
    limit = None if table.memory_limit is None else bytes_of(table.memory_limit)
    if not table.is_remote:
        yield _read(table, roles)
        return
    budget = MemoryBudget(table.memory_limit) if limit and table.memory_limit else None
    max_bytes = (
        default_memory_limit() if limit is None else budget.rows if budget else 0
    )
    options = RemoteOptions(reserves, seed, sampleable, max_bytes, budget)
    engine = table.engine or table.data_engine or "duckdb"
    # Only engines import SQLGlot.
    opened = registry.load("engine", engine).opened_rows(
        table.data, roles, options, engine=engine, connection=table.connection
    )
    with opened as rows:
        yield TrainingData(
            rows.training, rows.source, rows.origin, rows.reserved, rows.sampleable
        )


def _read(table: TableInput, roles: ColumnRoles) -> TrainingData:
    training = rows_in_memory(
        table_of_rows(table),
        roles.target,
        roles.weight,
        roles.declared,
        from_zero=roles.from_zero,
        identifiers=roles.identifiers,
        complete=roles.complete,
    )
    return TrainingData(training)


def table_of_rows(table: TableInput) -> Table:
    """Return a file, a data frame or a database table, read into memory."""
    limit, engine = table.memory_limit, table.data_engine
    if limit is not None and engine != "sqlite":
        raise refusal(
            Setting("memory_limit", limit),
            "applies only if an engine counts the rows",
            phrase("leave it out, or count in {}", Setting("engine", "duckdb")),
        )
    if engine not in IN_DATABASES:
        return read_table(
            table.data,
            declarations=table.declarations,
            format=table.format,
            encoding=table.encoding,
        )
    refuse_file_options(table.format, table.encoding)
    databases = registry.load("engine", engine)
    database_table = databases.DatabaseTable(table.data, engine, table.table)
    read: Table = databases.table_in_database(database_table, table.declarations, limit)
    return read
