"""Divisions of merged groups, and the most significant one.

A way puts some members of a group on the side of its first one. Of equal ways the one
whose side comes first, in lexicographic order, is taken; ways that can be are listed
in that order. ``weights`` of groups have the shape (groups, members, columns). A group
without a way whose log p is below ``most`` stays whole: its log p is 0 here, and no
member is apart.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE, equal_to_best
from spinney.search.chaid.categories import scores_of
from spinney.trees.criteria import Significance

Masks = NDArray[np.bool_]


def best_cut(
    weights: Floats, *, missing: bool, most: float, test: Significance
) -> tuple[Masks, Floats]:
    """Return the best cut of each group as its members stand, and its log p.

    ``missing`` says that the last member is the missing rows, which may be on either
    side, or alone.

    >>> from spinney.trees.criteria import chi_square_test
    >>> group = np.array([[[9.0, 1.0], [1.0, 9.0], [8.0, 1.0]]])
    >>> best_cut(group, missing=True, most=-3.0, test=chi_square_test)[0]
    array([[ True, False,  True]])
    """
    n, sides_of_ways = weights.shape[1], _cuts(weights)
    if missing:
        with_missing = _cuts(weights[:, :-1])
        with_missing[:, :, 0] += weights[:, -1:]
        sides_of_ways = np.concatenate([sides_of_ways, with_missing[:, ::-1]], axis=1)
    best, found = _first_best(sides_of_ways, most, test)
    moved = best >= n - 1
    inside = np.arange(n) <= np.where(moved, 2 * n - 4 - best, best)[:, None]
    inside[:, -1] |= moved
    return inside, found


def best_of_all(
    weights: Floats, *, most: float, test: Significance
) -> tuple[Masks, Floats]:
    """Return the best of all ways to split each group, and its log p."""
    masks = all_bipartitions(weights.shape[1])
    members = weights.transpose(1, 0, 2).reshape(masks.shape[1], -1)
    sides = np.stack([side.astype(np.float64) @ members for side in (masks, ~masks)])
    sides_of_ways = sides.reshape(2, len(masks), len(weights), -1).transpose(2, 1, 0, 3)
    best, found = _first_best(sides_of_ways, most, test)
    return masks[best], found


def best_by_score(
    weights: Floats, *, moments: bool, most: float, test: Significance
) -> tuple[Masks, Floats]:
    """Return the best cut of each group's members in order of their scores."""
    scores = np.stack([scores_of(group, moments=moments) for group in weights])
    order = np.argsort(scores, axis=1, kind="stable")
    sides_of_ways = _cuts(np.take_along_axis(weights, order[..., None], axis=1))
    able, logs = _of_some_below(sides_of_ways, most, test)
    inside, found = np.ones(scores.shape, dtype=bool), np.zeros(len(weights))
    for group, own, equal in zip(able, logs, equal_to_best(-logs), strict=True):
        cuts = np.flatnonzero(equal)
        masks = np.argsort(order[group]) <= cuts[:, None]
        masks ^= ~masks[:, :1]
        number = min(range(len(cuts)), key=lambda number: _side(masks[number]))
        inside[group], found[group] = masks[number], own[cuts[number]]
    return inside, found


@lru_cache
def all_bipartitions(n: int) -> Masks:
    """Return every way to take the first of n, and not all of them.

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
    sides_of_ways: Floats, most: float, test: Significance
) -> tuple[Integers, Floats]:
    """Return the first of each group's best ways, and its log p."""
    best, found = (
        np.zeros(len(sides_of_ways), dtype=np.int64),
        np.zeros(len(sides_of_ways)),
    )
    able, logs = _of_some_below(sides_of_ways, most, test)
    best[able] = np.argmax(equal_to_best(-logs), axis=1)
    found[able] = logs[np.arange(len(able)), best[able]]
    return best, found


def _of_some_below(
    sides_of_ways: Floats, most: float, test: Significance
) -> tuple[Integers, Floats]:
    """Return the groups that may have a way with log p < most, and log p of theirs."""
    able = np.flatnonzero(test(sides_of_ways).least_log_p() < most + TOLERANCE)
    return able, np.asarray(test(sides_of_ways[able]).log_p)
