"""The best cut inside the bins of an attribute that may hold one.

An open bin is looked at twice. First its rows are put into parts of equal width, and
every edge between parts is tried; then the same bound that opened the bin tells which
parts may still hold a better cut, and only the rows of those are sorted.
"""

import numpy as np

from spinney.kernels.compiled import kernel
from spinney.kernels.cuts import improve, scan_sorted
from spinney.kernels.layout import (
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
    WORTH,
    ZERO,
)
from spinney.kernels.scoring import SQUARES, bound_inside
from spinney.kernels.sorting import sort_pairs

__all__ = ["look_inside"]

PARTS = 16


@kernel
def look_inside(rules, labels, n, n_bins, absent, floor, slack, work):
    """Find the best cut inside the open bins, as the last line of ``founds``.

    Return whether any of them has more than one value.

    The keys are the values of ``n`` rows, ``places`` their numbers and ``owners``
    their bins.
    """
    wholes, inner = work.wholes, len(work.founds) - 1
    n_open = ZERO
    for b in range(n_bins):
        if wholes[OPENED, b]:
            wholes[FIRST_PART, b], wholes[BIN_OF, n_open] = n_open, b
            n_open += 1
    share = max(1, min(PARTS, (LENGTH - 1) // n_open))
    n_parts = share * n_open
    _divide(n, n_open, share, work.floats, wholes, work.keys, work.owners)
    _count_parts(
        rules.kind,
        labels,
        n,
        n_parts,
        share,
        work.parts,
        work.sums,
        work.places,
        work.owners,
        wholes,
    )
    _forget(work.founds, inner)
    varies = False
    for part in range(n_parts):
        varies = varies or work.floats[PART_LOW, part] < work.floats[PART_HIGH, part]
        if (
            _beside(part, share, n_bins, wholes, work.sums, work.parts, work.vectors)
            >= 0
        ):
            varies = True
            improve(rules, absent, slack, work.founds, inner, work.vectors)
    floor = max(floor, work.founds[inner, WORTH] - 3 * slack)
    kept = _keep_rows(
        rules.kind,
        n,
        n_parts,
        n_bins,
        absent,
        floor,
        work.vectors,
        wholes,
        work.parts,
        work.sums,
        work.floats,
        work.keys,
        work.places,
        work.owners,
    )
    sort_pairs(work.keys, work.places, kept)
    # Once more in order: the cuts inside the parts that were kept, and between all.
    _forget(work.founds, inner)
    begin = ZERO
    for part in range(n_parts):
        b = wholes[BIN_OF, part // share]
        if wholes[KEPT, part]:
            for c in range(work.parts.shape[1]):
                before = work.sums[rules.width + c, part]
                work.vectors[LEFT, c] = before
                work.vectors[RIGHT, c] = work.sums[c, n_bins] - before
            end = begin + wholes[PART_ROWS, part]
            scan_sorted(
                rules,
                work.keys,
                work.places,
                begin,
                end,
                labels.classes,
                labels.weights,
                labels.numbers,
                absent,
                slack,
                work.founds,
                inner,
                b,
                work.vectors,
            )
            begin = end
        after = _beside(
            part, share, n_bins, wholes, work.sums, work.parts, work.vectors
        )
        if after >= 0 and improve(
            rules, absent, slack, work.founds, inner, work.vectors
        ):
            work.founds[inner, BIN] = b
            work.founds[inner, LOW] = work.floats[PART_HIGH, part]
            work.founds[inner, HIGH] = work.floats[PART_LOW, after]
    return varies


@kernel
def _forget(founds, at):
    founds[at, WORTH] = -np.inf
    founds[at, BIN] = founds[at, LOW] = founds[at, HIGH] = np.nan
    founds[at, MISSING] = -1


@kernel
def _divide(n, n_open, share, floats, wholes, keys, owners):
    """Say which part each row lies in: one of ``share`` of equal width in its bin."""
    for j in range(n_open):
        floats[LOWS, j], floats[SCALES, j] = np.inf, -np.inf
    for part in range(n_open * share):
        floats[PART_LOW, part], floats[PART_HIGH, part] = np.inf, -np.inf
        wholes[PART_ROWS, part] = 0
    for i in range(n):
        j = wholes[FIRST_PART, owners[i]]
        floats[LOWS, j] = min(floats[LOWS, j], keys[i])
        floats[SCALES, j] = max(floats[SCALES, j], keys[i])
    for j in range(n_open):
        span = floats[SCALES, j] - floats[LOWS, j]
        scale = share / span if 0 < span < np.inf else 0.0
        floats[SCALES, j] = scale if scale < np.inf else 0.0
    for i in range(n):
        j = wholes[FIRST_PART, owners[i]]
        # Infinite numbers have no place in equal parts: 0 · ∞ is NaN, and the first.
        at = (keys[i] - floats[LOWS, j]) * floats[SCALES, j]
        part = j * share + (np.int64(min(at, share - 1.0)) if at > 0 else 0)
        owners[i] = part
        floats[PART_LOW, part] = min(floats[PART_LOW, part], keys[i])
        floats[PART_HIGH, part] = max(floats[PART_HIGH, part], keys[i])
        wholes[PART_ROWS, part] += 1


@kernel
def _count_parts(kind, labels, n, n_parts, share, parts, sums, places, owners, wholes):
    """Count the parts, and sum up what lies before each of them."""
    width = parts.shape[1]
    for part in range(n_parts):
        for c in range(width):
            parts[part, c] = 0.0
    for i in range(n):
        row, part = places[i], owners[i]
        weight = labels.weights[row]
        if kind == SQUARES:
            number = labels.numbers[row]
            parts[part, 0] += weight
            parts[part, 1 if number > 0 else 2] += weight * number
            parts[part, 3] += weight * number * number
        else:
            parts[part, labels.classes[row]] += weight
    for part in range(n_parts):
        for c in range(width):
            before = sums[c, wholes[BIN_OF, part // share]]
            if part % share:
                before = sums[width + c, part - 1] + parts[part - 1, c]
            sums[width + c, part] = before


@kernel
def _beside(part, share, n_bins, wholes, sums, parts, vectors):
    """Set LEFT and RIGHT to the sides of the edge after a part; return the next part.

    -1 where the part is empty or no later part of the same bin has rows: the edge
    after a bin is not inside it.
    """
    if wholes[PART_ROWS, part] == 0:
        return -1
    end = (part // share + 1) * share
    after = part + 1
    while after < end and wholes[PART_ROWS, after] == 0:
        after += 1
    if after == end:
        return -1
    width = parts.shape[1]
    for c in range(width):
        left = sums[width + c, part] + parts[part, c]
        vectors[LEFT, c] = left
        vectors[RIGHT, c] = sums[c, n_bins] - left
    return after


@kernel
def _keep_rows(
    kind,
    n,
    n_parts,
    n_bins,
    absent,
    floor,
    vectors,
    wholes,
    parts,
    sums,
    floats,
    keys,
    places,
    owners,
):
    """Keep the rows of the parts that may hold a better cut, and return how many."""
    width = parts.shape[1]
    for part in range(n_parts):
        wholes[KEPT, part] = 0
        if floats[PART_LOW, part] >= floats[PART_HIGH, part]:
            continue
        for trial in range(2 if absent else 1):
            for c in range(width):
                inside, before = parts[part, c], sums[width + c, part]
                vectors[INSIDE, c], vectors[LEFT, c] = inside, before
                vectors[RIGHT, c] = sums[c, n_bins] - before - inside
                if absent:
                    vectors[LEFT if trial == 0 else RIGHT, c] += vectors[AWAY, c]
            if bound_inside(kind, vectors) >= floor:
                wholes[KEPT, part] = 1
    kept = ZERO
    for i in range(n):
        if wholes[KEPT, owners[i]]:
            keys[kept], places[kept] = keys[i], places[i]
            kept += 1
    return kept
