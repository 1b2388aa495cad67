"""The model of one node: what ``least_squares`` does with stacks, term by term.

Terms that are left stand in a list. Equations are made triangular line by line, each
from those above it::

    [ a₀₀ a₀₁ a₀₂ | b₀ ]        of the term that is dropped the column goes,
    [  0  a₁₁ a₁₂ | b₁ ]        and of the lines only it and those below it
    [  0   0  a₂₂ | b₂ ]        have to be made again
"""

import numpy as np

from spinney._support.jit.compile import ZERO, kernel
from spinney._support.ties import TOLERANCE
from spinney.growth.model_trees.loops.layout import (
    CLOSE,
    COLLINEAR,
    LEAST_SHARE,
    RIDGE,
    ROUNDING,
)


@kernel
def standardise(sums, at, room, n_own, scale):
    """Write the equations of the terms that a node has, the target last.

    Return the error without a term, Σw(y − mean)².
    """
    own, deviations, equations = room.own, room.deviations, room.equations
    spreads, target = sums.spreads, sums.means.shape[1] - 1
    freedom = max(scale * sums.weights[at] - 1.0, TOLERANCE)
    own[n_own] = target
    for i in range(n_own + 1):
        deviations[i] = np.sqrt(scale * spreads[at, own[i], own[i]] / freedom)
    for i in range(n_own + 1):
        unit = deviations[i] if deviations[i] > 0.0 else 1.0
        for j in range(i + 1):
            other = deviations[j] if deviations[j] > 0.0 else 1.0
            # Terms rise, so that the greater one comes first.
            value = scale * spreads[at, own[i], own[j]] / unit / other
            equations[i, j] = equations[j, i] = value
    return scale * spreads[at, target, target]


@kernel
def differs(sums, at, room, n_own, scale, i):
    """Return whether a term, or the target, differs among the rows."""
    own, spreads = room.own, sums.spreads
    mean = sums.means[at, own[i]]
    square = scale * spreads[at, own[i], own[i]]
    size = square + scale * sums.weights[at] * mean * mean
    if not (square > TOLERANCE * size and np.isfinite(size)):
        return False
    for j in range(n_own + 1):
        if not np.isfinite(scale * spreads[at, own[max(i, j)], own[min(i, j)]]):
            return False
    return True


@kernel
def solve(room, n_own, n_left, begin):
    """Make lines of equations triangular from one on, and find all slopes."""
    left, equations, solved = room.left, room.equations, room.solved
    slopes = room.slopes
    for i in range(begin, n_left):
        for j in range(i, n_left):
            solved[i, j] = equations[left[i], left[j]]
        solved[i, n_left] = equations[left[i], n_own]
        solved[i, i] += max(RIDGE, LEAST_SHARE * solved[i, i])
        for k in range(i):
            factor = solved[k, i] / solved[k, k]
            for j in range(i, n_left + 1):
                solved[i, j] -= factor * solved[k, j]
    for i in range(n_left - 1, -1, -1):
        rest = solved[i, n_left]
        for j in range(i + 1, n_left):
            rest -= solved[i, j] * slopes[j]
        slopes[i] = rest / solved[i, i]


@kernel
def error_of(room, n_own, n_left, spread):
    """Return Σw(y − prediction)² by the slopes that were found."""
    if n_left == 0:
        return spread
    left, equations, slopes = room.left, room.equations, room.slopes
    error = equations[n_own, n_own]
    for i in range(n_left):
        inner = -2.0 * equations[n_own, left[i]]
        for j in range(n_left):
            inner += equations[left[i], left[j]] * slopes[j]
        error += slopes[i] * inner
    return max(error * room.deviations[n_own] ** 2, 0.0)


@kernel
def drop(room, n_own, n_left, place):
    """Solve the equations without one of the terms that are left."""
    left, solved = room.left, room.solved
    for i in range(place, n_left - 1):
        left[i] = left[i + 1]
    for i in range(place):
        for j in range(place, n_left):
            solved[i, j] = solved[i, j + 1]
    solve(room, n_own, n_left - 1, place)


@kernel
def first_greatest(slopes, n_left, sign):
    """Return the first place whose slope is of the greatest size, or close to it.

    That of the least size, where the sign is −1.
    """
    most = -np.inf
    for i in range(n_left):
        most = max(most, sign * abs(slopes[i]))
    for i in range(n_left):
        if sign * abs(slopes[i]) >= most - CLOSE:
            return i
    return ZERO


@kernel
def independent(room, n_own, n_left):
    """Drop terms while some slope is so large that terms cancel each other.

    Return how many are left.
    """
    solve(room, n_own, n_left, ZERO)
    while n_left > 0:
        place = first_greatest(room.slopes, n_left, 1.0)
        if not abs(room.slopes[place]) > COLLINEAR + CLOSE:
            return n_left
        drop(room, n_own, n_left, place)
        n_left -= 1
    return n_left


@kernel
def paying(room, models, first, sizes, spread):
    """Drop terms as long as Akaike's score falls, and write those that are left.

    Return the error of the model. ``sizes`` are the weight of the rows, the number of
    terms of the node and how many of them are left.
    """
    weight, n_own, n_left = sizes
    error = error_of(room, n_own, n_left, spread)
    none, n_full = ROUNDING * spread, 1.0 + n_left
    full, score = max(error, none), weight + n_full
    _write(room, models, first, n_own, n_left)
    while n_left > 0:
        drop(room, n_own, n_left, first_greatest(room.slopes, n_left, -1.0))
        n_left -= 1
        fewer = error_of(room, n_own, n_left, spread)
        later = max(fewer, none) / full * (weight - n_full) + 2.0 * (1.0 + n_left)
        if not later < score - CLOSE:
            return error
        error, score = fewer, later
        _write(room, models, first, n_own, n_left)
    return error


@kernel
def _write(room, models, first, n_own, n_left):
    """Write which terms are left, and their slopes."""
    for i in range(n_own):
        models.chosen[first + i] = False
    for i in range(n_left):
        models.chosen[first + room.left[i]] = True
        models.coefficients[first + room.left[i]] = room.slopes[i]
