"""The search for the best split of a node, by histograms or by sorting."""

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

MIN_SORTED_BINS = 8
ONE = np.uint64(1)


@kernel
def set_node_weight(search, top):
    """Store the weight of a node, to which its limits refer."""
    weight = limit_weight(search.rules, search.stack.weights, top)
    search.work.limits[layout.WEIGHT] = weight


@kernel
def _set_min_side_weight(search, a):
    """Store the minimum weight of a side of an attribute's cut."""
    rules, limits = search.rules, search.work.limits
    min_weight, weight = rules.min_branch_weight, limits[layout.WEIGHT]
    if rules.min_cut_fraction > 0 and not search.cells.nominal[a]:
        known_weight = weight - limit_weight(rules, search.work.vectors, layout.MISSING)
        side = min(rules.min_cut_fraction * known_weight, rules.max_side_minimum)
        min_weight = max(min_weight, side * (1 - TOLERANCE))
    if rules.min_branch_fraction > 0:
        fraction = rules.min_branch_fraction * weight * (1 + TOLERANCE)
        min_weight = max(min_weight, np.nextafter(fraction, np.inf))
    limits[layout.LEAST] = min_weight


@kernel
def _clear_cut(a, cuts):
    """Clear the best cut of an attribute.

    Its bin is NaN until the attribute is known to vary, and -1 until there is a cut.
    """
    for column in range(layout.TOTALS):
        cuts[a, column] = np.nan
    cuts[a, layout.SCORE], cuts[a, layout.BOUND] = -np.inf, np.inf


@kernel
def _store_totals(a, cuts, vectors):
    """Store the totals left of the best cut, and the totals of missing rows."""
    width = vectors.shape[1]
    for c in range(width):
        cuts[a, layout.TOTALS + c] = vectors[layout.BEST, c]
        cuts[a, layout.TOTALS + width + c] = vectors[layout.MISSING, c]


@kernel
def _missing_offset(rules, has_missing, vectors):
    """Return the score offset if missing rows are on neither side.

    RIGHT is the known rows K, and T are all rows. A cut then gains (φ(L) + φ(R) − φ(K))
    / |T|. This is the gain of a score that is greater by φ(T) − φ(K). This holds for
    every kind, as each is discounted by |K| / |T|; for TWOING, whose φ is 0, the offset
    is 0.
    """
    if not (has_missing and rules.missing_separate):
        return 0.0
    for c in range(rules.width):
        missing = vectors[layout.MISSING, c]
        vectors[layout.TRIAL_RIGHT, c] = vectors[layout.RIGHT, c] + missing
    total_score = side_score(rules.kind, vectors, layout.TRIAL_RIGHT)
    return total_score - side_score(rules.kind, vectors, layout.RIGHT)


@kernel
def _sum_attribute(rules, histograms, a, n_bins, work):
    """Compute the running sums of a histogram; return also the score offset."""
    kind, floats, vectors = rules.kind, work.floats, work.vectors
    first, last, has_missing = sum_histogram(
        kind, histograms, a, n_bins, floats, vectors
    )
    for c in range(rules.width):
        vectors[layout.RIGHT, c] = floats[layout.SUMS + c, n_bins]
    offset = work.limits[layout.MISSING_OFFSET] = _missing_offset(
        rules, has_missing, vectors
    )
    return first, last, has_missing and not rules.missing_separate, offset


@kernel
def search_edges(search, histograms, a, slack):
    """Find the best cut between the bins of an attribute, or its best subset."""
    cells, rules, work = search.cells, search.rules, search.work
    _clear_cut(a, work.cuts)
    n_bins = cells.n_bins[a]
    first, last, has_missing, offset = _sum_attribute(
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
            work.cuts[a, layout.BOUND] = bound + offset
    work.cuts[a, layout.SCORE] += offset
    _store_totals(a, work.cuts, work.vectors)


@kernel
def refine_cut(search, start, stop, histograms, a, floor, slack):
    """Search the bins of an attribute that may contain a cut above the floor.

    Ties go to the first cut: a cut inside a bin lies before the cut after the bin.
    """
    cells, rules, work = search.cells, search.rules, search.work
    column, n_bins, cuts = cells.column[a], cells.n_bins[a], work.cuts
    if column < 0 or not rules.refine_bins or cuts[a, layout.BOUND] < floor:
        return
    first, last, has_missing, offset = _sum_attribute(
        rules, histograms, a, n_bins, work
    )
    if first < 0:
        return
    _set_min_side_weight(search, a)
    floor -= offset
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
    cuts[inner, layout.SCORE] += offset
    if cuts[a, layout.BIN] != cuts[a, layout.BIN] and varies:
        cuts[a, layout.BIN] = -1
    better = cuts[inner, layout.SCORE] > cuts[a, layout.SCORE] + slack
    equal = cuts[inner, layout.SCORE] >= cuts[a, layout.SCORE] - slack
    if better or (equal and cuts[inner, layout.BIN] <= cuts[a, layout.BIN]):
        for column in range(layout.BOUND):
            cuts[a, column] = cuts[inner, column]
        _store_totals(a, cuts, work.vectors)


@kernel
def refine_attribute(search, start, stop, histograms, a, floor, slack):
    """Search inside the bins of an attribute; return the best score so far.

    If attributes compete by ratio, each needs its own gain. If competitors are stored,
    the result of an attribute must not depend on earlier attributes or on threads. Then
    the floor is the best score between bins.
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
    """Gather the rows in marked bins; return their number.

    Rows are selected first, and their values are read after a prefetch.
    """
    cells, rows, work = search.cells, search.rows, search.work
    members, row_bins = work.members, work.row_bins
    column, opened = cells.column[a], work.ints[layout.IS_OPEN]
    opened[layout.MISSING_CODE] = 0
    n, line = np.uint64(0), work.order[layout.CODES_LINE, a]
    rows = rows[start:stop]
    if line >= 0:
        drawn_codes = work.drawn_codes[line]
        for i in range(np.uint64(0), np.uint64(len(rows))):
            members[n], row_bins[n] = rows[i], drawn_codes[i]
            n += np.uint64(opened[drawn_codes[i]])
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
    """Find the best cut of an attribute in one walk over the first ``n`` members.

    Return False if cells are missing. The totals left of the cut stay unset.
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
        first_place, last_place = key_place(work.keys[0]), key_place(work.keys[n - 1])
        if work.values[first_place] == work.values[last_place]:
            return True
    _mark_varying(search, a)
    totals = search.stack.weights
    best_place = walk_rows(search.labels, totals, top, n, a, column, slack, work)
    if best_place >= 0:
        place = key_place(work.keys[best_place])
        next_place = key_place(work.keys[best_place + 1])
        record_cut(a, work.row_bins[place], work.row_bins[next_place], work)
        if column >= 0:
            cuts[a, layout.LOW] = work.values[place]
            cuts[a, layout.HIGH] = work.values[next_place]
    return True


@kernel
def _search_by_code(search, n, top, a, slack):
    """Find the best cut between codes, as ``_search_by_walk`` does."""
    cells, work, totals = search.cells, search.work, search.stack.weights
    present, high = weigh_codes(cells, search.labels, n, a, work)
    if high == layout.MISSING_CODE:
        return False
    _clear_cut(a, work.cuts)
    if present == ONE << np.uint64(high):
        return True
    _mark_varying(search, a)
    best_code = scan_codes(totals, top, a, present, high, slack, work)
    if best_code >= 0:
        next_code = best_code + 1
        while not (present >> np.uint64(next_code)) & ONE:
            next_code += 1
        record_cut(a, best_code, next_code, work)
    return True


@kernel
def _mark_varying(search, a):
    """Record that an attribute varies without missing cells."""
    for c in range(search.rules.width):
        search.work.vectors[layout.MISSING, c] = 0.0
    search.work.cuts[a, layout.BIN] = -1
    _set_min_side_weight(search, a)


@kernel
def _search_sorted(search, n, top, a, slack):
    """Find the best cut or subset of an attribute by sorting the members."""
    cells, labels, rules, work = search.cells, search.labels, search.rules, search.work
    column, n_bins, members = cells.column[a], cells.n_bins[a], work.members
    has_few_bins = cells.nominal[a] or n_bins <= max(MIN_SORTED_BINS, n >> 1)
    if (column < 0 and has_few_bins) or (column >= 0 and not rules.refine_bins):
        _count_members(search, n, a)
        search_edges(search, work.histograms, a, slack)
        return
    cuts, vectors, keys = work.cuts, work.vectors, work.keys
    totals = search.stack.weights
    _clear_cut(a, cuts)
    for c in range(rules.width):
        vectors[layout.MISSING, c] = 0.0
    n_known = ZERO
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
        keys[n_known] = sort_key(value, i)
        n_known += 1
    sort(keys, None, n_known, work.ints[layout.SORT_STACK])
    if column >= 0 and not is_float32(cells):
        order_rounded(keys, n_known, work.values)
    if (
        n_known < 2
        or work.values[key_place(keys[0])] == work.values[key_place(keys[n_known - 1])]
    ):
        return
    cuts[a, layout.BIN] = -1
    _set_min_side_weight(search, a)
    for c in range(rules.width):
        vectors[layout.LEFT, c] = 0.0
        vectors[layout.RIGHT, c] = totals[top, c] - vectors[layout.MISSING, c]
    offset = _missing_offset(rules, n_known < n, vectors)
    has_missing = n_known < n and not rules.missing_separate
    scan_sorted(rules, ZERO, n_known, labels, has_missing, slack, work, a, ZERO)
    if cuts[a, layout.SCORE] == -np.inf:
        return
    cuts[a, layout.SCORE] += offset
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
    """Rescore the best cut of an attribute by sums over its rows, in row order.

    Only for kinds with roots, which show the rounding error of a subtraction on a light
    side. Then attributes that divide the rows in the same way tie.
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
    """Return whether an attribute varies although all rows are in one bin."""
    cells, rows = search.cells, search.rows
    column = cells.column[a]
    if column < 0:
        return False
    first_value = np.nan
    for i in range(start, stop):
        number = cell_value(cells, row_of(rows[i]), column)
        if first_value != first_value:
            first_value = number
        elif number == number and number != first_value:
            return True
    return False


@kernel
def _draw_attributes(key, first, last, order):
    """Draw the attributes at a range of places in the order; record the shuffle."""
    for i in range(first, last):
        j = i + draw_below(key, order.shape[1] - i)
        order[layout.SWAPPED_WITH, i] = j
        _swap_attributes(order, i, j)


@kernel
def _swap_attributes(order, i, j):
    """Swap the attributes at two places of the order."""
    a = order[layout.ATTRIBUTE, i]
    order[layout.ATTRIBUTE, i] = order[layout.ATTRIBUTE, j]
    order[layout.ATTRIBUTE, j] = a


@kernel
def search_node(search, top, histograms, counted):
    """Return the best attribute, or -1, and whether any attribute varies.

    Attributes are tried in column order, or ``rules.n_drawn`` varying ones are drawn.
    """
    rules, stack, work = search.rules, search.stack, search.work
    start, stop = stack.entries[top, nodes.BEGIN], stack.entries[top, nodes.END]
    p, order, cuts = len(search.cells.n_bins), work.order, work.cuts
    slack = tie_tolerance(rules.kind, stack.weights, top)
    is_small = not counted and stop - start <= rules.small_node_rows
    sampled = rules.n_drawn < p
    can_walk = is_small and squares_are_exact(rules, stack.weights, top)
    set_node_weight(search, top)
    if is_small:
        for i in range(stop - start):
            work.members[i] = search.rows[start + i]
    elif not counted and not sampled:
        count(search, start, stop, ZERO, p, histograms)
    floor, leader, varying, drawn, n_counted = -np.inf, -1, 0, ZERO, ZERO
    while drawn < p and varying < rules.n_drawn:
        if sampled and drawn == n_counted:
            # As many as are still wanted are drawn and counted together.
            n_counted = min(p, drawn + rules.n_drawn - varying)
            _draw_attributes(stack.keys[top:], drawn, n_counted, order)
            if not is_small:
                n = n_counted - drawn
                count_drawn(search, start, stop, drawn, n, histograms)
        a = order[layout.ATTRIBUTE, drawn]
        drawn += 1
        if is_small:
            n, order[layout.CODES_LINE, a] = stop - start, -1
            if not (can_walk and _search_by_walk(search, n, top, a, slack)):
                _search_sorted(search, n, top, a, slack)
                _rescore_cut(search, start, stop, a)
        else:
            search_edges(search, histograms, a, slack)
            unknown = cuts[a, layout.BIN] != cuts[a, layout.BIN]
            if sampled and unknown and _varies(search, start, stop, a):
                cuts[a, layout.BIN] = -1
        varying += cuts[a, layout.BIN] == cuts[a, layout.BIN]
        if cuts[a, layout.SCORE] > floor:
            floor, leader = cuts[a, layout.SCORE], a
    if not is_small:
        # The best so far is opened first: what it gains, the others need not try.
        for i in range(-1, drawn):
            a = leader if i < 0 else order[layout.ATTRIBUTE, i]
            if a >= 0 and (i < 0 or a != leader):
                floor = refine_attribute(
                    search, start, stop, histograms, a, floor, slack
                )
                varying += cuts[a, layout.BIN] == cuts[a, layout.BIN]
    chosen = choose_attribute(search, top, drawn)
    if can_walk and not rules.count_rows:  # else the rows of both sides are counted
        recorded = stop - start >= rules.competitor_rows
        for i in range(drawn):
            a = order[layout.ATTRIBUTE, i]
            if a == chosen or recorded:
                set_left_totals(search.cells, search.labels, stop - start, a, work)
    if varying == 0 and not rules.refine_bins:
        for a in range(p):
            varying += _varies(search, start, stop, a)
    if sampled:  # the order is put back
        for i in range(n_counted - 1, -1, -1):
            _swap_attributes(order, i, order[layout.SWAPPED_WITH, i])
    return chosen, varying > 0
