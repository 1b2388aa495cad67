"""Rows in memory, as arrays of codes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import starts_of
from spinney.data import Attribute, Schema
from spinney.sources.base import (
    ROOT,
    AgreementRequest,
    Products,
    TableRequest,
    TermRequest,
    Totals,
    join_products,
    term_batches,
)
from spinney.sources.rows.ranked_cells import (
    CountEntries,
    Ranked,
    SelectRows,
    bucket_places,
    count_tables,
    cross_count,
    join_small,
    ranked_numbers,
    ranked_values,
    with_bucket_ranges,
)
from spinney.sources.rows.row_products import products_of_parts
from spinney.trees import (
    CountTable,
    Route,
    Split,
    Surrogate,
    TableBatch,
    Threshold,
)

MAX_TERMS_PER_BATCH = 128
MIN_BATCHED_NODES = 4  # fewer nodes are not worth sending together
CELLS_PER_BATCH = 1 << 18  # cells counted at once, unless a single column has more


@dataclass(frozen=True, slots=True, eq=False)
class RowAssignment:
    """The rows of each node with their weights, and the constructed attributes.

    ``constructed`` are the attributes with formulas, by index.
    """

    members: Mapping[int, tuple[Integers, Floats]]
    constructed: Mapping[int, Attribute] = field(default_factory=dict)

    def __sizeof__(self) -> int:
        return sum(rows.nbytes + own.nbytes for rows, own in self.members.values())


@dataclass(frozen=True, slots=True, eq=False)
class _PendingPartition:
    """A node whose rows are yet to be sent to its children."""

    node: int
    route: Route
    children: Mapping[int, int]
    keep: bool


class MemorySource:
    """Rows in memory.

    Parameters
    ----------
    schema : Schema
        The schema of the codes.
    columns : sequence of arrays
        The cells of each attribute, encoded by ``Schema.encode``.
    classes : array of int or float
        The class of each row, or the number of a numeric target.
    weights : array of float, optional
        The weight of each row, greater than 0.
    ranked : mapping of int to Ranked, optional
        The values and ranks of some attributes.

    Notes
    -----
    Columns are ranked on first use. A numeric column becomes ranks of its distinct
    values, so that numbers and codes are counted alike.
    """

    def __init__(
        self,
        schema: Schema,
        columns: Sequence[NDArray[Any]],
        *,
        classes: NDArray[Any],
        weights: Floats | None = None,
        ranked: Mapping[int, Ranked] | None = None,
    ) -> None:
        self.schema = schema
        self._targets, self._weights = classes, weights
        self._columns: dict[int, Ranked] = dict(ranked or {})
        self._cells_by_attribute = dict(enumerate(columns))
        self._constructed: dict[int, Attribute] = {}
        # The cuts by which attributes were last counted, and the buckets between them.
        self._buckets: dict[int, tuple[Floats, Ranked]] = {}
        # Rows are sent when a child's rows are first needed.
        self._pending: list[_PendingPartition] = []

    @property
    def _members(self) -> dict[int, tuple[Integers, Floats]]:
        """The rows of each node and their weights, after all pending partitions."""
        if self._pending:
            pending, self._pending = self._pending, []
            for partition in self._send_together(pending):
                self._send(partition)
        return self._assigned

    @cached_property
    def _assigned(self) -> dict[int, tuple[Integers, Floats]]:
        """The rows of each node before pending partitions; at first the root's."""
        n_rows = len(self._targets)
        weights = np.ones(n_rows) if self._weights is None else self._weights
        return {ROOT: (np.arange(n_rows), np.asarray(weights, dtype=float))}

    @cached_property
    def _numbers(self) -> Floats | None:
        """The numbers of a numeric target, from its origin."""
        origin = self.schema.target.origin
        if origin is None:
            return None
        return np.asarray(np.asarray(self._targets, dtype=np.float64) - origin)

    @cached_property
    def _classes(self) -> Integers:
        """The class of each row; 0 for a numeric target."""
        if self._numbers is not None:
            return np.zeros(len(self._targets), dtype=np.int64)
        return np.asarray(self._targets, dtype=np.int64)

    @property
    def rows(self) -> tuple[list[NDArray[Any]], NDArray[Any], Floats]:
        """The cells of the attributes, the classes or numbers, and the weights."""
        columns = [
            self._cells_by_attribute[index] for index in range(self.schema.n_columns)
        ]
        weights = self._weights
        if weights is None:
            weights = np.ones(len(self._targets))
        return columns, self._targets, weights

    @property
    def assignment(self) -> RowAssignment:
        """The current nodes of the rows."""
        return RowAssignment(dict(self._members), dict(self._constructed))

    def with_assignment(
        self, assignment: RowAssignment, ranked: Mapping[int, Ranked] | None = None
    ) -> "MemorySource":
        """Return a copy whose rows are at other nodes.

        Attributes in ``ranked`` are counted by these values instead of their own.
        """
        _ = self._classes, self._numbers  # computed once, for all copies
        copied = copy(self)
        copied._assigned, copied._constructed = (
            dict(assignment.members),
            dict(assignment.constructed),
        )
        copied._pending = []
        if ranked or assignment.constructed:
            retained = {
                i: v for i, v in self._columns.items() if i in self._cells_by_attribute
            }
            copied._columns = {**retained, **(ranked or {})}
        return copied

    def root(self) -> Totals:
        """Return the totals of all rows."""
        rows, weights = self._members[ROOT]
        zeros = np.zeros(len(rows), dtype=np.int64)
        totals, counts = self._count_entries(
            rows, weights, zeros, lambda entries: entries, 1
        )
        return Totals(totals[0], counts[0])

    def tables(self, requests: Sequence[TableRequest]) -> Iterator[TableBatch]:
        """Yield the tables of all requests, some attributes at a time."""
        rows, weights, owner = self._rows_of_level(
            [request.node for request in requests]
        )
        count_entries = partial(self._count_entries, rows, weights)
        return self._batches(requests, rows, owner, count_entries)

    def tables_in_buckets(
        self, requests: Sequence[TableRequest], cuts: Mapping[int, Floats]
    ) -> Iterator[TableBatch]:
        """Yield the tables of all requests; numbers have a line per bucket."""
        rows, weights, owner = self._rows_of_level(
            [request.node for request in requests]
        )
        for index, attribute_cuts in cuts.items():
            if self._buckets.get(index, (None,))[0] is not attribute_cuts:
                cells = self.cells(index, np.arange(len(self._targets)))
                self._buckets[index] = (
                    attribute_cuts,
                    bucket_places(cells, attribute_cuts),
                )
        by_bucket = copy(self)
        ranked = {index: self._buckets[index][1] for index in cuts}
        by_bucket._columns = {**self._columns, **ranked}
        count_entries = partial(self._count_entries, rows, weights)
        batches = by_bucket._batches(requests, rows, owner, count_entries)
        batches = (
            with_bucket_ranges(batch, ranked, self.cells, rows, owner)
            for batch in batches
        )
        return join_small(batches, CELLS_PER_BATCH)

    def tables_by(
        self,
        index: int,
        parts: Sequence[tuple[Integers, Floats, Floats]],
    ) -> TableBatch:
        """Return a table of an attribute for each part (rows, weights, target numbers).

        The node of a table is the position of its part.
        """
        rows = np.concatenate([each for each, _, _ in parts])
        weights = np.concatenate([each for _, each, _ in parts])
        numbers = np.concatenate([each for _, _, each in parts])
        owner = np.repeat(np.arange(len(parts)), [len(each) for each, _, _ in parts])
        count_entries = partial(self._count_entries, rows, weights)
        return count_tables(
            [index], [ranked_numbers(numbers)], owner, len(parts), count_entries
        )

    def agreements(self, requests: Sequence[AgreementRequest]) -> Iterator[TableBatch]:
        """Yield the tables of value × branch of all requests."""
        rows, weights, owner = self._rows_of_level(
            [request.node for request in requests]
        )
        ends = np.searchsorted(owner, np.arange(len(requests) + 1))
        branches = np.full(len(rows), -1)
        for request, (first, last) in zip(requests, pairwise(ends), strict=True):
            branches[first:last] = self.split_branches(request.split, rows[first:last])
        max_branches = max(
            (request.split.n_branches for request in requests), default=0
        )
        branches[branches < 0] = max_branches
        count_entries = partial(cross_count, weights, branches, max_branches + 1)
        return self._batches(requests, rows, owner, count_entries)

    def _rows_of_level(self, nodes: Sequence[int]) -> tuple[Integers, Floats, Integers]:
        """Return the rows of nodes, one node after the other, and their weights."""
        members = [self._members[node] for node in nodes]
        if len(members) == 1:
            rows, weights = members[0]
            return rows, weights, np.zeros(len(rows), dtype=np.int64)
        owner = np.repeat(np.arange(len(nodes)), [len(rows) for rows, _ in members])
        rows = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in members)])
        return rows, np.concatenate([np.zeros(0), *(own for _, own in members)]), owner

    def _batches(
        self,
        requests: Sequence[TableRequest | AgreementRequest],
        rows: Integers,
        owner: Integers,
        count_entries: CountEntries,
    ) -> Iterator[TableBatch]:
        """Yield tables for some attributes at a time, from rows and their nodes."""
        lists = {request.attributes for request in requests}
        attributes = sorted(set().union(*lists))
        step = max(1, CELLS_PER_BATCH // max(1, len(rows)))
        for first in range(0, len(attributes), step):
            part = attributes[first : first + step]
            columns = [self._column(index, rows) for index in part]
            batch = count_tables(part, columns, owner, len(requests), count_entries)
            yield batch if len(lists) == 1 else _requested_tables(batch, requests)

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return the table of rows by branch for each node and route."""
        answers = []
        for node, route in routes:
            rows, weights = self._members[node]
            n_branches = route.split.n_branches
            cells, counts = self._count_entries(
                rows,
                weights,
                self.route_branches(route, rows),
                lambda entries: entries,
                n_branches,
            )
            missing = np.zeros_like(cells[0]), np.zeros_like(counts[0])
            answers.append(CountTable(np.arange(n_branches), cells, counts, *missing))
        return answers

    def extend(self, index: int, attribute: Attribute) -> None:
        """Add a constructed attribute at an index."""
        self._constructed[index] = attribute
        self._columns.pop(index, None)

    def cells(self, index: int, rows: Integers) -> NDArray[Any]:
        """Return the encoded cells of some rows."""
        if index in self._cells_by_attribute:
            cells = self._cells_by_attribute[index][rows]
            numeric = self.schema.attributes[index].kind == "numeric"
            return cells.astype(np.float64, copy=False) if numeric else cells
        formula = self._constructed[index].formula
        assert formula is not None
        behind: list[Any] = [None] * len(self.schema.attributes)
        for position in formula.attribute_indices:
            behind[position] = self.cells(position, rows)
        return formula.cells(behind)

    def _column(self, index: int, rows: Integers) -> Ranked:
        """Return the values of an attribute, and the ranks of some rows.

        Ranks of all rows are cached.
        """
        if index not in self._columns:
            is_column, n_rows = index in self._cells_by_attribute, len(self._targets)
            is_part = len(rows) < n_rows
            attribute = (
                self.schema.attributes[index] if is_column else self._constructed[index]
            )
            cells = self.cells(index, rows if is_part else np.arange(n_rows))
            ranked = ranked_values(attribute, cells)
            if is_part:
                return ranked
            self._columns[index] = ranked
        values, ranks = self._columns[index]
        return values, ranks[rows]

    def partition(
        self,
        node: int,
        route: Route,
        children: Mapping[int, int],
        *,
        keep: bool = False,
    ) -> None:
        """Send the rows of a node to its children when these are first needed.

        So the rows of a level are sent together.
        """
        # The node may be a child of a pending partition itself.
        assigned = self._assigned if node in self._assigned else self._members
        assert node in assigned
        self._pending.append(_PendingPartition(node, route, dict(children), keep))

    def _send_together(
        self, pending: Sequence["_PendingPartition"]
    ) -> Sequence["_PendingPartition"]:
        """Send the rows of nodes with a threshold, and return the other nodes.

        Those include nodes that divide rows with a missing value among branches.
        """
        thresholds_only = [
            partition
            for partition in pending
            if isinstance(partition.route.split, Threshold)
        ]
        if len(thresholds_only) < MIN_BATCHED_NODES:
            return pending
        rows, weights, owner = self._rows_of_level(
            [partition.node for partition in thresholds_only]
        )
        right, lacking = self._sides(
            [partition.route for partition in thresholds_only], rows, owner
        )
        sides = []
        for side in (~right, right):
            start = starts_of(np.bincount(owner[side], minlength=len(thresholds_only)))
            sides.append((rows[side], weights[side], start.tolist()))
        remaining = [
            partition
            for partition in pending
            if not isinstance(partition.route.split, Threshold)
        ]
        for position, partition in enumerate(thresholds_only):
            if lacking[position]:
                remaining.append(partition)
                continue
            self._drop_parent(partition)
            for branch, child in partition.children.items():
                side_rows, side_weights, start = sides[branch]
                members = slice(start[position], start[position + 1])
                self._assigned[child] = side_rows[members], side_weights[members]
        return remaining

    def _sides(
        self, routes: Sequence[Route], rows: Integers, owner: Integers
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which rows go right, and which nodes divide rows among branches."""
        splits: list[Any] = [route.split for route in routes]
        split_attributes = np.array([split.attribute for split in splits])
        cuts = np.array([split.threshold for split in splits], dtype=np.float64)
        fallbacks = np.array([_branch_of_missing(route) for route in routes])
        right = np.zeros(len(rows), dtype=bool)
        lacking = np.zeros(len(splits), dtype=bool)
        row_attributes = split_attributes[owner]
        order = np.argsort(row_attributes, kind="stable")
        attributes, first = np.unique(row_attributes[order], return_index=True)
        ends = [*first.tolist(), len(order)]
        for index, (first, last) in zip(
            attributes.tolist(), pairwise(ends), strict=True
        ):
            selected = order[first:last]
            cells = self.cells(index, rows[selected])
            right[selected] = cells > cuts[owner[selected]]
            is_missing = selected[
                np.isnan(cells) if cells.dtype.kind == "f" else cells < 0
            ]
            right[is_missing] = fallbacks[owner[is_missing]] > 0
            lacking[owner[is_missing]] |= fallbacks[owner[is_missing]] < 0
        return right, lacking

    def _drop_parent(self, pending: "_PendingPartition") -> None:
        """Release the rows of a node; the root stays, for the next tree."""
        if pending.node != ROOT and not pending.keep:
            del self._assigned[pending.node]

    def _send(self, pending: "_PendingPartition") -> None:
        """Send the rows of one node."""
        rows, weights = self._assigned[pending.node]
        self._drop_parent(pending)
        route = pending.route
        branches = self.route_branches(route, rows)
        is_missing = branches < 0
        divided = bool(is_missing.any())
        for branch, child in pending.children.items():
            is_in_branch = branches == branch
            if not divided:
                self._assigned[child] = rows[is_in_branch], weights[is_in_branch]
                continue
            fraction = route.split.shares[branch]
            parts = np.where(is_missing, weights * fraction, weights)
            is_in_branch |= is_missing & (fraction > 0)
            self._assigned[child] = rows[is_in_branch], parts[is_in_branch]

    def release(self, nodes: Iterable[int]) -> None:
        """Release the rows of nodes."""
        for node in nodes:
            self._members.pop(node, None)

    def assign_rows(self, nodes: Mapping[int, tuple[Integers, Floats]]) -> None:
        """Assign rows with weights to further nodes."""
        self._members.update(nodes)

    def level(self, nodes: Sequence[int]) -> tuple[Integers, Integers]:
        """Return the rows of nodes, node by node, and the node of each row."""
        rows, _, owner = self._rows_of_level(nodes)
        return rows, owner

    def members(self, node: int) -> tuple[Integers, Floats]:
        """Return the rows of a node, and their weights there."""
        return self._members[node]

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return the products of terms for each request, in batches."""
        batches = term_batches(requests, MAX_TERMS_PER_BATCH)
        return [products for batch in batches for products in self._products(batch)]

    def _products(self, requests: Sequence[TermRequest]) -> list[Products]:
        rows, weights, owner = self._rows_of_level(
            [request.node for request in requests]
        )
        lists = {
            id(request.terms): request.terms for request in requests
        }  # mostly few distinct lists
        terms = list(
            dict.fromkeys(term for node_terms in lists.values() for term in node_terms)
        )
        columns = [self.cells(term.attribute, rows) for term in terms]
        pairs = list(zip(terms, columns, strict=True))
        lines = [term.values(cells) - term.centre for term, cells in pairs]
        if self._numbers is not None:
            lines.append(self._numbers[rows])
        n_groups = self.schema.target.n_outputs
        part, values = owner * n_groups + self._classes[rows], np.array(lines)
        if n_groups > 1 or requests[0].complete:
            complete = np.ones(len(rows), dtype=bool)
            if requests[0].complete:
                complete = ~np.any(
                    [term.is_missing(cells) for term, cells in pairs], axis=0
                )
            order = np.flatnonzero(complete)
            order = order[np.argsort(part[order], kind="stable")]
            part, values, weights = part[order], values[:, order], weights[order]
        start = starts_of(np.bincount(part, minlength=len(requests) * n_groups))
        place = {term: position for position, term in enumerate(terms)}
        target = [] if self._numbers is None else [len(terms)]
        places = {
            position: [place[t] for t in node_terms] + target
            for position, node_terms in lists.items()
        }
        line_places = [places[id(request.terms)] for request in requests]
        products = products_of_parts(
            values,
            weights,
            start,
            [node_terms for node_terms in line_places for _ in range(n_groups)],
        )
        if n_groups == 1:
            return products
        return [
            join_products(products[position : position + n_groups])
            for position in range(0, len(products), n_groups)
        ]

    def split_branches(self, question: Split | Surrogate, rows: Integers) -> Integers:
        """Return the branch of each row by a split, -1 if it has none."""
        return question.branch_of(self.cells(question.attribute, rows))

    def route_branches(self, route: Route, rows: Integers) -> Integers:
        """Return the branch of each row by a route, -1 if it is divided."""
        branches = self.split_branches(route.split, rows)
        for surrogate in route.surrogates:
            is_missing = np.flatnonzero(branches < 0)
            if not len(is_missing):
                break
            branches[is_missing] = self.split_branches(surrogate, rows[is_missing])
        if route.fallback_branch is not None:
            branches[branches < 0] = route.fallback_branch
        return branches

    def _count_entries(
        self,
        rows: Integers,
        weights: Floats,
        lines: Integers,
        select: SelectRows,
        size: int,
    ) -> tuple[Floats, Integers]:
        """Return weights (by class, or moments) and row counts, one line per value.

        Entries are counted at ``lines``; ``select`` takes the values of their rows.
        """
        if self._numbers is None:
            n_classes = self.schema.n_classes
            return cross_count(
                weights, self._classes[rows], n_classes, lines, select, size
            )
        numbers = self._numbers[rows]
        first = weights * numbers
        columns = (weights, first, first * numbers)
        moments = [np.bincount(lines, select(c), minlength=size) for c in columns]
        number = np.bincount(lines, minlength=size)
        return np.stack(moments, axis=1).astype(np.float64), number[:, None]


def _branch_of_missing(route: Route) -> int:
    """Return the branch of all rows with a missing value; -1 if there is none."""
    if route.surrogates:
        return -1
    if route.fallback_branch is not None:
        return route.fallback_branch
    shares = route.split.shares
    return shares.index(1.0) if 1.0 in shares else -1


def _requested_tables(
    batch: TableBatch, requests: Sequence[TableRequest | AgreementRequest]
) -> TableBatch:
    """Return the requested tables, from the tables of all attributes at all nodes."""
    is_requested = np.zeros(
        (len(requests), 1 + batch.attribute.max(initial=0)), dtype=bool
    )
    for node, request in enumerate(requests):
        attributes = [
            index for index in request.attributes if index < is_requested.shape[1]
        ]
        is_requested[node, attributes] = True
    return batch.take(np.flatnonzero(is_requested[batch.node, batch.attribute]))
