"""What all solvers share: small trees, both sides of a cut, and the ladder of depths.

A solver takes the rows of a subtree in their orders. What it may lose stands in
``room.budget`` of its depth; what the best one loses is put into ``room.best``, and
bounds by what its root asks about into ``told``. It returns what the root of the best
one asks, of the most leaves: attribute and position, or -1, and the share of the left.
"""

from spinney._support.jit.compile import kernel
from spinney.extensions.optimal.kernels.sizes import (
    CLEARLY,
    LEFT,
    RIGHT,
    heighten,
    joined,
    may_join_to_less,
    put_one_level,
    share_of_left,
    want_of_side,
)
from spinney.extensions.optimal.kernels.stumps import add_row, best_stump, leaf_loss


@kernel
def in_a_leaf(problem, totals, order, n_rows):
    """Add up all rows, and return their loss in a leaf."""
    for k in range(len(totals)):
        totals[k] = 0.0
    asked = 0.0
    for i in range(n_rows):
        row = order[0, i]
        add_row(problem, row, totals, 1.0)
        asked += problem.asked[row]
    totals[-1] = asked
    return leaf_loss(problem, totals)


@kernel
def toll_of(problem, totals):
    """Return what it costs to ask a question of rows with these totals."""
    return problem.price[0] + totals[-1]


@kernel
def tell_all(told, bound):
    """Put down one bound for the roots of every attribute."""
    for a in range(told.shape[0]):
        for k in range(told.shape[1]):
            told[a, k] = bound


@kernel
def settle(best, leaf):
    """Put down that trees of every size lose what a leaf does."""
    for k in range(len(best)):
        best[k] = leaf


@kernel
def tell_no_more(told, losses, n):
    """Lower the bounds of attributes to those of trees that need not ask about them."""
    for a in range(told.shape[0]):
        for k in range(n):
            told[a, k] = min(told[a, k], losses[k])


@kernel
def may_pay(problem, budget, depth):
    """Return whether a tree may lose what it may, if it asks one row ``depth`` times.

    As many questions it has at least, and each of them has a price.
    """
    for k in range(problem.sizes[depth]):
        if budget[k] > depth * problem.price[0]:
            return True
    return False


@kernel
def aim(problem, room, depth, slack, toll, question):
    """Put down what a tree of this depth is to lose less than.

    That is the budget with some ``slack``, or what the best tree of less depth loses,
    which asks this ``question``, and is in ``room.best`` of that depth. Return the
    question if it is the best so far. A tree that does not pay (``may_pay``) is to be
    sought no more: then what it must pay is a bound.
    """
    n, m, pays = (
        problem.sizes[depth],
        problem.sizes[depth - 1],
        depth * problem.price[0],
    )
    sought = may_pay(problem, room.budget[depth], depth)
    for k in range(n):
        less = room.best[depth - 1, min(k, m - 1)]
        best = min(room.budget[depth, k] + slack if sought else pays, less)
        room.less[depth, k], room.best[depth, k] = less, best
        room.goal[depth, k] = best - toll
    if room.less[depth, n - 1] > room.best[depth, n - 1]:
        return -1, -1, 0
    return question


@kernel
def take_if_less(problem, room, depth, toll, end):
    """Take what both sides of a cut lose, where it is less; return the left's share.

    It is -1 if the tree of the most leaves stays as it was.
    """
    n, m, step = problem.sizes[depth], problem.sizes[depth - 1], problem.sizes[-1]
    share = -1
    for k in range(n):
        loss = joined(end[LEFT], end[RIGHT], k, m, step)
        if loss < CLEARLY * room.goal[depth, k]:
            room.goal[depth, k], room.best[depth, k] = loss, loss + toll
            if k == n - 1:
                share = share_of_left(end[LEFT], end[RIGHT], k, m, step)
    return share


@kernel
def one_level(problem, room, order, last, n_rows, leaf, toll):
    """Put down the loss of the best tree of one question at most; return that one."""
    stump, attribute, position = best_stump(
        problem, order, last, n_rows, room.totals[1], room.upto[0]
    )
    put_one_level(room.best[1], problem.sizes[1], leaf, stump + toll)
    if stump + toll >= leaf:
        return -1, -1, 0
    return attribute, position, 0


def shallow_by(by_one, by_two):
    """Return the solver of depth two at most, by those of one and of two questions."""

    @kernel
    def shallow(problem, room, depth, order, last, n_rows, told):
        # The totals of depth one are those of its single question, too.
        leaf = in_a_leaf(problem, room.totals[1], order, n_rows)
        toll, n = toll_of(problem, room.totals[1]), problem.sizes[depth]
        if depth == 0 or n_rows < 2 or leaf <= toll:
            settle(room.best[depth], leaf)
            tell_all(told, leaf)
            return -1, -1, 0
        if depth == 1:
            question = by_one(problem, room, order, last, n_rows, leaf, toll)
            tell_all(told, room.best[1, n - 1])
            return question
        question = by_two(problem, room, order, last, n_rows, leaf, toll, told)
        tell_no_more(told, room.less[2], n)
        return question

    return shallow


@kernel
def in_leaves(problem, room, depth, n_left, n_right):
    """Return what both sides of a cut lose in a leaf."""
    orders, totals = room.order[depth - 1], room.totals[depth - 1]
    left = in_a_leaf(problem, totals, orders[0], n_left)
    return left, in_a_leaf(problem, totals, orders[1], n_right)


@kernel
def heighten_by_leaves(problem, depth, leaves, end):
    """Make bounds on both sides no less than the price of the question they need."""
    price = problem.price[0]
    for k in range(problem.sizes[depth - 1]):
        end[LEFT, k] = max(end[LEFT, k], min(leaves[0], price))
        end[RIGHT, k] = max(end[RIGHT, k], min(leaves[1], price))


@kernel
def are_worth_it(problem, room, depth, leaves, end):
    """Return whether the sides of a cut may be those of a tree that is wanted.

    Trees of less depth are known. So one side is of the depth below, and pays for as
    many questions. Bounds on both become no less than a first question of theirs costs.
    """
    heighten_by_leaves(problem, depth, leaves, end)
    goal, pays = room.goal[depth], (depth - 1) * problem.price[0]
    if problem.sizes[-1]:
        return may_join_to_less(end[LEFT], end[RIGHT], goal, problem, depth)
    one, two = end[LEFT, 0], end[RIGHT, 0]
    return min(max(one, pays) + two, one + max(two, pays)) < goal[0]


def both_sides(solve):
    """Return how both sides of a cut are searched, by the solver of their depth."""

    @kernel
    def sides(problem, room, depth, n_left, n_right, end, told):
        # The side of fewer rows is first: where it loses enough, the other rests.
        orders, lasts = room.order[depth - 1], room.last[depth - 1]
        goal, m = room.goal[depth], problem.sizes[depth - 1]
        first = 0 if n_left <= n_right else 1
        for turn in range(2):
            side = first if turn == 0 else 1 - first
            if turn and not may_join_to_less(
                end[LEFT], end[RIGHT], goal, problem, depth
            ):
                break
            other = end[RIGHT - side]
            want_of_side(goal, other, room.budget[depth - 1], problem, depth)
            solve(
                problem,
                room,
                depth - 1,
                orders[side],
                lasts[side],
                n_right if side else n_left,
                told[side],
            )
            heighten(end[LEFT + side], room.best[depth - 1], m)

    return sides


def deeper_by(by_attributes, slack):
    """Return who makes the solver of one level more; its roots are tried by a loop.

    A loop that calls itself could not be kept on the disk. ``slack`` is how much more
    than needed a subtree may lose, as a share of its rows' loss in a leaf.
    """

    def deeper_than(solve, sides):
        try_roots = by_attributes(sides)

        @kernel
        def deeper(problem, room, depth, order, last, n_rows, told):
            leaf = in_a_leaf(problem, room.totals[depth], order, n_rows)
            toll, n = toll_of(problem, room.totals[depth]), problem.sizes[depth]
            if n_rows < 2 or leaf <= toll or problem.stop[0]:
                settle(room.best[depth], leaf)
                tell_all(told, leaf)
                return -1, -1, 0
            # Of all rows: on one side of a cut that leaves none for the other.
            m, whole = problem.sizes[depth - 1], room.told[depth, 0, 1]
            tell_all(whole, 0.0)
            for k in range(n):
                at = min(k, m - 1)
                more = room.budget[depth - 1, at] if at < k else room.budget[depth, k]
                room.budget[depth - 1, at] = max(more, room.budget[depth, k])
            question = solve(problem, room, depth - 1, order, last, n_rows, whole)
            question = aim(problem, room, depth, slack * leaf, toll, question)
            if may_pay(problem, room.budget[depth], depth):
                question = try_roots(
                    problem, room, depth, order, last, n_rows, told, question
                )
            tell_no_more(told, room.less[depth], n)
            return question

        return deeper

    return deeper_than


def ladder(shallow, deeper_than, divide):
    """Return the search of a tree, or of both sides of a cut, up to depth five."""
    sides_3 = both_sides(shallow)
    solve_3 = deeper_than(shallow, sides_3)
    sides_4 = both_sides(solve_3)
    solve_4 = deeper_than(solve_3, sides_4)
    sides_5 = both_sides(solve_4)
    solve_5 = deeper_than(solve_4, sides_5)

    @kernel
    def search_sides(problem, room, depth, attribute, position, end, told):
        order = problem.order
        n, m = divide(problem, room, depth, order, order.shape[1], attribute, position)
        heighten_by_leaves(problem, depth, in_leaves(problem, room, depth, n, m), end)
        if depth <= 3:
            sides_3(problem, room, depth, n, m, end, told)
        elif depth == 4:
            sides_4(problem, room, depth, n, m, end, told)
        else:
            sides_5(problem, room, depth, n, m, end, told)

    @kernel
    def search_whole(problem, room, depth, told):
        order, last, n_rows = problem.order, problem.last, problem.order.shape[1]
        if depth <= 2:
            return shallow(problem, room, depth, order, last, n_rows, told)
        if depth == 3:
            return solve_3(problem, room, depth, order, last, n_rows, told)
        if depth == 4:
            return solve_4(problem, room, depth, order, last, n_rows, told)
        return solve_5(problem, room, depth, order, last, n_rows, told)

    return search_sides, search_whole
