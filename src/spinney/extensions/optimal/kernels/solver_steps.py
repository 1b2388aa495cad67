"""Steps of all solvers: small trees, both sides of a cut, and solvers by depth.

A solver takes the rows of a subtree in their orders. Its budget is in ``work.budget``
of its depth. It writes the losses of the best trees into ``work.best``, and bounds by
the attribute of the root into ``bounds``. It returns the root of the best tree:
attribute and position, or -1, and the number of leaves on the left.
"""

from spinney._support.jit.compile import kernel
from spinney.extensions.optimal.kernels.losses_by_size import (
    BELOW,
    LEFT,
    RIGHT,
    best_n_left,
    best_sum,
    may_sum_below,
    raise_bounds,
    set_one_level,
    side_budget,
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
    """Return what it costs to ask a question of rows with these totals."""
    return problem.leaf_cost[0] + totals[-1]


@kernel
def set_bounds(bounds, bound):
    """Put down one bound for the roots of every attribute."""
    for a in range(bounds.shape[0]):
        for k in range(bounds.shape[1]):
            bounds[a, k] = bound


@kernel
def set_losses(best, leaf):
    """Put down that trees of every size lose what a leaf does."""
    for k in range(len(best)):
        best[k] = leaf


@kernel
def cap_bounds(bounds, losses, n):
    """Lower the bounds of attributes to those of trees without them."""
    for a in range(bounds.shape[0]):
        for k in range(n):
            bounds[a, k] = min(bounds[a, k], losses[k])


@kernel
def is_affordable(problem, budget, depth):
    """Return whether a tree may lose what it may, if it asks one row ``depth`` times.

    As many questions it has at least, and each of them has a price.
    """
    for k in range(problem.sizes[depth]):
        if budget[k] > depth * problem.leaf_cost[0]:
            return True
    return False


@kernel
def set_goal(problem, work, depth, slack, cost, question):
    """Set the goal of a tree of this depth, and return the best root so far.

    The goal is the budget plus ``slack``, or the loss of the best tree of less depth in
    ``work.best``, whose root is ``question``. If the budget does not pay for a tree of
    this depth (``is_affordable``), the price of its questions is a bound.
    """
    n, m, pays = (
        problem.sizes[depth],
        problem.sizes[depth - 1],
        depth * problem.leaf_cost[0],
    )
    sought = is_affordable(problem, work.budget[depth], depth)
    for k in range(n):
        shallow = work.best[depth - 1, min(k, m - 1)]
        best = min(work.budget[depth, k] + slack if sought else pays, shallow)
        work.shallow[depth, k], work.best[depth, k] = shallow, best
        work.goal[depth, k] = best - cost
    if work.shallow[depth, n - 1] > work.best[depth, n - 1]:
        return -1, -1, 0
    return question


@kernel
def keep_best(problem, work, depth, cost, end):
    """Take what both sides of a cut lose, where it is less; return the left's share.

    It is -1 if the tree of the most leaves stays as it was.
    """
    n, m, step = problem.sizes[depth], problem.sizes[depth - 1], problem.sizes[-1]
    n_left = -1
    for k in range(n):
        loss = best_sum(end[LEFT], end[RIGHT], k, m, step)
        if loss < BELOW * work.goal[depth, k]:
            work.goal[depth, k], work.best[depth, k] = loss, loss + cost
            if k == n - 1:
                n_left = best_n_left(end[LEFT], end[RIGHT], k, m, step)
    return n_left


@kernel
def one_level(problem, work, order, last, n_rows, leaf, cost):
    """Put down the loss of the best tree of one question at most; return that one."""
    stump, attribute, position = best_stump(
        problem, order, last, n_rows, work.totals[1], work.upto[0]
    )
    set_one_level(work.best[1], problem.sizes[1], leaf, stump + cost)
    if stump + cost >= leaf:
        return -1, -1, 0
    return attribute, position, 0


def shallow_solver(by_one, by_two):
    """Return the solver of depth two at most, by those of one and of two questions."""

    @kernel
    def shallow(problem, work, depth, order, last, n_rows, bounds):
        # The totals of depth one are those of its single question, too.
        leaf = loss_in_leaf(problem, work.totals[1], order, n_rows)
        cost, n = split_cost(problem, work.totals[1]), problem.sizes[depth]
        if depth == 0 or n_rows < 2 or leaf <= cost:
            set_losses(work.best[depth], leaf)
            set_bounds(bounds, leaf)
            return -1, -1, 0
        if depth == 1:
            question = by_one(problem, work, order, last, n_rows, leaf, cost)
            set_bounds(bounds, work.best[1, n - 1])
            return question
        question = by_two(problem, work, order, last, n_rows, leaf, cost, bounds)
        cap_bounds(bounds, work.shallow[2], n)
        return question

    return shallow


@kernel
def leaf_losses(problem, work, depth, n_left, n_right):
    """Return what both sides of a cut lose in a leaf."""
    orders, totals = work.order[depth - 1], work.totals[depth - 1]
    left = loss_in_leaf(problem, totals, orders[0], n_left)
    return left, loss_in_leaf(problem, totals, orders[1], n_right)


@kernel
def raise_by_leaves(problem, depth, leaves, end):
    """Make bounds on both sides no less than the price of the question they need."""
    leaf_cost = problem.leaf_cost[0]
    for k in range(problem.sizes[depth - 1]):
        end[LEFT, k] = max(end[LEFT, k], min(leaves[0], leaf_cost))
        end[RIGHT, k] = max(end[RIGHT, k], min(leaves[1], leaf_cost))


@kernel
def can_improve(problem, work, depth, leaves, end):
    """Return whether the sides of a cut may be those of a tree that is wanted.

    Trees of less depth are known. So one side is of the depth below, and pays for as
    many questions. Bounds on both become no less than a first question of theirs costs.
    """
    raise_by_leaves(problem, depth, leaves, end)
    goal, pays = work.goal[depth], (depth - 1) * problem.leaf_cost[0]
    if problem.sizes[-1]:
        return may_sum_below(end[LEFT], end[RIGHT], goal, problem, depth)
    one, two = end[LEFT, 0], end[RIGHT, 0]
    return min(max(one, pays) + two, one + max(two, pays)) < goal[0]


def sides_solver(solve):
    """Return how both sides of a cut are searched, by the solver of their depth."""

    @kernel
    def sides(problem, work, depth, n_left, n_right, end, bounds):
        # The side of fewer rows is first: where it loses enough, the other rests.
        orders, lasts = work.order[depth - 1], work.last[depth - 1]
        goal, m = work.goal[depth], problem.sizes[depth - 1]
        first = 0 if n_left <= n_right else 1
        for turn in range(2):
            side = first if turn == 0 else 1 - first
            if turn and not may_sum_below(end[LEFT], end[RIGHT], goal, problem, depth):
                break
            other = end[RIGHT - side]
            side_budget(goal, other, work.budget[depth - 1], problem, depth)
            solve(
                problem,
                work,
                depth - 1,
                orders[side],
                lasts[side],
                n_right if side else n_left,
                bounds[side],
            )
            raise_bounds(end[LEFT + side], work.best[depth - 1], m)

    return sides


def deeper_solver(by_attributes, slack):
    """Return who makes the solver of one level more; its roots are tried by a loop.

    A loop that calls itself could not be kept on the disk. ``slack`` is how much more
    than needed a subtree may lose, as a share of its rows' loss in a leaf.
    """

    def deeper_than(solve, sides):
        try_roots = by_attributes(sides)

        @kernel
        def deeper(problem, work, depth, order, last, n_rows, bounds):
            leaf = loss_in_leaf(problem, work.totals[depth], order, n_rows)
            cost, n = split_cost(problem, work.totals[depth]), problem.sizes[depth]
            if n_rows < 2 or leaf <= cost or problem.stop[0]:
                set_losses(work.best[depth], leaf)
                set_bounds(bounds, leaf)
                return -1, -1, 0
            # Of all rows: on one side of a cut that leaves none for the other.
            m, whole = problem.sizes[depth - 1], work.bounds[depth, 0, 1]
            set_bounds(whole, 0.0)
            for k in range(n):
                at = min(k, m - 1)
                more = work.budget[depth - 1, at] if at < k else work.budget[depth, k]
                work.budget[depth - 1, at] = max(more, work.budget[depth, k])
            question = solve(problem, work, depth - 1, order, last, n_rows, whole)
            question = set_goal(problem, work, depth, slack * leaf, cost, question)
            if is_affordable(problem, work.budget[depth], depth):
                question = try_roots(
                    problem, work, depth, order, last, n_rows, bounds, question
                )
            cap_bounds(bounds, work.shallow[depth], n)
            return question

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
        order, last, n_rows = problem.order, problem.last, problem.order.shape[1]
        if depth <= 2:
            return shallow(problem, work, depth, order, last, n_rows, bounds)
        if depth == 3:
            return solve_3(problem, work, depth, order, last, n_rows, bounds)
        if depth == 4:
            return solve_4(problem, work, depth, order, last, n_rows, bounds)
        return solve_5(problem, work, depth, order, last, n_rows, bounds)

    return search_sides, search_all_rows
