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
from spinney.extensions.optimal.kernels.flag_pairs import (
    A_SIDE,
    N_WITHOUT,
    NO_SIDE,
    SIDE,
    add_pairs,
    count_around,
    keep_around,
    leaves_around,
    one_level_of_flags,
    share_of_zeros,
    two_levels_of_flags,
)
from spinney.extensions.optimal.kernels.sides import (
    are_worth_it,
    deeper_by,
    ladder,
    shallow_by,
    take_if_less,
    toll_of,
)
from spinney.extensions.optimal.kernels.sizes import (
    LEFT,
    RIGHT,
    joined,
    may_be_less,
    may_join_to_less,
    put_end,
    put_line,
)

# Lines of ``flag_order``: in which flags are looked at, and which of them have been.
_ORDER, _SEEN = range(2)


@entry
def search_flags(problem, room, depth, cut, budget, end, told, found):
    """Find the least loss of a tree of all rows, or of both sides of a flag.

    As ``search_subtrees`` does of cuts; a flag has one, and its value 0 is on the left.
    """
    room.counted[SIDE] = NO_SIDE
    if cut[0] >= 0:
        put_line(room.goal[depth], budget)
        if depth == 3:
            count_around(problem, room)
        _search_sides(problem, room, depth, cut[0], 0, end, told)
    else:
        put_line(room.budget[depth], budget)
        found[0], found[1], found[2] = _search_whole(problem, room, depth, told[0])
        put_line(found[3:], room.best[depth])


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
    room.counted[N_WITHOUT] = here
    return here, there


def _by_flags(sides):
    """Return who tries all flags at the root of a subtree."""

    @kernel
    def try_roots(problem, room, depth, order, _last, n_rows, told, question):
        whole, hints = room.told[depth, 0, 1], room.told[depth, 1]
        toll, n = toll_of(problem, room.totals[depth]), problem.sizes[depth]
        weights, order_of = room.weights[depth], room.flag_order[depth]
        total = add_pairs(problem, weights, problem.most, order[0], n_rows)
        if depth == 3:
            keep_around(room)  # as counted for the tree of less depth
        _most_promising_first(whole, problem.sizes[depth - 1] - 1, order_of[_ORDER])
        n_seen, end = 0, room.taken[depth, 0]
        for a in order_of[_ORDER]:
            if not may_be_less(told[a], room.best[depth], n) or problem.stop[0]:
                continue
            _put_bounds(problem, room, depth, a, total, n_seen, end)
            if may_join_to_less(
                end[LEFT], end[RIGHT], room.goal[depth], problem, depth
            ) and (depth > 3 or _worth_a_look(problem, room, a, end)):
                n_left, n_right = _divide(
                    problem, room, depth, order, n_rows, a, problem.turned[a]
                )
                if n_left == 0 or n_right == 0:
                    for k in range(n):
                        told[a, k] = room.less[depth, k]
                    continue
                _hint(problem, weights, total, a, whole, hints)
                room.counted[SIDE] = A_SIDE if depth == 3 else NO_SIDE
                sides(problem, room, depth, n_left, n_right, end, hints)
                room.counted[SIDE] = NO_SIDE
                put_end(room.seen[depth, n_seen], end, problem.sizes[depth - 1])
                order_of[_SEEN, n_seen] = a
                n_seen += 1
                share = take_if_less(problem, room, depth, toll, end)
                if share >= 0:
                    question = a, 0, share_of_zeros(problem, depth, a, share)
            _tell(problem, depth, told[a], end, toll)
        return question

    return try_roots


@kernel
def _worth_a_look(problem, room, a, end):
    """Return whether both sides of a flag are, of rows that were counted."""
    return are_worth_it(problem, room, 3, leaves_around(problem, room, a), end)


@kernel
def _tell(problem, depth, told, end, toll):
    """Put down what is known of the trees whose root asks for a flag."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    for k in range(problem.sizes[depth]):
        told[k] = max(told[k], joined(end[LEFT], end[RIGHT], k, n, step) + toll)


@kernel
def _most_promising_first(losses, k, order):
    """Order flags by what trees of less depth lose that ask about them first."""
    for a in range(len(order)):
        at = a
        while at > 0 and losses[order[at - 1], k] > losses[a, k]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = a


@kernel
def _put_bounds(problem, room, depth, a, total, n_seen, end):
    """Put down bounds on what rows without a flag lose, and on those with it."""
    places, n = problem.places, problem.sizes[depth - 1]
    weights = room.weights[depth, places[a]]
    own = weights[places[a]]
    for k in range(n):
        end[LEFT, k] = max(0.0, room.less[depth, k] - own)
        end[RIGHT, k] = max(0.0, room.less[depth, k] - (total - own))
    for s in range(n_seen):
        seen, i = room.seen[depth, s], places[room.flag_order[depth, _SEEN, s]]
        other, both = room.weights[depth, i, i], weights[i]
        neither = total - own - other + both
        for k in range(n):
            without, with_it = seen[LEFT, k], seen[RIGHT, k]
            end[LEFT, k] = max(end[LEFT, k], without - (own - both), with_it - both)
            end[RIGHT, k] = max(
                end[RIGHT, k], with_it - (other - both), without - neither
            )


@kernel
def _hint(problem, weights, total, a, whole, hints):
    """Put down what trees of all rows say of the roots of both sides."""
    own = weights[problem.places[a], problem.places[a]]
    for b in range(whole.shape[0]):
        for k in range(whole.shape[1]):
            hints[0, b, k] = max(0.0, whole[b, k] - own)
            hints[1, b, k] = max(0.0, whole[b, k] - (total - own))


_search_sides, _search_whole = ladder(
    shallow_by(one_level_of_flags, two_levels_of_flags),
    deeper_by(_by_flags, 0.0),
    _divide,
)
