"""Steps of all solvers: small trees, both sides of a cut, and solvers by depth.

A solver takes the rows of a subtree in the order of each attribute. Its budget is
``work.budget`` at its depth. It writes the losses of the best trees into ``work.best``,
and bounds by the attribute of the root into ``bounds``. It returns the root of the best
tree: attribute and position, or -1, and the size entry of its left side.
"""

from spinney._support.jit.compile import kernel
from spinney.extensions.optimal.kernels.losses_by_size import (
    BELOW,
    LEFT,
    RIGHT,
    best_left_entry,
    best_sum,
    may_sum_below,
    raise_bounds,
    set_one_level,
    set_side_budget,
)
from spinney.extensions.optimal.kernels.stumps import add_row, best_stump, leaf_loss


@kernel
def loss_in_leaf(problem, totals, order, n_rows):
    """Add up all rows, and return their loss in a leaf."""
    for k in range(len(totals)):
        totals[k] = 0.0
    path_cost = 0.0
    for i in range(n_rows):
        row = order[0, i]
        add_row(problem, row, totals, 1.0)
        path_cost += problem.path_cost[row]
    totals[-1] = path_cost
    return leaf_loss(problem, totals)


@kernel
def split_cost(problem, totals):
    """Return the cost of a split of rows with these totals."""
    return problem.leaf_cost[0] + totals[-1]


@kernel
def set_bounds(bounds, bound):
    """Set the bounds of all roots to one number."""
    for a in range(bounds.shape[0]):
        for k in range(bounds.shape[1]):
            bounds[a, k] = bound


@kernel
def set_losses(best, leaf):
    """Set the losses of trees of every size to the loss of a leaf."""
    for k in range(len(best)):
        best[k] = leaf


@kernel
def cap_bounds(bounds, losses, n):
    """Lower the bounds of roots to the losses of shallower trees."""
    for a in range(bounds.shape[0]):
        for k in range(n):
            bounds[a, k] = min(bounds[a, k], losses[k])


@kernel
def is_affordable(problem, budget, depth):
    """Return whether a budget pays for a tree of this depth.

    Such a tree has at least ``depth`` splits, and each split costs a leaf.
    """
    for k in range(problem.sizes[depth]):
        if budget[k] > depth * problem.leaf_cost[0]:
            return True
    return False


@kernel
def set_goal(problem, work, depth, slack, cost, root):
    """Set the goal of a tree of this depth, and return the best root so far.

    The goal is the budget plus ``slack``, or the loss of the best tree of less depth in
    ``work.best``, whose root is ``root``. If the budget does not pay for a tree of this
    depth (``is_affordable``), the cost of its splits is a bound.
    """
    n, m = problem.sizes[depth], problem.sizes[depth - 1]
    least_cost = depth * problem.leaf_cost[0]
    affordable = is_affordable(problem, work.budget[depth], depth)
    for k in range(n):
        shallow = work.best[depth - 1, min(k, m - 1)]
        limit = work.budget[depth, k] + slack if affordable else least_cost
        best = min(limit, shallow)
        work.shallow[depth, k], work.best[depth, k] = shallow, best
        work.goal[depth, k] = best - cost
    if work.shallow[depth, n - 1] > work.best[depth, n - 1]:
        return -1, -1, 0
    return root


@kernel
def keep_best(problem, work, depth, cost, end):
    """Store the losses of a cut that are less; return the entry of its left side.

    The entry is -1 if the largest tree is not better than before.
    """
    n, m, step = problem.sizes[depth], problem.sizes[depth - 1], problem.sizes[-1]
    left_entry = -1
    for k in range(n):
        loss = best_sum(end[LEFT], end[RIGHT], k, m, step)
        if loss < BELOW * work.goal[depth, k]:
            work.goal[depth, k], work.best[depth, k] = loss, loss + cost
            if k == n - 1:
                left_entry = best_left_entry(end[LEFT], end[RIGHT], k, m, step)
    return left_entry


@kernel
def one_level(problem, work, order, is_last, n_rows, leaf, cost):
    """Store the loss of the best leaf or stump, and return its split."""
    stump, attribute, position = best_stump(
        problem, order, is_last, n_rows, work.totals[1], work.cumulative[0]
    )
    set_one_level(work.best[1], problem.sizes[1], leaf, stump + cost)
    if stump + cost >= leaf:
        return -1, -1, 0
    return attribute, position, 0


def shallow_solver(solve_one, solve_two):
    """Return the solver up to depth two, made of solvers for depth one and two."""

    @kernel
    def shallow(problem, work, depth, order, is_last, n_rows, bounds):
        # A stump reads the totals of depth one, too.
        leaf = loss_in_leaf(problem, work.totals[1], order, n_rows)
        cost, n = split_cost(problem, work.totals[1]), problem.sizes[depth]
        if depth == 0 or n_rows < 2 or leaf <= cost:
            set_losses(work.best[depth], leaf)
            set_bounds(bounds, leaf)
            return -1, -1, 0
        if depth == 1:
            root = solve_one(problem, work, order, is_last, n_rows, leaf, cost)
            set_bounds(bounds, work.best[1, n - 1])
            return root
        root = solve_two(problem, work, order, is_last, n_rows, leaf, cost, bounds)
        cap_bounds(bounds, work.shallow[2], n)
        return root

    return shallow


@kernel
def leaf_losses(problem, work, depth, n_left, n_right):
    """Return the losses of both sides of a cut as leaves."""
    orders, totals = work.order[depth - 1], work.totals[depth - 1]
    left = loss_in_leaf(problem, totals, orders[0], n_left)
    return left, loss_in_leaf(problem, totals, orders[1], n_right)


@kernel
def raise_by_leaves(problem, depth, leaves, end):
    """Raise the bounds of both sides to the loss of a leaf, or the cost of a split."""
    leaf_cost = problem.leaf_cost[0]
    for k in range(problem.sizes[depth - 1]):
        end[LEFT, k] = max(end[LEFT, k], min(leaves[0], leaf_cost))
        end[RIGHT, k] = max(end[RIGHT, k], min(leaves[1], leaf_cost))


@kernel
def can_improve(problem, work, depth, leaves, end):
    """Return whether the sides of a cut may have a sum below the goal.

    Shallower trees are solved already. So one side has the full depth below the cut,
    and costs at least as many splits. Both bounds rise to the cost of a first split.
    """
    raise_by_leaves(problem, depth, leaves, end)
    goal, least_cost = work.goal[depth], (depth - 1) * problem.leaf_cost[0]
    if problem.sizes[-1]:
        return may_sum_below(end[LEFT], end[RIGHT], goal, problem, depth)
    left, right = end[LEFT, 0], end[RIGHT, 0]
    return min(max(left, least_cost) + right, left + max(right, least_cost)) < goal[0]


def sides_solver(solve):
    """Return the search of both sides of a cut by the solver of their depth."""

    @kernel
    def sides(problem, work, depth, n_left, n_right, end, bounds):
        # The smaller side is first: if it loses enough, the other is not searched.
        below = depth - 1
        goal, budget = work.goal[depth], work.budget[below]
        first = 0 if n_left <= n_right else 1
        for turn in range(2):
            side = first if turn == 0 else 1 - first
            if turn and not may_sum_below(end[LEFT], end[RIGHT], goal, problem, depth):
                break
            set_side_budget(goal, end[RIGHT - side], budget, problem, depth)
            n_rows, bound = n_right if side else n_left, bounds[side]
            order, is_last = work.order[below, side], work.is_last[below, side]
            solve(problem, work, below, order, is_last, n_rows, bound)
            raise_bounds(end[LEFT + side], work.best[below], problem.sizes[below])

    return sides


def deeper_solver(make_root_search, slack):
    """Return a function that makes the solver of one more level.

    A recursive kernel cannot be cached on disk, so each depth has its own. ``slack`` is
    the loss that a subtree may exceed its budget by, as a fraction of its loss as a
    leaf.
    """

    def deeper_than(solve, sides):
        try_roots = make_root_search(sides)

        @kernel
        def deeper(problem, work, depth, order, is_last, n_rows, bounds):
            leaf = loss_in_leaf(problem, work.totals[depth], order, n_rows)
            cost, n = split_cost(problem, work.totals[depth]), problem.sizes[depth]
            if n_rows < 2 or leaf <= cost or problem.stop[0]:
                set_losses(work.best[depth], leaf)
                set_bounds(bounds, leaf)
                return -1, -1, 0
            # A cut with an empty side has a shallower tree of all rows.
            m, whole = problem.sizes[depth - 1], work.bounds[depth, 0, 1]
            set_bounds(whole, 0.0)
            above, below = work.budget[depth], work.budget[depth - 1]
            for k in range(n):
                entry = min(k, m - 1)
                below[entry] = max(below[entry] if entry < k else above[k], above[k])
            root = solve(problem, work, depth - 1, order, is_last, n_rows, whole)
            root = set_goal(problem, work, depth, slack * leaf, cost, root)
            if is_affordable(problem, above, depth):
                root = try_roots(
                    problem, work, depth, order, is_last, n_rows, bounds, root
                )
            cap_bounds(bounds, work.shallow[depth], n)
            return root

        return deeper

    return deeper_than


def solver_by_depth(shallow, deeper_than, divide):
    """Return the search of a tree, or of both sides of a cut, up to depth five."""
    sides_3 = sides_solver(shallow)
    solve_3 = deeper_than(shallow, sides_3)
    sides_4 = sides_solver(solve_3)
    solve_4 = deeper_than(solve_3, sides_4)
    sides_5 = sides_solver(solve_4)
    solve_5 = deeper_than(solve_4, sides_5)

    @kernel
    def search_sides(problem, work, depth, attribute, position, end, bounds):
        order = problem.order
        n, m = divide(problem, work, depth, order, order.shape[1], attribute, position)
        raise_by_leaves(problem, depth, leaf_losses(problem, work, depth, n, m), end)
        if depth <= 3:
            sides_3(problem, work, depth, n, m, end, bounds)
        elif depth == 4:
            sides_4(problem, work, depth, n, m, end, bounds)
        else:
            sides_5(problem, work, depth, n, m, end, bounds)

    @kernel
    def search_all_rows(problem, work, depth, bounds):
        order, is_last, n_rows = problem.order, problem.is_last, problem.order.shape[1]
        if depth <= 2:
            return shallow(problem, work, depth, order, is_last, n_rows, bounds)
        if depth == 3:
            return solve_3(problem, work, depth, order, is_last, n_rows, bounds)
        if depth == 4:
            return solve_4(problem, work, depth, order, is_last, n_rows, bounds)
        return solve_5(problem, work, depth, order, is_last, n_rows, bounds)

    return search_sides, search_all_rows
