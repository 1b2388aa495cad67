"""Requests that a worker answers about its partition, and sums of the answers.

The rows of a partition are a source in memory: each request of the learner goes to
every partition unchanged, and the answers are added, tables line by line, products by
``summed``. Only numbers of very many values differ. Their tables have a line per bin,
with its least and greatest number in all partitions. The rows of opened bins are
counted by value, or by finer bins (``sources.open_bins``)::

    key 17.5   weights   rows   low: the least number in it   high: the greatest
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
"""A change of the nodes of rows: a method with its arguments, called by name."""
Ranges = Mapping[int, tuple[Floats, Floats]]
"""The least and the greatest number of each bin, by attribute."""


def apply_moves(
    partition: EncodedPartition, assignment: RowAssignment, moves: Sequence[Move]
) -> RowAssignment:
    """Return the nodes of rows after some moves, in a new object."""
    source = partition.source_at(assignment)
    for move in moves:
        move(source)
    return source.assignment


@dataclass(frozen=True, slots=True, eq=False)
class PartitionTables:
    """The tables of a partition, or of several: a stack whose values are keys.

    A key is a value, the number of a bin, or where a finer one begins. ``low`` and
    ``high`` are the least and the greatest number of each line; None where no line is a
    finer bin.
    """

    batch: TableBatch
    low: Floats | None = None
    high: Floats | None = None

    @property
    def lowest(self) -> Floats:
        """The least number of each line."""
        return self.batch.values if self.low is None else self.low

    @property
    def highest(self) -> Floats:
        """The greatest number of each line."""
        return self.batch.values if self.high is None else self.high

    @property
    def nbytes(self) -> int:
        """How many bytes travel."""
        lines = (self.batch.values, self.batch.weights, self.batch.rows)
        tables = (self.batch.missing, self.batch.missing_rows, self.batch.start)
        ranges = () if self.low is None or self.high is None else (self.low, self.high)
        return sum(each.nbytes for each in (*lines, *tables, *ranges))


def add_tables(*partitions: PartitionTables) -> PartitionTables:
    """Return the tables of all rows of several partitions."""
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
        lows = np.concatenate([partition.lowest for partition in partitions])[order]
        highs = np.concatenate([partition.highest for partition in partitions])[order]
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
    """Return the totals of all rows of several partitions."""
    weights = reduce(np.add, [partition.weights for partition in partitions])
    return Totals(weights, reduce(np.add, [partition.rows for partition in partitions]))


def add_branches(*partitions: list[CountTable]) -> list[CountTable]:
    """Return for each node the table by branch of all rows of several partitions."""
    return [
        replace(
            tables[0],
            weights=reduce(np.add, [table.weights for table in tables]),
            rows=reduce(np.add, [table.rows for table in tables]),
        )
        for tables in zip(*partitions, strict=True)
    ]


def add_products(*partitions: list[Products]) -> list[Products]:
    """Return for each request the products of all rows of several partitions."""
    return [sum_products(products) for products in zip(*partitions, strict=True)]


def answer_request(
    partition: EncodedPartition,
    assignment: RowAssignment,
    request: Callable[[MemorySource], Any],
) -> Any:
    """Return the answer of the rows of a partition, as of those in memory."""
    return request(partition.source_at(assignment))


def answer_tables(
    partition: EncodedPartition,
    assignment: RowAssignment,
    request: Callable[[MemorySource], Iterable[TableBatch]],
) -> PartitionTables:
    """Return the tables that the rows of a partition answer with."""
    return PartitionTables(joined_batches(request(partition.source_at(assignment))))


def answer_bins(
    partition: EncodedPartition,
    assignment: RowAssignment,
    requests: Sequence[TableRequest],
    small: NDArray[np.bool_],
) -> PartitionTables:
    """Return the tables of requests, numbers of many values by bins.

    At nodes that are ``small`` they are counted by their values.
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
    """Return requests for attributes of many numbers, or of others; [] if for none."""
    selected = []
    for position in places.tolist():
        request = requests[position]
        attributes = tuple(i for i in request.attributes if (i in binned) is inside)
        selected.append(TableRequest(request.node, attributes))
    return selected if any(request.attributes for request in selected) else []


def _renumber_nodes(batch: TableBatch, places: Integers) -> TableBatch:
    """Return a stack whose nodes are numbered as those of all requests."""
    return replace(batch, node=places[batch.node])


def bin_ranges_of(partition: EncodedPartition) -> Ranges:
    """Return the least and the greatest number of each bin, by attribute."""
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
    """Return the ranges of bins of several partitions."""
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
    """Return tables by bins with the least and the greatest number of each line.

    At nodes that are ``small`` a line is of one number.
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
    """Return the tables of opened bins, of each attribute at its nodes.

    ``nodes`` are those that the intervals number.
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
        low, high = _ends(batch, [keys for _, _, keys in inside], numbers)
        batch = _renumber_nodes(batch, np.array(list(by_node)))
        answers.append(PartitionTables(batch, low, high))
    return PartitionTables(
        joined_batches(tables.batch for tables in answers),
        np.concatenate([tables.lowest for tables in answers]),
        np.concatenate([tables.highest for tables in answers]),
    )


def _ends(
    batch: TableBatch, keys: Sequence[Floats], numbers: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Return the least and the greatest number of each line of a stack.

    ``keys`` and ``numbers`` are those of the rows of its tables.
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
