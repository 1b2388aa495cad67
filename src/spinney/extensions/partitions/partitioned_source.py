"""Rows in parts: every question is asked of all parts, and the answers are added up.

A part is coded once and kept by whoever coded it. Where its rows stand is kept beside
it, and made anew from where they stood before at each level::

    coded₀ ─┬─ standing₀ ──moves──▶ standing₀′ ──moves──▶ standing₀″
            └──────────┴─ tables ─┐          └─ tables ─┐
    coded₁ ─┬─ standing₁ ──…      ├─ added ─▶ client     ├─ added ─▶ client
            └──────────┴─ tables ─┘          └─ tables ─┘

Nothing that was made is changed, so a part that is lost is coded again, and its rows
are sent again along the splits that were made: an executor that loses results needs to
know no more than which calls made them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

from spinney.data import Attribute, Schema
from spinney.extensions.partitions.executors import Executor, added_up
from spinney.extensions.partitions.partition_tables import (
    Move,
    PartitionTables,
    Ranges,
    added,
    added_branches,
    added_products,
    added_totals,
    answer_of,
    bins_at,
    in_ranges,
    moved,
    opened_at,
    ranges_at,
    tables_of,
    united_ranges,
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

MOST_ROWS = 500
"""At nodes of so many rows numbers are counted by value, for there are few of them."""


class PartitionedSource:
    """Rows in parts.

    Parameters
    ----------
    executor : Executor
        Who holds the parts and counts them.
    parts : sequence of handles
        The parts, coded.
    schema : Schema
        What the codes mean.
    many : collection of int
        The attributes that have very many numbers, and bins.
    standing : sequence of handles, optional
        Where the rows of each part stand; all of them at the root, if not given.

    Attributes
    ----------
    levels : list of int
        How many bytes of counts came to the client, for each question.
    """

    def __init__(
        self,
        executor: Executor,
        parts: Sequence[Any],
        schema: Schema,
        many: Iterable[int] = (),
        *,
        standing: Sequence[Any] | None = None,
    ) -> None:
        self.schema = schema
        self.levels: list[int] = []
        self._executor, self._parts = executor, list(parts)
        self._standing = list(standing or ())
        if standing is None:
            at_root = attrgetter("source.assignment")
            self._standing = [executor.submit(at_root, part) for part in self._parts]
        self._moves: list[Move] = []
        asked = answer_of, added_totals, methodcaller("root")
        self._totals: Totals = self._asked(*asked)
        self._ranges: Ranges = {}
        if list(many):
            ranges = [executor.submit(ranges_at, part) for part in self._parts]
            self._ranges = added_up(executor, ranges, united_ranges)

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

    def _asked(
        self, question: Callable[..., Any], add: Callable[..., Any], *what: Any
    ) -> Any:
        """Return the answer of all parts to a question, added up."""
        submit = self._executor.submit
        pairs = list(zip(self._parts, self._standing, strict=True))
        if self._moves:
            moves, self._moves = tuple(self._moves), []
            self._standing = [submit(moved, *pair, moves) for pair in pairs]
            pairs = list(zip(self._parts, self._standing, strict=True))
        handles = [submit(question, *pair, *what) for pair in pairs]
        return added_up(self._executor, handles, add)

    def _tables(
        self, question: Callable[..., PartitionTables], *what: Any
    ) -> PartitionTables:
        answer: PartitionTables = self._asked(question, added, *what)
        self.levels.append(answer.nbytes)
        return answer

    def tables(self, requests: Sequence[TableRequest]) -> Iterator[TableBatch]:
        """Give the tables of all requests, in one stack."""
        if any(request.attributes for request in requests):
            asked = methodcaller("tables", tuple(requests))
            yield self._tables(tables_of, asked).stack

    def binned(
        self, requests: Sequence[TableRequest], n_rows: Sequence[int]
    ) -> BinnedTables:
        """Return the tables of all requests, numbers of many values by bins."""
        small = np.asarray(n_rows) <= MOST_ROWS
        asked = {index for request in requests for index in request.attributes}
        if small.all() or asked.isdisjoint(self._ranges):
            (stack,) = self.tables(requests)
            return BinnedTables(stack)
        coarse = self._tables(bins_at, tuple(requests), small).stack
        nodes = [request.node for request in requests]

        def inside(intervals: OpenIntervals) -> TableBatch:
            answer = self._tables(opened_at, intervals, nodes)
            return replace(answer.stack, values=answer.highest, low=answer.lowest)

        return openable_tables(in_ranges(coarse, self._ranges, small), inside)

    def is_remote(self, _: Iterable[int]) -> bool:
        """Return that all rows are with workers."""
        return True

    def agreements(self, requests: Sequence[AgreementRequest]) -> Iterator[TableBatch]:
        """Give the tables of value × branch of all requests, in one stack."""
        if any(request.attributes for request in requests):
            asked = methodcaller("agreements", tuple(requests))
            yield self._tables(tables_of, asked).stack

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return for each node and route the table of its rows by branch."""
        asked = methodcaller("routed", tuple(routes))
        answer: list[CountTable] = self._asked(answer_of, added_branches, asked)
        return answer

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return for each request how its terms vary."""
        asked = methodcaller("products", tuple(requests))
        answer: list[Products] = self._asked(answer_of, added_products, asked)
        return answer
