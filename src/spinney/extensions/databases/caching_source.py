"""Rows in an engine, of which those of small nodes are fetched once and then held.

A statement costs the same for a node of ten rows or of thousands, and below the first
levels even a table that nobody can load consists of nodes that anybody can. So nodes of
at most ``FEW`` rows take turns: as many of them as memory may hold are fetched, by one
statement, everything below them is counted in memory, and they are let go. Where all
nodes that are left fit, all of them are fetched. What is counted is the same rows with
the same weights, so it is the same tree.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from spinney.data import Attribute, Schema
from spinney.extensions.databases.sql_source import SqlSource
from spinney.sources.base import (
    ROOT,
    AgreementRequest,
    BinnedTables,
    Products,
    Source,
    TableRequest,
    TermRequest,
    Totals,
)
from spinney.sources.rows.memory import MemorySource
from spinney.trees import CountTable, Route, TableBatch, joined_batches

FEW = 20_000
"""Nodes of so many rows are fetched."""

Asked = TypeVar("Asked", TableRequest, AgreementRequest, TermRequest, tuple[int, Route])
OfTables = TypeVar("OfTables", TableRequest, AgreementRequest)
Answer = TypeVar("Answer")


@dataclass(slots=True, eq=False)
class Hold:
    """Nodes that are fetched together, and what counts their rows once they are."""

    nodes: set[int] = field(default_factory=set)
    source: MemorySource | None = None


class CachingSource:
    """Rows of an engine, and in memory those of nodes that have become small.

    Parameters
    ----------
    away : SqlSource
        Where all rows are.
    most_rows : int
        How many may be held at once.
    """

    def __init__(self, away: SqlSource, most_rows: int) -> None:
        self._away, self._most_rows = away, most_rows
        self._holds: dict[int, Hold] = {}
        self._made: dict[int, Attribute] = {}

    @property
    def schema(self) -> Schema:
        """The attributes and classes that the tables' codes mean."""
        return self._away.schema

    def root(self) -> Totals:
        """Return the totals of all rows."""
        return self._away.root()

    def batches(
        self, n_rows: Mapping[int, int], *, in_order: bool = False
    ) -> list[list[int]]:
        """Divide nodes: large ones first, of the others as many as may be held.

        Groups are taken from the last one on, so what is small is done with first. If
        nodes are taken ``in_order``, those between which there is a large one are not
        held together: below that one others will be.
        """
        at_hand = [node for node in n_rows if node in self._holds]
        away = {node: n for node, n in n_rows.items() if node not in self._holds}
        every = sum(away.values()) <= self._most_rows
        large: list[int] = []
        groups: list[list[int]] = []
        hold, size = None, 0
        for node, n in away.items():
            if node == ROOT or n > self._most_rows or not (every or n <= FEW):
                large.append(node)
                hold = None if in_order else hold
                continue
            if hold is None or size + n > self._most_rows:
                hold, size = Hold(), 0
                groups.append([])
            size += n
            hold.nodes.add(node)
            self._holds[node] = hold
            groups[-1].append(node)
        groups = [each for each in (large, *groups, at_hand) if each]
        if len(groups) - bool(at_hand) > 1:
            self._away.settle(away)
        return groups

    def _owner(self, node: int) -> Source:
        """Return who has the rows of a node; they are fetched when first asked for."""
        hold = self._holds.get(node)
        if hold is None:
            return self._away
        if hold.source is None:
            hold.source = self._fetched(sorted(hold.nodes))
            self._away.release(hold.nodes)
        return hold.source

    def _fetched(self, nodes: Sequence[int]) -> MemorySource:
        lines = self._away.fetched(nodes)
        source = MemorySource(
            self.schema, lines.columns, classes=lines.classes, weights=lines.weight
        )
        for index, attribute in self._made.items():
            source.extend(index, attribute)
        order = np.argsort(lines.node, kind="stable")
        ends = np.searchsorted(lines.node[order], nodes, side="right")
        begins = np.searchsorted(lines.node[order], nodes)
        for node, first, last in zip(nodes, begins, ends, strict=True):
            rows = order[first:last]
            source.assign_rows({node: (rows, lines.weight[rows])})
        return source

    def _by_owner(
        self, asked: Sequence[Asked], node_of: Callable[[Asked], int]
    ) -> list[tuple[Source, list[int]]]:
        """Return who is asked which of some questions, by their places."""
        owners: dict[int, tuple[Source, list[int]]] = {}
        for place, each in enumerate(asked):
            owner = self._owner(node_of(each))
            owners.setdefault(id(owner), (owner, []))[1].append(place)
        return list(owners.values())

    def partition(
        self,
        node: int,
        route: Route,
        children: Mapping[int, int],
        *,
        keep: bool = False,
    ) -> None:
        """Send the rows of a node to its children, who have them where it has."""
        owner, hold = self._owner(node), self._holds.get(node)
        for child in children.values():
            if self._holds.get(child) is not hold:
                self.release([child])  # of a tree before
        owner.partition(node, route, children, keep=keep)
        if hold is None:
            return
        for child in children.values():
            self._holds[child] = hold
            hold.nodes.add(child)
        if not keep:
            self._let_go(node)

    def release(self, nodes: Iterable[int]) -> None:
        """Let go of nodes; of rows, where no node is left that has them."""
        for node in nodes:
            hold = self._holds.get(node)
            if hold is not None and hold.source is not None:
                hold.source.release([node])
            else:
                self._away.release([node])
            self._let_go(node)

    def _let_go(self, node: int) -> None:
        hold = self._holds.pop(node, None)
        if hold is not None:
            hold.nodes.discard(node)
            if not hold.nodes:
                hold.source = None

    def tables(self, requests: Sequence[TableRequest]) -> Iterator[TableBatch]:
        """Give the tables of all requests."""
        return self._stacks(requests, lambda source, some: source.tables(some))

    def agreements(self, requests: Sequence[AgreementRequest]) -> Iterator[TableBatch]:
        """Give the tables of value × branch of all requests."""
        return self._stacks(requests, lambda source, some: source.agreements(some))

    def _stacks(
        self,
        requests: Sequence[OfTables],
        ask: Callable[[Source, list[OfTables]], Iterator[TableBatch]],
    ) -> Iterator[TableBatch]:
        self._away.check_memory()
        for owner, places in self._by_owner(requests, lambda request: request.node):
            numbers = np.array(places)
            for stack in ask(owner, [requests[place] for place in places]):
                yield replace(stack, node=numbers[stack.node])

    def binned(
        self, requests: Sequence[TableRequest], n_rows: Sequence[int]
    ) -> BinnedTables:
        """Return the tables of all requests; those that are held need no bins."""
        if all(self._owner(request.node) is self._away for request in requests):
            return self._away.binned(requests, n_rows)
        return BinnedTables(joined_batches(self.tables(requests)))

    def is_remote(self, nodes: Iterable[int]) -> bool:
        """Return whether the rows of some of these nodes are not fetched."""
        return any(node not in self._holds for node in nodes)

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return for each node and route the table of its rows by branch."""
        return self._answers(
            routes, lambda pair: pair[0], lambda source, some: source.routed(some)
        )

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return for each request how its terms vary."""
        return self._answers(
            requests,
            lambda request: request.node,
            lambda source, some: source.products(some),
        )

    def _answers(
        self,
        asked: Sequence[Asked],
        node_of: Callable[[Asked], int],
        ask: Callable[[Source, list[Asked]], list[Answer]],
    ) -> list[Answer]:
        answers: dict[int, Answer] = {}
        for owner, places in self._by_owner(asked, node_of):
            some = ask(owner, [asked[place] for place in places])
            answers.update(zip(places, some, strict=True))
        return [answers[place] for place in range(len(asked))]

    def extend(self, index: int, attribute: Attribute) -> None:
        """Let an attribute with a formula stand at a place."""
        self._made[index] = attribute
        self._away.extend(index, attribute)
        for hold in self._holds.values():
            if hold.source is not None:
                hold.source.extend(index, attribute)
