"""Branch and bound over the cuts of attributes.

Adding rows never lowers the loss of the optimal tree of a depth, and raises it by at
most their ``max_increase``, called weight here. So if two cuts i < k of an attribute
have subtrees of losses L and R on the left and on the right, every cut j between them
loses at least ::

    max(Lᵢ, Lₖ − weight from j to k)  +  max(Rₖ, Rᵢ − weight from i to j)

Cuts whose bound is not below the best tree found are skipped. At the ends one side has
no rows, and the other is a tree of less depth. A subtree is searched for losses below a
budget. If no tree is below, the budget is a lower bound; a budget with some slack gives
better bounds for neighbouring cuts.

The same holds for all trees whose root splits on one attribute, together with trees of
less depth. So every subtree stores a bound for each attribute of its root (``bounds``).
The bounds of the two neighbouring cuts exclude attributes at the root of the next
subtree (``hints``).
"""

from spinney._support.jit.compile import entry, kernel
from spinney.extensions.optimal.kernels.layout import LANES, MAX_ROOT_BOUNDS
from spinney.extensions.optimal.kernels.losses_by_size import (
    LEFT,
    MAX_LOSS,
    RIGHT,
    ROOT_BOUNDS,
    WEIGHT,
    any_below,
    best_sum,
    copy_bounds,
    copy_line,
    cut_bound,
    may_sum_below,
    set_middle_end,
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

# Lines of ``current`` and ``picked_ends``: both ends of an interval, and its middle.
_FIRST, _MIDDLE, _LAST = range(3)
# The loss that a subtree may exceed its budget by, as a fraction of its loss as a leaf.
SLACK = 0.15


@entry
def search_subtrees(problem, work, depth, cut, budget, end, bounds, result):
    """Find the least loss of a tree of all rows, or of both sides of a cut.

    A cut is an attribute and a position in its order; the sum of its sides must stay
    below the ``budget``. ``end`` has bounds of both sides, which become losses, or
    bounds that exclude the cut. If the attribute is -1, a tree of all rows is searched
    for. ``result`` becomes the attribute and the position of that tree's root, the size
    entry of its left side, and its losses. ``bounds``, the bounds of each side by the
    attribute of its root, are raised.
    """
    if cut[0] >= 0:
        copy_line(work.goal[depth], budget)
        _search_sides(problem, work, depth, cut[0], cut[1], end, bounds)
    else:
        copy_line(work.budget[depth], budget)
        root = _search_all_rows(problem, work, depth, bounds[0])
        result[0], result[1], result[2] = root
        copy_line(result[3:], work.best[depth])


@kernel
def _divide(problem, work, depth, order, n_rows, attribute, position):
    """Divide rows, kept in the order of every attribute, by a cut."""
    side, rank = work.side, problem.rank
    for i in range(n_rows):
        side[order[attribute, i]] = 1 if i > position else 0
    n_left, n_right = position + 1, n_rows - position - 1
    left, right = work.order[depth - 1, 0], work.order[depth - 1, 1]
    for a in range(order.shape[0]):
        i_left, i_right = 0, 0
        for i in range(n_rows):
            row = order[a, i]
            if side[row]:
                right[a, i_right] = row
                i_right += 1
            else:
                left[a, i_left] = row
                i_left += 1
        _mark_last(rank[a], left[a], n_left, work.is_last[depth - 1, 0, a])
        _mark_last(rank[a], right[a], n_right, work.is_last[depth - 1, 1, a])
    return n_left, n_right


@kernel
def _mark_last(rank, order, n_rows, is_last):
    """Mark the rows that are followed by another value."""
    for i in range(n_rows - 1):
        is_last[i] = 1 if rank[order[i]] != rank[order[i + 1]] else 0
    is_last[n_rows - 1] = 0


def _cut_search(solve_sides):
    """Return the search of all cuts of all attributes at the root of a subtree."""

    @kernel
    def try_roots(problem, work, depth, order, is_last, n_rows, bounds, root):
        bounds_by_cut = work.bounds[depth]
        cost = split_cost(problem, work.totals[depth])
        for a in range(bounds.shape[0]):
            copy_line(bounds_by_cut[1, 0, a], bounds_by_cut[0, 1, a])
        set_bounds(bounds_by_cut[0, 0], 0.0)
        set_bounds(bounds_by_cut[1, 1], 0.0)
        for a in range(order.shape[0]):
            if not any_below(bounds[a], work.best[depth], problem.sizes[depth]):
                continue
            top = _push_column(problem, work, depth, order[a], is_last[a], n_rows)
            n_bounds = 2
            while top > 0 and not problem.stop[0]:
                top -= 1
                if not _pop_middle(problem, work, depth, top):
                    continue
                low, high = work.intervals[depth, top, 0], work.intervals[depth, top, 1]
                position = work.cuts[depth, (low + high) // 2]
                line = min(n_bounds, MAX_ROOT_BOUNDS - 1)
                n_bounds += 1
                end, hints = work.current[depth, _MIDDLE], bounds_by_cut[line]
                _set_hints(bounds_by_cut, work.current[depth], hints)
                end[ROOT_BOUNDS, 0] = line
                goal = work.goal[depth]
                if may_sum_below(end[LEFT], end[RIGHT], goal, problem, depth):
                    n, m = _divide(problem, work, depth, order, n_rows, a, position)
                    leaves = leaf_losses(problem, work, depth, n, m)
                    if can_improve(problem, work, depth, leaves, end):
                        solve_sides(problem, work, depth, n, m, end, hints)
                        left_entry = keep_best(problem, work, depth, cost, end)
                        if left_entry >= 0:
                            root = a, position, left_entry
                if line == MAX_ROOT_BOUNDS - 1:  # the next cut uses this line, too
                    set_bounds(hints[0], 0.0)
                    set_bounds(hints[1], 0.0)
                _exclude(problem, work, depth, end, end)
                top = _push_halves(problem, work, depth, top, low, high)
            _raise_bound(problem, work, depth, bounds[a], cost)
        return root

    return try_roots


@kernel
def _push_column(problem, work, depth, order, is_last, n_rows):
    """Stack the interval of all cuts of an attribute; return the size of the stack."""
    cuts, weight = work.cuts[depth], work.cumulative_weight[depth]
    n_cuts, total = 0, 0.0
    for i in range(n_rows):
        total += problem.max_increase[order[i]]
        weight[i] = total
        if is_last[i]:
            cuts[n_cuts] = i
            n_cuts += 1
    first, second = work.outer_ends[depth, 0], work.outer_ends[depth, 1]
    first[WEIGHT, 0], second[WEIGHT, 0] = 0.0, total
    first[ROOT_BOUNDS, 0], second[ROOT_BOUNDS, 0] = 0.0, 1.0
    for k in range(problem.sizes[depth - 1]):
        first[LEFT, k] = second[RIGHT, k] = 0.0
        first[RIGHT, k] = second[LEFT, k] = work.shallow[depth, k]
    for k in range(problem.sizes[depth]):
        work.excluded_bound[depth, k] = MAX_LOSS
    return _push(problem, work, depth, 0, 0, n_cuts - 1, first, second)


@kernel
def _pop_middle(problem, work, depth, top):
    """Take an interval from the stack, and set the bounds of its middle.

    Return whether any of its cuts may have a loss below the goal.
    """
    current, ends = work.current[depth], work.ends[depth, top]
    if not may_sum_below(
        ends[0, LEFT], ends[1, RIGHT], work.goal[depth], problem, depth
    ):
        _exclude(problem, work, depth, ends[0], ends[1])
        return False
    low, high = work.intervals[depth, top, 0], work.intervals[depth, top, 1]
    weight = work.cumulative_weight[depth, work.cuts[depth, (low + high) // 2]]
    n = problem.sizes[depth - 1]
    copy_bounds(current[_FIRST], ends[0], n)
    copy_bounds(current[_LAST], ends[1], n)
    set_middle_end(current[_FIRST], current[_LAST], weight, current[_MIDDLE], n)
    return True


@kernel
def _push_halves(problem, work, depth, top, low, high):
    """Stack the parts of an interval on both sides of its middle."""
    current, middle = work.current[depth], (low + high) // 2
    first, end, last = current[_FIRST], current[_MIDDLE], current[_LAST]
    top = _push(problem, work, depth, top, low, middle - 1, first, end)
    return _push(problem, work, depth, top, middle + 1, high, end, last)


@kernel
def _exclude(problem, work, depth, first, last):
    """Exclude the cuts between two ends, and store their least bound."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    for k in range(problem.sizes[depth]):
        bound = best_sum(first[LEFT], last[RIGHT], k, n, step)
        work.excluded_bound[depth, k] = min(work.excluded_bound[depth, k], bound)


@kernel
def _raise_bound(problem, work, depth, bounds, cost):
    """Raise the lower bound of the trees whose root splits on an attribute."""
    for k in range(problem.sizes[depth]):
        bounds[k] = max(bounds[k], work.excluded_bound[depth, k] + cost)


@kernel
def _set_hints(bounds, current, hints):
    """Set the bounds by root on both sides of a cut between two solved ones.

    The left side contains the first cut's left side, and lacks rows of weight
    ``before`` of the second cut's left side. The right side is the reverse.
    """
    first = bounds[int(current[_FIRST, ROOT_BOUNDS, 0])]
    second = bounds[int(current[_LAST, ROOT_BOUNDS, 0])]
    weight = current[_MIDDLE, WEIGHT, 0]
    before = current[_LAST, WEIGHT, 0] - weight
    after = weight - current[_FIRST, WEIGHT, 0]
    for a in range(hints.shape[1]):
        for k in range(hints.shape[2]):
            hints[0, a, k] = max(first[0, a, k], second[0, a, k] - before)
            hints[1, a, k] = max(second[1, a, k], first[1, a, k] - after)


@kernel
def _push(problem, work, depth, top, low, high, first, last):
    """Stack the cuts of an interval that its ends do not exclude.

    ``work.excluded_bound`` has the least bound of the excluded cuts.
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
    """Return whether an interval's ends exclude a cut; if so, store the cut's bound."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    weight, n_entries = (
        work.cumulative_weight[depth, work.cuts[depth, cut]],
        problem.sizes[depth],
    )
    for k in range(n_entries):
        bound = cut_bound(first, last, weight, k, n, step)
        if bound < work.goal[depth, k]:
            return False
    for k in range(n_entries):
        bound = cut_bound(first, last, weight, k, n, step)
        work.excluded_bound[depth, k] = min(work.excluded_bound[depth, k], bound)
    return True


@kernel
def _two_levels(problem, work, order, is_last, n_rows, leaf, cost, bounds):
    """Find the best tree of depth two: eight cuts of its root at a time."""
    root = one_level(problem, work, order, is_last, n_rows, leaf, cost)
    root = set_goal(problem, work, 2, SLACK * leaf, cost, root)
    cuts, picked = work.cuts[2], work.picked
    for a in range(order.shape[0]):
        promising = any_below(bounds[a], work.best[2], problem.sizes[2])
        if not promising or problem.stop[0]:
            continue
        top = _push_column(problem, work, 2, order[a], is_last[a], n_rows)
        if top:
            _cumulate(problem, work.cumulative, order[a], n_rows)
        while top > 0 and not problem.stop[0]:
            top, n_picked = _pick_cuts(problem, work, top)
            if n_picked == 0:
                break
            _fill_lanes(problem, work, order[a], n_picked, a)
            stumps_by_side(problem, order, is_last, n_rows, problem.rank[a], work.lanes)
            for q in range(n_picked):
                position = cuts[picked[q, 0]]
                end = work.picked_ends[q, _MIDDLE]
                _set_losses(problem, work, q, position, end)
                _exclude(problem, work, 2, end, end)
                left_entry = keep_best(problem, work, 2, cost, end)
                if left_entry >= 0:
                    root = a, position, left_entry
            top = _push_remaining(problem, work, top, n_picked)
        _raise_bound(problem, work, 2, bounds[a], cost)
    return root


@kernel
def _cumulate(problem, cumulative, order, n_rows):
    """Set the cumulative sums of the rows at each position."""
    for i in range(n_rows):
        for k in range(cumulative.shape[1]):
            cumulative[i, k] = cumulative[i - 1, k] if i else 0.0
        add_row(problem, order[i], cumulative[i], 1.0)
        cumulative[i, -1] += problem.path_cost[order[i]]


@kernel
def _pick_cuts(problem, work, top):
    """Take cuts of the intervals on top, spread over each, until the lanes are full."""
    intervals, picked, goal = work.intervals[2], work.picked, work.goal[2]
    n_picked = 0
    while top > 0 and n_picked < LANES:
        top -= 1
        ends = work.ends[2, top]
        if not may_sum_below(ends[0, LEFT], ends[1, RIGHT], goal, problem, 2):
            _exclude(problem, work, 2, ends[0], ends[1])
            continue
        low, high = intervals[top, 0], intervals[top, 1]
        free, width = LANES - n_picked, high - low + 1
        n = min(free if top == 0 else max(1, free // 2), width)
        for q in range(n):
            picked[n_picked, 0] = low + (width * (2 * q + 1)) // (2 * n)
            picked[n_picked, 1] = low if q == 0 else -1
            picked[n_picked, 2] = high if q == n - 1 else -1
            if q == 0:
                copy_bounds(
                    work.picked_ends[n_picked, _FIRST], ends[0], problem.sizes[1]
                )
            if q == n - 1:
                copy_bounds(
                    work.picked_ends[n_picked, _LAST], ends[1], problem.sizes[1]
                )
            n_picked += 1
    return top, n_picked


@kernel
def _fill_lanes(problem, work, order, n_picked, attribute):
    """Put the ranks of the cuts into the lanes, and the totals on both sides."""
    lanes, totals = work.lanes, work.totals[1]
    n = len(totals) - 1
    for q in range(LANES):
        position = work.cuts[2, work.picked[min(q, n_picked - 1), 0]]
        lanes[q] = problem.rank[attribute, order[position]]
        for k in range(n):
            lanes[(1 + k) * LANES + q] = work.cumulative[position, k]
            lanes[(1 + n + k) * LANES + q] = totals[k] - work.cumulative[position, k]


@kernel
def _set_losses(problem, work, q, position, end):
    """Set the losses of the best leaf or stump on both sides of a cut."""
    left, totals, right = work.cumulative[position], work.totals[1], work.totals[0]
    losses, n = (2 * len(totals) - 1) * LANES + q, problem.sizes[1]
    end[WEIGHT, 0] = work.cumulative_weight[2, position]
    stump = work.lanes[losses] + split_cost(problem, left)
    set_one_level(end[LEFT], n, leaf_loss(problem, left), stump)
    for k in range(len(totals)):
        right[k] = totals[k] - left[k]
    stump = work.lanes[losses + LANES] + split_cost(problem, right)
    set_one_level(end[RIGHT], n, leaf_loss(problem, right), stump)


@kernel
def _push_remaining(problem, work, top, n_picked):
    """Stack the intervals between the cuts that were solved together."""
    picked = work.picked
    for q in range(n_picked):
        cut, ends = picked[q, 0], work.picked_ends[q]
        end = ends[_MIDDLE]
        if picked[q, 1] >= 0:
            low = picked[q, 1]
            top = _push(problem, work, 2, top, low, cut - 1, ends[_FIRST], end)
        if picked[q, 2] >= 0:
            high, after = picked[q, 2], ends[_LAST]
        else:
            high, after = picked[q + 1, 0] - 1, work.picked_ends[q + 1, _MIDDLE]
        top = _push(problem, work, 2, top, cut + 1, high, end, after)
    return top


_search_sides, _search_all_rows = solver_by_depth(
    shallow_solver(one_level, _two_levels), deeper_solver(_cut_search, SLACK), _divide
)
