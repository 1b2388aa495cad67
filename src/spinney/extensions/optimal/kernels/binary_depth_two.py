"""The best tree of depth two where every column is a flag: from sums of pairs.

The sums of the rows with flag i and flag j determine the leaves of the trees that split
on i and then on j, or on j and then on i; i = j has the sums of single flags::

                 j         not j
    i          p(i, j)   p(i) − p(i, j)            p(i) = p(i, i)
    not i      p(j) − p(i, j)   p() − p(i) − p(j) + p(i, j)

So one pass over the rows serves all roots and all splits below them, instead of a pass
for each root. A flag is the rarer value of its column, because both values make the
same split. Flags that are cuts of one number form a *chain*: a row with a flag has all
earlier flags of the chain. A row is added only to the pair of its last flags in two
chains. Cumulative sums from the ends of chains then add the row to all other pairs.
Flags are indexed by their ``places`` in chains here.

If both sides of a flag are needed, the smaller side is counted, and the other is the
difference to the parent (``work.count_state``).

The loss of a leaf is the loss of its rows under a reference label (``base``) minus the
savings of the best label in ``addends``.
"""

from spinney._support.jit.compile import kernel
from spinney.extensions.optimal.kernels.layout import Family
from spinney.extensions.optimal.kernels.losses_by_size import (
    LEFT,
    MAX_LOSS,
    RIGHT,
    best_sum,
    copy_line,
    set_one_level,
)
from spinney.extensions.optimal.kernels.solver_steps import keep_best
from spinney.extensions.optimal.kernels.stumps import explained

# Lines of ``flag_sums``, with an entry per flag and a last one of all rows: the number
# of rows, their base losses and their path costs.
_ROWS, _BASE, _PATH_COST = range(3)
FLAG_SUMS = 3
# Lines of ``flag_savings``: the savings of the best splits of the rows with a flag and
# without it, and of the four leaves of a pair.
_WITH, _WITHOUT, _BOTH, _FIRST, _SECOND, _NEITHER = range(6)
FLAG_LINES = 6
# The first axis of ``pairs``, ``flag_totals`` and ``flag_sums``: the rows of the node,
# and those of its parent.
_NODE, _PARENT = range(2)
# Entries of ``count_state``: whether the node is a side of the parent, and whether its
# sibling is counted; whether the parent is the whole table; how many rows of the parent
# lack the flag.
SIDE, _WHOLE_TABLE, N_WITHOUT = range(3)
NO_SIDE, A_SIDE, _SIBLING_COUNTED = range(3)
# Lines and columns that are mirrored together, so that they stay in the cache.
_TILE = 16


@kernel
def binary_one_level(problem, work, order, _, n_rows, leaf, cost):
    """Store the loss of the best leaf or stump, and return its split."""
    _count_pairs(problem, work, order[0], n_rows)
    return _one_level(problem, work, n_rows, leaf, cost), 0, 0


@kernel
def binary_two_levels(problem, work, order, _, n_rows, leaf, cost, bounds):
    """Find the best tree of depth two.

    ``bounds`` become the least losses of trees by the attribute of their root. The
    budget is not used, because all losses are computed.
    """
    n, end = problem.sizes[2], work.current[2, 0]
    _count_pairs(problem, work, order[0], n_rows)
    family, n_flags = problem.family[0], work.pairs.shape[2]
    if family == Family.MOMENTS:
        _best_means(problem, work)
    elif family == Family.PAIR:
        _best_of_two_labels(work)
    else:
        _best_labels(work)
    attribute, left_entry = _one_level(problem, work, n_rows, leaf, cost), 0
    for k in range(n):
        shallow = work.best[1, min(k, problem.sizes[1] - 1)]
        work.shallow[2, k] = work.best[2, k] = shallow
        work.goal[2, k] = shallow - cost
    for a in range(n_flags):
        i = problem.places[a]
        if 0 < work.flag_sums[_NODE, _ROWS, i] < n_rows:
            _set_losses(problem, work, i, cost, end)
            m, step = problem.sizes[1], problem.sizes[-1]
            for k in range(n):
                loss = best_sum(end[LEFT], end[RIGHT], k, m, step) + cost
                bounds[a, k] = max(bounds[a, k], loss)
            entry = keep_best(problem, work, 2, cost, end)
            if entry >= 0:
                attribute, left_entry = a, zero_side_entry(problem, 2, a, entry)
        else:
            for k in range(n):
                bounds[a, k] = leaf
    return attribute, 0, left_entry


@kernel
def zero_side_entry(problem, depth, a, left_entry):
    """Return the size entry of the side of value 0, given that of the left side."""
    if problem.inverted[a]:
        return problem.sizes[depth] - 1 - problem.sizes[-1] - left_entry
    return left_entry


@kernel
def _set_losses(problem, work, i, cost, end):
    """Set the losses of the best leaf or stump without a flag, and with it."""
    savings, totals = work.flag_savings, work.flag_totals[_NODE]
    base, path_cost = work.flag_sums[_NODE, _BASE], work.flag_sums[_NODE, _PATH_COST, i]
    n, with_flag, without = problem.sizes[1], base[i], base[-1] - base[i]
    leaf = max(0.0, with_flag + _best_saving(problem, work, i, 1, totals))
    stump = max(0.0, with_flag + savings[_WITH, i]) + problem.leaf_cost[0] + path_cost
    set_one_level(end[RIGHT], n, leaf, stump)
    leaf = max(0.0, without + _best_saving(problem, work, i, 0, totals))
    stump = max(0.0, without + savings[_WITHOUT, i]) + cost - path_cost
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
    """Store the loss of the best leaf or stump, and return its flag."""
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
def _count_pairs(problem, work, rows, n_rows):
    """Sum rows by pairs of flags, or subtract the sums of the sibling from the parent.

    Two sides of one size are both counted, so the size identifies the side.
    """
    n_sibling = int(work.flag_sums[_PARENT, _ROWS, -1]) - n_rows
    if work.count_state[SIDE] == A_SIDE and n_sibling < n_rows:
        sibling = 1 if n_rows == work.count_state[N_WITHOUT] else 0
        _count_rows(problem, work, work.order[2, sibling, 0], n_sibling)
        work.count_state[SIDE] = _SIBLING_COUNTED
    if work.count_state[SIDE] == _SIBLING_COUNTED:
        _count_complement(work)
    else:
        _count_rows(problem, work, rows, n_rows)
        if work.count_state[SIDE] == A_SIDE:
            work.count_state[SIDE] = _SIBLING_COUNTED
    pairs = work.pairs[_NODE]
    for k in range(pairs.shape[0]):
        for i in range(pairs.shape[1]):
            work.singles[k, i] = pairs[k, i, i]


@kernel
def _count_rows(problem, work, rows, n_rows):
    """Sum rows by flags, and by pairs of flags."""
    _add_singles(problem, work.flag_sums[_NODE], rows, n_rows)
    for k in range(work.pairs.shape[1]):
        work.flag_totals[_NODE, k] = add_pairs(
            problem, work.pairs[_NODE, k], problem.addends[k], rows, n_rows
        )


@kernel
def _count_complement(work):
    """Replace the sums by their differences to the parent's sums."""
    for k in range(work.pairs.shape[1]):
        for i in range(work.pairs.shape[2]):
            _subtract_from(work.pairs[_NODE, k, i], work.pairs[_PARENT, k, i])
    for line in range(FLAG_SUMS):
        _subtract_from(work.flag_sums[_NODE, line], work.flag_sums[_PARENT, line])
    _subtract_from(work.flag_totals[_NODE], work.flag_totals[_PARENT])


@kernel
def _subtract_from(line, minuends):
    """Subtract each number of a line from its minuend, in place."""
    for i in range(len(line)):
        line[i] = minuends[i] - line[i]


@kernel
def count_parent(problem, work):
    """Count all rows of the table as the parent, if that is not done yet."""
    if not work.count_state[_WHOLE_TABLE]:
        _count_pairs(problem, work, problem.order[0], problem.order.shape[1])
        keep_as_parent(work)
        work.count_state[_WHOLE_TABLE] = 1
    work.count_state[SIDE] = A_SIDE


@kernel
def keep_as_parent(work):
    """Store the last sums as the sums of the parent."""
    work.count_state[_WHOLE_TABLE] = 0
    for k in range(work.pairs.shape[1]):
        work.flag_totals[_PARENT, k] = work.flag_totals[_NODE, k]
        for i in range(work.pairs.shape[2]):
            copy_line(work.pairs[_PARENT, k, i], work.pairs[_NODE, k, i])
    for line in range(FLAG_SUMS):
        copy_line(work.flag_sums[_PARENT, line], work.flag_sums[_NODE, line])


@kernel
def _add_singles(problem, sums, rows, n_rows):
    """Sum the numbers of rows, their base losses and path costs, by flags."""
    n_flags, has_path_cost = sums.shape[1] - 1, False
    for line in range(FLAG_SUMS):
        for i in range(n_flags + 1):
            sums[line, i] = 0.0
    for r in range(n_rows):
        row = rows[r]
        base = problem.base[row]
        sums[_BASE, n_flags] += base
        has_path_cost |= problem.path_cost[row] != 0.0
        for q in range(problem.n_ones[row]):
            i = problem.ones[row, q]
            sums[_ROWS, i] += 1.0
            sums[_BASE, i] += base
    sums[_ROWS, n_flags] = n_rows
    if has_path_cost:
        for r in range(n_rows):
            row = rows[r]
            sums[_PATH_COST, n_flags] += problem.path_cost[row]
            for q in range(problem.n_ones[row]):
                sums[_PATH_COST, problem.ones[row, q]] += problem.path_cost[row]
    for i in range(n_flags - 2, -1, -1):
        if problem.ends[i] > i + 1:
            for line in range(FLAG_SUMS):
                sums[line, i] += sums[line, i + 1]


@kernel
def add_pairs(problem, pairs, numbers, rows, n_rows):
    """Sum the numbers of rows by pairs of flags; return the sum of all."""
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
    """Add the sums at the last flags of chains to all flags before them.

    Only entries above the diagonal are set, where a row is in one entry per chain.
    ``ends`` has the end of each flag's chain.
    """
    n_flags = pairs.shape[0]
    for i in range(n_flags):
        line, total, end = pairs[i], 0.0, ends[i]
        for j in range(n_flags - 1, end - 1, -1):
            total = line[j] + (total if ends[j] > j + 1 else 0.0)
            line[j] = total
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
    """Copy the entries above the diagonal to those below it."""
    n = pairs.shape[0]
    for top in range(0, n, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(left, min(left + _TILE, i)):
                    pairs[i, j] = pairs[j, i]


@kernel
def _best_of_two_labels(work):
    """Find the savings of the best split on both sides of each flag (two labels)."""
    pairs, singles = work.pairs[_NODE, 0], work.singles[0]
    total = work.flag_totals[_NODE, 0]
    with_flag, without = work.flag_savings[_WITH], work.flag_savings[_WITHOUT]
    n_flags = pairs.shape[0]
    for i in range(n_flags):
        with_flag[i] = without[i] = 0.0
    for j in range(n_flags):
        line, single_j = pairs[j], singles[j]
        for i in range(n_flags):
            both, single = line[i], singles[i]
            second = single_j - both
            saved = min(0.0, both) + min(0.0, single - both)
            with_flag[i] = min(with_flag[i], saved)
            saved = min(0.0, second) + min(0.0, total - single - second)
            without[i] = min(without[i], saved)


@kernel
def _best_labels(work):
    """Find the savings of the best split on both sides of each flag, by labels."""
    pairs, lines, totals = work.pairs[_NODE], work.flag_savings, work.flag_totals[_NODE]
    n_flags = pairs.shape[1]
    for i in range(n_flags):
        lines[_WITH, i] = lines[_WITHOUT, i] = 0.0
    for j in range(n_flags):
        for i in range(n_flags):
            lines[_BOTH, i] = lines[_FIRST, i] = 0.0
            lines[_SECOND, i] = lines[_NEITHER, i] = 0.0
        for k in range(pairs.shape[0]):
            line, total, singles = pairs[k, j], totals[k], work.singles[k]
            single_j = line[j]
            for i in range(n_flags):
                both, single = line[i], singles[i]
                second = single_j - both
                lines[_BOTH, i] = min(lines[_BOTH, i], both)
                lines[_FIRST, i] = min(lines[_FIRST, i], single - both)
                lines[_SECOND, i] = min(lines[_SECOND, i], second)
                lines[_NEITHER, i] = min(lines[_NEITHER, i], total - single - second)
        for i in range(n_flags):
            with_flag = lines[_BOTH, i] + lines[_FIRST, i]
            without = lines[_SECOND, i] + lines[_NEITHER, i]
            lines[_WITH, i] = min(lines[_WITH, i], with_flag)
            lines[_WITHOUT, i] = min(lines[_WITHOUT, i], without)


@kernel
def _best_means(problem, work):
    """Find the squares that the best split explains on both sides of each flag."""
    lines, least, n_flags = work.flag_savings, problem.leaf_cost[1], work.pairs.shape[2]
    weights, sums = work.pairs[_NODE, 0], work.pairs[_NODE, 1]
    weight, total = work.flag_totals[_NODE, 0], work.flag_totals[_NODE, 1]
    for i in range(n_flags):
        lines[_WITH, i] = lines[_WITHOUT, i] = 0.0
    for j in range(n_flags):
        weight_j, sum_j = weights[j, j], sums[j, j]
        for i in range(n_flags):
            w, y = weights[j, i], sums[j, i]
            w1, y1 = work.singles[0, i], work.singles[1, i]
            saved = explained(w, y, least) + explained(w1 - w, y1 - y, least)
            lines[_WITH, i] = min(lines[_WITH, i], -saved)
            w2, y2 = weight_j - w, sum_j - y
            saved = explained(w2, y2, least)
            saved += explained(weight - w1 - w2, total - y1 - y2, least)
            lines[_WITHOUT, i] = min(lines[_WITHOUT, i], -saved)


@kernel
def parent_leaves(problem, work, a):
    """Return the losses of two leaves of the parent: without a flag, and with it."""
    i, totals = problem.places[a], work.flag_totals[_PARENT]
    base = work.flag_sums[_PARENT, _BASE]
    for k in range(len(totals)):
        work.singles[k, i] = work.pairs[_PARENT, k, i, i]
    without = base[-1] - base[i] + _best_saving(problem, work, i, 0, totals)
    with_it = base[i] + _best_saving(problem, work, i, 1, totals)
    return max(0.0, without), max(0.0, with_it)


@kernel
def _best_saving(problem, work, i, with_flag, totals):
    """Return the saving of the best label, or the mean, with a flag or without it."""
    singles, saved = work.singles, 0.0
    if problem.family[0] == Family.MOMENTS:
        w, y = singles[0, i], singles[1, i]
        if not with_flag:
            w, y = totals[0] - w, totals[1] - y
        return -explained(w, y, problem.leaf_cost[1])
    for k in range(len(totals)):
        saved = min(saved, singles[k, i] if with_flag else totals[k] - singles[k, i])
    return saved
