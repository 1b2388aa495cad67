"""Bins that are opened: to their values where these are few, to finer bins elsewhere.

What comes of an opened bin is counted by one question, and its answer must have room,
however many rows there are. So if all rows of the opened bins together are few, their
values are listed. Otherwise bins side by side are divided in parts of equal width, as
many as the answer has room for, and the learner is asked again which of these may hold
the best cut. Every round narrows the intervals that do, until what they hold is little.

A part is known by its least possible number, ``key_of``, which rises with the numbers
and stays within the interval. So parts of all intervals, and values that are listed,
stand in one order, and no arithmetic has to be exact: the least and the greatest number
of a part are counted with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import starts_of
from spinney.sources.base import BinnedTables
from spinney.trees import TableBatch

MOST_LINES = 400_000
"""So many lines are answered at once, about; so many rows are listed by value."""
MOST_PARTS = 64
"""Into how much a bin is divided at most."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers from ``low`` to ``high``, in some parts; by value, if these are 0."""

    low: float
    high: float
    parts: int = 0

    @property
    def scale(self) -> float:
        """How many parts there are to a unit."""
        return self.parts / (self.high - self.low)

    @property
    def width(self) -> float:
        """How wide a part is."""
        return (self.high - self.low) / self.parts

    def key_of(self, numbers: Floats) -> Floats:
        """Return what numbers inside are counted by."""
        if not self.parts:
            return numbers
        part = np.floor((numbers - self.low) * self.scale).clip(0, self.parts - 1)
        return np.minimum(self.low + part * self.width, self.high)


OpenIntervals = dict[int, dict[int, list[Interval]]]
"""What is opened, by attribute and by the number of the node's request."""


def keys_of(intervals: Sequence[Interval], numbers: Floats) -> Floats:
    """Return what numbers are counted by, NaN where they are in none of the intervals.

    >>> intervals = [Interval(0, 1), Interval(2, 4, parts=2)]
    >>> keys_of(intervals, np.array([0.5, 1.5, 2.5, 4])).tolist()
    [0.5, nan, 2.0, 3.0]
    """
    keys = np.full(len(numbers), np.nan)
    position = (
        np.searchsorted([each.low for each in intervals], numbers, side="right") - 1
    )
    for place, interval in enumerate(intervals):
        own = np.flatnonzero((position == place) & (numbers <= interval.high))
        keys[own] = interval.key_of(numbers[own])
    return keys


def count_bin_parts(n_rows: Integers) -> Integers:
    """Return into how many parts to divide bins of so many rows.

    Those that are as many as the rows list the values.

    >>> count_bin_parts(np.array([3, 1_000_000, 5_000])).tolist()
    [3, 64, 64]
    >>> count_bin_parts(np.array([3, 1_000, 5_000])).tolist()
    [3, 1000, 5000]
    """
    if n_rows.sum() <= MOST_LINES:
        return n_rows
    share = int(np.clip(MOST_LINES // len(n_rows), 2, MOST_PARTS))
    return np.minimum(n_rows, share)


def intervals_of(batch: TableBatch, opened: NDArray[np.bool_]) -> OpenIntervals:
    """Return what the opened lines of a stack are.

    Neighbours are one interval, of as many parts as they have together: so where all
    parts of an interval are opened, the next ones are narrower.
    """
    assert batch.low is not None
    lines = np.flatnonzero(opened)
    n_rows = batch.rows[lines].sum(axis=1)
    parts, owner = count_bin_parts(n_rows), batch.owner[lines]
    first = np.ones(len(lines), dtype=bool)
    first[1:] = (np.diff(lines) > 1) | (np.diff(owner) > 0)
    start = np.flatnonzero(first)
    low = batch.low[lines[start]]
    high = batch.values[lines[np.append(start[1:], len(lines)) - 1]]
    n_rows, parts = (np.add.reduceat(each, start) for each in (n_rows, parts))
    with np.errstate(over="ignore", divide="ignore"):
        scale = parts / (high - low)
    # Numbers that are too far apart, or too near, cannot be divided.
    parts[(parts == n_rows) | ~((scale > 0) & (scale < np.inf))] = 0
    answer: OpenIntervals = {}
    node, attribute = batch.node[owner[start]], batch.attribute[owner[start]]
    each = (every.tolist() for every in (attribute, node, low, high, parts))
    for index, position, least, most, n_parts in zip(*each, strict=True):
        listed = answer.setdefault(index, {}).setdefault(position, [])
        listed.append(Interval(least, most, n_parts))
    return answer


def are_single_values(intervals: OpenIntervals) -> bool:
    """Return whether all intervals are opened to their values."""
    return not any(
        interval.parts
        for by_node in intervals.values()
        for listed in by_node.values()
        for interval in listed
    )


def with_opened(
    batch: TableBatch, lines: NDArray[np.bool_], opened: TableBatch
) -> TableBatch:
    """Return tables with what is inside opened lines in the places of these.

    ``opened`` has some of the same tables, with those lines only.
    """
    assert batch.low is not None
    most = 1 + batch.attribute.max(initial=0)
    keys, own = (each.node * most + each.attribute for each in (batch, opened))
    order = np.argsort(keys)
    table = order[np.searchsorted(keys[order], own)]
    kept = ~lines
    low = opened.values if opened.low is None else opened.low
    owner = np.concatenate([batch.owner[kept], table[opened.owner]])
    values = np.concatenate([batch.values[kept], opened.values])
    low = np.concatenate([batch.low[kept], low])
    order = np.lexsort((values, owner))
    return replace(
        batch,
        start=starts_of(np.bincount(owner, minlength=len(batch))),
        values=values[order],
        weights=np.concatenate([batch.weights[kept], opened.weights])[order],
        rows=np.concatenate([batch.rows[kept], opened.rows])[order],
        low=low[order],
    )


def openable_tables(
    batch: TableBatch,
    inside: Callable[[OpenIntervals], TableBatch],
    check: Callable[[TableBatch, NDArray[np.bool_]], None] | None = None,
) -> BinnedTables:
    """Return tables whose bins can be opened.

    ``inside`` answers with the tables of what is in opened bins; ``check`` may refuse
    to open some lines of the tables.
    """

    def opened(lines: NDArray[np.bool_]) -> BinnedTables:
        if check is not None:
            check(batch, lines)
        intervals = intervals_of(batch, lines)
        finer = with_opened(batch, lines, inside(intervals))
        if are_single_values(intervals):
            return BinnedTables(finer)
        return openable_tables(finer, inside, check)

    return BinnedTables(batch, opened)
