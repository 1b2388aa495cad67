"""The search for the optimal tree: the root here, subtrees in kernels.

A heap has intervals of cuts of the root that may beat the best tree, by lower bound.
Its least bound is a lower bound for every tree. A fixed number of intervals is solved
in threads at a time, so the tree does not depend on the number of threads.
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
from spinney.extensions.optimal.kernels.layout import Problem, Workspace
from spinney.extensions.optimal.kernels.losses_by_size import (
    BELOW,
    END_LINES,
    LEFT,
    MAX_LOSS,
    NO_BUDGET,
    RIGHT,
)
from spinney.extensions.optimal.kernels.solve import search_subtrees
from spinney.extensions.optimal.kernels.solve_binary import search_binary
from spinney.extensions.optimal.search_problem import (
    is_small,
    n_entries,
    refuse_size,
    restrict,
    sizes_up_to,
    workspace_for,
)

N_PARALLEL = 4
POLL_SECONDS = 0.05  # seconds between two looks at the clock
ROUNDING = 1e-9  # sums of the same rows differ by less, as a fraction of all
ProgressCallback = Callable[[float, float], None]
"""Called with the loss of the best tree so far, and a lower bound."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A split: rows up to this rank of this column go left."""

    column: int
    rank: int


@dataclass(frozen=True, slots=True)
class SplitTree:
    """A tree of cuts; a leaf is None."""

    cut: Cut
    left: "SplitTree | None"
    right: "SplitTree | None"


@dataclass(frozen=True, slots=True)
class BestTree:
    """The best tree found, its loss, and a lower bound on the loss of any tree."""

    tree: SplitTree | None
    loss: float
    bound: float


def search_trees(
    problem: Problem,
    depth: int,
    *,
    max_leaves: int | None = None,
    ceiling: float | None = None,
    time_limit: float | None = None,
    on_progress: ProgressCallback | None = None,
) -> BestTree:
    """Return the tree of least loss, proven optimal unless the time limit is reached.

    Trees of a loss of ``ceiling`` or more are excluded; if no other exists, the loss is
    ``ceiling``. The time limit in seconds starts with a first, greedy tree, after
    kernels are loaded.
    """
    if max_leaves is not None and max_leaves < 2**depth:
        depth = min(depth, max_leaves - 1)
        problem = problem._replace(sizes=sizes_up_to(max_leaves))
    leaf_cost = float(problem.leaf_cost[0])  # of the first leaf, which no split adds
    max_loss = MAX_LOSS if ceiling is None else ceiling - leaf_cost
    search = _TreeSearch(problem, depth, on_progress, max_loss)
    _run_interruptibly(
        partial(search.begin, timed=time_limit is not None), None, problem.stop
    )
    _run_interruptibly(search.run, time_limit, problem.stop)
    problem.stop[0] = 0
    return BestTree(search.tree(), search.loss + leaf_cost, search.bound + leaf_cost)


def _run_interruptibly(
    work: Callable[[], None], time_limit: float | None, stop: Integers
) -> None:
    """Run work in a thread, and set ``stop`` after a time limit or an interrupt."""
    failures: list[BaseException] = []

    def do() -> None:
        try:
            work()
        except BaseException as failure:  # noqa: BLE001 - the waiting thread raises it
            failures.append(failure)

    if time_limit == 0:
        stop[0] = 1
    deadline = None if time_limit is None else monotonic() + time_limit
    thread = Thread(target=copy_context().run, args=(do,), name=THREAD_NAME)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            if deadline is not None and monotonic() >= deadline:
                stop[0] = 1
    except BaseException:
        stop[0] = 1
        thread.join()
        raise
    if failures:
        raise failures[0]


class _TreeSearch:
    """The search for one tree: open intervals, and the best tree so far."""

    def __init__(
        self,
        problem: Problem,
        depth: int,
        on_progress: ProgressCallback | None,
        ceiling: float,
    ) -> None:
        self.problem, self.depth, self.on_progress = problem, depth, on_progress
        n_workspaces = min(N_PARALLEL, n_threads())
        refuse_size(problem, depth, n_workspaces)
        self.workspaces: SimpleQueue[Workspace] = SimpleQueue()
        for _ in range(n_workspaces):
            self.workspaces.put(workspace_for(problem, depth))
        self.cost = float(problem.leaf_cost[0] + problem.path_cost.sum())
        self.loss, self.bound = ceiling, 0.0
        self.root: _Root | None = None
        self.rootless_tree: SplitTree | None = None  # the best tree without a root
        # The result if the time ends early.
        self.greedy: tuple[SplitTree | None, float] = None, MAX_LOSS
        self.heap: list[_HeapEntry] = []
        self.n_pushed = len(problem.rank)
        entries = n_entries(problem)
        self.shallow = np.zeros(entries)
        self.bounds = np.zeros((len(problem.rank), entries))

    def begin(self, *, timed: bool) -> None:
        """Find the best root and, with a time limit, a greedy tree."""
        work = self.workspaces.get()
        for depth in range(min(1, self.depth) + 1):
            self._search_small(work, depth)
        if timed and self.depth > 1 and not self.problem.sizes[-1]:
            self.greedy = _lookahead_tree(self.problem, work, self.depth, 1)
        self.workspaces.put(work)

    def run(self) -> None:
        """Find the best tree, or return the greedy one at the time limit."""
        self._search_depths()
        tree, loss = self.greedy
        if self.problem.stop[0] and loss < self.loss:
            self.loss, self.root, self.rootless_tree = loss, None, tree
            self.bound = min(self.bound, loss)

    def _search_depths(self) -> None:
        """Find trees of rising depth; each tree is the incumbent of the next depth."""
        work = self.workspaces.get()
        if self.depth >= 2 and not self._search_small(work, 2):
            return
        self._try_lookahead(work)
        self.bound = self.loss if self.depth <= 2 else 0.0
        if self.depth >= 3 and is_small(self.problem):
            if not self._search_small(work, 3):
                return
            self.bound = self.loss if self.depth == 3 else 0.0
        self.workspaces.put(work)
        for depth in range(4 if is_small(self.problem) else 3, self.depth + 1):
            if not self._search_root(depth):
                least = self.heap[0][0] + self.cost if depth == self.depth else 0.0
                self.bound = min(self.loss, least)
                return
            # Bounds by root are of the depth before; losses of this depth have bounds.
            self.bounds = np.zeros_like(self.bounds)
            self.shallow[min(1, len(self.shallow) - 1) :] = self.loss

    def _search_small(self, work: Workspace, depth: int) -> bool:
        """Search all trees of a small depth; return whether the search finished."""
        budget = np.full(len(self.shallow), MAX_LOSS)
        if depth > 2:
            budget = _budget_for_largest(self.problem, depth, self.loss, len(budget))
        losses, split, bounds = _search_all_rows(self.problem, work, depth, budget)
        if depth and self.problem.stop[0]:
            return False
        n = int(self.problem.sizes[depth])
        self.bounds, self.shallow = bounds, losses
        self.shallow[n:] = self.shallow[n - 1]
        if losses[n - 1] < self.loss:
            self.loss = float(losses[n - 1])
            self.root = split.root(self.problem, depth, self.loss)
        return True

    def _try_lookahead(self, work: Workspace) -> None:
        """Keep the lookahead tree of depth two, if it is better."""
        if self.depth <= 2 or self.problem.sizes[-1]:
            return
        tree, loss = _lookahead_tree(self.problem, work, self.depth, 2)
        if loss < self.loss and not self.problem.stop[0]:
            self.loss, self.root, self.rootless_tree = loss, None, tree

    @property
    def goal(self) -> float:
        """The loss that both sides of the root must stay below."""
        return self.loss - self.cost

    def _search_root(self, depth: int) -> bool:
        """Search all cuts of the root; return whether the search finished."""
        self.heap = heap = self._interval_heap(depth)
        while heap and heap[0][0] < self.goal:
            entries = [heappop(heap) for _ in range(min(N_PARALLEL, len(heap)))]
            intervals = [interval for _, _, interval in entries]
            ends = run_all(partial(self._solve_sides, depth, one) for one in intervals)
            if self.problem.stop[0]:
                for entry in entries:  # they have no result
                    heappush(heap, entry)
                return False
            self._update_best(depth, intervals, ends)
            if self.on_progress is not None:
                bound = heap[0][0] if heap else self.goal
                self.on_progress(self.loss, bound + self.cost)
        self.bound = self.loss
        return True

    def _interval_heap(self, depth: int) -> list["_HeapEntry"]:
        """Return the heap with one interval of all cuts per column."""
        sizes = _size_pairs(self.problem, depth)
        no_rows, nothing = np.zeros_like(self.shallow), np.zeros_like(self.bounds)
        total = float(self.problem.max_increase.sum())
        first = _CutBounds(0.0, no_rows, self.shallow, (nothing, self.bounds))
        last = _CutBounds(total, self.shallow, no_rows, (self.bounds, nothing))
        cuts_by_column, heap = _cuts_by_column(self.problem), list[_HeapEntry]()
        for column in np.argsort(self.bounds[:, -1], kind="stable").tolist():
            cuts, weights = cuts_by_column[column]
            if len(cuts):
                whole = _CutInterval(column, cuts, weights, first, last, sizes)
                if (interval := whole.without_excluded(self.goal)) is not None:
                    heap.append((interval.bound, len(heap), interval))
        heapify(heap)
        return heap

    def _update_best(
        self, depth: int, intervals: list["_CutInterval"], ends: list["_CutBounds"]
    ) -> None:
        """Store the best solved cut, and push the intervals beside all solved cuts."""
        for interval, end in zip(intervals, ends, strict=True):
            left, right = end.left[interval.sizes[0]], end.right[interval.sizes[1]]
            best = int((left + right).argmin())
            if left[best] + right[best] < BELOW * self.goal:
                self.loss = float(left[best] + right[best]) + self.cost
                column, position = interval.column, interval.cuts[interval.middle]
                rank = _rank_of_position(self.problem, column, position)
                sides, left_entry = (left[best], right[best]), interval.sizes[0][best]
                self.root = _Root(depth, column, rank, sides, left_entry)
        for interval, end in zip(intervals, ends, strict=True):
            for half in interval.split_at(end):
                if (part := half.without_excluded(self.goal)) is not None:
                    self.n_pushed += 1
                    heappush(self.heap, (part.bound, self.n_pushed, part))

    def _solve_sides(self, depth: int, interval: "_CutInterval") -> "_CutBounds":
        """Return the losses of both sides of an interval's middle cut."""
        work, middle = self.workspaces.get(), interval.middle
        losses, bounds = interval.middle_bounds(), interval.middle_bounds_by_root()
        budget = _budget_for_largest(self.problem, depth, self.goal, len(self.shallow))
        cut = np.array([interval.column, interval.cuts[middle]])
        _solver_for(self.problem)(
            self.problem, work, depth, cut, budget, losses, bounds, np.empty(0)
        )
        self.workspaces.put(work)
        weight = float(interval.weights[middle])
        return _CutBounds(weight, losses[LEFT], losses[RIGHT], (bounds[0], bounds[1]))

    def tree(self) -> SplitTree | None:
        """Return the best tree, whose subtrees are solved once more."""
        if self.root is None:
            return self.rootless_tree
        self.workspaces = SimpleQueue()  # frees their memory
        work = workspace_for(self.problem, self.depth)
        return _rebuild(self.problem, work, self.root)


def _size_pairs(problem: Problem, depth: int) -> tuple[Integers, Integers]:
    """Return the size entries of both sides for the tree of the most leaves."""
    n, step = int(problem.sizes[depth - 1]), int(problem.sizes[-1])
    last = int(problem.sizes[depth]) - 1 - step
    left = np.arange(min(n, last + 1))
    return left, np.minimum(last - left, n - 1)


def _budget_for_largest(
    problem: Problem, depth: int, budget: float, width: int
) -> Floats:
    """Return a budget for the tree of the most leaves alone."""
    budgets = np.full(width, NO_BUDGET)
    budgets[problem.sizes[depth] - 1] = budget
    return budgets


@dataclass(frozen=True, slots=True)
class _Root:
    """The root of a tree, bounds on its sides' losses, and the left side's entry."""

    depth: int
    column: int
    rank: int
    sides: tuple[float, float]
    left_entry: int


@dataclass(frozen=True, slots=True)
class _RootSplit:
    """The split of a root, and the entry of its left side; column -1 is a leaf."""

    column: int
    position: int
    left_entry: int

    def root(self, problem: Problem, depth: int, loss: float) -> _Root | None:
        """Return the root of a tree with this split; None for a leaf."""
        if self.column < 0:
            return None
        rank = _rank_of_position(problem, self.column, self.position)
        return _Root(depth, self.column, rank, (loss, loss), self.left_entry)


@dataclass(frozen=True, slots=True)
class _CutBounds:
    """The weight up to a cut, and lower bounds left and right, also by root column."""

    weight: float
    left: Floats
    right: Floats
    bounds: tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class _CutInterval:
    """Cuts of a column between two solved ones; ``sizes`` are the sides' entries."""

    column: int
    cuts: Integers
    weights: Floats
    first: _CutBounds
    last: _CutBounds
    sizes: tuple[Integers, Integers]

    @property
    def bound(self) -> float:
        """The lower bound of the interval's cuts."""
        left, right = self.sizes
        return float((self.first.left[left] + self.last.right[right]).min())

    @property
    def middle(self) -> int:
        """The index of the cut to solve next."""
        return len(self.cuts) // 2

    def middle_bounds(self) -> Floats:
        """Return an array of lower bounds on both sides of the middle cut."""
        weight = self.weights[self.middle]
        losses = np.zeros((END_LINES, len(self.first.left)))
        left = self.last.left - (self.last.weight - weight)
        right = self.first.right - (weight - self.first.weight)
        losses[LEFT] = np.maximum(self.first.left, left)
        losses[RIGHT] = np.maximum(self.last.right, right)
        return losses

    def middle_bounds_by_root(self) -> Floats:
        """Return the bounds of both sides by the column of their root."""
        before = self.last.weight - self.weights[self.middle]
        after = self.weights[self.middle] - self.first.weight
        return np.array(
            [
                np.maximum(self.first.bounds[0], self.last.bounds[0] - before),
                np.maximum(self.last.bounds[1], self.first.bounds[1] - after),
            ]
        )

    def without_excluded(self, best: float) -> "_CutInterval | None":
        """Return the cuts that may beat the best tree, if any."""
        i, j = self.sizes
        before = (self.last.weight - self.weights)[:, None]
        after = (self.weights - self.first.weight)[:, None]
        left = np.maximum(self.last.left[i] - before, self.first.left[i])
        right = np.maximum(self.first.right[j] - after, self.last.right[j])
        bounds = (left + right).min(axis=1)
        promising = np.flatnonzero(bounds < best)
        if not len(promising):
            return None
        part = slice(promising[0], promising[-1] + 1)
        return replace(self, cuts=self.cuts[part], weights=self.weights[part])

    def split_at(self, end: _CutBounds) -> list["_CutInterval"]:
        """Return the intervals on both sides of the solved middle."""
        before, after = slice(self.middle), slice(self.middle + 1, None)
        left = replace(
            self, cuts=self.cuts[before], weights=self.weights[before], last=end
        )
        right = replace(
            self, cuts=self.cuts[after], weights=self.weights[after], first=end
        )
        return [part for part in (left, right) if len(part.cuts)]


_HeapEntry = tuple[float, int, _CutInterval]
"""A lower bound, a number that breaks ties, and the interval."""


def _solver_for(problem: Problem) -> Callable[..., None]:
    """Return the kernel of the search; binary features have a faster one."""
    return search_binary if len(problem.n_ones) else search_subtrees


def _search_all_rows(
    problem: Problem, work: Workspace, depth: int, budget: Floats
) -> tuple[Floats, _RootSplit, Floats]:
    """Return the least losses by size, the root of the largest tree, and bounds."""
    entries = len(budget)
    result = np.empty(3 + entries)
    end = np.zeros((END_LINES, entries))
    bounds = np.zeros((2, len(problem.rank), entries))
    cut = np.array([-1, 0])
    _solver_for(problem)(problem, work, depth, cut, budget, end, bounds, result)
    return result[3:], _RootSplit(*map(int, result[:3])), bounds[0]


def _lookahead_tree(
    problem: Problem, work: Workspace, depth: int, ahead: int
) -> tuple[SplitTree | None, float]:
    """Return the tree whose nodes are roots of optimal trees of depth ``ahead``."""
    budget = np.full(work.best.shape[1], MAX_LOSS)
    losses, split, _ = _search_all_rows(problem, work, min(depth, ahead), budget)
    root = split.root(problem, depth, float(losses[0]))
    if root is None or problem.stop[0]:
        return None, float(losses[0])
    loss = float(problem.leaf_cost[0] + problem.path_cost[problem.order[0]].sum())
    branches = []
    for side in _side_problems(problem, root):
        branch, branch_loss = _lookahead_tree(side, work, depth - 1, ahead)
        branches.append(branch)
        loss += branch_loss
    return SplitTree(Cut(root.column, root.rank), *branches), loss


def _cuts_by_column(problem: Problem) -> list[tuple[Integers, Floats]]:
    """Return the positions of the cuts of each column, and the weights up to them."""
    if not len(problem.n_ones):
        weights = np.cumsum(problem.max_increase[problem.order], axis=1)
        cuts = map(np.flatnonzero, problem.is_last)
        return [(part, line[part]) for part, line in zip(cuts, weights, strict=True)]
    zeros = problem.rank == 0
    weights = np.where(zeros, problem.max_increase, 0.0).sum(axis=1)
    n_cuts = (zeros.any(axis=1) & ~zeros.all(axis=1)).astype(int)
    return [
        (np.zeros(n, np.int64), weights[column : column + n])
        for column, n in enumerate(n_cuts)
    ]


def _rank_of_position(problem: Problem, column: int, position: int) -> int:
    """Return the rank of a position; a binary feature has rank 0 on the left."""
    if len(problem.n_ones):
        return 0
    return int(problem.rank[column, problem.order[column, position]])


def _side_problems(problem: Problem, root: _Root) -> tuple[Problem, Problem]:
    """Return the problems on both sides of a cut."""
    inside = problem.rank[root.column] <= root.rank
    limits: tuple[int | None, int | None] = None, None
    if problem.sizes[-1]:
        limits = root.left_entry + 1, n_entries(problem) - root.left_entry - 1
    return restrict(problem, inside, limits[0]), restrict(problem, ~inside, limits[1])


def _rebuild(problem: Problem, work: Workspace, root: _Root) -> SplitTree:
    """Return the tree below the optimal root."""
    depth, width = root.depth - 1, work.best.shape[1]
    branches: list[SplitTree | None] = []
    rounding = ROUNDING * float(problem.max_increase.sum())
    for side, loss in zip(_side_problems(problem, root), root.sides, strict=True):
        if side.sizes[-1] and n_entries(side) == 1:  # only a leaf is allowed
            branches.append(None)
            continue
        # The loss must be below the budget in any order of additions.
        limit = float(np.nextafter(loss + rounding, MAX_LOSS))
        budget = _budget_for_largest(side, depth, limit, width)
        losses, split, _ = _search_all_rows(side, work, depth, budget)
        below = split.root(side, depth, float(losses[side.sizes[depth] - 1]))
        branches.append(None if below is None else _rebuild(side, work, below))
    return SplitTree(Cut(root.column, root.rank), *branches)
