"""The attempt to split a leaf: the gain of each attribute, and Hoeffding's bound.

The gain of a split, by entropy or by Gini's index, has one form: the sum of the
branches' scores minus the node's score, divided by the node's weight ::

    entropy    score = Σ n_c log₂ n_c − n log₂ n      (−n times the entropy)
    Gini       score = Σ n_c² / n                      (n − n times the impurity)

A difference of the gains of two attributes above Hoeffding's bound ::

    ε = R √(ln(1/δ) / 2n)

holds for future rows too, except with probability δ (Domingos and Hulten 2000). R is
the range of the gain: log₂ of the number of classes at the leaf, or 1 − 1 / that
number; n is the weight of the rows in the table. If ε is below the tie threshold, the
best attribute wins. For this test, n is the weight of all rows at the leaf, inherited
rows included, as in other programs.
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
    """Return the score of two sets of rows together; ``both`` is a workspace."""
    for c in range(len(weights)):
        both[c] = weights[c] + others[c]
    return score(both, criterion)


@kernel
def best_split(stream, slot, leaf_weight):
    """Return the best split of a leaf: attribute, line, branch of missing cells.

    ``leaf_weight`` is the weight of all rows of the leaf. The attribute is -1 if none
    is proven best yet. The line is the last before the cut, or -1 for a branch per
    value.
    """
    work, columns = stream.work, stream.columns
    criterion = stream.limits[layout.CRITERION]
    n_classes = np.int64(0)
    if len(columns.kind) > 0:
        n_classes = _sum_table(stream, slot, np.int64(0))
    if n_classes < 2:
        return np.int64(-1), np.int64(-1), np.int64(0)
    weight = 0.0
    for c in range(len(work.whole)):
        weight += work.whole[c]
    whole = score(work.whole, criterion)
    first, second = 0.0, 0.0
    attribute, line, missing = np.int64(-1), np.int64(-1), np.int64(0)
    for a in range(len(columns.kind)):
        _sum_table(stream, slot, a)
        if columns.kind[a] == layout.NOMINAL:
            total, cut_line, branch = _multiway_score(stream, slot, a)
        else:
            total, cut_line, branch = _best_threshold(stream, slot, a)
        gain = (total - whole) / weight
        if branch >= 0 and gain > first + TOLERANCE:
            first, second = gain, first
            attribute, line, missing = np.int64(a), cut_line, branch
        elif branch >= 0 and gain > second:
            second = gain
    gain_range, log_delta = 1.0 - 1.0 / n_classes, stream.bounds[layout.LOG_DELTA]
    if criterion == layout.ENTROPY:
        gain_range = math.log2(n_classes)
    bound = gain_range * math.sqrt(log_delta / (2.0 * weight))
    tie_bound = gain_range * math.sqrt(log_delta / (2 * leaf_weight))
    if attribute < 0 or not (
        first - second > bound or tie_bound < stream.bounds[layout.TIE_THRESHOLD]
    ):
        return np.int64(-1), np.int64(-1), np.int64(0)
    return attribute, line, missing


@kernel
def _sum_table(stream, slot, attribute):
    """Sum an attribute's table: present, missing and whole; return how many classes."""
    work, columns, counts = stream.work, stream.columns, stream.slots.counts
    first, n_lines = columns.first[attribute], columns.n_lines[attribute]
    n_classes = np.int64(0)
    for c in range(len(work.whole)):
        present = 0.0
        for line in range(first, first + n_lines):
            present += counts[slot, line, c]
        work.present[c], work.missing[c] = present, counts[slot, first + n_lines, c]
        work.whole[c] = present + work.missing[c]
        n_classes += work.whole[c] > 0.0
    return n_classes


@kernel
def _best_threshold(stream, slot, attribute):
    """Return the best threshold: score, line before the cut, branch of missing cells.

    The branch is -1 if there is no threshold.
    """
    work, slots = stream.work, stream.slots
    criterion = stream.limits[layout.CRITERION]
    first = stream.columns.first[attribute]
    has_missing = slots.rows[slot, first + stream.columns.n_lines[attribute]] > 0
    left, right, both = work.left, work.right, work.whole
    best, best_line, branch = -np.inf, np.int64(-1), np.int64(-1)
    n_left, n_present = np.int64(0), np.int64(0)
    for line in range(stream.columns.n_lines[attribute]):
        n_present += slots.rows[slot, first + line]
    for c in range(len(left)):
        left[c] = 0.0
    for line in range(n_cuts(stream, slot, attribute)):
        if slots.rows[slot, first + line] == 0:
            continue
        n_left += slots.rows[slot, first + line]
        if n_left == n_present:
            break
        heavier = 0.0
        for c in range(len(left)):
            left[c] += slots.counts[slot, first + line, c]
            right[c] = work.present[c] - left[c]
            heavier += right[c] - left[c]
        left_score, right_score = score(left, criterion), score(right, criterion)
        if not has_missing:
            if left_score + right_score > best + TOLERANCE:
                best, best_line = left_score + right_score, np.int64(line)
                branch = np.int64(heavier > 0.0)
            continue
        on_left = score_with(left, work.missing, criterion, both) + right_score
        on_right = left_score + score_with(right, work.missing, criterion, both)
        if on_left > best + TOLERANCE:
            best, best_line, branch = on_left, np.int64(line), np.int64(0)
        if on_right > best + TOLERANCE:
            best, best_line, branch = on_right, np.int64(line), np.int64(1)
    return best, best_line, branch


@kernel
def _multiway_score(stream, slot, attribute):
    """Return the score of a branch per value, and the branch of missing cells.

    The branch is -1 if there are fewer than two values at the leaf.
    """
    work, slots = stream.work, stream.slots
    criterion = stream.limits[layout.CRITERION]
    first, n_lines = stream.columns.first[attribute], stream.columns.n_lines[attribute]
    has_missing = slots.rows[slot, first + n_lines] > 0
    total, best_increase, heaviest = 0.0, -np.inf, 0.0
    n_branches, branch = np.int64(0), np.int64(-1)
    for line in range(first, first + n_lines):
        if slots.rows[slot, line] == 0:
            continue
        weights = slots.counts[slot, line]
        value_score = score(weights, criterion)
        total += value_score
        if has_missing:
            increase = (
                score_with(weights, work.missing, criterion, work.left) - value_score
            )
            if increase > best_increase + TOLERANCE:
                best_increase, branch = increase, n_branches
        else:
            size = 0.0
            for c in range(len(weights)):
                size += weights[c]
            if size > heaviest:
                heaviest, branch = size, n_branches
        n_branches += 1
    if n_branches < 2:
        return 0.0, np.int64(-1), np.int64(-1)
    return total + (best_increase if has_missing else 0.0), np.int64(-1), branch
