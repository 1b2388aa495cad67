"""The best split of each attribute at a node, and of them all.

The rules are those of ``spinney.search.attribute_split`` and
``spinney.search.node_split``. Cuts of an attribute are compared by a score Σ φ(side)
that is quick to find: φ = Σ x log₂ x over classes less that of the size, or Σ x² over
size. The result is computed from proportions, as in ``spinney.trees.criteria``. Under
costs, x is the weight of a class times ``altered``; limits apply to weights. A cut
between two blocks of the same class is never better than both cuts around them, since φ
is convex (Fayyad and Irani 1992): it counts as a possible cut, and is not scored.
"""

from math import log2

import numpy as np

from spinney._support.jit.compile import kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.multiway.kernels import layout
from spinney.growth.multiway.kernels.layout import member_range
from spinney.growth.multiway.kernels.value_counts import collect_values, count_tables

# Of the blocks between cuts: nothing yet, or several classes.
NOTHING, MIXED = -2, -1


@kernel
def search_attributes(growth, top, first, last):
    """Find the best split of each attribute from ``first`` to ``last``."""
    columns, limits, work = growth.columns, growth.limits, growth.work
    _, _, unweighted = member_range(growth.members, top)
    n_classes, results = limits.n_classes, work.results
    count_tables(growth, top, first, last)
    for a in range(first, last):
        if results[a, layout.N_VALUES] < 0:
            continue
        n_values = collect_values(growth, top, a)
        results[a, layout.N_VALUES], results[a, layout.CAN_SPLIT] = n_values, 0
        if n_values < 2:
            continue
        sums = _sum_known(
            work.vectors, work.value_weights, n_values, unweighted, n_classes
        )
        n_present = _list_classes(work.vectors, work.present, unweighted, n_classes)
        results[a, layout.N_MISSING] = sums[2]
        if columns.facts[a, layout.KIND] == layout.NOMINAL:
            _score_multiway(limits, n_values, unweighted, a, sums[0], sums[1], work)
        else:
            _best_cut(growth, n_values, unweighted, a, sums[0], sums[1], n_present)


@kernel
def _sum_known(vectors, value_weights, n_values, unweighted, n_classes):
    """Sum up the known members; return their weight, and that and number of others."""
    width, line = n_classes if unweighted else 2 * n_classes, 2 * n_classes
    for c in range(width):
        vectors[layout.KNOWN * line + c] = 0.0
    for j in range(n_values):
        for c in range(width):
            vectors[layout.KNOWN * line + c] += value_weights[width * j + c]
    known, missing, lost = 0.0, 0.0, 0.0
    for c in range(n_classes):
        known += vectors[layout.KNOWN * line + c]
        missing += vectors[layout.MISSING * line + c]
        lost += vectors[layout.MISSING * line + width - n_classes + c]
    return known, missing, np.int64(lost)


@kernel
def _list_classes(vectors, present, unweighted, n_classes):
    """List the classes of known members, rising; return their number."""
    counts = layout.KNOWN * 2 * n_classes + (0 if unweighted else n_classes)
    n_present = 0
    for c in range(n_classes):
        if vectors[counts + c] > 0.0:
            present[n_present] = c
            n_present += 1
    return n_present


@kernel
def _altered(limits, array, at):
    """Return the altered weight of a line."""
    size = 0.0
    for c in range(limits.n_classes):
        size += array[at + c] * limits.altered[c]
    return size


@kernel
def _impurity(limits, array, at, size):
    """Return the impurity of a line with the altered weight ``size``."""
    kind, impurity = limits.impurity, 0.0
    for c in range(limits.n_classes):
        weight = array[at + c] * limits.altered[c]
        if weight == size:
            return 0.0
        share = weight / size
        if kind != layout.ENTROPY:
            impurity -= share * share
        elif share > 0.0:
            impurity -= share * log2(share)
    return impurity if kind == layout.ENTROPY else impurity + 1.0


@kernel
def _information(part, whole):
    """Return the term of a branch in the entropy of branch sizes."""
    share = part / whole
    return -share * log2(share) if share > 0.0 else 0.0


@kernel
def _score_multiway(limits, n_values, unweighted, a, known, missing, work):
    """Score the split with a branch for each value."""
    n_classes, value_weights = limits.n_classes, work.value_weights
    vectors = work.vectors
    width, line = n_classes if unweighted else 2 * n_classes, 2 * n_classes
    share = limits.branch_share * (known + missing)
    known = _altered(limits, vectors, layout.KNOWN * line)
    missing = _altered(limits, vectors, layout.MISSING * line)
    enough, more = 0, 0
    after, information = 0.0, _information(missing, known + missing)
    for j in range(n_values):
        size = 0.0
        for c in range(n_classes):
            size += value_weights[width * j + c]
        enough += size >= limits.least_branch * (1 - TOLERANCE)
        more += size > share * (1 + TOLERANCE)
        size = _altered(limits, value_weights, width * j)
        after += size / known * _impurity(limits, value_weights, width * j, size)
        information += _information(size, known + missing)
    if enough < 2 or (share != 0 and more < 2):
        return
    before = _impurity(limits, vectors, layout.KNOWN * line, known)
    gain = max(known / (known + missing) * (before - after), 0.0)
    _set_result(limits, a, gain, information, work)


@kernel
def _set_result(limits, a, gain, information, work):
    work.results[a, layout.CAN_SPLIT] = 1
    work.merits[a, layout.GAIN] = work.merits[a, layout.MERIT] = gain
    if limits.ratio:
        work.merits[a, layout.MERIT] = gain / information if information > 0.0 else 0.0


@kernel
def _x_log_x(x, logs):
    """Return x log₂ x."""
    whole = np.int64(x)
    if whole < len(logs) and whole == x:
        return logs[whole]
    return x * log2(x) if x > 0.0 else 0.0


@kernel
def _score(limits, work, at, n_present):
    """Return φ of one side."""
    kind, size, part, logs = limits.impurity, 0.0, 0.0, work.logs
    for k in range(n_present):
        c = work.present[k]
        x = work.vectors[at + c] * limits.altered[c]
        size += x
        part += _x_log_x(x, logs) if kind == layout.ENTROPY else x * x
    return part - _x_log_x(size, logs) if kind == layout.ENTROPY else part / size


@kernel
def _sum_sides(vectors, value_weights, n_values, unweighted, n_classes, cut):
    """Sum up the values on both sides of a cut."""
    width, line = n_classes if unweighted else 2 * n_classes, 2 * n_classes
    for c in range(width):
        vectors[layout.LEFT * line + c] = vectors[layout.RIGHT * line + c] = 0.0
    for j in range(n_values):
        side = (layout.LEFT if j <= cut else layout.RIGHT) * line
        for c in range(width):
            vectors[side + c] += value_weights[width * j + c]


@kernel
def _best_cut(growth, n_values, unweighted, a, known, missing, n_present):
    """Find the best cut between two values."""
    limits, work = growth.limits, growth.work
    n_classes, vectors, scores = limits.n_classes, work.vectors, work.scores
    line, weight = 2 * n_classes, known + missing
    n_ways = _score_cuts(growth, n_values, unweighted, a, known, missing, n_present)
    if n_ways == 0:
        return
    known = _altered(limits, vectors, layout.KNOWN * line)
    missing = _altered(limits, vectors, layout.MISSING * line)
    best = -np.inf
    for j in range(n_values - 1):
        best = max(best, scores[j])
    # Worths are compared as the gains that they are, but for constants.
    scale = known / (known + missing) / known
    before = _score(limits, work, layout.KNOWN * line, n_present)
    highest = max(1.0, abs(scale * (best - before)))
    cut = 0
    while scores[cut] < best - TOLERANCE * highest / scale:
        cut += 1
    _sum_sides(vectors, work.value_weights, n_values, unweighted, n_classes, cut)
    after, information = 0.0, _information(missing, known + missing)
    for side in range(layout.LEFT, layout.RIGHT + 1):
        size = _altered(limits, vectors, side * line)
        after += size / known * _impurity(limits, vectors, side * line, size)
        information += _information(size, known + missing)
    whole = _impurity(limits, vectors, layout.KNOWN * line, known)
    gain = max(known / (known + missing) * (whole - after), 0.0)
    if limits.mdl_correction:
        gain -= log2(float(n_ways)) / weight
    _set_result(limits, a, gain, information, work)
    work.results[a, layout.LOW_CODE] = work.codes[cut]
    work.results[a, layout.HIGH_CODE] = work.codes[cut + 1]
    # AWAY, LEFT and RIGHT stand side by side.
    for c in range(3 * line):
        work.sides[a, c] = vectors[layout.MISSING * line + c]


@kernel
def _score_cuts(growth, n_values, unweighted, a, known, missing, n_present):
    """Score the cuts that are allowed; return their number."""
    columns, limits, work = growth.columns, growth.limits, growth.work
    n_classes, vectors = limits.n_classes, work.vectors
    value_weights = work.value_weights
    scores, codes, present = work.scores, work.codes, work.present
    width, line = n_classes if unweighted else 2 * n_classes, 2 * n_classes
    whole, left, right = layout.KNOWN * line, layout.LEFT * line, layout.RIGHT * line
    last_left, last_right = layout.LAST_LEFT * line, layout.LAST_RIGHT * line
    least = min(limits.cut_share * known / n_classes, limits.most_in_side)
    least = max(limits.least_branch, least) * (1 - TOLERANCE)
    share = limits.branch_share * (known + missing) * (1 + TOLERANCE)
    numbers, start = columns.numbers, columns.facts[a, layout.NUMBERS_START]
    step = columns.steps[a]
    stepping = columns.facts[a, layout.KIND] == layout.NUMERIC and step > 0.0
    n_ways, waiting, before, block = 0, 0, NOTHING, NOTHING
    for c in range(width):
        vectors[left + c] = 0.0
    for j in range(n_values - 1):
        scores[j] = -np.inf
        size, rest = 0.0, 0.0
        for k in range(n_present):
            c = present[k]
            vectors[left + c] += value_weights[width * j + c]
            if not unweighted:
                vectors[left + n_classes + c] += value_weights[
                    width * j + n_classes + c
                ]
            # Of which class the block is that ends here, with one more value in it.
            if value_weights[width * j + c] > 0.0 and block != MIXED:
                block = c if block in (NOTHING, c) else MIXED
            size += vectors[left + c]
            other = vectors[whole + c] - vectors[left + c]
            if not unweighted and (
                vectors[whole + n_classes + c] == vectors[left + n_classes + c]
            ):
                other = 0.0
            vectors[right + c] = other
            rest += other
        if stepping and not (
            numbers[start + codes[j]] + step < numbers[start + codes[j + 1]]
        ):
            continue
        if size < least or rest < least:
            continue
        if share != 0.0 and not (size > share and rest > share):
            continue
        # The cut before waits until it is known what lies between it and this one.
        if n_ways > 0 and (n_ways == 1 or before != block or block < 0):
            scores[waiting] = _score(limits, work, last_left, n_present)
            scores[waiting] += _score(limits, work, last_right, n_present)
        for k in range(n_present):
            c = present[k]
            vectors[last_left + c] = vectors[left + c]
            vectors[last_right + c] = vectors[right + c]
        n_ways, waiting, before, block = n_ways + 1, j, block, NOTHING
    if n_ways > 0:
        scores[waiting] = _score(limits, work, last_left, n_present)
        scores[waiting] += _score(limits, work, last_right, n_present)
    return n_ways


@kernel
def _has_corrected_gain(growth, a):
    """Return whether the corrected gain is positive."""
    columns, limits, work = growth.columns, growth.limits, growth.work
    cut = columns.facts[a, layout.KIND] != layout.NOMINAL
    return (
        not (limits.mdl_correction and cut)
        or work.merits[a, layout.GAIN] > limits.min_gain
    )


@kernel
def choose_attribute(growth):
    """Return the attribute to split by, or the negative reason for a leaf."""
    columns, limits, work = growth.columns, growth.limits, growth.work
    p, results, merits = len(columns.facts), work.results, work.merits
    most, n_able, highest = 0, 0, 0.0
    total, counted = 0.0, 0
    for a in range(p):
        most = max(most, results[a, layout.N_VALUES])
        if results[a, layout.N_VALUES] < 2 or not results[a, layout.CAN_SPLIT]:
            continue
        n_able += 1
        highest = max(highest, merits[a, layout.GAIN])
        if _has_corrected_gain(growth, a) and not columns.facts[a, layout.MANY_VALUES]:
            total += merits[a, layout.GAIN]
            counted += 1
    if n_able == 0:
        return -(layout.IDENTICAL if most < 2 else layout.ROWS_IN_LEAF)
    floor = total / counted if counted else np.inf
    floor -= limits.slack + TOLERANCE * max(1.0, highest)
    best = -np.inf
    for turn in range(2):
        for a in range(p):
            if results[a, layout.N_VALUES] < 2 or not results[a, layout.CAN_SPLIT]:
                continue
            gain = merits[a, layout.GAIN]
            if gain < limits.min_gain * (1 - TOLERANCE):
                continue
            if limits.ratio and not (gain >= floor and _has_corrected_gain(growth, a)):
                continue
            if turn == 0:
                best = max(best, merits[a, layout.MERIT])
            elif merits[a, layout.MERIT] >= best - TOLERANCE * max(1.0, abs(best)):
                return a
    return -layout.MIN_GAIN
