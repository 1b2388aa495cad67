"""The count tables of all attributes at all nodes of a level, in one set of arrays.

The tables are concatenated, each with one line per value of its attribute at its node::

    table 0   node 0, attribute 0   [ lines start[0] … start[1] ]   missing[0]
    table 1   node 1, attribute 0   [ lines start[1] … start[2] ]   missing[1]
    …

A source returns such a batch for a level, and all tables are processed together by a
few operations on arrays. A single ``CountTable`` is a view of the batch.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.segments import (
    counts_by,
    lengths_of,
    owners_of,
    part_counts,
    starts_of,
    sums_by,
)
from spinney.trees.counts import CountTable, sizes


@dataclass(frozen=True, eq=False)
class TableBatch:
    """The count tables of a level in one set of arrays.

    Parameters
    ----------
    node, attribute : arrays of shape (tables,)
        The node of each table, counted from 0 in the order of requests, and its
        attribute.
    start : array of shape (tables + 1,)
        The start of each table's lines.
    values : array of shape (lines,)
        The occurring values, rising within a table.
    weights, rows : arrays of shape (lines, classes), or (lines, 3) and (lines, 1)
        The counts of each line, as in a ``CountTable``.
    missing, missing_rows : arrays of shape (tables, classes), or (tables, 3) and (…, 1)
        The same for rows with a missing value.
    low : array of shape (lines,), optional
        If lines may be bins of numbers: the least value of each line; the greatest is
        in ``values``.
    closed_bound : array of shape (tables,), optional
        An upper bound on the gains of cuts inside the bins of a table, −∞ without bins.
    """

    node: Integers
    attribute: Integers
    start: Integers
    values: Floats
    weights: Floats
    rows: Integers
    missing: Floats
    missing_rows: Integers
    low: Floats | None = None
    closed_bound: Floats | None = None

    @classmethod
    def of(cls, tables_by_node: Sequence[Mapping[int, CountTable]]) -> "TableBatch":
        """Return a batch of single tables, given by node and attribute.

        >>> batch = TableBatch.of([{0: CountTable.of([[1, 2], [3, 4]])}])
        >>> len(batch), batch.table(0).weights.tolist()
        (1, [[1.0, 2.0], [3.0, 4.0]])
        """
        entries = [
            (node, attribute, table)
            for node, tables in enumerate(tables_by_node)
            for attribute, table in sorted(tables.items())
        ]
        node, attribute, tables = zip(*entries, strict=True) if entries else ((),) * 3
        return cls(
            np.array(node, dtype=np.int64),
            np.array(attribute, dtype=np.int64),
            starts_of(np.array([len(t.values) for t in tables], dtype=np.int64)),
            np.concatenate([np.zeros(0), *(t.values for t in tables)]),
            _joined_lines([t.weights for t in tables], np.float64),
            _joined_lines([t.rows for t in tables], np.int64),
            _joined_lines([t.missing[None] for t in tables], np.float64),
            _joined_lines([t.missing_rows[None] for t in tables], np.int64),
        )

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self.node)

    @property
    def is_moments(self) -> bool:
        """Whether the target is a number, and the weights are its moments."""
        return bool(self.weights.shape[1] != self.rows.shape[1])

    @cached_property
    def has_unit_weights(self) -> bool:
        """Whether every row weighs 1, so that weights equal numbers of rows."""
        return np.array_equal(self.weights, self.rows)

    @cached_property
    def counts(self) -> Integers:
        """The number of lines of each table."""
        return lengths_of(self.start)

    @cached_property
    def owner(self) -> Integers:
        """The table of each line."""
        return owners_of(self.start)

    @cached_property
    def sizes(self) -> Floats:
        """The weight of each line, all classes together."""
        return sizes(self.weights, self.rows)

    @cached_property
    def known_weight(self) -> Floats:
        """The weight of the rows with a known value, by table."""
        return np.bincount(self.owner, self.sizes, minlength=len(self)).astype(float)

    @cached_property
    def total(self) -> Floats:
        """The weights by class, or the moments, of each table's known rows."""
        return sums_by(self.owner, self.weights, len(self))

    @cached_property
    def total_rows(self) -> Integers:
        """The numbers of rows by class, or in all, with a known value, by table."""
        return part_counts(self.rows, self.start)

    @cached_property
    def has_missing(self) -> NDArray[np.bool_]:
        """Whether each table has rows with a missing value."""
        return np.asarray(self.missing_rows.any(axis=1))

    @property
    def weight(self) -> Floats:
        """The weight of all rows of each table."""
        return self.known_weight + sizes(self.missing, self.missing_rows)

    def scaled(self, class_weights: Floats | None) -> "TableBatch":
        """Return the batch with each class's weight multiplied."""
        if class_weights is None:
            return self
        return replace(
            self,
            weights=self.weights * class_weights,
            missing=self.missing * class_weights,
        )

    def lines_of(self, tables: Integers) -> Integers:
        """Return the lines of some tables, concatenated."""
        counts = self.counts[tables]
        return np.repeat(self.start[tables], counts) + ramps(counts)

    def take(self, tables: Integers) -> "TableBatch":
        """Return some of the tables, in this order."""
        if len(tables) == len(self) and (tables == np.arange(len(self))).all():
            return self
        lines = self.lines_of(tables)
        return TableBatch(
            self.node[tables],
            self.attribute[tables],
            starts_of(self.counts[tables]),
            self.values[lines],
            self.weights[lines],
            self.rows[lines],
            self.missing[tables],
            self.missing_rows[tables],
            None if self.low is None else self.low[lines],
            None if self.closed_bound is None else self.closed_bound[tables],
        )

    def in_runs(self, first: NDArray[np.bool_], values: NDArray[Any]) -> "TableBatch":
        """Return the batch with each run of lines merged into a line of a new value.

        ``first`` marks the starts of runs; runs do not cross tables.
        """
        begins = np.flatnonzero(first)
        rows = part_counts(self.rows, np.append(begins, len(first)))
        if self.has_unit_weights:
            weights = rows.astype(np.float64)
        else:
            weights = sums_by(np.cumsum(first) - 1, self.weights, len(values))
        start = np.searchsorted(begins, self.start)
        return replace(self, start=start, values=values, weights=weights, rows=rows)

    def by_branch(
        self, branch: Integers, n_branches: int, *, by_amount: bool = False
    ) -> tuple[Floats, Integers]:
        """Return weights and rows of each table, added up by the branch of each line.

        Both have the shape (tables, branches, columns). Lines are added up in their
        order, or ``by_amount``: then the same lines have the same sum in any order.

        >>> batch = TableBatch.of([{0: CountTable.of([[1, 2], [3, 4], [5, 6]])}])
        >>> batch.by_branch(np.array([1, 0, 1]), 2)[0].tolist()
        [[[3.0, 4.0], [6.0, 8.0]]]
        """
        keys, n_keys = self.owner * n_branches + branch, len(self) * n_branches
        order = np.lexsort(self.weights.T) if by_amount else slice(None)
        weights = sums_by(keys[order], self.weights[order], n_keys)
        rows = counts_by(keys, self.rows, n_keys)
        return (
            weights.reshape(len(self), n_branches, weights.shape[1]),
            rows.reshape(len(self), n_branches, rows.shape[1]),
        )

    def without_missing(self, tables: NDArray[np.bool_]) -> "TableBatch":
        """Return the batch, with the missing rows of these tables removed."""
        is_kept = ~tables[:, None]
        return replace(
            self,
            missing=self.missing * is_kept,
            missing_rows=self.missing_rows * is_kept,
        )

    def table(self, number: int, *, codes: bool = False) -> CountTable:
        """Return one table; with ``codes`` its values become integers."""
        lines = slice(self.start[number], self.start[number + 1])
        values: NDArray[Any] = self.values[lines]
        return CountTable(
            values.astype(np.int64) if codes else values,
            self.weights[lines],
            self.rows[lines],
            self.missing[number],
            self.missing_rows[number],
        )


def _joined_lines(parts: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    if not parts:
        return np.zeros((0, 1), dtype=kind)
    return np.concatenate(parts).astype(kind)


def joined_batches(batches: Iterable[TableBatch]) -> TableBatch:
    """Return several batches as one."""
    parts = list(batches)
    if len(parts) == 1:
        return parts[0]
    joined = TableBatch(
        np.concatenate([batch.node for batch in parts]),
        np.concatenate([batch.attribute for batch in parts]),
        starts_of(np.concatenate([batch.counts for batch in parts])),
        np.concatenate([batch.values for batch in parts]),
        *(
            np.concatenate([getattr(batch, name) for batch in parts])
            for name in ("weights", "rows", "missing", "missing_rows")
        ),
    )
    if all(batch.low is None for batch in parts):
        return joined
    low = [batch.values if batch.low is None else batch.low for batch in parts]
    return replace(joined, low=np.concatenate(low))
