"""Open a table in partitions: list, read, describe and encode them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from glob import glob
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import (
    REMOTE_ISSUES,
    Declarations,
    IntegerSummary,
    IssueFacts,
    Schema,
    Target,
    column_warnings,
    exclude_identifiers,
    target_note,
)
from spinney.data.readers import refuse_file_options
from spinney.errors import DataError, Setting, SpinneyNote, note, refusal, warn
from spinney.extensions.partitions.encoded_partition import (
    N_BINS,
    code_rows,
    different_numbers,
    read_rows,
    unite_numbers,
)
from spinney.extensions.partitions.executors import (
    Executor,
    InThisProcess,
    OnDask,
    add_results,
    dask_client,
    sum_results,
)
from spinney.extensions.partitions.hashed_partitions import HashedPartitions, all_rows
from spinney.extensions.partitions.partition_facts import ColumnFacts, PartitionFacts
from spinney.extensions.partitions.partitioned_source import PartitionedSource
from spinney.sources.base import Totals
from spinney.sources.rows import (
    NO_TARGET,
    NumberFacts,
    as_target,
    attribute_of,
    check_classes,
    check_numbers,
    check_total,
)
from spinney.sources.rows.incomplete_rows import note_incomplete
from spinney.sources.rows.row_hashing import sample_fraction
from spinney.sources.rows.sampleable_rows import (
    ColumnRoles,
    HashedTrainingSet,
    RemoteData,
    RemoteOptions,
    check_reserved_fraction,
    max_rows_in_memory,
)
from spinney.sources.rows.training_rows import TrainingSet, missing_targets_warning
from spinney.sources.rows.weight_checks import check_least_weight, zero_weights_error

NUMBERS_IN_MEMORY = 1 << 20
"""The approximate number of distinct numbers in memory at once."""
MAX_FETCHED_ROWS = 200_000
"""The maximum size of tables that are fetched from a cluster with latency."""


@contextmanager
def opened_rows(
    data: Any,
    roles: ColumnRoles,
    options: RemoteOptions,
    *,
    engine: str,
    connection: Any = None,
) -> Iterator[RemoteData]:
    """Yield the training data of a table in partitions."""
    if options.budget:  # 0 rows are fetched, unless all partitions are local
        raise refusal(
            Setting("memory_limit", options.budget.given),
            "does not limit the workers, which store the partitions",
            "leave it out, and set the limit of the workers when the cluster starts",
        )
    refuse_file_options(roles.format, roles.encoding)
    if engine == "partitions":
        partitions = list_partitions(data, engine)
        yield count_partitions(InThisProcess(), partitions, roles, options)
        return
    with dask_client() as client:
        if hasattr(data, "to_delayed"):
            partitions = client.compute(list(data.to_delayed()))
        else:
            partitions = list_partitions(data, engine)
        executor = OnDask(client)
        yield count_partitions(executor, partitions, roles, options)


def list_partitions(data: Any, engine: str) -> list[Any]:
    """Return the partitions of a table: Parquet files or tables.

    A path may contain ``*`` or name a folder.
    """
    if isinstance(data, (list, tuple)):
        partitions = [
            _parquet_path(p) if isinstance(p, (str, os.PathLike)) else p for p in data
        ]
        if not partitions:
            msg = "the list of partitions is empty: give at least one"
            raise DataError(msg)
        return partitions
    if not isinstance(data, (str, os.PathLike)):
        raise refusal(
            Setting("engine", engine),
            f"needs partitions, not a {type(data).__name__}",
            "give a list of tables, Parquet files, or a Dask data frame",
        )
    path = os.fspath(data)
    if Path(path).is_dir():
        path = str(Path(path) / "*.parquet")
    paths = [path] if Path(path).exists() else sorted(glob(path, recursive=True))
    if not paths:
        raise _missing_file_error(path)
    return [_parquet_path(file) for file in paths]


def _parquet_path(path: "str | os.PathLike[str]") -> str:
    """Return the absolute path of a Parquet file; refuse other files."""
    text = os.fspath(path)
    if not text.endswith((".parquet", ".pq")):
        msg = f"{text!r} is no Parquet file: types of other files may differ"
        raise DataError(msg, remedy="write the partitions as Parquet")
    if not Path(text).is_file():
        raise _missing_file_error(text)
    return str(Path(text).resolve())


def _missing_file_error(path: str) -> DataError:
    msg = f"there is no file {path!r}"
    return DataError(msg, remedy="check the path")


def count_partitions(
    executor: Executor,
    partitions: Sequence[Any],
    roles: ColumnRoles,
    options: RemoteOptions,
) -> RemoteData:
    """Return the training data of partitions."""
    first_roles = roles if roles.identifiers else replace(roles, complete=False)
    read, facts = _load_partitions(executor, partitions, first_roles)
    if not roles.identifiers:
        roles = _without_identifiers(executor, read, facts, roles)
        if roles != first_roles:
            read, facts = _load_partitions(executor, partitions, roles)
    _report_problems(facts, roles)
    by_type = {column.name for column in facts.columns if column.declared}
    facts_of_columns = _partition_issue_facts(executor, read, facts, roles)
    facts_of_columns = [
        column for column in facts_of_columns if column.name not in by_type
    ]
    for warning in column_warnings(facts_of_columns, REMOTE_ISSUES):
        warn(*warning.args, remedy=warning.remedy)
    target = target_of_partitions(facts, roles)
    columns = _attributes(facts, roles)
    schema = Schema(
        tuple(attribute_of(column.column) for column in columns),
        target,
        roles.declared.missing,
    )
    numbers = {i: c for i, c in enumerate(columns) if c.kind == "numeric"}
    edges = {i: _bin_edges(c.numbers) for i, c in numbers.items() if not c.is_all}
    listed_numbers = {i: c.numbers for i, c in numbers.items() if c.is_all}
    encoded = [
        executor.submit(code_rows, partition, schema, edges, listed_numbers)
        for partition in read
    ]
    fraction = options.share(facts.n_rows, target)
    max_rows = max_rows_in_memory(options.max_bytes, schema)
    fetches = executor.has_latency and facts.n_rows <= min(MAX_FETCHED_ROWS, max_rows)
    if fetches and fraction is None:
        return _fetched_data(all_rows(executor, encoded), options)
    if fraction is None and not options.sampleable:
        return _partitioned_data(PartitionedSource(executor, encoded, schema, edges))
    ranges = {i: c.range for i, c in numbers.items()}
    ranges[-1] = facts.named(roles.target).range
    hashed = HashedPartitions(
        executor, encoded, schema, edges, ranges, max_rows=max_rows, seed=options.seed
    )
    if fraction is None:
        return _partitioned_data(hashed.source, sampleable=hashed)
    sample = sample_fraction(fraction)
    remaining = hashed.take([sample.complement])
    n_reserved = facts.n_rows - remaining.root().n_rows
    check_reserved_fraction(fraction, n_reserved, facts.n_rows, max_rows)
    reserved = hashed.fetch_sample(sample)[0]
    if fetches:
        return _fetched_data(
            hashed.fetch_sample(sample.complement)[0], options, reserved=reserved
        )
    return _partitioned_data(remaining, reserved=reserved)


def _fetched_data(
    rows: TrainingSet, options: RemoteOptions, **others: Any
) -> RemoteData:
    """Return training data in memory, with its fingerprint."""
    totals = rows.source().root()
    _check_labels(rows.schema.target, totals)
    origin = totals.fingerprint()
    hashed = HashedTrainingSet(rows, origin) if options.sampleable else None
    return RemoteData(origin, training=rows, sampleable=hashed, **others)


def _load_partitions(
    executor: Executor, partitions: Sequence[Any], roles: ColumnRoles
) -> tuple[list[Any], PartitionFacts]:
    """Return handles to the loaded partitions, and their united facts."""
    read = [executor.submit(read_rows, partition, roles) for partition in partitions]
    handles = [executor.submit(attrgetter("facts"), partition) for partition in read]
    return read, sum_results(executor, handles, add_results)


def _without_identifiers(
    executor: Executor, read: Sequence[Any], facts: PartitionFacts, roles: ColumnRoles
) -> ColumnRoles:
    """Return roles that ignore identifiers, the same as in memory."""
    names = exclude_identifiers(_partition_issue_facts(executor, read, facts, roles))
    declared = roles.declared
    ignored = replace(declared, ignore=(*declared.ignore, *names))
    return replace(roles, declared=ignored)


def _attributes(facts: PartitionFacts, roles: ColumnRoles) -> list[ColumnFacts]:
    """Return the facts of columns that are neither target nor weight."""
    role_columns = (roles.target, roles.weight)
    return [column for column in facts.columns if column.name not in role_columns]


def _partition_issue_facts(
    executor: Executor, read: Sequence[Any], facts: PartitionFacts, roles: ColumnRoles
) -> list[IssueFacts]:
    """Return the column facts from which issues are found."""
    columns = _attributes(facts, roles)
    return [
        IssueFacts(
            column.name,
            column.kind,
            column.unit,
            roles.declared,
            column.present if column.kind == "nominal" else (),
            column.n_known,
            partial(_summarise_integers, executor, read, column, facts.n_rows),
            is_alone=len(columns) < 2,
        )
        for column in columns
    ]


def _summarise_integers(
    executor: Executor, read: Sequence[Any], column: ColumnFacts, n_rows: int
) -> IntegerSummary | None:
    """Return the counts of a column of integers; None if it has other numbers.

    Many numbers are counted by intervals, so that few are in memory at once.
    """
    n_different, is_whole = len(column.numbers), _are_whole(column.numbers)
    if not column.is_all and is_whole:
        places = np.linspace(0, n_different, column.n_known // NUMBERS_IN_MEMORY + 2)[
            1:-1
        ]
        inner = np.unique(column.numbers[places.astype(np.int64)])
        n_different = 0
        for ends in pairwise([-np.inf, *inner, np.inf]):
            arguments = column.name, ends
            handles = [
                executor.submit(different_numbers, partition, *arguments)
                for partition in read
            ]
            numbers = sum_results(executor, handles, unite_numbers)
            n_different += len(numbers)
            is_whole &= _are_whole(numbers)
    if not (is_whole and column.n_known):
        return None
    ends = column.least, column.greatest
    return IntegerSummary(n_rows, column.n_known, n_different, *ends)


def _are_whole(numbers: Floats) -> bool:
    return bool((numbers == np.floor(numbers)).all())


def _partitioned_data(source: PartitionedSource, **others: Any) -> RemoteData:
    """Return the training data of a partitioned source, with its fingerprint."""
    totals = source.root()
    _check_labels(source.schema.target, totals)
    return RemoteData(totals.fingerprint(), source, **others)


def _check_labels(target: Target, totals: Totals) -> None:
    """Refuse a target with a single class."""
    if not target.is_numeric and target.name != NO_TARGET:
        check_classes(target, np.flatnonzero(totals.rows), totals.n_rows)


def _bin_edges(numbers: Floats) -> Floats:
    """Return the edges of bins with about equally many numbers."""
    places = np.linspace(0, len(numbers) - 1, N_BINS + 1)[1:-1].astype(np.int64)
    return np.unique(numbers[places])


def _report_problems(facts: PartitionFacts, roles: ColumnRoles) -> None:
    """Report the warnings of all partitions; refuse tables without usable rows."""
    for message in facts.warnings:
        if isinstance(message, SpinneyNote):
            note(*message.args, of_reading=message.of_reading)
        else:
            warn(*message.args, remedy=message.remedy)
    if not facts.n_read:
        msg = "the table has no rows: give it at least two"
        raise DataError(msg)
    if facts.n_classless == facts.n_read:
        msg = (
            f"target {roles.target!r}: all {facts.n_read} cells are "
            "missing; name another target, or check the declared markers"
        )
        raise DataError(msg)
    if facts.n_classless:
        warn(missing_targets_warning(roles.target, facts.n_classless, facts.n_read))
    if roles.complete:
        lacking = {
            column.name: column.n_lacking for column in _attributes(facts, roles)
        }
        n_rows = facts.n_rows + facts.n_incomplete
        note_incomplete(facts.n_incomplete, n_rows, lacking, weight=facts.lost)
    if not facts.n_rows:
        if roles.target == NO_TARGET:
            raise zero_weights_error(roles.weight)
        msg = "no row has both a weight above 0 and a known class"
        raise DataError(msg)
    check_total(facts.weight)
    check_least_weight(facts.least)


def target_of_partitions(facts: PartitionFacts, roles: ColumnRoles) -> Target:
    """Return the target column of all partitions."""
    declared: Declarations = roles.declared
    column = facts.named(roles.target).column
    if reading := target_note(column, declared):
        note(reading, of_reading=False)
    target, _ = as_target(column, numeric=declared.kind(roles.target) == "numeric")
    if not target.is_numeric:
        return target
    sums = facts.sums
    assert sums is not None
    check_numbers(
        roles.target,
        NumberFacts(
            facts.n_rows,
            sums.finite,
            sums.least,
            max(abs(sums.least), abs(sums.greatest)),
            sums.least == sums.greatest,
            facts.weight,
        ),
        from_zero=roles.from_zero,
    )
    mean = sums.weighed / facts.weight
    origin = float(np.rint(mean)) if sums.is_whole else float(mean)
    return replace(target, origin=0.0 if roles.from_zero else origin)
