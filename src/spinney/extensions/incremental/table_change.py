"""Count tables of one node after rows have come and gone.

A line of a table is a sum over the rows of a value. Rows that come are added to it one
by one, in their order, as counting all rows would. Where sums are whole numbers, rows
that go are subtracted, exactly; where they are not, what is left of a subtraction is no
sum of the others, and the lines that these rows were on are counted again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import EXACT, starts_of
from spinney.trees import TableBatch

Cells = Callable[[int, Integers], NDArray[np.float64]]
"""From an attribute and rows to their values, NaN where missing."""

Amounts = Callable[[Integers, Floats], tuple[Floats, Integers]]
"""From rows and their weights to what each adds to a line: weights, and rows."""


@dataclass(frozen=True, slots=True, eq=False)
class WeighedRows:
    """Rows of a node, rising, and what each weighs there."""

    rows: Integers
    weights: Floats

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def take(self, which: NDArray[np.bool_]) -> "WeighedRows":
        """Return some of them."""
        return WeighedRows(self.rows[which], self.weights[which])


NOBODY = WeighedRows(np.zeros(0, dtype=np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """Who came to a node, and who left it; one whose weight changed does both."""

    added: WeighedRows = NOBODY
    removed: WeighedRows = NOBODY

    def __len__(self) -> int:
        """Return how many rows it takes to say."""
        return len(self.added) + len(self.removed)


def joined_members(before: WeighedRows, change: Change) -> WeighedRows:
    """Return the rows of a node after a change."""
    if not len(change):
        return before
    stay = ~np.isin(before.rows, change.removed.rows, assume_unique=True)
    rows = np.concatenate([before.rows[stay], change.added.rows])
    weights = np.concatenate([before.weights[stay], change.added.weights])
    order = np.argsort(rows, kind="stable")
    return WeighedRows(rows[order], weights[order])


def difference(before: WeighedRows, after: WeighedRows) -> Change:
    """Return what has changed between the rows of a node before and after."""
    at = np.searchsorted(before.rows, after.rows)
    inside = at < len(before)
    same = np.zeros(len(after), dtype=bool)
    where = at[inside]
    same[inside] = (before.rows[where] == after.rows[inside]) & (
        before.weights[where] == after.weights[inside]
    )
    stayed = np.zeros(len(before), dtype=bool)
    stayed[at[same]] = True
    return Change(after.take(~same), before.take(~stayed))


def changed_tables(
    stack: TableBatch,
    change: Change,
    now: WeighedRows,
    cells: Cells,
    amounts: Amounts,
) -> tuple[TableBatch, int]:
    """Return the tables of a node after a change, and how many rows were counted.

    ``now`` are its rows after the change, of which lines may be counted again.
    """
    added, removed = change.added, change.removed
    plus, plus_rows = amounts(added.rows, added.weights)
    minus, minus_rows = amounts(removed.rows, removed.weights)
    whole = is_whole(minus) and is_whole(stack.weights) and is_whole(stack.missing)
    lines: list[_Lines] = []
    counted = (len(added) + (len(removed) if whole else 0)) * len(stack)
    for table, index in enumerate(stack.attribute.tolist()):
        part = _Lines.of(stack, table)
        part.add(cells(index, added.rows), plus, plus_rows)
        if len(removed):
            gone = cells(index, removed.rows)
            if whole:
                part.add(gone, -minus, -minus_rows)
            else:
                counted += part.count_again(index, gone, now, cells, amounts)
        lines.append(part.without_empty())
    return _stacked(stack, lines), counted


def is_whole(amounts: Floats) -> bool:
    """Return whether sums and differences of numbers are exact."""
    whole = bool((amounts == np.rint(amounts)).all())
    return whole and float(np.abs(amounts).sum()) <= EXACT


@dataclass(slots=True, eq=False)
class _Lines:
    """The lines of one table, while they change."""

    values: Floats
    weights: Floats
    rows: Integers
    missing: Floats
    missing_rows: Integers

    @classmethod
    def of(cls, stack: TableBatch, table: int) -> "_Lines":
        lines = slice(stack.start[table], stack.start[table + 1])
        return cls(
            stack.values[lines],
            stack.weights[lines].copy(),
            stack.rows[lines].copy(),
            stack.missing[table].copy(),
            stack.missing_rows[table].copy(),
        )

    def add(self, values: Floats, weights: Floats, rows: Integers) -> None:
        """Add rows to the lines of their values, which are made where there are none.

        What has left the schema, −∞, is on no line any more.
        """
        known = values > -np.inf
        absent = np.isnan(values)
        if absent.any():
            at = np.zeros(np.count_nonzero(absent), dtype=np.int64)
            np.add.at(self.missing[None], at, weights[absent])
            np.add.at(self.missing_rows[None], at, rows[absent])
        values, weights, rows = values[known], weights[known], rows[known]
        if not len(values):
            return
        new = np.setdiff1d(values, self.values)
        if len(new):
            at = np.searchsorted(self.values, new)
            self.values = np.insert(self.values, at, new)
            self.weights = np.insert(self.weights, at, 0.0, axis=0)
            self.rows = np.insert(self.rows, at, 0, axis=0)
        line = np.searchsorted(self.values, values)
        np.add.at(self.weights, line, weights)
        np.add.at(self.rows, line, rows)

    def count_again(
        self, index: int, gone: Floats, now: WeighedRows, cells: Cells, amounts: Amounts
    ) -> int:
        """Count the lines again that rows have left; return how many were counted."""
        values = cells(index, now.rows)
        touched = np.isin(values, gone)
        if np.isnan(gone).any():
            touched |= np.isnan(values)
            self.missing[:], self.missing_rows[:] = 0, 0
        lines = np.isin(self.values, gone)
        self.weights[lines], self.rows[lines] = 0, 0
        own = now.take(touched)
        self.add(values[touched], *amounts(own.rows, own.weights))
        return len(own)

    def without_empty(self) -> "_Lines":
        """Return the lines that have rows."""
        filled = self.rows.any(axis=1)
        if filled.all():
            return self
        return _Lines(
            self.values[filled],
            self.weights[filled],
            self.rows[filled],
            self.missing,
            self.missing_rows,
        )


def _stacked(stack: TableBatch, lines: Sequence[_Lines]) -> TableBatch:
    counts = np.array([len(part.values) for part in lines], dtype=np.int64)
    return TableBatch(
        stack.node,
        stack.attribute,
        starts_of(counts),
        np.concatenate([part.values for part in lines]),
        np.concatenate([part.weights for part in lines]),
        np.concatenate([part.rows for part in lines]),
        np.array([part.missing for part in lines]),
        np.array([part.missing_rows for part in lines]),
    )
