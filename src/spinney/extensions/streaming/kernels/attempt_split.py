"""The attempt to split a leaf: the gain of each attribute, and Hoeffding's bound.

The gain of a split, by entropy or by Gini's index, is of one form: a sum over branches
less the same of the node, over the weight of the node ::

    entropy    score = Σ n_c log₂ n_c − n log₂ n      (−n times the entropy)
    Gini       score = Σ n_c² / n                      (n − n times the impurity)

A difference of the gains of two attributes above Hoeffding's bound ::

    ε = R √(ln(1/δ) / 2n)

holds for future rows too, except with probability δ (Domingos and Hulten 2000). R is
the range of the gain: log₂ of the number of classes at the leaf, or 1 − 1 / that
number; n is the weight of the rows in the table. If ε is below the tie threshold, the
best attribute wins; there n is the weight of all rows at the leaf, with those inherited
from its parent, as in other programs.
"""

import math

import numpy as np

from spinney._support.jit.compile import kernel
from spinney._support.ties import TOLERANCE
from spinney.extensions.streaming.kernels import layout
from spinney.extensions.streaming.kernels.leaf_statistics import n_cuts


@kernel
def score(weights, criterion):
    """Return the score of a branch of these class weights."""
    total, squares, logs = 0.0, 0.0, 0.0
    for c in range(len(weights)):
        weight = weights[c]
        if weight > 0.0:
            total += weight
            squares += weight * weight
            if criterion == layout.ENTROPY:
                logs += weight * math.log2(weight)
    if total == 0.0:
        return 0.0
    if criterion == layout.ENTROPY:
        return logs - total * math.log2(total)
    return squares / total


@kernel
def score_with(weights, others, criterion, both):
    """Return the score of two sets of rows together."""
    for c in range(len(weights)):
        both[c] = weights[c] + others[c]
    return score(both, criterion)


@kernel
def best_split(stream, slot, leaf_weight):
    """Return the best split of a leaf: attribute, line, branch of missing cells.

    ``leaf_weight`` is the weight of all its rows. The attribute is -1 if none is known
    to be best yet. The line is that before the cut; -1 for a branch for each value.
    """
    work, columns = stream.work, stream.columns
    criterion = stream.limits[layout.CRITERION]
    n_classes = np.int64(0)
    if len(columns.kind) > 0:
        n_classes = _sum_up(stream, slot, np.int64(0))
    if n_classes < 2:
        return np.int64(-1), np.int64(-1), np.int64(0)
    weight = 0.0
    for c in range(len(work.whole)):
        weight += work.whole[c]
    whole = score(work.whole, criterion)
    first, second = 0.0, 0.0
    attribute, line, missing = np.int64(-1), np.int64(-1), np.int64(0)
    for a in range(len(columns.kind)):
        _sum_up(stream, slot, a)
        if columns.kind[a] == layout.NOMINAL:
            merit, own_line, branch = _branch_per_value(stream, slot, a)
        else:
            merit, own_line, branch = _threshold(stream, slot, a)
        merit = (merit - whole) / weight
        if branch >= 0 and merit > first + TOLERANCE:
            first, second = merit, first
            attribute, line, missing = np.int64(a), own_line, branch
        elif branch >= 0 and merit > second:
            second = merit
    spread = (
        math.log2(n_classes) if criterion == layout.ENTROPY else 1.0 - 1.0 / n_classes
    )
    bound = spread * math.sqrt(stream.bounds[layout.LOG_DELTA] / (2.0 * weight))
    tie_bound = spread * math.sqrt(stream.bounds[layout.LOG_DELTA] / (2 * leaf_weight))
    if attribute < 0 or not (
        first - second > bound or tie_bound < stream.bounds[layout.TIE_THRESHOLD]
    ):
        return np.int64(-1), np.int64(-1), np.int64(0)
    return attribute, line, missing


@kernel
def _sum_up(stream, slot, attribute):
    """Sum an attribute's table: known, missing and whole; return how many classes."""
    work, columns, counts = stream.work, stream.columns, stream.slots.counts
    first, n_lines = columns.first[attribute], columns.n_lines[attribute]
    present = np.int64(0)
    for c in range(len(work.whole)):
        known = 0.0
        for line in range(first, first + n_lines):
            known += counts[slot, line, c]
        work.known[c], work.missing[c] = known, counts[slot, first + n_lines, c]
        work.whole[c] = known + work.missing[c]
        present += work.whole[c] > 0.0
    return present


@kernel
def _threshold(stream, slot, attribute):
    """Return the best threshold: its scores, the line before it, missing's branch.

    The branch is -1 where there is no threshold.
    """
    work, slots = stream.work, stream.slots
    criterion = stream.limits[layout.CRITERION]
    first = stream.columns.first[attribute]
    has_missing = slots.rows[slot, first + stream.columns.n_lines[attribute]] > 0
    left, right, spare = work.left, work.right, work.whole
    best, at, branch = -np.inf, np.int64(-1), np.int64(-1)
    n_left, n_known = np.int64(0), np.int64(0)
    for line in range(stream.columns.n_lines[attribute]):
        n_known += slots.rows[slot, first + line]
    for c in range(len(left)):
        left[c] = 0.0
    for line in range(n_cuts(stream, slot, attribute)):
        if slots.rows[slot, first + line] == 0:
            continue
        n_left += slots.rows[slot, first + line]
        if n_left == n_known:
            break
        heavier = 0.0
        for c in range(len(left)):
            left[c] += slots.counts[slot, first + line, c]
            right[c] = work.known[c] - left[c]
            heavier += right[c] - left[c]
        one, other = score(left, criterion), score(right, criterion)
        if not has_missing:
            if one + other > best + TOLERANCE:
                best, at = one + other, np.int64(line)
                branch = np.int64(heavier > 0.0)
            continue
        with_left = score_with(left, work.missing, criterion, spare) + other
        with_right = one + score_with(right, work.missing, criterion, spare)
        if with_left > best + TOLERANCE:
            best, at, branch = with_left, np.int64(line), np.int64(0)
        if with_right > best + TOLERANCE:
            best, at, branch = with_right, np.int64(line), np.int64(1)
    return best, at, branch


@kernel
def _branch_per_value(stream, slot, attribute):
    """Return the scores of a branch for each value at the leaf, and missing's branch.

    The branch is -1 where fewer than two values are there.
    """
    work, slots = stream.work, stream.slots
    criterion = stream.limits[layout.CRITERION]
    first, n_lines = stream.columns.first[attribute], stream.columns.n_lines[attribute]
    has_missing = slots.rows[slot, first + n_lines] > 0
    total, more, heaviest = 0.0, -np.inf, 0.0
    n_branches, branch = np.int64(0), np.int64(-1)
    for line in range(first, first + n_lines):
        if slots.rows[slot, line] == 0:
            continue
        own = score(slots.counts[slot, line], criterion)
        total += own
        if has_missing:
            gained = score_with(
                slots.counts[slot, line], work.missing, criterion, work.left
            )
            if gained - own > more + TOLERANCE:
                more, branch = gained - own, n_branches
        else:
            size = 0.0
            for c in range(slots.counts.shape[2]):
                size += slots.counts[slot, line, c]
            if size > heaviest:
                heaviest, branch = size, n_branches
        n_branches += 1
    if n_branches < 2:
        return 0.0, np.int64(-1), np.int64(-1)
    return total + (more if has_missing else 0.0), np.int64(-1), branch
