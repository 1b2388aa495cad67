"""Cells as ranks among the values or buckets of an attribute, and their tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, distinct
from spinney._support.segments import begins_run, starts_of
from spinney.data import Attribute
from spinney.trees import TableBatch, joined_batches

# With more possible values than this per counted cell, the present values are found by
# # sorting, so that small nodes cost little.
SPARSE_RATIO = 2
MIN_SPARSE = 1000

SelectRows = Callable[[NDArray[Any]], NDArray[Any]]
CountEntries = Callable[[Integers, SelectRows, int], tuple[Floats, Integers]]
Ranked = tuple[NDArray[Any], NDArray[Any]]
"""The values of an attribute, and the rank of each row among them, -1 if missing."""


def ranked_values(attribute: Attribute, cells: NDArray[Any]) -> Ranked:
    """Return the values of an attribute and the rank of each cell."""
    if attribute.kind == "numeric":
        return ranked_numbers(cells)
    return np.arange(len(attribute.values)), np.asarray(cells, dtype=np.int64)


def ranked_numbers(cells: NDArray[Any]) -> tuple[Floats, Integers]:
    """Return the distinct numbers and the rank of each cell, -1 if missing."""
    numbers = np.asarray(cells, dtype=np.float64) + 0.0  # -0.0 is 0.0
    known = ~np.isnan(numbers)
    values, indices = distinct(numbers[known])
    ranks = np.full(len(numbers), -1, dtype=np.int64)
    ranks[known] = indices
    return values, ranks


def bucket_places(numbers: Floats, cuts: Floats) -> Ranked:
    """Return the bucket numbers, and the bucket of each row.

    >>> bucket_places(np.array([1.0, 2.0, 3.0, np.nan]), np.array([2.0]))
    (array([0, 1]), array([ 0,  0,  1, -1]))
    """
    buckets = np.searchsorted(cuts, numbers, side="left")
    return np.arange(len(cuts) + 1), np.where(np.isnan(numbers), -1, buckets)


def with_bucket_ranges(
    batch: TableBatch,
    ranked: Mapping[int, Ranked],
    cells: Callable[[int, Integers], Floats],
    rows: Integers,
    owner: Integers,
) -> TableBatch:
    """Return tables by bucket; a line's value is its maximum, ``low`` its minimum.

    Parameters
    ----------
    batch : TableBatch
        The tables; attributes in ``ranked`` are counted by bucket.
    ranked : mapping of int to Ranked
        The bucket of each row, for attributes with buckets.
    cells : function
        Returns the numbers of an attribute at rows.
    rows, owner : arrays of int
        The rows of the level, and the node of each.
    """
    high, low = batch.values.copy(), batch.values.copy()
    attribute, node = batch.attribute[batch.owner], batch.node[batch.owner]
    n_nodes = int(owner[-1]) + 1 if len(owner) else 0
    for index in np.unique(batch.attribute).tolist():
        if index not in ranked:
            continue
        buckets, place = ranked[index][0], ranked[index][1][rows]
        numbers = cells(index, rows) + 0.0  # -0.0 is 0.0
        keys = owner * len(buckets) + place
        if (is_missing := place < 0).any():
            keys, numbers = keys[~is_missing], numbers[~is_missing]
        lines = np.flatnonzero(attribute == index)
        places = node[lines] * len(buckets) + batch.values[lines].astype(np.int64)
        for ends, extreme, initial in (
            (high, np.maximum, -np.inf),
            (low, np.minimum, np.inf),
        ):
            extremes = np.full(n_nodes * len(buckets), initial)
            extreme.at(extremes, keys, numbers)
            ends[lines] = extremes[places]
    return replace(batch, values=high, low=low)


def sorted_keys(keys: Integers, n_keys: int) -> tuple[Integers, Integers]:
    """Return all keys of a matrix in order, and the column of each.

    Equal keys keep the order of their columns. Sorting words of key and column is much
    faster than an argsort.
    """
    n_columns = keys.shape[1]
    bits = max(1, int(n_columns - 1).bit_length())
    if n_keys.bit_length() + bits > 62:
        order = np.argsort(keys, axis=None, kind="stable")
        return keys.ravel()[order], order % n_columns
    words = np.sort((keys << bits | np.arange(n_columns)).ravel())
    return words >> bits, words & ((1 << bits) - 1)


def join_small(batches: Iterable[TableBatch], max_lines: int) -> Iterator[TableBatch]:
    """Join small batches until they have more than ``max_lines``."""
    small: list[TableBatch] = []
    for batch in batches:
        small.append(batch)
        if sum(len(part.values) for part in small) > max_lines:
            yield joined_batches(small)
            small = []
    if small:
        yield joined_batches(small)


def cross_count(
    weights: Floats,
    columns: Integers,
    n_columns: int,
    lines: Integers,
    select: SelectRows,
    size: int,
) -> tuple[Floats, Integers]:
    """Return weights and row counts, one line per value, by column."""
    keys = lines * n_columns + select(columns)
    number = np.bincount(keys, minlength=size * n_columns).reshape(size, n_columns)
    if len(weights) and weights.min() == weights.max() == 1:
        return number.astype(np.float64), number
    summed = np.bincount(keys, select(weights), minlength=size * n_columns)
    return summed.astype(np.float64).reshape(number.shape), number


def count_tables(
    attributes: Sequence[int],
    columns: Sequence[Ranked],
    owner: Integers,
    n_nodes: int,
    count_entries: CountEntries,
) -> TableBatch:
    """Return the tables of attributes at nodes, from the ranks of the nodes' rows.

    Each value of an attribute has a key at each node; the first key of a table is the
    missing value. Present keys become lines. If few are present, as at a deep level,
    sorting finds them.
    """
    n_attributes = len(attributes)
    lengths = np.array([len(values) + 1 for values, _ in columns], dtype=np.int64)
    offset = starts_of(np.repeat(lengths, n_nodes))  # the first key of each table
    keys = owner * lengths[:, None]
    keys += offset[:-1:n_nodes, None] + 1
    for position, (_, ranks) in enumerate(columns):
        keys[position] += ranks
    n_numbers = int(offset[-1])
    if n_numbers <= SPARSE_RATIO * keys.size + MIN_SPARSE:
        weights, rows = count_entries(
            keys.ravel(), lambda entries: np.tile(entries, n_attributes), n_numbers
        )
        numbers = np.flatnonzero(rows.any(axis=1))
        weights, rows = weights[numbers], rows[numbers]
    else:
        ranked, column_of_key = sorted_keys(keys, n_numbers)
        first = begins_run(ranked)
        numbers = ranked[first]
        weights, rows = count_entries(
            np.cumsum(first) - 1, lambda entries: entries[column_of_key], len(numbers)
        )
    counts = np.diff(np.searchsorted(numbers, offset))
    table = np.repeat(np.arange(len(counts)), counts)
    rank = numbers - offset[table] - 1
    missing = np.zeros((len(counts), weights.shape[1]))
    missing_rows = np.zeros((len(counts), rows.shape[1]), dtype=np.int64)
    known = rank >= 0
    if not known.all():
        lacking = table[~known]
        missing[lacking], missing_rows[lacking] = weights[~known], rows[~known]
        counts[lacking] -= 1
        table, rank = table[known], rank[known]
        weights, rows = weights[known], rows[known]
    begins = starts_of(lengths - 1)
    values = np.concatenate([np.asarray(v, dtype=np.float64) for v, _ in columns])
    return TableBatch(
        np.tile(np.arange(n_nodes), n_attributes),
        np.repeat(np.array(attributes, dtype=np.int64), n_nodes),
        starts_of(counts),
        values[np.repeat(begins[:-1], n_nodes)[table] + rank],
        weights,
        rows,
        missing,
        missing_rows,
    )
