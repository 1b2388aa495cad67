"""The best cut inside the marked bins of an attribute.

A marked bin is searched twice. First its rows are counted in sub-bins of equal width,
and every edge between these is scored. Then the bound that marked the bin (proof in
``split_scores``) selects the sub-bins that may hold a better cut, and only their rows
are sorted.
"""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney.growth.binned.kernels import layout
from spinney.growth.binned.kernels.packed_rows import add_row
from spinney.growth.binned.kernels.sort import order_rounded, sort, sort_key
from spinney.growth.binned.kernels.sorted_cuts import keep_if_better, scan_sorted
from spinney.growth.binned.kernels.split_scores import add_missing, score_bound

SUBBINS = 16


@kernel
def refine_bins(rules, labels, n, n_bins, has_missing, floor, slack, rounded, work):
    """Find the best cut inside the marked bins, stored as the last line of ``cuts``.

    Return whether a marked bin has more than one value. The first ``n`` entries of
    ``values``, ``members`` and ``row_bins`` are the rows in marked bins.
    """
    floats, ints, inner = work.floats, work.ints, len(work.cuts) - 1
    n_open = ZERO
    for b in range(n_bins):
        if ints[layout.IS_OPEN, b]:
            ints[layout.FIRST_SUBBIN, b], ints[layout.BIN_OF_OPEN, n_open] = n_open, b
            n_open += 1
    n_per_bin = max(1, min(SUBBINS, (layout.LENGTH - 1) // n_open))
    n_subbins = n_per_bin * n_open
    _fill_subbins(n, n_open, n_per_bin, work)
    _count_subbins(rules, labels, n, n_subbins, n_per_bin, work)
    _clear_cut(work.cuts, inner)
    varies = False
    for subbin in range(n_subbins):
        varies |= floats[layout.SUBBIN_LOW, subbin] < floats[layout.SUBBIN_HIGH, subbin]
        if _set_subbin_edge(subbin, n_per_bin, n_bins, work) >= 0:
            varies = True
            keep_if_better(rules, has_missing, slack, work, inner)
    floor = max(floor, work.cuts[inner, layout.SCORE] - 3 * slack)
    n_promising = _keep_promising_rows(
        rules, n, n_subbins, n_bins, has_missing, floor, work
    )
    sort(work.keys, None, n_promising, work.ints[layout.SORT_STACK])
    if rounded:
        order_rounded(work.keys, n_promising, work.values)
    _search_subbins(
        rules, labels, n_subbins, n_per_bin, n_bins, has_missing, slack, work
    )
    return varies


@kernel
def _search_subbins(
    rules, labels, n_subbins, n_per_bin, n_bins, has_missing, slack, work
):
    """Find the best cut inside the kept sub-bins, or between two sub-bins."""
    cuts, ints, inner = work.cuts, work.ints, len(work.cuts) - 1
    _clear_cut(cuts, inner)
    begin = ZERO
    for subbin in range(n_subbins):
        b = ints[layout.BIN_OF_OPEN, subbin // n_per_bin]
        if ints[layout.IS_REFINED, subbin]:
            for c in range(rules.width):
                before = work.floats[layout.SUMS + rules.width + c, subbin]
                work.vectors[layout.LEFT, c] = before
                total = work.floats[layout.SUMS + c, n_bins]
                work.vectors[layout.RIGHT, c] = total - before
            end = begin + ints[layout.SUBBIN_ROWS, subbin]
            scan_sorted(rules, begin, end, labels, has_missing, slack, work, inner, b)
            begin = end
        after = _set_subbin_edge(subbin, n_per_bin, n_bins, work)
        if after >= 0 and keep_if_better(rules, has_missing, slack, work, inner):
            cuts[inner, layout.BIN] = b
            cuts[inner, layout.LOW] = work.floats[layout.SUBBIN_HIGH, subbin]
            cuts[inner, layout.HIGH] = work.floats[layout.SUBBIN_LOW, after]


@kernel
def _clear_cut(cuts, position):
    cuts[position, layout.SCORE] = -np.inf
    cuts[position, layout.BIN] = cuts[position, layout.LOW] = cuts[
        position, layout.HIGH
    ] = np.nan
    cuts[position, layout.MISSING_SIDE] = -1


@kernel
def _fill_subbins(n, n_open, n_per_bin, work):
    """Assign each row to one of ``n_per_bin`` sub-bins of equal width in its bin."""
    floats, ints, values, row_bins = work.floats, work.ints, work.values, work.row_bins
    for j in range(n_open):
        floats[layout.LOWS, j], floats[layout.SCALES, j] = np.inf, -np.inf
    for subbin in range(n_open * n_per_bin):
        floats[layout.SUBBIN_LOW, subbin] = np.inf
        floats[layout.SUBBIN_HIGH, subbin] = -np.inf
        ints[layout.SUBBIN_ROWS, subbin] = 0
    for i in range(n):
        j = ints[layout.FIRST_SUBBIN, row_bins[i]]
        floats[layout.LOWS, j] = min(floats[layout.LOWS, j], values[i])
        floats[layout.SCALES, j] = max(floats[layout.SCALES, j], values[i])
    for j in range(n_open):
        span = floats[layout.SCALES, j] - floats[layout.LOWS, j]
        scale = n_per_bin / span if 0 < span < np.inf else 0.0
        floats[layout.SCALES, j] = scale if scale < np.inf else 0.0
    for i in range(n):
        j = ints[layout.FIRST_SUBBIN, row_bins[i]]
        # Infinite numbers have no place in equal parts: 0 · ∞ is NaN, and the first.
        position = (values[i] - floats[layout.LOWS, j]) * floats[layout.SCALES, j]
        subbin = j * n_per_bin + (
            np.int64(min(position, n_per_bin - 1.0)) if position > 0 else 0
        )
        row_bins[i] = subbin
        floats[layout.SUBBIN_LOW, subbin] = min(
            floats[layout.SUBBIN_LOW, subbin], values[i]
        )
        floats[layout.SUBBIN_HIGH, subbin] = max(
            floats[layout.SUBBIN_HIGH, subbin], values[i]
        )
        ints[layout.SUBBIN_ROWS, subbin] += 1


@kernel
def _count_subbins(rules, labels, n, n_subbins, n_per_bin, work):
    """Count the rows of sub-bins, and compute the running sums of weights."""
    subbins, floats, width = work.subbins, work.floats, rules.width
    for subbin in range(n_subbins):
        for c in range(width):
            subbins[subbin, c] = 0.0
    for i in range(n):
        subbin = np.int64(work.row_bins[i])
        add_row(rules.kind, labels, work.members[i], subbins, subbin)
    for subbin in range(n_subbins):
        for c in range(width):
            before = floats[
                layout.SUMS + c, work.ints[layout.BIN_OF_OPEN, subbin // n_per_bin]
            ]
            if subbin % n_per_bin:
                before = (
                    floats[layout.SUMS + width + c, subbin - 1] + subbins[subbin - 1, c]
                )
            floats[layout.SUMS + width + c, subbin] = before


@kernel
def _set_subbin_edge(subbin, n_per_bin, n_bins, work):
    """Set LEFT and RIGHT to the sides of the edge after a sub-bin; return the next one.

    Return -1 if the sub-bin is empty or no later sub-bin of the bin has rows.
    """
    ints, vectors = work.ints, work.vectors
    if ints[layout.SUBBIN_ROWS, subbin] == 0:
        return -1
    end = (subbin // n_per_bin + 1) * n_per_bin
    after = subbin + 1
    while after < end and ints[layout.SUBBIN_ROWS, after] == 0:
        after += 1
    if after == end:
        return -1
    width = vectors.shape[1]
    for c in range(width):
        left = work.floats[layout.SUMS + width + c, subbin] + work.subbins[subbin, c]
        vectors[layout.LEFT, c] = left
        vectors[layout.RIGHT, c] = work.floats[layout.SUMS + c, n_bins] - left
    return after


@kernel
def _keep_promising_rows(rules, n, n_subbins, n_bins, has_missing, floor, work):
    """Keep the rows of sub-bins that may contain a better cut; return their number."""
    ints, floats, vectors = work.ints, work.floats, work.vectors
    edges_tried = work.limits[layout.LEAST] <= 0
    for subbin in range(n_subbins):
        ints[layout.IS_REFINED, subbin] = 0
        if floats[layout.SUBBIN_LOW, subbin] >= floats[layout.SUBBIN_HIGH, subbin]:
            continue
        for trial in range(2 if has_missing else 1):
            for c in range(rules.width):
                inside = work.subbins[subbin, c]
                before = floats[layout.SUMS + rules.width + c, subbin]
                vectors[layout.INSIDE, c], vectors[layout.LEFT, c] = inside, before
                total = floats[layout.SUMS + c, n_bins]
                vectors[layout.RIGHT, c] = total - before - inside
            if has_missing:
                add_missing(vectors, layout.LEFT + trial)
            if score_bound(rules.kind, vectors, floor, edges_tried) >= floor:
                ints[layout.IS_REFINED, subbin] = 1
    n_promising = ZERO
    for i in range(n):
        if ints[layout.IS_REFINED, work.row_bins[i]]:
            work.keys[n_promising] = sort_key(work.values[i], i)
            n_promising += 1
    return n_promising
