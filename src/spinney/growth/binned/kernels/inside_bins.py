"""The best cut inside the bins of an attribute that may hold one.

An open bin is looked at twice. First its rows are put into parts of equal width, and
every edge between parts is tried; then the same bound that opened the bin (``score``
has its proof) tells which parts may still hold a better cut, and only the rows of those
are sorted.
"""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.kernels import layout
from spinney.growth.binned.kernels.row_words import add_row
from spinney.growth.binned.kernels.score import add_missing, bound_inside
from spinney.growth.binned.kernels.sort import key_of, settle, sort
from spinney.growth.binned.kernels.sorted_cuts import improve, scan_sorted

PARTS = 16


@kernel
def look_inside(rules, labels, n, n_bins, absent, floor, slack, rounded, work):
    """Find the best cut inside the open bins, as the last line of ``cuts``.

    Return whether any of them has more than one value. The first ``n`` of ``values``,
    ``members`` and ``owners`` are the rows in open bins: numbers, rows and bins.
    """
    floats, wholes, inner = work.floats, work.wholes, len(work.cuts) - 1
    n_open = ZERO
    for b in range(n_bins):
        if wholes[layout.OPENED, b]:
            wholes[layout.FIRST_PART, b], wholes[layout.BIN_OF, n_open] = n_open, b
            n_open += 1
    share = max(1, min(PARTS, (layout.LENGTH - 1) // n_open))
    n_parts = share * n_open
    _divide(n, n_open, share, work)
    _count_parts(rules, labels, n, n_parts, share, work)
    _forget(work.cuts, inner)
    varies = False
    for part in range(n_parts):
        varies |= floats[layout.PART_LOW, part] < floats[layout.PART_HIGH, part]
        if _beside(part, share, n_bins, work) >= 0:
            varies = True
            improve(rules, absent, slack, work, inner)
    floor = max(floor, work.cuts[inner, layout.SCORE] - 3 * slack)
    kept = _keep_rows(rules, n, n_parts, n_bins, absent, floor, work)
    sort(work.keys, None, kept, work.wholes[layout.WAITING])
    if rounded:
        settle(work.keys, kept, work.values)
    _search_parts(rules, labels, n_parts, share, n_bins, absent, slack, work)
    return varies


@kernel
def _search_parts(rules, labels, n_parts, share, n_bins, absent, slack, work):
    """Find the best cut inside the parts that were kept, or between any two."""
    cuts, wholes, inner = work.cuts, work.wholes, len(work.cuts) - 1
    _forget(cuts, inner)
    begin = ZERO
    for part in range(n_parts):
        b = wholes[layout.BIN_OF, part // share]
        if wholes[layout.KEPT, part]:
            for c in range(rules.width):
                before = work.floats[layout.SUMS + rules.width + c, part]
                work.vectors[layout.LEFT, c] = before
                total = work.floats[layout.SUMS + c, n_bins]
                work.vectors[layout.RIGHT, c] = total - before
            end = begin + wholes[layout.PART_ROWS, part]
            scan_sorted(rules, begin, end, labels, absent, slack, work, inner, b)
            begin = end
        after = _beside(part, share, n_bins, work)
        if after >= 0 and improve(rules, absent, slack, work, inner):
            cuts[inner, layout.BIN] = b
            cuts[inner, layout.LOW] = work.floats[layout.PART_HIGH, part]
            cuts[inner, layout.HIGH] = work.floats[layout.PART_LOW, after]


@kernel
def _forget(cuts, at):
    cuts[at, layout.SCORE] = -np.inf
    cuts[at, layout.BIN] = cuts[at, layout.LOW] = cuts[at, layout.HIGH] = np.nan
    cuts[at, layout.MISSING] = -1


@kernel
def _divide(n, n_open, share, work):
    """Say which part each row lies in: one of ``share`` of equal width in its bin."""
    floats, wholes, values, owners = work.floats, work.wholes, work.values, work.owners
    for j in range(n_open):
        floats[layout.LOWS, j], floats[layout.SCALES, j] = np.inf, -np.inf
    for part in range(n_open * share):
        floats[layout.PART_LOW, part], floats[layout.PART_HIGH, part] = np.inf, -np.inf
        wholes[layout.PART_ROWS, part] = 0
    for i in range(n):
        j = wholes[layout.FIRST_PART, owners[i]]
        floats[layout.LOWS, j] = min(floats[layout.LOWS, j], values[i])
        floats[layout.SCALES, j] = max(floats[layout.SCALES, j], values[i])
    for j in range(n_open):
        span = floats[layout.SCALES, j] - floats[layout.LOWS, j]
        scale = share / span if 0 < span < np.inf else 0.0
        floats[layout.SCALES, j] = scale if scale < np.inf else 0.0
    for i in range(n):
        j = wholes[layout.FIRST_PART, owners[i]]
        # Infinite numbers have no place in equal parts: 0 · ∞ is NaN, and the first.
        at = (values[i] - floats[layout.LOWS, j]) * floats[layout.SCALES, j]
        part = j * share + (np.int64(min(at, share - 1.0)) if at > 0 else 0)
        owners[i] = part
        floats[layout.PART_LOW, part] = min(floats[layout.PART_LOW, part], values[i])
        floats[layout.PART_HIGH, part] = max(floats[layout.PART_HIGH, part], values[i])
        wholes[layout.PART_ROWS, part] += 1


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
            before = floats[layout.SUMS + c, work.wholes[layout.BIN_OF, part // share]]
            if part % share:
                before = floats[layout.SUMS + width + c, part - 1] + parts[part - 1, c]
            floats[layout.SUMS + width + c, part] = before


@kernel
def _beside(part, share, n_bins, work):
    """Set LEFT and RIGHT to the sides of the edge after a part; return the next part.

    -1 where the part is empty or no later part of the same bin has rows: the edge
    after a bin is not inside it.
    """
    wholes, vectors = work.wholes, work.vectors
    if wholes[layout.PART_ROWS, part] == 0:
        return -1
    end = (part // share + 1) * share
    after = part + 1
    while after < end and wholes[layout.PART_ROWS, after] == 0:
        after += 1
    if after == end:
        return -1
    width = vectors.shape[1]
    for c in range(width):
        left = work.floats[layout.SUMS + width + c, part] + work.parts[part, c]
        vectors[layout.LEFT, c] = left
        vectors[layout.RIGHT, c] = work.floats[layout.SUMS + c, n_bins] - left
    return after


@kernel
def _keep_rows(rules, n, n_parts, n_bins, absent, floor, work):
    """Keep the rows of the parts that may hold a better cut, and return how many."""
    wholes, floats, vectors = work.wholes, work.floats, work.vectors
    tried = work.limits[layout.LEAST] <= 0
    for part in range(n_parts):
        wholes[layout.KEPT, part] = 0
        if floats[layout.PART_LOW, part] >= floats[layout.PART_HIGH, part]:
            continue
        for trial in range(2 if absent else 1):
            for c in range(rules.width):
                inside = work.parts[part, c]
                before = floats[layout.SUMS + rules.width + c, part]
                vectors[layout.INSIDE, c], vectors[layout.LEFT, c] = inside, before
                total = floats[layout.SUMS + c, n_bins]
                vectors[layout.RIGHT, c] = total - before - inside
            if absent:
                add_missing(vectors, layout.LEFT + trial)
            if bound_inside(rules.kind, vectors, floor, tried) >= floor:
                wholes[layout.KEPT, part] = 1
    kept = ZERO
    for i in range(n):
        if wholes[layout.KEPT, work.owners[i]]:
            work.keys[kept] = key_of(work.values[i], i)
            kept += 1
    return kept
