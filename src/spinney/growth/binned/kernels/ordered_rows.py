"""The best cut of an attribute among few rows, by Gini's index, in one walk over them.

Codes rise with values, so rows are put in order by counting their codes, and only those
of one bin are compared by value. Then they go from right to left of the cut, one after
the other. With l and r the weight of its class on both sides, a row of weight w makes
the sums of squares

    Σ l²  greater by  w (2l + w)        Σ r²  less by  w (2r − w)

Weights are whole, and so are the squares: the scores are those of counted bins to the
last bit, and the order in which equal rows are walked changes nothing.
"""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.kernels import layout
from spinney.growth.binned.kernels.cell_numbers import is_single, number_at
from spinney.growth.binned.kernels.row_words import (
    class_of,
    number_of,
    weight_of,
    whole_weight_of,
)
from spinney.growth.binned.kernels.score import GINI, size_of
from spinney.growth.binned.kernels.sort import (
    FEW_KEYS,
    insert,
    key_of,
    place_of,
    settle,
)

MOST_EXACT = 2.0**53
HALF, ONE = np.uint64(32), np.uint64(1)
BITS = 64  # codes that a word can tell
CELLS_OF_A_ROW = 16  # counts that are cleared and read while a row is put in order


@kernel
def sums_are_whole(rules, totals, top):
    """Return whether sums of squares at a node are exact."""
    whole = rules.kind == GINI and rules.subtract
    return whole and size_of(rules.kind, totals, top) ** 2 <= MOST_EXACT


@kernel
def can_walk(cells, rules, a):
    """Return whether an attribute has cuts that a walk over rows finds."""
    return not cells.nominal[a] and (cells.column[a] < 0 or rules.exact)


@kernel
def read_codes(cells, n, a, work):
    """Note the codes of rows; return the least and the greatest of them."""
    members, owners, codes = work.members, work.owners, cells.codes
    low, high = ZERO + layout.ABSENT, ZERO
    for i in range(n):
        code = np.int64(codes[number_of(members[i]), a])
        owners[i] = code
        low, high = min(low, code), max(high, code)
    return low, high


@kernel
def order_rows(cells, n, a, low, high, work):
    """Sort the keys of rows whose codes were read: by code, then by value."""
    keys, owners, column = work.keys, work.owners, cells.column[a]
    starts, counted = work.wholes[layout.CODES], n > FEW_KEYS
    if counted:
        for code in range(low, high + 2):
            starts[code] = 0
        for i in range(n):
            starts[owners[i] + 1] += 1
        for code in range(low, high):
            starts[code + 1] += starts[code]
    for i in range(n):
        at = i
        if counted:
            at = starts[owners[i]]
            starts[owners[i]] = at + 1
        if column < 0:
            keys[at] = (np.uint64(owners[i]) << HALF) | np.uint64(i)
        else:
            value = number_at(cells, number_of(work.members[i]), column)
            work.values[i] = value
            keys[at] = key_of(value, i)
    if column >= 0 or not counted:
        insert(keys, None, ZERO, n - 1)
    if column >= 0 and not is_single(cells):
        settle(keys, n, work.values)


@kernel
def walk_rows(labels, totals, top, n, a, column, slack, work):
    """Note the best score of a cut between rows in order; return after which it is.

    -1 where no cut leaves enough on both sides.
    """
    keys, owners, values, members = work.keys, work.owners, work.values, work.members
    left, least = work.vectors[layout.LEFT], work.limits[layout.LEAST]
    one, other, size, rest = 0.0, 0.0, 0.0, 0.0
    for c in range(len(left)):
        left[c] = 0.0
        rest += totals[top, c]
        other += totals[top, c] * totals[top, c]
    bar, found, after = -np.inf, ZERO - 1, place_of(keys[0])
    for i in range(n - 1):
        here, after = after, place_of(keys[i + 1])
        c, weight = class_of(members[here]), weight_of(labels, members[here])
        before = left[c]
        one += weight * (2 * before + weight)
        other += weight * (weight - 2 * (totals[top, c] - before))
        left[c] = before + weight
        size += weight
        rest -= weight
        if owners[here] == owners[after] and (
            column < 0 or values[here] == values[after]
        ):
            continue
        reached = one / size + other / rest
        if reached > bar and size >= least and rest >= least:
            work.cuts[a, layout.SCORE] = reached
            bar, found = reached + slack, i
    return found


@kernel
def can_tally(cells, n, a, width):
    """Return whether counting codes is less work than putting rows in order.

    Only where each code is one value: a cut is between two of them.
    """
    n_bins = cells.n_bins[a]
    return (
        cells.column[a] < 0 and n_bins <= BITS and n * CELLS_OF_A_ROW > n_bins * width
    )


@kernel
def tally_rows(cells, labels, n, a, work):
    """Weigh rows by code and class; return which codes there are, as bits.

    Return as well the greatest code.
    """
    members, tallies, codes = work.members, work.tallies, cells.codes
    for code in range(cells.n_bins[a]):
        for c in range(tallies.shape[1]):
            tallies[code, c] = 0
    seen, high = np.uint64(0), ZERO
    for i in range(n):
        word = members[i]
        code = np.int64(codes[number_of(word), a])
        tallies[code, class_of(word)] += whole_weight_of(labels, word)
        seen |= ONE << np.uint64(code)
        high = max(high, code)
    return seen, high


@kernel
def scan_tallies(totals, top, a, seen, high, slack, work):
    """Note the best score of a cut between codes; return after which code it is.

    -1 where no cut leaves enough on both sides.
    """
    tallies, least = work.tallies, work.limits[layout.LEAST]
    width = tallies.shape[1]
    left, whole, everything = tallies[layout.BINS], tallies[layout.BINS + 1], ZERO
    for c in range(width):
        left[c], whole[c] = 0, np.int64(totals[top, c])
        everything += whole[c]
    bar, found = -np.inf, ZERO - 1
    for code in range(high):
        if not (seen >> np.uint64(code)) & ONE:
            continue
        one, other, size = ZERO, ZERO, ZERO
        for c in range(width):
            here = left[c] + tallies[code, c]
            there = whole[c] - here
            left[c] = here
            size += here
            one += here * here
            other += there * there
        rest = everything - size
        reached = np.float64(one) / np.float64(size)
        reached += np.float64(other) / np.float64(rest)
        if reached > bar and size >= least and rest >= least:
            work.cuts[a, layout.SCORE] = reached
            bar, found = reached + slack, code
    return found


@kernel
def note_cut(a, here, after, work):
    """Record where the best cut of an attribute is, between two codes.

    What lies left of it is not weighed: few of these cuts are taken.
    """
    cuts = work.cuts
    cuts[a, layout.BIN], cuts[a, layout.HIGH] = here, after
    cuts[a, layout.MISSING], cuts[a, layout.TOTALS] = -1, np.nan


@kernel
def weigh_left(cells, labels, n, a, work):
    """Note what lies left of the best cut of an attribute, if that is not known."""
    cuts, members, column = work.cuts, work.members, cells.column[a]
    if cuts[a, layout.SCORE] == -np.inf or not np.isnan(cuts[a, layout.TOTALS]):
        return
    width, last, low = work.vectors.shape[1], cuts[a, layout.BIN], cuts[a, layout.LOW]
    for c in range(2 * width):
        cuts[a, layout.TOTALS + c] = 0.0
    for i in range(n):
        row = number_of(members[i])
        code = cells.by_attribute[a, row]
        goes = code <= last
        if column >= 0 and code == last:
            goes = number_at(cells, row, column) <= low
        if goes:
            c = np.int64(class_of(members[i]))
            cuts[a, layout.TOTALS + c] += weight_of(labels, members[i])
