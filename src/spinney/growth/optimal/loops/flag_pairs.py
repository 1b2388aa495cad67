"""The best tree of depth two where every column is a flag: from sums of pairs.

What the rows with flag i and flag j have in sum says everything of the trees that ask
for i and then for j, or for j and then for i; i = j has the sums of single flags::

                 j         not j
    i          p(i, j)   p(i) − p(i, j)            p(i) = p(i, i)
    not i      p(j) − p(i, j)   p() − p(i) − p(j) + p(i, j)

So one walk over the rows answers for all roots and all questions below them, where a
walk for each root would be needed else. A row is in as many pairs as it has flags: what
fewer rows have than not is the flag, either way round being the same question.

The loss of a leaf is what its rows cost under a label that is not in ``numbers``
(``base``), and what the best of the labels there saves of it.
"""

from spinney._support.jit.compile import kernel
from spinney.growth.optimal.loops.layout import Family
from spinney.growth.optimal.loops.sides import take_if_less
from spinney.growth.optimal.loops.sizes import (
    HUGE,
    LEFT,
    RIGHT,
    joined,
    put_one_level,
)
from spinney.growth.optimal.loops.stumps import explained

# Lines of ``flag_lines``, an entry a flag: rows that have it, what they cost, and what
# it costs to ask them; what the best questions below it and beside it save, and the
# four leaves of a pair.
_ROWS, _BASE, _ASKED, _WITH, _WITHOUT, _BOTH, _FIRST, _SECOND, _NEITHER = range(9)
FLAG_LINES = 9


@kernel
def two_levels_of_flags(problem, room, order, _last, n_rows, leaf, toll, told):
    """Find the best tree of depth two.

    Each attribute is ``told`` the least of trees that ask about it first. The budget
    is not looked at: all losses are at hand.
    """
    rows, n, end = order[0], problem.sizes[2], room.taken[2, 0]
    cost = _add_pairs(problem, room, rows, n_rows)
    if problem.family[0] == Family.MOMENTS:
        _explain(problem, room)
    else:
        _label(room)
    lines, n_flags = room.flag_lines, room.pairs.shape[1]
    attribute, share = _one_level(problem, room, n_rows, cost, leaf, toll), 0
    for k in range(n):
        room.less[2, k] = room.best[2, k] = room.best[1, min(k, problem.sizes[1] - 1)]
        room.goal[2, k] = room.best[2, k] - toll
    for a in range(n_flags):
        if 0 < lines[_ROWS, a] < n_rows:
            _put_losses(problem, room, a, cost, toll, end)
            for k in range(n):
                both = _joined(problem, end, k) + toll
                told[a, k] = max(told[a, k], both)
            taken = take_if_less(problem, room, 2, toll, end)
            if taken >= 0:
                attribute, share = a, share_of_zeros(problem, 2, a, taken)
        else:
            for k in range(n):
                told[a, k] = leaf
    return attribute, last_without(problem, rows, n_rows, attribute), share


@kernel
def share_of_zeros(problem, depth, a, share):
    """Return the share of the rows of value 0, from that of rows without a flag."""
    if problem.turned[a]:
        return problem.sizes[depth] - 1 - problem.sizes[-1] - share
    return share


@kernel
def _joined(problem, end, k):
    """Return what both sides of a flag lose."""
    return joined(end[LEFT], end[RIGHT], k, problem.sizes[1], problem.sizes[-1])


@kernel
def _put_losses(problem, room, a, cost, toll, end):
    """Put down what rows without a flag lose in one question at most, and with it."""
    lines, n, price = room.flag_lines, problem.sizes[1], problem.price[0]
    below, beside = lines[_BASE, a], cost - lines[_BASE, a]
    leaf = max(0.0, below + _saved(problem, room, a, 1))
    stump = max(0.0, below + lines[_WITH, a]) + price + lines[_ASKED, a]
    put_one_level(end[RIGHT], n, leaf, stump)
    leaf = max(0.0, beside + _saved(problem, room, a, 0))
    stump = max(0.0, beside + lines[_WITHOUT, a]) + toll - lines[_ASKED, a]
    put_one_level(end[LEFT], n, leaf, stump)


@kernel
def _single_loss(problem, room, a, cost):
    """Return the loss of both leaves of a flag."""
    below = room.flag_lines[_BASE, a]
    first = max(0.0, below + _saved(problem, room, a, 1))
    return first + max(0.0, cost - below + _saved(problem, room, a, 0))


@kernel
def _one_level(problem, room, n_rows, cost, leaf, toll):
    """Put down the loss of the best tree of one question at most; return its flag."""
    least, attribute = HUGE, -1
    for a in range(room.pairs.shape[1]):
        if 0 < room.flag_lines[_ROWS, a] < n_rows:
            loss = _single_loss(problem, room, a, cost) + toll
            if loss < least:
                least, attribute = loss, a
    put_one_level(room.best[1], problem.sizes[1], leaf, least)
    return attribute if least < leaf else -1


@kernel
def last_without(problem, rows, n_rows, attribute):
    """Return the position of the cut of a flag, in the order of its ranks."""
    position = -1
    if attribute >= 0:
        for i in range(n_rows):
            position += 1 - problem.rank[attribute, rows[i]]
    return position


@kernel
def _add_pairs(problem, room, rows, n_rows):
    """Add up what rows have, by pairs of flags; return what all of them cost."""
    pairs, lines, cost = room.pairs, room.flag_lines, 0.0
    n_numbers, n_flags = pairs.shape[0], pairs.shape[1]
    for k in range(n_numbers):
        room.flag_totals[k] = 0.0
        for i in range(n_flags):
            for j in range(i, n_flags):
                pairs[k, i, j] = 0.0
    for i in range(n_flags):
        lines[_ROWS, i] = lines[_BASE, i] = lines[_ASKED, i] = 0.0
    for r in range(n_rows):
        row = rows[r]
        ones, n, base = problem.ones[row], problem.n_ones[row], problem.base[row]
        cost += base
        for q in range(n):
            lines[_ROWS, ones[q]] += 1.0
            lines[_BASE, ones[q]] += base
        if problem.asked[row] != 0.0:
            for q in range(n):
                lines[_ASKED, ones[q]] += problem.asked[row]
        for k in range(n_numbers):
            number = problem.numbers[row, k]
            if number != 0.0:
                room.flag_totals[k] += number
                add_to_pairs(pairs[k], ones, n, number)
    for k in range(n_numbers):
        mirror(pairs[k])
        for i in range(n_flags):
            room.singles[k, i] = pairs[k, i, i]
    return cost


@kernel
def add_to_pairs(pairs, ones, n, number):
    """Add what a row has to the pairs of its flags, those above the diagonal."""
    for q in range(n):
        line = pairs[ones[q]]
        for s in range(q, n):
            line[ones[s]] += number


@kernel
def mirror(pairs):
    """Put what is above the diagonal below it, too."""
    for i in range(1, pairs.shape[0]):
        for j in range(i):
            pairs[i, j] = pairs[j, i]


@kernel
def _label(room):
    """Find what the best question below each flag, and beside it, saves by labels."""
    pairs, lines, n_flags = room.pairs, room.flag_lines, room.pairs.shape[1]
    for i in range(n_flags):
        lines[_WITH, i] = lines[_WITHOUT, i] = 0.0
    for j in range(n_flags):
        for i in range(n_flags):
            lines[_BOTH, i] = lines[_FIRST, i] = 0.0
            lines[_SECOND, i] = lines[_NEITHER, i] = 0.0
        for k in range(pairs.shape[0]):
            line, total, singles = pairs[k, j], room.flag_totals[k], room.singles[k]
            own = line[j]
            for i in range(n_flags):
                both, single = line[i], singles[i]
                second = own - both
                lines[_BOTH, i] = min(lines[_BOTH, i], both)
                lines[_FIRST, i] = min(lines[_FIRST, i], single - both)
                lines[_SECOND, i] = min(lines[_SECOND, i], second)
                lines[_NEITHER, i] = min(lines[_NEITHER, i], total - single - second)
        for i in range(n_flags):
            below = lines[_BOTH, i] + lines[_FIRST, i]
            beside = lines[_SECOND, i] + lines[_NEITHER, i]
            lines[_WITH, i] = min(lines[_WITH, i], below)
            lines[_WITHOUT, i] = min(lines[_WITHOUT, i], beside)


@kernel
def _explain(problem, room):
    """Find what the best question below each flag, and beside it, explains."""
    lines, least, n_flags = room.flag_lines, problem.price[1], room.pairs.shape[1]
    weights, sums = room.pairs[0], room.pairs[1]
    weight, total = room.flag_totals[0], room.flag_totals[1]
    for i in range(n_flags):
        lines[_WITH, i] = lines[_WITHOUT, i] = 0.0
    for j in range(n_flags):
        own, own_sum = weights[j, j], sums[j, j]
        for i in range(n_flags):
            w, y = weights[j, i], sums[j, i]
            w1, y1 = room.singles[0, i], room.singles[1, i]
            saved = explained(w, y, least) + explained(w1 - w, y1 - y, least)
            lines[_WITH, i] = min(lines[_WITH, i], -saved)
            w2, y2 = own - w, own_sum - y
            saved = explained(w2, y2, least)
            saved += explained(weight - w1 - w2, total - y1 - y2, least)
            lines[_WITHOUT, i] = min(lines[_WITHOUT, i], -saved)


@kernel
def _saved(problem, room, a, below):
    """Return what the best label, or the mean, saves below a flag or beside it."""
    singles, totals, saved = room.singles, room.flag_totals, 0.0
    if problem.family[0] == Family.MOMENTS:
        w, y = singles[0, a], singles[1, a]
        if not below:
            w, y = totals[0] - w, totals[1] - y
        return -explained(w, y, problem.price[1])
    for k in range(len(totals)):
        saved = min(saved, singles[k, a] if below else totals[k] - singles[k, a])
    return saved
