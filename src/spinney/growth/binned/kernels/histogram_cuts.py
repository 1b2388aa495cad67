"""The best cut between the bins of an ordered attribute, and the bins to refine.

Running sums of a histogram give the weights left of each edge. All edges are then
scored, ``φ(L) + φ(R)``, in loops without branches. Ties go to the first cut; missing
rows are tried on the left of a cut first.
"""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.kernels import layout, split_scores
from spinney.growth.binned.kernels.split_scores import (
    add_missing,
    is_numeric,
    limit_weight,
    score_bound,
    side_weight,
    split_score,
)

TINY = 1e-300  # 0 / TINY is 0: the score of nothing is 0


@kernel
def sum_histogram(kind, histograms, a, n_bins, floats, vectors):
    """Compute the running sums of a histogram: the weights before each bin.

    Return the first and the last bin with rows, -1 without any, and whether rows are
    missing; their weights become MISSING. Sums cover the bins from the first to one
    after the last; index ``n_bins`` has the total.
    """
    width = vectors.shape[1]
    for c in range(width):
        vectors[layout.MISSING, c] = histograms[a, layout.MISSING_CODE, c]
    has_missing = side_weight(kind, vectors, layout.MISSING) > 0
    first, last = ZERO, np.int64(n_bins - 1)
    while first <= last and side_weight(kind, histograms[a], first) <= 0:
        first += 1
    if first > last:
        return ZERO - 1, ZERO - 1, has_missing
    while side_weight(kind, histograms[a], last) <= 0:
        last -= 1
    for c in range(0, width, 2):
        # Two sums at a time: neither waits for the other. At the end one twice.
        d, first_sum, second_sum = min(c + 1, width - 1), 0.0, 0.0
        for b in range(first, last + 1):
            floats[layout.SUMS + c, b] = first_sum
            floats[layout.SUMS + d, b] = second_sum
            first_sum += histograms[a, b, c]
            second_sum += histograms[a, b, d]
        floats[layout.SUMS + c, last + 1] = first_sum
        floats[layout.SUMS + d, last + 1] = second_sum
    for b in range(first, last + 2):
        floats[layout.SIZES, b] = 0.0
    for c in range(1 if is_numeric(kind) else width):
        for b in range(first, last + 2):
            floats[layout.SIZES, b] += floats[layout.SUMS + c, b]
    floats[layout.SIZES, n_bins] = floats[layout.SIZES, last + 1]
    for c in range(width):
        floats[layout.SUMS + c, n_bins] = floats[layout.SUMS + c, last + 1]
    return first, last, has_missing


@kernel
def _sides_of_missing(has_missing, trial):
    """Return the vectors of missing rows, or none, to add left and right of a cut."""
    on_left = layout.MISSING if has_missing and trial == 0 else layout.NO_ROWS
    on_right = layout.MISSING if has_missing and trial == 1 else layout.NO_ROWS
    return on_left, on_right


@kernel
def _score_edges(kind, begin, end, has_missing, trial, work):
    """Score the cut before each bin up to ``end``, with missing rows on one side."""
    floats, vectors = work.floats, work.vectors
    sizes, left_sizes = floats[layout.SIZES], floats[layout.LEFT_SIZES]
    scores, squared = floats[layout.SCORES + trial], floats[layout.SQUARED]
    on_left, on_right = _sides_of_missing(has_missing, trial)
    missing_weight = side_weight(kind, vectors, on_left)
    total_weight = sizes[end] + side_weight(kind, vectors, on_right)
    for b in range(begin, end):
        left_sizes[b] = sizes[b] + missing_weight
    if kind == split_scores.SQUARES:
        above, below = floats[layout.SUMS + 1], floats[layout.SUMS + 2]
        missing_left = vectors[on_left, 1] + vectors[on_left, 2]
        total = above[end] + below[end]
        total += vectors[on_right, 1] + vectors[on_right, 2]
        for b in range(begin, end):
            known_left = above[b] + below[b]
            left, right = known_left + missing_left, total - known_left
            rest = total_weight - sizes[b]
            scores[b] = left * left / left_sizes[b] + right * right / rest
    elif kind == split_scores.GINI:
        for b in range(begin, end):
            scores[b] = squared[b] = 0.0
        for c in range(vectors.shape[1]):
            sums, missing_left = floats[layout.SUMS + c], vectors[on_left, c]
            total = sums[end] + vectors[on_right, c]
            for b in range(begin, end):
                left, right = sums[b] + missing_left, total - sums[b]
                scores[b] += left * left
                squared[b] += right * right
        for b in range(begin, end):
            rest = total_weight - sizes[b]
            scores[b] = scores[b] / left_sizes[b] + squared[b] / rest
    else:
        for b in range(begin, end):
            if b > begin and sizes[b] == sizes[b - 1]:
                scores[b] = scores[b - 1]
            else:
                _set_sides(end, b, has_missing, trial, floats, vectors)
                scores[b] = split_score(
                    kind, vectors, layout.TRIAL_LEFT, layout.TRIAL_RIGHT
                )


@kernel
def _set_sides(end, b, has_missing, trial, floats, vectors):
    """Set TRIAL_LEFT and TRIAL_RIGHT to the sides of the cut before a bin."""
    on_left, on_right = _sides_of_missing(has_missing, trial)
    for c in range(vectors.shape[1]):
        left, total = floats[layout.SUMS + c, b], floats[layout.SUMS + c, end]
        vectors[layout.TRIAL_LEFT, c] = left + vectors[on_left, c]
        vectors[layout.TRIAL_RIGHT, c] = total - left + vectors[on_right, c]


@kernel
def _are_heavy_enough(rules, n_bins, b, has_missing, trial, work):
    """Return whether both sides of the cut before a bin have the minimum weight."""
    least, vectors = work.limits[layout.LEAST], work.vectors
    if least <= 0:
        return True
    _set_sides(n_bins, b, has_missing, trial, work.floats, vectors)
    left_weight = limit_weight(rules, vectors, layout.TRIAL_LEFT)
    return min(left_weight, limit_weight(rules, vectors, layout.TRIAL_RIGHT)) >= least


@kernel
def best_edge(rules, a, n_bins, first, last, has_missing, slack, work):
    """Find the best cut between bins from their running sums."""
    kind, floats, vectors = rules.kind, work.floats, work.vectors
    trials, begin, end = 2 if has_missing else 1, first + 1, last + 1
    for trial in range(trials):
        _score_edges(kind, begin, end, has_missing, trial, work)
    best, edge, side = -np.inf, -1, -1
    for b in range(begin, end):
        for trial in range(trials):
            cut_score = floats[layout.SCORES + trial, b]
            if cut_score > best + slack and _are_heavy_enough(
                rules, n_bins, b, has_missing, trial, work
            ):
                best, edge, side = cut_score, b, (trial if has_missing else -1)
    if edge < 0:
        return
    work.cuts[a, layout.SCORE], work.cuts[a, layout.MISSING_SIDE] = best, side
    for c in range(vectors.shape[1]):
        vectors[layout.BEST, c] = floats[layout.SUMS + c, edge]
    # Empty bins before the edge: the cut lies after the last one that has rows.
    while floats[layout.SIZES, edge] == floats[layout.SIZES, edge - 1]:
        edge -= 1
    work.cuts[a, layout.BIN] = edge - 1


@kernel
def max_bound(rules, n_bins, first, last, has_missing, work):
    """Return a bound on all cuts inside bins, or infinity if a bound is expensive."""
    if rules.kind != split_scores.GINI or rules.width != 2 or has_missing:
        return np.inf
    _score_corners(n_bins, first, last, has_missing, ZERO, work.floats, work.vectors)
    corners, sizes = work.floats[layout.SCORES], work.floats[layout.SIZES]
    for b in range(first, last + 1):
        has_several_rows = sizes[b + 1] - sizes[b] > rules.single_row_weight
        corners[b] = corners[b] if has_several_rows else -np.inf
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
def mark_bins(
    rules, histograms, a, n_bins, first, last, has_missing, floor, slack, work
):
    """Mark the bins that may contain a cut above the floor; return their number.

    A cut after the best edge must be better than that edge.
    """
    kind, vectors, floats = rules.kind, work.vectors, work.floats
    for b in range(n_bins):
        work.ints[layout.IS_OPEN, b] = 0
    width, n_marked, edges_tried = vectors.shape[1], 0, work.limits[layout.LEAST] <= 0
    lower, edge = floor, work.cuts[a, layout.BIN]
    best = work.cuts[a, layout.SCORE] - work.limits[layout.MISSING_OFFSET]
    higher = max(floor, best + slack / 2)
    for trial in range(2 if has_missing else 1):
        quick = kind == split_scores.GINI and width == 2
        if quick:
            _score_corners(n_bins, first, last, has_missing, trial, floats, vectors)
        for b in range(first, last + 1):
            has_several_rows = (
                floats[layout.SIZES, b + 1] - floats[layout.SIZES, b]
                > rules.single_row_weight
            )
            if not has_several_rows or work.ints[layout.IS_OPEN, b] == 1:
                continue
            if is_numeric(kind) and not _can_cut(n_bins, b, work):
                continue
            floor = higher if b > edge else lower
            if quick:
                bound = floats[layout.SCORES, b]
            else:
                for c in range(width):
                    vectors[layout.INSIDE, c] = histograms[a, b, c]
                    vectors[layout.LEFT, c] = floats[layout.SUMS + c, b]
                    total = floats[layout.SUMS + c, n_bins]
                    vectors[layout.RIGHT, c] = total - floats[layout.SUMS + c, b + 1]
                if has_missing:
                    add_missing(vectors, layout.LEFT + trial)
                bound = score_bound(kind, vectors, floor, edges_tried)
            if bound >= floor:
                work.ints[layout.IS_OPEN, b] = 1
                n_marked += 1
    return n_marked


@kernel
def _can_cut(n_bins, b, work):
    """Return whether a cut inside a numeric bin can leave both sides heavy enough."""
    least, sizes = work.limits[layout.LEAST], work.floats[layout.SIZES]
    missing_weight = work.vectors[layout.MISSING, 0]
    return min(sizes[b + 1], sizes[n_bins] - sizes[b]) + missing_weight >= least


@kernel
def _score_corners(n_bins, first, last, has_missing, trial, floats, vectors):
    """Score the better corner of each bin, for two classes under Gini's index."""
    on_left, on_right = _sides_of_missing(has_missing, trial)
    sums0, sums1 = floats[layout.SUMS], floats[layout.SUMS + 1]
    left0, left1 = vectors[on_left, 0], vectors[on_left, 1]
    total0 = sums0[n_bins] + vectors[on_right, 0]
    total1 = sums1[n_bins] + vectors[on_right, 1]
    for b in range(first, last + 1):
        # One class of the bin on the left, the other on the right, and the reverse.
        l0, l1 = sums0[b + 1] + left0, sums1[b] + left1
        r0, r1 = total0 - sums0[b + 1], total1 - sums1[b]
        left, right = max(l0 + l1, TINY), max(r0 + r1, TINY)
        first_corner = (l0 * l0 + l1 * l1) / left + (r0 * r0 + r1 * r1) / right
        l0, l1 = sums0[b] + left0, sums1[b + 1] + left1
        r0, r1 = total0 - sums0[b], total1 - sums1[b + 1]
        left, right = max(l0 + l1, TINY), max(r0 + r1, TINY)
        second_corner = (l0 * l0 + l1 * l1) / left + (r0 * r0 + r1 * r1) / right
        floats[layout.SCORES, b] = max(first_corner, second_corner)


@kernel
def next_bin(kind, cells, a, histograms, cuts):
    """Return the first non-empty bin after a cut between bins; -1 for other cuts."""
    if cells.nominal[a] or cuts[a, layout.LOW] == cuts[a, layout.LOW]:
        return ZERO - 1
    if cuts[a, layout.HIGH] == cuts[a, layout.HIGH]:
        return np.int64(cuts[a, layout.HIGH])
    after = np.int64(cuts[a, layout.BIN]) + 1
    while side_weight(kind, histograms[a], after) <= 0:
        after += 1
    return after
