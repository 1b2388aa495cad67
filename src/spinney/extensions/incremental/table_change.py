"""Count tables of one node after rows are added and removed, and parts of tables.

A line of a table is a sum over the rows of a value. Added rows are summed one by one,
in their order, as counting all rows would. Removed rows are subtracted if sums are
whole numbers, because then no subtraction rounds. Otherwise the lines of these rows are
counted again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import EXACT, starts_of
from spinney.data import Schema
from spinney.trees import TableBatch

Cells = Callable[[int, Integers], NDArray[np.float64]]
"""From an attribute and rows to their values, NaN where missing."""

WeightsAndCounts = Callable[[Integers, Floats], tuple[Floats, Integers]]
"""From rows and their weights to the weights and rows that they add to lines."""


@dataclass(frozen=True, slots=True, eq=False)
class WeighedRows:
    """The rows of a node in rising order, and their weights there."""

    rows: Integers
    weights: Floats

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def take(self, which: NDArray[np.bool_]) -> "WeighedRows":
        """Return some of the rows."""
        return WeighedRows(self.rows[which], self.weights[which])


NO_ROWS = WeighedRows(np.zeros(0, dtype=np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """The rows added to a node and removed from it; both, if its weight changed."""

    added: WeighedRows = NO_ROWS
    removed: WeighedRows = NO_ROWS

    def __len__(self) -> int:
        """Return the number of added and removed rows."""
        return len(self.added) + len(self.removed)


def apply_change(before: WeighedRows, change: Change) -> WeighedRows:
    """Return the rows of a node after a change."""
    if not len(change):
        return before
    stay = ~np.isin(before.rows, change.removed.rows, assume_unique=True)
    rows = np.concatenate([before.rows[stay], change.added.rows])
    weights = np.concatenate([before.weights[stay], change.added.weights])
    order = np.argsort(rows, kind="stable")
    return WeighedRows(rows[order], weights[order])


def difference(before: WeighedRows, after: WeighedRows) -> Change:
    """Return the change between the rows of a node before and after."""
    places = np.searchsorted(before.rows, after.rows)
    inside = places < len(before)
    is_equal = np.zeros(len(after), dtype=bool)
    matches = places[inside]
    is_equal[inside] = (before.rows[matches] == after.rows[inside]) & (
        before.weights[matches] == after.weights[inside]
    )
    stayed = np.zeros(len(before), dtype=bool)
    stayed[places[is_equal]] = True
    return Change(after.take(~is_equal), before.take(~stayed))


def changed_tables(
    batch: TableBatch,
    change: Change,
    now: WeighedRows,
    cells: Cells,
    amounts: WeightsAndCounts,
) -> tuple[TableBatch, int]:
    """Return the tables of a node after a change, and how many rows were counted.

    ``now`` are the node's rows after the change, for lines to be counted again.
    """
    added, removed = change.added, change.removed
    plus, plus_rows = amounts(added.rows, added.weights)
    minus, minus_rows = amounts(removed.rows, removed.weights)
    whole = is_whole(minus) and is_whole(batch.weights) and is_whole(batch.missing)
    lines: list[_Lines] = []
    counted = (len(added) + (len(removed) if whole else 0)) * len(batch)
    for table, index in enumerate(batch.attribute.tolist()):
        part = _Lines.of(batch, table)
        part.add(cells(index, added.rows), plus, plus_rows)
        if len(removed):
            gone = cells(index, removed.rows)
            if whole:
                part.add(gone, -minus, -minus_rows)
            else:
                counted += part.recount(index, gone, now, cells, amounts)
        lines.append(part.without_empty())
    return _join_lines(batch, lines), counted


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
    def of(cls, batch: TableBatch, table: int) -> "_Lines":
        lines = slice(batch.start[table], batch.start[table + 1])
        return cls(
            batch.values[lines],
            batch.weights[lines].copy(),
            batch.rows[lines].copy(),
            batch.missing[table].copy(),
            batch.missing_rows[table].copy(),
        )

    def add(self, values: Floats, weights: Floats, rows: Integers) -> None:
        """Add rows to the lines of their values; new values get new lines.

        Values that are no longer in the schema, −∞, have no line.
        """
        present, missing = values > -np.inf, np.isnan(values)
        if missing.any():
            line = np.zeros(np.count_nonzero(missing), dtype=np.int64)
            np.add.at(self.missing[None], line, weights[missing])
            np.add.at(self.missing_rows[None], line, rows[missing])
        values, weights, rows = values[present], weights[present], rows[present]
        if not len(values):
            return
        new = np.setdiff1d(values, self.values)
        if len(new):
            places = np.searchsorted(self.values, new)
            self.values = np.insert(self.values, places, new)
            self.weights = np.insert(self.weights, places, 0.0, axis=0)
            self.rows = np.insert(self.rows, places, 0, axis=0)
        line = np.searchsorted(self.values, values)
        np.add.at(self.weights, line, weights)
        np.add.at(self.rows, line, rows)

    def recount(
        self,
        index: int,
        gone: Floats,
        now: WeighedRows,
        cells: Cells,
        amounts: WeightsAndCounts,
    ) -> int:
        """Count the lines of removed rows from scratch; return the number of rows."""
        values = cells(index, now.rows)
        touched = np.isin(values, gone)
        if np.isnan(gone).any():
            touched |= np.isnan(values)
            self.missing[:], self.missing_rows[:] = 0, 0
        lines = np.isin(self.values, gone)
        self.weights[lines], self.rows[lines] = 0, 0
        counted = now.take(touched)
        self.add(values[touched], *amounts(counted.rows, counted.weights))
        return len(counted)

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


def _join_lines(batch: TableBatch, lines: Sequence[_Lines]) -> TableBatch:
    counts = np.array([len(part.values) for part in lines], dtype=np.int64)
    return TableBatch(
        batch.node,
        batch.attribute,
        starts_of(counts),
        np.concatenate([part.values for part in lines]),
        np.concatenate([part.weights for part in lines]),
        np.concatenate([part.rows for part in lines]),
        np.array([part.missing for part in lines]),
        np.array([part.missing_rows for part in lines]),
    )


def one_hot_counts(
    columns: Integers, weights: Floats, n_columns: int
) -> tuple[Floats, Integers]:
    """Return the weight and the count of each row in its column; none for -1."""
    cells = np.flatnonzero(columns >= 0), columns[columns >= 0]
    amounts = np.zeros((len(columns), n_columns))
    amounts[cells] = weights[cells[0]]
    rows = np.zeros((len(columns), n_columns), dtype=np.int64)
    rows[cells] = 1
    return amounts, rows


def recode_classes(
    counts: NDArray[Any], classes: Integers, n_classes: int
) -> NDArray[Any]:
    """Return counts by class in the order of the current classes."""
    new = np.zeros((len(counts), n_classes), dtype=counts.dtype)
    stays = classes >= 0
    new[:, classes[stays]] = counts[:, stays]
    return new


def are_numeric(schema: Schema, attributes: Integers) -> NDArray[np.bool_]:
    """Return which attributes are numeric."""
    kinds = np.array([a.kind == "numeric" for a in schema.attributes], dtype=bool)
    return kinds[attributes]


def select_tables(
    batch: TableBatch, attributes: tuple[int, ...], number: int
) -> TableBatch:
    """Return the tables of some attributes, with the number of their node."""
    batch = batch.take(np.flatnonzero(np.isin(batch.attribute, attributes)))
    return replace(batch, node=np.full(len(batch), number))


def pad_branches(batch: TableBatch, n_branches: int) -> TableBatch:
    """Return tables by branch with empty columns added before the last column."""
    n_added = n_branches + 1 - batch.weights.shape[1]
    if n_added <= 0:
        return batch
    places = [batch.weights.shape[1] - 1] * n_added
    return replace(
        batch,
        weights=np.insert(batch.weights, places, 0.0, axis=1),
        rows=np.insert(batch.rows, places, 0, axis=1),
        missing=np.insert(batch.missing, places, 0.0, axis=1),
        missing_rows=np.insert(batch.missing_rows, places, 0, axis=1),
    )
