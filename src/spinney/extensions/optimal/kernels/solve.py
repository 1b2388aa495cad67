"""Branch and bound over the cuts of attributes.

The loss of the best tree of a depth never falls when rows come in, and rises by no more
than they can add (``most``). So of two cuts i < k of one attribute whose best subtrees
lose L and R on the left and on the right, every cut j between them loses at least ::

    max(Lᵢ, Lₖ − weight from j to k)  +  max(Rₖ, Rᵢ − weight from i to j)

and those where that is no less than the best tree found so far are never looked at. At
the ends, where one side has no rows, the other is all of them: a tree of less depth. A
subtree is sought within a budget; where there is none, the budget is a bound, and one
with some slack is a better one for the cuts beside it.

The same holds of all trees whose root asks about one attribute, if more rows may also
make a tree of less depth of them. So every subtree leaves a bound for each attribute of
its root (``told``), and those of the two cuts beside it say which attributes the root
of the next need not try (``hints``).
"""

from spinney._support.jit.compile import entry, kernel
from spinney.extensions.optimal.kernels.layout import LANES, MOST_TOLD
from spinney.extensions.optimal.kernels.sides import (
    aim,
    are_worth_it,
    deeper_by,
    in_leaves,
    ladder,
    one_level,
    shallow_by,
    take_if_less,
    tell_all,
    toll_of,
)
from spinney.extensions.optimal.kernels.sizes import (
    HUGE,
    LEFT,
    RIGHT,
    TOLD,
    WEIGHT,
    joined,
    joined_between,
    may_be_less,
    may_join_to_less,
    put_between,
    put_end,
    put_line,
    put_one_level,
)
from spinney.extensions.optimal.kernels.stumps import add_row, leaf_loss, stumps_beside

# Of ``taken`` and ``pick_ends``: both ends of an interval, and what is between them.
_FIRST, _MIDDLE, _LAST = range(3)
# How much more than needed a subtree may lose, as a share of its rows' loss in a leaf.
SLACK = 0.15


@entry
def search_subtrees(problem, room, depth, cut, budget, end, told, found):
    """Find the least loss of a tree of all rows, or of both sides of a cut of them.

    A cut is an attribute and a position of its order; its sides together may lose the
    ``budget``. ``end`` has bounds on the losses of both, which become losses, or bounds
    that are no less than needed. If the attribute is -1, a tree of all rows may lose
    it; ``found`` are the attribute and the position that its root asks, the left's
    share of leaves, and its losses. ``told`` has bounds for the attributes of either
    side's root, and leaves better ones.
    """
    if cut[0] >= 0:
        put_line(room.goal[depth], budget)
        _search_sides(problem, room, depth, cut[0], cut[1], end, told)
    else:
        put_line(room.budget[depth], budget)
        found[0], found[1], found[2] = _search_whole(problem, room, depth, told[0])
        put_line(found[3:], room.best[depth])


@kernel
def _divide(problem, room, depth, order, n_rows, attribute, position):
    """Divide rows, kept in the order of every attribute, by a cut."""
    side, rank = room.side, problem.rank
    for i in range(n_rows):
        side[order[attribute, i]] = 1 if i > position else 0
    n_left, n_right = position + 1, n_rows - position - 1
    left, right = room.order[depth - 1, 0], room.order[depth - 1, 1]
    for a in range(order.shape[0]):
        here, there = 0, 0
        for i in range(n_rows):
            row = order[a, i]
            if side[row]:
                right[a, there] = row
                there += 1
            else:
                left[a, here] = row
                here += 1
        _mark_last(rank[a], left[a], n_left, room.last[depth - 1, 0, a])
        _mark_last(rank[a], right[a], n_right, room.last[depth - 1, 1, a])
    return n_left, n_right


@kernel
def _mark_last(rank, order, n_rows, last):
    """Mark the rows that are followed by another value."""
    for i in range(n_rows - 1):
        last[i] = 1 if rank[order[i]] != rank[order[i + 1]] else 0
    last[n_rows - 1] = 0


def _by_cuts(sides):
    """Return who tries all cuts of all attributes at the root of a subtree."""

    @kernel
    def try_roots(problem, room, depth, order, last, n_rows, told, question):
        told_by, toll = room.told[depth], toll_of(problem, room.totals[depth])
        for a in range(told.shape[0]):
            put_line(told_by[1, 0, a], told_by[0, 1, a])
        tell_all(told_by[0, 0], 0.0)
        tell_all(told_by[1, 1], 0.0)
        for a in range(order.shape[0]):
            if not may_be_less(told[a], room.best[depth], problem.sizes[depth]):
                continue
            top, n_told = _begin(problem, room, depth, order[a], last[a], n_rows), 2
            while top > 0 and not problem.stop[0]:
                top -= 1
                if not _take_middle(problem, room, depth, top):
                    continue
                low, high = room.intervals[depth, top, 0], room.intervals[depth, top, 1]
                at = room.cuts[depth, (low + high) // 2]
                own = min(n_told, MOST_TOLD - 1)
                n_told += 1
                end = room.taken[depth, _MIDDLE]
                _hint(told_by, room.taken[depth], told_by[own])
                end[TOLD, 0] = own
                if may_join_to_less(
                    end[LEFT], end[RIGHT], room.goal[depth], problem, depth
                ):
                    n_left, n_right = _divide(
                        problem, room, depth, order, n_rows, a, at
                    )
                    leaves = in_leaves(problem, room, depth, n_left, n_right)
                    if are_worth_it(problem, room, depth, leaves, end):
                        sides(problem, room, depth, n_left, n_right, end, told_by[own])
                        share = take_if_less(problem, room, depth, toll, end)
                        if share >= 0:
                            question = a, at, share
                if own == MOST_TOLD - 1:  # the next one is put there, too
                    tell_all(told_by[own, 0], 0.0)
                    tell_all(told_by[own, 1], 0.0)
                _leave_out(problem, room, depth, end, end)
                top = _push_beside(problem, room, depth, top, low, high)
            _tell(problem, room, depth, told[a], toll)
        return question

    return try_roots


@kernel
def _begin(problem, room, depth, order, last, n_rows):
    """Make one interval of all cuts of an attribute; return how many are left."""
    cuts, weight = room.cuts[depth], room.weight[depth]
    n_cuts, total = 0, 0.0
    for i in range(n_rows):
        total += problem.most[order[i]]
        weight[i] = total
        if last[i]:
            cuts[n_cuts] = i
            n_cuts += 1
    first, second = room.rims[depth, 0], room.rims[depth, 1]
    first[WEIGHT, 0], second[WEIGHT, 0] = 0.0, total
    first[TOLD, 0], second[TOLD, 0] = 0.0, 1.0
    for k in range(problem.sizes[depth - 1]):
        first[LEFT, k] = second[RIGHT, k] = 0.0
        first[RIGHT, k] = second[LEFT, k] = room.less[depth, k]
    for k in range(problem.sizes[depth]):
        room.least[depth, k] = HUGE
    return _push(problem, room, depth, 0, 0, n_cuts - 1, first, second)


@kernel
def _take_middle(problem, room, depth, top):
    """Take an interval from the stack, with bounds of its middle.

    Return whether any of its cuts may lose less than is wanted.
    """
    taken, ends = room.taken[depth], room.ends[depth, top]
    if not may_join_to_less(
        ends[0, LEFT], ends[1, RIGHT], room.goal[depth], problem, depth
    ):
        _leave_out(problem, room, depth, ends[0], ends[1])
        return False
    low, high = room.intervals[depth, top, 0], room.intervals[depth, top, 1]
    weight = room.weight[depth, room.cuts[depth, (low + high) // 2]]
    n = problem.sizes[depth - 1]
    put_end(taken[_FIRST], ends[0], n)
    put_end(taken[_LAST], ends[1], n)
    put_between(taken[_FIRST], taken[_LAST], weight, taken[_MIDDLE], n)
    return True


@kernel
def _push_beside(problem, room, depth, top, low, high):
    """Stack what is left of an interval on both sides of its middle."""
    taken, middle = room.taken[depth], (low + high) // 2
    first, end, last = taken[_FIRST], taken[_MIDDLE], taken[_LAST]
    top = _push(problem, room, depth, top, low, middle - 1, first, end)
    return _push(problem, room, depth, top, middle + 1, high, end, last)


@kernel
def _leave_out(problem, room, depth, first, last):
    """Keep the least bound of cuts between two ends, which need not be looked at."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    for k in range(problem.sizes[depth]):
        bound = joined(first[LEFT], last[RIGHT], k, n, step)
        room.least[depth, k] = min(room.least[depth, k], bound)


@kernel
def _tell(problem, room, depth, told, toll):
    """Put down what is known of the trees whose root asks about an attribute."""
    for k in range(problem.sizes[depth]):
        told[k] = max(told[k], room.least[depth, k] + toll)


@kernel
def _hint(told, taken, hints):
    """Put down what two cuts say of the roots on both sides of one between them.

    The left has more rows than that of the first cut, and as many less than that of the
    second as weigh ``before``; the right has them the other way round.
    """
    first, second = told[int(taken[_FIRST, TOLD, 0])], told[int(taken[_LAST, TOLD, 0])]
    weight = taken[_MIDDLE, WEIGHT, 0]
    before = taken[_LAST, WEIGHT, 0] - weight
    after = weight - taken[_FIRST, WEIGHT, 0]
    for a in range(hints.shape[1]):
        for k in range(hints.shape[2]):
            hints[0, a, k] = max(first[0, a, k], second[0, a, k] - before)
            hints[1, a, k] = max(second[1, a, k], first[1, a, k] - after)


@kernel
def _push(problem, room, depth, top, low, high, first, last):
    """Leave the cuts out that the ends of their interval exclude; stack the others.

    ``room.least`` keeps the least bound of those that are left out.
    """
    if low > high:
        return top
    if not may_join_to_less(first[LEFT], last[RIGHT], room.goal[depth], problem, depth):
        _leave_out(problem, room, depth, first, last)
        return top
    while low <= high and _excluded(problem, room, depth, low, first, last):
        low += 1
    while low <= high and _excluded(problem, room, depth, high, first, last):
        high -= 1
    if low > high:
        return top
    room.intervals[depth, top, 0], room.intervals[depth, top, 1] = low, high
    put_end(room.ends[depth, top, 0], first, problem.sizes[depth - 1])
    put_end(room.ends[depth, top, 1], last, problem.sizes[depth - 1])
    return top + 1


@kernel
def _excluded(problem, room, depth, cut, first, last):
    """Return whether the ends of its interval exclude a cut; keep its bound if so."""
    n, step = problem.sizes[depth - 1], problem.sizes[-1]
    weight, n_entries = room.weight[depth, room.cuts[depth, cut]], problem.sizes[depth]
    for k in range(n_entries):
        bound = joined_between(first, last, weight, k, n, step)
        if bound < room.goal[depth, k]:
            return False
    for k in range(n_entries):
        bound = joined_between(first, last, weight, k, n, step)
        room.least[depth, k] = min(room.least[depth, k], bound)
    return True


@kernel
def _two_levels(problem, room, order, last, n_rows, leaf, toll, told):
    """Find the best tree of depth two: eight cuts of its root at a time."""
    question = one_level(problem, room, order, last, n_rows, leaf, toll)
    question = aim(problem, room, 2, SLACK * leaf, toll, question)
    cuts, picks = room.cuts[2], room.picks
    for a in range(order.shape[0]):
        worth = may_be_less(told[a], room.best[2], problem.sizes[2])
        if not worth or problem.stop[0]:
            continue
        top = _begin(problem, room, 2, order[a], last[a], n_rows)
        if top:
            _add_up(problem, room.upto, order[a], n_rows)
        while top > 0 and not problem.stop[0]:
            top, n_picks = _pick(problem, room, top)
            if n_picks == 0:
                break
            _fill_lanes(problem, room, order[a], n_picks, a)
            stumps_beside(problem, order, last, n_rows, problem.rank[a], room.lanes)
            for q in range(n_picks):
                at = cuts[picks[q, 0]]
                end = room.pick_ends[q, _MIDDLE]
                _put_losses(problem, room, q, at, end)
                _leave_out(problem, room, 2, end, end)
                share = take_if_less(problem, room, 2, toll, end)
                if share >= 0:
                    question = a, at, share
            top = _push_between(problem, room, top, n_picks)
        _tell(problem, room, 2, told[a], toll)
    return question


@kernel
def _add_up(problem, upto, order, n_rows):
    """Sum up the rows to each position."""
    for i in range(n_rows):
        for k in range(upto.shape[1]):
            upto[i, k] = upto[i - 1, k] if i else 0.0
        add_row(problem, order[i], upto[i], 1.0)
        upto[i, -1] += problem.asked[order[i]]


@kernel
def _pick(problem, room, top):
    """Take cuts of the intervals on top, spread over each, until the lanes are full."""
    intervals, picks, goal = room.intervals[2], room.picks, room.goal[2]
    n_picks = 0
    while top > 0 and n_picks < LANES:
        top -= 1
        ends = room.ends[2, top]
        if not may_join_to_less(ends[0, LEFT], ends[1, RIGHT], goal, problem, 2):
            _leave_out(problem, room, 2, ends[0], ends[1])
            continue
        low, high = intervals[top, 0], intervals[top, 1]
        free, width = LANES - n_picks, high - low + 1
        n = min(free if top == 0 else max(1, free // 2), width)
        for q in range(n):
            picks[n_picks, 0] = low + (width * (2 * q + 1)) // (2 * n)
            picks[n_picks, 1] = low if q == 0 else -1
            picks[n_picks, 2] = high if q == n - 1 else -1
            if q == 0:
                put_end(room.pick_ends[n_picks, _FIRST], ends[0], problem.sizes[1])
            if q == n - 1:
                put_end(room.pick_ends[n_picks, _LAST], ends[1], problem.sizes[1])
            n_picks += 1
    return top, n_picks


@kernel
def _fill_lanes(problem, room, order, n_picks, attribute):
    """Put the ranks of the cuts into the lanes, and the totals on both sides."""
    lanes, totals = room.lanes, room.totals[1]
    n = len(totals) - 1
    for q in range(LANES):
        at = room.cuts[2, room.picks[min(q, n_picks - 1), 0]]
        lanes[q] = problem.rank[attribute, order[at]]
        for k in range(n):
            lanes[(1 + k) * LANES + q] = room.upto[at, k]
            lanes[(1 + n + k) * LANES + q] = totals[k] - room.upto[at, k]


@kernel
def _put_losses(problem, room, q, at, end):
    """Put down the losses of the best leaf or question on both sides of a cut."""
    upto, totals, spare = room.upto[at], room.totals[1], room.totals[0]
    losses, n = (2 * len(totals) - 1) * LANES + q, problem.sizes[1]
    end[WEIGHT, 0] = room.weight[2, at]
    stump = room.lanes[losses] + toll_of(problem, upto)
    put_one_level(end[LEFT], n, leaf_loss(problem, upto), stump)
    for k in range(len(totals)):
        spare[k] = totals[k] - upto[k]
    stump = room.lanes[losses + LANES] + toll_of(problem, spare)
    put_one_level(end[RIGHT], n, leaf_loss(problem, spare), stump)


@kernel
def _push_between(problem, room, top, n_picks):
    """Stack what is left between the cuts that were looked at."""
    picks = room.picks
    for q in range(n_picks):
        cut, ends = picks[q, 0], room.pick_ends[q]
        end = ends[_MIDDLE]
        if picks[q, 1] >= 0:
            low = picks[q, 1]
            top = _push(problem, room, 2, top, low, cut - 1, ends[_FIRST], end)
        if picks[q, 2] >= 0:
            high, after = picks[q, 2], ends[_LAST]
        else:
            high, after = picks[q + 1, 0] - 1, room.pick_ends[q + 1, _MIDDLE]
        top = _push(problem, room, 2, top, cut + 1, high, end, after)
    return top


_search_sides, _search_whole = ladder(
    shallow_by(one_level, _two_levels), deeper_by(_by_cuts, SLACK), _divide
)
