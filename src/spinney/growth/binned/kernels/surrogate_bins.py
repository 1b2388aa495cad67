"""Cuts inside the bins of an attribute that may agree better than those between.

The rows of a node are laid out in *sub-bins*, in rising order: a closed bin is one
sub-bin, an open bin has one or several of equal width. D changes inside a sub-bin with
b₀ and b₁ of the branches by at most −b₁ and +b₀. Only sub-bins whose bound reaches the
best edge, and the least agreement to be recorded, are sorted.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.kernels import layout
from spinney.growth.binned.kernels.packed_rows import cell_value, row_of

MIN_ROWS = 2
SLACK = 1e-11  # a share of the weight beyond what sums of it can round by

# What is found of an attribute: the weight that agrees; the values beside the cut, NaN
# where they were not looked at; the bins that these are in; whether the cut is
# reversed; and what its bins may hold at most. Then of the rows that have a value of
# the attribute: the weights of both branches, and how many they are.
AGREEING, LOW, HIGH, BIN, AFTER, SWAPPED, BOUND = np.arange(7)
FIRST_WEIGHT, SECOND_WEIGHT, N_KNOWN = np.arange(7, 10)
N_CUT_FIELDS = 10

# Lines of ``subbins``: the weights of both branches, the number of rows, the least and
# the greatest value, the bin, whether it is sorted; at the first part of a bin, from
# where on and how finely it is divided.
FIRST_BRANCH, SECOND_BRANCH, ROWS, LEAST, GREATEST, OWNER, OPEN, ORIGIN, SCALE = (
    np.arange(9)
)
SUBBIN_FIELDS = 9
SUBBINS = 4096 + layout.BINS

# Fewer rows are sorted at once; a bin has no more parts than these.
MAX_SORTED_ROWS = 4096
MAX_SUBBINS_PER_BIN = 256

ONE_FIRST = np.uint64(1)
ONE_SECOND = np.uint64(1 << 32)
HALF = np.uint64(32)


class SurrogateWorkspace(NamedTuple):
    """Scratch arrays of the search for surrogates.

    ``packed_counts`` count rows by attribute and bin, the first branch in the lower
    half; ``bin_weights`` are their weights. ``cuts`` and ``masks`` are the results by
    attribute and code, 1 or 2 by branch. ``marks`` are by code. ``keys``, ``places``
    and ``row_bins`` hold numbers, their places in the node, and their bins.
    """

    packed_counts: NDArray[np.uint64]
    bin_weights: NDArray[np.float64]
    cuts: NDArray[np.float64]
    masks: NDArray[np.uint8]
    marks: NDArray[np.int64]
    subbins: NDArray[np.float64]
    keys: NDArray[np.float64]
    places: NDArray[np.int64]
    row_bins: NDArray[np.uint8]


@kernel
def rows_in(word):
    """Return the number of rows in a packed count."""
    return np.int64((word & (ONE_SECOND - ONE_FIRST)) + (word >> HALF))


@kernel
def agreement_bound(t0, t1, difference, more_first, more_second):
    """Return the highest agreement of a cut; ``difference`` is D before the sub-bin."""
    return max(t1 + difference + more_first, t0 - difference + more_second)


@kernel
def lay_out_sorted(search, begin, middle, end, a, t0, t1):
    """Arrange the known rows of a small node as one sub-bin; return their number."""
    cells, work, rows = search.cells, search.work, search.rows
    column, subbins, cuts, n = cells.column[a], work.subbins, work.cuts, ZERO
    cuts[a, FIRST_WEIGHT] = cuts[a, SECOND_WEIGHT] = 0.0
    for i in range(begin, end):
        row = row_of(rows[i])
        code = cells.codes[row, a]
        if code == layout.MISSING_CODE:
            continue
        if column < 0:
            work.keys[n] = cells.values[a, code]
        else:
            work.keys[n] = cell_value(cells, row, column)
        work.places[n] = i
        cuts[a, FIRST_WEIGHT if i < middle else SECOND_WEIGHT] += search.weights[row]
        n += 1
    if n == end - begin:
        cuts[a, FIRST_WEIGHT], cuts[a, SECOND_WEIGHT] = t0, t1
    cuts[a, N_KNOWN] = subbins[ROWS, 0] = n
    subbins[FIRST_BRANCH, 0] = cuts[a, FIRST_WEIGHT]
    subbins[SECOND_BRANCH, 0] = cuts[a, SECOND_WEIGHT]
    subbins[OPEN, 0] = 1
    return n


@kernel
def lay_out_subbins(search, begin, middle, end, a, needed):
    """Arrange the rows of a node in sub-bins; open those that may reach ``needed``.

    Return the number of sub-bins, and of keys to sort.
    """
    cells, work = search.cells, search.work
    subbins, marks, n_bins, n_opened = work.subbins, work.marks, cells.n_bins[a], 0
    t0, t1 = work.cuts[a, FIRST_WEIGHT], work.cuts[a, SECOND_WEIGHT]
    n, difference, marks[layout.MISSING_CODE] = ZERO, 0.0, -1
    for b in range(n_bins):
        n_in_bin, more = rows_in(work.packed_counts[a, b]), work.bin_weights[a, b]
        bound = agreement_bound(t0, t1, difference, more[0], more[1])
        marks[b] = -1
        if cells.column[a] >= 0 and n_in_bin > 1 and bound >= needed:
            marks[b] = 0
            n_opened += 1
            n += n_in_bin
        difference += more[0] - more[1]
    n_per_bin = (
        min(MAX_SUBBINS_PER_BIN, (SUBBINS - layout.BINS) // n_opened)
        if n > MAX_SORTED_ROWS
        else 1
    )
    n_subbins = ZERO
    for b in range(n_bins):
        if marks[b] == 0:
            marks[b] = n_subbins
        for subbin in range(n_subbins, n_subbins + (n_per_bin if marks[b] >= 0 else 1)):
            subbins[OWNER, subbin], subbins[OPEN, subbin] = b, marks[b] >= 0
            subbins[FIRST_BRANCH, subbin] = work.bin_weights[a, b, 0]
            subbins[SECOND_BRANCH, subbin] = work.bin_weights[a, b, 1]
            subbins[ROWS, subbin] = rows_in(work.packed_counts[a, b])
            subbins[LEAST, subbin] = subbins[GREATEST, subbin] = cells.values[a, b]
            n_subbins += 1
    if n_opened:
        n = _gather(search, begin, end, a)
        if n_per_bin > 1:
            _fill_subbins(n_bins, n_per_bin, work)
            _count_subbins(search, middle, n, n_per_bin)
            _close_subbins(a, n_subbins, needed, work)
            n = _keep_open_keys(n, n_per_bin, work)
    return n_subbins, n


@kernel
def _gather(search, begin, end, a):
    """Gather the rows of open bins, and find the range of each; return their number."""
    cells, work, rows = search.cells, search.work, search.rows
    marks, subbins, column, n = work.marks, work.subbins, cells.column[a], ZERO
    for b in range(cells.n_bins[a]):
        if marks[b] >= 0:
            subbins[LEAST, marks[b]], subbins[GREATEST, marks[b]] = np.inf, -np.inf
    for i in range(begin, end):
        row = row_of(rows[i])
        code = cells.codes[row, a]
        subbin = marks[code]
        if subbin >= 0:
            key = cell_value(cells, row, column)
            work.keys[n], work.places[n], work.row_bins[n] = key, i, code
            subbins[LEAST, subbin] = min(subbins[LEAST, subbin], key)
            subbins[GREATEST, subbin] = max(subbins[GREATEST, subbin], key)
            n += 1
    return n


@kernel
def _fill_subbins(n_bins, n_per_bin, work):
    """Divide open bins into empty sub-bins of equal width."""
    subbins = work.subbins
    for b in range(n_bins):
        start = work.marks[b]
        if start < 0:
            continue
        scale = n_per_bin / (subbins[GREATEST, start] - subbins[LEAST, start])
        subbins[ORIGIN, start] = subbins[LEAST, start]
        subbins[SCALE, start] = scale if 0 < scale < np.inf else 0.0
        for subbin in range(start, start + n_per_bin):
            subbins[FIRST_BRANCH, subbin] = subbins[SECOND_BRANCH, subbin] = subbins[
                ROWS, subbin
            ] = 0.0
            subbins[LEAST, subbin], subbins[GREATEST, subbin] = np.inf, -np.inf


@kernel
def _subbin_of(i, n_per_bin, work):
    """Return the sub-bin of a key; larger keys never have an earlier sub-bin."""
    start = work.marks[work.row_bins[i]]
    position = (work.keys[i] - work.subbins[ORIGIN, start]) * work.subbins[SCALE, start]
    return start + (np.int64(min(position, n_per_bin - 1.0)) if position > 0 else 0)


@kernel
def _count_subbins(search, middle, n, n_per_bin):
    """Count the rows of open bins by sub-bin."""
    work, rows, weights = search.work, search.rows, search.weights
    subbins = work.subbins
    for i in range(n):
        subbin, place = _subbin_of(i, n_per_bin, work), work.places[i]
        key = work.keys[i]
        weight = weights[row_of(rows[place])]
        subbins[FIRST_BRANCH if place < middle else SECOND_BRANCH, subbin] += weight
        subbins[ROWS, subbin] += 1
        subbins[LEAST, subbin] = min(subbins[LEAST, subbin], key)
        subbins[GREATEST, subbin] = max(subbins[GREATEST, subbin], key)


@kernel
def _close_subbins(a, n_subbins, needed, work):
    """Keep only the sub-bins open that may contain a better cut than all edges."""
    subbins, best, n_rows = work.subbins, needed, work.cuts[a, N_KNOWN]
    t0, t1 = work.cuts[a, FIRST_WEIGHT], work.cuts[a, SECOND_WEIGHT]
    for final in range(2):
        difference, before = 0.0, 0.0
        for subbin in range(n_subbins):
            more = subbins[FIRST_BRANCH, subbin], subbins[SECOND_BRANCH, subbin]
            if final and subbins[OPEN, subbin]:
                alike = not subbins[LEAST, subbin] < subbins[GREATEST, subbin]
                bound = agreement_bound(t0, t1, difference, more[0], more[1])
                subbins[OPEN, subbin] = not alike and bound >= best
            difference += more[0] - more[1]
            before += subbins[ROWS, subbin]
            if min(before, n_rows - before) >= MIN_ROWS:
                cut_score = max(t1 + difference, t0 - difference)
                best = max(best, cut_score - SLACK * (t0 + t1))


@kernel
def _keep_open_keys(n, n_per_bin, work):
    """Keep the keys of open sub-bins; return their number."""
    m = ZERO
    for i in range(n):
        if work.subbins[OPEN, _subbin_of(i, n_per_bin, work)]:
            work.keys[m], work.places[m] = work.keys[i], work.places[i]
            work.row_bins[m] = work.row_bins[i]
            m += 1
    return m


@kernel
def scan_cuts(search, middle, a, n_subbins, needed):
    """Return the highest agreement, or record the first cut that has ``needed``."""
    work, rows, weights = search.work, search.rows, search.weights
    subbins, keys, cuts = work.subbins, work.keys, work.cuts
    t0, t1 = cuts[a, FIRST_WEIGHT], cuts[a, SECOND_WEIGHT]
    n_rows = cuts[a, N_KNOWN]
    before, key_index, sums, best = ZERO, ZERO, 0.0, -np.inf
    for subbin in range(n_subbins):
        n_in_subbin = np.int64(subbins[ROWS, subbin])
        is_sorted = subbins[OPEN, subbin] > 0
        if n_in_subbin == 0:
            continue
        difference, inside = sums, n_in_subbin if is_sorted else ZERO + 1
        sums += subbins[FIRST_BRANCH, subbin] - subbins[SECOND_BRANCH, subbin]
        for k in range(inside):
            is_edge = k == inside - 1
            if is_sorted:
                place = work.places[key_index]
                weight = weights[row_of(rows[place])]
                difference += weight if place < middle else -weight
                key_index += 1
            if is_edge:
                difference = sums
            elif keys[key_index] == keys[key_index - 1]:
                continue
            left = before + (n_in_subbin if is_edge else k + 1)
            if min(left, n_rows - left) < MIN_ROWS:
                continue
            agreeing = max(t1 + difference, t0 - difference)
            best = max(best, agreeing)
            if agreeing < needed:
                continue
            after = subbin + 1
            while is_edge and subbins[ROWS, after] == 0:
                after += 1
            cuts[a, AGREEING] = agreeing
            cuts[a, SWAPPED] = t0 - difference > t1 + difference
            cuts[a, LOW] = subbins[GREATEST, subbin] if is_edge else keys[key_index - 1]
            cuts[a, HIGH] = subbins[LEAST, after] if is_edge else keys[key_index]
            cuts[a, BIN] = subbins[OWNER, subbin]
            cuts[a, AFTER] = subbins[OWNER, after]
            return best
        before += n_in_subbin
    return best
