"""The best split of a node: its attributes, counted by bins or sorted."""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.best_attribute import choose_attribute
from spinney.growth.binned.kernels.category_subsets import best_subset
from spinney.growth.binned.kernels.draw import draw_below
from spinney.growth.binned.kernels.histogram_cuts import (
    best_edge,
    mark_bins,
    max_bound,
    sum_histogram,
)
from spinney.growth.binned.kernels.histograms import AHEAD, count, count_drawn
from spinney.growth.binned.kernels.ordered_rows import (
    can_walk,
    can_weigh_codes,
    order_rows,
    read_codes,
    record_cut,
    scan_codes,
    set_left_totals,
    squares_are_exact,
    walk_rows,
    weigh_codes,
)
from spinney.growth.binned.kernels.packed_rows import (
    add_row,
    cell_value,
    is_float32,
    prefetch_cell,
    row_of,
)
from spinney.growth.binned.kernels.refined_cuts import refine_bins
from spinney.growth.binned.kernels.sort import key_place, order_rounded, sort, sort_key
from spinney.growth.binned.kernels.sorted_cuts import scan_sorted
from spinney.growth.binned.kernels.split_scores import (
    DEVIATION,
    add_missing,
    limit_weight,
    side_score,
    split_score,
    tie_tolerance,
)

FEW_BINS = 8
SINGLE = np.uint64(1)


@kernel
def set_node_weight(search, top):
    """Note the weight of a node, of which its limits are shares."""
    own = limit_weight(search.rules, search.stack.weights, top)
    search.work.limits[layout.WEIGHT] = own


@kernel
def _set_min_side_weight(search, a):
    """Note what a side of a cut of an attribute must weigh; AWAY is what is missing."""
    rules, limits = search.rules, search.work.limits
    least, weight = rules.least_branch, limits[layout.WEIGHT]
    if rules.cut_share > 0 and not search.cells.nominal[a]:
        known = weight - limit_weight(rules, search.work.vectors, layout.MISSING)
        side = min(rules.cut_share * known, rules.most_in_side)
        least = max(least, side * (1 - TOLERANCE))
    if rules.branch_share > 0:
        share = rules.branch_share * weight * (1 + TOLERANCE)
        least = max(least, np.nextafter(share, np.inf))
    limits[layout.LEAST] = least


@kernel
def _clear_cut(a, cuts):
    """Forget what was found of an attribute.

    Its bin is NaN until it is known to vary, and -1 until there is a cut.
    """
    for what in range(layout.TOTALS):
        cuts[a, what] = np.nan
    cuts[a, layout.SCORE], cuts[a, layout.BOUND] = -np.inf, np.inf


@kernel
def _store_totals(a, cuts, vectors):
    """Keep what lies left of the best cut, and what is missing."""
    width = vectors.shape[1]
    for c in range(width):
        cuts[a, layout.TOTALS + c] = vectors[layout.BEST, c]
        cuts[a, layout.TOTALS + width + c] = vectors[layout.MISSING, c]


@kernel
def _missing_offset(rules, has_missing, vectors):
    """Return what scores are to be raised by where missing rows are on no side.

    RIGHT is the known rows K. A cut gains (φ(L) + φ(R) − φ(K)) / |T| then, T being all
    rows: the gain of a score that is greater by φ(T) − φ(K). That is so of every kind,
    as each is discounted by |K| / |T|; of TWOING, whose φ is 0, by nothing more.
    """
    if not (has_missing and rules.missing_separate):
        return 0.0
    for c in range(rules.width):
        away = vectors[layout.MISSING, c]
        vectors[layout.TRIAL_RIGHT, c] = vectors[layout.RIGHT, c] + away
    everything = side_score(rules.kind, vectors, layout.TRIAL_RIGHT)
    return everything - side_score(rules.kind, vectors, layout.RIGHT)


@kernel
def _sum_attribute(rules, histograms, a, n_bins, work):
    """Sum up a line as ``sum_histogram`` does, and say what scores are to be raised by."""
    kind, floats, vectors = rules.kind, work.floats, work.vectors
    first, last, has_missing = sum_histogram(
        kind, histograms, a, n_bins, floats, vectors
    )
    for c in range(rules.width):
        vectors[layout.RIGHT, c] = floats[layout.SUMS + c, n_bins]
    raised = work.limits[layout.MISSING_OFFSET] = _missing_offset(
        rules, has_missing, vectors
    )
    return first, last, has_missing and not rules.missing_separate, raised


@kernel
def search_edges(search, histograms, a, slack):
    """Find the best cut between the bins of an attribute, or its best subset."""
    cells, rules, work = search.cells, search.rules, search.work
    _clear_cut(a, work.cuts)
    n_bins = cells.n_bins[a]
    first, last, has_missing, raised = _sum_attribute(
        rules, histograms, a, n_bins, work
    )
    if first == last:
        return
    _set_min_side_weight(search, a)
    work.cuts[a, layout.BIN] = -1
    if cells.nominal[a]:
        best_subset(rules, histograms, a, n_bins, first, last, has_missing, slack, work)
    else:
        best_edge(rules, a, n_bins, first, last, has_missing, slack, work)
        if rules.refine_bins and cells.column[a] >= 0:
            bound = max_bound(rules, n_bins, first, last, has_missing, work)
            work.cuts[a, layout.BOUND] = bound + raised
    work.cuts[a, layout.SCORE] += raised
    _store_totals(a, work.cuts, work.vectors)


@kernel
def refine_cut(search, start, stop, histograms, a, floor, slack):
    """Look inside the bins of an attribute that may hold a better cut than the floor.

    Of equal cuts the first wins: one inside a bin lies before the one after it.
    """
    cells, rules, work = search.cells, search.rules, search.work
    column, n_bins, cuts = cells.column[a], cells.n_bins[a], work.cuts
    if column < 0 or not rules.refine_bins or cuts[a, layout.BOUND] < floor:
        return
    first, last, has_missing, raised = _sum_attribute(
        rules, histograms, a, n_bins, work
    )
    if first < 0:
        return
    _set_min_side_weight(search, a)
    floor -= raised
    if not mark_bins(
        rules, histograms, a, n_bins, first, last, has_missing, floor, slack, work
    ):
        return
    n, labels = _gather_open_rows(search, start, stop, a), search.labels
    rounded = not is_float32(cells)
    varies = refine_bins(
        rules, labels, n, n_bins, has_missing, floor, slack, rounded, work
    )
    inner = len(cuts) - 1
    cuts[inner, layout.SCORE] += raised
    if cuts[a, layout.BIN] != cuts[a, layout.BIN] and varies:
        cuts[a, layout.BIN] = -1
    better = cuts[inner, layout.SCORE] > cuts[a, layout.SCORE] + slack
    equal = cuts[inner, layout.SCORE] >= cuts[a, layout.SCORE] - slack
    if better or (equal and cuts[inner, layout.BIN] <= cuts[a, layout.BIN]):
        for what in range(layout.BOUND):
            cuts[a, what] = cuts[inner, what]
        _store_totals(a, cuts, work.vectors)


@kernel
def refine_attribute(search, start, stop, histograms, a, floor, slack):
    """Look inside the bins of an attribute; return the best score so far.

    Where attributes compete by ratio, each must know what it gains itself. Where those
    that lose are kept, what is known of one must not depend on which were opened before
    it, or threads would make a difference: the score is then that between bins.
    """
    cuts, by_ratio = search.work.cuts, search.rules.by_ratio
    least = cuts[a, layout.SCORE] if by_ratio else floor
    refine_cut(search, start, stop, histograms, a, least - 3 * slack, slack)
    _rescore_cut(search, start, stop, a)
    if stop - start >= search.rules.competitor_rows:
        return floor
    return max(floor, cuts[a, layout.SCORE])


@kernel
def _gather_open_rows(search, start, stop, a):
    """Gather the rows in open bins, and return how many there are.

    First which they are, then their numbers: these lie far apart, and are asked for
    ahead.
    """
    cells, rows, work = search.cells, search.rows, search.work
    members, row_bins = work.members, work.row_bins
    column, opened = cells.column[a], work.ints[layout.IS_OPEN]
    opened[layout.MISSING_CODE] = 0
    n, line = np.uint64(0), work.order[layout.CODES_LINE, a]
    rows = rows[start:stop]
    if line >= 0:
        known = work.drawn_codes[line]
        for i in range(np.uint64(0), np.uint64(len(rows))):
            members[n], row_bins[n] = rows[i], known[i]
            n += np.uint64(opened[known[i]])
    else:
        codes = cells.by_attribute[a]
        for i in range(np.uint64(0), np.uint64(len(rows))):
            b = codes[row_of(rows[i])]
            members[n], row_bins[n] = rows[i], b
            n += np.uint64(opened[b])
    n = np.int64(n)
    for i in range(n):
        soon = row_of(members[min(i + 2 * AHEAD, n - 1)])
        prefetch_cell(cells, np.int64(soon), column)
        work.values[i] = cell_value(cells, row_of(members[i]), column)
    return n


@kernel
def _search_by_walk(search, n, top, a, slack):
    """Find the best cut of an attribute in one walk over the rows of a node.

    The rows are the first ``n`` members. Return whether it could: not where cells are
    missing. What lies left of the cut is to be weighed yet.
    """
    cells, rules, work = search.cells, search.rules, search.work
    if not can_walk(cells, rules, a):
        return False
    if can_weigh_codes(cells, n, a, rules.width):
        return _search_by_code(search, n, top, a, slack)
    low, high = read_codes(cells, n, a, work)
    if high == layout.MISSING_CODE:
        return False
    cuts, column = work.cuts, cells.column[a]
    _clear_cut(a, cuts)
    if low == high and column < 0:
        return True
    order_rows(cells, n, a, low, high, work)
    if low == high:
        one, other = key_place(work.keys[0]), key_place(work.keys[n - 1])
        if work.values[one] == work.values[other]:
            return True
    _mark_varying(search, a)
    totals = search.stack.weights
    found = walk_rows(search.labels, totals, top, n, a, column, slack, work)
    if found >= 0:
        here, after = key_place(work.keys[found]), key_place(work.keys[found + 1])
        record_cut(a, work.row_bins[here], work.row_bins[after], work)
        if column >= 0:
            cuts[a, layout.LOW] = work.values[here]
            cuts[a, layout.HIGH] = work.values[after]
    return True


@kernel
def _search_by_code(search, n, top, a, slack):
    """Find the best cut between the codes of an attribute, as ``_search_by_walk`` does."""
    cells, work, totals = search.cells, search.work, search.stack.weights
    seen, high = weigh_codes(cells, search.labels, n, a, work)
    if high == layout.MISSING_CODE:
        return False
    _clear_cut(a, work.cuts)
    if seen == SINGLE << np.uint64(high):
        return True
    _mark_varying(search, a)
    found = scan_codes(totals, top, a, seen, high, slack, work)
    if found >= 0:
        after = found + 1
        while not (seen >> np.uint64(after)) & SINGLE:
            after += 1
        record_cut(a, found, after, work)
    return True


@kernel
def _mark_varying(search, a):
    """Note that an attribute varies, and what a side of a cut of it must weigh.

    None of its cells is missing.
    """
    for c in range(search.rules.width):
        search.work.vectors[layout.MISSING, c] = 0.0
    search.work.cuts[a, layout.BIN] = -1
    _set_min_side_weight(search, a)


@kernel
def _search_sorted(search, n, top, a, slack):
    """Find the best cut or subset of an attribute by sorting the rows of a node.

    The rows are the first ``n`` members.
    """
    cells, labels, rules, work = search.cells, search.labels, search.rules, search.work
    column, n_bins, members = cells.column[a], cells.n_bins[a], work.members
    few = cells.nominal[a] or n_bins <= max(FEW_BINS, n >> 1)
    if (column < 0 and few) or (column >= 0 and not rules.refine_bins):
        _count_members(search, n, a)
        search_edges(search, work.histograms, a, slack)
        return
    cuts, vectors, keys = work.cuts, work.vectors, work.keys
    totals = search.stack.weights
    _clear_cut(a, cuts)
    for c in range(rules.width):
        vectors[layout.MISSING, c] = 0.0
    m = ZERO
    for i in range(n):
        row = row_of(members[i])
        code = cells.codes[row, a]
        if code == layout.MISSING_CODE:
            add_row(rules.kind, labels, members[i], vectors, layout.MISSING)
            continue
        value = np.float64(code)
        if column >= 0:
            value = cell_value(cells, row, column)
        work.values[i] = value
        keys[m] = sort_key(value, i)
        m += 1
    sort(keys, None, m, work.ints[layout.SORT_STACK])
    if column >= 0 and not is_float32(cells):
        order_rounded(keys, m, work.values)
    if m < 2 or work.values[key_place(keys[0])] == work.values[key_place(keys[m - 1])]:
        return
    cuts[a, layout.BIN] = -1
    _set_min_side_weight(search, a)
    for c in range(rules.width):
        vectors[layout.LEFT, c] = 0.0
        vectors[layout.RIGHT, c] = totals[top, c] - vectors[layout.MISSING, c]
    raised = _missing_offset(rules, m < n, vectors)
    has_missing = m < n and not rules.missing_separate
    scan_sorted(rules, ZERO, m, labels, has_missing, slack, work, a, ZERO)
    if cuts[a, layout.SCORE] == -np.inf:
        return
    cuts[a, layout.SCORE] += raised
    if column < 0:
        # The values were codes: a cut between bins, the next one known.
        cuts[a, layout.BIN], cuts[a, layout.LOW] = cuts[a, layout.LOW], np.nan
    else:
        i = ZERO
        while work.values[key_place(keys[i])] != cuts[a, layout.LOW]:
            i += 1
        cuts[a, layout.BIN] = cells.codes[row_of(members[key_place(keys[i])]), a]
    _store_totals(a, cuts, vectors)


@kernel
def _rescore_cut(search, start, stop, a):
    """Score the best cut of an attribute by sums over its rows, as attributes compete.

    Only for roots: what a subtraction leaves of a light side has few digits, and roots
    show it. Rows are added in their own order: attributes that divide them alike tie.
    """
    cells, rules, work = search.cells, search.rules, search.work
    cuts, vectors, column = work.cuts, work.vectors, cells.column[a]
    if rules.kind < DEVIATION or cuts[a, layout.SCORE] == -np.inf:
        return
    last, low = np.int64(cuts[a, layout.BIN]), cuts[a, layout.LOW]
    for c in range(rules.width):
        vectors[layout.TRIAL_LEFT, c] = vectors[layout.TRIAL_RIGHT, c] = 0.0
        vectors[layout.MISSING, c] = 0.0
    for i in range(start, stop):
        word = search.rows[i]
        code = np.int64(cells.by_attribute[a, row_of(word)])
        if cells.nominal[a]:
            left = work.masks[a, code] == 1
        elif code == last and column >= 0 and low == low:
            left = cell_value(cells, row_of(word), column) <= low
        else:
            left = code <= last
        side = layout.TRIAL_LEFT if left else layout.TRIAL_RIGHT
        if code == layout.MISSING_CODE:
            side = layout.MISSING
        add_row(rules.kind, search.labels, word, vectors, side)
    for c in range(rules.width):
        known = vectors[layout.TRIAL_LEFT, c] + vectors[layout.TRIAL_RIGHT, c]
        vectors[layout.RIGHT, c] = known
    has_missing = vectors[layout.MISSING, 0] > 0
    if has_missing and not rules.missing_separate:
        add_missing(vectors, layout.TRIAL_LEFT + np.int64(cuts[a, layout.MISSING_SIDE]))
    cut_score = split_score(rules.kind, vectors, layout.TRIAL_LEFT, layout.TRIAL_RIGHT)
    cuts[a, layout.SCORE] = cut_score + _missing_offset(rules, has_missing, vectors)


@kernel
def _count_members(search, n, a):
    """Count an attribute over the rows of a small node."""
    cells, rules, work = search.cells, search.rules, search.work
    histograms = work.histograms
    for b in range(cells.n_bins[a]):
        for c in range(rules.width):
            histograms[a, b, c] = 0.0
    for c in range(rules.width):
        histograms[a, layout.MISSING_CODE, c] = 0.0
    for i in range(n):
        word = work.members[i]
        code = np.int64(cells.codes[row_of(word), a])
        add_row(rules.kind, search.labels, word, histograms[a], code)


@kernel
def _varies(search, start, stop, a):
    """Return whether an attribute varies, all of whose rows are in one bin."""
    cells, rows = search.cells, search.rows
    column = cells.column[a]
    if column < 0:
        return False
    known = np.nan
    for i in range(start, stop):
        number = cell_value(cells, row_of(rows[i]), column)
        if known != known:
            known = number
        elif number == number and number != known:
            return True
    return False


@kernel
def _draw_attributes(key, first, last, order):
    """Draw the attributes at some places of the order; the shuffle is recorded."""
    for i in range(first, last):
        other = i + draw_below(key, order.shape[1] - i)
        order[layout.SWAPPED_WITH, i] = other
        _swap_attributes(order, i, other)


@kernel
def _swap_attributes(order, i, other):
    """Exchange the attributes at two places of the order."""
    a = order[layout.ATTRIBUTE_AT, i]
    order[layout.ATTRIBUTE_AT, i] = order[layout.ATTRIBUTE_AT, other]
    order[layout.ATTRIBUTE_AT, other] = a


@kernel
def search_node(search, top, histograms, counted):
    """Return the attribute whose split is best, -1 without any, and if any varies.

    Attributes are tried in column order, or ``rules.n_drawn`` that vary are drawn.
    """
    rules, stack, work = search.rules, search.stack, search.work
    start, stop = stack.entries[top, nodes.BEGIN], stack.entries[top, nodes.END]
    p, order, cuts = len(search.cells.n_bins), work.order, work.cuts
    slack = tie_tolerance(rules.kind, stack.weights, top)
    small = not counted and stop - start <= rules.small_node_rows
    sampled = rules.n_drawn < p
    walks = small and squares_are_exact(rules, stack.weights, top)
    set_node_weight(search, top)
    if small:
        for i in range(stop - start):
            work.members[i] = search.rows[start + i]
    elif not counted and not sampled:
        count(search, start, stop, ZERO, p, histograms)
    floor, front, varying, drawn, at_hand = -np.inf, -1, 0, ZERO, ZERO
    while drawn < p and varying < rules.n_drawn:
        if sampled and drawn == at_hand:
            # As many as are still wanted are drawn and counted together.
            at_hand = min(p, drawn + rules.n_drawn - varying)
            _draw_attributes(stack.keys[top:], drawn, at_hand, order)
            if not small:
                n = at_hand - drawn
                count_drawn(search, start, stop, drawn, n, histograms)
        a = order[layout.ATTRIBUTE_AT, drawn]
        drawn += 1
        if small:
            n, order[layout.CODES_LINE, a] = stop - start, -1
            if not (walks and _search_by_walk(search, n, top, a, slack)):
                _search_sorted(search, n, top, a, slack)
                _rescore_cut(search, start, stop, a)
        else:
            search_edges(search, histograms, a, slack)
            unknown = cuts[a, layout.BIN] != cuts[a, layout.BIN]
            if sampled and unknown and _varies(search, start, stop, a):
                cuts[a, layout.BIN] = -1
        varying += cuts[a, layout.BIN] == cuts[a, layout.BIN]
        if cuts[a, layout.SCORE] > floor:
            floor, front = cuts[a, layout.SCORE], a
    if not small:
        # The best so far is opened first: what it gains, the others need not try.
        for i in range(-1, drawn):
            a = front if i < 0 else order[layout.ATTRIBUTE_AT, i]
            if a >= 0 and (i < 0 or a != front):
                floor = refine_attribute(
                    search, start, stop, histograms, a, floor, slack
                )
                varying += cuts[a, layout.BIN] == cuts[a, layout.BIN]
    chosen = choose_attribute(search, top, drawn)
    if walks and not rules.count_rows:  # else the rows of both sides are counted
        recorded = stop - start >= rules.competitor_rows
        for i in range(drawn):
            a = order[layout.ATTRIBUTE_AT, i]
            if a == chosen or recorded:
                set_left_totals(search.cells, search.labels, stop - start, a, work)
    if varying == 0 and not rules.refine_bins:
        for a in range(p):
            varying += _varies(search, start, stop, a)
    if sampled:  # the order is put back
        for i in range(at_hand - 1, -1, -1):
            _swap_attributes(order, i, order[layout.SWAPPED_WITH, i])
    return chosen, varying > 0
