"""Branch and bound over binary features: one cut each, and rows in any order.

What two sets of rows lose differs by no more than the rows of one that are not in the
other can add. So, of a flag a and one that was looked at before, i, the rows with and
without it losing Lᵢ and Rᵢ::

    L(with a)     ≥  Lᵢ − weight(i, not a),   Rᵢ − weight(not i, not a)
    L(without a)  ≥  Rᵢ − weight(a, not i),   Lᵢ − weight(i, a)

The weights of all pairs take one walk over the rows, and flags that come of one number
differ by few of them.
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
    n_left_of_zeros,
    parent_leaves,
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

# Lines of ``flag_order``: in which flags are looked at, and which of them have been.
_ORDER, _SEEN = range(2)


@entry
def search_binary(problem, work, depth, cut, budget, end, bounds, found):
    """Find the least loss of a tree of all rows, or of both sides of a flag.

    As ``search_subtrees`` does of cuts; a flag has one, and its value 0 is on the left.
    """
    work.counted[SIDE] = NO_SIDE
    if cut[0] >= 0:
        copy_line(work.goal[depth], budget)
        if depth == 3:
            count_parent(problem, work)
        _search_sides(problem, work, depth, cut[0], 0, end, bounds)
    else:
        copy_line(work.budget[depth], budget)
        found[0], found[1], found[2] = _search_small(problem, work, depth, bounds[0])
        copy_line(found[3:], work.best[depth])


@kernel
def _divide(problem, work, depth, order, n_rows, a, turned):
    """Put rows of value 0 to one side and those of 1 to the other, or turned round."""
    rank, sides = problem.rank[a], work.order[depth - 1]
    here, there = 0, 0
    for i in range(n_rows):
        row = order[0, i]
        sides[0, 0, here] = row
        sides[1, 0, there] = row
        second = rank[row] ^ turned
        there += second
        here += 1 - second
    work.counted[N_WITHOUT] = here
    return here, there


def _flag_solver(sides):
    """Return who tries all flags at the root of a subtree."""

    @kernel
    def try_roots(problem, work, depth, order, _last, n_rows, bounds, question):
        whole, hints = work.bounds[depth, 0, 1], work.bounds[depth, 1]
        cost, n = split_cost(problem, work.totals[depth]), problem.sizes[depth]
        weights, order_of = work.weights[depth], work.flag_order[depth]
        total = add_pairs(problem, weights, problem.most, order[0], n_rows)
        if depth == 3:
            keep_as_parent(work)  # as counted for the tree of less depth
        _order_by_loss(whole, problem.sizes[depth - 1] - 1, order_of[_ORDER])
        n_seen, end = 0, work.taken[depth, 0]
        for a in order_of[_ORDER]:
            if not any_below(bounds[a], work.best[depth], n) or problem.stop[0]:
                continue
            _set_bounds(problem, work, depth, a, total, n_seen, end)
            if may_sum_below(
                end[LEFT], end[RIGHT], work.goal[depth], problem, depth
            ) and (depth > 3 or _can_improve(problem, work, a, end)):
                n_left, n_right = _divide(
                    problem, work, depth, order, n_rows, a, problem.turned[a]
                )
                if n_left == 0 or n_right == 0:
                    for k in range(n):
                        bounds[a, k] = work.shallow[depth, k]
                    continue
                _bounds_between(problem, weights, total, a, whole, hints)
                work.counted[SIDE] = A_SIDE if depth == 3 else NO_SIDE
                sides(problem, work, depth, n_left, n_right, end, hints)
                work.counted[SIDE] = NO_SIDE
                copy_bounds(work.seen[depth, n_seen], end, problem.sizes[depth - 1])
                order_of[_SEEN, n_seen] = a
                n_seen += 1
                n_left = keep_best(problem, work, depth, cost, end)
                if n_left >= 0:
                    question = a, 0, n_left_of_zeros(problem, depth, a, n_left)
            _raise_bound(problem, depth, bounds[a], end, cost)
        return question

    return try_roots


@kernel
def _can_improve(problem, work, a, end):
    """Return whether both sides of a flag are, of rows that were counted."""
    return can_improve(problem, work, 3, parent_leaves(problem, work, a), end)


@kernel
def _raise_bound(problem, depth, bounds, end, cost):
    """Put down what is known of the trees whose root asks for a flag."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    for k in range(problem.sizes[depth]):
        bounds[k] = max(bounds[k], best_sum(end[LEFT], end[RIGHT], k, n, step) + cost)


@kernel
def _order_by_loss(losses, k, order):
    """Order features by the losses of shallower trees whose root splits on them."""
    for a in range(len(order)):
        at = a
        while at > 0 and losses[order[at - 1], k] > losses[a, k]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = a


@kernel
def _set_bounds(problem, work, depth, a, total, n_seen, end):
    """Put down bounds on what rows without a flag lose, and on those with it."""
    places, n = problem.places, problem.sizes[depth - 1]
    weights = work.weights[depth, places[a]]
    own = weights[places[a]]
    for k in range(n):
        end[LEFT, k] = max(0.0, work.shallow[depth, k] - own)
        end[RIGHT, k] = max(0.0, work.shallow[depth, k] - (total - own))
    for s in range(n_seen):
        seen, i = work.seen[depth, s], places[work.flag_order[depth, _SEEN, s]]
        other, both = work.weights[depth, i, i], weights[i]
        neither = total - own - other + both
        for k in range(n):
            without, with_it = seen[LEFT, k], seen[RIGHT, k]
            end[LEFT, k] = max(end[LEFT, k], without - (own - both), with_it - both)
            end[RIGHT, k] = max(
                end[RIGHT, k], with_it - (other - both), without - neither
            )


@kernel
def _bounds_between(problem, weights, total, a, whole, hints):
    """Put down what trees of all rows say of the roots of both sides."""
    own = weights[problem.places[a], problem.places[a]]
    for b in range(whole.shape[0]):
        for k in range(whole.shape[1]):
            hints[0, b, k] = max(0.0, whole[b, k] - own)
            hints[1, b, k] = max(0.0, whole[b, k] - (total - own))


_search_sides, _search_small = solver_by_depth(
    shallow_solver(binary_one_level, binary_two_levels),
    deeper_solver(_flag_solver, 0.0),
    _divide,
)
