"""The best two subsets of many values of several classes, or how far from it one is.

A subset is good if it costs little: the cost h(w) = |w| · impurity(w / |w|) of the
class weights w of its two sides together. Where the impurity is concave,
h(v + w) ≥ h(v) + h(w): what is put together costs no less than what is apart. So, with
some values on the left, some on the right and some undecided, no way to decide costs
less than

    h(left) + h(right) + Σ h(undecided value)

each of these being a branch of its own. Nor does it cost less than that and, besides,
what the worst of those that go left costs by going there first, h(left + value) −
h(left) − h(value), and the same on the right: if values up to some price go left, the
dearest of the others is paid on the right. The least sum of two such prices is added.

Values are decided one by one, those first that divide the rows best by themselves. At
each step the partial subsets are dropped that cannot beat the best whole one so far,
which at first is that of the order along the main direction of the class shares. If
more are left than there is room for, the cheapest stay, and the least cost among those
that go bounds what was lost. How much room there is depends on rows and classes alone,
and no clock is asked: the same rows give the same subset. (Branch and bound; for the
order see Coppersmith, Hong and Hosking 1999.)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE
from spinney.search.value_order import principal_score
from spinney.trees.criteria import Impurity

# Rows of a node, for each class beyond two, that make room for one more partial subset.
ROWS_EACH = 50
# What the root has in any case, and nodes below by their share of its weight: then a
# level of nodes has no more than the root.
AT_ROOT = 64
NARROWEST, WIDEST = 4, 256

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """The best two subsets of values that branch and bound found, and a bound.

    Parameters
    ----------
    left : array of bool
        Which values are on the left, the first of them among these.
    cost : float
        What they cost together.
    bound : float
        What no two subsets cost less than; the cost itself where that is proved.
    """

    left: Mask
    cost: float
    bound: float


def beam_width_for(n_rows: int, n_classes: int, share: float) -> int:
    """Return how many partial subsets are kept of a node of so many rows and classes.

    ``share`` is that of the node in the weight of all rows.

    >>> [beam_width_for(n, 3, 0.01) for n in (40, 5_000, 1_000_000)]
    [0, 100, 256]
    >>> beam_width_for(5_000, 7, 0.5)
    32
    """
    by_rows = n_rows // (ROWS_EACH * max(1, n_classes - 2))
    beam_width = max(by_rows, int(AT_ROOT * share + 1e-6))
    return min(WIDEST, beam_width) if beam_width >= NARROWEST else 0


def best_subset(
    weights: Floats,
    impurity: Impurity,
    *,
    value_weights: Floats,
    least: float,
    beam_width: int,
) -> Subset | None:
    """Return the best two subsets that are found, None where none is allowed.

    ``value_weights`` is what each value weighs, and ``least`` what a side must.
    """
    groups = np.arange(len(weights)) if least > 0 else _alike(weights)
    if not groups.any():  # all of them are alike, and any way to part them will do
        groups = np.arange(len(weights))
    merged = np.zeros((groups.max() + 1, weights.shape[1]))
    np.add.at(merged, groups, weights)
    weigh = np.asarray(np.bincount(groups, value_weights), dtype=np.float64)
    best = _first(merged, impurity, weigh, least)
    if len(merged) > 1 and beam_width > 0:
        best = _BranchAndBound(merged, impurity, weigh, least, beam_width).improved(
            best
        )
    if best is None:
        return None
    left = best.left[groups]
    return Subset(left if left[0] else ~left, best.cost, best.bound)


def _alike(weights: Floats) -> Integers:
    """Return the group of each value; those of equal class shares are one.

    To part them gains nothing. Of weights that are no whole numbers only values of one
    class alone are known to be alike.
    """
    pure = np.count_nonzero(weights, axis=1) == 1
    keys = np.where(pure[:, None], weights > 0, weights)
    if np.array_equal(weights, np.floor(weights)) and weights.max() < 2**53:
        whole = weights.astype(np.int64)
        keys = whole // np.maximum(np.gcd.reduce(whole, axis=1), 1)[:, None]
    _, groups = np.unique(keys, axis=0, return_inverse=True)
    return np.asarray(groups).reshape(-1)


def _rising(numbers: Floats) -> Integers:
    """Return the order of numbers; of those that differ by rounding the first is first.

    >>> _rising(np.array([3.0, 0.1 + 0.2, 0.3])).tolist()
    [1, 2, 0]
    """
    finite = numbers[np.isfinite(numbers)]
    scale = float(np.abs(finite).max(initial=0.0)) or 1.0
    return np.argsort(np.round(numbers / scale, 11), kind="stable")


def _costs(weights: Floats, impurity: Impurity) -> Floats:
    return np.asarray(weights.sum(axis=-1) * impurity(weights))


def _first(
    weights: Floats, impurity: Impurity, value_weights: Floats, least: float
) -> Subset | None:
    """Return the best prefix of the order along the main direction."""
    separate_cost = float(_costs(weights, impurity).sum())
    order = _rising(principal_score(weights))
    left = np.cumsum(weights[order], axis=0)[:-1]
    left_own = np.cumsum(value_weights[order])[:-1]
    both = np.stack([left, weights.sum(axis=0) - left], axis=1).clip(0.0)
    costs = _costs(both, impurity).sum(axis=1)
    light = np.minimum(left_own, value_weights.sum() - left_own) < least * (
        1 - TOLERANCE
    )
    costs[light] = np.inf
    if not np.isfinite(costs).any():
        return None
    cut = int(_rising(costs)[0])
    mask = np.zeros(len(weights), dtype=bool)
    mask[order[: cut + 1]] = True
    cost = float(costs[cut])
    return Subset(mask, cost, min(separate_cost, cost))


class _BranchAndBound:
    """The partial subsets of one node, some steps on."""

    def __init__(
        self,
        weights: Floats,
        impurity: Impurity,
        value_weights: Floats,
        least: float,
        beam_width: int,
    ) -> None:
        total = weights.sum(axis=0)
        alone = _costs(weights, impurity) + _costs(total - weights, impurity)
        self.order = _rising(alone)
        self.weights, self.value_weights = (
            weights[self.order],
            value_weights[self.order],
        )
        self.impurity, self.least, self.beam_width = impurity, least, beam_width
        self.value_costs = _costs(self.weights, impurity)
        self.open_costs = np.append(np.cumsum(self.value_costs[::-1])[::-1], 0.0)
        self.margin = TOLERANCE * float(total.sum())

    def improved(self, first: Subset | None) -> Subset | None:
        """Return the best subset found, and what bounds it."""
        n_values = len(self.weights)
        self.best = np.inf if first is None else first.cost
        self.left: Mask | None = None
        lost = np.inf
        masks = np.zeros((1, n_values), dtype=bool)
        masks[0, 0] = True
        for step in range(1, n_values):
            masks = np.repeat(masks, 2, axis=0)
            masks[::2, step] = True
            masks, bounds = self.keep_promising(masks, step + 1)
            if len(masks) > self.beam_width and step + 1 < n_values:
                kept = _rising(bounds)
                lost = min(lost, float(bounds[kept[self.beam_width]]))
                masks = masks[np.sort(kept[: self.beam_width])]
            if not len(masks):
                break
        if self.left is None:
            if first is None:
                return None
            bound = min(lost, first.cost)
            return Subset(first.left, first.cost, max(bound, first.bound))
        mask = np.zeros(n_values, dtype=bool)
        mask[self.order] = self.left
        separate_cost = float(self.value_costs.sum())
        return Subset(mask, self.best, max(min(lost, self.best), separate_cost))

    def keep_promising(self, masks: Mask, decided: int) -> tuple[Mask, Floats]:
        """Return the partial subsets that may be better, and what bounds each.

        ``decided`` of the values have a side. Each is completed in a way that is
        likely good, all others where they cost less, which may be the best so far.
        """
        decided_weights, open_weights = self.weights[:decided], self.weights[decided:]
        left, right = (
            masks[:, :decided] @ decided_weights,
            ~masks[:, :decided] @ decided_weights,
        )
        of_left, of_right = (_costs(side, self.impurity) for side in (left, right))
        bounds = of_left + of_right + self.open_costs[decided]
        kept = np.flatnonzero(bounds < self.best - self.margin)
        masks, bounds, left, right = masks[kept], bounds[kept], left[kept], right[kept]
        if not len(kept):
            return masks, bounds
        if decided == len(self.weights):
            self.complete(masks)
            return masks[:0], bounds[:0]
        to_left, to_right = (
            _costs(side[:, None] + open_weights, self.impurity)
            - cost[kept, None]
            - self.value_costs[decided:]
            for side, cost in ((left, of_left), (right, of_right))
        )
        whole = masks.copy()
        whole[:, decided:] = to_left <= to_right
        self.complete(whole)
        bounds = bounds + least_extra_costs(to_left, to_right)
        kept = np.flatnonzero(bounds < self.best - self.margin)
        return masks[kept], bounds[kept]

    def complete(self, masks: Mask) -> None:
        """Note the best of some whole subsets, if it is better than the best so far."""
        value_weights = masks @ self.value_weights
        light = np.minimum(value_weights, self.value_weights.sum() - value_weights)
        allowed = (light >= self.least * (1 - TOLERANCE)) & ~masks.all(axis=1)
        masks = masks[allowed]
        if not len(masks):
            return
        sides = np.stack([masks @ self.weights, ~masks @ self.weights], axis=1)
        costs = _costs(sides, self.impurity).sum(axis=1)
        position = int(_rising(costs)[0])
        if costs[position] < self.best - self.margin:
            self.best, self.left = float(costs[position]), masks[position]


def least_extra_costs(to_left: Floats, to_right: Floats) -> Floats:
    """Return the least that the dearest value on the left and on the right cost.

    Lines are partial subsets, columns the values to be decided.

    >>> to_left, to_right = np.array([[1.0, 5.0, 2.0]]), np.array([[4.0, 3.0, 9.0]])
    >>> least_extra_costs(to_left, to_right).tolist()
    [5.0]
    """
    order = np.argsort(to_left, axis=1, kind="stable")
    left = np.take_along_axis(to_left, order, axis=1)
    right = np.take_along_axis(to_right, order, axis=1)
    # If the first i of them go left, the others go right.
    dearest = np.maximum.accumulate(right[:, ::-1], axis=1)[:, ::-1]
    none = np.zeros((len(left), 1))
    sums = np.hstack([none, left]) + np.hstack([dearest, none])
    return np.asarray(sums.min(axis=1).clip(0.0))
