"""The best cut inside the bins of an attribute that may hold one.

An open bin is looked at twice. First its rows are put into parts of equal width, and
every edge between parts is tried; then the same bound that opened the bin tells which
parts may still hold a better cut, and only the rows of those are sorted.
"""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.loops.layout import (
    AWAY,
    BIN,
    BIN_OF,
    FIRST_PART,
    HIGH,
    INSIDE,
    KEPT,
    LEFT,
    LENGTH,
    LOW,
    LOWS,
    MISSING,
    OPENED,
    PART_HIGH,
    PART_LOW,
    PART_ROWS,
    RIGHT,
    SCALES,
    SUMS,
    WORTH,
)
from spinney.growth.binned.loops.row_words import add_row
from spinney.growth.binned.loops.score import bound_inside
from spinney.growth.binned.loops.sort import key_of, settle, sort_keys
from spinney.growth.binned.loops.sorted_cuts import improve, scan_sorted

PARTS = 16


@kernel
def look_inside(rules, labels, n, n_bins, absent, floor, slack, rounded, work):
    """Find the best cut inside the open bins, as the last line of ``founds``.

    Return whether any of them has more than one value. The first ``n`` of ``values``,
    ``members`` and ``owners`` are the rows in open bins: numbers, rows and bins.
    """
    wholes, inner = work.wholes, len(work.founds) - 1
    n_open = ZERO
    for b in range(n_bins):
        if wholes[OPENED, b]:
            wholes[FIRST_PART, b], wholes[BIN_OF, n_open] = n_open, b
            n_open += 1
    share = max(1, min(PARTS, (LENGTH - 1) // n_open))
    n_parts = share * n_open
    _divide(n, n_open, share, work)
    _count_parts(rules, labels, n, n_parts, share, work)
    _forget(work.founds, inner)
    varies = False
    for part in range(n_parts):
        varies = varies or work.floats[PART_LOW, part] < work.floats[PART_HIGH, part]
        if _beside(part, share, n_bins, work) >= 0:
            varies = True
            improve(rules, absent, slack, work.founds, inner, work.vectors)
    floor = max(floor, work.founds[inner, WORTH] - 3 * slack)
    kept = _keep_rows(rules, n, n_parts, n_bins, absent, floor, work)
    sort_keys(work.keys, kept, wholes)
    if rounded:
        settle(work.keys, kept, work.values)
    _search_parts(rules, labels, n_parts, share, n_bins, absent, slack, work)
    return varies


@kernel
def _search_parts(rules, labels, n_parts, share, n_bins, absent, slack, work):
    """Find the best cut inside the parts that were kept, or between any two."""
    founds, wholes, inner = work.founds, work.wholes, len(work.founds) - 1
    _forget(founds, inner)
    begin = ZERO
    for part in range(n_parts):
        b = wholes[BIN_OF, part // share]
        if wholes[KEPT, part]:
            for c in range(rules.width):
                before = work.floats[SUMS + rules.width + c, part]
                work.vectors[LEFT, c] = before
                work.vectors[RIGHT, c] = work.floats[SUMS + c, n_bins] - before
            end = begin + wholes[PART_ROWS, part]
            scan_sorted(
                rules,
                begin,
                end,
                labels,
                absent,
                slack,
                work,
                inner,
                b,
            )
            begin = end
        after = _beside(part, share, n_bins, work)
        if after >= 0 and improve(rules, absent, slack, founds, inner, work.vectors):
            founds[inner, BIN] = b
            founds[inner, LOW] = work.floats[PART_HIGH, part]
            founds[inner, HIGH] = work.floats[PART_LOW, after]


@kernel
def _forget(founds, at):
    founds[at, WORTH] = -np.inf
    founds[at, BIN] = founds[at, LOW] = founds[at, HIGH] = np.nan
    founds[at, MISSING] = -1


@kernel
def _divide(n, n_open, share, work):
    """Say which part each row lies in: one of ``share`` of equal width in its bin."""
    floats, wholes, values, owners = work.floats, work.wholes, work.values, work.owners
    for j in range(n_open):
        floats[LOWS, j], floats[SCALES, j] = np.inf, -np.inf
    for part in range(n_open * share):
        floats[PART_LOW, part], floats[PART_HIGH, part] = np.inf, -np.inf
        wholes[PART_ROWS, part] = 0
    for i in range(n):
        j = wholes[FIRST_PART, owners[i]]
        floats[LOWS, j] = min(floats[LOWS, j], values[i])
        floats[SCALES, j] = max(floats[SCALES, j], values[i])
    for j in range(n_open):
        span = floats[SCALES, j] - floats[LOWS, j]
        scale = share / span if 0 < span < np.inf else 0.0
        floats[SCALES, j] = scale if scale < np.inf else 0.0
    for i in range(n):
        j = wholes[FIRST_PART, owners[i]]
        # Infinite numbers have no place in equal parts: 0 · ∞ is NaN, and the first.
        at = (values[i] - floats[LOWS, j]) * floats[SCALES, j]
        part = j * share + (np.int64(min(at, share - 1.0)) if at > 0 else 0)
        owners[i] = part
        floats[PART_LOW, part] = min(floats[PART_LOW, part], values[i])
        floats[PART_HIGH, part] = max(floats[PART_HIGH, part], values[i])
        wholes[PART_ROWS, part] += 1


@kernel
def _count_parts(rules, labels, n, n_parts, share, work):
    """Count the parts, and sum up what lies before each of them."""
    parts, floats, width = work.parts, work.floats, rules.width
    for part in range(n_parts):
        for c in range(width):
            parts[part, c] = 0.0
    for i in range(n):
        part = np.int64(work.owners[i])
        add_row(rules.kind, labels, work.members[i], parts, part)
    for part in range(n_parts):
        for c in range(width):
            before = floats[SUMS + c, work.wholes[BIN_OF, part // share]]
            if part % share:
                before = floats[SUMS + width + c, part - 1] + parts[part - 1, c]
            floats[SUMS + width + c, part] = before


@kernel
def _beside(part, share, n_bins, work):
    """Set LEFT and RIGHT to the sides of the edge after a part; return the next part.

    -1 where the part is empty or no later part of the same bin has rows: the edge
    after a bin is not inside it.
    """
    wholes, vectors = work.wholes, work.vectors
    if wholes[PART_ROWS, part] == 0:
        return -1
    end = (part // share + 1) * share
    after = part + 1
    while after < end and wholes[PART_ROWS, after] == 0:
        after += 1
    if after == end:
        return -1
    width = vectors.shape[1]
    for c in range(width):
        left = work.floats[SUMS + width + c, part] + work.parts[part, c]
        vectors[LEFT, c] = left
        vectors[RIGHT, c] = work.floats[SUMS + c, n_bins] - left
    return after


@kernel
def _keep_rows(rules, n, n_parts, n_bins, absent, floor, work):
    """Keep the rows of the parts that may hold a better cut, and return how many."""
    wholes, floats, vectors = work.wholes, work.floats, work.vectors
    tried = rules.least_branch <= 0
    for part in range(n_parts):
        wholes[KEPT, part] = 0
        if floats[PART_LOW, part] >= floats[PART_HIGH, part]:
            continue
        for trial in range(2 if absent else 1):
            for c in range(rules.width):
                inside = work.parts[part, c]
                before = floats[SUMS + rules.width + c, part]
                vectors[INSIDE, c], vectors[LEFT, c] = inside, before
                vectors[RIGHT, c] = floats[SUMS + c, n_bins] - before - inside
                if absent:
                    vectors[LEFT if trial == 0 else RIGHT, c] += vectors[AWAY, c]
            if bound_inside(rules.kind, vectors, floor, tried) >= floor:
                wholes[KEPT, part] = 1
    kept = ZERO
    for i in range(n):
        if wholes[KEPT, work.owners[i]]:
            work.keys[kept] = key_of(work.values[i], i)
            kept += 1
    return kept
