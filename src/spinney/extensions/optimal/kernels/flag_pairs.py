"""The best tree of depth two where every column is a flag: from sums of pairs.

What the rows with flag i and flag j have in sum says everything of the trees that ask
for i and then for j, or for j and then for i; i = j has the sums of single flags::

                 j         not j
    i          p(i, j)   p(i) − p(i, j)            p(i) = p(i, i)
    not i      p(j) − p(i, j)   p() − p(i) − p(j) + p(i, j)

So one walk over the rows answers for all roots and all questions below them, where a
walk for each root would be needed else. What fewer rows have than not is the flag,
either way round being the same question. Flags that come of one number are a *chain*:
rows that have one have all before it. So a row is put down where its last flags of two
chains meet, and sums from the ends of chains spread it over all of their pairs. Flags
stand by their ``places`` in chains here.

Where both sides of a flag are wanted, the fewer rows are counted, and what the others
have is the difference to all of them (``room.counted``).

The loss of a leaf is what its rows cost under a label that is not in ``numbers``
(``base``), and what the best of the labels there saves of it.
"""

from spinney._support.jit.compile import kernel
from spinney.extensions.optimal.kernels.layout import Family
from spinney.extensions.optimal.kernels.sides import take_if_less
from spinney.extensions.optimal.kernels.sizes import (
    HUGE,
    LEFT,
    RIGHT,
    joined,
    put_one_level,
)
from spinney.extensions.optimal.kernels.stumps import explained

# Lines of ``flag_sums``, an entry a flag and last one of all rows: how many they are,
# what they cost, and what it costs to ask them.
_ROWS, _BASE, _ASKED = range(3)
FLAG_SUMS = 3
# Lines of ``flag_lines``: what the best questions below a flag and beside it save, and
# the four leaves of a pair.
_WITH, _WITHOUT, _BOTH, _FIRST, _SECOND, _NEITHER = range(6)
FLAG_LINES = 6
# Of ``pairs`` and ``flag_sums``: of the rows at hand, and of all that a flag parts.
_HERE, _AROUND = range(2)
# What ``counted`` has: whether rows are a side of those around, and the other is here;
# whether all rows of the table are around; how many lack the flag that parts.
SIDE, _WHOLE_TABLE, N_WITHOUT = range(3)
NO_SIDE, A_SIDE, _OTHER_SIDE = range(3)
# So many lines and columns are mirrored at a time.
_TILE = 16


@kernel
def one_level_of_flags(problem, room, order, _last, n_rows, leaf, toll):
    """Put down the loss of the best tree of one question at most; return that one."""
    _count(problem, room, order[0], n_rows)
    return _one_level(problem, room, n_rows, leaf, toll), 0, 0


@kernel
def two_levels_of_flags(problem, room, order, _last, n_rows, leaf, toll, told):
    """Find the best tree of depth two.

    Each attribute is ``told`` the least of trees that ask about it first. The budget
    is not looked at: all losses are at hand.
    """
    n, end = problem.sizes[2], room.taken[2, 0]
    _count(problem, room, order[0], n_rows)
    family, n_flags = problem.family[0], room.pairs.shape[2]
    if family == Family.MOMENTS:
        _explain(problem, room)
    elif family == Family.PAIR:
        _label_two(room)
    else:
        _label(room)
    attribute, share = _one_level(problem, room, n_rows, leaf, toll), 0
    for k in range(n):
        room.less[2, k] = room.best[2, k] = room.best[1, min(k, problem.sizes[1] - 1)]
        room.goal[2, k] = room.best[2, k] - toll
    for a in range(n_flags):
        i = problem.places[a]
        if 0 < room.flag_sums[_HERE, _ROWS, i] < n_rows:
            _put_losses(problem, room, i, toll, end)
            for k in range(n):
                both = _joined(problem, end, k) + toll
                told[a, k] = max(told[a, k], both)
            taken = take_if_less(problem, room, 2, toll, end)
            if taken >= 0:
                attribute, share = a, share_of_zeros(problem, 2, a, taken)
        else:
            for k in range(n):
                told[a, k] = leaf
    return attribute, 0, share


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
def _put_losses(problem, room, i, toll, end):
    """Put down what rows without a flag lose in one question at most, and with it."""
    lines, sums, totals = (
        room.flag_lines,
        room.flag_sums[_HERE],
        room.flag_totals[_HERE],
    )
    n, price, asked = problem.sizes[1], problem.price[0], sums[_ASKED, i]
    below, beside = sums[_BASE, i], sums[_BASE, -1] - sums[_BASE, i]
    leaf = max(0.0, below + _saved(problem, room, i, 1, totals))
    stump = max(0.0, below + lines[_WITH, i]) + price + asked
    put_one_level(end[RIGHT], n, leaf, stump)
    leaf = max(0.0, beside + _saved(problem, room, i, 0, totals))
    stump = max(0.0, beside + lines[_WITHOUT, i]) + toll - asked
    put_one_level(end[LEFT], n, leaf, stump)


@kernel
def _single_loss(problem, room, i):
    """Return the loss of both leaves of a flag."""
    costs, totals = room.flag_sums[_HERE, _BASE], room.flag_totals[_HERE]
    first = max(0.0, costs[i] + _saved(problem, room, i, 1, totals))
    return first + max(0.0, costs[-1] - costs[i] + _saved(problem, room, i, 0, totals))


@kernel
def _one_level(problem, room, n_rows, leaf, toll):
    """Put down the loss of the best tree of one question at most; return its flag."""
    least, attribute = HUGE, -1
    for a in range(room.pairs.shape[2]):
        i = problem.places[a]
        if 0 < room.flag_sums[_HERE, _ROWS, i] < n_rows:
            loss = _single_loss(problem, room, i) + toll
            if loss < least:
                least, attribute = loss, a
    put_one_level(room.best[1], problem.sizes[1], leaf, least)
    return attribute if least < leaf else -1


@kernel
def _count(problem, room, rows, n_rows):
    """Add up what rows have, by pairs of flags, or take the other side off all."""
    n_others = int(room.flag_sums[_AROUND, _ROWS, -1]) - n_rows
    if room.counted[SIDE] == A_SIDE and n_others < n_rows:
        # Sides of one size do not get here, so that its size tells which side this is.
        other = 1 if n_rows == room.counted[N_WITHOUT] else 0
        _count_rows(problem, room, room.order[2, other, 0], n_others)
        room.counted[SIDE] = _OTHER_SIDE
    if room.counted[SIDE] == _OTHER_SIDE:
        _count_others(room)
    else:
        _count_rows(problem, room, rows, n_rows)
        if room.counted[SIDE] == A_SIDE:
            room.counted[SIDE] = _OTHER_SIDE
    pairs = room.pairs[_HERE]
    for k in range(pairs.shape[0]):
        for i in range(pairs.shape[1]):
            room.singles[k, i] = pairs[k, i, i]


@kernel
def _count_rows(problem, room, rows, n_rows):
    """Add up what rows have, by flags and by pairs of them."""
    _add_singles(problem, room.flag_sums[_HERE], rows, n_rows)
    for k in range(room.pairs.shape[1]):
        room.flag_totals[_HERE, k] = add_pairs(
            problem, room.pairs[_HERE, k], problem.numbers[k], rows, n_rows
        )


@kernel
def _count_others(room):
    """Take what was counted off that of all rows around."""
    for k in range(room.pairs.shape[1]):
        for i in range(room.pairs.shape[2]):
            _take_off(room.pairs[_HERE, k, i], room.pairs[_AROUND, k, i])
    for line in range(FLAG_SUMS):
        _take_off(room.flag_sums[_HERE, line], room.flag_sums[_AROUND, line])
    _take_off(room.flag_totals[_HERE], room.flag_totals[_AROUND])


@kernel
def _take_off(line, around):
    """Make of what some rows have that of the others."""
    for i in range(len(line)):
        line[i] = around[i] - line[i]


@kernel
def count_around(problem, room):
    """Count all rows of the table, unless they were counted: a flag is to part them."""
    if not room.counted[_WHOLE_TABLE]:
        _count(problem, room, problem.order[0], problem.order.shape[1])
        keep_around(room)
        room.counted[_WHOLE_TABLE] = 1
    room.counted[SIDE] = A_SIDE


@kernel
def keep_around(room):
    """Keep what was counted last as that of all rows that a flag parts."""
    room.counted[_WHOLE_TABLE] = 0
    for k in range(room.pairs.shape[1]):
        room.flag_totals[_AROUND, k] = room.flag_totals[_HERE, k]
        for i in range(room.pairs.shape[2]):
            _copy(room.pairs[_AROUND, k, i], room.pairs[_HERE, k, i])
    for line in range(FLAG_SUMS):
        _copy(room.flag_sums[_AROUND, line], room.flag_sums[_HERE, line])


@kernel
def _copy(into, line):
    """Copy a line."""
    for i in range(len(into)):
        into[i] = line[i]


@kernel
def _add_singles(problem, sums, rows, n_rows):
    """Add up rows, what they cost and what it costs to ask them, by flags."""
    n_flags, asked = sums.shape[1] - 1, False
    for line in range(FLAG_SUMS):
        for i in range(n_flags + 1):
            sums[line, i] = 0.0
    for r in range(n_rows):
        row = rows[r]
        base = problem.base[row]
        sums[_BASE, n_flags] += base
        asked |= problem.asked[row] != 0.0
        for q in range(problem.n_ones[row]):
            i = problem.ones[row, q]
            sums[_ROWS, i] += 1.0
            sums[_BASE, i] += base
    sums[_ROWS, n_flags] = n_rows
    if asked:
        for r in range(n_rows):
            row = rows[r]
            sums[_ASKED, n_flags] += problem.asked[row]
            for q in range(problem.n_ones[row]):
                sums[_ASKED, problem.ones[row, q]] += problem.asked[row]
    for i in range(n_flags - 2, -1, -1):
        if problem.ends[i] > i + 1:
            for line in range(FLAG_SUMS):
                sums[line, i] += sums[line, i + 1]


@kernel
def add_pairs(problem, pairs, numbers, rows, n_rows):
    """Add up the numbers of rows, by pairs of flags; return their sum."""
    n_flags, total = pairs.shape[0], 0.0
    for i in range(n_flags):
        for j in range(i, n_flags):
            pairs[i, j] = 0.0
    for r in range(n_rows):
        row = rows[r]
        number, ones, n = numbers[row], problem.ones[row], problem.n_ones[row]
        if number != 0.0:
            total += number
            for q in range(n):
                line = pairs[ones[q]]
                for s in range(q, n):
                    line[ones[s]] += number
    _spread(pairs, problem.ends)
    _mirror(pairs)
    return total


@kernel
def _spread(pairs, ends):
    """Spread what stands at the last flags of chains over all that rows have.

    It does above the diagonal, where a row stands but once in a chain. ``ends`` says
    where the chain of a flag ends.
    """
    n_flags = pairs.shape[0]
    for i in range(n_flags):
        line, more, end = pairs[i], 0.0, ends[i]
        for j in range(n_flags - 1, end - 1, -1):
            more = line[j] + (more if ends[j] > j + 1 else 0.0)
            line[j] = more
    for i in range(n_flags - 2, -1, -1):
        line, inner, end = pairs[i], pairs[i + 1], ends[i]
        if end > i + 1:
            for j in range(end, n_flags):
                line[j] += inner[j]
            line[i] += inner[i + 1]
            line[i + 1] = inner[i + 1]
            for j in range(i + 2, end):
                line[j] = inner[j]


@kernel
def _mirror(pairs):
    """Put what is above the diagonal below it, too."""
    n = pairs.shape[0]
    for top in range(0, n, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(left, min(left + _TILE, i)):
                    pairs[i, j] = pairs[j, i]


@kernel
def _label_two(room):
    """Find what the best question below each flag, and beside it, saves by two labels.

    As ``_label`` does, at once.
    """
    pairs, singles = room.pairs[_HERE, 0], room.singles[0]
    total = room.flag_totals[_HERE, 0]
    below, beside = room.flag_lines[_WITH], room.flag_lines[_WITHOUT]
    n_flags = pairs.shape[0]
    for i in range(n_flags):
        below[i] = beside[i] = 0.0
    for j in range(n_flags):
        line, own = pairs[j], singles[j]
        for i in range(n_flags):
            both, single = line[i], singles[i]
            second = own - both
            saved = min(0.0, both) + min(0.0, single - both)
            below[i] = min(below[i], saved)
            saved = min(0.0, second) + min(0.0, total - single - second)
            beside[i] = min(beside[i], saved)


@kernel
def _label(room):
    """Find what the best question below each flag, and beside it, saves by labels."""
    pairs, lines, totals = room.pairs[_HERE], room.flag_lines, room.flag_totals[_HERE]
    n_flags = pairs.shape[1]
    for i in range(n_flags):
        lines[_WITH, i] = lines[_WITHOUT, i] = 0.0
    for j in range(n_flags):
        for i in range(n_flags):
            lines[_BOTH, i] = lines[_FIRST, i] = 0.0
            lines[_SECOND, i] = lines[_NEITHER, i] = 0.0
        for k in range(pairs.shape[0]):
            line, total, singles = pairs[k, j], totals[k], room.singles[k]
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
    lines, least, n_flags = room.flag_lines, problem.price[1], room.pairs.shape[2]
    weights, sums = room.pairs[_HERE, 0], room.pairs[_HERE, 1]
    weight, total = room.flag_totals[_HERE, 0], room.flag_totals[_HERE, 1]
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
def leaves_around(problem, room, a):
    """Return what rows around lose in a leaf without a flag, and in one with it."""
    i, costs, totals = (
        problem.places[a],
        room.flag_sums[_AROUND, _BASE],
        room.flag_totals,
    )
    for k in range(totals.shape[1]):
        room.singles[k, i] = room.pairs[_AROUND, k, i, i]
    without = costs[-1] - costs[i] + _saved(problem, room, i, 0, totals[_AROUND])
    with_it = costs[i] + _saved(problem, room, i, 1, totals[_AROUND])
    return max(0.0, without), max(0.0, with_it)


@kernel
def _saved(problem, room, i, below, totals):
    """Return what the best label, or the mean, saves below a flag or beside it."""
    singles, saved = room.singles, 0.0
    if problem.family[0] == Family.MOMENTS:
        w, y = singles[0, i], singles[1, i]
        if not below:
            w, y = totals[0] - w, totals[1] - y
        return -explained(w, y, problem.price[1])
    for k in range(len(totals)):
        saved = min(saved, singles[k, i] if below else totals[k] - singles[k, i])
    return saved
