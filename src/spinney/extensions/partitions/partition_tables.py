"""Count tables of a partition, computed by its worker, and their sums.

The rows of a partition are a source in memory: each request of the learner goes to
every partition unchanged, and the answers are added, tables line by line, products by
``summed``. Only columns with many numbers differ. Their tables have a line per bin,
with its minimum and maximum over all partitions. The rows of opened bins are counted by
value, or by finer bins (``sources.open_bins``)::

    key 17.5   weights   rows   low: the minimum in the bin   high: the maximum
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import begins_run, starts_of
from spinney.extensions.partitions.encoded_partition import EncodedPartition
from spinney.sources.base import Products, TableRequest, Totals, sum_products
from spinney.sources.open_bins import OpenIntervals, keys_of
from spinney.sources.rows.memory import MemorySource, RowAssignment
from spinney.trees import CountTable, TableBatch, joined_batches

Move = Callable[[MemorySource], None]
"""A change of row assignments: the name of a method and its arguments."""
Ranges = Mapping[int, tuple[Floats, Floats]]
"""Minimum and maximum of each bin, by attribute."""


def apply_moves(
    partition: EncodedPartition, assignment: RowAssignment, moves: Sequence[Move]
) -> RowAssignment:
    """Return a new assignment of rows to nodes, after some moves."""
    source = partition.source_at(assignment)
    for move in moves:
        move(source)
    return source.assignment


@dataclass(frozen=True, slots=True, eq=False)
class PartitionTables:
    """The count tables of one or several partitions, with keys as values.

    A key is a value, a bin number, or the lower end of a finer bin. ``low`` and
    ``high`` are the minimum and maximum of each line; None if no line is a finer bin.
    """

    batch: TableBatch
    low: Floats | None = None
    high: Floats | None = None

    @property
    def line_minima(self) -> Floats:
        """The minimum of each line."""
        return self.batch.values if self.low is None else self.low

    @property
    def line_maxima(self) -> Floats:
        """The maximum of each line."""
        return self.batch.values if self.high is None else self.high

    @property
    def nbytes(self) -> int:
        """The number of bytes sent."""
        lines = (self.batch.values, self.batch.weights, self.batch.rows)
        tables = (self.batch.missing, self.batch.missing_rows, self.batch.start)
        ranges = () if self.low is None or self.high is None else (self.low, self.high)
        return sum(each.nbytes for each in (*lines, *tables, *ranges))


def add_tables(*partitions: PartitionTables) -> PartitionTables:
    """Return the added tables of several partitions."""
    first = partitions[0].batch
    if len(partitions) == 1:
        return partitions[0]
    batches = [partition.batch for partition in partitions]
    owner = np.concatenate([batch.owner for batch in batches])
    keys = np.concatenate([batch.values for batch in batches])
    order = np.lexsort((keys, owner))
    begins = begins_run(owner[order], keys[order])
    start = np.flatnonzero(begins)
    weights = np.concatenate([batch.weights for batch in batches])[order]
    rows = np.concatenate([batch.rows for batch in batches])[order]
    low = high = None
    if any(partition.low is not None for partition in partitions) and len(start):
        lows = np.concatenate([partition.line_minima for partition in partitions])[
            order
        ]
        highs = np.concatenate([partition.line_maxima for partition in partitions])[
            order
        ]
        low, high = np.minimum.reduceat(lows, start), np.maximum.reduceat(highs, start)
    has_lines = len(start) > 0
    batch = replace(
        first,
        start=starts_of(np.bincount(owner[order][start], minlength=len(first))),
        values=keys[order][start],
        weights=np.add.reduceat(weights, start) if has_lines else weights,
        rows=np.add.reduceat(rows, start) if has_lines else rows,
        missing=sum((each.missing for each in batches), np.zeros_like(first.missing)),
        missing_rows=np.sum([each.missing_rows for each in batches], axis=0),
    )
    return PartitionTables(batch, low, high)


def add_totals(*partitions: Totals) -> Totals:
    """Return the added totals of several partitions."""
    weights = reduce(np.add, [partition.weights for partition in partitions])
    return Totals(weights, reduce(np.add, [partition.rows for partition in partitions]))


def add_branches(*partitions: list[CountTable]) -> list[CountTable]:
    """Return the added tables by branch of several partitions, for each node."""
    return [
        replace(
            tables[0],
            weights=reduce(np.add, [table.weights for table in tables]),
            rows=reduce(np.add, [table.rows for table in tables]),
        )
        for tables in zip(*partitions, strict=True)
    ]


def add_products(*partitions: list[Products]) -> list[Products]:
    """Return the added products of several partitions, for each request."""
    return [sum_products(products) for products in zip(*partitions, strict=True)]


def answer_request(
    partition: EncodedPartition,
    assignment: RowAssignment,
    request: Callable[[MemorySource], Any],
) -> Any:
    """Return the answer of a partition's rows to a request."""
    return request(partition.source_at(assignment))


def answer_tables(
    partition: EncodedPartition,
    assignment: RowAssignment,
    request: Callable[[MemorySource], Iterable[TableBatch]],
) -> PartitionTables:
    """Return the count tables of a partition's rows."""
    return PartitionTables(joined_batches(request(partition.source_at(assignment))))


def answer_bins(
    partition: EncodedPartition,
    assignment: RowAssignment,
    requests: Sequence[TableRequest],
    small: NDArray[np.bool_],
) -> PartitionTables:
    """Return the tables of requests; columns with many values are binned.

    Nodes in ``small`` are counted by value.
    """
    source = partition.source_at(assignment)
    positions = np.arange(len(requests))
    unbinned = _select_requests(requests, positions, partition.bins, inside=False)
    batches = list(source.tables(unbinned)) if unbinned else []
    if binned := _select_requests(
        requests, positions[~small], partition.bins, inside=True
    ):
        batch = joined_batches(
            source.with_assignment(assignment, partition.bins).tables(binned)
        )
        batches.append(_renumber_nodes(batch, positions[~small]))
    if by_value := _select_requests(
        requests, positions[small], partition.bins, inside=True
    ):
        batch = joined_batches(source.tables(by_value))
        batches.append(_renumber_nodes(batch, positions[small]))
    return PartitionTables(joined_batches(batches))


def _select_requests(
    requests: Sequence[TableRequest],
    places: Integers,
    binned: Mapping[int, object],
    *,
    inside: bool,
) -> list[TableRequest]:
    """Return requests restricted to binned, or to other, attributes; [] if none."""
    selected = []
    for position in places.tolist():
        request = requests[position]
        attributes = tuple(i for i in request.attributes if (i in binned) is inside)
        selected.append(TableRequest(request.node, attributes))
    return selected if any(request.attributes for request in selected) else []


def _renumber_nodes(batch: TableBatch, places: Integers) -> TableBatch:
    """Return a batch with node numbers of all requests."""
    return replace(batch, node=places[batch.node])


def bin_ranges_of(partition: EncodedPartition) -> Ranges:
    """Return minimum and maximum of each bin, by attribute."""
    ranges = {}
    rows = np.arange(partition.n_rows)
    for index, (numbers, bins) in partition.bins.items():
        cells = partition.source.cells(index, rows)
        known = np.flatnonzero(bins >= 0)
        order = known[np.argsort(bins[known], kind="stable")]
        least, greatest = np.full((2, len(numbers)), np.inf)
        greatest *= -1
        if len(order):
            start = np.flatnonzero(begins_run(bins[order]))
            occupied = bins[order][start]
            least[occupied] = np.minimum.reduceat(cells[order] + 0.0, start)
            greatest[occupied] = np.maximum.reduceat(cells[order] + 0.0, start)
        ranges[index] = least, greatest
    return ranges


def unite_ranges(*partitions: Ranges) -> Ranges:
    """Return the united bin ranges of several partitions."""
    return {
        index: (
            np.min([partition[index][0] for partition in partitions], axis=0),
            np.max([partition[index][1] for partition in partitions], axis=0),
        )
        for index in partitions[0]
    }


def in_ranges(
    batch: TableBatch, ranges: Ranges, small: NDArray[np.bool_]
) -> TableBatch:
    """Return binned tables with the minimum and maximum of each line.

    At nodes in ``small``, a line has a single value.
    """
    values, low = batch.values.copy(), batch.values.copy()
    is_binned = ~small[batch.node]
    for index, (least, greatest) in ranges.items():
        lines = np.flatnonzero((is_binned & (batch.attribute == index))[batch.owner])
        bins = batch.values[lines].astype(np.int64)
        low[lines], values[lines] = least[bins], greatest[bins]
    return replace(batch, values=values, low=low)


def answer_opened(
    partition: EncodedPartition,
    assignment: RowAssignment,
    intervals: OpenIntervals,
    nodes: Sequence[int],
) -> PartitionTables:
    """Return the tables of opened bins by attribute and node.

    Intervals refer to positions in ``nodes``.
    """
    source = partition.source_at(assignment)
    answers = []
    for index, by_node in intervals.items():
        inside, numbers = [], []
        for place, listed in by_node.items():
            rows, weights = assignment.members[nodes[place]]
            cells = source.cells(index, rows) + 0.0
            keys = keys_of(listed, cells)
            inside_rows = np.flatnonzero(~np.isnan(keys))
            inside.append((rows[inside_rows], weights[inside_rows], keys[inside_rows]))
            numbers.append(cells[inside_rows])
        batch = source.tables_by(index, inside)
        low, high = _line_ranges(batch, [keys for _, _, keys in inside], numbers)
        batch = _renumber_nodes(batch, np.array(list(by_node)))
        answers.append(PartitionTables(batch, low, high))
    return PartitionTables(
        joined_batches(tables.batch for tables in answers),
        np.concatenate([tables.line_minima for tables in answers]),
        np.concatenate([tables.line_maxima for tables in answers]),
    )


def _line_ranges(
    batch: TableBatch, keys: Sequence[Floats], numbers: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Return the minimum and maximum of each line of a batch.

    ``keys`` and ``numbers`` belong to the rows of its tables.
    """
    key, number = (np.concatenate([np.zeros(0), *each]) for each in (keys, numbers))
    if np.array_equal(key, number):
        return batch.values, batch.values
    owner = np.repeat(np.arange(len(keys)), [len(each) for each in keys])
    order = np.lexsort((key, owner))
    start = np.flatnonzero(begins_run(owner[order], key[order]))
    sorted_numbers = number[order]
    return (
        np.minimum.reduceat(sorted_numbers, start),
        np.maximum.reduceat(sorted_numbers, start),
    )
