"""Branch and bound where every column is a flag: one cut each, and rows in any order.

What two sets of rows lose differs by no more than the rows of one that are not in the
other can add. So, of a flag a and one that was looked at before, i, the rows with and
without it losing Lᵢ and Rᵢ::

    L(with a)     ≥  Lᵢ − weight(i, not a),   Rᵢ − weight(not i, not a)
    L(without a)  ≥  Rᵢ − weight(a, not i),   Lᵢ − weight(i, a)

The weights of all pairs take one walk over the rows, and flags that come of one number
differ by few of them.
"""

from spinney._support.jit.compile import entry, kernel
from spinney.growth.optimal.loops.flag_pairs import (
    add_to_pairs,
    best_of_flags,
    last_without,
    mirror,
)
from spinney.growth.optimal.loops.sides import SLACK, both_sides, in_a_leaf, tell_all
from spinney.growth.optimal.loops.stumps import best_stump

# Lines of ``seen``: flags that were looked at, what rows with and without each lose;
# the order in which flags are looked at.
_FLAG, _LOSS_WITH, _LOSS_WITHOUT, _ORDER = range(4)


@kernel
def _shallow(problem, room, depth, order, last, n_rows, _budget, told):
    """Return the least loss of a tree of depth two at most, and its question."""
    totals = room.totals[depth]
    leaf = in_a_leaf(problem, totals, order, n_rows)
    if depth == 0 or n_rows < 2 or leaf <= 2 * problem.price[0]:
        tell_all(told, leaf)
        return leaf, -1, -1
    if depth == 1:
        found = best_stump(problem, order, last, n_rows, totals, room.upto[0])
        tell_all(told, found[0])
        return found
    return best_of_flags(problem, room, order[0], n_rows, leaf, told)


@kernel
def _divide(problem, room, depth, order, n_rows, a, turned):
    """Put rows of value 0 to one side and those of 1 to the other, or turned round."""
    rank, sides = problem.rank[a], room.order[depth - 1]
    here, there = 0, 0
    for i in range(n_rows):
        row = order[0, i]
        sides[0, 0, here] = row
        sides[1, 0, there] = row
        second = rank[row] ^ turned
        there += second
        here += 1 - second
    return here, there


def _deeper(solve, sides):
    """Return the solver of one level more."""

    @kernel
    def deeper(problem, room, depth, order, last, n_rows, budget, told):
        leaf = in_a_leaf(problem, room.totals[depth], order, n_rows)
        if n_rows < 2 or leaf <= 2 * problem.price[0] or problem.stop[0]:
            tell_all(told, leaf)
            return leaf, -1, -1
        whole, hints = room.told[depth, 0, 0], room.told[depth, 1]
        tell_all(whole, 0.0)
        less, attribute, position = solve(
            problem, room, depth - 1, order, last, n_rows, budget, whole
        )
        best = min(budget + SLACK * leaf, less)
        if less > best:
            attribute, position = -1, -1
        _weigh_pairs(problem, room.weights[depth], order[0], n_rows)
        _most_promising_first(whole, room.seen[depth, _ORDER])
        n_seen = 0
        for v in range(len(told)):
            a = int(room.seen[depth, _ORDER, v])
            if told[a] >= best or problem.stop[0]:
                continue
            low, high = _bounds(room.seen[depth], room.weights[depth], a, n_seen, less)
            if low + high >= best:
                told[a] = max(told[a], low + high)
                continue
            n_without, n_with = _divide(
                problem, room, depth, order, n_rows, a, problem.turned[a]
            )
            if n_without == 0 or n_with == 0:
                told[a] = less
                continue
            _hint(room.weights[depth], a, whole, hints)
            low, high = sides(
                problem, room, depth, n_without, n_with, low, high, best, hints
            )
            _note(room.seen[depth], n_seen, a, low, high)
            n_seen += 1
            told[a] = max(told[a], low + high)
            if low + high < best:
                best, attribute = low + high, a
                position = last_without(problem, order[0], n_rows, a)
        for a in range(len(told)):
            told[a] = min(told[a], less)
        return best, attribute, position

    return deeper


@kernel
def _weigh_pairs(problem, weights, rows, n_rows):
    """Add up what rows can lose at most, by pairs of flags; last of all of them."""
    n_flags, total = weights.shape[0] - 1, 0.0
    pairs = weights[:n_flags, :n_flags]
    for i in range(n_flags):
        for j in range(i, n_flags):
            pairs[i, j] = 0.0
    for r in range(n_rows):
        row = rows[r]
        total += problem.most[row]
        add_to_pairs(pairs, problem.ones[row], problem.n_ones[row], problem.most[row])
    mirror(pairs)
    weights[n_flags, n_flags] = total


@kernel
def _most_promising_first(losses, order):
    """Order flags by what trees of less depth lose that ask about them first."""
    for a in range(len(losses)):
        at = a
        while at > 0 and losses[int(order[at - 1])] > losses[a]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = a


@kernel
def _bounds(seen, weights, a, n_seen, less):
    """Return bounds on what rows without a flag lose, and on those with it.

    All rows lose ``less`` in a tree of the depth of a side.
    """
    total, own = weights[-1, -1], weights[a, a]
    without, with_it = less - own, less - (total - own)
    for s in range(n_seen):
        i = int(seen[_FLAG, s])
        other, both = weights[i, i], weights[a, i]
        loss_with, loss_without = seen[_LOSS_WITH, s], seen[_LOSS_WITHOUT, s]
        neither = total - own - other + both
        with_it = max(with_it, loss_with - (other - both), loss_without - neither)
        without = max(without, loss_without - (own - both), loss_with - both)
    return max(0.0, without), max(0.0, with_it)


@kernel
def _note(seen, at, a, without, with_it):
    """Keep what the rows without and with a flag lose."""
    seen[_FLAG, at] = a
    seen[_LOSS_WITHOUT, at], seen[_LOSS_WITH, at] = without, with_it


@kernel
def _hint(weights, a, whole, hints):
    """Put down what trees of all rows say of the roots of both sides."""
    own, total = weights[a, a], weights[-1, -1]
    for b in range(len(whole)):
        hints[0, b] = max(0.0, whole[b] - own)
        hints[1, b] = max(0.0, whole[b] - (total - own))


_sides_3 = both_sides(_shallow)
_solve_3 = _deeper(_shallow, _sides_3)
_sides_4 = both_sides(_solve_3)
_solve_4 = _deeper(_solve_3, _sides_4)
_sides_5 = both_sides(_solve_4)
_solve_5 = _deeper(_solve_4, _sides_5)


@entry
def search_flags(problem, room, depth, attribute, _position, known, told, found):
    """Find the least loss of a tree of all rows, or of both sides of a flag.

    As ``search_subtrees`` does of cuts; a flag has one.
    """
    order, last, n_rows = problem.order, problem.last, problem.order.shape[1]
    low, high, budget = known[0], known[1], known[2]
    if attribute >= 0:
        n, m = _divide(problem, room, depth, order, n_rows, attribute, 0)
        if depth <= 3:
            low, high = _sides_3(problem, room, depth, n, m, low, high, budget, told)
        elif depth == 4:
            low, high = _sides_4(problem, room, depth, n, m, low, high, budget, told)
        else:
            low, high = _sides_5(problem, room, depth, n, m, low, high, budget, told)
        found[0], found[1] = low, high
        return
    one = told[0]
    if depth <= 2:
        best = _shallow(problem, room, depth, order, last, n_rows, budget, one)
    elif depth == 3:
        best = _solve_3(problem, room, depth, order, last, n_rows, budget, one)
    elif depth == 4:
        best = _solve_4(problem, room, depth, order, last, n_rows, budget, one)
    else:
        best = _solve_5(problem, room, depth, order, last, n_rows, budget, one)
    found[0], found[1], found[2] = best
