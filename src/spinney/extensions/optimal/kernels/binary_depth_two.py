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
have is the difference to all of them (``work.counted``).

The loss of a leaf is what its rows cost under a label that is not in ``numbers``
(``base``), and what the best of the labels there saves of it.
"""

from spinney._support.jit.compile import kernel
from spinney.extensions.optimal.kernels.layout import Family
from spinney.extensions.optimal.kernels.losses_by_size import (
    LEFT,
    MAX_LOSS,
    RIGHT,
    best_sum,
    set_one_level,
)
from spinney.extensions.optimal.kernels.solver_steps import keep_best
from spinney.extensions.optimal.kernels.stumps import explained

# Lines of ``flag_sums``, an entry a flag and last one of all rows: how many they are,
# what they cost, and what it costs to ask them.
_ROWS, _BASE, _ASKED = range(3)
FLAG_SUMS = 3
# Lines of ``flag_saved``: what the best questions below a flag and beside it save, and
# the four leaves of a pair.
_WITH, _WITHOUT, _BOTH, _FIRST, _SECOND, _NEITHER = range(6)
FLAG_LINES = 6
# Of ``pairs`` and ``flag_sums``: of the rows at hand, and of all that a flag parts.
_NODE, _PARENT = range(2)
# What ``counted`` has: whether rows are a side of those around, and the other is here;
# whether all rows of the table are around; how many lack the flag that parts.
SIDE, _WHOLE_TABLE, N_WITHOUT = range(3)
NO_SIDE, A_SIDE, _OTHER_SIDE = range(3)
# So many lines and columns are mirrored at a time.
_TILE = 16


@kernel
def binary_one_level(problem, work, order, _last, n_rows, leaf, cost):
    """Put down the loss of the best tree of one question at most; return that one."""
    _count(problem, work, order[0], n_rows)
    return _one_level(problem, work, n_rows, leaf, cost), 0, 0


@kernel
def binary_two_levels(problem, work, order, _last, n_rows, leaf, cost, bounds):
    """Find the best tree of depth two.

    Each attribute is ``bounds`` the least of trees that ask about it first. The budget
    is not looked at: all losses are at hand.
    """
    n, end = problem.sizes[2], work.taken[2, 0]
    _count(problem, work, order[0], n_rows)
    family, n_flags = problem.family[0], work.pairs.shape[2]
    if family == Family.MOMENTS:
        _best_means(problem, work)
    elif family == Family.PAIR:
        _best_labels_of_two(work)
    else:
        _best_labels(work)
    attribute, n_left = _one_level(problem, work, n_rows, leaf, cost), 0
    for k in range(n):
        work.shallow[2, k] = work.best[2, k] = work.best[
            1, min(k, problem.sizes[1] - 1)
        ]
        work.goal[2, k] = work.best[2, k] - cost
    for a in range(n_flags):
        i = problem.places[a]
        if 0 < work.flag_sums[_NODE, _ROWS, i] < n_rows:
            _set_losses(problem, work, i, cost, end)
            for k in range(n):
                both = _joined(problem, end, k) + cost
                bounds[a, k] = max(bounds[a, k], both)
            taken = keep_best(problem, work, 2, cost, end)
            if taken >= 0:
                attribute, n_left = a, n_left_of_zeros(problem, 2, a, taken)
        else:
            for k in range(n):
                bounds[a, k] = leaf
    return attribute, 0, n_left


@kernel
def n_left_of_zeros(problem, depth, a, n_left):
    """Return the leaves of the side of value 0, given those without the feature."""
    if problem.turned[a]:
        return problem.sizes[depth] - 1 - problem.sizes[-1] - n_left
    return n_left


@kernel
def _joined(problem, end, k):
    """Return what both sides of a flag lose."""
    return best_sum(end[LEFT], end[RIGHT], k, problem.sizes[1], problem.sizes[-1])


@kernel
def _set_losses(problem, work, i, cost, end):
    """Put down what rows without a flag lose in one question at most, and with it."""
    lines, sums, totals = (
        work.flag_saved,
        work.flag_sums[_NODE],
        work.flag_totals[_NODE],
    )
    n, leaf_cost, path_cost = problem.sizes[1], problem.leaf_cost[0], sums[_ASKED, i]
    below, beside = sums[_BASE, i], sums[_BASE, -1] - sums[_BASE, i]
    leaf = max(0.0, below + _best_saving(problem, work, i, 1, totals))
    stump = max(0.0, below + lines[_WITH, i]) + leaf_cost + path_cost
    set_one_level(end[RIGHT], n, leaf, stump)
    leaf = max(0.0, beside + _best_saving(problem, work, i, 0, totals))
    stump = max(0.0, beside + lines[_WITHOUT, i]) + cost - path_cost
    set_one_level(end[LEFT], n, leaf, stump)


@kernel
def _single_loss(problem, work, i):
    """Return the loss of both leaves of a flag."""
    costs, totals = work.flag_sums[_NODE, _BASE], work.flag_totals[_NODE]
    first = max(0.0, costs[i] + _best_saving(problem, work, i, 1, totals))
    return first + max(
        0.0, costs[-1] - costs[i] + _best_saving(problem, work, i, 0, totals)
    )


@kernel
def _one_level(problem, work, n_rows, leaf, cost):
    """Put down the loss of the best tree of one question at most; return its flag."""
    least, attribute = MAX_LOSS, -1
    for a in range(work.pairs.shape[2]):
        i = problem.places[a]
        if 0 < work.flag_sums[_NODE, _ROWS, i] < n_rows:
            loss = _single_loss(problem, work, i) + cost
            if loss < least:
                least, attribute = loss, a
    set_one_level(work.best[1], problem.sizes[1], leaf, least)
    return attribute if least < leaf else -1


@kernel
def _count(problem, work, rows, n_rows):
    """Add up what rows have, by pairs of flags, or take the other side off all."""
    n_others = int(work.flag_sums[_PARENT, _ROWS, -1]) - n_rows
    if work.counted[SIDE] == A_SIDE and n_others < n_rows:
        # Sides of one size do not get here, so that its size tells which side this is.
        other = 1 if n_rows == work.counted[N_WITHOUT] else 0
        _count_rows(problem, work, work.order[2, other, 0], n_others)
        work.counted[SIDE] = _OTHER_SIDE
    if work.counted[SIDE] == _OTHER_SIDE:
        _count_complement(work)
    else:
        _count_rows(problem, work, rows, n_rows)
        if work.counted[SIDE] == A_SIDE:
            work.counted[SIDE] = _OTHER_SIDE
    pairs = work.pairs[_NODE]
    for k in range(pairs.shape[0]):
        for i in range(pairs.shape[1]):
            work.singles[k, i] = pairs[k, i, i]


@kernel
def _count_rows(problem, work, rows, n_rows):
    """Add up what rows have, by flags and by pairs of them."""
    _add_singles(problem, work.flag_sums[_NODE], rows, n_rows)
    for k in range(work.pairs.shape[1]):
        work.flag_totals[_NODE, k] = add_pairs(
            problem, work.pairs[_NODE, k], problem.numbers[k], rows, n_rows
        )


@kernel
def _count_complement(work):
    """Take what was counted off that of all rows around."""
    for k in range(work.pairs.shape[1]):
        for i in range(work.pairs.shape[2]):
            _subtract_from(work.pairs[_NODE, k, i], work.pairs[_PARENT, k, i])
    for line in range(FLAG_SUMS):
        _subtract_from(work.flag_sums[_NODE, line], work.flag_sums[_PARENT, line])
    _subtract_from(work.flag_totals[_NODE], work.flag_totals[_PARENT])


@kernel
def _subtract_from(line, around):
    """Make of what some rows have that of the others."""
    for i in range(len(line)):
        line[i] = around[i] - line[i]


@kernel
def count_parent(problem, work):
    """Count all rows of the table, unless they were counted: a flag is to part them."""
    if not work.counted[_WHOLE_TABLE]:
        _count(problem, work, problem.order[0], problem.order.shape[1])
        keep_as_parent(work)
        work.counted[_WHOLE_TABLE] = 1
    work.counted[SIDE] = A_SIDE


@kernel
def keep_as_parent(work):
    """Keep what was counted last as that of all rows that a flag parts."""
    work.counted[_WHOLE_TABLE] = 0
    for k in range(work.pairs.shape[1]):
        work.flag_totals[_PARENT, k] = work.flag_totals[_NODE, k]
        for i in range(work.pairs.shape[2]):
            _copy(work.pairs[_PARENT, k, i], work.pairs[_NODE, k, i])
    for line in range(FLAG_SUMS):
        _copy(work.flag_sums[_PARENT, line], work.flag_sums[_NODE, line])


@kernel
def _copy(into, line):
    """Copy a line."""
    for i in range(len(into)):
        into[i] = line[i]


@kernel
def _add_singles(problem, sums, rows, n_rows):
    """Add up rows, what they cost and what it costs to ask them, by flags."""
    n_flags, path_cost = sums.shape[1] - 1, False
    for line in range(FLAG_SUMS):
        for i in range(n_flags + 1):
            sums[line, i] = 0.0
    for r in range(n_rows):
        row = rows[r]
        base = problem.base[row]
        sums[_BASE, n_flags] += base
        path_cost |= problem.path_cost[row] != 0.0
        for q in range(problem.n_ones[row]):
            i = problem.ones[row, q]
            sums[_ROWS, i] += 1.0
            sums[_BASE, i] += base
    sums[_ROWS, n_flags] = n_rows
    if path_cost:
        for r in range(n_rows):
            row = rows[r]
            sums[_ASKED, n_flags] += problem.path_cost[row]
            for q in range(problem.n_ones[row]):
                sums[_ASKED, problem.ones[row, q]] += problem.path_cost[row]
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
    _propagate_chains(pairs, problem.ends)
    _mirror(pairs)
    return total


@kernel
def _propagate_chains(pairs, ends):
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
def _best_labels_of_two(work):
    """Find the savings of the best split on both sides of each feature (two labels)."""
    pairs, singles = work.pairs[_NODE, 0], work.singles[0]
    total = work.flag_totals[_NODE, 0]
    below, beside = work.flag_saved[_WITH], work.flag_saved[_WITHOUT]
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
def _best_labels(work):
    """Find the savings of the best split on both sides of each feature, by labels."""
    pairs, lines, totals = work.pairs[_NODE], work.flag_saved, work.flag_totals[_NODE]
    n_flags = pairs.shape[1]
    for i in range(n_flags):
        lines[_WITH, i] = lines[_WITHOUT, i] = 0.0
    for j in range(n_flags):
        for i in range(n_flags):
            lines[_BOTH, i] = lines[_FIRST, i] = 0.0
            lines[_SECOND, i] = lines[_NEITHER, i] = 0.0
        for k in range(pairs.shape[0]):
            line, total, singles = pairs[k, j], totals[k], work.singles[k]
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
def _best_means(problem, work):
    """Find the squares that the best split explains on both sides of each feature."""
    lines, least, n_flags = work.flag_saved, problem.leaf_cost[1], work.pairs.shape[2]
    weights, sums = work.pairs[_NODE, 0], work.pairs[_NODE, 1]
    weight, total = work.flag_totals[_NODE, 0], work.flag_totals[_NODE, 1]
    for i in range(n_flags):
        lines[_WITH, i] = lines[_WITHOUT, i] = 0.0
    for j in range(n_flags):
        own, own_sum = weights[j, j], sums[j, j]
        for i in range(n_flags):
            w, y = weights[j, i], sums[j, i]
            w1, y1 = work.singles[0, i], work.singles[1, i]
            saved = explained(w, y, least) + explained(w1 - w, y1 - y, least)
            lines[_WITH, i] = min(lines[_WITH, i], -saved)
            w2, y2 = own - w, own_sum - y
            saved = explained(w2, y2, least)
            saved += explained(weight - w1 - w2, total - y1 - y2, least)
            lines[_WITHOUT, i] = min(lines[_WITHOUT, i], -saved)


@kernel
def parent_leaves(problem, work, a):
    """Return what rows around lose in a leaf without a flag, and in one with it."""
    i, costs, totals = (
        problem.places[a],
        work.flag_sums[_PARENT, _BASE],
        work.flag_totals,
    )
    for k in range(totals.shape[1]):
        work.singles[k, i] = work.pairs[_PARENT, k, i, i]
    without = costs[-1] - costs[i] + _best_saving(problem, work, i, 0, totals[_PARENT])
    with_it = costs[i] + _best_saving(problem, work, i, 1, totals[_PARENT])
    return max(0.0, without), max(0.0, with_it)


@kernel
def _best_saving(problem, work, i, below, totals):
    """Return what the best label, or the mean, saves below a flag or beside it."""
    singles, saved = work.singles, 0.0
    if problem.family[0] == Family.MOMENTS:
        w, y = singles[0, i], singles[1, i]
        if not below:
            w, y = totals[0] - w, totals[1] - y
        return -explained(w, y, problem.leaf_cost[1])
    for k in range(len(totals)):
        saved = min(saved, singles[k, i] if below else totals[k] - singles[k, i])
    return saved
