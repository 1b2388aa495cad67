"""Rows in memory, as arrays of codes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.data import Attribute, Schema
from spinney.sources.base import (
    LARGEST_WHOLE,
    ROOT,
    Agreement,
    Products,
    Request,
    TermRequest,
    Totals,
)
from spinney.trees import CountTable, Route, Split, Surrogate

# With more distinct values than this for each row of a node, the values that occur
# there are found first, so that a small node costs what its rows cost.
SPARSE = 4

Tally = Callable[[Integers, int], tuple[Floats, Integers]]


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

    @cached_property
    def whole(self) -> bool:
        """Whether the weights of all rows, or their moments, are whole numbers."""
        _, weights = self._members[ROOT]
        if self._numbers is None:
            return _is_whole(weights)
        return _is_whole(weights) and _is_whole(weights * self._numbers**2)

    def root(self) -> Totals:
        """Return the totals of all rows."""
        tally, number = self._tallied(*self._members[ROOT], None, 1)
        return Totals(tally[0], number[0])

    def tables(self, requests: Sequence[Request]) -> list[dict[int, CountTable]]:
        """Return for each request the tables by attribute."""
        answers = []
        for request in requests:
            rows, weights = self._members[request.node]
            tally = partial(self._tallied, rows, weights)
            answers.append({a: self._count(rows, a, tally) for a in request.attributes})
        return answers

    def agreements(self, requests: Sequence[Agreement]) -> list[dict[int, CountTable]]:
        """Return for each request the tables by attribute, value × branch."""
        answers = []
        for request in requests:
            rows, weights = self._members[request.node]
            branches = self._goes(request.split, rows)
            known = branches >= 0
            rows, weights, branches = rows[known], weights[known], branches[known]
            tally = partial(_crossed, weights, branches, request.split.n_branches)
            answers.append({a: self._count(rows, a, tally) for a in request.attributes})
        return answers

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return for each node and route the table of its rows by branch."""
        answers = []
        for node, route in routes:
            rows, weights = self._members[node]
            n_branches = route.split.n_branches
            cells, counts = self._tallied(
                rows, weights, self._branches(route, rows), n_branches
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

        What is asked about of all rows is likely to be asked about again: such an
        attribute is made for all of them, and kept.
        """
        if not self._is_ranked(index):
            made = _valued(self._made[index], self._cells(index, rows))
            if len(rows) < len(self._classes):
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

    def _count(self, rows: Integers, attribute: int, tally: Tally) -> CountTable:
        """Count one attribute over some rows."""
        values, ranks = self._column(attribute, rows)
        ranks = ranks + 1  # a missing cell has rank 0
        if len(values) > SPARSE * len(rows):
            occurring, ranks = np.unique(np.append(ranks, 0), return_inverse=True)
            values, ranks = values[occurring[1:] - 1], ranks[:-1]
        cells, counts = tally(ranks, len(values) + 1)
        present = 1 + np.flatnonzero(counts[1:].any(axis=1))
        return CountTable(
            values[present - 1], cells[present], counts[present], cells[0], counts[0]
        )

    def _tallied(
        self, rows: Integers, weights: Floats, ranks: Integers | None, size: int
    ) -> tuple[Floats, Integers]:
        """Return weights and numbers of rows, a line a rank: by class, or moments."""
        if ranks is None:
            ranks = np.zeros(len(rows), dtype=np.int64)
        if self._numbers is not None:
            first = weights * self._numbers[rows]
            columns = (weights, first, first * self._numbers[rows])
            moments = [np.bincount(ranks, column, minlength=size) for column in columns]
            number = np.bincount(ranks, minlength=size)
            return np.stack(moments, axis=1).astype(np.float64), number[:, None]
        n_classes = self.schema.n_classes
        return _crossed(weights, self._classes[rows], n_classes, ranks, size)


def _crossed(
    weights: Floats, columns: Integers, n_columns: int, ranks: Integers, size: int
) -> tuple[Floats, Integers]:
    """Return weights and numbers of rows, a line a rank, by column."""
    keys = ranks * n_columns + columns
    tally = np.bincount(keys, weights, minlength=size * n_columns)
    number = np.bincount(keys, minlength=size * n_columns)
    shape = (size, n_columns)
    return tally.astype(np.float64).reshape(shape), number.reshape(shape)


def _is_whole(amounts: Floats) -> bool:
    """Return whether amounts are whole numbers whose sum is exact in any order."""
    whole = bool(np.all(amounts == np.floor(amounts)))
    return whole and bool(amounts.sum() <= LARGEST_WHOLE)


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
