"""Rows in partitions: all partitions answer a request, and the answers are added.

A partition is encoded once and stays on its worker. The nodes of its rows are kept
beside it, and computed from the previous ones at each level::

    coded₀ ─┬─ standing₀ ──moves──▶ standing₀′ ──moves──▶ standing₀″
            └──────────┴─ tables ─┐          └─ tables ─┐
    coded₁ ─┬─ standing₁ ──…      ├─ added ─▶ client     ├─ added ─▶ client
            └──────────┴─ tables ─┘          └─ tables ─┘

Results are never modified. A lost partition is encoded again, and its rows are sent
again along the splits: an executor only needs to know which calls made a result.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

from spinney.data import Attribute, Schema
from spinney.extensions.partitions.executors import Executor, sum_results
from spinney.extensions.partitions.partition_tables import (
    Move,
    PartitionTables,
    Ranges,
    add_branches,
    add_products,
    add_tables,
    add_totals,
    answer_bins,
    answer_opened,
    answer_request,
    answer_tables,
    apply_moves,
    bin_ranges_of,
    in_ranges,
    unite_ranges,
)
from spinney.sources.base import (
    AgreementRequest,
    BinnedTables,
    Products,
    TableRequest,
    TermRequest,
    Totals,
)
from spinney.sources.open_bins import OpenIntervals, openable_tables
from spinney.trees import CountTable, Route, TableBatch

MAX_ROWS_BY_VALUE = 500
"""Nodes with at most this many rows are counted by value."""


class PartitionedSource:
    """Rows in partitions.

    Parameters
    ----------
    executor : Executor
        Runs functions on the partitions.
    partitions : sequence of handles
        The encoded partitions.
    schema : Schema
        The schema of the encoded rows.
    many : collection of int
        The attributes with bins.
    assignments : sequence of handles, optional
        The nodes of each partition's rows. By default all rows are at the root.

    Attributes
    ----------
    levels : list of int
        The number of bytes sent to the client for each request.
    """

    def __init__(
        self,
        executor: Executor,
        partitions: Sequence[Any],
        schema: Schema,
        many: Iterable[int] = (),
        *,
        assignments: Sequence[Any] | None = None,
    ) -> None:
        self.schema = schema
        self.levels: list[int] = []
        self._executor, self._partitions = executor, list(partitions)
        self._assignments = list(assignments or ())
        if assignments is None:
            assign_to_root = attrgetter("source.assignment")
            self._assignments = [
                executor.submit(assign_to_root, partition)
                for partition in self._partitions
            ]
        self._moves: list[Move] = []
        root_request = answer_request, add_totals, methodcaller("root")
        self._totals: Totals = self._answer(*root_request)
        self._ranges: Ranges = {}
        if list(many):
            ranges = [
                executor.submit(bin_ranges_of, partition)
                for partition in self._partitions
            ]
            self._ranges = sum_results(executor, ranges, unite_ranges)

    def root(self) -> Totals:
        """Return the totals of all rows."""
        return self._totals

    def partition(
        self,
        node: int,
        route: Route,
        children: Mapping[int, int],
        *,
        keep: bool = False,
    ) -> None:
        """Record the route of a node; the next request applies it."""
        to = dict(children)
        self._moves.append(methodcaller("partition", node, route, to, keep=keep))

    def release(self, nodes: Iterable[int]) -> None:
        """Record nodes to release."""
        self._moves.append(methodcaller("release", tuple(nodes)))

    def extend(self, index: int, attribute: Attribute) -> None:
        """Register a constructed attribute under an index."""
        self._moves.append(methodcaller("extend", index, attribute))

    def _answer(
        self, request: Callable[..., Any], combine: Callable[..., Any], *arguments: Any
    ) -> Any:
        """Return the added answers of all partitions to a request."""
        submit = self._executor.submit
        pairs = list(zip(self._partitions, self._assignments, strict=True))
        if self._moves:
            moves, self._moves = tuple(self._moves), []
            self._assignments = [submit(apply_moves, *pair, moves) for pair in pairs]
            pairs = list(zip(self._partitions, self._assignments, strict=True))
        handles = [submit(request, *pair, *arguments) for pair in pairs]
        return sum_results(self._executor, handles, combine)

    def _tables(
        self, request: Callable[..., PartitionTables], *arguments: Any
    ) -> PartitionTables:
        answer: PartitionTables = self._answer(request, add_tables, *arguments)
        self.levels.append(answer.nbytes)
        return answer

    def tables(self, requests: Sequence[TableRequest]) -> Iterator[TableBatch]:
        """Yield the tables of all requests, in one batch."""
        if any(request.attributes for request in requests):
            request = methodcaller("tables", tuple(requests))
            yield self._tables(answer_tables, request).batch

    def binned(
        self, requests: Sequence[TableRequest], n_rows: Sequence[int]
    ) -> BinnedTables:
        """Return the tables of all requests; columns with many values are binned."""
        small = np.asarray(n_rows) <= MAX_ROWS_BY_VALUE
        attributes = {index for request in requests for index in request.attributes}
        if small.all() or attributes.isdisjoint(self._ranges):
            (batch,) = self.tables(requests)
            return BinnedTables(batch)
        coarse = self._tables(answer_bins, tuple(requests), small).batch
        nodes = [request.node for request in requests]

        def inside(intervals: OpenIntervals) -> TableBatch:
            answer = self._tables(answer_opened, intervals, nodes)
            return replace(
                answer.batch, values=answer.line_maxima, low=answer.line_minima
            )

        return openable_tables(in_ranges(coarse, self._ranges, small), inside)

    def is_remote(self, _: Iterable[int]) -> bool:
        """Return True: all rows are on workers."""
        return True

    def agreements(self, requests: Sequence[AgreementRequest]) -> Iterator[TableBatch]:
        """Yield the tables of value × branch of all requests, in one batch."""
        if any(request.attributes for request in requests):
            request = methodcaller("agreements", tuple(requests))
            yield self._tables(answer_tables, request).batch

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return the table of rows by branch for each node and route."""
        request = methodcaller("routed", tuple(routes))
        answer: list[CountTable] = self._answer(answer_request, add_branches, request)
        return answer

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return the weighted products of terms for each request."""
        request = methodcaller("products", tuple(requests))
        answer: list[Products] = self._answer(answer_request, add_products, request)
        return answer
