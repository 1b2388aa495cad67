"""Branch and bound for the best two subsets of many values with several classes.

The best subset has the least cost: the sum over both sides of h(w) = |w| · impurity(w /
|w|), with w the class weights of a side. Where the impurity is concave, h(v + w) ≥ h(v)
+ h(w): values together cost no less than apart. So, with some values on the left, some
on the right and some undecided, no completion costs less than

    h(left) + h(right) + Σ h(undecided value)

as if each of these were a branch of its own. To this the extra cost of the worst value
on the left may be added, as if it were the first: h(left + value) − h(left) − h(value).
The same holds on the right. If values up to some extra cost go left, the most expensive
of the others goes right; the least sum of two such costs is added.

Values are decided one by one, starting with those that separate the rows best alone.
Each step drops the partial subsets that cannot beat the best complete subset so far.
The first complete subset is the best prefix in the order along the main direction of
the class probabilities. If the beam is too narrow for all partial subsets, the cheapest
stay, and the least cost of the dropped ones bounds the loss. The beam width depends on
rows and classes alone, not on time: the same rows give the same subset. (For the order
see Coppersmith, Hong and Hosking 1999.)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE
from spinney.search.value_order import principal_score
from spinney.trees.criteria import Impurity

# Rows of a node, for each class beyond two, that widen its beam by one partial subset.
ROWS_PER_SUBSET = 50
# The minimum at the root, and at nodes below by their fraction of its weight: so a
# level of nodes has no more than the root.
ROOT_BEAM_WIDTH = 64
MIN_BEAM_WIDTH, MAX_BEAM_WIDTH = 4, 256

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """The best two subsets of values that were found, and a bound.

    Parameters
    ----------
    left : array of bool
        A mask of the values on the left, which include the first value.
    cost : float
        The cost of both sides together.
    bound : float
        A lower bound on the cost of any two subsets; equal to the cost if proven
        optimal.
    """

    left: Mask
    cost: float
    bound: float


def beam_width_for(n_rows: int, n_classes: int, weight_share: float) -> int:
    """Return how many partial subsets are kept for a node of so many rows and classes.

    ``weight_share`` is the node's fraction of the weight of all rows.

    >>> [beam_width_for(n, 3, 0.01) for n in (40, 5_000, 1_000_000)]
    [0, 100, 256]
    >>> beam_width_for(5_000, 7, 0.5)
    32
    """
    by_rows = n_rows // (ROWS_PER_SUBSET * max(1, n_classes - 2))
    beam_width = max(by_rows, int(ROOT_BEAM_WIDTH * weight_share + 1e-6))
    return min(MAX_BEAM_WIDTH, beam_width) if beam_width >= MIN_BEAM_WIDTH else 0


def best_subset(
    weights: Floats,
    impurity: Impurity,
    *,
    value_weights: Floats,
    min_weight: float,
    beam_width: int,
) -> Subset | None:
    """Return the best two subsets that are found, or None if no subset is allowed.

    ``value_weights`` has the weight of each value; ``min_weight`` is the minimum of a
    side.
    """
    groups = np.arange(len(weights)) if min_weight > 0 else _alike(weights)
    if not groups.any():  # all of them are alike, and any two subsets will do
        groups = np.arange(len(weights))
    merged = np.zeros((groups.max() + 1, weights.shape[1]))
    np.add.at(merged, groups, weights)
    group_weights = np.asarray(np.bincount(groups, value_weights), dtype=np.float64)
    best = _first(merged, impurity, group_weights, min_weight)
    if len(merged) > 1 and beam_width > 0:
        best = _BranchAndBound(
            merged, impurity, group_weights, min_weight, beam_width
        ).improved(best)
    if best is None:
        return None
    left = best.left[groups]
    return Subset(left if left[0] else ~left, best.cost, best.bound)


def _alike(weights: Floats) -> Integers:
    """Return the group of each value; values with equal distributions are one group.

    Separating them gains nothing. If weights are no whole numbers, only values of one
    single class are known to be alike.
    """
    pure = np.count_nonzero(weights, axis=1) == 1
    keys = np.where(pure[:, None], weights > 0, weights)
    if np.array_equal(weights, np.floor(weights)) and weights.max() < 2**53:
        integers = weights.astype(np.int64)
        keys = integers // np.maximum(np.gcd.reduce(integers, axis=1), 1)[:, None]
    _, groups = np.unique(keys, axis=0, return_inverse=True)
    return np.asarray(groups).reshape(-1)


def _rising(numbers: Floats) -> Integers:
    """Return the rising order of numbers; those equal but for rounding keep theirs.

    >>> _rising(np.array([3.0, 0.1 + 0.2, 0.3])).tolist()
    [1, 2, 0]
    """
    finite = numbers[np.isfinite(numbers)]
    scale = float(np.abs(finite).max(initial=0.0)) or 1.0
    return np.argsort(np.round(numbers / scale, 11), kind="stable")


def _costs(weights: Floats, impurity: Impurity) -> Floats:
    return np.asarray(weights.sum(axis=-1) * impurity(weights))


def _first(
    weights: Floats, impurity: Impurity, value_weights: Floats, min_weight: float
) -> Subset | None:
    """Return the best prefix of the order along the main direction."""
    separate_cost = float(_costs(weights, impurity).sum())
    order = _rising(principal_score(weights))
    left = np.cumsum(weights[order], axis=0)[:-1]
    left_weights = np.cumsum(value_weights[order])[:-1]
    both = np.stack([left, weights.sum(axis=0) - left], axis=1).clip(0.0)
    costs = _costs(both, impurity).sum(axis=1)
    too_light = np.minimum(
        left_weights, value_weights.sum() - left_weights
    ) < min_weight * (1 - TOLERANCE)
    costs[too_light] = np.inf
    if not np.isfinite(costs).any():
        return None
    cut = int(_rising(costs)[0])
    mask = np.zeros(len(weights), dtype=bool)
    mask[order[: cut + 1]] = True
    cost = float(costs[cut])
    return Subset(mask, cost, min(separate_cost, cost))


class _BranchAndBound:
    """The search among the partial subsets of one node."""

    def __init__(
        self,
        weights: Floats,
        impurity: Impurity,
        value_weights: Floats,
        min_weight: float,
        beam_width: int,
    ) -> None:
        total = weights.sum(axis=0)
        single_costs = _costs(weights, impurity) + _costs(total - weights, impurity)
        self.order = _rising(single_costs)
        self.weights, self.value_weights = (
            weights[self.order],
            value_weights[self.order],
        )
        self.impurity = impurity
        self.min_weight = min_weight
        self.beam_width = beam_width
        self.value_costs = _costs(self.weights, impurity)
        self.open_costs = np.append(np.cumsum(self.value_costs[::-1])[::-1], 0.0)
        self.margin = TOLERANCE * float(total.sum())

    def improved(self, first: Subset | None) -> Subset | None:
        """Return the best subset found, with its bound."""
        n_values = len(self.weights)
        self.best = np.inf if first is None else first.cost
        self.left: Mask | None = None
        dropped = np.inf  # the least bound of dropped subsets
        masks = np.zeros((1, n_values), dtype=bool)
        masks[0, 0] = True
        for step in range(1, n_values):
            masks = np.repeat(masks, 2, axis=0)
            masks[::2, step] = True
            masks, bounds = self.keep_promising(masks, step + 1)
            if len(masks) > self.beam_width and step + 1 < n_values:
                order = _rising(bounds)
                dropped = min(dropped, float(bounds[order[self.beam_width]]))
                masks = masks[np.sort(order[: self.beam_width])]
            if not len(masks):
                break
        if self.left is None:
            if first is None:
                return None
            bound = min(dropped, first.cost)
            return Subset(first.left, first.cost, max(bound, first.bound))
        mask = np.zeros(n_values, dtype=bool)
        mask[self.order] = self.left
        separate_cost = float(self.value_costs.sum())
        return Subset(mask, self.best, max(min(dropped, self.best), separate_cost))

    def keep_promising(self, masks: Mask, decided: int) -> tuple[Mask, Floats]:
        """Return the partial subsets that may be better, and the bound of each.

        The first ``decided`` values have a side. Each subset is also completed, with
        every other value on its cheaper side; the result may be the best so far.
        """
        decided_weights, open_weights = self.weights[:decided], self.weights[decided:]
        left = masks[:, :decided] @ decided_weights
        right = ~masks[:, :decided] @ decided_weights
        left_cost, right_cost = (_costs(side, self.impurity) for side in (left, right))
        bounds = left_cost + right_cost + self.open_costs[decided]
        promising = np.flatnonzero(bounds < self.best - self.margin)
        masks, bounds = masks[promising], bounds[promising]
        left, right = left[promising], right[promising]
        if not len(promising):
            return masks, bounds
        if decided == len(self.weights):
            self.complete(masks)
            return masks[:0], bounds[:0]
        to_left, to_right = (
            _costs(side[:, None] + open_weights, self.impurity)
            - cost[promising, None]
            - self.value_costs[decided:]
            for side, cost in ((left, left_cost), (right, right_cost))
        )
        whole = masks.copy()
        whole[:, decided:] = to_left <= to_right
        self.complete(whole)
        bounds = bounds + least_extra_costs(to_left, to_right)
        promising = np.flatnonzero(bounds < self.best - self.margin)
        return masks[promising], bounds[promising]

    def complete(self, masks: Mask) -> None:
        """Store the best of some complete subsets, if it is the best so far."""
        value_weights = masks @ self.value_weights
        lighter = np.minimum(value_weights, self.value_weights.sum() - value_weights)
        is_allowed = lighter >= self.min_weight * (1 - TOLERANCE)
        masks = masks[is_allowed & ~masks.all(axis=1)]
        if not len(masks):
            return
        sides = np.stack([masks @ self.weights, ~masks @ self.weights], axis=1)
        costs = _costs(sides, self.impurity).sum(axis=1)
        position = int(_rising(costs)[0])
        if costs[position] < self.best - self.margin:
            self.best, self.left = float(costs[position]), masks[position]


def least_extra_costs(to_left: Floats, to_right: Floats) -> Floats:
    """Return the least sum of the dearest extra costs on the left and on the right.

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
    zeros = np.zeros((len(left), 1))
    sums = np.hstack([zeros, left]) + np.hstack([dearest, zeros])
    return np.asarray(sums.min(axis=1).clip(0.0))
