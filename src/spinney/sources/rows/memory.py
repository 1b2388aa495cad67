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
FEW_NODES = 4  # that are not worth sending their rows together
MOST_AT_ONCE = 1 << 18  # cells that are counted at once, unless one column has more


@dataclass(frozen=True, slots=True, eq=False)
class RowAssignment:
    """Where rows stand: those of each node with their weights, and what was made.

    ``constructed`` are the attributes with formulas, by their places.
    """

    members: Mapping[int, tuple[Integers, Floats]]
    constructed: Mapping[int, Attribute] = field(default_factory=dict)

    def __sizeof__(self) -> int:
        return sum(rows.nbytes + own.nbytes for rows, own in self.members.values())


@dataclass(frozen=True, slots=True, eq=False)
class _PendingPartition:
    """A node whose rows are to be sent to its children, and whether it keeps them."""

    node: int
    route: Route
    children: Mapping[int, int]
    keep: bool


class MemorySource:
    """Rows in memory.

    Parameters
    ----------
    schema : Schema
        What the codes mean.
    columns : sequence of arrays
        The cells of each attribute as ``Schema.encode`` gives them.
    classes : array of int or float
        The class of each row; its number, where the target is one.
    weights : array of float, optional
        The weight of each row, greater than 0.
    ranked : mapping of int to Ranked, optional
        What is known already of some attributes.

    Notes
    -----
    Nothing is prepared before somebody asks. A numeric column is kept as ranks of its
    distinct values, so that counting numbers and counting codes is one thing.
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
        # A column is ranked when it is first asked about.
        self._columns: dict[int, Ranked] = dict(ranked or {})
        self._cells_by_attribute = dict(enumerate(columns))
        self._constructed: dict[int, Attribute] = {}
        # The cuts that attributes were last counted by, and what lies between them.
        self._buckets: dict[int, tuple[Floats, Ranked]] = {}
        # What is to be sent; nobody has asked for the rows of the children yet.
        self._pending: list[_PendingPartition] = []

    @property
    def _members(self) -> dict[int, tuple[Integers, Floats]]:
        """The rows of each node and their weights there, all sent that are to be."""
        if self._pending:
            pending, self._pending = self._pending, []
            for each in self._send_together(pending):
                self._send(each)
        return self._assigned

    @cached_property
    def _assigned(self) -> dict[int, tuple[Integers, Floats]]:
        """The same, as long as nothing is to be sent; those of the root first."""
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
        """The class of each row; 0 where the target is a number."""
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
        """Where the rows stand now."""
        return RowAssignment(dict(self._members), dict(self._constructed))

    def with_assignment(
        self, assignment: RowAssignment, ranked: Mapping[int, Ranked] | None = None
    ) -> "MemorySource":
        """Return a source of the same rows that stand elsewhere; this one stays.

        Attributes that are ``ranked`` are counted by these values instead of their own.
        """
        _ = self._classes, self._numbers  # found once, for all copies
        other = copy(self)
        other._assigned, other._constructed = (
            dict(assignment.members),
            dict(assignment.constructed),
        )
        other._pending = []
        if ranked or assignment.constructed:
            retained = {
                i: v for i, v in self._columns.items() if i in self._cells_by_attribute
            }
            other._columns = {**retained, **(ranked or {})}
        return other

    def root(self) -> Totals:
        """Return the totals of all rows."""
        rows, weights = self._members[ROOT]
        at_one = np.zeros(len(rows), dtype=np.int64)
        count_entries, number = self._count_entries(
            rows, weights, at_one, lambda own: own, 1
        )
        return Totals(count_entries[0], number[0])

    def tables(self, requests: Sequence[TableRequest]) -> Iterator[TableBatch]:
        """Give the tables of all requests, some attributes at a time."""
        rows, weights, owner = self._rows_of_level(
            [request.node for request in requests]
        )
        count_entries = partial(self._count_entries, rows, weights)
        return self._batches(requests, rows, owner, count_entries)

    def tables_in_buckets(
        self, requests: Sequence[TableRequest], cuts: Mapping[int, Floats]
    ) -> Iterator[TableBatch]:
        """Give the tables of all requests, those of numbers a line per bucket."""
        rows, weights, owner = self._rows_of_level(
            [request.node for request in requests]
        )
        for index, own in cuts.items():
            if self._buckets.get(index, (None,))[0] is not own:
                cells = self.cells(index, np.arange(len(self._targets)))
                self._buckets[index] = own, bucket_places(cells, own)
        by_bucket = copy(self)
        ranked = {index: self._buckets[index][1] for index in cuts}
        by_bucket._columns = {**self._columns, **ranked}
        count_entries = partial(self._count_entries, rows, weights)
        batches = by_bucket._batches(requests, rows, owner, count_entries)
        found = (
            with_bucket_ranges(each, ranked, self.cells, rows, owner)
            for each in batches
        )
        return join_small(found, MOST_AT_ONCE)

    def tables_by(
        self,
        index: int,
        parts: Sequence[tuple[Integers, Floats, Floats]],
    ) -> TableBatch:
        """Return tables of an attribute, of rows with these weights, by these numbers.

        There is a table for each part; its node is the number of the part.
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
        """Give the tables of all requests, value × branch."""
        rows, weights, owner = self._rows_of_level(
            [request.node for request in requests]
        )
        ends = np.searchsorted(owner, np.arange(len(requests) + 1))
        branches = np.full(len(rows), -1)
        for request, (one, other) in zip(requests, pairwise(ends), strict=True):
            branches[one:other] = self.split_branches(request.split, rows[one:other])
        most = max((request.split.n_branches for request in requests), default=0)
        branches[branches < 0] = most
        count_entries = partial(cross_count, weights, branches, most + 1)
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
        """Give the tables of some attributes at a time, over rows by their nodes."""
        lists = {request.attributes for request in requests}
        wanted = sorted(set().union(*lists))
        n_at_once = max(1, MOST_AT_ONCE // max(1, len(rows)))
        for first in range(0, len(wanted), n_at_once):
            attributes = wanted[first : first + n_at_once]
            columns = [self._column(index, rows) for index in attributes]
            batch = count_tables(
                attributes, columns, owner, len(requests), count_entries
            )
            yield batch if len(lists) == 1 else _requested_tables(batch, requests)

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return for each node and route the table of its rows by branch."""
        answers = []
        for node, route in routes:
            rows, weights = self._members[node]
            n_branches = route.split.n_branches
            cells, counts = self._count_entries(
                rows,
                weights,
                self.route_branches(route, rows),
                lambda own: own,
                n_branches,
            )
            none = np.zeros_like(cells[0]), np.zeros_like(counts[0])
            answers.append(CountTable(np.arange(n_branches), cells, counts, *none))
        return answers

    def extend(self, index: int, attribute: Attribute) -> None:
        """Let an attribute with a formula stand at a place."""
        self._constructed[index] = attribute
        self._columns.pop(index, None)

    def cells(self, index: int, rows: Integers) -> NDArray[Any]:
        """Return the cells of some rows as ``Schema.encode`` gives them."""
        if index in self._cells_by_attribute:
            cells = self._cells_by_attribute[index][rows]
            numeric = self.schema.attributes[index].kind == "numeric"
            return cells.astype(np.float64, copy=False) if numeric else cells
        formula = self._constructed[index].formula
        assert formula is not None
        behind: list[Any] = [None] * len(self.schema.attributes)
        for position in formula.places:
            behind[position] = self.cells(position, rows)
        return formula.cells(behind)

    def _column(self, index: int, rows: Integers) -> Ranked:
        """Return the values of an attribute, and the ranks of some rows.

        One that is asked about of as many rows as there are is ranked for all of them,
        and kept.
        """
        if index not in self._columns:
            is_column, n_rows = index in self._cells_by_attribute, len(self._targets)
            few = len(rows) < n_rows
            attribute = (
                self.schema.attributes[index] if is_column else self._constructed[index]
            )
            cells = self.cells(index, rows if few else np.arange(n_rows))
            places = ranked_values(attribute, cells)
            if few:
                return places
            self._columns[index] = places
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
        """Send the rows of a node to its children, when somebody asks for these.

        So those of a level are sent together.
        """
        # Itself it may be one to which rows have not been sent.
        assigned = self._assigned if node in self._assigned else self._members
        assert node in assigned
        self._pending.append(_PendingPartition(node, route, dict(children), keep))

    def _send_together(
        self, pending: Sequence["_PendingPartition"]
    ) -> Sequence["_PendingPartition"]:
        """Send the rows of nodes that ask for a number, and return the other nodes.

        These have rows without a value that do not all take one branch.
        """
        thresholds_only = [
            each for each in pending if isinstance(each.route.split, Threshold)
        ]
        if len(thresholds_only) < FEW_NODES:
            return pending
        rows, weights, owner = self._rows_of_level(
            [each.node for each in thresholds_only]
        )
        right, lacking = self._sides(
            [each.route for each in thresholds_only], rows, owner
        )
        sides = []
        for side in (~right, right):
            start = starts_of(np.bincount(owner[side], minlength=len(thresholds_only)))
            sides.append((rows[side], weights[side], start.tolist()))
        others = [
            each for each in pending if not isinstance(each.route.split, Threshold)
        ]
        for position, each in enumerate(thresholds_only):
            if lacking[position]:
                others.append(each)
                continue
            self._drop_parent(each)
            for branch, child in each.children.items():
                own, parts, start = sides[branch]
                some = slice(start[position], start[position + 1])
                self._assigned[child] = own[some], parts[some]
        return others

    def _sides(
        self, routes: Sequence[Route], rows: Integers, owner: Integers
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which rows of nodes go right, and which nodes must look at theirs."""
        splits: list[Any] = [route.split for route in routes]
        attributes_asked = np.array([split.attribute for split in splits])
        cuts = np.array([split.threshold for split in splits], dtype=np.float64)
        otherwise = np.array([_branch_of_missing(route) for route in routes])
        right = np.zeros(len(rows), dtype=bool)
        lacking = np.zeros(len(splits), dtype=bool)
        of_row = attributes_asked[owner]
        order = np.argsort(of_row, kind="stable")
        attributes, first = np.unique(of_row[order], return_index=True)
        ends = [*first.tolist(), len(order)]
        for index, (one, other) in zip(
            attributes.tolist(), pairwise(ends), strict=True
        ):
            some = order[one:other]
            cells = self.cells(index, rows[some])
            right[some] = cells > cuts[owner[some]]
            is_missing = some[np.isnan(cells) if cells.dtype.kind == "f" else cells < 0]
            right[is_missing] = otherwise[owner[is_missing]] > 0
            lacking[owner[is_missing]] |= otherwise[owner[is_missing]] < 0
        return right, lacking

    def _drop_parent(self, pending: "_PendingPartition") -> None:
        """Let go of the rows of a node; the root stays, for the next tree."""
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
            share = route.split.shares[branch]
            parts = np.where(is_missing, weights * share, weights)
            is_in_branch |= is_missing & (share > 0)
            self._assigned[child] = rows[is_in_branch], parts[is_in_branch]

    def release(self, nodes: Iterable[int]) -> None:
        """Let go of the rows of nodes."""
        for node in nodes:
            self._members.pop(node, None)

    def assign_rows(self, nodes: Mapping[int, tuple[Integers, Floats]]) -> None:
        """Let nodes have these rows, of these weights, beside those that have some."""
        self._members.update(nodes)

    def level(self, nodes: Sequence[int]) -> tuple[Integers, Integers]:
        """Return the rows of nodes, one node after the other, and whose each is."""
        rows, _, owner = self._rows_of_level(nodes)
        return rows, owner

    def members(self, node: int) -> tuple[Integers, Floats]:
        """Return the rows of a node, and what each weighs there."""
        return self._members[node]

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return for each request how its terms vary, of many requests at once."""
        batches = term_batches(requests, MAX_TERMS_PER_BATCH)
        return [products for batch in batches for products in self._products(batch)]

    def _products(self, requests: Sequence[TermRequest]) -> list[Products]:
        rows, weights, owner = self._rows_of_level(
            [request.node for request in requests]
        )
        lists = {id(request.terms): request.terms for request in requests}  # mostly few
        terms = list(dict.fromkeys(term for own in lists.values() for term in own))
        columns = [self.cells(term.attribute, rows) for term in terms]
        pairs = list(zip(terms, columns, strict=True))
        lines = [term.values(cells) - term.centre for term, cells in pairs]
        if self._numbers is not None:
            lines.append(self._numbers[rows])
        n_groups = self.schema.target.n_outputs
        part, every = owner * n_groups + self._classes[rows], np.array(lines)
        if n_groups > 1 or requests[0].complete:
            known = np.ones(len(rows), dtype=bool)
            if requests[0].complete:
                known = ~np.any(
                    [term.is_missing(cells) for term, cells in pairs], axis=0
                )
            order = np.flatnonzero(known)
            order = order[np.argsort(part[order], kind="stable")]
            part, every, weights = part[order], every[:, order], weights[order]
        start = starts_of(np.bincount(part, minlength=len(requests) * n_groups))
        place = {term: position for position, term in enumerate(terms)}
        target = [] if self._numbers is None else [len(terms)]
        places = {
            position: [place[t] for t in own] + target
            for position, own in lists.items()
        }
        attributes_asked = [places[id(request.terms)] for request in requests]
        found = products_of_parts(
            every,
            weights,
            start,
            [own for own in attributes_asked for _ in range(n_groups)],
        )
        if n_groups == 1:
            return found
        return [
            join_products(found[position : position + n_groups])
            for position in range(0, len(found), n_groups)
        ]

    def split_branches(self, question: Split | Surrogate, rows: Integers) -> Integers:
        """Return the branch that a question sends rows to, -1 where it knows none."""
        return question.branch_of(self.cells(question.attribute, rows))

    def route_branches(self, route: Route, rows: Integers) -> Integers:
        """Return the branch of rows by a route, -1 where they are divided."""
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
        """Return weights and numbers of rows, one line per value: by class, or moments.

        Entries are counted at ``lines``; ``select`` says of which row each entry is.
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
    """Return the branch that all rows without a value take; -1 if there is none."""
    if route.surrogates:
        return -1
    if route.fallback_branch is not None:
        return route.fallback_branch
    shares = route.split.shares
    return shares.index(1.0) if 1.0 in shares else -1


def _requested_tables(
    batch: TableBatch, requests: Sequence[TableRequest | AgreementRequest]
) -> TableBatch:
    """Return the tables that were asked for, of all attributes at all nodes."""
    attributes_asked = np.zeros(
        (len(requests), 1 + batch.attribute.max(initial=0)), dtype=bool
    )
    for node, request in enumerate(requests):
        own = [
            index for index in request.attributes if index < attributes_asked.shape[1]
        ]
        attributes_asked[node, own] = True
    return batch.take(np.flatnonzero(attributes_asked[batch.node, batch.attribute]))
