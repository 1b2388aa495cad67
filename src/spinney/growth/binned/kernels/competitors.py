"""Competitors of the winning split, recorded at large nodes.

A competitor is recorded with its best scored cut. All cuts are scored if each bin has
one value, or if the node was sorted. Otherwise only the cuts between bins, and inside
bins that could contain the winner, are scored: the others would take many times as
long. An attribute whose rows are all in one unrefined bin is no competitor. With
buckets every cut is scored, but the numbers beside a cut are unknown, so these cuts are
not exact.

Competitors need rows of weight 1: with other weights, the rows beside each cut would
have to be counted again. They are stored as ``NodeRecords``. ``weights`` and ``counts``
have the totals left of the cut, then the totals of the missing rows.
"""

import numpy as np

from spinney._support.jit.compile import kernel
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.best_attribute import best_gain
from spinney.growth.binned.kernels.histogram_cuts import next_bin
from spinney.growth.binned.kernels.nodes import count_codes
from spinney.growth.binned.kernels.split_scores import side_weight


@kernel
def record_competitors(search, top, node, first, last, chosen, is_sorted, histograms):
    """Record the competitors of a node among attributes ``first`` to ``last``."""
    cells, rules, stack = search.cells, search.rules, search.stack
    listed, records, work = search.code_counts, search.competitors, search.work
    kind, cuts, state, width = rules.kind, work.cuts, stack.state, rules.width
    begin, end = stack.entries[top, nodes.BEGIN], stack.entries[top, nodes.END]
    n_counts = stack.counts.shape[1]
    for a in range(first, last):
        if a == chosen or cuts[a, layout.SCORE] == -np.inf:
            continue
        line = state[nodes.N_COMPETITORS]
        records.ints[line, nodes.ATTRIBUTE] = a
        records.ints[line, nodes.PARENT_NODE] = node
        scores_all_cuts = is_sorted and rules.refine_bins
        records.ints[line, nodes.EXACT] = scores_all_cuts or cells.column[a] < 0
        records.ints[line, nodes.FIRST_LINE] = state[nodes.N_LISTED]
        records.ints[line, nodes.N_LINES] = 0
        records.floats[line, nodes.CUT_MISSING] = cuts[a, layout.MISSING_SIDE]
        records.floats[line, nodes.GAIN] = best_gain(search, top, a)
        _record_cut_values(rules, cells, a, histograms, cuts, records, line)
        for c in range(2 * width):
            records.weights[line, c] = cuts[a, layout.TOTALS + c]
        for c in range(n_counts):
            records.counts[line, c] = np.int64(cuts[a, layout.TOTALS + c])
            has_missing = cuts[a, layout.TOTALS + width + c]
            records.counts[line, n_counts + c] = np.int64(has_missing)
        if cells.listed[a]:
            n = state[nodes.N_LISTED]
            if not is_sorted:
                n = _copy_code_counts(
                    kind, histograms, cells.n_bins[a], a, work, listed, n
                )
            else:
                n += count_codes(search, begin, end, a, n)
            records.ints[line, nodes.N_LINES] = n - state[nodes.N_LISTED]
            state[nodes.N_LISTED] = n
        state[nodes.N_COMPETITORS] += 1


@kernel
def _record_cut_values(rules, cells, a, histograms, cuts, records, line):
    """Set the values beside a cut; for a cut between bins of numbers, the edge.

    A cut between buckets with empty buckets in between has the edge in their middle.
    """
    low, high = cuts[a, layout.LOW], cuts[a, layout.HIGH]
    after = next_bin(rules.kind, cells, a, histograms, cuts)
    if after >= 0:
        b = np.int64(cuts[a, layout.BIN])
        low, high = cells.edges[a, b if rules.refine_bins else (b + after) >> 1], np.nan
        if cells.column[a] < 0:
            low, high = cells.values[a, b], cells.values[a, after]
    records.floats[line, nodes.CUT_LOW] = low
    records.floats[line, nodes.CUT_HIGH] = high


@kernel
def _copy_code_counts(kind, histograms, n_bins, a, work, listed, line):
    """Copy the code counts of an attribute from its histogram; return their end."""
    for code in range(n_bins):
        if side_weight(kind, histograms[a], code) > 0:
            listed.codes[line, 0], listed.codes[line, 1] = code, work.masks[a, code]
            for c in range(listed.weights.shape[1]):
                listed.weights[line, c] = histograms[a, code, c]
            for c in range(listed.counts.shape[1]):
                listed.counts[line, c] = np.int64(histograms[a, code, c])
            line += 1
    return line
