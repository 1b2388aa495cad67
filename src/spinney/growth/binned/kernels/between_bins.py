"""The best cut between the bins of an ordered attribute, and the bins worth opening.

A *line* has the counts of each bin. Its running sums say what lies left of each edge;
all edges are then scored, ``φ(L) + φ(R)``, in loops without branches. Ties go to the
first cut; where rows are missing, they are tried on the left of a cut first.
"""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.kernels import layout, score
from spinney.growth.binned.kernels.score import (
    add_missing,
    bound_inside,
    of_numbers,
    own_size,
    score_of_cut,
    size_of,
)

TINY = 1e-300  # 0 / TINY is 0: the score of nothing is 0


@kernel
def run(kind, lines, a, n_bins, floats, vectors):
    """Sum up a line: what lies before each bin, by column and in all.

    Return the first and the last bin that have rows, -1 where there is none, and
    whether rows are missing; these are then AWAY. Sums are of the bins from the first
    to the one after the last, and under ``n_bins`` those of the whole line.
    """
    width = vectors.shape[1]
    for c in range(width):
        vectors[layout.AWAY, c] = lines[a, layout.ABSENT, c]
    absent = size_of(kind, vectors, layout.AWAY) > 0
    first, last = ZERO, np.int64(n_bins - 1)
    while first <= last and size_of(kind, lines[a], first) <= 0:
        first += 1
    if first > last:
        return ZERO - 1, ZERO - 1, absent
    while size_of(kind, lines[a], last) <= 0:
        last -= 1
    for c in range(0, width, 2):
        # Two sums at a time: neither waits for the other. At the end one twice.
        d, one, two = min(c + 1, width - 1), 0.0, 0.0
        for b in range(first, last + 1):
            floats[layout.SUMS + c, b], floats[layout.SUMS + d, b] = one, two
            one += lines[a, b, c]
            two += lines[a, b, d]
        floats[layout.SUMS + c, last + 1], floats[layout.SUMS + d, last + 1] = one, two
    for b in range(first, last + 2):
        floats[layout.SIZES, b] = 0.0
    for c in range(1 if of_numbers(kind) else width):
        for b in range(first, last + 2):
            floats[layout.SIZES, b] += floats[layout.SUMS + c, b]
    floats[layout.SIZES, n_bins] = floats[layout.SIZES, last + 1]
    for c in range(width):
        floats[layout.SUMS + c, n_bins] = floats[layout.SUMS + c, last + 1]
    return first, last, absent


@kernel
def _sides_of_missing(absent, trial):
    """Return what to add left and right of a cut: missing rows are left, then right."""
    on_left = layout.AWAY if absent and trial == 0 else layout.NOTHING
    on_right = layout.AWAY if absent and trial == 1 else layout.NOTHING
    return on_left, on_right


@kernel
def _score_edges(kind, begin, end, absent, trial, work):
    """Set the score of the cut before each bin, with the missing rows on one side.

    ``end`` is the bin after the last that has rows.
    """
    floats, vectors = work.floats, work.vectors
    sizes, left_sizes = floats[layout.SIZES], floats[layout.LEFT_SIZES]
    scores, squared = floats[layout.SCORES + trial], floats[layout.SQUARED]
    on_left, on_right = _sides_of_missing(absent, trial)
    more = size_of(kind, vectors, on_left)
    everything = sizes[end] + size_of(kind, vectors, on_right)
    for b in range(begin, end):
        left_sizes[b] = sizes[b] + more
    if kind == score.SQUARES:
        above, below = floats[layout.SUMS + 1], floats[layout.SUMS + 2]
        more_left = vectors[on_left, 1] + vectors[on_left, 2]
        total = above[end] + below[end]
        total += vectors[on_right, 1] + vectors[on_right, 2]
        for b in range(begin, end):
            here = above[b] + below[b]
            left, right = here + more_left, total - here
            rest = everything - sizes[b]
            scores[b] = left * left / left_sizes[b] + right * right / rest
    elif kind == score.GINI:
        for b in range(begin, end):
            scores[b] = squared[b] = 0.0
        for c in range(vectors.shape[1]):
            sums, more_left = floats[layout.SUMS + c], vectors[on_left, c]
            total = sums[end] + vectors[on_right, c]
            for b in range(begin, end):
                left, right = sums[b] + more_left, total - sums[b]
                scores[b] += left * left
                squared[b] += right * right
        for b in range(begin, end):
            rest = everything - sizes[b]
            scores[b] = scores[b] / left_sizes[b] + squared[b] / rest
    else:
        for b in range(begin, end):
            if b > begin and sizes[b] == sizes[b - 1]:
                scores[b] = scores[b - 1]
            else:
                _set_sides(end, b, absent, trial, floats, vectors)
                scores[b] = score_of_cut(kind, vectors, layout.ONE, layout.OTHER)


@kernel
def _set_sides(end, b, absent, trial, floats, vectors):
    """Set ONE and OTHER to the sides of the cut before a bin, missing rows on one."""
    on_left, on_right = _sides_of_missing(absent, trial)
    for c in range(vectors.shape[1]):
        left, total = floats[layout.SUMS + c, b], floats[layout.SUMS + c, end]
        vectors[layout.ONE, c] = left + vectors[on_left, c]
        vectors[layout.OTHER, c] = total - left + vectors[on_right, c]


@kernel
def _are_heavy(rules, n_bins, b, absent, trial, work):
    """Return whether both sides of the cut before a bin weigh enough."""
    least, vectors = work.limits[layout.LEAST], work.vectors
    if least <= 0:
        return True
    _set_sides(n_bins, b, absent, trial, work.floats, vectors)
    one = own_size(rules, vectors, layout.ONE)
    return min(one, own_size(rules, vectors, layout.OTHER)) >= least


@kernel
def best_edge(rules, a, n_bins, first, last, absent, slack, work):
    """Find the best cut between bins from their running sums."""
    kind, floats, vectors = rules.kind, work.floats, work.vectors
    trials, begin, end = 2 if absent else 1, first + 1, last + 1
    for trial in range(trials):
        _score_edges(kind, begin, end, absent, trial, work)
    best, at, side = -np.inf, -1, -1
    for b in range(begin, end):
        for trial in range(trials):
            reached = floats[layout.SCORES + trial, b]
            if reached > best + slack and _are_heavy(
                rules, n_bins, b, absent, trial, work
            ):
                best, at, side = reached, b, (trial if absent else -1)
    if at < 0:
        return
    work.cuts[a, layout.SCORE], work.cuts[a, layout.MISSING] = best, side
    for c in range(vectors.shape[1]):
        vectors[layout.BEST, c] = floats[layout.SUMS + c, at]
    # Empty bins before the edge: the cut lies after the last one that has rows.
    while floats[layout.SIZES, at] == floats[layout.SIZES, at - 1]:
        at -= 1
    work.cuts[a, layout.BIN] = at - 1


@kernel
def greatest_bound(rules, n_bins, first, last, absent, work):
    """Return what no cut inside a bin can exceed, where that is soon total_score."""
    if rules.kind != score.GINI or rules.width != 2 or absent:
        return np.inf
    _score_corners(n_bins, first, last, absent, ZERO, work.floats, work.vectors)
    corners, sizes = work.floats[layout.SCORES], work.floats[layout.SIZES]
    for b in range(first, last + 1):
        wide = sizes[b + 1] - sizes[b] > rules.single
        corners[b] = corners[b] if wide else -np.inf
    # Four at a time: none waits for the one before it.
    one = two = three = four = -np.inf
    rest = last + 1 - (last + 1 - first) % 4
    for b in range(first, rest, 4):
        one, two = max(one, corners[b]), max(two, corners[b + 1])
        three, four = max(three, corners[b + 2]), max(four, corners[b + 3])
    for b in range(rest, last + 1):
        one = max(one, corners[b])
    return max(max(one, two), max(three, four))


@kernel
def mark_bins(rules, lines, a, n_bins, first, last, absent, floor, slack, work):
    """Mark the bins that may hold a cut of this score, and return how many do.

    After the best edge, a cut must be better than that one.
    """
    kind, vectors, floats = rules.kind, work.vectors, work.floats
    for b in range(n_bins):
        work.wholes[layout.OPENED, b] = 0
    width, number, tried = vectors.shape[1], 0, work.limits[layout.LEAST] <= 0
    lower, edge = floor, work.cuts[a, layout.BIN]
    best = work.cuts[a, layout.SCORE] - work.limits[layout.RAISED]
    higher = max(floor, best + slack / 2)
    for trial in range(2 if absent else 1):
        quick = kind == score.GINI and width == 2
        if quick:
            _score_corners(n_bins, first, last, absent, trial, floats, vectors)
        for b in range(first, last + 1):
            wide = floats[layout.SIZES, b + 1] - floats[layout.SIZES, b] > rules.single
            if not wide or work.wholes[layout.OPENED, b] == 1:
                continue
            if of_numbers(kind) and not _can_cut(n_bins, b, work):
                continue
            floor = higher if b > edge else lower
            if quick:
                bound = floats[layout.SCORES, b]
            else:
                for c in range(width):
                    vectors[layout.INSIDE, c] = lines[a, b, c]
                    vectors[layout.LEFT, c] = floats[layout.SUMS + c, b]
                    total = floats[layout.SUMS + c, n_bins]
                    vectors[layout.RIGHT, c] = total - floats[layout.SUMS + c, b + 1]
                if absent:
                    add_missing(vectors, layout.LEFT + trial)
                bound = bound_inside(kind, vectors, floor, tried)
            if bound >= floor:
                work.wholes[layout.OPENED, b] = 1
                number += 1
    return number


@kernel
def _can_cut(n_bins, b, work):
    """Return whether a cut inside a bin of numbers can leave enough on both sides."""
    least, sizes = work.limits[layout.LEAST], work.floats[layout.SIZES]
    away = work.vectors[layout.AWAY, 0]
    return min(sizes[b + 1], sizes[n_bins] - sizes[b]) + away >= least


@kernel
def _score_corners(n_bins, first, last, absent, trial, floats, vectors):
    """Set the greater corner of each bin, of two classes under Gini's index."""
    on_left, on_right = _sides_of_missing(absent, trial)
    sums0, sums1 = floats[layout.SUMS], floats[layout.SUMS + 1]
    left0, left1 = vectors[on_left, 0], vectors[on_left, 1]
    total0 = sums0[n_bins] + vectors[on_right, 0]
    total1 = sums1[n_bins] + vectors[on_right, 1]
    for b in range(first, last + 1):
        # One class of the bin on the left, the other on the right, and the reverse.
        l0, l1 = sums0[b + 1] + left0, sums1[b] + left1
        r0, r1 = total0 - sums0[b + 1], total1 - sums1[b]
        left, right = max(l0 + l1, TINY), max(r0 + r1, TINY)
        one = (l0 * l0 + l1 * l1) / left + (r0 * r0 + r1 * r1) / right
        l0, l1 = sums0[b] + left0, sums1[b + 1] + left1
        r0, r1 = total0 - sums0[b], total1 - sums1[b + 1]
        left, right = max(l0 + l1, TINY), max(r0 + r1, TINY)
        other = (l0 * l0 + l1 * l1) / left + (r0 * r0 + r1 * r1) / right
        floats[layout.SCORES, b] = max(one, other)


@kernel
def bin_after(kind, cells, a, lines, cuts):
    """Return the first bin right of a cut between bins that has rows; -1 for others."""
    if cells.nominal[a] or cuts[a, layout.LOW] == cuts[a, layout.LOW]:
        return ZERO - 1
    if cuts[a, layout.HIGH] == cuts[a, layout.HIGH]:
        return np.int64(cuts[a, layout.HIGH])
    after = np.int64(cuts[a, layout.BIN]) + 1
    while size_of(kind, lines[a], after) <= 0:
        after += 1
    return after
