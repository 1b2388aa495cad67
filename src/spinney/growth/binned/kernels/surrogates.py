"""The surrogates of inner nodes.

The rows of a node that have a value of its attribute are a stretch of one array of row
words, those of its first branch before the others. Of another attribute, let T₀, T₁ be
the weights of the branches among the rows that have a value of that one, and D the
weight of the first branch less that of the second left of a cut; the cut agrees on ::

    L₀ + R₁ = T₁ + D,    or reversed    L₁ + R₀ = T₀ − D

so the best one is where D is greatest or least. Counts by bin give D at every edge, and
``surrogate_bins`` looks inside the bins where it may be greater or less.

Of equal cuts the first wins, as ``spinney.search.surrogate_search`` has it: the
greatest agreement is sought first, then the first cut that has it but for rounding.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import ZERO, entry, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels import surrogate_bins as bins
from spinney.growth.binned.kernels.cell_numbers import number_at
from spinney.growth.binned.kernels.layout import Cells
from spinney.growth.binned.kernels.row_words import RowWords, number_of
from spinney.growth.binned.kernels.send import send_rows
from spinney.growth.binned.kernels.sort import sort
from spinney.growth.binned.kernels.surrogate_bins import (
    bounded,
    lay_all,
    lay_parts,
    rows_in,
    scan,
)

LEAST_ADJUSTED = 1e-10

# What is kept of a surrogate.
KEPT_LOW, KEPT_HIGH, AGREEMENT, ADJUSTED, REVERSED = np.arange(5)
KEPT = 5


class SurrogateLines(NamedTuple):
    """The surrogates of nodes, one line per node, best first.

    ``line_of`` says which line is that of a node; ``attributes`` are -1 where there is
    none; ``real`` has values beside the cut, agreement, adjusted agreement and whether
    it is reversed; ``masks`` the codes of both branches, 1 and 2.
    """

    line_of: NDArray[np.int64]
    attributes: NDArray[np.int32]
    real: NDArray[np.float64]
    masks: NDArray[np.uint8]


class SurrogateSearch(NamedTuple):
    """All that a search reads and writes.

    Rows with their weights, and whether each of these is 1; the tree, as ``send`` takes
    it; up to how many rows a node is ``small`` and sorted; where the search works, and
    what it keeps.
    """

    cells: Cells
    weights: NDArray[np.float64]
    unit: bool
    whole: NDArray[np.int32]
    real: NDArray[np.float64]
    by_code: NDArray[np.int64]
    spans: NDArray[np.int64]
    rows: RowWords
    small: int
    room: bins.SurrogateWorkspace
    kept: SurrogateLines


@kernel
def _weigh(search, begin, end):
    """Return the weight of a stretch of rows."""
    total, rows, weights = 0.0, search.rows, search.weights
    for i in range(begin, end):
        total += weights[number_of(rows[i])]
    return total


@kernel
def _count(search, begin, middle, end, first, last):
    """Count the rows of both branches, and weigh them, by attribute and bin."""
    cells, rows, weights, unit = search.cells, search.rows, search.weights, search.unit
    words, lines, codes = search.room.words, search.room.lines, cells.codes
    for a in range(first, last):
        for b in range(cells.n_bins[a]):
            words[a, b] = 0
            lines[a, b, 0], lines[a, b, 1] = 0.0, 0.0
        words[a, layout.ABSENT] = 0
    for i in range(begin, end):
        row, one = number_of(rows[i]), bins.FIRST if i < middle else bins.SECOND
        for a in range(first, last):
            words[a, codes[row, a]] += one
        if not unit:
            side, weight = np.int64(i >= middle), weights[row]
            for a in range(first, last):
                lines[a, codes[row, a], side] += weight
    if unit:
        for a in range(first, last):
            for b in range(cells.n_bins[a]):
                lines[a, b, 0] = np.float64(words[a, b] & (bins.SECOND - bins.FIRST))
                lines[a, b, 1] = np.float64(words[a, b] >> bins.HALF)


@kernel
def _sum_known(a, n_bins, one, other, n_rows, room):
    """Set the weights and the number of the rows that have a value of an attribute.

    ``one``, ``other`` and ``n_rows`` are those of all rows.
    """
    cuts, lacking = room.cuts, rows_in(room.words[a, layout.ABSENT])
    cuts[a, bins.KNOWN_ONE], cuts[a, bins.KNOWN_OTHER] = one, other
    cuts[a, bins.KNOWN_ROWS] = n_rows - lacking
    if lacking == 0:
        return
    for side in range(2):
        total = 0.0
        for b in range(n_bins):
            total += room.lines[a, b, side]
        cuts[a, bins.KNOWN_ONE + side] = total


@kernel
def _group(a, n_codes, room):
    """Give each code its branch; on a tie the heavier one, of equals the second."""
    one, other = room.cuts[a, bins.KNOWN_ONE], room.cuts[a, bins.KNOWN_OTHER]
    lines, everything = room.lines, one + other
    heavier = 1 if other / everything >= one / everything - TOLERANCE else 0
    agreeing, n_first, n_second = 0.0, 0, 0
    for code in range(n_codes):
        here = rows_in(room.words[a, code])
        room.masks[a, code] = 0
        if here == 0:
            continue
        apart = (lines[a, code, 1] - lines[a, code, 0]) / everything
        side = heavier if abs(apart) <= TOLERANCE else (1 if apart > 0 else 0)
        room.masks[a, code] = 1 + side
        agreeing += lines[a, code, side]
        if side:
            n_second += here
        else:
            n_first += here
    if min(n_first, n_second) >= bins.LEAST_ROWS:
        room.cuts[a, bins.AGREEING] = agreeing


@kernel
def _best_edge(a, n_bins, openable, room):
    """Find what the best cut between bins agrees on, and one inside may at most."""
    one, other = room.cuts[a, bins.KNOWN_ONE], room.cuts[a, bins.KNOWN_OTHER]
    n_rows = room.cuts[a, bins.KNOWN_ROWS]
    lines, apart, before = room.lines, 0.0, ZERO
    best, bound = -np.inf, -np.inf
    for b in range(n_bins):
        here = rows_in(room.words[a, b])
        if here == 0:
            continue
        if openable and here > 1:
            more = bounded(one, other, apart, lines[a, b, 0], lines[a, b, 1])
            bound = max(bound, more)
        apart += lines[a, b, 0] - lines[a, b, 1]
        before += here
        if min(before, n_rows - before) >= bins.LEAST_ROWS:
            best = max(best, other + apart, one - apart)
    room.cuts[a, bins.AGREEING], room.cuts[a, bins.BOUND] = best, bound


@kernel
def _floor(first, last, most, least, room):
    """Return what the last of the surrogates to keep agrees on at least.

    Where so many attributes agree on more, one that agrees on less is never kept.
    """
    for k in range(most):
        room.keys[k] = least
    for a in range(first, last):
        agreeing = room.cuts[a, bins.AGREEING]
        at = most - 1
        if not agreeing > room.keys[at]:
            continue
        while at > 0 and room.keys[at - 1] < agreeing:
            room.keys[at] = room.keys[at - 1]
            at -= 1
        room.keys[at] = agreeing
    return room.keys[most - 1]


@kernel
def _search(search, begin, middle, end, own, first, last):
    """Find the best surrogate of each of a range of attributes.

    What agrees too little to be kept is -∞. ``own`` is the attribute of the node.
    """
    cells, room = search.cells, search.room
    one, other = _weigh(search, begin, middle), _weigh(search, middle, end)
    everything, majority = one + other, max(one, other)
    cuts, n = room.cuts, end - begin
    for a in range(first, last):
        cuts[a, bins.AGREEING], cuts[a, bins.BOUND] = -np.inf, -np.inf
        cuts[a, bins.SWAPPED] = 0
    lesser = everything - majority
    if lesser <= 0:
        return
    least = majority + LEAST_ADJUSTED * lesser
    sorting = n <= search.small
    if not sorting:
        _count(search, begin, middle, end, first, last)
    for a in range(first, last):
        if a == own or (sorting and not cells.nominal[a]):
            continue
        if sorting:
            _count(search, begin, middle, end, a, a + 1)
        _sum_known(a, cells.n_bins[a], one, other, n, room)
        if cells.nominal[a]:
            _group(a, cells.n_bins[a], room)
        else:
            _best_edge(a, cells.n_bins[a], cells.column[a] >= 0, room)
    floor = least
    if not sorting:
        most = np.int64(search.kept.attributes.shape[1])
        floor = _floor(first, last, most, least, room) - bins.SLACK * everything
    for a in range(first, last):
        agreeing = cuts[a, bins.AGREEING]
        if a == own or (not sorting and max(agreeing, cuts[a, bins.BOUND]) < floor):
            cuts[a, bins.AGREEING] = -np.inf
        elif not cells.nominal[a]:
            n_parts = ZERO + 1
            if sorting:
                n_keys = lay_all(search, begin, middle, end, a, one, other)
            else:
                low = max(floor, agreeing - bins.SLACK * everything)
                n_parts, n_keys = lay_parts(search, begin, middle, end, a, low)
            sort(room.keys, room.places, n_keys, room.marks)
            _scan_twice(search, middle, a, n_parts, least)
        if (cuts[a, bins.AGREEING] - majority) / lesser <= LEAST_ADJUSTED:
            cuts[a, bins.AGREEING] = -np.inf


@kernel
def _scan_twice(search, middle, a, n_parts, least):
    """Find the best cut of sorted rows: what it agrees on, then the first of equals."""
    search.room.cuts[a, bins.AGREEING], wanted = -np.inf, np.inf
    for _ in range(2):
        best = scan(search, middle, a, n_parts, wanted)
        if best < least:
            return
        wanted = best * (1 - TOLERANCE)


@kernel
def _find_ends(search, begin, end, a):
    """Find the values beside a cut that are not known: next to bins left closed."""
    cells, rows, cuts = search.cells, search.rows, search.room.cuts
    column, before = cells.column[a], np.int64(cuts[a, bins.BIN])
    after, low, high = np.int64(cuts[a, bins.AFTER]), -np.inf, np.inf
    for i in range(begin, end):
        row = number_of(rows[i])
        code = cells.codes[row, a]
        if code == before:
            low = max(low, number_at(cells, row, column))
        elif code == after:
            high = min(high, number_at(cells, row, column))
    if cuts[a, bins.LOW] != cuts[a, bins.LOW]:
        cuts[a, bins.LOW] = low
    if cuts[a, bins.HIGH] != cuts[a, bins.HIGH]:
        cuts[a, bins.HIGH] = high


@kernel
def _keep(search, begin, middle, end, at):
    """Keep the best of what was found, the greatest agreement first.

    What is kept of attributes is -1 to begin with.
    """
    cells, room, kept = search.cells, search.room, search.kept
    one, other = _weigh(search, begin, middle), _weigh(search, middle, end)
    everything, majority = one + other, max(one, other)
    cuts, p = room.cuts, len(cells.n_bins)
    for k in range(kept.attributes.shape[1]):
        best, chosen = -np.inf, -1
        for a in range(p):
            best = max(best, cuts[a, bins.AGREEING])
        if best == -np.inf:
            return
        best = min(best / everything, 1.0) - TOLERANCE
        for a in range(p - 1, -1, -1):
            if min(cuts[a, bins.AGREEING] / everything, 1.0) >= best:
                chosen = a
        if cells.nominal[chosen]:
            for code in range(cells.n_bins[chosen]):
                kept.masks[at, k, code] = room.masks[chosen, code]
        elif np.isnan(cuts[chosen, bins.LOW] + cuts[chosen, bins.HIGH]):
            _find_ends(search, begin, end, chosen)
        agreeing = cuts[chosen, bins.AGREEING]
        kept.attributes[at, k] = chosen
        kept.real[at, k, KEPT_LOW] = cuts[chosen, bins.LOW]
        kept.real[at, k, KEPT_HIGH] = cuts[chosen, bins.HIGH]
        kept.real[at, k, AGREEMENT] = min(agreeing / everything, 1.0)
        adjusted = (agreeing - majority) / (everything - majority)
        kept.real[at, k, ADJUSTED] = min(adjusted, 1.0)
        kept.real[at, k, REVERSED] = cuts[chosen, bins.SWAPPED]
        cuts[chosen, bins.AGREEING] = -np.inf


@entry
def find_surrogates(search, subtree, attributes, steps):
    """Find the surrogates of the inner nodes of a subtree.

    ``subtree`` and ``attributes`` are ranges. Of a large node each of the ``steps``
    (send its rows, search, keep) is made on its own, and the search by several threads.
    """
    whole, spans, room = search.whole, search.spans, search.room
    for node in range(subtree[0], subtree[1]):
        own = whole[node, nodes.ATTRIBUTE]
        if own < 0:
            continue
        if steps[0]:
            send_rows(search, node, room.marks, room.places)
        begin, end = spans[node, 0], spans[node, 1]
        middle = spans[whole[node, nodes.CHILD], 1]
        if steps[1]:
            _search(search, begin, middle, end, own, attributes[0], attributes[1])
        if steps[2]:
            _keep(search, begin, middle, end, search.kept.line_of[node])
