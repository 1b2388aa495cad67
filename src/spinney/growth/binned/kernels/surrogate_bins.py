"""Inside the bins of an attribute: where a cut may agree better than between them.

The rows of a node are laid out in *parts*, in rising order: a bin that is left closed
is one part, a bin that is opened has one or several of equal width. Inside a part that
holds b₀ and b₁ of the branches, D stays between what it was before the part less b₁,
and that plus b₀. Only parts where this bound reaches the best edge, and what is needed
to be kept at all, are sorted.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.kernels import layout
from spinney.growth.binned.kernels.cell_numbers import number_at
from spinney.growth.binned.kernels.row_words import number_of

LEAST_ROWS = 2
SLACK = 1e-11  # a share of the weight beyond what sums of it can round by

# What is found of an attribute: the weight that agrees; the values beside the cut, NaN
# where they were not looked at; the bins that these are in; whether the cut is
# reversed; and what its bins may hold at most. Then of the rows that have a value of
# the attribute: the weights of both branches, and how many they are.
AGREEING, LOW, HIGH, BIN, AFTER, SWAPPED, BOUND = np.arange(7)
KNOWN_ONE, KNOWN_OTHER, KNOWN_ROWS = np.arange(7, 10)
FOUND = 10

# Lines of ``parts``: the weights of both branches, the number of rows, the least and
# the greatest value, the bin, whether it is sorted; at the first part of a bin, from
# where on and how finely it is divided.
ONE, OTHER, ROWS, LEAST, GREATEST, OWNER, OPEN, ORIGIN, SCALE = np.arange(9)
LINES_OF_PARTS = 9
PARTS = 4096 + layout.BINS

# Fewer rows are sorted at once; a bin has no more parts than these.
FEW_ROWS = 4096
FINEST = 256

FIRST = np.uint64(1)
SECOND = np.uint64(1 << 32)
HALF = np.uint64(32)


class SurrogateWorkspace(NamedTuple):
    """Where surrogates are sought.

    ``words`` count rows by attribute and bin, the first branch in the lower half;
    ``lines`` their weights; ``cuts`` and ``masks`` are what is found of attributes
    and of their codes, 1 or 2 by branch. ``marks`` are of codes, ``keys``, ``places``
    and ``owners`` hold numbers, where in the node they stand, and their bins.
    """

    words: NDArray[np.uint64]
    lines: NDArray[np.float64]
    cuts: NDArray[np.float64]
    masks: NDArray[np.uint8]
    marks: NDArray[np.int64]
    parts: NDArray[np.float64]
    keys: NDArray[np.float64]
    places: NDArray[np.int64]
    owners: NDArray[np.uint8]


@kernel
def rows_in(word):
    """Return how many rows a word counts."""
    return np.int64((word & (SECOND - FIRST)) + (word >> HALF))


@kernel
def bounded(one, other, apart, more_one, more_other):
    """Return what a cut agrees on at most, where D was ``apart`` before a part."""
    return max(other + apart + more_one, one - apart + more_other)


@kernel
def lay_all(search, begin, middle, end, a, one, other):
    """Lay the rows of a small node out as one part, to be sorted; return their number.

    Those without a value of the attribute are left out.
    """
    cells, room, rows = search.cells, search.room, search.rows
    column, parts, cuts, n = cells.column[a], room.parts, room.cuts, ZERO
    cuts[a, KNOWN_ONE] = cuts[a, KNOWN_OTHER] = 0.0
    for i in range(begin, end):
        row = number_of(rows[i])
        code = cells.codes[row, a]
        if code == layout.ABSENT:
            continue
        if column < 0:
            room.keys[n] = cells.values[a, code]
        else:
            room.keys[n] = number_at(cells, row, column)
        room.places[n] = i
        cuts[a, KNOWN_ONE if i < middle else KNOWN_OTHER] += search.weights[row]
        n += 1
    if n == end - begin:
        cuts[a, KNOWN_ONE], cuts[a, KNOWN_OTHER] = one, other
    cuts[a, KNOWN_ROWS] = parts[ROWS, 0] = n
    parts[ONE, 0], parts[OTHER, 0] = cuts[a, KNOWN_ONE], cuts[a, KNOWN_OTHER]
    parts[OPEN, 0] = 1
    return n


@kernel
def lay_parts(search, begin, middle, end, a, needed):
    """Lay the rows of a node out in parts; take those that may have what is needed.

    Return how many parts there are, and how many keys to sort.
    """
    cells, room = search.cells, search.room
    parts, marks, n_bins, n_opened = room.parts, room.marks, cells.n_bins[a], 0
    one, other = room.cuts[a, KNOWN_ONE], room.cuts[a, KNOWN_OTHER]
    n, apart, marks[layout.ABSENT] = ZERO, 0.0, -1
    for b in range(n_bins):
        here, more = rows_in(room.words[a, b]), room.lines[a, b]
        bound = bounded(one, other, apart, more[0], more[1])
        marks[b] = -1
        if cells.column[a] >= 0 and here > 1 and bound >= needed:
            marks[b] = 0
            n_opened += 1
            n += here
        apart += more[0] - more[1]
    fine = min(FINEST, (PARTS - layout.BINS) // n_opened) if n > FEW_ROWS else 1
    n_parts = ZERO
    for b in range(n_bins):
        if marks[b] == 0:
            marks[b] = n_parts
        for part in range(n_parts, n_parts + (fine if marks[b] >= 0 else 1)):
            parts[OWNER, part], parts[OPEN, part] = b, marks[b] >= 0
            parts[ONE, part] = room.lines[a, b, 0]
            parts[OTHER, part] = room.lines[a, b, 1]
            parts[ROWS, part] = rows_in(room.words[a, b])
            parts[LEAST, part] = parts[GREATEST, part] = cells.values[a, b]
            n_parts += 1
    if n_opened:
        n = _gather(search, begin, end, a)
        if fine > 1:
            _divide(n_bins, fine, room)
            _count_parts(search, middle, n, fine)
            _close_parts(a, n_parts, needed, room)
            n = _sift(n, fine, room)
    return n_parts, n


@kernel
def _gather(search, begin, end, a):
    """Take the rows of the opened bins, and find the range of each; return how many."""
    cells, room, rows = search.cells, search.room, search.rows
    marks, parts, column, n = room.marks, room.parts, cells.column[a], ZERO
    for b in range(cells.n_bins[a]):
        if marks[b] >= 0:
            parts[LEAST, marks[b]], parts[GREATEST, marks[b]] = np.inf, -np.inf
    for i in range(begin, end):
        row = number_of(rows[i])
        code = cells.codes[row, a]
        at = marks[code]
        if at >= 0:
            key = number_at(cells, row, column)
            room.keys[n], room.places[n], room.owners[n] = key, i, code
            parts[LEAST, at] = min(parts[LEAST, at], key)
            parts[GREATEST, at] = max(parts[GREATEST, at], key)
            n += 1
    return n


@kernel
def _divide(n_bins, fine, room):
    """Divide opened bins into empty parts of equal width."""
    parts = room.parts
    for b in range(n_bins):
        at = room.marks[b]
        if at < 0:
            continue
        scale = fine / (parts[GREATEST, at] - parts[LEAST, at])
        parts[ORIGIN, at] = parts[LEAST, at]
        parts[SCALE, at] = scale if 0 < scale < np.inf else 0.0
        for part in range(at, at + fine):
            parts[ONE, part] = parts[OTHER, part] = parts[ROWS, part] = 0.0
            parts[LEAST, part], parts[GREATEST, part] = np.inf, -np.inf


@kernel
def _part_of(i, fine, room):
    """Return the part of a key; it never falls as the key grows."""
    first = room.marks[room.owners[i]]
    at = (room.keys[i] - room.parts[ORIGIN, first]) * room.parts[SCALE, first]
    return first + (np.int64(min(at, fine - 1.0)) if at > 0 else 0)


@kernel
def _count_parts(search, middle, n, fine):
    """Count the rows of opened bins by part."""
    room, rows, weights = search.room, search.rows, search.weights
    parts = room.parts
    for i in range(n):
        part, place, key = _part_of(i, fine, room), room.places[i], room.keys[i]
        weight = weights[number_of(rows[place])]
        parts[ONE if place < middle else OTHER, part] += weight
        parts[ROWS, part] += 1
        parts[LEAST, part] = min(parts[LEAST, part], key)
        parts[GREATEST, part] = max(parts[GREATEST, part], key)


@kernel
def _close_parts(a, n_parts, needed, room):
    """Leave those parts open that may hold a better cut than all edges of parts."""
    parts, best, n_rows = room.parts, needed, room.cuts[a, KNOWN_ROWS]
    one, other = room.cuts[a, KNOWN_ONE], room.cuts[a, KNOWN_OTHER]
    for final in range(2):
        apart, before = 0.0, 0.0
        for part in range(n_parts):
            more = parts[ONE, part], parts[OTHER, part]
            if final and parts[OPEN, part]:
                alike = not parts[LEAST, part] < parts[GREATEST, part]
                bound = bounded(one, other, apart, more[0], more[1])
                parts[OPEN, part] = not alike and bound >= best
            apart += more[0] - more[1]
            before += parts[ROWS, part]
            if min(before, n_rows - before) >= LEAST_ROWS:
                reached = max(other + apart, one - apart)
                best = max(best, reached - SLACK * (one + other))


@kernel
def _sift(n, fine, room):
    """Keep the keys of open parts; return how many there are."""
    m = ZERO
    for i in range(n):
        if room.parts[OPEN, _part_of(i, fine, room)]:
            room.keys[m], room.places[m] = room.keys[i], room.places[i]
            room.owners[m] = room.owners[i]
            m += 1
    return m


@kernel
def scan(search, middle, a, n_parts, wanted):
    """Return the most that a cut agrees on, or note the first that agrees as wanted."""
    room, rows, weights = search.room, search.rows, search.weights
    parts, keys, cuts = room.parts, room.keys, room.cuts
    one, other, n_rows = cuts[a, KNOWN_ONE], cuts[a, KNOWN_OTHER], cuts[a, KNOWN_ROWS]
    before, at, sums, best = ZERO, ZERO, 0.0, -np.inf
    for part in range(n_parts):
        here, sorted_here = np.int64(parts[ROWS, part]), parts[OPEN, part] > 0
        if here == 0:
            continue
        apart, inside = sums, here if sorted_here else ZERO + 1
        sums += parts[ONE, part] - parts[OTHER, part]
        for k in range(inside):
            ends = k == inside - 1
            if sorted_here:
                place = room.places[at]
                weight = weights[number_of(rows[place])]
                apart += weight if place < middle else -weight
                at += 1
            if ends:
                apart = sums
            elif keys[at] == keys[at - 1]:
                continue
            left = before + (here if ends else k + 1)
            if min(left, n_rows - left) < LEAST_ROWS:
                continue
            agreeing = max(other + apart, one - apart)
            best = max(best, agreeing)
            if agreeing < wanted:
                continue
            after = part + 1
            while ends and parts[ROWS, after] == 0:
                after += 1
            cuts[a, AGREEING] = agreeing
            cuts[a, SWAPPED] = one - apart > other + apart
            cuts[a, LOW] = parts[GREATEST, part] if ends else keys[at - 1]
            cuts[a, HIGH] = parts[LEAST, after] if ends else keys[at]
            cuts[a, BIN] = parts[OWNER, part]
            cuts[a, AFTER] = parts[OWNER, after]
            return best
        before += here
    return best
