"""Rows as the loops of the search want them, and the room that a thread works in."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.errors import DataError
from spinney.growth.optimal.loops.flag_pairs import FLAG_LINES
from spinney.growth.optimal.loops.layout import LANES, MOST_TOLD, Family, Problem, Room
from spinney.growth.optimal.loops.sizes import END_LINES

DEEPEST = 5
MOST_BYTES = 4 << 30
MOST_FLAGS = 1024  # whose pairs are counted


def problem_of(
    ranks: NDArray[Any],
    sums: Floats,
    most: Floats,
    *,
    family: Family,
    price: float,
    asked: Floats | None = None,
) -> Problem:
    """Return the problem of all rows; ``ranks`` has a line for each column.

    A question costs its ``price``, and what it costs to ask about each of its rows.
    """
    ranks = np.ascontiguousarray(ranks, dtype=np.int32)
    least = sums[:, 0].min() / 2 if family == Family.MOMENTS else 0.0
    order = np.argsort(ranks, axis=1, kind="stable").astype(np.int32)
    asked = np.zeros(len(most)) if asked is None else asked
    return Problem(
        ranks,
        order,
        _lasts(ranks, order),
        np.ascontiguousarray(sums, dtype=np.float64),
        np.ascontiguousarray(asked, dtype=np.float64),
        np.ascontiguousarray(most, dtype=np.float64),
        np.array([price, least]),
        sizes_within(None),
        np.array([family, LANES], np.int64),
        np.zeros(1, np.int64),
        *_flags_of(ranks),
        *_savings(sums, family),
    )


def sizes_within(max_leaves: int | None) -> Integers:
    """Return how many losses trees of each depth have, and the step: see ``sizes``."""
    depths = range(DEEPEST + 1)
    if max_leaves is None:
        return np.array([*(1 for _ in depths), 0])
    return np.array([*(min(max_leaves, 2**depth) for depth in depths), 1])


def _flags_of(
    ranks: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return which flags each row has, and how many, if every column is one.

    A flag is what the fewer rows of a column have; last comes which of them are those
    of value 0.
    """
    n_flags, n_rows = ranks.shape
    if n_flags > MOST_FLAGS or ranks.max(initial=0) > 1:
        return np.zeros((0, 0), np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32)
    turned = (2 * ranks.sum(axis=1) > n_rows).astype(np.int32)
    has = (ranks != turned[:, None]).T
    n_ones = has.sum(axis=1).astype(np.int32)
    ones = np.zeros((n_rows, n_ones.max(initial=0)), np.int32)
    rows, flags = np.nonzero(has)
    ones[rows, np.arange(len(rows)) - (np.cumsum(n_ones) - n_ones)[rows]] = flags
    return ones, n_ones, turned


def _savings(sums: Floats, family: Family) -> tuple[Floats, Floats]:
    """Return what labels save each row, and what it costs under one that saves none.

    Of two labels the second saves none; else it is the dearest of the row, which every
    label is measured by. Of numbers, a mean saves what it explains of their squares.
    """
    if family == Family.PAIR:
        return np.ascontiguousarray(sums), np.maximum(0.0, -sums[:, 0])
    if family == Family.LABELS:
        dearest = sums.max(axis=1)
        return np.ascontiguousarray(sums - dearest[:, None]), dearest
    return np.ascontiguousarray(sums[:, :2]), np.ascontiguousarray(sums[:, 2])


def _lasts(ranks: NDArray[Any], order: NDArray[Any]) -> NDArray[Any]:
    """Return which rows, in the order of a column, are the last of their value."""
    sorted_ranks = np.take_along_axis(ranks, order, axis=1)
    last = np.zeros(order.shape, np.uint8)
    last[:, :-1] = sorted_ranks[:, 1:] != sorted_ranks[:, :-1]
    return last


def within(problem: Problem, inside: NDArray[Any], max_leaves: int | None) -> Problem:
    """Return the problem of some rows, ``inside`` saying which."""
    kept = inside[problem.order].astype(bool)
    order = problem.order[kept].reshape(len(kept), -1)
    return problem._replace(
        order=order,
        last=_lasts(problem.rank, order),
        sizes=sizes_within(max_leaves),
    )


def room_for(problem: Problem, depth: int) -> Room:
    """Return the room for trees of a depth."""
    n_columns, n_rows = problem.order.shape
    n_all, n_numbers = problem.sums.shape
    n = n_numbers + (problem.family[0] == Family.PAIR)
    of_flags = len(problem.n_ones) > 0
    n_savings, n_flags = problem.numbers.shape[1], n_columns if of_flags else 0
    n_orders = 1 if of_flags else n_columns
    levels, deep, entries = max(depth, 2) + 1, max(depth, 1), n_entries(problem)
    end = END_LINES, entries
    n_told = 2 if of_flags else MOST_TOLD
    return Room(
        np.zeros((deep, 2, n_orders, n_rows), np.int32),
        np.zeros((deep, 2, n_orders, n_rows), np.uint8),
        np.zeros(n_all, np.uint8),
        np.zeros((levels, entries)),
        np.zeros((levels, entries)),
        np.zeros((levels, entries)),
        np.zeros((levels, entries)),
        np.zeros((levels, entries)),
        np.zeros((levels, n_rows + LANES, 2), np.int64),
        np.zeros((levels, n_rows + LANES, 2, *end)),
        np.zeros((levels, 2, *end)),
        np.zeros((levels, 3, *end)),
        np.zeros((levels, n_rows), np.int64),
        np.zeros((levels, n_rows)),
        np.zeros((levels, n_told, 2, n_columns, entries)),
        np.zeros((n_rows, n + 1)),
        np.zeros((levels, n + 1)),
        np.zeros((LANES, 3), np.int64),
        np.zeros((LANES, 3, *end)),
        np.zeros((8 + 4 * n) * LANES + 10 * LANES),
        np.zeros((n_savings, n_flags, n_flags)),
        np.zeros((n_savings, n_flags)),
        np.zeros(n_savings),
        np.zeros((FLAG_LINES, n_flags)),
        np.zeros((levels, n_flags + 1, n_flags + 1)),
        np.zeros((levels, n_flags, *end)),
        np.zeros((levels, 2, n_flags), np.int64),
    )


def n_entries(problem: Problem) -> int:
    """Return how many losses, by sizes of trees, there can be."""
    return int(problem.sizes[:-1].max())


def refuse_size(problem: Problem, depth: int, n_rooms: int) -> None:
    """Refuse a search that would need more memory than is reasonable."""
    n_columns, n_rows = problem.order.shape
    n_bytes = n_rooms * max(depth, 1) * 2 * n_columns * n_rows * 5
    if len(problem.n_ones):  # rows in one order, and sums of pairs
        squares = problem.numbers.shape[1] + max(depth, 2) + 1
        n_bytes = n_rooms * 8 * (depth * n_rows + squares * (n_columns + 1) ** 2)
    if n_bytes > MOST_BYTES:
        msg = (
            f"a search over all trees of depth {depth} with {n_columns} columns of "
            f"questions and {n_rows} rows needs {n_bytes / 2**30:.0f} GiB: take fewer "
            "rows or attributes, or a recipe that grows greedily, such as 'cart'"
        )
        raise DataError(msg)
