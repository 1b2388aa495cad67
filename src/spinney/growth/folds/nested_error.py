"""The error of a choice, with each fold predicted by what the other folds choose.

The fold of the least error is chosen because it is the least: its own error is
optimistic. Here the rows of each fold are predicted by that recipe and that subtree
which all other folds choose, by the same rules, so that no row has a part in the choice
of its own prediction. The trees are those that are there already.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.growth.model import RecipeScore
from spinney.growth.prune.cost_complexity_sequence import (
    FoldLosses,
    PruningSequence,
    best_subtree,
)

Choose = Callable[[Sequence[RecipeScore]], int]


@dataclass(frozen=True)
class FoldErrors:
    """The losses of a candidate by fold, for each subtree that pruning may choose.

    Parameters
    ----------
    losses : FoldLosses
        The losses, of one tree if the candidate is not pruned by folds.
    leaves : sequence of int
        The leaves of each subtree.
    rule : str
        The rule that chooses a subtree.
    unit : float
        The error of the root.
    """

    losses: FoldLosses
    leaves: Sequence[int]
    rule: str = "minimum"
    unit: float = 1.0

    @classmethod
    def of_sequence(cls, sequence: PruningSequence, rule: str) -> "FoldErrors":
        """Return the errors of the subtrees of a cross-validated sequence."""
        assert sequence.fold_losses is not None
        leaves = [subtree.leaves for subtree in sequence.subtrees]
        unit = sequence.root_risk / sequence.weight or 1.0
        return cls(sequence.fold_losses, leaves, rule, unit)

    @classmethod
    def of_folds(
        cls, losses: Floats, weights: Floats, folds: Integers, n_leaves: int
    ) -> "FoldErrors":
        """Return the errors of one tree, from the loss of each row and its fold."""
        weights = weights / min(weights.sum() / np.count_nonzero(weights), 1.0)
        unit = float(losses.max(initial=0.0)) or 1.0
        scaled = losses / unit
        sums, squares = (
            np.bincount(folds, weights * amounts).astype(np.float64)[:, None]
            for amounts in (scaled, scaled**2)
        )
        totals = np.bincount(folds, weights).astype(np.float64)
        by_fold = FoldLosses(sums, squares, totals, unit)
        return cls(by_fold, [n_leaves])

    def chosen(self, folds: Integers) -> tuple[int, RecipeScore]:
        """Return the subtree that these folds choose, and its score on them."""
        errors, deviations = self.losses.means(folds)
        index = best_subtree(errors, deviations, self.rule, unit=self.unit)
        score = RecipeScore(
            "", float(errors[index]), float(deviations[index]), self.leaves[index]
        )
        return index, score


def nested_error(
    candidates: Sequence[FoldErrors], choose: Choose
) -> tuple[float, float]:
    """Return the mean loss of all rows, and its standard error.

    ``choose`` gives the index of the score that wins.
    """
    folds = np.arange(len(candidates[0].losses.weights))
    loss = square = weight = 0.0
    # Squares of squares of large numbers would be beyond floats, but not in this unit.
    unit = max(candidate.losses.unit for candidate in candidates)
    for fold in folds.tolist():
        picks = [candidate.chosen(folds[folds != fold]) for candidate in candidates]
        winner = choose([score for _, score in picks])
        index, losses = picks[winner][0], candidates[winner].losses
        scale = losses.unit / unit
        loss += float(losses.losses[fold, index]) * scale
        square += float(losses.squares[fold, index]) * scale**2
        weight += float(losses.weights[fold])
    spread = max(square - loss**2 / weight, 0.0)
    return loss / weight * unit, float(np.sqrt(spread)) / weight * unit
