"""Rows in memory, as arrays of codes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    Agreement,
    Products,
    Request,
    TermRequest,
    Totals,
)
from spinney.trees import CountTable, Route, Split, Surrogate, TableStack

# With more values at nodes than this for each cell that is counted, those that occur
# are found by sorting, so that small nodes cost what their rows cost.
SPARSE = 2
LEAST_SPARSE = 1000
MOST_AT_ONCE = 1 << 18  # cells that are counted at once, unless one column has more

Which = Callable[[NDArray[Any]], NDArray[Any]]
Tally = Callable[[Integers, Which, int], tuple[Floats, Integers]]


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
    ) -> None:
        self.schema = schema
        self._targets, self._weights = classes, weights
        # A column is ranked when it is first asked about.
        self._columns: dict[int, tuple[NDArray[Any], Integers]] = {}
        self._given = dict(enumerate(columns))
        self._made: dict[int, Attribute] = {}

    @cached_property
    def _members(self) -> dict[int, tuple[Integers, Floats]]:
        """The rows of each node and their weights there; those of the root first."""
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

    def root(self) -> Totals:
        """Return the totals of all rows."""
        rows, weights = self._members[ROOT]
        at_one = np.zeros(len(rows), dtype=np.int64)
        tally, number = self._tallied(rows, weights, at_one, lambda own: own, 1)
        return Totals(tally[0], number[0])

    def tables(self, requests: Sequence[Request]) -> Iterator[TableStack]:
        """Give the tables of all requests, some attributes at a time."""
        rows, weights, owner = self._level([request.node for request in requests])
        tally = partial(self._tallied, rows, weights)
        return self._stacks(requests, rows, owner, tally)

    def agreements(self, requests: Sequence[Agreement]) -> Iterator[TableStack]:
        """Give the tables of all requests, value × branch."""
        rows, weights, owner = self._level([request.node for request in requests])
        ends = np.searchsorted(owner, np.arange(len(requests) + 1))
        branches = np.full(len(rows), -1)
        for request, (one, other) in zip(requests, pairwise(ends), strict=True):
            branches[one:other] = self._goes(request.split, rows[one:other])
        most = max((request.split.n_branches for request in requests), default=0)
        branches[branches < 0] = most
        tally = partial(_crossed, weights, branches, most + 1)
        return self._stacks(requests, rows, owner, tally)

    def _level(self, nodes: Sequence[int]) -> tuple[Integers, Floats, Integers]:
        """Return the rows of nodes, one node after the other, and their weights."""
        members = [self._members[node] for node in nodes]
        if len(members) == 1:
            rows, weights = members[0]
            return rows, weights, np.zeros(len(rows), dtype=np.int64)
        owner = np.repeat(np.arange(len(nodes)), [len(rows) for rows, _ in members])
        rows = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in members)])
        return rows, np.concatenate([np.zeros(0), *(own for _, own in members)]), owner

    def _stacks(
        self,
        requests: Sequence[Request | Agreement],
        rows: Integers,
        owner: Integers,
        tally: Tally,
    ) -> Iterator[TableStack]:
        """Give the tables of some attributes at a time, over rows by their nodes."""
        wanted = sorted({index for request in requests for index in request.attributes})
        pairs = np.zeros((len(requests), 1 + max(wanted, default=0)), dtype=bool)
        for node, request in enumerate(requests):
            pairs[node, list(request.attributes)] = True
        n_at_once = max(1, MOST_AT_ONCE // max(1, len(rows)))
        for first in range(0, len(wanted), n_at_once):
            attributes = wanted[first : first + n_at_once]
            columns = [self._column(index, rows) for index in attributes]
            stack = _counted(attributes, columns, owner, len(requests), tally)
            asked = pairs[stack.node, stack.attribute]
            yield stack if asked.all() else stack.taken(np.flatnonzero(asked))

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return for each node and route the table of its rows by branch."""
        answers = []
        for node, route in routes:
            rows, weights = self._members[node]
            n_branches = route.split.n_branches
            cells, counts = self._tallied(
                rows, weights, self._branches(route, rows), lambda own: own, n_branches
            )
            none = np.zeros_like(cells[0]), np.zeros_like(counts[0])
            answers.append(CountTable(np.arange(n_branches), cells, counts, *none))
        return answers

    def extend(self, index: int, attribute: Attribute) -> None:
        """Let an attribute with a formula stand at a place."""
        self._made[index] = attribute
        self._columns.pop(index, None)

    def _is_ranked(self, index: int) -> bool:
        """Return whether an attribute is ranked; a column is, from now on."""
        if index in self._given and index not in self._columns:
            attribute = self.schema.attributes[index]
            self._columns[index] = _valued(attribute, self._given[index])
        return index in self._columns

    def _cells(self, index: int, rows: Integers) -> NDArray[Any]:
        """Return the cells of some rows as ``Schema.encode`` gives them."""
        if not self._is_ranked(index):
            formula = self._made[index].formula
            assert formula is not None
            behind: list[Any] = [None] * len(self.schema.attributes)
            for at in formula.places:
                behind[at] = self._cells(at, rows)
            return formula.cells(behind)
        values, ranks = self._columns[index]
        if values.dtype.kind == "f":
            return np.append(values, np.nan)[ranks[rows]]
        return ranks[rows]

    def _column(self, index: int, rows: Integers) -> tuple[NDArray[Any], Integers]:
        """Return the values of an attribute, and the ranks of some rows.

        One with a formula that is asked about of as many rows as there are is made for
        all of them, and kept.
        """
        if not self._is_ranked(index):
            n_rows = len(self._classes)
            few = len(rows) < n_rows
            cells = self._cells(index, rows if few else np.arange(n_rows))
            made = _valued(self._made[index], cells)
            if few:
                return made
            self._columns[index] = made
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
        """Send the rows of a node to its children."""
        rows, weights = self._members[node]
        if node != ROOT and not keep:  # the root stays, for the next tree
            del self._members[node]
        branches = self._branches(route, rows)
        absent = branches < 0
        divided = bool(absent.any())
        for branch, child in children.items():
            here = branches == branch
            if not divided:
                self._members[child] = rows[here], weights[here]
                continue
            share = route.split.shares[branch]
            parts = np.where(absent, weights * share, weights)
            here |= absent & (share > 0)
            self._members[child] = rows[here], parts[here]

    def forget(self, nodes: Iterable[int]) -> None:
        """Let go of the rows of nodes."""
        for node in nodes:
            self._members.pop(node, None)

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return for each request how its terms vary."""
        return [self._products(request) for request in requests]

    def _products(self, request: TermRequest) -> Products:
        terms, (rows, weights) = request.terms, self._members[request.node]
        columns = [self._cells(term.attribute, rows) for term in terms]
        if request.complete:
            pairs = zip(terms, columns, strict=True)
            known = ~np.any([term.absent(cells) for term, cells in pairs], axis=0)
            rows, weights = rows[known], weights[known]
            columns = [cells[known] for cells in columns]
        numbers = [
            term.values(cells) - term.centre
            for term, cells in zip(terms, columns, strict=True)
        ]
        if self._numbers is not None:
            numbers.append(self._numbers[rows])
        groups, n_groups = self._classes[rows], self.schema.target.n_outputs
        every, width = np.stack(numbers), len(numbers)
        products = Products(
            np.bincount(groups, weights, minlength=n_groups).astype(np.float64),
            np.zeros((n_groups, width)),
            np.zeros((n_groups, width, width)),
        )
        for group in np.unique(groups):
            here = groups == group
            lines, parts = every[:, here], weights[here]
            with np.errstate(over="ignore", invalid="ignore"):
                products.means[group] = (lines * parts).sum(axis=1) / products.weights[
                    group
                ]
                lines -= products.means[group][:, None]
                products.spreads[group] = (lines * parts) @ lines.T
        return products

    def _goes(self, question: Split | Surrogate, rows: Integers) -> Integers:
        """Return the branch that a question sends rows to, -1 where it knows none."""
        values, ranks = self._column(question.attribute, rows)
        if len(ranks) < len(values):
            return np.where(ranks < 0, -1, question.branch_of(values[ranks]))
        # A missing cell has rank -1, and so finds the -1 at the end.
        return np.asarray(np.append(question.branch_of(values), -1)[ranks])

    def _branches(self, route: Route, rows: Integers) -> Integers:
        """Return the branch of rows by a route, -1 where they are divided."""
        branches = self._goes(route.split, rows)
        for surrogate in route.surrogates:
            absent = np.flatnonzero(branches < 0)
            if not len(absent):
                break
            branches[absent] = self._goes(surrogate, rows[absent])
        if route.final_branch is not None:
            branches[branches < 0] = route.final_branch
        return branches

    def _tallied(
        self, rows: Integers, weights: Floats, lines: Integers, which: Which, size: int
    ) -> tuple[Floats, Integers]:
        """Return weights and numbers of rows, one line per value: by class, or moments.

        Entries are counted at ``lines``; ``which`` says of which row each entry is.
        """
        if self._numbers is None:
            n_classes = self.schema.n_classes
            return _crossed(weights, self._classes[rows], n_classes, lines, which, size)
        numbers = self._numbers[rows]
        first = weights * numbers
        columns = (weights, first, first * numbers)
        moments = [np.bincount(lines, which(c), minlength=size) for c in columns]
        number = np.bincount(lines, minlength=size)
        return np.stack(moments, axis=1).astype(np.float64), number[:, None]


def _crossed(
    weights: Floats,
    columns: Integers,
    n_columns: int,
    lines: Integers,
    which: Which,
    size: int,
) -> tuple[Floats, Integers]:
    """Return weights and numbers of rows, one line per value, by column."""
    keys = lines * n_columns + which(columns)
    number = np.bincount(keys, minlength=size * n_columns).reshape(size, n_columns)
    if len(weights) and weights.min() == weights.max() == 1:
        return number.astype(np.float64), number
    tally = np.bincount(keys, which(weights), minlength=size * n_columns)
    return tally.astype(np.float64).reshape(number.shape), number


def _counted(
    attributes: Sequence[int],
    columns: Sequence[tuple[NDArray[Any], Integers]],
    owner: Integers,
    n_nodes: int,
    tally: Tally,
) -> TableStack:
    """Return the tables of attributes at nodes, from the ranks of the nodes' rows.

    Every value of every attribute has a number at every node, a missing one the first
    of its table; what occurs becomes a line. Where few of them occur, as at the many
    nodes of a deep level, the numbers that do are found by sorting.
    """
    n_rows, n_attributes = len(owner), len(attributes)
    lengths = np.array([len(values) + 1 for values, _ in columns], dtype=np.int64)
    offset = starts_of(np.repeat(lengths, n_nodes))  # where each table's numbers begin
    keys = np.empty((n_attributes, n_rows), dtype=np.int64)
    for at, (_, ranks) in enumerate(columns):
        keys[at] = owner * lengths[at]
        keys[at] += ranks
        keys[at] += offset[at * n_nodes] + 1
    flat, n_numbers = keys.ravel(), int(offset[-1])
    if n_numbers <= SPARSE * flat.size + LEAST_SPARSE:
        weights, rows = tally(flat, lambda own: np.tile(own, n_attributes), n_numbers)
        numbers = np.flatnonzero(rows.any(axis=1))
        weights, rows = weights[numbers], rows[numbers]
    else:
        order = _stable_order(flat, n_numbers)
        ranked = flat[order]
        first = np.ones(len(ranked), dtype=bool)
        first[1:] = ranked[1:] != ranked[:-1]
        numbers, whose = ranked[first], order % n_rows
        weights, rows = tally(
            np.cumsum(first) - 1, lambda own: own[whose], len(numbers)
        )
    table = np.searchsorted(offset, numbers, side="right") - 1
    rank = numbers - offset[table] - 1
    known = rank >= 0
    missing = np.zeros((n_attributes * n_nodes, weights.shape[1]))
    missing_rows = np.zeros((len(missing), rows.shape[1]), dtype=np.int64)
    missing[table[~known]], missing_rows[table[~known]] = weights[~known], rows[~known]
    begins = starts_of(lengths - 1)
    values = np.concatenate([np.asarray(v, dtype=np.float64) for v, _ in columns])
    return TableStack(
        np.tile(np.arange(n_nodes), n_attributes),
        np.repeat(np.array(attributes, dtype=np.int64), n_nodes),
        starts_of(np.bincount(table[known], minlength=len(missing))),
        values[begins[table[known] // n_nodes] + rank[known]],
        weights[known],
        rows[known],
        missing,
        missing_rows,
    )


def _stable_order(keys: Integers, n_keys: int) -> Integers:
    """Return the order that sorts keys, equal ones as they stand.

    Key and position in one word are sorted far sooner than positions by their key.
    """
    bits = max(1, int(len(keys) - 1).bit_length())
    if n_keys.bit_length() + bits > 62:
        return np.argsort(keys, kind="stable")
    return np.sort(keys << bits | np.arange(len(keys))) & ((1 << bits) - 1)


def _valued(attribute: Attribute, cells: NDArray[Any]) -> tuple[NDArray[Any], Integers]:
    """Return the values of an attribute and each cell's place among them."""
    if attribute.kind == "numeric":
        return _ranked(cells)
    return np.arange(len(attribute.values)), np.asarray(cells, dtype=np.int64)


def _ranked(cells: NDArray[Any]) -> tuple[Floats, Integers]:
    """Return the distinct numbers and each cell's place among them; -1 if missing."""
    numbers = np.asarray(cells, dtype=np.float64) + 0.0  # -0.0 is 0.0
    known = ~np.isnan(numbers)
    values, indices = np.unique(numbers[known], return_inverse=True)
    ranks = np.full(len(numbers), -1, dtype=np.int64)
    ranks[known] = indices
    return values, ranks
