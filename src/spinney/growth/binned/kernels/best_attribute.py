"""Which of the attributes that were searched a node is split by."""

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
    """Return what the best split of an attribute gains."""
    kind, totals = search.rules.kind, search.stack.weights
    gained = search.work.cuts[a, layout.SCORE] - side_score(kind, totals, top)
    return max(gained / side_weight(kind, totals, top), 0.0)


@kernel
def choose_attribute(search, top, n):
    """Return the attribute of the best split among the first ``n``, -1 without any.

    Of equals the first column wins, in whatever order they were drawn.
    """
    if search.rules.by_ratio:
        return _choose_by_ratio(search, top, n)
    work = search.work
    slack = tie_tolerance(search.rules.kind, search.stack.weights, top)
    best, chosen = -np.inf, -1
    for i in range(n):
        a = work.order[layout.ATTRIBUTE_AT, i]
        here = work.cuts[a, layout.SCORE]
        if here > best + slack or (a < chosen and here >= best - slack):
            best, chosen = here, a
    return chosen


@kernel
def _choose_by_ratio(search, top, n):
    """Return the attribute of the greatest gain ratio that gains the average.

    Where none gains enough, one that can be split at all.
    """
    rules, order, cuts = search.rules, search.work.order, search.work.cuts
    total, most, number, able = 0.0, 1.0, 0, -1
    for i in range(n):
        a = order[layout.ATTRIBUTE_AT, i]
        if cuts[a, layout.SCORE] > -np.inf:
            gain = best_gain(search, top, a)
            total, most, number, able = total + gain, max(most, gain), number + 1, a
    if number == 0:
        return -1
    least = total / number - (rules.below_average + TOLERANCE * most)
    least = max(least, rules.min_gain * (1 - TOLERANCE))
    best, chosen = -np.inf, -1
    for turn in range(2):
        for i in range(n):
            a = order[layout.ATTRIBUTE_AT, i]
            if cuts[a, layout.SCORE] == -np.inf or best_gain(search, top, a) < least:
                continue
            merit = best_gain(search, top, a) / _information(search, top, a)
            if turn == 0:
                best = max(best, merit)
            elif merit >= best - TOLERANCE * max(1.0, best):
                chosen = a if chosen < 0 else min(a, chosen)
    return chosen if chosen >= 0 else able


@kernel
def _information(search, top, a):
    """Return the entropy of the sizes of both sides."""
    kind, cuts, width = search.rules.kind, search.work.cuts, search.rules.width
    whole = side_weight(kind, search.stack.weights, top)
    left = 0.0
    for c in range(width):
        left += cuts[a, layout.TOTALS + c]
        if cuts[a, layout.MISSING_SIDE] == 0:
            left += cuts[a, layout.TOTALS + width + c]
    one, other = left / whole, 1 - left / whole
    return -one * np.log2(one) - other * np.log2(other)
