"""Query results as arrays: fetched rows, and grouped counts with their tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import starts_of
from spinney.data import Schema
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engines.sql_engine import floats, integers
from spinney.sources.rows.training_rows import TrainingSet
from spinney.trees import TableBatch


@dataclass(frozen=True, slots=True, eq=False)
class CountRows:
    """Result rows of counts: row numbers and amounts by attribute, node, column, value.

    ``value`` is NaN for missing values. ``amounts`` are the weight in ``column``, or
    the moments of a numeric target. A bin has its minimum in ``low`` and its maximum in
    ``value``.
    """

    attribute: Integers
    node: Integers
    column: Integers
    rows: Integers
    amounts: Floats
    value: Floats
    low: Floats

    @classmethod
    def read(
        cls,
        answer: Sequence[Sequence[Any]],
        attributes: Sequence[int],
        *,
        by: bool,
        has_weights: bool,
        ranges: bool = False,
    ) -> "CountRows":
        """Return a query result as counts; ``by``: it has a column beside the node.

        ``has_weights``: the result has weights, not only row counts; ``ranges``: it has
        the minimum and maximum of bins.
        """
        low, high = answer[-2:] if ranges else (None, None)
        which, node, *rest = answer[:-2] if ranges else answer
        column, (rows, *amounts, value) = (rest[0], rest[1:]) if by else (None, rest)
        attribute = np.asarray(attributes, dtype=np.int64)[integers(which)]
        lines = cls(
            attribute,
            integers(node),
            np.zeros_like(attribute) if column is None else integers(column),
            integers(rows),
            _amounts(integers(rows), amounts, has_weights=has_weights),
            floats(value),
            floats(value),
        )
        if low is None or high is None:
            return lines
        return lines._with_bin_ranges(floats(low), floats(high))

    def _with_bin_ranges(self, low: Floats, high: Floats) -> "CountRows":
        """Return counts with the minimum and maximum of each bin over all its rows."""
        is_bin = ~np.isnan(low) & ~np.isnan(self.value)
        in_bins = np.flatnonzero(is_bin)
        order = in_bins[
            np.lexsort(
                (self.value[in_bins], self.attribute[in_bins], self.node[in_bins])
            )
        ]
        if not len(order):
            return self
        keys = (self.node[order], self.attribute[order], self.value[order])
        first = np.ones(len(order), dtype=bool)
        first[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
        begins, group = np.flatnonzero(first), np.cumsum(first) - 1
        value, least = self.value.copy(), self.low.copy()
        value[order] = np.maximum.reduceat(high[order], begins)[group]
        least[order] = np.minimum.reduceat(low[order], begins)[group]
        return replace(self, value=value, low=least)

    def in_bins(
        self, bins: Mapping[int, tuple[Floats, Floats]], by_value: Sequence[int]
    ) -> "CountRows":
        """Return counts with bin numbers replaced by the ranges of the bins.

        ``bins`` are the minima and maxima of bins by attribute. At nodes ``by_value``
        the values are not bin numbers.
        """
        value, least = self.value.copy(), self.low.copy()
        is_bin = ~np.isnan(self.value) & ~np.isin(self.node, by_value)
        for index, (low, high) in bins.items():
            lines = np.flatnonzero(is_bin & (self.attribute == index))
            number = self.value[lines].astype(np.int64)
            value[lines], least[lines] = high[number], low[number]
        return replace(self, value=value, low=least)

    def take(self, lines: NDArray[Any]) -> "CountRows":
        """Return some of the result rows."""
        return CountRows(*(getattr(self, field.name)[lines] for field in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence["CountRows"]) -> "CountRows":
        """Return the concatenated lines of several results."""
        if len(parts) == 1:
            return parts[0]
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(p, n) for p in parts]) for n in names))

    def put(
        self,
        weights: Floats,
        counts: Integers,
        lines: NDArray[Any] | slice,
        places: NDArray[Any] | int,
    ) -> None:
        """Write counts and amounts of lines into different cells of arrays."""
        column, amounts = self.column[lines], self.amounts[lines]
        counts[places, column] = self.rows[lines]
        if amounts.shape[1] == 1:
            weights[places, column] = amounts[:, 0]
        else:
            weights[places] = amounts

    def tables(
        self, requests: Sequence[tuple[int, Sequence[int]]], width: int, n_outputs: int
    ) -> TableBatch:
        """Return the count tables of the requested nodes and attributes.

        ``width`` is the number of weight columns, ``n_outputs`` that of row columns.
        """
        node = np.repeat(np.arange(len(requests)), [len(each) for _, each in requests])
        attributes = [sorted(attributes) for _, attributes in requests]
        attribute = np.array([i for each in attributes for i in each], dtype=np.int64)
        n_attributes = 1 + max(attribute.max(initial=0), self.attribute.max(initial=0))
        numbers = np.array([number for number, _ in requests], dtype=np.int64)
        keys = numbers[node] * n_attributes + attribute
        order = np.argsort(keys, kind="stable")
        line_keys = self.node * n_attributes + self.attribute
        position = np.searchsorted(keys[order], line_keys)
        is_requested = position < len(keys)
        is_requested[is_requested] = (
            keys[order][position[is_requested]] == line_keys[is_requested]
        )
        table = order[position[is_requested]]
        lines = self if is_requested.all() else self.take(is_requested)
        return _table_batch(lines, table, node, attribute, width=width, n=n_outputs)


def _amounts(
    rows: Integers, amounts: Sequence[Sequence[Any]], *, has_weights: bool
) -> Floats:
    """Return weights and further sums; without weights, the number of rows is first."""
    weights = [] if has_weights else [rows.astype(np.float64)]
    return np.array([*weights, *map(floats, amounts)]).T


def _table_batch(
    lines: CountRows,
    table: Integers,
    node: Integers,
    attribute: Integers,
    *,
    width: int,
    n: int,
) -> TableBatch:
    """Return the batch of lines with known tables."""
    missing = np.zeros((len(node), width))
    missing_rows = np.zeros((len(node), n), dtype=np.int64)
    is_missing = np.isnan(lines.value)
    lines.put(missing, missing_rows, is_missing, table[is_missing])
    known = np.flatnonzero(~is_missing)
    order = known[np.lexsort((lines.value[known], table[known]))]
    lines, table = lines.take(order), table[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (table[1:] != table[:-1]) | (lines.value[1:] != lines.value[:-1])
    weights = np.zeros((np.count_nonzero(first), width))
    counts = np.zeros((len(weights), n), dtype=np.int64)
    lines.put(weights, counts, slice(None), np.cumsum(first) - 1)
    lengths = np.bincount(table[first], minlength=len(node))
    low, value = lines.low[first], lines.value[first]
    return TableBatch(
        node,
        attribute,
        starts_of(lengths),
        value,
        weights,
        counts,
        missing,
        missing_rows,
        None if np.array_equal(low, value) else low,
    )


@dataclass(frozen=True, slots=True, eq=False)
class FetchedRows:
    """Fetched lines as arrays: rows, or fractions of rows, with node and weight."""

    node: Integers
    weight: Floats
    classes: NDArray[Any]
    columns: tuple[NDArray[Any], ...]

    @classmethod
    def read(cls, answer: Sequence[Sequence[Any]], schema: Schema) -> "FetchedRows":
        """Return the result of a ``rows_query``."""
        node, weight, classes, *cells = answer
        as_target = floats if schema.target.is_numeric else integers
        columns = tuple(
            floats(each)
            if attribute.kind == "numeric"
            else integers(each).astype(np.int32)
            for each, attribute in zip(cells, schema.attributes, strict=False)
        )
        return cls(integers(node), floats(weight), as_target(classes), columns)

    @classmethod
    def joined(cls, parts: Sequence["FetchedRows"]) -> "FetchedRows":
        """Return the concatenated lines of several results."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.node for part in parts]),
            np.concatenate([part.weight for part in parts]),
            np.concatenate([part.classes for part in parts]),
            tuple(
                np.concatenate(cells)
                for cells in zip(*(part.columns for part in parts), strict=True)
            ),
        )

    def training(self, schema: Schema) -> TrainingSet:
        """Return the lines as a training set."""
        weights = None if np.all(self.weight == 1.0) else self.weight
        return TrainingSet(schema, self.columns, self.classes, weights)


def rows_query(relation: exp.Query | exp.Table, schema: Schema) -> exp.Select:
    """Return the select of node, weight, class and cells; -1 means missing."""
    listed: list[exp.Expr] = [
        sql.column("node"),
        sql.column("weight"),
        sql.column("class"),
    ]
    for index in range(schema.n_columns):
        cell: exp.Expr = sql.column(f"a{index}")
        if schema.attributes[index].kind != "numeric":
            cell = exp.Coalesce(this=cell, expressions=[sql.integer(-1)])
        listed.append(exp.alias_(cell, f"a{index}", quoted=True, copy=False))
    return sql.select(listed, relation)
