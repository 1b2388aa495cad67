"""What the search is to minimise: one number, whatever the recipe wants least of.

The search knows losses of rows, a price of questions, and what it costs to ask about a
row. Among trees of the same loss the one of fewest leaves is wanted: so a leaf has a
price even where the user names none, one that all leaves together cannot make as much
of as two trees differ by. Of trees without an avoidable error, which the ceiling tells
from all others, such small prices are all that is left to compare by: of leaves, or of
the questions that rows are asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.extensions.optimal.question_columns import QuestionColumn
from spinney.extensions.optimal.row_losses import RowLosses
from spinney.recipes import Recipe

# What a leaf costs where it has no price, as a share of what two trees differ by.
TIE_BREAK = 2.0**-10


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """What trees are compared by.

    Parameters
    ----------
    name : str
        As the recipe calls it.
    price : float
        What a leaf costs in the search.
    named_price : float
        What it costs as the user has it.
    asked : array
        What it costs to ask about each row.
    unit : float
        What one leaf, or a question about a row of weight 1, is in the search.
    least : float
        What every tree loses.
    ceiling : float, optional
        Trees that lose as much are not wanted.
    """

    name: str
    price: float
    named_price: float
    asked: Floats
    unit: float = 1.0
    least: float = 0.0
    ceiling: float | None = None

    def counted(
        self, losses: RowLosses, searched: tuple[float, float], count: float
    ) -> tuple[float, float]:
        """Return what a tree has of what it counts, and the least that any can have.

        ``searched`` are the loss and the bound of the search. Leaves are whole, and so
        are questions where all weights are; else the bound is less by what roundings of
        sums can make of it. All questions are less than a row can lose (``unit``).
        """
        if searched[1] >= searched[0]:
            return count, count
        bound = searched[1] - 2 * losses.rounding
        least = max(0.0, (bound - self.least) / self.unit)
        whole = bool(np.all(losses.weights == np.rint(losses.weights)))
        if self.name == "leaves" or whole:
            least = float(ceil(least))
        return count, min(count, least)

    def lost(
        self,
        losses: RowLosses,
        searched: tuple[float, float],
        n_leaves: int,
        most_leaves: int,
    ) -> tuple[float, float]:
        """Return what a tree loses, and the least that any can lose.

        ``searched`` are the same two with the prices of leaves, as the search has them.
        A tree that is better may have any number of leaves: so of a price that the user
        does not name, the bound is less by what the most leaves cost. Of a named one it
        is said of a tree of as many leaves, and may be below 0.
        """
        loss = max(0.0, searched[0] - self.price * n_leaves) + losses.unavoidable
        if searched[1] >= searched[0]:
            return loss, loss
        unnamed = (self.price - self.named_price) * most_leaves
        bound = max(0.0, searched[1] - unnamed - losses.rounding)
        if losses.in_steps and not self.named_price:
            bound = losses.step * ceil(bound / losses.step - 1e-6)
        bound += losses.unavoidable - self.named_price * n_leaves
        return loss, min(loss, bound)


def objective_of(
    recipe: Recipe, losses: RowLosses, columns: Sequence[QuestionColumn], depth: int
) -> Objective:
    """Return what a recipe wants least of, in the numbers of the search."""
    smallest, nothing = losses.step * TIE_BREAK, np.zeros(len(losses.most))
    if recipe.objective == "loss":
        price = recipe.leaf_price * (losses.whole if 0 < recipe.leaf_price < 1 else 1.0)
        return Objective("loss", max(price, smallest), price, nothing)
    least = losses.of_groups(_alike(columns, len(losses.most)))
    ceiling = least + losses.step / 2
    if recipe.objective == "leaves":
        return Objective("leaves", smallest, 0.0, nothing, smallest, least, ceiling)
    # All questions together are less than what two trees differ by; a power of two
    # leaves sums of whole weights exact.
    unit = 2.0 ** floor(log2(losses.step / (4 * max(depth, 1) * losses.whole)))
    asked = unit * losses.weights
    return Objective("path_length", 0.0, 0.0, asked, unit, least, ceiling)


def _alike(columns: Sequence[QuestionColumn], n_rows: int) -> Integers:
    """Return the group of each row, of rows that no question tells apart."""
    groups = np.zeros(n_rows, np.int64)
    for column in columns:
        pairs = groups * (int(column.ranks.max()) + 1) + column.ranks
        groups = np.unique(pairs, return_inverse=True)[1]
    return groups
