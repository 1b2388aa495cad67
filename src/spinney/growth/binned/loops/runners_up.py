"""What was found of the attributes that did not win, kept at large nodes.

A rival is recorded with the best of its cuts that were looked at. Those are all of them
where an attribute has one value a bin, and where a node was sorted; else those between
bins, and inside the bins that might have held the split that won. To look into the
others would take many times as long as the tree. An attribute whose rows are all in one
bin that was not looked into is no rival.

Every row weighs 1 here: else those beside each cut would have to be counted again, and
no rivals are kept.

Rivals are lines of a ``Shape``, whose ``weights`` and ``counts`` are what lies left of
the cut, and then what is missing.
"""

import numpy as np

from spinney._support.jit.compile import kernel
from spinney.growth.binned.loops.between_bins import bin_after
from spinney.growth.binned.loops.layout import BIN, HIGH, LOW, MISSING, TOTALS, WORTH
from spinney.growth.binned.loops.nodes import (
    ABOVE,
    ATTRIBUTE,
    BEGIN,
    CUT_HIGH,
    CUT_LOW,
    CUT_MISSING,
    END,
    EXACT,
    GAIN,
    LINE,
    LINES,
    LISTED,
    RECORDED,
    list_codes,
)
from spinney.growth.binned.loops.score import size_of, worth


@kernel
def record_rivals(
    cells,
    labels,
    rules,
    rows,
    room,
    top,
    here,
    first,
    last,
    chosen,
    is_sorted,
    lines,
    work,
    rivals,
    listed,
):
    """Record what was found at a node of the attributes from ``first`` to ``last``."""
    kind, founds, state, width = rules.kind, work.founds, room.state, rules.width
    begin, end = room.at[top, BEGIN], room.at[top, END]
    size = size_of(kind, room.weights, top)
    undivided = worth(kind, room.weights, top)
    n_counts = room.counts.shape[1]
    for a in range(first, last):
        if a == chosen or founds[a, WORTH] == -np.inf:
            continue
        at = state[RECORDED]
        rivals.whole[at, ATTRIBUTE], rivals.whole[at, ABOVE] = a, here
        rivals.whole[at, EXACT] = is_sorted or cells.column[a] < 0
        rivals.whole[at, LINE], rivals.whole[at, LINES] = state[LISTED], 0
        rivals.real[at, CUT_MISSING] = founds[a, MISSING]
        rivals.real[at, GAIN] = max((founds[a, WORTH] - undivided) / size, 0.0)
        _record_ends(kind, cells, a, lines, founds, rivals, at)
        for c in range(2 * width):
            rivals.weights[at, c] = founds[a, TOTALS + c]
        for c in range(n_counts):
            rivals.counts[at, c] = np.int64(founds[a, TOTALS + c])
            absent = founds[a, TOTALS + width + c]
            rivals.counts[at, n_counts + c] = np.int64(absent)
        if cells.listed[a]:
            n = state[LISTED]
            if not is_sorted:
                n = _list_counted(kind, lines, cells.n_bins[a], a, work, listed, n)
            else:
                n += list_codes(
                    kind, cells, labels, rows, begin, end, a, work, listed, n
                )
            rivals.whole[at, LINES] = n - state[LISTED]
            state[LISTED] = n
        state[RECORDED] += 1


@kernel
def _record_ends(kind, cells, a, lines, founds, rivals, at):
    """Set the values beside a cut; beside one between bins of numbers, the edge."""
    low, high = founds[a, LOW], founds[a, HIGH]
    after = bin_after(kind, cells, a, lines, founds)
    if after >= 0:
        b = np.int64(founds[a, BIN])
        low, high = cells.edges[a, b], np.nan
        if cells.column[a] < 0:
            low, high = cells.values[a, b], cells.values[a, after]
    rivals.real[at, CUT_LOW], rivals.real[at, CUT_HIGH] = low, high


@kernel
def _list_counted(kind, lines, n_bins, a, work, listed, at):
    """Set the lines of the codes of an attribute from its counts; return their end."""
    for code in range(n_bins):
        if size_of(kind, lines[a], code) > 0:
            listed.codes[at, 0], listed.codes[at, 1] = code, work.masks[a, code]
            for c in range(listed.weights.shape[1]):
                listed.weights[at, c] = lines[a, code, c]
            for c in range(listed.counts.shape[1]):
                listed.counts[at, c] = np.int64(lines[a, code, c])
            at += 1
    return at
