"""The losses of rows, which the search adds up."""

from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.extensions.optimal.kernels.layout import Family
from spinney.growth.growth_options import Options
from spinney.sources.rows import TrainingSet

# Losses that differ by a smaller fraction of the total are equal.
NEGLIGIBLE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class RowLosses:
    """The losses of rows.

    Parameters
    ----------
    family : Family
        How the loss of a leaf follows from sums.
    sums : array of shape (rows, numbers)
        The numbers that are summed in a leaf, by family.
    max_increase : array of shape (rows,)
        The most that a row can add to the loss of any tree.
    weights : array of shape (rows,)
        The weights of the rows.
    unavoidable_loss : float
        The loss of all rows under their best labels; ``sums`` excludes it.
    whole : float
        The unit of a leaf price below 1: the weight of all rows, or the squares of
        their numbers about the mean.
    resolution : float
        The least difference of two losses: all are multiples of it, or differences
        below it are negligible.
    is_exact : bool
        Whether losses are multiples of the resolution.
    """

    family: Family
    sums: Floats
    max_increase: Floats
    weights: Floats
    unavoidable_loss: float
    whole: float
    resolution: float
    is_exact: bool

    @property
    def rounding(self) -> float:
        """The largest rounding error of a sum of losses."""
        return float(
            len(self.max_increase) * np.finfo(np.float64).eps * self.max_increase.sum()
        )

    @property
    def loss_in_leaf(self) -> float:
        """The loss of all rows in one leaf."""
        if self.family == Family.MOMENTS:
            return self.whole
        if self.family == Family.LABELS:
            return float(self.sums.sum(axis=0).min())
        number = self.sums[:, 0]
        return float(min(number[number > 0].sum(), -number[number < 0].sum()))

    def loss_of_groups(self, groups: Integers) -> float:
        """Return the loss if each group of rows has a leaf."""
        sums = self.sums
        if self.family == Family.PAIR:
            sums = np.hstack([np.maximum(sums, 0.0), np.maximum(-sums, 0.0)])
        totals = [np.bincount(groups, weights=label) for label in sums.T]
        return float(np.min(totals, axis=0).sum())


def row_losses(training: TrainingSet, options: Options) -> RowLosses:
    """Return the losses of training rows: by class and cost, or squared."""
    weighed = training.weighed(options.class_weights)
    weights = weighed.sample_weights
    if training.schema.target.is_numeric:
        return _moment_losses(np.asarray(training.classes, dtype=np.float64), weights)
    n_classes = training.schema.n_classes
    costs = 1.0 - np.eye(n_classes) if options.costs is None else options.costs
    losses = weights[:, None] * np.asarray(costs).T[np.asarray(training.classes)]
    smallest = losses.min(axis=1)
    losses = losses - smallest[:, None]
    max_increase = losses.max(axis=1)
    pair = n_classes == 2
    return RowLosses(
        Family.PAIR if pair else Family.LABELS,
        losses[:, :1] - losses[:, 1:] if pair else losses,
        max_increase,
        weights,
        float(smallest.sum()),
        float(weights.sum()),
        *_resolution(losses),
    )


def _resolution(losses: Floats) -> tuple[float, bool]:
    """Return the number that losses are multiples of, and True; else a small number."""
    if not losses.any():
        return 1.0, True
    least = float(losses[losses > 0].min())
    multiples = losses / least
    if np.all(multiples == np.rint(multiples)):
        return least, True
    return NEGLIGIBLE * float(losses.max(axis=1).sum()), False


def _moment_losses(numbers: Floats, weights: Floats) -> RowLosses:
    """Return the moments of numbers about their mean.

    A leaf predicts a number within the range of the numbers, so a row adds at most its
    squared distance from the farther end.
    """
    numbers = numbers - np.average(numbers, weights=weights)
    squares = weights * numbers**2
    farthest = np.maximum(numbers - numbers.min(), numbers.max() - numbers)
    whole = float(squares.sum())
    return RowLosses(
        Family.MOMENTS,
        np.array([weights, weights * numbers, squares]).T,
        weights * farthest**2,
        weights,
        0.0,
        whole,
        NEGLIGIBLE * whole or 1.0,
        is_exact=False,
    )
