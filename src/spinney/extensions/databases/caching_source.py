"""Remote rows of an engine, with a cache of the rows of small nodes.

A query costs the same for a node of ten rows or of thousands, and below the first
levels even a huge table consists of small nodes. So nodes of at most ``FETCHED_ROWS``
rows are fetched in groups that fit in memory, by one query each; everything below them
is counted in memory, and the group is dropped. If all remaining nodes fit, all of them
are fetched. The same rows with the same weights give the same tree.
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

FETCHED_ROWS = 20_000
"""The maximum number of rows of a node that is fetched."""

Query = TypeVar("Query", TableRequest, AgreementRequest, TermRequest, tuple[int, Route])
TableQuery = TypeVar("TableQuery", TableRequest, AgreementRequest)
Answer = TypeVar("Answer")


@dataclass(slots=True, eq=False)
class CachedGroup:
    """Nodes that are fetched together, and the source of their rows once fetched."""

    nodes: set[int] = field(default_factory=set)
    source: MemorySource | None = None


class CachingSource:
    """Remote rows of an engine, with a cache of the rows of small nodes.

    Parameters
    ----------
    remote : SqlSource
        The source of all rows.
    max_rows : int
        The maximum number of rows in the cache.
    """

    def __init__(self, remote: SqlSource, max_rows: int) -> None:
        self._remote, self._max_rows = remote, max_rows
        self._groups: dict[int, CachedGroup] = {}
        self._constructed: dict[int, Attribute] = {}

    @property
    def schema(self) -> Schema:
        """The schema of the encoded rows."""
        return self._remote.schema

    def root(self) -> Totals:
        """Return the totals of all rows."""
        return self._remote.root()

    def batches(
        self, n_rows: Mapping[int, int], *, in_order: bool = False
    ) -> list[list[int]]:
        """Divide nodes: large ones first, then groups of small ones that fit.

        Groups are taken from the last one on, so that small nodes are finished first.
        If nodes are taken ``in_order``, a large node between others separates groups:
        groups below it need the memory.
        """
        cached = [node for node in n_rows if node in self._groups]
        remote = {node: n for node, n in n_rows.items() if node not in self._groups}
        all_fit = sum(remote.values()) <= self._max_rows
        large: list[int] = []
        groups: list[list[int]] = []
        group, size = None, 0
        for node, n in remote.items():
            if node == ROOT or n > self._max_rows or not (all_fit or n <= FETCHED_ROWS):
                large.append(node)
                group = None if in_order else group
                continue
            if group is None or size + n > self._max_rows:
                group, size = CachedGroup(), 0
                groups.append([])
            size += n
            group.nodes.add(node)
            self._groups[node] = group
            groups[-1].append(node)
        groups = [nodes for nodes in (large, *groups, cached) if nodes]
        if len(groups) - bool(cached) > 1:
            self._remote.store_nodes(remote)
        return groups

    def _source_of(self, node: int) -> Source:
        """Return the source of a node's rows, which are fetched on first use."""
        group = self._groups.get(node)
        if group is None:
            return self._remote
        if group.source is None:
            group.source = self._fetch(sorted(group.nodes))
            self._remote.release(group.nodes)
        return group.source

    def _fetch(self, nodes: Sequence[int]) -> MemorySource:
        lines = self._remote.fetched(nodes)
        source = MemorySource(
            self.schema, lines.columns, classes=lines.classes, weights=lines.weight
        )
        for index, attribute in self._constructed.items():
            source.extend(index, attribute)
        order = np.argsort(lines.node, kind="stable")
        ends = np.searchsorted(lines.node[order], nodes, side="right")
        begins = np.searchsorted(lines.node[order], nodes)
        for node, first, last in zip(nodes, begins, ends, strict=True):
            rows = order[first:last]
            source.assign_rows({node: (rows, lines.weight[rows])})
        return source

    def _positions_by_source(
        self, queries: Sequence[Query], node_of: Callable[[Query], int]
    ) -> list[tuple[Source, list[int]]]:
        """Return each source with the positions of its queries."""
        sources: dict[int, tuple[Source, list[int]]] = {}
        for place, query_ in enumerate(queries):
            source = self._source_of(node_of(query_))
            sources.setdefault(id(source), (source, []))[1].append(place)
        return list(sources.values())

    def partition(
        self,
        node: int,
        route: Route,
        children: Mapping[int, int],
        *,
        keep: bool = False,
    ) -> None:
        """Send the rows of a node to its children, in the same source."""
        source, group = self._source_of(node), self._groups.get(node)
        for child in children.values():
            if self._groups.get(child) is not group:
                self.release([child])  # of a previous tree
        source.partition(node, route, children, keep=keep)
        if group is None:
            return
        for child in children.values():
            self._groups[child] = group
            group.nodes.add(child)
        if not keep:
            self._drop(node)

    def release(self, nodes: Iterable[int]) -> None:
        """Release nodes, and the rows of groups without nodes."""
        for node in nodes:
            group = self._groups.get(node)
            if group is not None and group.source is not None:
                group.source.release([node])
            else:
                self._remote.release([node])
            self._drop(node)

    def _drop(self, node: int) -> None:
        group = self._groups.pop(node, None)
        if group is not None:
            group.nodes.discard(node)
            if not group.nodes:
                group.source = None

    def tables(self, requests: Sequence[TableRequest]) -> Iterator[TableBatch]:
        """Yield the tables of all requests."""
        return self._batches(requests, lambda source, some: source.tables(some))

    def agreements(self, requests: Sequence[AgreementRequest]) -> Iterator[TableBatch]:
        """Yield the tables of value × branch of all requests."""
        return self._batches(requests, lambda source, some: source.agreements(some))

    def _batches(
        self,
        requests: Sequence[TableQuery],
        query: Callable[[Source, list[TableQuery]], Iterator[TableBatch]],
    ) -> Iterator[TableBatch]:
        self._remote.check_memory()
        for source, places in self._positions_by_source(
            requests, lambda request: request.node
        ):
            numbers = np.array(places)
            for batch in query(source, [requests[place] for place in places]):
                yield replace(batch, node=numbers[batch.node])

    def binned(
        self, requests: Sequence[TableRequest], n_rows: Sequence[int]
    ) -> BinnedTables:
        """Return the tables of all requests, cached ones without bins."""
        if all(self._source_of(request.node) is self._remote for request in requests):
            return self._remote.binned(requests, n_rows)
        return BinnedTables(joined_batches(self.tables(requests)))

    def is_remote(self, nodes: Iterable[int]) -> bool:
        """Return whether the rows of some of these nodes are not fetched."""
        return any(node not in self._groups for node in nodes)

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return the table of rows by branch for each node and route."""
        return self._collect_answers(
            routes, lambda pair: pair[0], lambda source, some: source.routed(some)
        )

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return the weighted products of terms for each request."""
        return self._collect_answers(
            requests,
            lambda request: request.node,
            lambda source, some: source.products(some),
        )

    def _collect_answers(
        self,
        queries: Sequence[Query],
        node_of: Callable[[Query], int],
        query: Callable[[Source, list[Query]], list[Answer]],
    ) -> list[Answer]:
        answers: dict[int, Answer] = {}
        for source, places in self._positions_by_source(queries, node_of):
            part = query(source, [queries[place] for place in places])
            answers.update(zip(places, part, strict=True))
        return [answers[place] for place in range(len(queries))]

    def extend(self, index: int, attribute: Attribute) -> None:
        """Register a constructed attribute under an index."""
        self._constructed[index] = attribute
        self._remote.extend(index, attribute)
        for group in self._groups.values():
            if group.source is not None:
                group.source.extend(index, attribute)
