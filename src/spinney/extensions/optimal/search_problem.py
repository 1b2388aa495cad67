"""The arrays of the search for kernels, and the workspace of a thread."""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney.errors import DataError
from spinney.extensions.optimal.kernels.binary_depth_two import FLAG_LINES, FLAG_SUMS
from spinney.extensions.optimal.kernels.layout import (
    LANES,
    MAX_ROOT_BOUNDS,
    Family,
    Problem,
    Workspace,
)
from spinney.extensions.optimal.kernels.losses_by_size import END_LINES

DEEPEST = 5
MAX_BYTES = 4 << 30
MAX_FLAGS = 1024  # the most flags whose pairs are counted
MAX_SMALL_WORK = 1 << 26  # the most sums of pairs for one thread: a tenth of a second

_Flags = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]


def make_problem(
    ranks: NDArray[Any],
    sums: Floats,
    max_increase: Floats,
    *,
    family: Family,
    leaf_cost: float,
    path_cost: Floats | None = None,
) -> Problem:
    """Return the problem of all rows; ``ranks`` is columns × rows."""
    ranks = np.ascontiguousarray(ranks, dtype=np.int32)
    least = sums[:, 0].min() / 2 if family == Family.MOMENTS else 0.0
    flags = _binary_features(ranks)
    n_orders = 1 if len(flags[0]) else len(ranks)
    order = np.argsort(ranks[:n_orders], axis=1, kind="stable").astype(np.int32)
    path_cost = np.zeros(len(max_increase)) if path_cost is None else path_cost
    return Problem(
        ranks,
        order,
        _mark_last(ranks, order),
        np.ascontiguousarray(sums, dtype=np.float64),
        np.ascontiguousarray(path_cost, dtype=np.float64),
        np.ascontiguousarray(max_increase, dtype=np.float64),
        np.array([leaf_cost, least]),
        sizes_up_to(None),
        np.array([family, LANES], np.int64),
        np.zeros(1, np.int64),
        *flags,
        *_savings(sums, family),
    )


def sizes_up_to(max_leaves: int | None) -> Integers:
    """Return the number of losses by depth, and the step: see ``losses_by_size``."""
    depths = range(DEEPEST + 1)
    if max_leaves is None:
        return np.array([*(1 for _ in depths), 0])
    return np.array([*(min(max_leaves, 2**depth) for depth in depths), 1])


def _binary_features(ranks: NDArray[Any]) -> _Flags:
    """Return the arrays of a problem from ``ones`` to ``inverted``."""
    n_flags, n_rows = ranks.shape
    if n_flags > MAX_FLAGS or ranks.max(initial=0) > 1:
        nothing = np.zeros(0, np.int32)
        return np.zeros((0, 0), np.int32), nothing, nothing, nothing, nothing
    inverted = (2 * ranks.sum(axis=1) > n_rows).astype(np.int32)
    has = ranks != inverted[:, None]
    chains = _chains(has)
    starts = np.cumsum([0, *map(len, chains)])
    places, ends = np.empty((2, n_flags), np.int32)
    places[np.concatenate(chains)] = np.arange(n_flags)
    ends[:] = np.repeat(starts[1:], np.diff(starts))
    levels = np.array([has[chain].sum(axis=0) for chain in chains])
    n_ones = (levels > 0).sum(axis=0).astype(np.int32)
    ones = np.zeros((n_rows, n_ones.max(initial=0)), np.int32)
    rows, chain = np.nonzero(levels.T)
    last = starts[chain] + levels[chain, rows] - 1
    ones[rows, np.arange(len(rows)) - (np.cumsum(n_ones) - n_ones)[rows]] = last
    return ones, n_ones, places, ends, inverted


def _chains(has: NDArray[np.bool_]) -> list[list[int]]:
    """Return chains of features: a row with a feature has all earlier ones."""
    bits, n_rows = np.packbits(has, axis=1), has.sum(axis=1)
    chains, lacking = list[list[int]](), np.empty_like(bits)
    for flag in np.argsort(-n_rows, kind="stable").tolist():
        contains = ~(lacking[: len(chains)] & bits[flag]).any(axis=1)
        candidates = np.flatnonzero(contains).tolist()
        if candidates:
            chain = min(candidates, key=lambda index: n_rows[chains[index][-1]])
            chains[chain].append(flag)
        else:
            chain = len(chains)
            chains.append([flag])
        lacking[chain] = ~bits[flag]
    return chains


def is_small(problem: Problem) -> bool:
    """Return whether the search of depth three is too short for threads."""
    n_flags = len(problem.places)
    if not n_flags:
        return False
    n_ones = problem.n_ones[problem.order[0]].astype(np.int64)
    pairs = n_flags**2 + int((n_ones**2).sum()) // 4
    return n_flags * len(problem.addends) * pairs <= MAX_SMALL_WORK


def _savings(sums: Floats, family: Family) -> tuple[Floats, Floats]:
    """Return the savings of each label, and the loss under a reference label.

    The reference is the second of two labels, else each row's costliest label. For
    numeric targets, a mean saves the squares that it explains.
    """
    if family == Family.PAIR:
        return np.ascontiguousarray(sums.T), np.maximum(0.0, -sums[:, 0])
    if family == Family.LABELS:
        largest = sums.max(axis=1)
        return np.ascontiguousarray(sums.T - largest), largest
    return np.ascontiguousarray(sums[:, :2].T), np.ascontiguousarray(sums[:, 2])


def _mark_last(ranks: NDArray[Any], order: NDArray[Any]) -> NDArray[Any]:
    """Return whether each row, in the order of a column, is the last of its value."""
    sorted_ranks = np.take_along_axis(ranks[: len(order)], order, axis=1)
    last = np.zeros(order.shape, np.uint8)
    last[:, :-1] = sorted_ranks[:, 1:] != sorted_ranks[:, :-1]
    return last


def restrict(problem: Problem, inside: NDArray[Any], max_leaves: int | None) -> Problem:
    """Return the problem of some rows."""
    selected = inside[problem.order]
    order = problem.order[selected].reshape(len(selected), -1)
    is_last, sizes = _mark_last(problem.rank, order), sizes_up_to(max_leaves)
    return problem._replace(order=order, is_last=is_last, sizes=sizes)


def workspace_for(problem: Problem, depth: int) -> Workspace:
    """Return the workspace for trees of a depth."""
    shapes = _shapes(problem, depth)
    arrays = {name: np.zeros(shape, kind) for name, (kind, *shape) in shapes.items()}
    return Workspace(**arrays)


def _shapes(problem: Problem, depth: int) -> dict[str, tuple[Any, ...]]:
    """Return the type and the shape of every array of a workspace."""
    n_columns, n_rows = len(problem.rank), problem.order.shape[1]
    n_all, n_numbers = problem.sums.shape
    n = n_numbers + (problem.family[0] == Family.PAIR)
    is_binary = len(problem.n_ones) > 0
    n_savings, n_flags = len(problem.addends), n_columns if is_binary else 0
    n_orders, n_cuts = (1, 0) if is_binary else (n_columns, n_rows)
    levels, deep, entries = max(depth, 2) + 1, max(depth, 1), n_entries(problem)
    end = END_LINES, entries
    n_bounds = 2 if is_binary else MAX_ROOT_BOUNDS
    return {
        "order": (np.int32, deep, 2, n_orders, n_rows),
        "is_last": (np.uint8, deep, 2, n_orders, n_rows),
        "side": (np.uint8, n_all),
        "budget": (np.float64, levels, entries),
        "best": (np.float64, levels, entries),
        "goal": (np.float64, levels, entries),
        "shallow": (np.float64, levels, entries),
        "excluded_bound": (np.float64, levels, entries),
        "intervals": (np.int64, levels, n_cuts + LANES, 2),
        "ends": (np.float64, levels, n_cuts + LANES, 2, *end),
        "outer_ends": (np.float64, levels, 2, *end),
        "current": (np.float64, levels, 3, *end),
        "cuts": (np.int64, levels, n_cuts),
        "cumulative_weight": (np.float64, levels, n_cuts),
        "bounds": (np.float64, levels, n_bounds, 2, n_columns, entries),
        "cumulative": (np.float64, n_cuts, n + 1),
        "totals": (np.float64, levels, n + 1),
        "picked": (np.int64, LANES, 3),
        "picked_ends": (np.float64, LANES, 3, *end),
        "lanes": (np.float64, (8 + 4 * n) * LANES + 10 * LANES),
        "pairs": (np.float64, 2 if depth > 2 else 1, n_savings, n_flags, n_flags),
        "singles": (np.float64, n_savings, n_flags),
        "flag_totals": (np.float64, 2, n_savings),
        "flag_sums": (np.float64, 2, FLAG_SUMS, n_flags + 1),
        "flag_savings": (np.float64, FLAG_LINES, n_flags),
        "count_state": (np.int64, 3),
        "pair_weights": (np.float64, levels, n_flags, n_flags),
        "solved_ends": (np.float64, levels, n_flags, *end),
        "flag_order": (np.int64, levels, 2, n_flags),
    }


def n_entries(problem: Problem) -> int:
    """Return the number of losses by size of tree."""
    return int(problem.sizes[:-1].max())


def refuse_size(problem: Problem, depth: int, n_workspaces: int) -> None:
    """Refuse a search that needs too much memory."""
    n_bytes = n_workspaces * sum(
        np.dtype(kind).itemsize * prod(shape)
        for kind, *shape in _shapes(problem, depth).values()
    )
    if n_bytes > MAX_BYTES:
        n_columns, n_rows = len(problem.rank), problem.order.shape[1]
        limited = problem.sizes[-1] > 0
        leaves = f" and up to {n_entries(problem)} leaves" if limited else ""
        fewer = "rows, attributes or leaves" if limited else "rows or attributes"
        msg = (
            f"optimal trees of depth {depth}{leaves} with {n_columns} columns and "
            f"{n_rows} rows need {n_bytes / 2**30:.1f} GiB: use fewer {fewer}, or a "
            "greedy recipe such as 'cart'"
        )
        raise DataError(msg)
