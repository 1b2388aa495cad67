"""The best split of a node: its attributes, counted by bins or sorted."""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.between_bins import (
    best_edge,
    greatest_bound,
    mark_bins,
    run,
)
from spinney.growth.binned.kernels.cell_numbers import ask_ahead, is_single, number_at
from spinney.growth.binned.kernels.choose import choose
from spinney.growth.binned.kernels.count import AHEAD, count, count_drawn
from spinney.growth.binned.kernels.draw import draw
from spinney.growth.binned.kernels.inside_bins import look_inside
from spinney.growth.binned.kernels.ordered_rows import (
    can_tally,
    can_walk,
    note_cut,
    order_rows,
    read_codes,
    scan_tallies,
    sums_are_whole,
    tally_rows,
    walk_rows,
    weigh_left,
)
from spinney.growth.binned.kernels.row_words import add_row, number_of
from spinney.growth.binned.kernels.score import (
    DEVIATION,
    add_missing,
    own_size,
    score_of,
    score_of_cut,
    slack_of,
)
from spinney.growth.binned.kernels.sort import key_of, place_of, settle, sort
from spinney.growth.binned.kernels.sorted_cuts import scan_sorted
from spinney.growth.binned.kernels.subsets import best_subset

FEW_BINS = 8
SINGLE = np.uint64(1)


@kernel
def weigh_node(search, top):
    """Note the weight of a node, of which its limits are shares."""
    own = own_size(search.rules, search.stack.weights, top)
    search.work.limits[layout.WEIGHT] = own


@kernel
def _set_least(search, a):
    """Note what a side of a cut of an attribute must weigh; AWAY is what is missing."""
    rules, limits = search.rules, search.work.limits
    least, weight = rules.least_branch, limits[layout.WEIGHT]
    if rules.cut_share > 0 and not search.cells.nominal[a]:
        known = weight - own_size(rules, search.work.vectors, layout.AWAY)
        side = min(rules.cut_share * known, rules.most_in_side)
        least = max(least, side * (1 - TOLERANCE))
    if rules.branch_share > 0:
        share = rules.branch_share * weight * (1 + TOLERANCE)
        least = max(least, np.nextafter(share, np.inf))
    limits[layout.LEAST] = least


@kernel
def _begin(a, cuts):
    """Forget what was found of an attribute.

    Its bin is NaN until it is known to vary, and -1 until there is a cut.
    """
    for what in range(layout.TOTALS):
        cuts[a, what] = np.nan
    cuts[a, layout.SCORE], cuts[a, layout.BOUND] = -np.inf, np.inf


@kernel
def _end(a, cuts, vectors):
    """Keep what lies left of the best cut, and what is missing."""
    width = vectors.shape[1]
    for c in range(width):
        cuts[a, layout.TOTALS + c] = vectors[layout.BEST, c]
        cuts[a, layout.TOTALS + width + c] = vectors[layout.AWAY, c]


@kernel
def _worth_apart(rules, absent, vectors):
    """Return what scores are to be raised by where missing rows are on no side.

    RIGHT is the known rows K. A cut gains (φ(L) + φ(R) − φ(K)) / |T| then, T being all
    rows: the gain of a score that is greater by φ(T) − φ(K). That is so of every kind,
    as each is discounted by |K| / |T|; of TWOING, whose φ is 0, by nothing more.
    """
    if not (absent and rules.apart):
        return 0.0
    for c in range(rules.width):
        away = vectors[layout.AWAY, c]
        vectors[layout.OTHER, c] = vectors[layout.RIGHT, c] + away
    everything = score_of(rules.kind, vectors, layout.OTHER)
    return everything - score_of(rules.kind, vectors, layout.RIGHT)


@kernel
def _run(rules, lines, a, n_bins, work):
    """Sum up a line as ``run`` does, and say what scores are to be raised by."""
    kind, floats, vectors = rules.kind, work.floats, work.vectors
    first, last, absent = run(kind, lines, a, n_bins, floats, vectors)
    for c in range(rules.width):
        vectors[layout.RIGHT, c] = floats[layout.SUMS + c, n_bins]
    raised = work.limits[layout.RAISED] = _worth_apart(rules, absent, vectors)
    return first, last, absent and not rules.apart, raised


@kernel
def search_edges(search, lines, a, slack):
    """Find the best cut between the bins of an attribute, or its best subset."""
    cells, rules, work = search.cells, search.rules, search.work
    _begin(a, work.cuts)
    n_bins = cells.n_bins[a]
    first, last, absent, raised = _run(rules, lines, a, n_bins, work)
    if first == last:
        return
    _set_least(search, a)
    work.cuts[a, layout.BIN] = -1
    if cells.nominal[a]:
        best_subset(rules, lines, a, n_bins, first, last, absent, slack, work)
    else:
        best_edge(rules, a, n_bins, first, last, absent, slack, work)
        if rules.exact and cells.column[a] >= 0:
            bound = greatest_bound(rules, n_bins, first, last, absent, work)
            work.cuts[a, layout.BOUND] = bound + raised
    work.cuts[a, layout.SCORE] += raised
    _end(a, work.cuts, work.vectors)


@kernel
def search_inside(search, start, stop, lines, a, floor, slack):
    """Look inside the bins of an attribute that may hold a better cut than the floor.

    Of equal cuts the first wins: one inside a bin lies before the one after it.
    """
    cells, rules, work = search.cells, search.rules, search.work
    column, n_bins, cuts = cells.column[a], cells.n_bins[a], work.cuts
    if column < 0 or not rules.exact or cuts[a, layout.BOUND] < floor:
        return
    first, last, absent, raised = _run(rules, lines, a, n_bins, work)
    if first < 0:
        return
    _set_least(search, a)
    floor -= raised
    if not mark_bins(rules, lines, a, n_bins, first, last, absent, floor, slack, work):
        return
    n, labels = _open_rows(search, start, stop, a), search.labels
    rounded = not is_single(cells)
    varies = look_inside(rules, labels, n, n_bins, absent, floor, slack, rounded, work)
    inner = len(cuts) - 1
    cuts[inner, layout.SCORE] += raised
    if cuts[a, layout.BIN] != cuts[a, layout.BIN] and varies:
        cuts[a, layout.BIN] = -1
    better = cuts[inner, layout.SCORE] > cuts[a, layout.SCORE] + slack
    equal = cuts[inner, layout.SCORE] >= cuts[a, layout.SCORE] - slack
    if better or (equal and cuts[inner, layout.BIN] <= cuts[a, layout.BIN]):
        for what in range(layout.BOUND):
            cuts[a, what] = cuts[inner, what]
        _end(a, cuts, work.vectors)


@kernel
def open_bins(search, start, stop, lines, a, floor, slack):
    """Look inside the bins of an attribute; return the best score so far.

    Where attributes compete by ratio, each must know what it gains itself. Where those
    that lose are kept, what is known of one must not depend on which were opened before
    it, or threads would make a difference: the score is then that between bins.
    """
    cuts, by_ratio = search.work.cuts, search.rules.by_ratio
    least = cuts[a, layout.SCORE] if by_ratio else floor
    search_inside(search, start, stop, lines, a, least - 3 * slack, slack)
    _score_afresh(search, start, stop, a)
    if stop - start >= search.rules.runners_up:
        return floor
    return max(floor, cuts[a, layout.SCORE])


@kernel
def _open_rows(search, start, stop, a):
    """Gather the rows in open bins, and return how many there are.

    First which they are, then their numbers: these lie far apart, and are asked for
    ahead.
    """
    cells, rows, work = search.cells, search.rows, search.work
    members, owners = work.members, work.owners
    column, opened = cells.column[a], work.wholes[layout.OPENED]
    opened[layout.ABSENT] = 0
    n, line = np.uint64(0), work.order[layout.LINE_OF, a]
    rows = rows[start:stop]
    if line >= 0:
        known = work.gathered[line]
        for i in range(np.uint64(0), np.uint64(len(rows))):
            members[n], owners[n] = rows[i], known[i]
            n += np.uint64(opened[known[i]])
    else:
        codes = cells.by_attribute[a]
        for i in range(np.uint64(0), np.uint64(len(rows))):
            b = codes[number_of(rows[i])]
            members[n], owners[n] = rows[i], b
            n += np.uint64(opened[b])
    n = np.int64(n)
    for i in range(n):
        soon = number_of(members[min(i + 2 * AHEAD, n - 1)])
        ask_ahead(cells, np.int64(soon), column)
        work.values[i] = number_at(cells, number_of(members[i]), column)
    return n


@kernel
def _search_rows(search, n, top, a, slack):
    """Find the best cut of an attribute in one walk over the rows of a node.

    The rows are the first ``n`` members. Return whether it could: not where cells are
    missing. What lies left of the cut is to be weighed yet.
    """
    cells, rules, work = search.cells, search.rules, search.work
    if not can_walk(cells, rules, a):
        return False
    if can_tally(cells, n, a, rules.width):
        return _search_tallies(search, n, top, a, slack)
    low, high = read_codes(cells, n, a, work)
    if high == layout.ABSENT:
        return False
    cuts, column = work.cuts, cells.column[a]
    _begin(a, cuts)
    if low == high and column < 0:
        return True
    order_rows(cells, n, a, low, high, work)
    if low == high:
        one, other = place_of(work.keys[0]), place_of(work.keys[n - 1])
        if work.values[one] == work.values[other]:
            return True
    _begin_varying(search, a)
    totals = search.stack.weights
    found = walk_rows(search.labels, totals, top, n, a, column, slack, work)
    if found >= 0:
        here, after = place_of(work.keys[found]), place_of(work.keys[found + 1])
        note_cut(a, work.owners[here], work.owners[after], work)
        if column >= 0:
            cuts[a, layout.LOW] = work.values[here]
            cuts[a, layout.HIGH] = work.values[after]
    return True


@kernel
def _search_tallies(search, n, top, a, slack):
    """Find the best cut between the codes of an attribute, as ``_search_rows`` does."""
    cells, work, totals = search.cells, search.work, search.stack.weights
    seen, high = tally_rows(cells, search.labels, n, a, work)
    if high == layout.ABSENT:
        return False
    _begin(a, work.cuts)
    if seen == SINGLE << np.uint64(high):
        return True
    _begin_varying(search, a)
    found = scan_tallies(totals, top, a, seen, high, slack, work)
    if found >= 0:
        after = found + 1
        while not (seen >> np.uint64(after)) & SINGLE:
            after += 1
        note_cut(a, found, after, work)
    return True


@kernel
def _begin_varying(search, a):
    """Note that an attribute varies, and what a side of a cut of it must weigh.

    None of its cells is missing.
    """
    for c in range(search.rules.width):
        search.work.vectors[layout.AWAY, c] = 0.0
    search.work.cuts[a, layout.BIN] = -1
    _set_least(search, a)


@kernel
def _search_small(search, n, top, a, slack):
    """Find the best cut or subset of an attribute by sorting the rows of a node.

    The rows are the first ``n`` members.
    """
    cells, labels, rules, work = search.cells, search.labels, search.rules, search.work
    column, n_bins, members = cells.column[a], cells.n_bins[a], work.members
    few = cells.nominal[a] or n_bins <= max(FEW_BINS, n >> 1)
    if (column < 0 and few) or (column >= 0 and not rules.exact):
        _count_small(search, n, a)
        search_edges(search, work.lines, a, slack)
        return
    cuts, vectors, keys = work.cuts, work.vectors, work.keys
    totals = search.stack.weights
    _begin(a, cuts)
    for c in range(rules.width):
        vectors[layout.AWAY, c] = 0.0
    m = ZERO
    for i in range(n):
        row = number_of(members[i])
        code = cells.codes[row, a]
        if code == layout.ABSENT:
            add_row(rules.kind, labels, members[i], vectors, layout.AWAY)
            continue
        value = np.float64(code)
        if column >= 0:
            value = number_at(cells, row, column)
        work.values[i] = value
        keys[m] = key_of(value, i)
        m += 1
    sort(keys, None, m, work.wholes[layout.WAITING])
    if column >= 0 and not is_single(cells):
        settle(keys, m, work.values)
    if m < 2 or work.values[place_of(keys[0])] == work.values[place_of(keys[m - 1])]:
        return
    cuts[a, layout.BIN] = -1
    _set_least(search, a)
    for c in range(rules.width):
        vectors[layout.LEFT, c] = 0.0
        vectors[layout.RIGHT, c] = totals[top, c] - vectors[layout.AWAY, c]
    raised = _worth_apart(rules, m < n, vectors)
    absent = m < n and not rules.apart
    scan_sorted(rules, ZERO, m, labels, absent, slack, work, a, ZERO)
    if cuts[a, layout.SCORE] == -np.inf:
        return
    cuts[a, layout.SCORE] += raised
    if column < 0:
        # The values were codes: a cut between bins, the next one known.
        cuts[a, layout.BIN], cuts[a, layout.LOW] = cuts[a, layout.LOW], np.nan
    else:
        i = ZERO
        while work.values[place_of(keys[i])] != cuts[a, layout.LOW]:
            i += 1
        cuts[a, layout.BIN] = cells.codes[number_of(members[place_of(keys[i])]), a]
    _end(a, cuts, vectors)


@kernel
def _score_afresh(search, start, stop, a):
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
        vectors[layout.ONE, c] = vectors[layout.OTHER, c] = 0.0
        vectors[layout.AWAY, c] = 0.0
    for i in range(start, stop):
        word = search.rows[i]
        code = np.int64(cells.by_attribute[a, number_of(word)])
        if cells.nominal[a]:
            left = work.masks[a, code] == 1
        elif code == last and column >= 0 and low == low:
            left = number_at(cells, number_of(word), column) <= low
        else:
            left = code <= last
        side = layout.ONE if left else layout.OTHER
        if code == layout.ABSENT:
            side = layout.AWAY
        add_row(rules.kind, search.labels, word, vectors, side)
    for c in range(rules.width):
        known = vectors[layout.ONE, c] + vectors[layout.OTHER, c]
        vectors[layout.RIGHT, c] = known
    absent = vectors[layout.AWAY, 0] > 0
    if absent and not rules.apart:
        add_missing(vectors, layout.ONE + np.int64(cuts[a, layout.MISSING]))
    reached = score_of_cut(rules.kind, vectors, layout.ONE, layout.OTHER)
    cuts[a, layout.SCORE] = reached + _worth_apart(rules, absent, vectors)


@kernel
def _count_small(search, n, a):
    """Count an attribute over the rows of a small node."""
    cells, rules, work = search.cells, search.rules, search.work
    lines = work.lines
    for b in range(cells.n_bins[a]):
        for c in range(rules.width):
            lines[a, b, c] = 0.0
    for c in range(rules.width):
        lines[a, layout.ABSENT, c] = 0.0
    for i in range(n):
        word = work.members[i]
        code = np.int64(cells.codes[number_of(word), a])
        add_row(rules.kind, search.labels, word, lines[a], code)


@kernel
def _varies_inside(search, start, stop, a):
    """Return whether an attribute varies, all of whose rows are in one bin."""
    cells, rows = search.cells, search.rows
    column = cells.column[a]
    if column < 0:
        return False
    known = np.nan
    for i in range(start, stop):
        number = number_at(cells, number_of(rows[i]), column)
        if known != known:
            known = number
        elif number == number and number != known:
            return True
    return False


@kernel
def _draw_attributes(key, first, last, order):
    """Draw the attributes at some places of the order; the shuffle is recorded."""
    for i in range(first, last):
        other = i + draw(key, order.shape[1] - i)
        order[layout.DRAWN, i] = other
        _exchange(order, i, other)


@kernel
def _exchange(order, i, other):
    """Exchange the attributes at two places of the order."""
    a = order[layout.PLACE, i]
    order[layout.PLACE, i] = order[layout.PLACE, other]
    order[layout.PLACE, other] = a


@kernel
def search_node(search, top, lines, counted):
    """Return the attribute whose split is best, -1 without any, and if any varies.

    Attributes are tried in column order, or ``rules.tries`` that vary are drawn.
    """
    rules, stack, work = search.rules, search.stack, search.work
    start, stop = stack.at[top, nodes.BEGIN], stack.at[top, nodes.END]
    p, order, cuts = len(search.cells.n_bins), work.order, work.cuts
    slack = slack_of(rules.kind, stack.weights, top)
    small = not counted and stop - start <= rules.small
    sampled = rules.tries < p
    walks = small and sums_are_whole(rules, stack.weights, top)
    weigh_node(search, top)
    if small:
        for i in range(stop - start):
            work.members[i] = search.rows[start + i]
    elif not counted and not sampled:
        count(search, start, stop, ZERO, p, lines)
    floor, front, varying, drawn, at_hand = -np.inf, -1, 0, ZERO, ZERO
    while drawn < p and varying < rules.tries:
        if sampled and drawn == at_hand:
            # As many as are still wanted are drawn and counted together.
            at_hand = min(p, drawn + rules.tries - varying)
            _draw_attributes(stack.keys[top:], drawn, at_hand, order)
            if not small:
                n = at_hand - drawn
                count_drawn(search, start, stop, drawn, n, lines)
        a = order[layout.PLACE, drawn]
        drawn += 1
        if small:
            n, order[layout.LINE_OF, a] = stop - start, -1
            if not (walks and _search_rows(search, n, top, a, slack)):
                _search_small(search, n, top, a, slack)
                _score_afresh(search, start, stop, a)
        else:
            search_edges(search, lines, a, slack)
            unknown = cuts[a, layout.BIN] != cuts[a, layout.BIN]
            if sampled and unknown and _varies_inside(search, start, stop, a):
                cuts[a, layout.BIN] = -1
        varying += cuts[a, layout.BIN] == cuts[a, layout.BIN]
        if cuts[a, layout.SCORE] > floor:
            floor, front = cuts[a, layout.SCORE], a
    if not small:
        # The best so far is opened first: what it gains, the others need not try.
        for i in range(-1, drawn):
            a = front if i < 0 else order[layout.PLACE, i]
            if a >= 0 and (i < 0 or a != front):
                floor = open_bins(search, start, stop, lines, a, floor, slack)
                varying += cuts[a, layout.BIN] == cuts[a, layout.BIN]
    chosen = choose(search, top, drawn)
    if walks and not rules.tally:  # else the rows of both sides are counted
        recorded = stop - start >= rules.runners_up
        for i in range(drawn):
            a = order[layout.PLACE, i]
            if a == chosen or recorded:
                weigh_left(search.cells, search.labels, stop - start, a, work)
    if varying == 0 and not rules.exact:
        for a in range(p):
            varying += _varies_inside(search, start, stop, a)
    if sampled:  # the order is put back
        for i in range(at_hand - 1, -1, -1):
            _exchange(order, i, order[layout.DRAWN, i])
    return chosen, varying > 0
