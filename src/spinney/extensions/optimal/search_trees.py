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

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import THREAD_NAME, n_threads, run_all
from spinney.extensions.optimal.kernels.layout import Problem, Room
from spinney.extensions.optimal.kernels.sizes import (
    CLEARLY,
    END_LINES,
    HUGE,
    LEFT,
    NOT_WANTED,
    RIGHT,
)
from spinney.extensions.optimal.kernels.solve import search_subtrees
from spinney.extensions.optimal.kernels.solve_flags import search_flags
from spinney.extensions.optimal.search_problem import (
    is_small,
    n_entries,
    refuse_size,
    room_for,
    sizes_within,
    within,
)

AT_ONCE = 4
WAITING = 0.05  # seconds between two looks at the clock
ROUNDING = 1e-9  # sums of the same rows differ by less, as a share of all
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


def search_trees(
    problem: Problem,
    depth: int,
    *,
    max_leaves: int | None = None,
    ceiling: float | None = None,
    time_limit: float | None = None,
    tell: Telling | None = None,
) -> BestTree:
    """Return the tree of least loss of a depth, proven unless time ends before.

    Parameters
    ----------
    problem : Problem
        Rows, and what trees are judged by.
    depth : int
        The longest path that a tree may have.
    max_leaves : int, optional
        The most leaves that it may have.
    ceiling : float, optional
        Trees that lose as much are not wanted; if there are no others, that is the
        loss.
    time_limit : float, optional
        Seconds after which the best tree found is taken. They are counted from when
        there is a first one, whose every node asks the best question: so the time to
        load loops is not among them.
    tell : function, optional
        Is told how far the search has come.
    """
    if max_leaves is not None and max_leaves < 2**depth:
        depth = min(depth, max_leaves - 1)
        problem = problem._replace(sizes=sizes_within(max_leaves))
    price = float(problem.price[0])  # of the first leaf, which no question makes
    most = HUGE if ceiling is None else ceiling - price
    search = _TreeSearch(problem, depth, tell, most)
    _in_a_thread(
        partial(search.begin, timed=time_limit is not None), None, problem.stop
    )
    _in_a_thread(search.run, time_limit, problem.stop)
    problem.stop[0] = 0
    return BestTree(search.tree(), search.loss + price, search.bound + price)


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

    def __init__(
        self, problem: Problem, depth: int, tell: Telling | None, ceiling: float
    ) -> None:
        self.problem, self.depth, self.tell = problem, depth, tell
        n_rooms = min(AT_ONCE, n_threads())
        refuse_size(problem, depth, n_rooms)
        self.rooms: SimpleQueue[Room] = SimpleQueue()
        for _ in range(n_rooms):
            self.rooms.put(room_for(problem, depth))
        self.toll = float(problem.price[0] + problem.asked.sum())
        self.loss, self.bound = ceiling, 0.0
        self.root: _Root | None = None
        self.start: Branches | None = None  # if there is no root that is better
        self.first: tuple[Branches | None, float] = None, HUGE  # if time ends early
        self.left: list[tuple[float, int, _Interval]] = []
        self.number = len(problem.rank)
        entries = n_entries(problem)
        self.less = np.zeros(entries)
        self.told = np.zeros((len(problem.rank), entries))

    def begin(self, *, timed: bool) -> None:
        """Look for the best question, and for a first tree if time is limited."""
        room = self.rooms.get()
        for depth in range(min(1, self.depth) + 1):
            self._search_whole(room, depth)
        if timed and self.depth > 1 and not self.problem.sizes[-1]:
            self.first = _looking_ahead(self.problem, room, self.depth, 1)
        self.rooms.put(room)

    def run(self) -> None:
        """Look for the best tree, and take the first one if time ends before."""
        self._run()
        tree, loss = self.first
        if self.problem.stop[0] and loss < self.loss:
            self.loss, self.root, self.start = loss, None, tree
            self.bound = min(self.bound, loss)

    def _run(self) -> None:
        """Look for trees of rising depth: each is a start for the next."""
        room = self.rooms.get()
        if self.depth >= 2 and not self._search_whole(room, 2):
            return
        self._look_ahead(room)
        self.bound = self.loss if self.depth <= 2 else 0.0
        if self.depth >= 3 and is_small(self.problem):
            if not self._search_whole(room, 3):
                return
            self.bound = self.loss if self.depth == 3 else 0.0
        self.rooms.put(room)
        for depth in range(4 if is_small(self.problem) else 3, self.depth + 1):
            if not self._search_root(depth):
                least = self.left[0][0] + self.toll if depth == self.depth else 0.0
                self.bound = min(self.loss, least)
                return
            # What was told is of the depth before, and of all losses of this one there
            # is a bound, but for that of a leaf.
            self.told = np.zeros_like(self.told)
            self.less[min(1, len(self.less) - 1) :] = self.loss

    def _search_whole(self, room: Room, depth: int) -> bool:
        """Search all trees of a small depth; return whether that came to an end."""
        wanted = np.full(len(self.less), HUGE)
        if depth > 2:
            wanted = _wanted(self.problem, depth, self.loss, len(wanted))
        losses, question, told = _whole(self.problem, room, depth, wanted)
        if depth and self.problem.stop[0]:
            return False
        n = int(self.problem.sizes[depth])
        self.told, self.less = told, losses
        self.less[n:] = self.less[n - 1]
        if losses[n - 1] < self.loss:
            self.loss = float(losses[n - 1])
            self.root = question.root(self.problem, depth, self.loss)
        return True

    def _look_ahead(self, room: Room) -> None:
        """Take a tree whose nodes look two questions ahead, if it is better."""
        if self.depth <= 2 or self.problem.sizes[-1]:
            return
        tree, loss = _looking_ahead(self.problem, room, self.depth, 2)
        if loss < self.loss and not self.problem.stop[0]:
            self.loss, self.root, self.start = loss, None, tree

    @property
    def goal(self) -> float:
        """What both sides of the root are to lose less than."""
        return self.loss - self.toll

    def _search_root(self, depth: int) -> bool:
        """Search all cuts of the root; return whether that came to an end."""
        self.left = self._intervals(depth)
        while self.left:
            if self.left[0][0] >= self.goal:
                break
            taken = [heappop(self.left) for _ in range(min(AT_ONCE, len(self.left)))]
            ends = self._looked_at(depth, [each[2] for each in taken])
            if self.problem.stop[0]:
                for each in taken:  # what came of them is none
                    heappush(self.left, each)
                return False
            self._take(depth, [each[2] for each in taken], ends)
            if self.tell is not None:
                bound = self.left[0][0] if self.left else self.goal
                self.tell(self.loss, bound + self.toll)
        self.bound = self.loss
        return True

    def _intervals(self, depth: int) -> list[tuple[float, int, "_Interval"]]:
        """Return the cuts of every column as one interval, where nothing is known."""
        shares, left = _shares(self.problem, depth), []
        no_rows, nothing = np.zeros_like(self.less), np.zeros_like(self.told)
        total = float(self.problem.most.sum())
        first = _End(0.0, no_rows, self.less, (nothing, self.told))
        last = _End(total, self.less, no_rows, (self.told, nothing))
        promising = np.argsort(self.told[:, -1], kind="stable")
        of_columns = _cuts_of(self.problem)
        for column in promising.tolist():
            cuts, weights = of_columns[column]
            if len(cuts):
                left.append(_Interval(column, cuts, weights, first, last, shares))
        found = [each.shrunk(self.goal) for each in left]
        heap = [
            (one.bound, number, one)
            for number, one in enumerate(found)
            if one is not None
        ]
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
            left, right = end.left[interval.shares[0]], end.right[interval.shares[1]]
            best = int((left + right).argmin())
            if left[best] + right[best] < CLEARLY * self.goal:
                self.loss = float(left[best] + right[best]) + self.toll
                rank = _rank_at(
                    self.problem, interval.column, interval.cuts[interval.middle]
                )
                sides, share = (left[best], right[best]), interval.shares[0][best]
                self.root = _Root(depth, interval.column, rank, sides, share)
        for interval, end in zip(intervals, ends, strict=True):
            for part in interval.parted(end):
                shrunk = part.shrunk(self.goal)
                if shrunk is not None:
                    self.number += 1
                    heappush(self.left, (shrunk.bound, self.number, shrunk))

    def _sides_of(self, depth: int, interval: "_Interval") -> "_End":
        """Return what both sides of the middle of an interval lose."""
        room = self.rooms.get()
        at = interval.middle
        losses, told = interval.losses_at(at), interval.told_at(at)
        budget = _wanted(self.problem, depth, self.goal, len(self.less))
        cut = np.array([interval.column, interval.cuts[at]])
        _loops_of(self.problem)(
            self.problem, room, depth, cut, budget, losses, told, np.empty(0)
        )
        self.rooms.put(room)
        weight = float(interval.weights[at])
        return _End(weight, losses[LEFT], losses[RIGHT], (told[0], told[1]))

    def tree(self) -> Branches | None:
        """Return the best tree; below its root each side is sought once more."""
        if self.root is None:
            return self.start
        self.rooms = SimpleQueue()  # which are done with, and may be large
        return _rebuilt(self.problem, room_for(self.problem, self.depth), self.root)


def _shares(problem: Problem, depth: int) -> tuple[Integers, Integers]:
    """Return the entries of both sides that the tree of the most leaves may have."""
    n, step = int(problem.sizes[depth - 1]), int(problem.sizes[-1])
    most = int(problem.sizes[depth]) - 1 - step
    left = np.arange(min(n, most + 1))
    return left, np.minimum(most - left, n - 1)


def _wanted(problem: Problem, depth: int, budget: float, width: int) -> Floats:
    """Return a budget for the tree of the most leaves alone, of so many entries."""
    wanted = np.full(width, NOT_WANTED)
    wanted[problem.sizes[depth] - 1] = budget
    return wanted


@dataclass(frozen=True, slots=True)
class _Root:
    """The cut of a tree of a depth, what both sides lose at most, the left's share."""

    depth: int
    column: int
    rank: int
    sides: tuple[float, float]
    share: int


@dataclass(frozen=True, slots=True)
class _Question:
    """What a root asks, and the entry of its left side: column -1 is a leaf."""

    column: int
    position: int
    share: int

    def root(self, problem: Problem, depth: int, loss: float) -> _Root | None:
        """Return it as the root of a tree, if it is one."""
        if self.column < 0:
            return None
        rank = _rank_at(problem, self.column, self.position)
        return _Root(depth, self.column, rank, (loss, loss), self.share)


@dataclass(frozen=True, slots=True)
class _End:
    """What rows up to a cut weigh, and bounds on the losses left and right of it.

    ``told`` are bounds by what the roots of both sides ask about.
    """

    weight: float
    left: Floats
    right: Floats
    told: tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class _Interval:
    """Cuts of a column between two that were looked at.

    ``shares`` are the entries of both sides that make a tree of the wanted size.
    """

    column: int
    cuts: Integers
    weights: Floats
    first: _End
    last: _End
    shares: tuple[Integers, Integers]

    @property
    def bound(self) -> float:
        """The least that any of its cuts can lose."""
        left, right = self.shares
        return float((self.first.left[left] + self.last.right[right]).min())

    @property
    def middle(self) -> int:
        """The place of the cut to be looked at."""
        return len(self.cuts) // 2

    def losses_at(self, at: int) -> Floats:
        """Return bounds on what both sides of a cut lose, as the kernels want them."""
        weight, losses = self.weights[at], np.zeros((END_LINES, len(self.first.left)))
        left = self.last.left - (self.last.weight - weight)
        right = self.first.right - (weight - self.first.weight)
        losses[LEFT] = np.maximum(self.first.left, left)
        losses[RIGHT] = np.maximum(self.last.right, right)
        return losses

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
        one, two = self.shares
        before = (self.last.weight - self.weights)[:, None]
        after = (self.weights - self.first.weight)[:, None]
        left = np.maximum(self.last.left[one] - before, self.first.left[one])
        right = np.maximum(self.first.right[two] - after, self.last.right[two])
        bounds = (left + right).min(axis=1)
        kept = np.flatnonzero(bounds < best)
        if not len(kept):
            return None
        part = slice(kept[0], kept[-1] + 1)
        return replace(self, cuts=self.cuts[part], weights=self.weights[part])

    def parted(self, end: _End) -> list["_Interval"]:
        """Return the cuts on both sides of the middle, of which more is known now."""
        upto, after = slice(self.middle), slice(self.middle + 1, None)
        parts = []
        for part, ends in ((upto, (self.first, end)), (after, (end, self.last))):
            cuts, weights = self.cuts[part], self.weights[part]
            if len(cuts):
                parts.append(_Interval(self.column, cuts, weights, *ends, self.shares))
        return parts


def _loops_of(problem: Problem) -> Callable[..., None]:
    """Return who searches: there are quicker ways where every column is a flag."""
    return search_flags if len(problem.n_ones) else search_subtrees


def _whole(
    problem: Problem, room: Room, depth: int, budget: Floats
) -> tuple[Floats, _Question, Floats]:
    """Return losses of the best trees of a depth by size, and what the largest asks.

    Last come bounds by what the root asks about.
    """
    entries = len(budget)
    found = np.empty(3 + entries)
    end = np.zeros((END_LINES, entries))
    told = np.zeros((2, len(problem.rank), entries))
    cut = np.array([-1, 0])
    _loops_of(problem)(problem, room, depth, cut, budget, end, told, found)
    return found[3:], _Question(*map(int, found[:3])), told[0]


def _looking_ahead(
    problem: Problem, room: Room, depth: int, ahead: int
) -> tuple[Branches | None, float]:
    """Return a tree whose every node asks what one of less depth would, and its loss.

    That depth is ``ahead``, or what is left. Sizes are not limited.
    """
    wanted = np.full(room.best.shape[1], HUGE)
    losses, question, _ = _whole(problem, room, min(depth, ahead), wanted)
    root = question.root(problem, depth, float(losses[0]))
    if root is None or problem.stop[0]:
        return None, float(losses[0])
    loss = float(problem.price[0] + problem.asked[problem.order[0]].sum())
    branches = []
    for side in _sides(problem, root):
        branch, more = _looking_ahead(side, room, depth - 1, ahead)
        branches.append(branch)
        loss += more
    return Branches(Cut(root.column, root.rank), *branches), loss


def _cuts_of(problem: Problem) -> list[tuple[Integers, Floats]]:
    """Return positions of the cuts of each column, and what rows up to them weigh."""
    if not len(problem.n_ones):
        weights = np.cumsum(problem.most[problem.order], axis=1)
        found = map(np.flatnonzero, problem.last)
        return [(cuts, own[cuts]) for cuts, own in zip(found, weights, strict=True)]
    zeros = problem.rank == 0
    weights = np.where(zeros, problem.most, 0.0).sum(axis=1)
    there = zeros.any(axis=1) & ~zeros.all(axis=1)
    return [
        (np.zeros(int(has), np.int64), weights[at : at + int(has)])
        for at, has in enumerate(there)
    ]


def _rank_at(problem: Problem, column: int, position: int) -> int:
    """Return the rank of a position; rows of rank 0 are on the left of a flag."""
    if len(problem.n_ones):
        return 0
    return int(problem.rank[column, problem.order[column, position]])


def _sides(problem: Problem, root: _Root) -> tuple[Problem, Problem]:
    """Return the problems on both sides of a cut."""
    inside = problem.rank[root.column] <= root.rank
    limits: tuple[int | None, int | None] = None, None
    if problem.sizes[-1]:
        limits = root.share + 1, n_entries(problem) - root.share - 1
    return within(problem, inside, limits[0]), within(problem, ~inside, limits[1])


def _rebuilt(problem: Problem, room: Room, root: _Root) -> Branches:
    """Return the tree below a cut that is known to be the best."""
    depth, width = root.depth - 1, room.best.shape[1]
    branches: list[Branches | None] = []
    for own, most in zip(_sides(problem, root), root.sides, strict=True):
        if own.sizes[-1] and n_entries(own) == 1:  # a leaf is all that is left
            branches.append(None)
            continue
        # What is lost is below what is wanted, also where it is added up otherwise.
        most = np.nextafter(most + ROUNDING * float(problem.most.sum()), HUGE)
        wanted = _wanted(own, depth, most, width)
        losses, question, _ = _whole(own, room, depth, wanted)
        under = question.root(own, depth, float(losses[own.sizes[depth] - 1]))
        branches.append(None if under is None else _rebuilt(own, room, under))
    return Branches(Cut(root.column, root.rank), *branches)
