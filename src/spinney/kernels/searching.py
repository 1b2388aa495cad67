"""The best split of a node: its attributes, counted by bins or sorted."""

import numpy as np

from spinney.kernels.compiled import entry, kernel
from spinney.kernels.cuts import scan_sorted
from spinney.kernels.edges import best_edge, mark_bins, run
from spinney.kernels.inside import look_inside
from spinney.kernels.layout import (
    ABSENT,
    AWAY,
    BEST,
    BIN,
    BINS,
    FOUND,
    LEFT,
    LOW,
    OPENED,
    RIGHT,
    WORTH,
    ZERO,
)
from spinney.kernels.scoring import SQUARES, size_of
from spinney.kernels.sorting import sort_pairs
from spinney.kernels.subsets import best_subset

__all__ = ["count", "search_edges_of", "search_inside_of", "search_node", "slack_of"]


@entry
def count(cells, labels, rules, rows, start, stop, first, last, lines, words):
    """Count the attributes from ``first`` to ``last`` over a stretch of rows."""
    codes, width = cells.codes, rules.width
    if len(labels.packed):
        for a in range(first, last):
            for b in range(BINS):
                words[a, b] = 0
        for i in range(start, stop):
            row = rows[i]
            word = labels.packed[row]
            for a in range(first, last):
                words[a, codes[row, a]] += word
        for a in range(first, last):
            for b in range(BINS):
                lines[a, b, 0] = np.float64(words[a, b] & np.uint64(0xFFFFFFFF))
                lines[a, b, 1] = np.float64(words[a, b] >> np.uint64(32))
        return
    for a in range(first, last):
        for b in range(BINS):
            for c in range(width):
                lines[a, b, c] = 0.0
    for i in range(start, stop):
        row = rows[i]
        weight = labels.weights[row]
        if rules.kind == SQUARES:
            number = labels.numbers[row]
            moved = weight * number
            side = 1 if number > 0 else 2
            for a in range(first, last):
                b = codes[row, a]
                lines[a, b, 0] += weight
                lines[a, b, side] += moved
                lines[a, b, 3] += moved * number
        else:
            c = labels.classes[row]
            for a in range(first, last):
                lines[a, codes[row, a], c] += weight


@kernel
def _begin(a, founds):
    """Forget what was found of an attribute.

    Its bin is NaN until it is known to vary, and -1 until there is a cut.
    """
    for what in range(FOUND):
        founds[a, what] = np.nan
    founds[a, WORTH] = -np.inf


@kernel
def _end(a, lefts, vectors):
    """Keep what lies left of the best cut."""
    for c in range(vectors.shape[1]):
        lefts[a, c] = vectors[BEST, c]


@kernel
def search_edges(cells, rules, lines, a, slack, work):
    """Find the best cut between the bins of an attribute, or its best subset."""
    _begin(a, work.founds)
    n_bins = cells.n_bins[a]
    first, last, absent = run(
        rules.kind, lines, a, n_bins, work.sums, work.floats, work.vectors
    )
    if first == last:
        return
    work.founds[a, BIN] = -1
    if cells.nominal[a]:
        best_subset(rules, lines, a, n_bins, absent, slack, work)
    else:
        best_edge(rules, a, n_bins, first, last, absent, slack, work)
    _end(a, work.lefts, work.vectors)


@kernel
def search_inside(
    cells, labels, rules, rows, start, stop, lines, a, floor, slack, work
):
    """Look inside the bins of an attribute that may hold a better cut than the floor.

    Of equal cuts the first wins: one inside a bin lies before the one after it.
    """
    column, n_bins = cells.column[a], cells.n_bins[a]
    if column < 0:
        return
    first, last, absent = run(
        rules.kind, lines, a, n_bins, work.sums, work.floats, work.vectors
    )
    if first < 0 or not mark_bins(
        rules, lines, a, n_bins, first, last, absent, floor, work
    ):
        return
    work.wholes[OPENED, ABSENT] = 0
    n = ZERO
    for i in range(start, stop):
        row = rows[i]
        b = cells.codes[row, a]
        if work.wholes[OPENED, b]:
            work.keys[n] = cells.numbers[row, column]
            work.places[n], work.owners[n] = row, b
            n += 1
    inside_varies = look_inside(rules, labels, n, n_bins, absent, floor, slack, work)
    founds, inner = work.founds, len(work.founds) - 1
    if founds[a, BIN] != founds[a, BIN] and inside_varies:
        founds[a, BIN] = -1
    better = founds[inner, WORTH] > founds[a, WORTH] + slack
    equal = founds[inner, WORTH] >= founds[a, WORTH] - slack
    if better or (equal and founds[inner, BIN] <= founds[a, BIN]):
        for what in range(FOUND):
            founds[a, what] = founds[inner, what]
        _end(a, work.lefts, work.vectors)


@kernel
def _search_small(cells, rules, rows, start, stop, a, slack, work):
    """Find the best cut or subset of an attribute by sorting the rows of a node."""
    column, n_bins, n = cells.column[a], cells.n_bins[a], stop - start
    if column < 0 and (cells.nominal[a] or n_bins <= max(8, n >> 1)):
        for b in range(n_bins):
            for c in range(rules.width):
                work.lines[a, b, c] = 0.0
        for c in range(rules.width):
            work.lines[a, ABSENT, c] = 0.0
        for i in range(n):
            b = cells.codes[rows[start + i], a]
            if rules.kind == SQUARES:
                moved = work.local[0, i] * work.local[1, i]
                work.lines[a, b, 0] += work.local[0, i]
                work.lines[a, b, 1 if moved > 0 else 2] += moved
            else:
                work.lines[a, b, work.local_classes[i]] += work.local[0, i]
        search_edges(cells, rules, work.lines, a, slack, work)
        return
    _begin(a, work.founds)
    vectors, keys, places = work.vectors, work.keys, work.places
    for c in range(rules.width):
        vectors[AWAY, c] = vectors[LEFT, c] = vectors[RIGHT, c] = 0.0
    m = ZERO
    for i in range(n):
        row = rows[start + i]
        code = cells.codes[row, a]
        side = AWAY if code == ABSENT else RIGHT
        if rules.kind == SQUARES:
            moved = work.local[0, i] * work.local[1, i]
            vectors[side, 0] += work.local[0, i]
            vectors[side, 1 if moved > 0 else 2] += moved
        else:
            vectors[side, work.local_classes[i]] += work.local[0, i]
        if side == RIGHT:
            keys[m] = code if column < 0 else cells.numbers[row, column]
            places[m] = i
            m += 1
    sort_pairs(keys, places, m)
    if m < 2 or keys[0] == keys[m - 1]:
        return
    work.founds[a, BIN] = -1
    scan_sorted(
        rules,
        keys,
        places,
        ZERO,
        m,
        work.local_classes,
        work.local[0],
        work.local[1],
        m < n,
        slack,
        work.founds,
        a,
        ZERO,
        vectors,
    )
    if work.founds[a, WORTH] == -np.inf:
        return
    if column < 0:
        work.founds[a, BIN], work.founds[a, LOW] = work.founds[a, LOW], np.nan
    else:
        at = 0
        while keys[at] != work.founds[a, LOW]:
            at += 1
        work.founds[a, BIN] = cells.codes[rows[start + places[at]], a]
    _end(a, work.lefts, work.vectors)


@kernel
def draw(state, n):
    """Return a random whole number below n (xorshift64*, Vigna 2016)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    high = (x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)
    return np.int64((high * np.uint64(n)) >> np.uint64(32))


@entry
def slack_of(kind, totals, at):
    """Return by how much the worth of cuts must differ, not to be equal.

    By a share of the weight, as gains of classes have no unit; of Σwy² for numbers.
    """
    return 1e-12 * (totals[at, 3] if kind == SQUARES else size_of(kind, totals, at))


@entry
def search_edges_of(cells, rules, lines, first, last, slack, work):
    """Find the best cuts between bins, or subsets, of a range of attributes."""
    for a in range(first, last):
        search_edges(cells, rules, lines, a, slack, work)


@entry
def search_inside_of(
    cells, labels, rules, rows, start, stop, lines, first, last, floor, slack, work
):
    """Look inside the bins of a range of attributes; what is found raises the floor."""
    for a in range(first, last):
        search_inside(
            cells,
            labels,
            rules,
            rows,
            start,
            stop,
            lines,
            a,
            floor - 3 * slack,
            slack,
            work,
        )
        floor = max(floor, work.founds[a, WORTH])


@kernel
def search_node(
    cells, labels, rules, rows, start, stop, lines, counted, totals, at, state, work
):
    """Return the attribute whose split is best, -1 without any, and how many vary.

    Attributes are tried in column order, or ``rules.tries`` that vary are drawn.
    """
    p, n, kind = len(cells.n_bins), stop - start, rules.kind
    slack = slack_of(kind, totals, at)
    small = not counted and n <= rules.small
    sampled = rules.tries < p
    order = work.order
    if small:
        for i in range(n):
            row = rows[start + i]
            work.local[0, i] = labels.weights[row]
            if kind == SQUARES:
                work.local[1, i] = labels.numbers[row]
            else:
                work.local_classes[i] = labels.classes[row]
    elif not counted and not sampled:
        count(cells, labels, rules, rows, start, stop, ZERO, p, lines, work.words)
    best, chosen, varying, drawn = -np.inf, -1, 0, 0
    while drawn < p and varying < rules.tries:
        if sampled:
            other = drawn + draw(state, p - drawn)
            order[drawn], order[other] = order[other], order[drawn]
        a = order[drawn]
        drawn += 1
        if small:
            _search_small(cells, rules, rows, start, stop, a, slack, work)
        else:
            if sampled:
                count(
                    cells, labels, rules, rows, start, stop, a, a + 1, lines, work.words
                )
            search_edges(cells, rules, lines, a, slack, work)
        here = work.founds[a, WORTH]
        varying += work.founds[a, BIN] == work.founds[a, BIN]
        # Of equals the first column wins, in whatever order they are drawn.
        if here > best + slack or (a < chosen and here >= best - slack):
            best, chosen = here, a
    if small or not rules.exact:
        return chosen, varying
    floor, best, chosen = best, -np.inf, -1
    for i in range(drawn):
        a = order[i]
        search_inside(
            cells,
            labels,
            rules,
            rows,
            start,
            stop,
            lines,
            a,
            floor - 3 * slack,
            slack,
            work,
        )
        here = work.founds[a, WORTH]
        varying += work.founds[a, BIN] == work.founds[a, BIN]
        floor = max(floor, here)
        if here > best + slack or (a < chosen and here >= best - slack):
            best, chosen = here, a
    return chosen, varying
