"""The choice among several recipes, by cross-validation.

All candidates have the same folds. The error of a candidate is the mean loss of its
trees on held-out rows: the error rate, the mean cost, or the mean squared error. Among
candidates within half a standard error of the least, the one with the fewest leaves is
chosen, for a tree is there to be read; of equal ones the first. For a numeric target it
is within one standard error of the paired difference, and the terms of linear models
count like leaves. So a tree of means is chosen unless linear leaves are clearly better,
or shorter to read.

A dozen rows cannot be cross-validated: a fold of two or three rows measures nothing.
Such a table is grown by the first candidate that needs no folds.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spinney._support.arrays import Floats
from spinney.errors import SpinneyWarning
from spinney.growth.folds.fold_growth import FoldGrowth, RowCopies
from spinney.growth.folds.nested_error import FoldErrors
from spinney.growth.growers import prediction_only
from spinney.growth.growth_options import Options
from spinney.growth.model import RecipeScore
from spinney.growth.prune.cost_complexity import (
    Mask,
    cross_validated,
    held_out_losses,
)
from spinney.growth.prune.cost_complexity_sequence import sequence_of
from spinney.growth.prune.risk import costs_of, leaf_risks
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.trees import Tree, labels_of
from spinney.trees.predict import flatten, outputs

# With fewer rows, none of five folds holds out more than five: too few to choose by.
MIN_ROWS_FOR_FOLDS = 30
# Copies of rows that compare candidates: more would choose little better. For a numeric
# target a wide table has fewer, for model trees take long: so many cells, but not below
# 500 rows.
MAX_COMPARED, MIN_COMPARED = 2000, 500
MAX_COMPARED_CELLS = 40_000
# How many standard errors above the least error a candidate of fewer leaves may be.
MAX_STANDARD_ERRORS = 0.5
# The same for numbers, in standard errors of the difference of two candidates.
MAX_PAIRED_STANDARD_ERRORS = 1.0
# So many held-out rows suffice to prune: a default must not take long.
MAX_HELD_OUT = 10_000
# The loss of a row if a linear model goes beyond floats.
MAX_LOSS = 1e280


class RecipeChoice(NamedTuple):
    """The chosen recipe, the scores of all candidates, and the growth if any.

    If candidates were compared on all rows, it has their errors by fold, too.
    """

    recipe: Recipe
    scores: tuple[RecipeScore, ...] = ()
    growth: FoldGrowth | None = None
    fold_errors: tuple[FoldErrors, ...] = ()

    @property
    def risk(self) -> float:
        """The held-out error of the chosen candidate; 0 without a comparison."""
        return next((score.risk or 0.0 for score in self.scores if score.chosen), 0.0)


def choose_recipe(
    training: TrainingSet,
    candidates: Mapping[str, Recipe],
    options: Options,
    *,
    on_tree: Callable[[], object] = lambda: None,
) -> RecipeChoice:
    """Return one of the candidates, and the scores of all; a single one has no score.

    A large table compares candidates on a sample of rows. A small table compares none,
    unless a user sets folds. ``on_tree`` is called after each tree: each candidate
    grows a tree per fold, and one more.
    """
    first, *others = candidates.values()
    if not others or len(training.classes) < 2:
        return RecipeChoice(first)
    if "folds" not in first.given and _is_small(training):
        for name, recipe in candidates.items():
            if not recipe.needs_rows:
                return RecipeChoice(recipe, (RecipeScore(name, chosen=True),))
    copies = RowCopies(training)
    rows = copies.sample(_max_compared(training))
    n_trees = len(candidates) * (first.folds + 1)
    trials = list[_Trial]()
    with prediction_only(n_trees), warnings.catch_warnings():
        # Warnings about a recipe come when the tree of all rows grows.
        warnings.simplefilter("ignore", SpinneyWarning)
        for name, recipe in candidates.items():
            growth = FoldGrowth(rows, recipe, options, on_tree=on_tree)
            trials.append(_try(name, growth))
    chosen = _smallest_trial(trials)
    scores = [trial.score for trial in trials]
    scores[chosen] = replace(scores[chosen], chosen=True)
    growth, grown_folds = trials[chosen].growth, None
    if rows is copies and growth.recipe.pruning == "cost-complexity":
        grown_folds = growth.fold_trees
    growth = replace(
        growth, rows=copies, max_held_out=MAX_HELD_OUT, grown_folds=grown_folds
    )
    errors = tuple(trial.fold_errors for trial in trials) if rows is copies else ()
    return RecipeChoice(growth.recipe, tuple(scores), growth, errors)


def _max_compared(training: TrainingSet) -> int:
    """Return how many copies of rows candidates are compared on at most."""
    if not training.schema.target.is_numeric:
        return MAX_COMPARED
    n_rows = MAX_COMPARED_CELLS // max(1, len(training.schema.attributes))
    return min(max(n_rows, MIN_COMPARED), MAX_COMPARED)


def _is_small(training: TrainingSet) -> bool:
    """Return whether there are too few rows for folds, a row of weight 2 being two."""
    n_rows, weights = float(len(training.classes)), training.weights
    if weights is not None:
        n_rows = max(float(weights.sum()), float(np.count_nonzero(weights)))
    return n_rows < MIN_ROWS_FOR_FOLDS


class _Trial(NamedTuple):
    """A candidate with its score.

    ``losses`` are those of held-out rows, if the target is a number. ``size`` is the
    number of leaves with rows and of the terms of their linear models.
    """

    growth: FoldGrowth
    score: RecipeScore
    fold_errors: FoldErrors
    losses: Floats
    size: int


def _smallest_trial(trials: Sequence[_Trial]) -> int:
    """Return the index of the smallest among candidates of nearly least error.

    Squared errors of a few rows are most of the sum, but they are so for all
    candidates: errors of numbers are compared row by row.
    """
    scores = [trial.score for trial in trials]
    growth = trials[0].growth
    if not growth.copies.schema.target.is_numeric:
        return smallest_of_best(scores)
    errors = np.array([score.risk for score in scores], np.float64)
    best, weights = trials[int(np.argmin(errors))], growth.copies.sample_weights
    deviations = [mean_loss(each.losses - best.losses, weights)[1] for each in trials]
    margins = MAX_PAIRED_STANDARD_ERRORS * np.array(deviations)
    sizes = np.array([trial.size for trial in trials], np.int64)
    nearly_least = errors <= errors.min() + margins
    return int(np.argmin(np.where(nearly_least, sizes, sizes.max() + 1)))


def smallest_of_best(scores: Sequence[RecipeScore]) -> int:
    """Return the index of the smallest tree among candidates of nearly least error."""
    errors = np.array([score.risk for score in scores], np.float64)
    deviations = np.array([score.deviation for score in scores], np.float64)
    leaves = np.array([score.leaves for score in scores], np.int64)
    best = int(np.argmin(errors))
    nearly_least = errors <= errors[best] + MAX_STANDARD_ERRORS * deviations[best]
    return int(np.argmin(np.where(nearly_least, leaves, leaves.max() + 1)))


def _try(name: str, growth: FoldGrowth) -> _Trial:
    """Return a candidate with its cross-validated error."""
    if growth.recipe.pruning == "cost-complexity":
        return _try_subtrees(name, growth)
    rows, costs = growth.cross_validation_rows(growth.folds), growth.options.costs
    losses = np.zeros(len(rows.targets))
    for mask in growth.held_out(growth.folds):
        losses[mask] = _losses(growth.finished(~mask), growth.copies, mask, costs)
    losses = np.nan_to_num(losses, nan=MAX_LOSS, posinf=MAX_LOSS)
    error, deviation = mean_loss(losses, rows.weights)
    arrays = growth.finished(np.ones(len(losses), bool)).arrays
    # Only leaves with rows count: declared values must not choose the recipe.
    leaves = np.flatnonzero(~arrays.inner & (arrays.rows > 0))
    n_terms = 0 if arrays.models is None else int(arrays.models.count[leaves].sum())
    score = RecipeScore(name, error, deviation, len(leaves))
    losses = np.nan_to_num(losses, nan=MAX_LOSS, posinf=MAX_LOSS)
    errors = FoldErrors.of_folds(losses, rows.weights, growth.folds, len(leaves))
    return _Trial(growth, score, errors, losses, len(leaves) + n_terms)


def mean_loss(losses: Floats, weights: Floats) -> tuple[float, float]:
    """Return the mean of the losses of rows, or of their differences, with its error.

    That is the standard error.
    """
    losses = np.nan_to_num(losses, nan=MAX_LOSS, posinf=MAX_LOSS)
    fractions = weights / weights.sum()
    # Squares of squares of large numbers would be beyond floats, but not in this unit.
    unit = float(np.abs(losses).max()) or 1.0
    mean = float(fractions @ (losses / unit))
    variance = fractions @ (losses / unit - mean) ** 2
    # As in cost complexity, weights are frequencies, but no row is less than one.
    n_rows = max(float(weights.sum()), np.count_nonzero(weights))
    return mean * unit, float(np.sqrt(variance / n_rows)) * unit


def _try_subtrees(name: str, growth: FoldGrowth) -> _Trial:
    """Return a candidate with the error of the subtree that cost complexity chooses."""
    rows, costs = growth.cross_validation_rows(growth.folds), growth.options.costs
    rows = replace(rows, fold_trees=growth.fold_trees)
    tree = growth.grow_on(np.ones(len(rows.targets), dtype=bool))
    sequence = sequence_of(tree, leaf_risks(tree, costs))
    sequence = cross_validated(sequence, rows, costs=costs)
    best = sequence.best(growth.recipe.rule)
    subtree, losses = sequence[best], np.zeros(0)
    assert subtree.error is not None
    assert subtree.deviation is not None
    if tree.schema.target.is_numeric:
        losses = held_out_losses(sequence.middles[best], rows)
    # They are fractions of the root's risk, or risks if that is 0.
    unit = (sequence.root_risk if sequence.root_risk > 0 else 1.0) / rows.weights.sum()
    score = RecipeScore(
        name,
        float(subtree.error * unit),
        float(subtree.deviation * unit),
        subtree.leaves,
    )
    errors = FoldErrors.of_sequence(sequence, growth.recipe.rule)
    return _Trial(growth, score, errors, losses, subtree.leaves)


def _losses(
    tree: Tree, copies: TrainingSet, mask: Mask, costs: Floats | None
) -> Floats:
    """Return the loss of each held-out row: 1, a cost or a square."""
    rows = copies.take(mask)
    predicted = outputs_of(tree, rows)
    if rows.schema.target.is_numeric:
        return np.asarray((predicted[:, 0] - rows.classes) ** 2)
    matrix = costs_of(tree.schema.target, costs)
    labels = labels_of(predicted, matrix)
    if matrix is None:
        return np.asarray(labels != rows.classes, dtype=np.float64)
    return np.asarray(matrix[labels, rows.classes])


def outputs_of(tree: Tree, rows: TrainingSet) -> Floats:
    """Return what a tree predicts for rows of its schema."""
    flat = flatten(tree)
    columns = tree.schema.completed(list(rows.columns), flat.gathered)
    return outputs(flat, columns, len(rows.classes))
