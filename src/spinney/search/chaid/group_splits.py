"""Splits of merged groups in two, and the most significant of them.

A split puts some members of a group on the side of its first member. Ties go to the
first split, in lexicographic order of that side; splits are listed in this order if
possible. ``weights`` of groups have the shape (groups, members, columns). A group
without a split whose log p is below ``max_log_p`` stays whole: its log p is 0, and all
members are on one side.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE, equal_to_best
from spinney.search.chaid.categories import order_scores
from spinney.trees.criteria import Significance

Masks = NDArray[np.bool_]


def best_cut(
    weights: Floats, *, missing: bool, max_log_p: float, test: Significance
) -> tuple[Masks, Floats]:
    """Return the best cut of each group in the order of its members, and its log p.

    ``missing`` says that the last member is the missing rows, which may be on either
    side, or alone.

    >>> from spinney.trees.criteria import chi_square_test
    >>> group = np.array([[[9.0, 1.0], [1.0, 9.0], [8.0, 1.0]]])
    >>> best_cut(group, missing=True, max_log_p=-3.0, test=chi_square_test)[0]
    array([[ True, False,  True]])
    """
    n, sides = weights.shape[1], _cuts(weights)
    if missing:
        with_missing = _cuts(weights[:, :-1])
        with_missing[:, :, 0] += weights[:, -1:]
        sides = np.concatenate([sides, with_missing[:, ::-1]], axis=1)
    best, log_p = _first_best(sides, max_log_p, test)
    moved = best >= n - 1
    inside = np.arange(n) <= np.where(moved, 2 * n - 4 - best, best)[:, None]
    inside[:, -1] |= moved
    return inside, log_p


def best_bipartition(
    weights: Floats, *, max_log_p: float, test: Significance
) -> tuple[Masks, Floats]:
    """Return the best split of each group in two subsets, and its log p."""
    masks = all_bipartitions(weights.shape[1])
    members = weights.transpose(1, 0, 2).reshape(masks.shape[1], -1)
    sides = np.stack([side.astype(np.float64) @ members for side in (masks, ~masks)])
    sides = sides.reshape(2, len(masks), len(weights), -1).transpose(2, 1, 0, 3)
    best, log_p = _first_best(sides, max_log_p, test)
    return masks[best], log_p


def best_by_score(
    weights: Floats, *, moments: bool, max_log_p: float, test: Significance
) -> tuple[Masks, Floats]:
    """Return the best cut of members in order of their scores, and its log p."""
    scores = np.stack([order_scores(group, moments=moments) for group in weights])
    order = np.argsort(scores, axis=1, kind="stable")
    sides = _cuts(np.take_along_axis(weights, order[..., None], axis=1))
    possible, logs = _log_p_below(sides, max_log_p, test)
    inside, log_p = np.ones(scores.shape, dtype=bool), np.zeros(len(weights))
    for group, group_logs, equal in zip(
        possible, logs, equal_to_best(-logs), strict=True
    ):
        cuts = np.flatnonzero(equal)
        masks = np.argsort(order[group]) <= cuts[:, None]
        masks ^= ~masks[:, :1]
        number = min(range(len(cuts)), key=lambda number: _side(masks[number]))
        inside[group], log_p[group] = masks[number], group_logs[cuts[number]]
    return inside, log_p


@lru_cache
def all_bipartitions(n: int) -> Masks:
    """Return the masks of all subsets with the first of n, but not all of them.

    >>> all_bipartitions(3).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
    """
    numbers = np.arange(2 ** (n - 1) - 1)
    rest = ((numbers[:, None] >> np.arange(n - 1)) & 1).astype(bool)
    masks = np.hstack([np.ones((len(numbers), 1), dtype=bool), rest])
    return masks[sorted(range(len(masks)), key=lambda number: _side(masks[number]))]


def _side(mask: Masks) -> tuple[int, ...]:
    return tuple(np.flatnonzero(mask).tolist())


def _cuts(weights: Floats) -> Floats:
    """Return both sides of each cut, of the shape (groups, cuts, 2, columns)."""
    before = weights.cumsum(axis=1)[:, :-1]
    behind = weights[:, ::-1].cumsum(axis=1)[:, -2::-1]
    return np.stack([before, behind], axis=2)


def _first_best(
    sides: Floats, max_log_p: float, test: Significance
) -> tuple[Integers, Floats]:
    """Return the first of each group's best splits, and its log p."""
    best = np.zeros(len(sides), dtype=np.int64)
    log_p = np.zeros(len(sides))
    possible, logs = _log_p_below(sides, max_log_p, test)
    best[possible] = np.argmax(equal_to_best(-logs), axis=1)
    log_p[possible] = logs[np.arange(len(possible)), best[possible]]
    return best, log_p


def _log_p_below(
    sides: Floats, max_log_p: float, test: Significance
) -> tuple[Integers, Floats]:
    """Return the groups whose log p may be below ``max_log_p``, and their log p."""
    possible = np.flatnonzero(test(sides).least_log_p() < max_log_p + TOLERANCE)
    return possible, np.asarray(test(sides[possible]).log_p)
