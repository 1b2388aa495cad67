"""Losses by size of tree: one number, or one for each limit of leaves.

Without a limit of leaves, a line of losses has one entry. With a limit, entry k is the
least loss of a tree of at most k + 1 leaves, and two sides of a cut have the sum ::

    joined[k]  =  least of  left[i] + right[j]      i + j + step = k

The step is 1, because both sides have one leaf more than the index of their entry. With
one entry, the step and k are 0. The last entry also serves limits above the most leaves
of the depth. Every entry is a lower bound; entries below the limit (``budget``,
``goal``) are exact losses. NO_BUDGET is below every loss.
"""

from spinney._support.jit.compile import kernel

MAX_LOSS = 1e300
NO_BUDGET = -1e300
# A sum below the goal by less than this factor may be a rounding: a bound of one side,
# which is the goal less the bound of the other, adds up to the goal.
BELOW = 1.0 - 1e-15

# Lines of an end of an interval: the weight of the rows up to its cut, the losses of
# both sides, and the line of ``bounds`` with their bounds by root.
WEIGHT, LEFT, RIGHT, ROOT_BOUNDS = range(4)
END_LINES = 4


@kernel
def best_sum(left, right, k, n, step):
    """Return the least loss of two sides of n entries each."""
    least = MAX_LOSS
    for i in range(n):
        j = k - step - i
        if j >= 0:
            least = min(least, left[i] + right[min(j, n - 1)])
    return least


@kernel
def best_left_entry(left, right, k, n, step):
    """Return the entry of the left side in the least loss of two sides."""
    least, left_entry = MAX_LOSS, 0
    for i in range(n):
        j = k - step - i
        if j >= 0 and left[i] + right[min(j, n - 1)] < least:
            least, left_entry = left[i] + right[min(j, n - 1)], i
    return left_entry


@kernel
def cut_bound(first, last, weight, k, n, step):
    """Return a lower bound on the loss of a cut between the ends of an interval."""
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
def set_middle_end(first, last, weight, end, n):
    """Store the bounds of a cut between the ends of an interval."""
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
def any_below(bounds, limits, n):
    """Return whether a bound is below its limit."""
    for k in range(n):  # noqa: SIM110 - kernels have no generators
        if bounds[k] < limits[k]:
            return True
    return False


@kernel
def may_sum_below(left, right, goal, problem, depth):
    """Return whether two sides may have a sum below the goal."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    for k in range(problem.sizes[depth]):
        if best_sum(left, right, k, n, step) < goal[k]:
            return True
    return False


@kernel
def raise_bounds(into, bounds, n):
    """Raise each entry to a bound."""
    for k in range(n):
        into[k] = max(into[k], bounds[k])


@kernel
def set_side_budget(goal, other, budget, problem, depth):
    """Store the budget of one side, given lower bounds of the other."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    for i in range(n):
        budget[i] = NO_BUDGET
        for k in range(problem.sizes[depth]):
            j = k - step - i
            if j >= 0 and goal[k] > NO_BUDGET:
                budget[i] = max(budget[i], goal[k] - other[min(j, n - 1)])


@kernel
def set_one_level(line, n, leaf, stump):
    """Store the loss of a leaf, and the loss of the best stump if it is less."""
    line[0] = leaf
    line[n - 1] = min(leaf, stump)
