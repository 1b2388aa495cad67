"""Branch and bound over the cuts of attributes.

Adding rows never lowers the loss of the optimal tree of a depth, and raises it by at
most their ``most``. So if two cuts i < k of an attribute have subtrees of losses L and
R on the left and on the right, every cut j between them loses at least ::

    max(Lᵢ, Lₖ − weight from j to k)  +  max(Rₖ, Rᵢ − weight from i to j)

Cuts whose bound is not below the best tree found are skipped. At the ends one side has
no rows, and the other is a tree of less depth. A subtree is searched within a budget.
If there is none, the budget is a lower bound; with some slack it is a better one for
neighbouring cuts.

The same holds of all trees whose root asks about one attribute, if more rows may also
make a tree of less depth of them. So every subtree leaves a bound for each attribute of
its root (``bounds``), and those of the two cuts beside it say which attributes the root
of the next need not try (``hints``).
"""

from spinney._support.jit.compile import entry, kernel
from spinney.extensions.optimal.kernels.layout import LANES, MOST_ROOT_BOUNDS
from spinney.extensions.optimal.kernels.losses_by_size import (
    LEFT,
    MAX_LOSS,
    RIGHT,
    ROOT_BOUNDS,
    WEIGHT,
    any_below,
    best_sum,
    bound_between,
    copy_bounds,
    copy_line,
    may_sum_below,
    set_between,
    set_one_level,
)
from spinney.extensions.optimal.kernels.solver_steps import (
    can_improve,
    deeper_solver,
    keep_best,
    leaf_losses,
    one_level,
    set_bounds,
    set_goal,
    shallow_solver,
    solver_by_depth,
    split_cost,
)
from spinney.extensions.optimal.kernels.stumps import add_row, leaf_loss, stumps_by_side

# Of ``taken`` and ``pick_ends``: both ends of an interval, and what is between them.
_FIRST, _MIDDLE, _LAST = range(3)
# How much more than needed a subtree may lose, as a share of its rows' loss in a leaf.
SLACK = 0.15


@entry
def search_subtrees(problem, work, depth, cut, budget, end, bounds, found):
    """Find the least loss of a tree of all rows, or of both sides of a cut of them.

    A cut is an attribute and a position of its order; its sides together may lose the
    ``budget``. ``end`` has bounds on the losses of both, which become losses, or bounds
    that are no less than needed. If the attribute is -1, a tree of all rows may lose
    it; ``found`` are the attribute and the position that its root asks, the left's
    share of leaves, and its losses. ``bounds`` has bounds for the attributes of either
    side's root, and leaves better ones.
    """
    if cut[0] >= 0:
        copy_line(work.goal[depth], budget)
        _search_sides(problem, work, depth, cut[0], cut[1], end, bounds)
    else:
        copy_line(work.budget[depth], budget)
        found[0], found[1], found[2] = _search_small(problem, work, depth, bounds[0])
        copy_line(found[3:], work.best[depth])


@kernel
def _divide(problem, work, depth, order, n_rows, attribute, position):
    """Divide rows, kept in the order of every attribute, by a cut."""
    side, rank = work.side, problem.rank
    for i in range(n_rows):
        side[order[attribute, i]] = 1 if i > position else 0
    n_left, n_right = position + 1, n_rows - position - 1
    left, right = work.order[depth - 1, 0], work.order[depth - 1, 1]
    for a in range(order.shape[0]):
        here, there = 0, 0
        for i in range(n_rows):
            row = order[a, i]
            if side[row]:
                right[a, there] = row
                there += 1
            else:
                left[a, here] = row
                here += 1
        _mark_last(rank[a], left[a], n_left, work.last[depth - 1, 0, a])
        _mark_last(rank[a], right[a], n_right, work.last[depth - 1, 1, a])
    return n_left, n_right


@kernel
def _mark_last(rank, order, n_rows, last):
    """Mark the rows that are followed by another value."""
    for i in range(n_rows - 1):
        last[i] = 1 if rank[order[i]] != rank[order[i + 1]] else 0
    last[n_rows - 1] = 0


def _cut_solver(sides):
    """Return who tries all cuts of all attributes at the root of a subtree."""

    @kernel
    def try_roots(problem, work, depth, order, last, n_rows, bounds, question):
        bounds_by_cut, cost = (
            work.bounds[depth],
            split_cost(problem, work.totals[depth]),
        )
        for a in range(bounds.shape[0]):
            copy_line(bounds_by_cut[1, 0, a], bounds_by_cut[0, 1, a])
        set_bounds(bounds_by_cut[0, 0], 0.0)
        set_bounds(bounds_by_cut[1, 1], 0.0)
        for a in range(order.shape[0]):
            if not any_below(bounds[a], work.best[depth], problem.sizes[depth]):
                continue
            top, n_bounds = (
                _push_column(problem, work, depth, order[a], last[a], n_rows),
                2,
            )
            while top > 0 and not problem.stop[0]:
                top -= 1
                if not _pop_middle(problem, work, depth, top):
                    continue
                low, high = work.intervals[depth, top, 0], work.intervals[depth, top, 1]
                at = work.cuts[depth, (low + high) // 2]
                own = min(n_bounds, MOST_ROOT_BOUNDS - 1)
                n_bounds += 1
                end = work.taken[depth, _MIDDLE]
                _bounds_between(bounds_by_cut, work.taken[depth], bounds_by_cut[own])
                end[ROOT_BOUNDS, 0] = own
                if may_sum_below(
                    end[LEFT], end[RIGHT], work.goal[depth], problem, depth
                ):
                    n_left, n_right = _divide(
                        problem, work, depth, order, n_rows, a, at
                    )
                    leaves = leaf_losses(problem, work, depth, n_left, n_right)
                    if can_improve(problem, work, depth, leaves, end):
                        sides(
                            problem,
                            work,
                            depth,
                            n_left,
                            n_right,
                            end,
                            bounds_by_cut[own],
                        )
                        n_left = keep_best(problem, work, depth, cost, end)
                        if n_left >= 0:
                            question = a, at, n_left
                if own == MOST_ROOT_BOUNDS - 1:  # the next one is put there, too
                    set_bounds(bounds_by_cut[own, 0], 0.0)
                    set_bounds(bounds_by_cut[own, 1], 0.0)
                _exclude(problem, work, depth, end, end)
                top = _push_beside(problem, work, depth, top, low, high)
            _raise_bound(problem, work, depth, bounds[a], cost)
        return question

    return try_roots


@kernel
def _push_column(problem, work, depth, order, last, n_rows):
    """Make one interval of all cuts of an attribute; return how many are left."""
    cuts, weight = work.cuts[depth], work.weight[depth]
    n_cuts, total = 0, 0.0
    for i in range(n_rows):
        total += problem.most[order[i]]
        weight[i] = total
        if last[i]:
            cuts[n_cuts] = i
            n_cuts += 1
    first, second = work.rims[depth, 0], work.rims[depth, 1]
    first[WEIGHT, 0], second[WEIGHT, 0] = 0.0, total
    first[ROOT_BOUNDS, 0], second[ROOT_BOUNDS, 0] = 0.0, 1.0
    for k in range(problem.sizes[depth - 1]):
        first[LEFT, k] = second[RIGHT, k] = 0.0
        first[RIGHT, k] = second[LEFT, k] = work.shallow[depth, k]
    for k in range(problem.sizes[depth]):
        work.least[depth, k] = MAX_LOSS
    return _push(problem, work, depth, 0, 0, n_cuts - 1, first, second)


@kernel
def _pop_middle(problem, work, depth, top):
    """Take an interval from the stack, with bounds of its middle.

    Return whether any of its cuts may lose less than is wanted.
    """
    taken, ends = work.taken[depth], work.ends[depth, top]
    if not may_sum_below(
        ends[0, LEFT], ends[1, RIGHT], work.goal[depth], problem, depth
    ):
        _exclude(problem, work, depth, ends[0], ends[1])
        return False
    low, high = work.intervals[depth, top, 0], work.intervals[depth, top, 1]
    weight = work.weight[depth, work.cuts[depth, (low + high) // 2]]
    n = problem.sizes[depth - 1]
    copy_bounds(taken[_FIRST], ends[0], n)
    copy_bounds(taken[_LAST], ends[1], n)
    set_between(taken[_FIRST], taken[_LAST], weight, taken[_MIDDLE], n)
    return True


@kernel
def _push_beside(problem, work, depth, top, low, high):
    """Stack what is left of an interval on both sides of its middle."""
    taken, middle = work.taken[depth], (low + high) // 2
    first, end, last = taken[_FIRST], taken[_MIDDLE], taken[_LAST]
    top = _push(problem, work, depth, top, low, middle - 1, first, end)
    return _push(problem, work, depth, top, middle + 1, high, end, last)


@kernel
def _exclude(problem, work, depth, first, last):
    """Keep the least bound of cuts between two ends, which need not be looked at."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    for k in range(problem.sizes[depth]):
        bound = best_sum(first[LEFT], last[RIGHT], k, n, step)
        work.least[depth, k] = min(work.least[depth, k], bound)


@kernel
def _raise_bound(problem, work, depth, bounds, cost):
    """Raise the lower bound of the trees whose root splits on an attribute."""
    for k in range(problem.sizes[depth]):
        bounds[k] = max(bounds[k], work.least[depth, k] + cost)


@kernel
def _bounds_between(bounds, taken, hints):
    """Put down what two cuts say of the roots on both sides of one between them.

    The left has more rows than that of the first cut, and as many less than that of the
    second as weigh ``before``; the right has them the other way round.
    """
    first, second = (
        bounds[int(taken[_FIRST, ROOT_BOUNDS, 0])],
        bounds[int(taken[_LAST, ROOT_BOUNDS, 0])],
    )
    weight = taken[_MIDDLE, WEIGHT, 0]
    before = taken[_LAST, WEIGHT, 0] - weight
    after = weight - taken[_FIRST, WEIGHT, 0]
    for a in range(hints.shape[1]):
        for k in range(hints.shape[2]):
            hints[0, a, k] = max(first[0, a, k], second[0, a, k] - before)
            hints[1, a, k] = max(second[1, a, k], first[1, a, k] - after)


@kernel
def _push(problem, work, depth, top, low, high, first, last):
    """Leave the cuts out that the ends of their interval exclude; stack the others.

    ``work.least`` keeps the least bound of those that are left out.
    """
    if low > high:
        return top
    if not may_sum_below(first[LEFT], last[RIGHT], work.goal[depth], problem, depth):
        _exclude(problem, work, depth, first, last)
        return top
    while low <= high and _excluded(problem, work, depth, low, first, last):
        low += 1
    while low <= high and _excluded(problem, work, depth, high, first, last):
        high -= 1
    if low > high:
        return top
    work.intervals[depth, top, 0], work.intervals[depth, top, 1] = low, high
    copy_bounds(work.ends[depth, top, 0], first, problem.sizes[depth - 1])
    copy_bounds(work.ends[depth, top, 1], last, problem.sizes[depth - 1])
    return top + 1


@kernel
def _excluded(problem, work, depth, cut, first, last):
    """Return whether the ends of its interval exclude a cut; keep its bound if so."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    weight, n_entries = work.weight[depth, work.cuts[depth, cut]], problem.sizes[depth]
    for k in range(n_entries):
        bound = bound_between(first, last, weight, k, n, step)
        if bound < work.goal[depth, k]:
            return False
    for k in range(n_entries):
        bound = bound_between(first, last, weight, k, n, step)
        work.least[depth, k] = min(work.least[depth, k], bound)
    return True


@kernel
def _two_levels(problem, work, order, last, n_rows, leaf, cost, bounds):
    """Find the best tree of depth two: eight cuts of its root at a time."""
    question = one_level(problem, work, order, last, n_rows, leaf, cost)
    question = set_goal(problem, work, 2, SLACK * leaf, cost, question)
    cuts, picks = work.cuts[2], work.picks
    for a in range(order.shape[0]):
        worth = any_below(bounds[a], work.best[2], problem.sizes[2])
        if not worth or problem.stop[0]:
            continue
        top = _push_column(problem, work, 2, order[a], last[a], n_rows)
        if top:
            _cumulate(problem, work.upto, order[a], n_rows)
        while top > 0 and not problem.stop[0]:
            top, n_picks = _pick_cuts(problem, work, top)
            if n_picks == 0:
                break
            _fill_lanes(problem, work, order[a], n_picks, a)
            stumps_by_side(problem, order, last, n_rows, problem.rank[a], work.lanes)
            for q in range(n_picks):
                at = cuts[picks[q, 0]]
                end = work.pick_ends[q, _MIDDLE]
                _set_losses(problem, work, q, at, end)
                _exclude(problem, work, 2, end, end)
                n_left = keep_best(problem, work, 2, cost, end)
                if n_left >= 0:
                    question = a, at, n_left
            top = _push_between(problem, work, top, n_picks)
        _raise_bound(problem, work, 2, bounds[a], cost)
    return question


@kernel
def _cumulate(problem, upto, order, n_rows):
    """Sum up the rows to each position."""
    for i in range(n_rows):
        for k in range(upto.shape[1]):
            upto[i, k] = upto[i - 1, k] if i else 0.0
        add_row(problem, order[i], upto[i], 1.0)
        upto[i, -1] += problem.path_cost[order[i]]


@kernel
def _pick_cuts(problem, work, top):
    """Take cuts of the intervals on top, spread over each, until the lanes are full."""
    intervals, picks, goal = work.intervals[2], work.picks, work.goal[2]
    n_picks = 0
    while top > 0 and n_picks < LANES:
        top -= 1
        ends = work.ends[2, top]
        if not may_sum_below(ends[0, LEFT], ends[1, RIGHT], goal, problem, 2):
            _exclude(problem, work, 2, ends[0], ends[1])
            continue
        low, high = intervals[top, 0], intervals[top, 1]
        free, width = LANES - n_picks, high - low + 1
        n = min(free if top == 0 else max(1, free // 2), width)
        for q in range(n):
            picks[n_picks, 0] = low + (width * (2 * q + 1)) // (2 * n)
            picks[n_picks, 1] = low if q == 0 else -1
            picks[n_picks, 2] = high if q == n - 1 else -1
            if q == 0:
                copy_bounds(work.pick_ends[n_picks, _FIRST], ends[0], problem.sizes[1])
            if q == n - 1:
                copy_bounds(work.pick_ends[n_picks, _LAST], ends[1], problem.sizes[1])
            n_picks += 1
    return top, n_picks


@kernel
def _fill_lanes(problem, work, order, n_picks, attribute):
    """Put the ranks of the cuts into the lanes, and the totals on both sides."""
    lanes, totals = work.lanes, work.totals[1]
    n = len(totals) - 1
    for q in range(LANES):
        at = work.cuts[2, work.picks[min(q, n_picks - 1), 0]]
        lanes[q] = problem.rank[attribute, order[at]]
        for k in range(n):
            lanes[(1 + k) * LANES + q] = work.upto[at, k]
            lanes[(1 + n + k) * LANES + q] = totals[k] - work.upto[at, k]


@kernel
def _set_losses(problem, work, q, at, end):
    """Put down the losses of the best leaf or question on both sides of a cut."""
    upto, totals, spare = work.upto[at], work.totals[1], work.totals[0]
    losses, n = (2 * len(totals) - 1) * LANES + q, problem.sizes[1]
    end[WEIGHT, 0] = work.weight[2, at]
    stump = work.lanes[losses] + split_cost(problem, upto)
    set_one_level(end[LEFT], n, leaf_loss(problem, upto), stump)
    for k in range(len(totals)):
        spare[k] = totals[k] - upto[k]
    stump = work.lanes[losses + LANES] + split_cost(problem, spare)
    set_one_level(end[RIGHT], n, leaf_loss(problem, spare), stump)


@kernel
def _push_between(problem, work, top, n_picks):
    """Stack what is left between the cuts that were looked at."""
    picks = work.picks
    for q in range(n_picks):
        cut, ends = picks[q, 0], work.pick_ends[q]
        end = ends[_MIDDLE]
        if picks[q, 1] >= 0:
            low = picks[q, 1]
            top = _push(problem, work, 2, top, low, cut - 1, ends[_FIRST], end)
        if picks[q, 2] >= 0:
            high, after = picks[q, 2], ends[_LAST]
        else:
            high, after = picks[q + 1, 0] - 1, work.pick_ends[q + 1, _MIDDLE]
        top = _push(problem, work, 2, top, cut + 1, high, end, after)
    return top


_search_sides, _search_small = solver_by_depth(
    shallow_solver(one_level, _two_levels), deeper_solver(_cut_solver, SLACK), _divide
)
