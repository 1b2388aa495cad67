"""The best cut of an attribute among few rows, by Gini's index, in one walk over them.

Codes rise with values, so rows are ordered by a counting sort of codes. Only rows in
the same bin are compared by value. Then rows move one by one from the right of the cut
to its left. With l and r the weight of its class on both sides, a row of weight w makes
the sums of squares

    Σ l²  greater by  w (2l + w)        Σ r²  less by  w (2r − w)

Weights are integers, and so are the squares. So the scores equal those of counted bins
in every bit, and the order of equal rows has no effect.
"""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.kernels import layout
from spinney.growth.binned.kernels.packed_rows import (
    cell_value,
    class_of,
    integer_weight_of,
    is_float32,
    row_of,
    weight_of,
)
from spinney.growth.binned.kernels.sort import (
    MAX_INSERTION_KEYS,
    insertion_sort,
    key_place,
    order_rounded,
    sort_key,
)
from spinney.growth.binned.kernels.split_scores import GINI, side_weight

MAX_EXACT = 2.0**53
HALF, ONE = np.uint64(32), np.uint64(1)
WORD_BITS = 64  # codes that a word can tell
CELLS_PER_SORTED_ROW = 16  # counts that are read in the time of sorting a row


@kernel
def squares_are_exact(rules, totals, top):
    """Return whether sums of squares at a node are exact."""
    sums_are_exact = rules.kind == GINI and rules.subtract
    return sums_are_exact and side_weight(rules.kind, totals, top) ** 2 <= MAX_EXACT


@kernel
def can_walk(cells, rules, a):
    """Return whether a walk over rows can find the cuts of an attribute."""
    return not cells.nominal[a] and (cells.column[a] < 0 or rules.refine_bins)


@kernel
def read_codes(cells, n, a, work):
    """Read the codes of rows; return the smallest and the largest."""
    members, row_bins, codes = work.members, work.row_bins, cells.codes
    low, high = ZERO + layout.MISSING_CODE, ZERO
    for i in range(n):
        code = np.int64(codes[row_of(members[i]), a])
        row_bins[i] = code
        low, high = min(low, code), max(high, code)
    return low, high


@kernel
def order_rows(cells, n, a, low, high, work):
    """Sort the keys of rows whose codes were read: by code, then by value."""
    keys, row_bins, column = work.keys, work.row_bins, cells.column[a]
    starts, by_counting = work.ints[layout.CODES], n > MAX_INSERTION_KEYS
    if by_counting:
        for code in range(low, high + 2):
            starts[code] = 0
        for i in range(n):
            starts[row_bins[i] + 1] += 1
        for code in range(low, high):
            starts[code + 1] += starts[code]
    for i in range(n):
        slot = i
        if by_counting:
            slot = starts[row_bins[i]]
            starts[row_bins[i]] = slot + 1
        if column < 0:
            keys[slot] = (np.uint64(row_bins[i]) << HALF) | np.uint64(i)
        else:
            value = cell_value(cells, row_of(work.members[i]), column)
            work.values[i] = value
            keys[slot] = sort_key(value, i)
    if column >= 0 or not by_counting:
        insertion_sort(keys, None, ZERO, n - 1)
    if column >= 0 and not is_float32(cells):
        order_rounded(keys, n, work.values)


@kernel
def walk_rows(labels, totals, top, n, a, column, slack, work):
    """Store the best score of a cut between ordered rows; return its place, or -1."""
    keys, row_bins, values = work.keys, work.row_bins, work.values
    members = work.members
    left, least = work.vectors[layout.LEFT], work.limits[layout.LEAST]
    left_squares, right_squares, size_l, size_r = 0.0, 0.0, 0.0, 0.0
    for c in range(len(left)):
        left[c] = 0.0
        size_r += totals[top, c]
        right_squares += totals[top, c] * totals[top, c]
    score_to_beat, best_place, next_place = -np.inf, ZERO - 1, key_place(keys[0])
    for i in range(n - 1):
        place, next_place = next_place, key_place(keys[i + 1])
        c, weight = class_of(members[place]), weight_of(labels, members[place])
        before = left[c]
        left_squares += weight * (2 * before + weight)
        right_squares += weight * (weight - 2 * (totals[top, c] - before))
        left[c] = before + weight
        size_l += weight
        size_r -= weight
        if row_bins[place] == row_bins[next_place] and (
            column < 0 or values[place] == values[next_place]
        ):
            continue
        cut_score = left_squares / size_l + right_squares / size_r
        if cut_score > score_to_beat and size_l >= least and size_r >= least:
            work.cuts[a, layout.SCORE] = cut_score
            score_to_beat, best_place = cut_score + slack, i
    return best_place


@kernel
def can_weigh_codes(cells, n, a, width):
    """Return whether weighing by code is faster than sorting rows."""
    n_bins = cells.n_bins[a]
    return (
        cells.column[a] < 0
        and n_bins <= WORD_BITS
        and n * CELLS_PER_SORTED_ROW > n_bins * width
    )


@kernel
def weigh_codes(cells, labels, n, a, work):
    """Weigh rows by code and class; return the codes as bits, and the largest code."""
    members, code_weights, codes = work.members, work.code_weights, cells.codes
    for code in range(cells.n_bins[a]):
        for c in range(code_weights.shape[1]):
            code_weights[code, c] = 0
    present, high = np.uint64(0), ZERO
    for i in range(n):
        word = members[i]
        code = np.int64(codes[row_of(word), a])
        code_weights[code, class_of(word)] += integer_weight_of(labels, word)
        present |= ONE << np.uint64(code)
        high = max(high, code)
    return present, high


@kernel
def scan_codes(totals, top, a, present, high, slack, work):
    """Store the best score of a cut between codes; return the code before it, or -1."""
    code_weights, least = work.code_weights, work.limits[layout.LEAST]
    width = code_weights.shape[1]
    left, totals_by_class = code_weights[layout.BINS], code_weights[layout.BINS + 1]
    total_weight = ZERO
    for c in range(width):
        left[c], totals_by_class[c] = 0, np.int64(totals[top, c])
        total_weight += totals_by_class[c]
    score_to_beat, best_code = -np.inf, ZERO - 1
    for code in range(high):
        if not (present >> np.uint64(code)) & ONE:
            continue
        left_squares, right_squares, size_l = ZERO, ZERO, ZERO
        for c in range(width):
            left_here = left[c] + code_weights[code, c]
            right_here = totals_by_class[c] - left_here
            left[c] = left_here
            size_l += left_here
            left_squares += left_here * left_here
            right_squares += right_here * right_here
        size_r = total_weight - size_l
        cut_score = np.float64(left_squares) / np.float64(size_l)
        cut_score += np.float64(right_squares) / np.float64(size_r)
        if cut_score > score_to_beat and size_l >= least and size_r >= least:
            work.cuts[a, layout.SCORE] = cut_score
            score_to_beat, best_code = cut_score + slack, code
    return best_code


@kernel
def record_cut(a, place, next_place, work):
    """Record the best cut of an attribute; its totals are set later if needed."""
    cuts = work.cuts
    cuts[a, layout.BIN], cuts[a, layout.HIGH] = place, next_place
    cuts[a, layout.MISSING_SIDE], cuts[a, layout.TOTALS] = -1, np.nan


@kernel
def set_left_totals(cells, labels, n, a, work):
    """Set the totals left of an attribute's best cut, if they are unknown."""
    cuts, members, column = work.cuts, work.members, cells.column[a]
    if cuts[a, layout.SCORE] == -np.inf or not np.isnan(cuts[a, layout.TOTALS]):
        return
    width, last, low = work.vectors.shape[1], cuts[a, layout.BIN], cuts[a, layout.LOW]
    for c in range(2 * width):
        cuts[a, layout.TOTALS + c] = 0.0
    for i in range(n):
        row = row_of(members[i])
        code = cells.by_attribute[a, row]
        goes_left = code <= last
        if column >= 0 and code == last:
            goes_left = cell_value(cells, row, column) <= low
        if goes_left:
            c = np.int64(class_of(members[i]))
            cuts[a, layout.TOTALS + c] += weight_of(labels, members[i])
