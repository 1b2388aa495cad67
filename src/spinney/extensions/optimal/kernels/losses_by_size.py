"""Losses by size of tree: one number, or one for each limit of leaves.

Without a limit of leaves, a line of losses has one entry. With a limit, entry k is the
least loss of a tree of at most k + 1 leaves, and two sides of a cut have the sum ::

    joined[k]  =  least of  left[i] + right[j]      i + j + step = k

with a step of 1, for both have a leaf more than the entry says; the step is 0, and k
too, where there is one entry. An entry of a side that no tree of its depth can use is
its last one. Every entry is a bound at any time, and a loss where it is below what is
wanted (``budget``, ``goal``); NOT_WANTED is below all of them.
"""

from spinney._support.jit.compile import kernel

MAX_LOSS = 1e300
NO_BUDGET = -1e300
# What is clearly less: a bound of one side, made of what is wanted of both less that of
# the other, joins with the other to what is wanted, but for a rounding.
BELOW = 1.0 - 1e-15

# Lines of an end of an interval: what rows up to its cut weigh, what both sides lose,
# and which line of ``bounds`` has bounds by what their roots ask.
WEIGHT, LEFT, RIGHT, ROOT_BOUNDS = range(4)
END_LINES = 4


@kernel
def best_sum(left, right, k, n, step):
    """Return what two sides lose, of the n entries that each has."""
    least = MAX_LOSS
    for i in range(n):
        j = k - step - i
        if j >= 0:
            least = min(least, left[i] + right[min(j, n - 1)])
    return least


@kernel
def best_n_left(left, right, k, n, step):
    """Return the entry of the left that is the best with one of the right."""
    least, n_left = MAX_LOSS, 0
    for i in range(n):
        j = k - step - i
        if j >= 0 and left[i] + right[min(j, n - 1)] < least:
            least, n_left = left[i] + right[min(j, n - 1)], i
    return n_left


@kernel
def bound_between(first, last, weight, k, n, step):
    """Return a bound on what a cut loses that is between the ends of an interval."""
    before, after = last[WEIGHT, 0] - weight, weight - first[WEIGHT, 0]
    least = MAX_LOSS
    for i in range(n):
        j = min(k - step - i, n - 1)
        if j >= 0:
            left = max(first[LEFT, i], last[LEFT, i] - before)
            right = max(last[RIGHT, j], first[RIGHT, j] - after)
            least = min(least, left + right)
    return least


@kernel
def set_between(first, last, weight, end, n):
    """Put down what the ends of an interval say of a cut between them."""
    before, after = last[WEIGHT, 0] - weight, weight - first[WEIGHT, 0]
    end[WEIGHT, 0] = weight
    for k in range(n):
        end[LEFT, k] = max(first[LEFT, k], last[LEFT, k] - before)
        end[RIGHT, k] = max(last[RIGHT, k], first[RIGHT, k] - after)


@kernel
def copy_line(into, line):
    """Copy a line of entries."""
    for k in range(len(into)):
        into[k] = line[k]


@kernel
def copy_bounds(into, end, n):
    """Copy an end of an interval."""
    into[WEIGHT, 0], into[ROOT_BOUNDS, 0] = end[WEIGHT, 0], end[ROOT_BOUNDS, 0]
    for k in range(n):
        into[LEFT, k], into[RIGHT, k] = end[LEFT, k], end[RIGHT, k]


@kernel
def any_below(bounds, wanted, n):
    """Return whether a bound is below what is wanted."""
    for k in range(n):  # noqa: SIM110 - loops know no generators
        if bounds[k] < wanted[k]:
            return True
    return False


@kernel
def may_sum_below(left, right, goal, problem, depth):
    """Return whether two sides may lose less than is wanted of them together."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    for k in range(problem.sizes[depth]):
        if best_sum(left, right, k, n, step) < goal[k]:
            return True
    return False


@kernel
def raise_bounds(most, bounds, n):
    """Make each entry the more of two."""
    for k in range(n):
        most[k] = max(most[k], bounds[k])


@kernel
def side_budget(goal, other, budget, problem, depth):
    """Put down what one side may lose, the other losing this at least."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    for i in range(n):
        budget[i] = NO_BUDGET
        for k in range(problem.sizes[depth]):
            j = k - step - i
            if j >= 0 and goal[k] > NO_BUDGET:
                budget[i] = max(budget[i], goal[k] - other[min(j, n - 1)])


@kernel
def set_one_level(line, n, leaf, stump):
    """Put down the loss of a leaf, and that of the best single question if less."""
    line[0] = leaf
    line[n - 1] = min(leaf, stump)
