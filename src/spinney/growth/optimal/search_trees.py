"""The best tree of a depth: what its root asks is sought from here, the rest in loops.

Cuts of the root that may still be better than the best tree found stand in a heap, as
intervals, the most promising first. So at any moment the least bound of the heap is a
bound on every tree, and what lies between it and the best one found is the gap. Some
intervals are taken at a time, the same number on any machine, and looked at in threads:
the tree does not depend on how many there are.
"""

from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from heapq import heapify, heappop, heappush
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import THREAD_NAME, n_threads, run_all
from spinney.errors import DataError
from spinney.growth.optimal.loops.flag_pairs import FLAG_LINES
from spinney.growth.optimal.loops.layout import LANES, MOST_TOLD, Family, Problem, Room
from spinney.growth.optimal.loops.solve import search_subtrees
from spinney.growth.optimal.loops.solve_flags import search_flags

AT_ONCE = 4
WAITING = 0.05  # seconds between two looks at the clock
MOST_BYTES = 4 << 30
MOST_FLAGS = 1024  # whose pairs are counted
NO_BUDGET = 1e300
Telling = Callable[[float, float], None]
"""Is told the loss of the best tree so far, and a bound on that of any."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What a node asks: rows up to this position of this column go left."""

    column: int
    rank: int


@dataclass(frozen=True, slots=True)
class Branches:
    """A tree of cuts; a leaf is None."""

    cut: Cut
    left: "Branches | None"
    right: "Branches | None"


@dataclass(frozen=True, slots=True)
class BestTree:
    """The best tree that was found, its loss, and a bound on that of any tree."""

    tree: Branches | None
    loss: float
    bound: float


def problem_of(
    ranks: NDArray[Any], sums: Floats, most: Floats, *, family: Family, price: float
) -> Problem:
    """Return the problem of all rows; ``ranks`` has a line for each column."""
    ranks = np.ascontiguousarray(ranks, dtype=np.int32)
    least = sums[:, 0].min() / 2 if family == Family.MOMENTS else 0.0
    order = np.argsort(ranks, axis=1, kind="stable").astype(np.int32)
    return Problem(
        ranks,
        order,
        _lasts(ranks, order),
        np.ascontiguousarray(sums, dtype=np.float64),
        np.ascontiguousarray(most, dtype=np.float64),
        np.array([price, least]),
        np.array([family, LANES], np.int64),
        np.zeros(1, np.int64),
        *_flags_of(ranks),
        *_savings(sums, family),
    )


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


def _within(problem: Problem, inside: NDArray[Any]) -> Problem:
    """Return the problem of some rows, ``inside`` saying which."""
    kept = inside[problem.order].astype(bool)
    order = problem.order[kept].reshape(len(kept), -1)
    return problem._replace(order=order, last=_lasts(problem.rank, order))


def _room_for(problem: Problem, depth: int) -> Room:
    n_columns, n_rows = problem.order.shape
    n_all, n_numbers = problem.sums.shape
    n = n_numbers + (problem.family[0] == Family.PAIR)
    of_flags = len(problem.n_ones) > 0
    n_savings, n_flags = problem.numbers.shape[1], n_columns if of_flags else 0
    n_orders = 1 if of_flags else n_columns
    levels = max(depth, 2) + 1
    deep = max(depth, 1)
    return Room(
        np.zeros((deep, 2, n_orders, n_rows), np.int32),
        np.zeros((deep, 2, n_orders, n_rows), np.uint8),
        np.zeros(n_all, np.uint8),
        np.zeros((levels, n_rows + LANES, 4), np.int64),
        np.zeros((levels, n_rows + LANES, 6)),
        np.zeros((levels, n_rows), np.int64),
        np.zeros((levels, n_rows)),
        np.zeros((levels, MOST_TOLD, 2, n_columns)),
        np.zeros((levels, 1)),
        np.zeros((n_rows, n)),
        np.zeros((levels, n)),
        np.zeros((LANES, 3), np.int64),
        np.zeros((LANES, 6)),
        np.zeros((8 + 4 * n) * LANES + 10 * LANES),
        np.zeros((n_savings, n_flags, n_flags)),
        np.zeros((n_savings, n_flags)),
        np.zeros(n_savings),
        np.zeros((FLAG_LINES, n_flags)),
        np.zeros((levels, n_flags + 1, n_flags + 1)),
        np.zeros((levels, 4, n_flags)),
    )


def search_trees(
    problem: Problem,
    depth: int,
    *,
    time_limit: float | None = None,
    tell: Telling | None = None,
) -> BestTree:
    """Return the tree of least loss of a depth, proven unless time ends before."""
    search = _TreeSearch(problem, depth, tell)
    _in_a_thread(search.run, time_limit, problem.stop)
    problem.stop[0] = 0
    return BestTree(search.tree(), search.loss, search.bound)


def _in_a_thread(
    work: Callable[[], None], time_limit: float | None, stop: Integers
) -> None:
    """Do work that looks at a sign to stop: after some seconds, or an interrupt.

    Python gives an interrupt to the main thread, which hears it while it waits.
    """
    failures: list[BaseException] = []

    def do() -> None:
        try:
            work()
        except BaseException as failure:  # noqa: BLE001 - who waits raises it
            failures.append(failure)

    if time_limit == 0:
        stop[0] = 1
    until = None if time_limit is None else monotonic() + time_limit
    thread = Thread(target=copy_context().run, args=(do,), name=THREAD_NAME)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(WAITING)
            if until is not None and monotonic() >= until:
                stop[0] = 1
    except BaseException:
        stop[0] = 1
        thread.join()
        raise
    if failures:
        raise failures[0]


class _TreeSearch:
    """The search for one tree: what is left to look at, and the best so far."""

    def __init__(self, problem: Problem, depth: int, tell: Telling | None) -> None:
        self.problem, self.depth, self.tell = problem, depth, tell
        n_rooms = min(AT_ONCE, n_threads())
        _refuse_size(problem, depth, n_rooms)
        self.rooms: SimpleQueue[Room] = SimpleQueue()
        for _ in range(n_rooms):
            self.rooms.put(_room_for(problem, depth))
        self.loss, self.bound = NO_BUDGET, 0.0
        self.root: _Root | None = None
        self.left: list[tuple[float, int, _Interval]] = []
        self.number = len(problem.order)
        self.told = np.zeros(len(problem.order))

    def run(self) -> None:
        """Look for trees of rising depth: each is a start for the next."""
        room = self.rooms.get()
        for depth in range(min(2, self.depth) + 1):
            loss, column, position, told = _whole(self.problem, room, depth)
            if depth and self.problem.stop[0]:
                return
            self.told = told
            if loss < self.loss:
                self.loss = loss
                if column >= 0:
                    self.root = _Root(depth, column, position, (loss, loss))
        self.rooms.put(room)
        self.bound = self.loss if self.depth <= 2 else 0.0
        for depth in range(3, self.depth + 1):
            if not self._search_root(depth):
                self.bound = (
                    min(self.loss, self.left[0][0]) if depth == self.depth else 0.0
                )
                return
            self.told = np.zeros_like(
                self.told
            )  # of the depth before, and no bound now

    def _search_root(self, depth: int) -> bool:
        """Search all cuts of the root; return whether that came to an end."""
        self.left = self._intervals()
        while self.left:
            if self.left[0][0] >= self.loss:
                break
            taken = [heappop(self.left) for _ in range(min(AT_ONCE, len(self.left)))]
            ends = self._looked_at(depth, [each[2] for each in taken])
            if self.problem.stop[0]:
                for each in taken:  # what came of them is none
                    heappush(self.left, each)
                return False
            self._take(depth, [each[2] for each in taken], ends)
            if self.tell is not None:
                self.tell(self.loss, self.left[0][0] if self.left else self.loss)
        self.bound = self.loss
        return True

    def _intervals(self) -> list[tuple[float, int, "_Interval"]]:
        """Return the cuts of every column as one interval, where nothing is known."""
        price = float(self.problem.price[0])
        left = []
        for column in range(len(self.problem.order)):
            cuts = np.flatnonzero(self.problem.last[column])
            if len(cuts):
                weight = np.cumsum(self.problem.most[self.problem.order[column]])
                nothing = np.zeros(len(self.told))
                first = _End(0.0, price, self.loss, (nothing, self.told))
                last = _End(float(weight[-1]), self.loss, price, (self.told, nothing))
                left.append(_Interval(column, cuts, weight[cuts], first, last))
        found = [each.shrunk(self.loss) for each in left]
        heap = [(one.bound, one.column, one) for one in found if one is not None]
        heapify(heap)
        return heap

    def _looked_at(self, depth: int, intervals: list["_Interval"]) -> list["_End"]:
        """Look at the middle of each interval, in threads."""
        return run_all(partial(self._sides_of, depth, each) for each in intervals)

    def _take(
        self, depth: int, intervals: list["_Interval"], ends: list["_End"]
    ) -> None:
        """Take the best cut that was looked at; keep what may be better beside each."""
        for interval, end in zip(intervals, ends, strict=True):
            if end.left + end.right < self.loss:
                self.loss = end.left + end.right
                position = int(interval.cuts[interval.middle])
                sides = end.left, end.right
                self.root = _Root(depth, interval.column, position, sides)
        for interval, end in zip(intervals, ends, strict=True):
            for part in interval.parted(end):
                shrunk = part.shrunk(self.loss)
                if shrunk is not None:
                    self.number += 1
                    heappush(self.left, (shrunk.bound, self.number, shrunk))

    def _sides_of(self, depth: int, interval: "_Interval") -> "_End":
        """Return what both sides of the middle of an interval lose."""
        room = self.rooms.get()
        low, high = interval.bounds_at(interval.middle)
        losses, known = np.empty(3), np.array([low, high, self.loss])
        told = interval.told_at(interval.middle)
        position = int(interval.cuts[interval.middle])
        _loops_of(self.problem)(
            self.problem, room, depth, interval.column, position, known, told, losses
        )
        self.rooms.put(room)
        weight = float(interval.weights[interval.middle])
        return _End(weight, float(losses[0]), float(losses[1]), (told[0], told[1]))

    def tree(self) -> Branches | None:
        """Return the best tree; below its root each side is sought once more."""
        if self.root is None:
            return None
        return _rebuilt(self.problem, _room_for(self.problem, self.depth), self.root)


@dataclass(frozen=True, slots=True)
class _Root:
    """The cut of a tree of a depth, and what both sides lose at most."""

    depth: int
    column: int
    position: int
    sides: tuple[float, float]


@dataclass(frozen=True, slots=True)
class _End:
    """What rows up to a cut weigh, and bounds on the losses left and right of it.

    ``told`` are bounds by what the roots of both sides ask about.
    """

    weight: float
    left: float
    right: float
    told: tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class _Interval:
    """Cuts of a column between two that were looked at."""

    column: int
    cuts: Integers
    weights: Floats
    first: _End
    last: _End

    @property
    def bound(self) -> float:
        """The least that any of its cuts can lose."""
        return self.first.left + self.last.right

    @property
    def middle(self) -> int:
        """The place of the cut to be looked at."""
        return len(self.cuts) // 2

    def bounds_at(self, at: int) -> tuple[float, float]:
        """Return bounds on what both sides of a cut lose."""
        weight = self.weights[at]
        left = self.last.left - (self.last.weight - weight)
        right = self.first.right - (weight - self.first.weight)
        return max(self.first.left, float(left)), max(self.last.right, float(right))

    def told_at(self, at: int) -> Floats:
        """Return bounds on what both sides of a cut lose, by what their roots ask."""
        before = self.last.weight - self.weights[at]
        after = self.weights[at] - self.first.weight
        return np.array(
            [
                np.maximum(self.first.told[0], self.last.told[0] - before),
                np.maximum(self.last.told[1], self.first.told[1] - after),
            ]
        )

    def shrunk(self, best: float) -> "_Interval | None":
        """Return the cuts that may lose less than the best tree, if there are any."""
        left = self.last.left - (self.last.weight - self.weights)
        right = self.first.right - (self.weights - self.first.weight)
        bounds = np.maximum(left, self.first.left) + np.maximum(right, self.last.right)
        kept = np.flatnonzero(bounds < best)
        if not len(kept):
            return None
        part = slice(kept[0], kept[-1] + 1)
        return replace(self, cuts=self.cuts[part], weights=self.weights[part])

    def parted(self, end: _End) -> tuple["_Interval", "_Interval"]:
        """Return the cuts on both sides of the middle, of which more is known now."""
        upto, after = slice(self.middle), slice(self.middle + 1, None)
        return (
            replace(self, cuts=self.cuts[upto], weights=self.weights[upto], last=end),
            replace(
                self, cuts=self.cuts[after], weights=self.weights[after], first=end
            ),
        )


def _loops_of(problem: Problem) -> Callable[..., None]:
    """Return who searches: there are quicker ways where every column is a flag."""
    return search_flags if len(problem.n_ones) else search_subtrees


def _whole(
    problem: Problem, room: Room, depth: int, budget: float = NO_BUDGET
) -> tuple[float, int, int, Floats]:
    """Return the loss of the best tree of a depth, and the cut of its root, or -1.

    Last come bounds by what the root asks about.
    """
    found, known = np.empty(3), np.array([0.0, 0.0, budget])
    told = np.zeros((2, len(problem.order)))
    _loops_of(problem)(problem, room, depth, -1, 0, known, told, found)
    return float(found[0]), int(found[1]), int(found[2]), told[0]


def _rebuilt(problem: Problem, room: Room, root: _Root) -> Branches:
    """Return the tree below a cut that is known to be the best."""
    column, position, depth = root.column, root.position, root.depth - 1
    rank = int(problem.rank[column, problem.order[column, position]])
    inside = np.zeros(len(problem.most), np.uint8)
    inside[problem.order[column, : position + 1]] = 1
    branches = []
    for part, most in zip((inside, 1 - inside), root.sides, strict=True):
        own = _within(problem, part)
        loss, below, at, _ = _whole(own, room, depth, most)
        under = _Root(depth, below, at, (loss, loss))
        branches.append(None if below < 0 else _rebuilt(own, room, under))
    return Branches(Cut(column, rank), *branches)


def _refuse_size(problem: Problem, depth: int, n_rooms: int) -> None:
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
