"""The objective of the search, as one number to minimise.

The number is the sum of the losses of rows, a cost per split, and a cost per row and
split. Among trees of the same loss the tree with fewest leaves is best, so a leaf has
at least a small cost; all leaves together cost less than the difference of two losses.
For trees without avoidable errors, which a ceiling selects, only such small costs
remain: of leaves, or of path lengths.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.extensions.optimal.feature_columns import FeatureColumn
from spinney.extensions.optimal.row_losses import RowLosses
from spinney.recipes import Recipe

# The cost of a leaf without a price, as a fraction of the difference of two losses.
TIE_BREAK = 2.0**-10


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """The costs that the search minimises for the objective of a recipe.

    A leaf costs ``leaf_cost`` in the search, ``user_cost`` to the user; a split costs
    ``path_cost`` for each of its rows. ``unit`` is the cost of one leaf or path step.
    Every tree loses at least ``least``; trees that lose ``ceiling`` or more are
    excluded.
    """

    name: str
    leaf_cost: float
    user_cost: float
    path_cost: Floats
    unit: float = 1.0
    least: float = 0.0
    ceiling: float | None = None

    def certify_count(
        self, losses: RowLosses, searched: tuple[float, float], count: float
    ) -> tuple[float, float]:
        """Return a tree's number of leaves or path length, and its lower bound.

        ``searched`` are the loss and the bound of the search. A bound on whole numbers
        is rounded up; other bounds are lowered by the rounding error of sums.
        """
        if searched[1] >= searched[0]:
            return count, count
        bound = searched[1] - 2 * losses.rounding
        least = max(0.0, (bound - self.least) / self.unit)
        whole = bool(np.all(losses.weights == np.rint(losses.weights)))
        if self.name == "leaves" or whole:
            least = float(ceil(least))
        return count, min(count, least)

    def certify_loss(
        self,
        losses: RowLosses,
        searched: tuple[float, float],
        n_leaves: int,
        max_leaves: int,
    ) -> tuple[float, float]:
        """Return a tree's loss, and its lower bound.

        ``searched`` are loss and bound, with the costs of leaves. A better tree may
        have up to ``max_leaves``, so the bound is lowered by their tie-breaking cost.
        Neither includes the user's cost of the leaves; the bound may be below 0.
        """
        loss = max(0.0, searched[0] - self.leaf_cost * n_leaves)
        loss += losses.unavoidable_loss
        if searched[1] >= searched[0]:
            return loss, loss
        tie_costs = (self.leaf_cost - self.user_cost) * max_leaves
        bound = max(0.0, searched[1] - tie_costs - losses.rounding)
        if losses.is_exact and not self.user_cost:
            bound = losses.resolution * ceil(bound / losses.resolution - 1e-6)
        bound += losses.unavoidable_loss - self.user_cost * n_leaves
        return loss, min(loss, bound)


def make_objective(
    recipe: Recipe, losses: RowLosses, columns: Sequence[FeatureColumn], depth: int
) -> Objective:
    """Return the costs that the search minimises for a recipe."""
    tie_cost, no_costs = (
        losses.resolution * TIE_BREAK,
        np.zeros(len(losses.max_increase)),
    )
    if recipe.objective == "loss":
        leaf_cost = recipe.leaf_price * (
            losses.whole if 0 < recipe.leaf_price < 1 else 1.0
        )
        return Objective("loss", max(leaf_cost, tie_cost), leaf_cost, no_costs)
    least = losses.loss_of_groups(
        _indistinguishable_groups(columns, len(losses.max_increase))
    )
    ceiling = least + losses.resolution / 2
    if recipe.objective == "leaves":
        return Objective("leaves", tie_cost, 0.0, no_costs, tie_cost, least, ceiling)
    # All path costs are less than the difference of two losses; with a power of two
    # sums of whole weights are exact.
    unit = 2.0 ** floor(log2(losses.resolution / (4 * max(depth, 1) * losses.whole)))
    path_cost = unit * losses.weights
    return Objective("path_length", 0.0, 0.0, path_cost, unit, least, ceiling)


def _indistinguishable_groups(
    columns: Sequence[FeatureColumn], n_rows: int
) -> Integers:
    """Return the group of each row: no split separates rows of one group."""
    groups = np.zeros(n_rows, np.int64)
    for column in columns:
        pairs = groups * (int(column.ranks.max()) + 1) + column.ranks
        groups = np.unique(pairs, return_inverse=True)[1]
    return groups
