"""Branch and bound over binary features: one cut each, and rows in any order.

The losses of two sets of rows differ by at most the weight of the rows that are in only
one set. So for a flag a, and a solved flag i with the losses Lᵢ of the rows with i and
Rᵢ of the rows without i::

    L(with a)     ≥  Lᵢ − weight(i, not a),   Rᵢ − weight(not i, not a)
    L(without a)  ≥  Rᵢ − weight(a, not i),   Lᵢ − weight(i, a)

The weights of all pairs take one pass over the rows, and flags that are cuts of one
number differ in few rows.
"""

from spinney._support.jit.compile import entry, kernel
from spinney.extensions.optimal.kernels.binary_depth_two import (
    A_SIDE,
    N_WITHOUT,
    NO_SIDE,
    SIDE,
    add_pairs,
    binary_one_level,
    binary_two_levels,
    count_parent,
    keep_as_parent,
    parent_leaves,
    zero_side_entry,
)
from spinney.extensions.optimal.kernels.losses_by_size import (
    LEFT,
    RIGHT,
    any_below,
    best_sum,
    copy_bounds,
    copy_line,
    may_sum_below,
)
from spinney.extensions.optimal.kernels.solver_steps import (
    can_improve,
    deeper_solver,
    keep_best,
    shallow_solver,
    solver_by_depth,
    split_cost,
)

# Lines of ``flag_order``: the order of the search, and the solved flags.
_ORDER, _SOLVED = range(2)


@entry
def search_binary(problem, work, depth, cut, budget, end, bounds, result):
    """Find the least loss of a tree of all rows, or of both sides of a flag.

    The parameters are those of ``search_subtrees``. A flag has one cut, and value 0 is
    on the left.
    """
    work.count_state[SIDE] = NO_SIDE
    if cut[0] >= 0:
        copy_line(work.goal[depth], budget)
        if depth == 3:
            count_parent(problem, work)
        _search_sides(problem, work, depth, cut[0], 0, end, bounds)
    else:
        copy_line(work.budget[depth], budget)
        root = _search_all_rows(problem, work, depth, bounds[0])
        result[0], result[1], result[2] = root
        copy_line(result[3:], work.best[depth])


@kernel
def _divide(problem, work, depth, order, n_rows, a, inverted):
    """Put rows of value 0 on the left and rows of value 1 on the right, or inverted."""
    rank, sides = problem.rank[a], work.order[depth - 1]
    n_left, n_right = 0, 0
    for i in range(n_rows):
        row = order[0, i]
        sides[0, 0, n_left] = row
        sides[1, 0, n_right] = row
        on_right = rank[row] ^ inverted
        n_right += on_right
        n_left += 1 - on_right
    work.count_state[N_WITHOUT] = n_left
    return n_left, n_right


def _flag_search(solve_sides):
    """Return the search of all flags at the root of a subtree."""

    @kernel
    def try_roots(problem, work, depth, order, _, n_rows, bounds, root):
        whole, hints = work.bounds[depth, 0, 1], work.bounds[depth, 1]
        cost, n = split_cost(problem, work.totals[depth]), problem.sizes[depth]
        weights, flags = work.pair_weights[depth], work.flag_order[depth]
        total = add_pairs(problem, weights, problem.max_increase, order[0], n_rows)
        if depth == 3:
            keep_as_parent(work)  # as counted for the tree of less depth
        _order_by_loss(whole, problem.sizes[depth - 1] - 1, flags[_ORDER])
        n_solved, end = 0, work.current[depth, 0]
        for a in flags[_ORDER]:
            if not any_below(bounds[a], work.best[depth], n) or problem.stop[0]:
                continue
            _set_bounds(problem, work, depth, a, total, n_solved, end)
            if _may_improve(problem, work, depth, a, end):
                n_left, n_right = _divide(
                    problem, work, depth, order, n_rows, a, problem.inverted[a]
                )
                if n_left == 0 or n_right == 0:
                    for k in range(n):
                        bounds[a, k] = work.shallow[depth, k]
                    continue
                _set_hints(problem, weights, total, a, whole, hints)
                work.count_state[SIDE] = A_SIDE if depth == 3 else NO_SIDE
                solve_sides(problem, work, depth, n_left, n_right, end, hints)
                work.count_state[SIDE] = NO_SIDE
                solved = work.solved_ends[depth, n_solved]
                copy_bounds(solved, end, problem.sizes[depth - 1])
                flags[_SOLVED, n_solved] = a
                n_solved += 1
                left_entry = keep_best(problem, work, depth, cost, end)
                if left_entry >= 0:
                    root = a, 0, zero_side_entry(problem, depth, a, left_entry)
            _raise_bound(problem, depth, bounds[a], end, cost)
        return root

    return try_roots


@kernel
def _may_improve(problem, work, depth, a, end):
    """Return whether both sides of a flag may have a sum below the goal."""
    if not may_sum_below(end[LEFT], end[RIGHT], work.goal[depth], problem, depth):
        return False
    if depth > 3:
        return True
    return can_improve(problem, work, 3, parent_leaves(problem, work, a), end)


@kernel
def _raise_bound(problem, depth, bounds, end, cost):
    """Raise the bound of the trees whose root splits on a flag."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    for k in range(problem.sizes[depth]):
        bounds[k] = max(bounds[k], best_sum(end[LEFT], end[RIGHT], k, n, step) + cost)


@kernel
def _order_by_loss(losses, k, order):
    """Order features by the losses of shallower trees whose root splits on them."""
    for a in range(len(order)):
        place = a
        while place > 0 and losses[order[place - 1], k] > losses[a, k]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = a


@kernel
def _set_bounds(problem, work, depth, a, total, n_solved, end):
    """Set the bounds of the rows without a flag, and of the rows with the flag."""
    places, n = problem.places, problem.sizes[depth - 1]
    weights = work.pair_weights[depth, places[a]]
    weight = weights[places[a]]
    for k in range(n):
        end[LEFT, k] = max(0.0, work.shallow[depth, k] - weight)
        end[RIGHT, k] = max(0.0, work.shallow[depth, k] - (total - weight))
    for s in range(n_solved):
        i = places[work.flag_order[depth, _SOLVED, s]]
        solved, both = work.solved_ends[depth, s], weights[i]
        weight_i = work.pair_weights[depth, i, i]
        only_a, only_i = weight - both, weight_i - both
        neither = total - weight - weight_i + both
        for k in range(n):
            without, with_it = solved[LEFT, k], solved[RIGHT, k]
            end[LEFT, k] = max(end[LEFT, k], without - only_a, with_it - both)
            end[RIGHT, k] = max(end[RIGHT, k], with_it - only_i, without - neither)


@kernel
def _set_hints(problem, weights, total, a, whole, hints):
    """Set the bounds by root on both sides of a flag, from the bounds of all rows."""
    weight = weights[problem.places[a], problem.places[a]]
    for b in range(whole.shape[0]):
        for k in range(whole.shape[1]):
            hints[0, b, k] = max(0.0, whole[b, k] - weight)
            hints[1, b, k] = max(0.0, whole[b, k] - (total - weight))


_search_sides, _search_all_rows = solver_by_depth(
    shallow_solver(binary_one_level, binary_two_levels),
    deeper_solver(_flag_search, 0.0),
    _divide,
)
