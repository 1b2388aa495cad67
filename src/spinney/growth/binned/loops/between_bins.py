"""The best cut between the bins of an ordered attribute, and the bins worth opening.

A *line* has the counts of each bin. Its running sums say what lies left of each edge;
all edges are then worth ``φ(L) + φ(R)``, in loops without branches. Ties go to the
first cut; where rows are missing, they are tried on the left of a cut first.
"""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.loops.layout import (
    ABSENT,
    AWAY,
    BEST,
    BIN,
    HIGH,
    INSIDE,
    LEFT,
    LEFT_SIZES,
    LOW,
    MISSING,
    MORE_SCORES,
    NOTHING,
    OPENED,
    RIGHT,
    SCORES,
    SIZES,
    SQUARED,
    SUMS,
    WORTH,
)
from spinney.growth.binned.loops.score import GINI, SQUARES, bound_inside, size_of

TINY = 1e-300  # 0 / TINY is 0: nothing is worth nothing


@kernel
def run(kind, lines, a, n_bins, floats, vectors):
    """Sum up a line: what lies before each bin, by column and in all.

    Return the first and the last bin that have rows, -1 where there is none, and
    whether rows are missing; these are then AWAY. Sums are of the bins from the first
    to the one after the last, and under ``n_bins`` those of the whole line.
    """
    width = vectors.shape[1]
    for c in range(width):
        vectors[AWAY, c] = lines[a, ABSENT, c]
    absent = size_of(kind, vectors, AWAY) > 0
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
            floats[SUMS + c, b], floats[SUMS + d, b] = one, two
            one += lines[a, b, c]
            two += lines[a, b, d]
        floats[SUMS + c, last + 1], floats[SUMS + d, last + 1] = one, two
    for b in range(first, last + 2):
        floats[SIZES, b] = 0.0
    for c in range(1 if kind == SQUARES else width):
        for b in range(first, last + 2):
            floats[SIZES, b] += floats[SUMS + c, b]
    floats[SIZES, n_bins] = floats[SIZES, last + 1]
    for c in range(width):
        floats[SUMS + c, n_bins] = floats[SUMS + c, last + 1]
    return first, last, absent


@kernel
def _score_edges(kind, begin, end, on_left, on_right, into, floats, vectors):
    """Set the worth of the cut before each bin, with more vectors on each side.

    ``end`` is the bin after the last that has rows.
    """
    more = size_of(kind, vectors, on_left)
    everything = floats[SIZES, end] + size_of(kind, vectors, on_right)
    for b in range(begin, end):
        floats[LEFT_SIZES, b] = floats[SIZES, b] + more
    if kind == SQUARES:
        more_left = vectors[on_left, 1] + vectors[on_left, 2]
        total = floats[SUMS + 1, end] + floats[SUMS + 2, end]
        total += vectors[on_right, 1] + vectors[on_right, 2]
        for b in range(begin, end):
            here = floats[SUMS + 1, b] + floats[SUMS + 2, b]
            left, right = here + more_left, total - here
            rest = everything - floats[SIZES, b]
            floats[into, b] = left * left / floats[LEFT_SIZES, b] + right * right / rest
    elif kind == GINI:
        for b in range(begin, end):
            floats[into, b] = 0.0
            floats[SQUARED, b] = 0.0
        for c in range(vectors.shape[1]):
            more_left, total = (
                vectors[on_left, c],
                floats[SUMS + c, end] + vectors[on_right, c],
            )
            for b in range(begin, end):
                here = floats[SUMS + c, b]
                left, right = here + more_left, total - here
                floats[into, b] += left * left
                floats[SQUARED, b] += right * right
        for b in range(begin, end):
            rest = everything - floats[SIZES, b]
            floats[into, b] = (
                floats[into, b] / floats[LEFT_SIZES, b] + floats[SQUARED, b] / rest
            )
    else:
        for b in range(begin, end):
            if b > begin and floats[SIZES, b] == floats[SIZES, b - 1]:
                floats[into, b] = floats[into, b - 1]
                continue
            told, size = 0.0, floats[LEFT_SIZES, b]
            rest = everything - floats[SIZES, b]
            for c in range(vectors.shape[1]):
                here, total = floats[SUMS + c, b], floats[SUMS + c, end]
                left = here + vectors[on_left, c]
                right = total + vectors[on_right, c] - here
                if left > 0:
                    told += left * np.log2(left)
                if right > 0:
                    told += right * np.log2(right)
            if rest > 0:
                told -= rest * np.log2(rest)
            floats[into, b] = told - size * np.log2(size)


@kernel
def best_edge(rules, a, n_bins, first, last, absent, slack, work):
    """Find the best cut between bins from their running sums."""
    kind, floats, vectors = rules.kind, work.floats, work.vectors
    trials, begin, end = 2 if absent else 1, first + 1, last + 1
    if absent:
        _score_edges(kind, begin, end, AWAY, NOTHING, SCORES, floats, vectors)
        _score_edges(kind, begin, end, NOTHING, AWAY, MORE_SCORES, floats, vectors)
    else:
        _score_edges(kind, begin, end, NOTHING, NOTHING, SCORES, floats, vectors)
    more = size_of(kind, vectors, AWAY)
    total = floats[SIZES, n_bins] + more
    best, at, side = -np.inf, -1, -1
    for b in range(begin, end):
        for trial in range(trials):
            score = floats[SCORES + trial, b]
            if score > best + slack:
                left = floats[SIZES, b] + (more if absent and trial == 0 else 0.0)
                enough = min(left, total - left) >= rules.least_branch
                if rules.least_branch <= 0 or enough:
                    best, at, side = score, b, (trial if absent else -1)
    if at < 0:
        return
    work.founds[a, WORTH], work.founds[a, MISSING] = best, side
    for c in range(vectors.shape[1]):
        vectors[BEST, c] = floats[SUMS + c, at]
    # Empty bins before the edge: the cut lies after the last one that has rows.
    while floats[SIZES, at] == floats[SIZES, at - 1]:
        at -= 1
    work.founds[a, BIN] = at - 1


@kernel
def greatest_bound(rules, n_bins, first, last, absent, work):
    """Return what no cut inside a bin can exceed, where that is soon told."""
    if rules.kind != GINI or rules.width != 2 or absent:
        return np.inf
    _score_corners(n_bins, first, last, absent, ZERO, work.floats, work.vectors)
    greatest, sizes = -np.inf, work.floats[SIZES]
    for b in range(first, last + 1):
        wide = sizes[b + 1] - sizes[b] > rules.single
        greatest = max(greatest, work.floats[SCORES, b] if wide else -np.inf)
    return greatest


@kernel
def mark_bins(rules, lines, a, n_bins, first, last, absent, floor, work):
    """Mark the bins that may hold a cut of this worth, and return how many do."""
    kind, vectors, floats = rules.kind, work.vectors, work.floats
    for b in range(n_bins):
        work.wholes[OPENED, b] = 0
    width, number, tried = vectors.shape[1], 0, rules.least_branch <= 0
    for trial in range(2 if absent else 1):
        quick = kind == GINI and width == 2
        if quick:
            _score_corners(n_bins, first, last, absent, trial, floats, vectors)
        for b in range(first, last + 1):
            wide = floats[SIZES, b + 1] - floats[SIZES, b] > rules.single
            if not wide or work.wholes[OPENED, b] == 1:
                continue
            if quick:
                bound = floats[SCORES, b]
            else:
                for c in range(width):
                    vectors[INSIDE, c] = lines[a, b, c]
                    vectors[LEFT, c] = floats[SUMS + c, b]
                    total = floats[SUMS + c, n_bins]
                    vectors[RIGHT, c] = total - floats[SUMS + c, b + 1]
                    if absent:
                        vectors[LEFT if trial == 0 else RIGHT, c] += vectors[AWAY, c]
                bound = bound_inside(kind, vectors, floor, tried)
            if bound >= floor:
                work.wholes[OPENED, b] = 1
                number += 1
    return number


@kernel
def _score_corners(n_bins, first, last, absent, trial, floats, away):
    """Set the greater corner of each bin, of two classes under Gini's index."""
    on_left = AWAY if absent and trial == 0 else NOTHING
    on_right = AWAY if absent and trial == 1 else NOTHING
    left0, left1 = away[on_left, 0], away[on_left, 1]
    total0, total1 = (
        floats[SUMS + 0, n_bins] + away[on_right, 0],
        floats[SUMS + 1, n_bins] + away[on_right, 1],
    )
    for b in range(first, last + 1):
        # One class of the bin on the left, the other on the right, and the reverse.
        l0, l1 = floats[SUMS + 0, b + 1] + left0, floats[SUMS + 1, b] + left1
        r0, r1 = total0 - floats[SUMS + 0, b + 1], total1 - floats[SUMS + 1, b]
        left, right = max(l0 + l1, TINY), max(r0 + r1, TINY)
        one = (l0 * l0 + l1 * l1) / left + (r0 * r0 + r1 * r1) / right
        l0, l1 = floats[SUMS + 0, b] + left0, floats[SUMS + 1, b + 1] + left1
        r0, r1 = total0 - floats[SUMS + 0, b], total1 - floats[SUMS + 1, b + 1]
        left, right = max(l0 + l1, TINY), max(r0 + r1, TINY)
        other = (l0 * l0 + l1 * l1) / left + (r0 * r0 + r1 * r1) / right
        floats[SCORES, b] = max(one, other)


@kernel
def bin_after(kind, cells, a, lines, founds):
    """Return the first bin right of a cut between bins that has rows; -1 for others."""
    if cells.nominal[a] or founds[a, LOW] == founds[a, LOW]:
        return ZERO - 1
    if founds[a, HIGH] == founds[a, HIGH]:
        return np.int64(founds[a, HIGH])
    after = np.int64(founds[a, BIN]) + 1
    while size_of(kind, lines[a], after) <= 0:
        after += 1
    return after
