"""The choice of the attribute that splits a node."""

import numpy as np

from spinney._support.jit.compile import kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.binned.kernels import layout
from spinney.growth.binned.kernels.split_scores import (
    side_score,
    side_weight,
    tie_tolerance,
)


@kernel
def best_gain(search, top, a):
    """Return the gain of the best split of an attribute."""
    kind, totals = search.rules.kind, search.stack.weights
    gained = search.work.cuts[a, layout.SCORE] - side_score(kind, totals, top)
    return max(gained / side_weight(kind, totals, top), 0.0)


@kernel
def choose_attribute(search, top, n):
    """Return the best of the first ``n`` attributes, -1 if none has a split.

    Ties go to the first column, in any order of drawing.
    """
    if search.rules.by_ratio:
        return _choose_by_ratio(search, top, n)
    work = search.work
    slack = tie_tolerance(search.rules.kind, search.stack.weights, top)
    best, chosen = -np.inf, -1
    for i in range(n):
        a = work.order[layout.ATTRIBUTE, i]
        score = work.cuts[a, layout.SCORE]
        if score > best + slack or (a < chosen and score >= best - slack):
            best, chosen = score, a
    return chosen


@kernel
def _choose_by_ratio(search, top, n):
    """Return the attribute with the highest gain ratio among those of average gain.

    If none reaches the average, return any attribute that has a split.
    """
    rules, order, cuts = search.rules, search.work.order, search.work.cuts
    total, max_gain, n_splittable, splittable = 0.0, 1.0, 0, -1
    for i in range(n):
        a = order[layout.ATTRIBUTE, i]
        if cuts[a, layout.SCORE] > -np.inf:
            gain = best_gain(search, top, a)
            total, max_gain, n_splittable, splittable = (
                total + gain,
                max(max_gain, gain),
                n_splittable + 1,
                a,
            )
    if n_splittable == 0:
        return -1
    least = total / n_splittable - (rules.average_slack + TOLERANCE * max_gain)
    least = max(least, rules.min_gain * (1 - TOLERANCE))
    best, chosen = -np.inf, -1
    for second_pass in range(2):
        for i in range(n):
            a = order[layout.ATTRIBUTE, i]
            if cuts[a, layout.SCORE] == -np.inf or best_gain(search, top, a) < least:
                continue
            merit = best_gain(search, top, a) / _information(search, top, a)
            if second_pass == 0:
                best = max(best, merit)
            elif merit >= best - TOLERANCE * max(1.0, best):
                chosen = a if chosen < 0 else min(a, chosen)
    return chosen if chosen >= 0 else splittable


@kernel
def _information(search, top, a):
    """Return the entropy of the sizes of both sides."""
    kind, cuts, width = search.rules.kind, search.work.cuts, search.rules.width
    node_weight = side_weight(kind, search.stack.weights, top)
    left_weight = 0.0
    for c in range(width):
        left_weight += cuts[a, layout.TOTALS + c]
        if cuts[a, layout.MISSING_SIDE] == 0:
            left_weight += cuts[a, layout.TOTALS + width + c]
    left_fraction = left_weight / node_weight
    right_fraction = 1 - left_weight / node_weight
    return -left_fraction * np.log2(left_fraction) - right_fraction * np.log2(
        right_fraction
    )
