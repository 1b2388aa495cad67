"""Rows in partitions: every request goes to all of them, and the answers are added.

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
"""At nodes of so many rows numbers are counted by value, for there are few of them."""


class PartitionedSource:
    """Rows in partitions.

    Parameters
    ----------
    executor : Executor
        Who holds the partitions and counts them.
    partitions : sequence of handles
        The partitions, encoded.
    schema : Schema
        What the codes mean.
    many : collection of int
        The attributes that have very many numbers, and bins.
    assignments : sequence of handles, optional
        Where the rows of each partition stand; all of them at the root, if not given.

    Attributes
    ----------
    levels : list of int
        How many bytes of counts came to the client, for each question.
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
        """Note where rows go; they are sent with the next question."""
        to = dict(children)
        self._moves.append(methodcaller("partition", node, route, to, keep=keep))

    def release(self, nodes: Iterable[int]) -> None:
        """Note which nodes may be forgotten."""
        self._moves.append(methodcaller("release", tuple(nodes)))

    def extend(self, index: int, attribute: Attribute) -> None:
        """Note which attribute stands at a place."""
        self._moves.append(methodcaller("extend", index, attribute))

    def _answer(
        self, request: Callable[..., Any], combine: Callable[..., Any], *arguments: Any
    ) -> Any:
        """Return the answer of all partitions to a question, added up."""
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
        """Give the tables of all requests, in one stack."""
        if any(request.attributes for request in requests):
            request = methodcaller("tables", tuple(requests))
            yield self._tables(answer_tables, request).batch

    def binned(
        self, requests: Sequence[TableRequest], n_rows: Sequence[int]
    ) -> BinnedTables:
        """Return the tables of all requests, numbers of many values by bins."""
        small = np.asarray(n_rows) <= MAX_ROWS_BY_VALUE
        attributes = {index for request in requests for index in request.attributes}
        if small.all() or attributes.isdisjoint(self._ranges):
            (batch,) = self.tables(requests)
            return BinnedTables(batch)
        coarse = self._tables(answer_bins, tuple(requests), small).batch
        nodes = [request.node for request in requests]

        def inside(intervals: OpenIntervals) -> TableBatch:
            answer = self._tables(answer_opened, intervals, nodes)
            return replace(answer.batch, values=answer.highest, low=answer.lowest)

        return openable_tables(in_ranges(coarse, self._ranges, small), inside)

    def is_remote(self, _: Iterable[int]) -> bool:
        """Return that all rows are with workers."""
        return True

    def agreements(self, requests: Sequence[AgreementRequest]) -> Iterator[TableBatch]:
        """Give the tables of value × branch of all requests, in one stack."""
        if any(request.attributes for request in requests):
            request = methodcaller("agreements", tuple(requests))
            yield self._tables(answer_tables, request).batch

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return for each node and route the table of its rows by branch."""
        request = methodcaller("routed", tuple(routes))
        answer: list[CountTable] = self._answer(answer_request, add_branches, request)
        return answer

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return for each request how its terms vary."""
        request = methodcaller("products", tuple(requests))
        answer: list[Products] = self._answer(answer_request, add_products, request)
        return answer
