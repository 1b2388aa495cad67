"""The best split of each attribute at a node, and the best attribute.

The rules are those of ``spinney.search.attribute_split`` and
``spinney.search.node_split``. Cuts of an attribute are compared by a fast score Σ
φ(side), with φ = Σ x log₂ x over classes minus the same of the size, or Σ x² over size.
The result is computed from proportions, as in ``spinney.trees.criteria``. Under costs,
x is the weight of a class times ``altered``; limits apply to weights. A cut between two
blocks of the same class is never better than both cuts around them, since φ is convex
(Fayyad and Irani 1992). Such a cut counts as possible, and is not scored.
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
        sums = _sum_observed(
            work.vectors, work.value_weights, n_values, unweighted, n_classes
        )
        n_present = _list_classes(work.vectors, work.present, unweighted, n_classes)
        results[a, layout.N_MISSING] = sums[2]
        if columns.facts[a, layout.KIND] == layout.NOMINAL:
            _score_multiway(limits, n_values, unweighted, a, sums[0], sums[1], work)
        else:
            _best_cut(growth, n_values, unweighted, a, sums[0], sums[1], n_present)


@kernel
def _sum_observed(vectors, value_weights, n_values, unweighted, n_classes):
    """Sum the known members; return their weight, and weight and number of others."""
    width, line = n_classes if unweighted else 2 * n_classes, 2 * n_classes
    for c in range(width):
        vectors[layout.KNOWN * line + c] = 0.0
    for j in range(n_values):
        for c in range(width):
            vectors[layout.KNOWN * line + c] += value_weights[width * j + c]
    known, missing, n_missing = 0.0, 0.0, 0.0
    for c in range(n_classes):
        known += vectors[layout.KNOWN * line + c]
        missing += vectors[layout.MISSING * line + c]
        n_missing += vectors[layout.MISSING * line + width - n_classes + c]
    return known, missing, np.int64(n_missing)


@kernel
def _list_classes(vectors, present, unweighted, n_classes):
    """List the classes of known members in rising order; return their number."""
    counts = layout.KNOWN * 2 * n_classes + (0 if unweighted else n_classes)
    n_present = 0
    for c in range(n_classes):
        if vectors[counts + c] > 0.0:
            present[n_present] = c
            n_present += 1
    return n_present


@kernel
def _altered(limits, array, start):
    """Return the altered weight of a line."""
    size = 0.0
    for c in range(limits.n_classes):
        size += array[start + c] * limits.altered[c]
    return size


@kernel
def _impurity(limits, array, start, size):
    """Return the impurity of a line whose altered weight is ``size``."""
    kind, impurity = limits.impurity, 0.0
    for c in range(limits.n_classes):
        weight = array[start + c] * limits.altered[c]
        if weight == size:
            return 0.0
        fraction = weight / size
        if kind != layout.ENTROPY:
            impurity -= fraction * fraction
        elif fraction > 0.0:
            impurity -= fraction * log2(fraction)
    return impurity if kind == layout.ENTROPY else impurity + 1.0


@kernel
def _information(part, whole):
    """Return the term of a branch in the entropy of branch sizes."""
    fraction = part / whole
    return -fraction * log2(fraction) if fraction > 0.0 else 0.0


@kernel
def _score_multiway(limits, n_values, unweighted, a, known, missing, work):
    """Compute the result of the split with a branch for each value."""
    n_classes, value_weights = limits.n_classes, work.value_weights
    vectors = work.vectors
    width, line = n_classes if unweighted else 2 * n_classes, 2 * n_classes
    min_weight = limits.min_branch_fraction * (known + missing)
    known = _altered(limits, vectors, layout.KNOWN * line)
    missing = _altered(limits, vectors, layout.MISSING * line)
    n_heavy, n_above = 0, 0
    after, information = 0.0, _information(missing, known + missing)
    for j in range(n_values):
        size = 0.0
        for c in range(n_classes):
            size += value_weights[width * j + c]
        n_heavy += size >= limits.min_branch_weight * (1 - TOLERANCE)
        n_above += size > min_weight * (1 + TOLERANCE)
        size = _altered(limits, value_weights, width * j)
        after += size / known * _impurity(limits, value_weights, width * j, size)
        information += _information(size, known + missing)
    if n_heavy < 2 or (min_weight != 0 and n_above < 2):
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
def _score(limits, work, start, n_present):
    """Return φ of one side."""
    kind, size, part, logs = limits.impurity, 0.0, 0.0, work.logs
    for k in range(n_present):
        c = work.present[k]
        x = work.vectors[start + c] * limits.altered[c]
        size += x
        part += _x_log_x(x, logs) if kind == layout.ENTROPY else x * x
    return part - _x_log_x(size, logs) if kind == layout.ENTROPY else part / size


@kernel
def _sum_sides(vectors, value_weights, n_values, unweighted, n_classes, cut):
    """Sum the values on both sides of a cut."""
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
    n_cuts = _score_cuts(growth, n_values, unweighted, a, known, missing, n_present)
    if n_cuts == 0:
        return
    known = _altered(limits, vectors, layout.KNOWN * line)
    missing = _altered(limits, vectors, layout.MISSING * line)
    best = -np.inf
    for j in range(n_values - 1):
        best = max(best, scores[j])
    # Scores are compared as gains, without their constants.
    scale = known / (known + missing) / known
    before = _score(limits, work, layout.KNOWN * line, n_present)
    max_gain = max(1.0, abs(scale * (best - before)))
    cut = 0
    while scores[cut] < best - TOLERANCE * max_gain / scale:
        cut += 1
    _sum_sides(vectors, work.value_weights, n_values, unweighted, n_classes, cut)
    after, information = 0.0, _information(missing, known + missing)
    for side in range(layout.LEFT, layout.RIGHT + 1):
        size = _altered(limits, vectors, side * line)
        after += size / known * _impurity(limits, vectors, side * line, size)
        information += _information(size, known + missing)
    before_impurity = _impurity(limits, vectors, layout.KNOWN * line, known)
    gain = max(known / (known + missing) * (before_impurity - after), 0.0)
    if limits.mdl_correction:
        gain -= log2(float(n_cuts)) / weight
    _set_result(limits, a, gain, information, work)
    work.results[a, layout.LOW_CODE] = work.codes[cut]
    work.results[a, layout.HIGH_CODE] = work.codes[cut + 1]
    # MISSING, LEFT and RIGHT are adjacent.
    for c in range(3 * line):
        work.sides[a, c] = vectors[layout.MISSING * line + c]


@kernel
def _score_cuts(growth, n_values, unweighted, a, known, missing, n_present):
    """Score the allowed cuts; return their number."""
    columns, limits, work = growth.columns, growth.limits, growth.work
    n_classes, vectors = limits.n_classes, work.vectors
    value_weights = work.value_weights
    scores, codes, present = work.scores, work.codes, work.present
    width, line = n_classes if unweighted else 2 * n_classes, 2 * n_classes
    known_start, left = layout.KNOWN * line, layout.LEFT * line
    right = layout.RIGHT * line
    last_left, last_right = layout.LAST_LEFT * line, layout.LAST_RIGHT * line
    least = min(limits.min_cut_fraction * known / n_classes, limits.max_side_minimum)
    least = max(limits.min_branch_weight, least) * (1 - TOLERANCE)
    min_branch = limits.min_branch_fraction * (known + missing) * (1 + TOLERANCE)
    numbers, start = columns.numbers, columns.facts[a, layout.NUMBERS_START]
    step = columns.steps[a]
    stepping = columns.facts[a, layout.KIND] == layout.NUMERIC and step > 0.0
    n_cuts, waiting, before, block = 0, 0, NOTHING, NOTHING
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
            right_class = vectors[known_start + c] - vectors[left + c]
            if not unweighted and (
                vectors[known_start + n_classes + c] == vectors[left + n_classes + c]
            ):
                right_class = 0.0
            vectors[right + c] = right_class
            rest += right_class
        if stepping and not (
            numbers[start + codes[j]] + step < numbers[start + codes[j + 1]]
        ):
            continue
        if size < least or rest < least:
            continue
        if min_branch != 0.0 and not (size > min_branch and rest > min_branch):
            continue
        # The previous cut is scored when the block between it and this one is known.
        if n_cuts > 0 and (n_cuts == 1 or before != block or block < 0):
            scores[waiting] = _score(limits, work, last_left, n_present)
            scores[waiting] += _score(limits, work, last_right, n_present)
        for k in range(n_present):
            c = present[k]
            vectors[last_left + c] = vectors[left + c]
            vectors[last_right + c] = vectors[right + c]
        n_cuts, waiting, before, block = n_cuts + 1, j, block, NOTHING
    if n_cuts > 0:
        scores[waiting] = _score(limits, work, last_left, n_present)
        scores[waiting] += _score(limits, work, last_right, n_present)
    return n_cuts


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
    """Return the attribute to split on, or the negative reason for a leaf."""
    columns, limits, work = growth.columns, growth.limits, growth.work
    p, results, merits = len(columns.facts), work.results, work.merits
    max_values, n_splittable, highest = 0, 0, 0.0
    total, counted = 0.0, 0
    for a in range(p):
        max_values = max(max_values, results[a, layout.N_VALUES])
        if results[a, layout.N_VALUES] < 2 or not results[a, layout.CAN_SPLIT]:
            continue
        n_splittable += 1
        highest = max(highest, merits[a, layout.GAIN])
        if _has_corrected_gain(growth, a) and not columns.facts[a, layout.MANY_VALUES]:
            total += merits[a, layout.GAIN]
            counted += 1
    if n_splittable == 0:
        return -(layout.IDENTICAL if max_values < 2 else layout.ROWS_IN_LEAF)
    floor = total / counted if counted else np.inf
    floor -= limits.slack + TOLERANCE * max(1.0, highest)
    best = -np.inf
    for second_pass in range(2):
        for a in range(p):
            if results[a, layout.N_VALUES] < 2 or not results[a, layout.CAN_SPLIT]:
                continue
            gain = merits[a, layout.GAIN]
            if gain < limits.min_gain * (1 - TOLERANCE):
                continue
            if limits.ratio and not (gain >= floor and _has_corrected_gain(growth, a)):
                continue
            if second_pass == 0:
                best = max(best, merits[a, layout.MERIT])
            elif merits[a, layout.MERIT] >= best - TOLERANCE * max(1.0, abs(best)):
                return a
    return -layout.MIN_GAIN
