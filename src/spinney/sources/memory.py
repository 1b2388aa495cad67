"""Rows in memory, as arrays of codes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.counts import CountTable, Floats, Integers
from spinney.schema import Attribute, Schema
from spinney.sources.base import (
    LARGEST_WHOLE,
    ROOT,
    CrossMoments,
    Products,
    Request,
    TermRequest,
    Totals,
)
from spinney.split import Split

__all__ = ["MemorySource"]

# With more distinct values than this for each row of a node, the values that occur
# there are found first, so that a small node costs what its rows cost.
SPARSE = 4


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
    A numeric column is kept as ranks of its distinct values, so that counting
    numbers and counting codes is one thing.
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
        n_rows = len(classes)
        own = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=float)
        self.whole = _is_whole(own)
        self._classes = np.zeros(n_rows, dtype=np.int64)
        self._numbers: Floats | None = None
        if schema.target.origin is None:
            self._classes = np.asarray(classes, dtype=np.int64)
        else:
            self._numbers = np.asarray(classes, dtype=np.float64) - schema.target.origin
            self.whole &= _is_whole(own * self._numbers**2)
        self._columns: dict[int, tuple[NDArray[Any], Integers]] = {}
        pairs = zip(schema.attributes, columns, strict=True)
        for place, (attribute, cells) in enumerate(pairs):
            self._columns[place] = _valued(attribute, cells)
        self._made: dict[int, Attribute] = {}
        everything = np.arange(n_rows)
        self._members: dict[int, tuple[Integers, Floats]] = {ROOT: (everything, own)}

    def root(self) -> Totals:
        """Return the totals of all rows."""
        tally, number = self._tallied(*self._members[ROOT], None, 1)
        return Totals(tally[0], number[0])

    def tables(self, requests: Sequence[Request]) -> list[dict[int, CountTable]]:
        """Return for each request the tables by attribute."""
        return [
            {
                attribute: self._count(request.node, attribute)
                for attribute in request.attributes
            }
            for request in requests
        ]

    def extend(self, place: int, attribute: Attribute) -> None:
        """Let an attribute with a formula stand at a place."""
        self._made[place] = attribute
        self._columns.pop(place, None)

    def cross_moments(
        self, node: int, places: Sequence[int], origin: Floats
    ) -> CrossMoments:
        """Return the moments of numeric attributes at a node."""
        rows, weights = self._members[node]
        numbers = np.stack([self._cells(place, rows) for place in places], axis=1)
        complete = ~np.isnan(numbers).any(axis=1)
        rows, weights = rows[complete], weights[complete]
        numbers = numbers[complete] - origin
        groups = np.zeros(len(rows), dtype=np.int64)
        if self._numbers is None:
            groups = self._classes[rows]
        else:
            numbers = np.column_stack([numbers, self._numbers[rows]])
        n_groups, width = max(1, self.schema.n_classes), numbers.shape[1]
        products = np.zeros((n_groups, width, width))
        sums = np.zeros((n_groups, width))
        for group in np.unique(groups):
            here = groups == group
            with np.errstate(over="ignore", invalid="ignore"):
                weighted = numbers[here] * weights[here, None]
                sums[group] = weighted.sum(axis=0)
                products[group] = numbers[here].T @ weighted
        return CrossMoments(
            np.bincount(groups, weights, minlength=n_groups).astype(np.float64),
            sums,
            products,
        )

    def _cells(self, place: int, rows: Integers) -> NDArray[Any]:
        """Return the cells of some rows as ``Schema.encode`` gives them."""
        if place not in self._columns:
            formula = self._made[place].formula
            assert formula is not None
            behind: list[Any] = [None] * len(self.schema.attributes)
            for at in formula.places:
                behind[at] = self._cells(at, rows)
            return formula.cells(behind)
        values, ranks = self._columns[place]
        if values.dtype.kind == "f":
            return np.append(values, np.nan)[ranks[rows]]
        return ranks[rows]

    def _column(self, node: int, place: int) -> tuple[NDArray[Any], Integers]:
        """Return the values of an attribute, and the ranks of a node's rows.

        What is asked about at the root is likely to be asked about again: such an
        attribute is made for all rows, and kept.
        """
        rows = self._members[node][0]
        if place not in self._columns:
            made = _valued(self._made[place], self._cells(place, rows))
            if node != ROOT:
                return made
            self._columns[place] = made
        values, ranks = self._columns[place]
        return values, ranks[rows]

    def partition(
        self,
        node: int,
        split: Split,
        children: Mapping[int, int],
        *,
        keep: bool = False,
    ) -> None:
        """Send the rows of a node to its children."""
        rows, weights = self._members[node]
        values, ranks = self._column(node, split.attribute)
        if node != ROOT and not keep:  # the root stays, for the next tree
            del self._members[node]
        # A missing cell has rank -1, and so finds the -1 at the end.
        branches = np.append(split.branch_of(values), -1)[ranks]
        if split.missing is not None:
            branches = np.where(branches < 0, split.missing, branches)
        absent = branches < 0
        divided = bool(absent.any())
        for branch, child in children.items():
            here = branches == branch
            if not divided:
                self._members[child] = rows[here], weights[here]
                continue
            share = split.shares[branch]
            parts = np.where(absent, weights * share, weights)
            here |= absent & (share > 0)
            self._members[child] = rows[here], parts[here]

    def forget(self, nodes: Iterable[int]) -> None:
        """Let go of the rows of nodes."""
        for node in nodes:
            self._members.pop(node, None)

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return for each request how its terms and the target vary."""
        return [
            self._products(*self._members[request.node], request)
            for request in requests
        ]

    def _products(
        self, rows: Integers, weights: Floats, request: TermRequest
    ) -> Products:
        assert self._numbers is not None
        columns = [
            term.values(self._cells(term.attribute, rows)) for term in request.terms
        ]
        lines = np.stack([*columns, self._numbers[rows]])
        total = float(weights.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            means = (lines * weights).sum(axis=1) / total
            lines -= means[:, None]
            return Products(means, (lines * weights) @ lines.T, total)

    def _count(self, node: int, attribute: int) -> CountTable:
        """Count one attribute over the rows of a node."""
        rows, weights = self._members[node]
        values, ranks = self._column(node, attribute)
        ranks = ranks + 1  # a missing cell has rank 0
        if len(values) > SPARSE * len(rows):
            occurring, ranks = np.unique(np.append(ranks, 0), return_inverse=True)
            values, ranks = values[occurring[1:] - 1], ranks[:-1]
        cells, counts = self._tallied(rows, weights, ranks, len(values) + 1)
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
        keys = ranks * n_classes + self._classes[rows]
        tally = np.bincount(keys, weights, minlength=size * n_classes)
        number = np.bincount(keys, minlength=size * n_classes)
        shape = (size, n_classes)
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
    values, places = np.unique(numbers[known], return_inverse=True)
    ranks = np.full(len(numbers), -1, dtype=np.int64)
    ranks[known] = places
    return values, ranks
