"""What was found of the attributes that did not win, kept at large nodes.

A competitor is recorded with the best of its cuts that were looked at. Those are all of
them where an attribute has one value a bin, and where a node was sorted; else those
between bins, and inside the bins that might have held the split that won. To look into
the others would take many times as long as the tree. An attribute whose rows are all in
one bin that was not looked into is no competitor. Of buckets every cut is looked at,
but not the numbers beside it, so that these are not exact.

Every row weighs 1 here: else those beside each cut would have to be counted again, and
no lost are kept.

Rivals are lines of a ``NodeRecords``, whose ``weights`` and ``counts`` are what lies left of
the cut, and then what is missing.
"""

import numpy as np

from spinney._support.jit.compile import kernel
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.best_attribute import best_gain
from spinney.growth.binned.kernels.histogram_cuts import next_bin
from spinney.growth.binned.kernels.nodes import count_codes
from spinney.growth.binned.kernels.split_scores import side_weight


@kernel
def record_competitors(search, top, here, first, last, chosen, is_sorted, histograms):
    """Record what was found at a node of the attributes from ``first`` to ``last``."""
    cells, rules, stack = search.cells, search.rules, search.stack
    listed, lost, work = search.code_counts, search.competitors, search.work
    kind, cuts, state, width = rules.kind, work.cuts, stack.state, rules.width
    begin, end = stack.entries[top, nodes.BEGIN], stack.entries[top, nodes.END]
    n_counts = stack.counts.shape[1]
    for a in range(first, last):
        if a == chosen or cuts[a, layout.SCORE] == -np.inf:
            continue
        at = state[nodes.N_COMPETITORS]
        lost.ints[at, nodes.ATTRIBUTE], lost.ints[at, nodes.PARENT_NODE] = a, here
        every_cut = is_sorted and rules.refine_bins
        lost.ints[at, nodes.EXACT] = every_cut or cells.column[a] < 0
        lost.ints[at, nodes.FIRST_LINE] = state[nodes.N_LISTED]
        lost.ints[at, nodes.N_LINES] = 0
        lost.floats[at, nodes.CUT_MISSING] = cuts[a, layout.MISSING_SIDE]
        lost.floats[at, nodes.GAIN] = best_gain(search, top, a)
        _record_cut_values(rules, cells, a, histograms, cuts, lost, at)
        for c in range(2 * width):
            lost.weights[at, c] = cuts[a, layout.TOTALS + c]
        for c in range(n_counts):
            lost.counts[at, c] = np.int64(cuts[a, layout.TOTALS + c])
            has_missing = cuts[a, layout.TOTALS + width + c]
            lost.counts[at, n_counts + c] = np.int64(has_missing)
        if cells.listed[a]:
            n = state[nodes.N_LISTED]
            if not is_sorted:
                n = _copy_code_counts(
                    kind, histograms, cells.n_bins[a], a, work, listed, n
                )
            else:
                n += count_codes(search, begin, end, a, n)
            lost.ints[at, nodes.N_LINES] = n - state[nodes.N_LISTED]
            state[nodes.N_LISTED] = n
        state[nodes.N_COMPETITORS] += 1


@kernel
def _record_cut_values(rules, cells, a, histograms, cuts, lost, at):
    """Set the values beside a cut; beside one between bins of numbers, the edge.

    Of buckets between which none has rows, it is the edge in their middle.
    """
    low, high = cuts[a, layout.LOW], cuts[a, layout.HIGH]
    after = next_bin(rules.kind, cells, a, histograms, cuts)
    if after >= 0:
        b = np.int64(cuts[a, layout.BIN])
        low, high = cells.edges[a, b if rules.refine_bins else (b + after) >> 1], np.nan
        if cells.column[a] < 0:
            low, high = cells.values[a, b], cells.values[a, after]
    lost.floats[at, nodes.CUT_LOW], lost.floats[at, nodes.CUT_HIGH] = low, high


@kernel
def _copy_code_counts(kind, histograms, n_bins, a, work, listed, at):
    """Set the lines of the codes of an attribute from its counts; return their end."""
    for code in range(n_bins):
        if side_weight(kind, histograms[a], code) > 0:
            listed.codes[at, 0], listed.codes[at, 1] = code, work.masks[a, code]
            for c in range(listed.weights.shape[1]):
                listed.weights[at, c] = histograms[a, code, c]
            for c in range(listed.counts.shape[1]):
                listed.counts[at, c] = np.int64(histograms[a, code, c])
            at += 1
    return at
