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


def moved(
    partition: EncodedPartition, standing: RowAssignment, moves: Sequence[Move]
) -> RowAssignment:
    """Return the nodes of rows after some moves, in a new object."""
    source = partition.at(standing)
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

    stack: TableBatch
    low: Floats | None = None
    high: Floats | None = None

    @property
    def lowest(self) -> Floats:
        """The least number of each line."""
        return self.stack.values if self.low is None else self.low

    @property
    def highest(self) -> Floats:
        """The greatest number of each line."""
        return self.stack.values if self.high is None else self.high

    @property
    def nbytes(self) -> int:
        """How many bytes travel."""
        lines = (self.stack.values, self.stack.weights, self.stack.rows)
        tables = (self.stack.missing, self.stack.missing_rows, self.stack.start)
        ranges = () if self.low is None or self.high is None else (self.low, self.high)
        return sum(each.nbytes for each in (*lines, *tables, *ranges))


def added(*partitions: PartitionTables) -> PartitionTables:
    """Return the tables of all rows of several partitions."""
    first = partitions[0].stack
    if len(partitions) == 1:
        return partitions[0]
    stacks = [partition.stack for partition in partitions]
    owner = np.concatenate([stack.owner for stack in stacks])
    keys = np.concatenate([stack.values for stack in stacks])
    order = np.lexsort((keys, owner))
    begins = begins_run(owner[order], keys[order])
    start = np.flatnonzero(begins)
    weights = np.concatenate([stack.weights for stack in stacks])[order]
    rows = np.concatenate([stack.rows for stack in stacks])[order]
    low = high = None
    if any(partition.low is not None for partition in partitions) and len(start):
        lows = np.concatenate([partition.lowest for partition in partitions])[order]
        highs = np.concatenate([partition.highest for partition in partitions])[order]
        low, high = np.minimum.reduceat(lows, start), np.maximum.reduceat(highs, start)
    some = len(start) > 0
    stack = replace(
        first,
        start=starts_of(np.bincount(owner[order][start], minlength=len(first))),
        values=keys[order][start],
        weights=np.add.reduceat(weights, start) if some else weights,
        rows=np.add.reduceat(rows, start) if some else rows,
        missing=sum((each.missing for each in stacks), np.zeros_like(first.missing)),
        missing_rows=np.sum([each.missing_rows for each in stacks], axis=0),
    )
    return PartitionTables(stack, low, high)


def added_totals(*partitions: Totals) -> Totals:
    """Return the totals of all rows of several partitions."""
    weights = reduce(np.add, [partition.weights for partition in partitions])
    return Totals(weights, reduce(np.add, [partition.rows for partition in partitions]))


def added_branches(*partitions: list[CountTable]) -> list[CountTable]:
    """Return for each node the table by branch of all rows of several partitions."""
    return [
        replace(
            tables[0],
            weights=reduce(np.add, [table.weights for table in tables]),
            rows=reduce(np.add, [table.rows for table in tables]),
        )
        for tables in zip(*partitions, strict=True)
    ]


def added_products(*partitions: list[Products]) -> list[Products]:
    """Return for each request the products of all rows of several partitions."""
    return [sum_products(each) for each in zip(*partitions, strict=True)]


def answer_of(
    partition: EncodedPartition,
    standing: RowAssignment,
    question: Callable[[MemorySource], Any],
) -> Any:
    """Return the answer of the rows of a partition, as of those in memory."""
    return question(partition.at(standing))


def tables_of(
    partition: EncodedPartition,
    standing: RowAssignment,
    question: Callable[[MemorySource], Iterable[TableBatch]],
) -> PartitionTables:
    """Return the tables that the rows of a partition answer with."""
    return PartitionTables(joined_batches(question(partition.at(standing))))


def bins_at(
    partition: EncodedPartition,
    standing: RowAssignment,
    requests: Sequence[TableRequest],
    small: NDArray[np.bool_],
) -> PartitionTables:
    """Return the tables of requests, numbers of many values by bins.

    At nodes that are ``small`` they are counted by their values.
    """
    source = partition.at(standing)
    every = np.arange(len(requests))
    few = _of_some(requests, every, partition.bins, inside=False)
    stacks = list(source.tables(few)) if few else []
    if of_bins := _of_some(requests, every[~small], partition.bins, inside=True):
        stack = joined_batches(
            source.with_assignment(standing, partition.bins).tables(of_bins)
        )
        stacks.append(_at_places(stack, every[~small]))
    if of_values := _of_some(requests, every[small], partition.bins, inside=True):
        stack = joined_batches(source.tables(of_values))
        stacks.append(_at_places(stack, every[small]))
    return PartitionTables(joined_batches(stacks))


def _of_some(
    requests: Sequence[TableRequest],
    places: Integers,
    many: Mapping[int, object],
    *,
    inside: bool,
) -> list[TableRequest]:
    """Return requests for attributes of many numbers, or of others; [] if for none."""
    some = []
    for at in places.tolist():
        request = requests[at]
        question_ = tuple(i for i in request.attributes if (i in many) is inside)
        some.append(TableRequest(request.node, question_))
    return some if any(request.attributes for request in some) else []


def _at_places(stack: TableBatch, places: Integers) -> TableBatch:
    """Return a stack whose nodes are numbered as those of all requests."""
    return replace(stack, node=places[stack.node])


def ranges_at(partition: EncodedPartition) -> Ranges:
    """Return the least and the greatest number of each bin, by attribute."""
    ranges = {}
    every = np.arange(partition.n_rows)
    for index, (numbers, bins) in partition.bins.items():
        cells = partition.source.cells(index, every)
        known = np.flatnonzero(bins >= 0)
        order = known[np.argsort(bins[known], kind="stable")]
        least, most = np.full((2, len(numbers)), np.inf)
        most *= -1
        if len(order):
            start = np.flatnonzero(begins_run(bins[order]))
            own = bins[order][start]
            least[own] = np.minimum.reduceat(cells[order] + 0.0, start)
            most[own] = np.maximum.reduceat(cells[order] + 0.0, start)
        ranges[index] = least, most
    return ranges


def united_ranges(*partitions: Ranges) -> Ranges:
    """Return the ranges of bins of several partitions."""
    return {
        index: (
            np.min([partition[index][0] for partition in partitions], axis=0),
            np.max([partition[index][1] for partition in partitions], axis=0),
        )
        for index in partitions[0]
    }


def in_ranges(
    stack: TableBatch, ranges: Ranges, small: NDArray[np.bool_]
) -> TableBatch:
    """Return tables by bins with the least and the greatest number of each line.

    At nodes that are ``small`` a line is of one number.
    """
    values, low = stack.values.copy(), stack.values.copy()
    of_bins = ~small[stack.node]
    for index, (least, most) in ranges.items():
        lines = np.flatnonzero((of_bins & (stack.attribute == index))[stack.owner])
        bins = stack.values[lines].astype(np.int64)
        low[lines], values[lines] = least[bins], most[bins]
    return replace(stack, values=values, low=low)


def opened_at(
    partition: EncodedPartition,
    standing: RowAssignment,
    intervals: OpenIntervals,
    nodes: Sequence[int],
) -> PartitionTables:
    """Return the tables of opened bins, of each attribute at its nodes.

    ``nodes`` are those that the intervals number.
    """
    source = partition.at(standing)
    answers = []
    for index, by_node in intervals.items():
        inside, numbers = [], []
        for place, listed in by_node.items():
            rows, weights = standing.members[nodes[place]]
            cells = source.cells(index, rows) + 0.0
            keys = keys_of(listed, cells)
            own = np.flatnonzero(~np.isnan(keys))
            inside.append((rows[own], weights[own], keys[own]))
            numbers.append(cells[own])
        stack = source.tables_by(index, inside)
        low, high = _ends(stack, [keys for _, _, keys in inside], numbers)
        stack = _at_places(stack, np.array(list(by_node)))
        answers.append(PartitionTables(stack, low, high))
    return PartitionTables(
        joined_batches(each.stack for each in answers),
        np.concatenate([each.lowest for each in answers]),
        np.concatenate([each.highest for each in answers]),
    )


def _ends(
    stack: TableBatch, keys: Sequence[Floats], numbers: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Return the least and the greatest number of each line of a stack.

    ``keys`` and ``numbers`` are those of the rows of its tables.
    """
    key, number = (np.concatenate([np.zeros(0), *each]) for each in (keys, numbers))
    if np.array_equal(key, number):
        return stack.values, stack.values
    owner = np.repeat(np.arange(len(keys)), [len(each) for each in keys])
    order = np.lexsort((key, owner))
    start = np.flatnonzero(begins_run(owner[order], key[order]))
    sorted_numbers = number[order]
    return (
        np.minimum.reduceat(sorted_numbers, start),
        np.maximum.reduceat(sorted_numbers, start),
    )
