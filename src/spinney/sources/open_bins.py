"""Opening bins: into single values if there are few rows, otherwise into finer bins.

One request counts the rows in all opened bins, and the answer must fit in memory. If
the opened bins have few rows, their values are listed. Otherwise adjacent bins are
divided into parts of equal width, and the learner selects those that may contain the
best threshold. Each round narrows these intervals, until they have few rows.

The key of a part is its lower end, ``key_of``, which rises with the numbers and stays
within the interval. So parts of all intervals, and listed values, have one order. No
arithmetic has to be exact, as the minimum and maximum of each part are counted too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import starts_of
from spinney.sources.base import BinnedTables
from spinney.trees import TableBatch

MAX_LINES = 400_000
"""The approximate maximum of lines in an answer, and of rows listed by value."""
MAX_PARTS = 64
"""The maximum number of parts of a bin."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers from ``low`` to ``high`` in ``n_parts`` parts; listed by value if 0."""

    low: float
    high: float
    n_parts: int = 0

    @property
    def scale(self) -> float:
        """The number of parts per unit."""
        return self.n_parts / (self.high - self.low)

    @property
    def width(self) -> float:
        """The width of a part."""
        return (self.high - self.low) / self.n_parts

    def key_of(self, numbers: Floats) -> Floats:
        """Return the keys of numbers in the interval."""
        if not self.n_parts:
            return numbers
        part = np.floor((numbers - self.low) * self.scale).clip(0, self.n_parts - 1)
        return np.minimum(self.low + part * self.width, self.high)


OpenIntervals = dict[int, dict[int, list[Interval]]]
"""The opened intervals, by attribute and position of the node's request."""


def keys_of(intervals: Sequence[Interval], numbers: Floats) -> Floats:
    """Return the keys of numbers, NaN for those in none of the intervals.

    >>> intervals = [Interval(0, 1), Interval(2, 4, n_parts=2)]
    >>> keys_of(intervals, np.array([0.5, 1.5, 2.5, 4])).tolist()
    [0.5, nan, 2.0, 3.0]
    """
    keys = np.full(len(numbers), np.nan)
    position = (
        np.searchsorted([interval.low for interval in intervals], numbers, side="right")
        - 1
    )
    for place, interval in enumerate(intervals):
        inside = np.flatnonzero((position == place) & (numbers <= interval.high))
        keys[inside] = interval.key_of(numbers[inside])
    return keys


def count_bin_parts(n_rows: Integers) -> Integers:
    """Return the number of parts of each bin, by its number of rows.

    As many parts as rows means that the values are listed.

    >>> count_bin_parts(np.array([3, 1_000_000, 5_000])).tolist()
    [3, 64, 64]
    >>> count_bin_parts(np.array([3, 1_000, 5_000])).tolist()
    [3, 1000, 5000]
    """
    if n_rows.sum() <= MAX_LINES:
        return n_rows
    n_parts = int(np.clip(MAX_LINES // len(n_rows), 2, MAX_PARTS))
    return np.minimum(n_rows, n_parts)


def intervals_of(batch: TableBatch, opened: NDArray[np.bool_]) -> OpenIntervals:
    """Return the intervals of the opened lines of a batch.

    Adjacent lines are one interval with the sum of their parts: if all parts of an
    interval are opened, the next ones are narrower.
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
    n_rows, parts = (np.add.reduceat(columns, start) for columns in (n_rows, parts))
    with np.errstate(over="ignore", divide="ignore"):
        scale = parts / (high - low)
    # The width overflows or underflows: list the values.
    parts[(parts == n_rows) | ~((scale > 0) & (scale < np.inf))] = 0
    answer: OpenIntervals = {}
    node, attribute = batch.node[owner[start]], batch.attribute[owner[start]]
    columns = (values.tolist() for values in (attribute, node, low, high, parts))
    for index, position, least, greatest, n_parts in zip(*columns, strict=True):
        listed = answer.setdefault(index, {}).setdefault(position, [])
        listed.append(Interval(least, greatest, n_parts))
    return answer


def are_single_values(intervals: OpenIntervals) -> bool:
    """Return whether all intervals are listed by value."""
    return not any(
        interval.n_parts
        for by_node in intervals.values()
        for listed in by_node.values()
        for interval in listed
    )


def with_opened(
    batch: TableBatch, lines: NDArray[np.bool_], opened: TableBatch
) -> TableBatch:
    """Return tables whose opened lines are replaced by the lines inside them.

    ``opened`` has some of the same tables, with those lines only.
    """
    assert batch.low is not None
    n_attributes = 1 + batch.attribute.max(initial=0)
    keys, opened_keys = (
        tables.node * n_attributes + tables.attribute for tables in (batch, opened)
    )
    order = np.argsort(keys)
    table = order[np.searchsorted(keys[order], opened_keys)]
    closed = ~lines
    low = opened.values if opened.low is None else opened.low
    owner = np.concatenate([batch.owner[closed], table[opened.owner]])
    values = np.concatenate([batch.values[closed], opened.values])
    low = np.concatenate([batch.low[closed], low])
    order = np.lexsort((values, owner))
    return replace(
        batch,
        start=starts_of(np.bincount(owner, minlength=len(batch))),
        values=values[order],
        weights=np.concatenate([batch.weights[closed], opened.weights])[order],
        rows=np.concatenate([batch.rows[closed], opened.rows])[order],
        low=low[order],
    )


def openable_tables(
    batch: TableBatch,
    inside: Callable[[OpenIntervals], TableBatch],
    check: Callable[[TableBatch, NDArray[np.bool_]], None] | None = None,
) -> BinnedTables:
    """Return tables whose bins can be opened.

    ``inside`` returns the tables of the opened intervals; ``check`` may refuse to open
    some lines.
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
