"""A partition of a table: reading, distinct numbers, and encoding by a schema."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney.data import Column, Schema, Table
from spinney.data.readers import read_partition
from spinney.errors import SpinneyWarning
from spinney.extensions.partitions.partition_facts import (
    ColumnFacts,
    PartitionFacts,
    TargetSums,
)
from spinney.sources.rows import NO_TARGET, row_weights
from spinney.sources.rows.memory import MemorySource, RowAssignment
from spinney.sources.rows.ranked_cells import Ranked
from spinney.sources.rows.sampleable_rows import ColumnRoles

N_BINS = 255
"""The number of bins of a column with many values; with missing, one byte's values."""

_LISTENING = Lock()


@dataclass(frozen=True, slots=True, eq=False)
class LoadedPartition:
    """The rows of a partition that have a class and a weight, and their facts."""

    table: Table
    weights: Floats | None
    facts: PartitionFacts

    def __sizeof__(self) -> int:
        return sum(column.cells.nbytes for column in self.table.columns)


def read_rows(partition: Any, roles: ColumnRoles) -> LoadedPartition:
    """Read a partition: a Parquet file by its path, or a table as it is."""
    # The user is in another process: return the warnings with the facts.
    with _LISTENING, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SpinneyWarning)
        table = read_partition(partition, roles.declared)
    if roles.target == NO_TARGET:
        cells = np.zeros(table.n_rows, np.int32)
        target = Column(NO_TARGET, "nominal", cells, ("rows",))
        table = Table((*table.columns, target), table.n_rows)
    messages = tuple(
        warning.message
        for warning in caught
        if isinstance(warning.message, SpinneyWarning)
    )
    target = table[roles.target]
    used = ~target.missing
    n_classless = int(target.missing.sum())
    weights = None
    if roles.weight is not None:
        weights = row_weights(table[roles.weight])
        used &= weights > 0
    n_lacking, whole = [], used.copy()
    for column in table.columns:
        n_lacking.append(int((column.missing & used).sum()))
        whole &= ~column.missing
    incomplete = used & ~whole
    n_incomplete, lost_weight = 0, 0.0
    if roles.complete:
        n_incomplete = int(incomplete.sum())
        lost_weight = 0.0 if weights is None else float(weights[incomplete].sum())
        used = whole
    n_read = table.n_rows
    if not used.all():
        table = table.take(used)
        weights = None if weights is None else weights[used]
    target = table[roles.target]
    columns = zip(table.columns, n_lacking, strict=True)
    present_weights = weights if weights is not None and len(weights) else np.ones(1)
    facts = PartitionFacts(
        tuple(ColumnFacts.of(column, n) for column, n in columns),
        n_read,
        n_classless,
        n_incomplete,
        lost_weight,
        table.n_rows,
        float(table.n_rows if weights is None else weights.sum()),
        float(present_weights.min()) if table.n_rows else np.inf,
        TargetSums.of(target.cells, weights) if target.kind == "numeric" else None,
        messages,
    )
    return LoadedPartition(table, weights, facts)


def different_numbers(
    partition: LoadedPartition, name: str, between: tuple[float, float]
) -> Floats:
    """Return the distinct numbers of a column in an interval (low, high]."""
    cells = partition.table[name].cells
    return np.unique(cells[(cells > between[0]) & (cells <= between[1])])


def unite_numbers(*partitions: Floats) -> Floats:
    """Return the distinct numbers of several partitions."""
    return np.unique(np.concatenate(partitions))


@dataclass(frozen=True, slots=True, eq=False)
class EncodedPartition:
    """The encoded rows of a partition, as its worker stores them.

    Parameters
    ----------
    source : MemorySource
        The rows, with cached facts about columns.
    bins : mapping of int to (numbers of bins, bin of each row)
        The bins of attributes with many distinct numbers.
    n_rows : int
        The number of rows.
    n_bytes : int
        The memory of the arrays.
    """

    source: MemorySource
    bins: Mapping[int, Ranked]
    n_rows: int
    n_bytes: int

    def __sizeof__(self) -> int:
        return self.n_bytes

    def source_at(self, assignment: RowAssignment) -> MemorySource:
        """Return a source of the rows at their assigned nodes."""
        return self.source.with_assignment(assignment)


def code_rows(
    partition: LoadedPartition,
    schema: Schema,
    edges: Mapping[int, Floats],
    listed_numbers: Mapping[int, Floats],
) -> EncodedPartition:
    """Encode a partition by the common schema.

    ``edges`` are the bin edges by attribute; ``listed_numbers`` are the distinct
    numbers of the other numeric attributes.
    """
    names = {attribute.name: attribute for attribute in schema.attributes}
    columns = [_encoded(names[name], partition.table[name]) for name in names]
    target = partition.table[schema.target.name]
    classes = _target_codes(schema, target, partition.table.n_rows)
    source = MemorySource(
        schema,
        columns,
        classes=classes,
        weights=partition.weights,
        ranked={
            i: (values, _bin_numbers(values, columns[i]))
            for i, values in listed_numbers.items()
        },
    )
    bins = {
        index: (np.arange(N_BINS), _bin_numbers(between, columns[index]))
        for index, between in edges.items()
    }
    arrays = [*columns, classes, *(ranks for _, ranks in bins.values())]
    n_bytes = sum(cells.nbytes for cells in arrays)
    return EncodedPartition(source, bins, partition.table.n_rows, n_bytes)


def _encoded(attribute: Any, column: Column) -> NDArray[Any]:
    """Return the codes of a column; all cells may be missing."""
    if column.missing.all():
        return np.asarray(attribute.all_missing(len(column.cells)))
    return np.asarray(attribute.encode(column))


def _target_codes(schema: Schema, target: Column, n_rows: int) -> NDArray[Any]:
    """Return the class codes or target numbers of rows that have one."""
    kind = np.float64 if schema.target.is_numeric else np.int64
    if not n_rows:
        return np.zeros(0, dtype=kind)
    if target.kind == "numeric" and not schema.target.is_numeric:
        return np.searchsorted(np.array(schema.target.classes, float), target.cells)
    return np.asarray(schema.target.encode(target), dtype=kind)


def _bin_numbers(numbers: Floats, cells: Floats) -> NDArray[np.int16]:
    """Return the number of edges below each cell, its bin; -1 if it is missing."""
    places = np.searchsorted(numbers, cells).astype(np.int16)
    places[np.isnan(cells)] = -1
    return places
