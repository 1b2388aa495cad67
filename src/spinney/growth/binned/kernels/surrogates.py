"""The surrogates of inner nodes.

The known rows of a node are a range of one array of packed rows, those of its first
branch before the others. For another attribute, let T₀, T₁ be the weights of the
branches among the rows with a value of it, and D the weight of the first branch less
that of the second left of a cut. The cut agrees on ::

L₀ + R₁ = T₁ + D,    or reversed    L₁ + R₀ = T₀ − D

so the best cut is where D is greatest or least. Counts by bin give D at every edge, and
``surrogate_bins`` searches inside the bins where it may be greater or less.

Ties go to the first cut, as in ``spinney.search.surrogate_search``: the greatest
agreement is found first, then the first cut that has it but for rounding.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.jit.compile import ZERO, entry, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels import surrogate_bins as bins
from spinney.growth.binned.kernels.layout import Cells
from spinney.growth.binned.kernels.packed_rows import PackedRows, cell_value, row_of
from spinney.growth.binned.kernels.route import route_node
from spinney.growth.binned.kernels.sort import sort
from spinney.growth.binned.kernels.surrogate_bins import (
    agreement_bound,
    lay_out_sorted,
    lay_out_subbins,
    rows_in,
    scan_cuts,
)

MIN_ADJUSTED = 1e-10

# What is kept of a surrogate.
RECORD_LOW, RECORD_HIGH, AGREEMENT, ADJUSTED, REVERSED = np.arange(5)
RECORD_SIZE = 5


class SurrogateRecords(NamedTuple):
    """Surrogates of nodes, one line per node, best first.

    ``line_of`` is the line of a node. ``attributes`` are -1 if there is none.
    ``floats`` has values beside the cut, agreement, adjusted agreement and whether it
    is reversed; ``masks`` the codes of both branches, 1 and 2.
    """

    line_of: NDArray[np.int64]
    attributes: NDArray[np.int32]
    floats: NDArray[np.float64]
    masks: NDArray[np.uint8]


class SurrogateSearch(NamedTuple):
    """Input, workspace and output of a search for surrogates.

    ``unit`` is whether each weight is 1. Nodes of up to ``small`` rows are sorted.
    """

    cells: Cells
    weights: NDArray[np.float64]
    unit: bool
    ints: NDArray[np.int32]
    floats: NDArray[np.float64]
    by_code: NDArray[np.int64]
    spans: NDArray[np.int64]
    rows: PackedRows
    small: int
    work: bins.SurrogateWorkspace
    records: SurrogateRecords


@kernel
def _weigh(search, begin, end):
    """Return the weight of a range of rows."""
    total, rows, weights = 0.0, search.rows, search.weights
    for i in range(begin, end):
        total += weights[row_of(rows[i])]
    return total


@kernel
def _count_branches(search, begin, middle, end, first, last):
    """Count and weigh the rows of both branches, by attribute and bin."""
    cells, rows, weights, unit = search.cells, search.rows, search.weights, search.unit
    packed_counts, bin_weights = search.work.packed_counts, search.work.bin_weights
    codes = cells.codes
    for a in range(first, last):
        for b in range(cells.n_bins[a]):
            packed_counts[a, b] = 0
            bin_weights[a, b, 0], bin_weights[a, b, 1] = 0.0, 0.0
        packed_counts[a, layout.MISSING_CODE] = 0
    for i in range(begin, end):
        row = row_of(rows[i])
        branch_count = bins.ONE_FIRST if i < middle else bins.ONE_SECOND
        for a in range(first, last):
            packed_counts[a, codes[row, a]] += branch_count
        if not unit:
            side, weight = np.int64(i >= middle), weights[row]
            for a in range(first, last):
                bin_weights[a, codes[row, a], side] += weight
    if unit:
        for a in range(first, last):
            for b in range(cells.n_bins[a]):
                bin_weights[a, b, 0] = np.float64(
                    packed_counts[a, b] & (bins.ONE_SECOND - bins.ONE_FIRST)
                )
                bin_weights[a, b, 1] = np.float64(packed_counts[a, b] >> bins.HALF)


@kernel
def _sum_known_rows(a, n_bins, t0, t1, n_rows, work):
    """Set the weights and the number of the rows with a known value of an attribute.

    ``t0``, ``t1`` and ``n_rows`` are the totals of all rows.
    """
    cuts, n_missing = work.cuts, rows_in(work.packed_counts[a, layout.MISSING_CODE])
    cuts[a, bins.FIRST_WEIGHT] = t0
    cuts[a, bins.SECOND_WEIGHT] = t1
    cuts[a, bins.N_KNOWN] = n_rows - n_missing
    if n_missing == 0:
        return
    for side in range(2):
        total = 0.0
        for b in range(n_bins):
            total += work.bin_weights[a, b, side]
        cuts[a, bins.FIRST_WEIGHT + side] = total


@kernel
def _group_codes(a, n_codes, work):
    """Assign each code a branch; ties go to the heavier branch, or the second."""
    t0 = work.cuts[a, bins.FIRST_WEIGHT]
    t1 = work.cuts[a, bins.SECOND_WEIGHT]
    bin_weights, total_weight = work.bin_weights, t0 + t1
    heavier = 1 if t1 / total_weight >= t0 / total_weight - TOLERANCE else 0
    agreeing, n_first, n_second = 0.0, 0, 0
    for code in range(n_codes):
        n_in_bin = rows_in(work.packed_counts[a, code])
        work.masks[a, code] = 0
        if n_in_bin == 0:
            continue
        difference = (bin_weights[a, code, 1] - bin_weights[a, code, 0]) / total_weight
        side = heavier if abs(difference) <= TOLERANCE else (1 if difference > 0 else 0)
        work.masks[a, code] = 1 + side
        agreeing += bin_weights[a, code, side]
        if side:
            n_second += n_in_bin
        else:
            n_first += n_in_bin
    if min(n_first, n_second) >= bins.MIN_ROWS:
        work.cuts[a, bins.AGREEING] = agreeing


@kernel
def _best_edge(a, n_bins, openable, work):
    """Find the best agreement of cuts between bins, and a bound inside bins."""
    t0 = work.cuts[a, bins.FIRST_WEIGHT]
    t1 = work.cuts[a, bins.SECOND_WEIGHT]
    n_rows = work.cuts[a, bins.N_KNOWN]
    bin_weights, difference, before = work.bin_weights, 0.0, ZERO
    best, bound = -np.inf, -np.inf
    for b in range(n_bins):
        n_in_bin = rows_in(work.packed_counts[a, b])
        if n_in_bin == 0:
            continue
        if openable and n_in_bin > 1:
            more = agreement_bound(
                t0, t1, difference, bin_weights[a, b, 0], bin_weights[a, b, 1]
            )
            bound = max(bound, more)
        difference += bin_weights[a, b, 0] - bin_weights[a, b, 1]
        before += n_in_bin
        if min(before, n_rows - before) >= bins.MIN_ROWS:
            best = max(best, t1 + difference, t0 - difference)
    work.cuts[a, bins.AGREEING], work.cuts[a, bins.BOUND] = best, bound


@kernel
def _min_agreement(first, last, max_surrogates, least, work):
    """Return the agreement of the last surrogate to record, or a lower bound.

    If enough attributes agree more, an attribute that agrees less is never recorded.
    """
    for k in range(max_surrogates):
        work.keys[k] = least
    for a in range(first, last):
        agreeing = work.cuts[a, bins.AGREEING]
        line = max_surrogates - 1
        if not agreeing > work.keys[line]:
            continue
        while line > 0 and work.keys[line - 1] < agreeing:
            work.keys[line] = work.keys[line - 1]
            line -= 1
        work.keys[line] = agreeing
    return work.keys[max_surrogates - 1]


@kernel
def _search_attributes(search, begin, middle, end, split_attribute, first, last):
    """Find the best surrogate of each attribute from ``first`` to ``last``.

    Its agreement is -∞ if that is too low to record. ``split_attribute`` is the
    attribute of the node's split.
    """
    cells, work = search.cells, search.work
    t0 = _weigh(search, begin, middle)
    t1 = _weigh(search, middle, end)
    total_weight = t0 + t1
    majority = max(t0, t1)
    cuts, n = work.cuts, end - begin
    for a in range(first, last):
        cuts[a, bins.AGREEING], cuts[a, bins.BOUND] = -np.inf, -np.inf
        cuts[a, bins.SWAPPED] = 0
    minority = total_weight - majority
    if minority <= 0:
        return
    least = majority + MIN_ADJUSTED * minority
    sorts_rows = n <= search.small
    if not sorts_rows:
        _count_branches(search, begin, middle, end, first, last)
    for a in range(first, last):
        if a == split_attribute or (sorts_rows and not cells.nominal[a]):
            continue
        if sorts_rows:
            _count_branches(search, begin, middle, end, a, a + 1)
        _sum_known_rows(a, cells.n_bins[a], t0, t1, n, work)
        if cells.nominal[a]:
            _group_codes(a, cells.n_bins[a], work)
        else:
            _best_edge(a, cells.n_bins[a], cells.column[a] >= 0, work)
    floor = least
    if not sorts_rows:
        max_surrogates = np.int64(search.records.attributes.shape[1])
        floor = (
            _min_agreement(first, last, max_surrogates, least, work)
            - bins.SLACK * total_weight
        )
    for a in range(first, last):
        agreeing = cuts[a, bins.AGREEING]
        if a == split_attribute or (
            not sorts_rows and max(agreeing, cuts[a, bins.BOUND]) < floor
        ):
            cuts[a, bins.AGREEING] = -np.inf
        elif not cells.nominal[a]:
            n_subbins = ZERO + 1
            if sorts_rows:
                n_keys = lay_out_sorted(search, begin, middle, end, a, t0, t1)
            else:
                low = max(floor, agreeing - bins.SLACK * total_weight)
                n_subbins, n_keys = lay_out_subbins(search, begin, middle, end, a, low)
            sort(work.keys, work.places, n_keys, work.marks)
            _scan_cuts_twice(search, middle, a, n_subbins, least)
        if (cuts[a, bins.AGREEING] - majority) / minority <= MIN_ADJUSTED:
            cuts[a, bins.AGREEING] = -np.inf


@kernel
def _scan_cuts_twice(search, middle, a, n_subbins, least):
    """Find the best cut of sorted rows: highest agreement, then first tied cut."""
    search.work.cuts[a, bins.AGREEING], needed = -np.inf, np.inf
    for _ in range(2):
        best = scan_cuts(search, middle, a, n_subbins, needed)
        if best < least:
            return
        needed = best * (1 - TOLERANCE)


@kernel
def _find_cut_values(search, begin, end, a):
    """Find the unknown values beside a cut, next to closed bins."""
    cells, rows, cuts = search.cells, search.rows, search.work.cuts
    column, before = cells.column[a], np.int64(cuts[a, bins.BIN])
    after, low, high = np.int64(cuts[a, bins.AFTER]), -np.inf, np.inf
    for i in range(begin, end):
        row = row_of(rows[i])
        code = cells.codes[row, a]
        if code == before:
            low = max(low, cell_value(cells, row, column))
        elif code == after:
            high = min(high, cell_value(cells, row, column))
    if cuts[a, bins.LOW] != cuts[a, bins.LOW]:
        cuts[a, bins.LOW] = low
    if cuts[a, bins.HIGH] != cuts[a, bins.HIGH]:
        cuts[a, bins.HIGH] = high


@kernel
def _record_best(search, begin, middle, end, line):
    """Record the best surrogates, in falling order of agreement."""
    cells, work, records = search.cells, search.work, search.records
    t0 = _weigh(search, begin, middle)
    t1 = _weigh(search, middle, end)
    total_weight = t0 + t1
    majority = max(t0, t1)
    cuts, p = work.cuts, len(cells.n_bins)
    for k in range(records.attributes.shape[1]):
        best, chosen = -np.inf, -1
        for a in range(p):
            best = max(best, cuts[a, bins.AGREEING])
        if best == -np.inf:
            return
        best = min(best / total_weight, 1.0) - TOLERANCE
        for a in range(p - 1, -1, -1):
            if min(cuts[a, bins.AGREEING] / total_weight, 1.0) >= best:
                chosen = a
        if cells.nominal[chosen]:
            for code in range(cells.n_bins[chosen]):
                records.masks[line, k, code] = work.masks[chosen, code]
        elif np.isnan(cuts[chosen, bins.LOW] + cuts[chosen, bins.HIGH]):
            _find_cut_values(search, begin, end, chosen)
        agreeing = cuts[chosen, bins.AGREEING]
        records.attributes[line, k] = chosen
        records.floats[line, k, RECORD_LOW] = cuts[chosen, bins.LOW]
        records.floats[line, k, RECORD_HIGH] = cuts[chosen, bins.HIGH]
        records.floats[line, k, AGREEMENT] = min(agreeing / total_weight, 1.0)
        adjusted = (agreeing - majority) / (total_weight - majority)
        records.floats[line, k, ADJUSTED] = min(adjusted, 1.0)
        records.floats[line, k, REVERSED] = cuts[chosen, bins.SWAPPED]
        cuts[chosen, bins.AGREEING] = -np.inf


@entry
def find_surrogates(search, subtree, attributes, steps):
    """Find the surrogates of the inner nodes of a subtree.

    ``subtree`` and ``attributes`` are ranges. ``steps`` selects routing, search and
    recording: at a large node several threads share the search.
    """
    ints, spans, work = search.ints, search.spans, search.work
    for node in range(subtree[0], subtree[1]):
        split_attribute = ints[node, nodes.ATTRIBUTE]
        if split_attribute < 0:
            continue
        if steps[0]:
            route_node(search, node, work.marks, work.places)
        begin, end = spans[node, 0], spans[node, 1]
        middle = spans[ints[node, nodes.LEFT_CHILD], 1]
        if steps[1]:
            _search_attributes(
                search,
                begin,
                middle,
                end,
                split_attribute,
                attributes[0],
                attributes[1],
            )
        if steps[2]:
            _record_best(search, begin, middle, end, search.records.line_of[node])
