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
from spinney.growth.optimal.loops.layout import LANES, MOST_TOLD
from spinney.growth.optimal.loops.sides import SLACK, both_sides, in_a_leaf, tell_all
from spinney.growth.optimal.loops.stumps import (
    add_row,
    best_stump,
    leaf_loss,
    stumps_beside,
)


@entry
def search_subtrees(problem, room, depth, attribute, position, known, told, found):
    """Find the least loss of a tree of all rows, or of both sides of a cut of them.

    With an attribute, the cut is at a position of its order; ``known`` are bounds on
    the losses of both sides and the loss to be beaten; their losses are ``found``, or
    bounds that are no less than needed. Without one, -1, it is the loss of a tree of
    this depth, and what its root asks; the last of ``known`` is the budget. ``told``
    has bounds for the attributes of either side's root, and leaves better ones.
    """
    order, last = problem.order, problem.last
    n_rows, budget = order.shape[1], known[2]
    loss, a, at = 0.0, -1, -1
    if attribute >= 0:
        n_left, n_right = _divide(
            problem, room, depth, order, n_rows, attribute, position
        )
        low, high = known[0], known[1]
        if depth <= 3:
            low, high = _sides_3(
                problem, room, depth, n_left, n_right, low, high, budget, told
            )
        elif depth == 4:
            low, high = _sides_4(
                problem, room, depth, n_left, n_right, low, high, budget, told
            )
        else:
            low, high = _sides_5(
                problem, room, depth, n_left, n_right, low, high, budget, told
            )
        found[0], found[1] = low, high
        return
    if depth <= 2:
        loss, a, at = _shallow(
            problem, room, depth, order, last, n_rows, budget, told[0]
        )
    elif depth == 3:
        loss, a, at = _solve_3(
            problem, room, depth, order, last, n_rows, budget, told[0]
        )
    elif depth == 4:
        loss, a, at = _solve_4(
            problem, room, depth, order, last, n_rows, budget, told[0]
        )
    else:
        loss, a, at = _solve_5(
            problem, room, depth, order, last, n_rows, budget, told[0]
        )
    found[0], found[1], found[2] = loss, a, at


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


@kernel
def _shallow(problem, room, depth, order, last, n_rows, budget, told):
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
    return _depth_two(problem, room, order, last, n_rows, budget + SLACK * leaf, told)


def _deeper(solve, sides):
    """Return the solver of one level more.

    A loop that calls itself could not be kept on the disk.
    """

    @kernel
    def deeper(problem, room, depth, order, last, n_rows, budget, told):
        leaf = in_a_leaf(problem, room.totals[depth], order, n_rows)
        price = problem.price[0]
        if n_rows < 2 or leaf <= 2 * price or problem.stop[0]:
            tell_all(told, leaf)
            return leaf, -1, -1
        # Of all rows, on one side of a cut that leaves none for the other.
        ends_told = room.told[depth]
        tell_all(ends_told[0, 0], 0.0)
        tell_all(ends_told[0, 1], 0.0)
        less, attribute, position = solve(
            problem, room, depth - 1, order, last, n_rows, budget, ends_told[0, 1]
        )
        for a in range(len(told)):
            ends_told[1, 0, a] = ends_told[0, 1, a]
            ends_told[1, 1, a] = 0.0
        # Those that only just miss the budget are found too: what they lose is a bound.
        best = min(budget + SLACK * leaf, less)
        if less > best:
            attribute, position = -1, -1
        cuts, weight = room.cuts[depth], room.weight[depth]
        intervals, ends = room.intervals[depth], room.ends[depth]
        least = room.least[depth]
        for a in range(order.shape[0]):
            if told[a] >= best:
                continue
            least[0], n_told = less, 2
            n_cuts = _cuts_of(problem, order[a], last[a], n_rows, cuts, weight)
            w1, top = weight[n_rows - 1], 0
            top = _push(
                room, depth, top, 0, n_cuts - 1, 0.0, price, less, w1, less, price, best
            )
            if top:
                intervals[0, 2], intervals[0, 3] = 0, 1
            while top > 0 and not problem.stop[0]:
                top -= 1
                low, high = intervals[top, 0], intervals[top, 1]
                first, second = intervals[top, 2], intervals[top, 3]
                w0, l0, r0 = ends[top, 0], ends[top, 1], ends[top, 2]
                w1, l1, r1 = ends[top, 3], ends[top, 4], ends[top, 5]
                if l0 + r1 >= best:
                    least[0] = min(least[0], l0 + r1)
                    continue
                middle = (low + high) // 2
                at = cuts[middle]
                w = weight[at]
                left, right = max(l0, l1 - (w1 - w)), max(r1, r0 - (w - w0))
                own = min(n_told, MOST_TOLD - 1)
                _hint(
                    ends_told[first],
                    ends_told[second],
                    w - w0,
                    w1 - w,
                    ends_told[own],
                )
                n_told += 1
                if left + right < best:
                    n_left, n_right = _divide(
                        problem, room, depth, order, n_rows, a, at
                    )
                    left, right = sides(
                        problem,
                        room,
                        depth,
                        n_left,
                        n_right,
                        left,
                        right,
                        best,
                        ends_told[own],
                    )
                    if left + right < best:
                        best, attribute, position = left + right, a, at
                least[0] = min(least[0], left + right)
                if own == MOST_TOLD - 1:  # the next one is put there, too
                    tell_all(ends_told[own, 0], 0.0)
                    tell_all(ends_told[own, 1], 0.0)
                below = top
                top = _push(
                    room, depth, top, low, middle - 1, w0, l0, r0, w, left, right, best
                )
                if top > below:
                    intervals[below, 2], intervals[below, 3] = first, own
                below = top
                top = _push(
                    room, depth, top, middle + 1, high, w, left, right, w1, l1, r1, best
                )
                if top > below:
                    intervals[below, 2], intervals[below, 3] = own, second
            told[a] = max(told[a], least[0])
        for a in range(len(told)):
            told[a] = min(told[a], less)
        return best, attribute, position

    return deeper


@kernel
def _hint(first, second, after, before, hints):
    """Put down what two cuts say of the roots on both sides of one between them.

    The left has more rows than that of the first cut, and as many less than that of the
    second as weigh ``before``; the right has them the other way round.
    """
    for a in range(hints.shape[1]):
        hints[0, a] = max(first[0, a], second[0, a] - before)
        hints[1, a] = max(second[1, a], first[1, a] - after)


@kernel
def _cuts_of(problem, order, last, n_rows, cuts, weight):
    """Find the positions of cuts, and what the rows up to each position can lose."""
    n_cuts, total = 0, 0.0
    for i in range(n_rows):
        total += problem.most[order[i]]
        weight[i] = total
        if last[i]:
            cuts[n_cuts] = i
            n_cuts += 1
    return n_cuts


@kernel
def _push(room, depth, top, low, high, w0, l0, r0, w1, l1, r1, best):
    """Leave the cuts out that the ends of their interval exclude; stack the others.

    ``room.least`` keeps the least bound of those that are left out.
    """
    cuts, weight, least = room.cuts[depth], room.weight[depth], room.least[depth]
    if low > high:
        return top
    if l0 + r1 >= best:
        least[0] = min(least[0], l0 + r1)
        return top
    while low <= high:
        w = weight[cuts[low]]
        bound = max(l0, l1 - (w1 - w)) + max(r1, r0 - (w - w0))
        if bound < best:
            break
        least[0] = min(least[0], bound)
        low += 1
    while low <= high:
        w = weight[cuts[high]]
        bound = max(l0, l1 - (w1 - w)) + max(r1, r0 - (w - w0))
        if bound < best:
            break
        least[0] = min(least[0], bound)
        high -= 1
    if low > high:
        return top
    interval, ends = room.intervals[depth, top], room.ends[depth, top]
    interval[0], interval[1] = low, high
    ends[0], ends[1], ends[2] = w0, l0, r0
    ends[3], ends[4], ends[5] = w1, l1, r1
    return top + 1


@kernel
def _depth_two(problem, room, order, last, n_rows, wanted, told):
    """Return the best tree of depth two: eight cuts of its root at a time."""
    totals, price, least = room.totals[2], problem.price[0], room.least[2]
    one, attribute, position = best_stump(
        problem, order, last, n_rows, totals, room.upto[0]
    )
    best = min(wanted, one)
    if one > best:
        attribute, position = -1, -1
    cuts, weight, picks = room.cuts[2], room.weight[2], room.picks
    for a in range(order.shape[0]):
        if told[a] >= best or problem.stop[0]:
            continue
        least[0] = one
        n_cuts = _cuts_of(problem, order[a], last[a], n_rows, cuts, weight)
        w1 = weight[n_rows - 1]
        top = _push(room, 2, 0, 0, n_cuts - 1, 0.0, price, one, w1, one, price, best)
        if top:
            _add_up(problem, room.upto, order[a], n_rows)
        while top > 0 and not problem.stop[0]:
            top, n_picks = _pick(room, top, best)
            if n_picks == 0:
                break
            _fill_lanes(problem, room, order[a], n_picks, a, totals)
            stumps_beside(problem, order, last, n_rows, problem.rank[a], room.lanes)
            for q in range(n_picks):
                at = cuts[picks[q, 0]]
                left, right = _losses(problem, room, q, at, totals)
                least[0] = min(least[0], left + right)
                if left + right < best:
                    best, attribute, position = left + right, a, at
            top = _push_between(room, top, n_picks, best)
        told[a] = max(told[a], least[0])
    for a in range(len(told)):
        told[a] = min(told[a], one)
    return best, attribute, position


@kernel
def _add_up(problem, upto, order, n_rows):
    """Sum up the rows to each position."""
    for i in range(n_rows):
        for k in range(upto.shape[1]):
            upto[i, k] = upto[i - 1, k] if i else 0.0
        add_row(problem, order[i], upto[i], 1.0)


@kernel
def _pick(room, top, best):
    """Take cuts of the intervals on top, spread over each, until the lanes are full."""
    intervals, ends, picks = room.intervals[2], room.ends[2], room.picks
    n_picks = 0
    while top > 0 and n_picks < LANES:
        top -= 1
        if ends[top, 1] + ends[top, 5] >= best:
            room.least[2, 0] = min(room.least[2, 0], ends[top, 1] + ends[top, 5])
            continue
        low, high = intervals[top, 0], intervals[top, 1]
        free, width = LANES - n_picks, high - low + 1
        n = min(free if top == 0 else max(1, free // 2), width)
        for q in range(n):
            picks[n_picks, 0] = low + (width * (2 * q + 1)) // (2 * n)
            picks[n_picks, 1] = low if q == 0 else -1
            picks[n_picks, 2] = high if q == n - 1 else -1
            for k in range(6):
                room.pick_ends[n_picks, k] = ends[top, k]
            n_picks += 1
    return top, n_picks


@kernel
def _fill_lanes(problem, room, order, n_picks, attribute, totals):
    """Put the ranks of the cuts into the lanes, and the totals on both sides."""
    lanes, n = room.lanes, len(totals)
    for q in range(LANES):
        at = room.cuts[2, room.picks[min(q, n_picks - 1), 0]]
        lanes[q] = problem.rank[attribute, order[at]]
        for k in range(n):
            lanes[(1 + k) * LANES + q] = room.upto[at, k]
            lanes[(1 + n + k) * LANES + q] = totals[k] - room.upto[at, k]


@kernel
def _losses(problem, room, q, at, totals):
    """Return the losses of the best leaf or question on both sides, and keep them."""
    lanes, n, price = room.lanes, len(totals), problem.price[0]
    losses, spare = (1 + 2 * n) * LANES, room.totals[0]
    for k in range(n):
        spare[k] = room.upto[at, k]
    left = min(leaf_loss(problem, spare), lanes[losses + q] + 2 * price)
    for k in range(n):
        spare[k] = totals[k] - room.upto[at, k]
    right = min(leaf_loss(problem, spare), lanes[losses + LANES + q] + 2 * price)
    lanes[losses + q], lanes[losses + LANES + q] = left, right
    return left, right


@kernel
def _push_between(room, top, n_picks, best):
    """Stack what is left between the cuts that were looked at."""
    cuts, weight, picks = room.cuts[2], room.weight[2], room.picks
    losses = (1 + 2 * room.totals.shape[1]) * LANES
    for q in range(n_picks):
        cut, w = picks[q, 0], weight[cuts[picks[q, 0]]]
        left, right = room.lanes[losses + q], room.lanes[losses + LANES + q]
        e = room.pick_ends[q]
        if picks[q, 1] >= 0:
            first = picks[q, 1]
            top = _push(
                room, 2, top, first, cut - 1, e[0], e[1], e[2], w, left, right, best
            )
        if picks[q, 2] >= 0:
            w1, l1, r1, last = e[3], e[4], e[5], picks[q, 2]
        else:
            w1, last = weight[cuts[picks[q + 1, 0]]], picks[q + 1, 0] - 1
            l1, r1 = room.lanes[losses + q + 1], room.lanes[losses + LANES + q + 1]
        top = _push(room, 2, top, cut + 1, last, w, left, right, w1, l1, r1, best)
    return top


_sides_3 = both_sides(_shallow)
_solve_3 = _deeper(_shallow, _sides_3)
_sides_4 = both_sides(_solve_3)
_solve_4 = _deeper(_solve_3, _sides_4)
_sides_5 = both_sides(_solve_4)
_solve_5 = _deeper(_solve_4, _sides_5)
