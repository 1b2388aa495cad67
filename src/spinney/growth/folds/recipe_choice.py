"""The choice among several recipes, by cross-validation.

All candidates have the same folds. The error of a candidate is the mean loss of its
trees on held-out rows: the error rate, the mean cost, or the mean squared error. Among
candidates within half a standard error of the least, the one with the fewest leaves is
chosen, for a tree is there to be read; of equal ones the first.

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
from spinney.growth.prune.cost_complexity import Mask, cross_validated
from spinney.growth.prune.cost_complexity_sequence import sequence_of
from spinney.growth.prune.risk import costs_of, leaf_risks
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.trees import Tree, labels_of
from spinney.trees.predict import flatten, outputs

# With fewer rows, none of five folds holds out more than five: too few to choose by.
MIN_ROWS_FOR_FOLDS = 30
# Copies of rows that compare candidates, of classes and of numbers: more would choose
# little better, and model trees take long.
MAX_COMPARED, MAX_COMPARED_NUMBERS = 2000, 500
# How many standard errors above the least error a candidate of fewer leaves may be.
MAX_STANDARD_ERRORS = 0.5
# So many held-out rows suffice to prune: a default must not take long.
MAX_HELD_OUT = 10_000
# The loss of a row if a linear model goes beyond floats.
MAX_LOSS = 1e280


class RecipeChoice(NamedTuple):
    """A recipe, the scores of all candidates, and the growth if folds chose it.

    If candidates were compared on all rows, it has their errors by fold, too.
    """

    recipe: Recipe
    scores: tuple[RecipeScore, ...] = ()
    growth: FoldGrowth | None = None
    fold_errors: tuple[FoldErrors, ...] = ()

    @property
    def risk(self) -> float:
        """The held-out error of the chosen candidate; 0 if nothing was tried."""
        return next((score.risk or 0.0 for score in self.scores if score.chosen), 0.0)


def choose_recipe(
    training: TrainingSet,
    candidates: Mapping[str, Recipe],
    options: Options,
    *,
    on_tree: Callable[[], object] = lambda: None,
) -> RecipeChoice:
    """Return one of the candidates, and the scores of all; a single one is not tried.

    A large table compares them on some of its rows; a small one does not, unless a user
    sets folds. ``on_tree`` is called after each tree: each candidate grows one for each
    fold, and one more.
    """
    first, *others = candidates.values()
    if not others or len(training.classes) < 2:
        return RecipeChoice(first)
    if "folds" not in first.given and _is_small(training):
        for name, recipe in candidates.items():
            if not recipe.needs_rows:
                return RecipeChoice(recipe, (RecipeScore(name, chosen=True),))
    numeric, copies = training.schema.target.is_numeric, RowCopies(training)
    rows = copies.sample(MAX_COMPARED_NUMBERS if numeric else MAX_COMPARED)
    n_trees = len(candidates) * (first.folds + 1)
    scores, growths, errors = list[RecipeScore](), list[FoldGrowth](), []
    with prediction_only(n_trees), warnings.catch_warnings():
        # Warnings about a recipe come when the tree of all rows grows.
        warnings.simplefilter("ignore", SpinneyWarning)
        for name, recipe in candidates.items():
            growths.append(FoldGrowth(rows, recipe, options, on_tree=on_tree))
            score, fold_errors = _score(name, growths[-1])
            scores.append(score)
            errors.append(fold_errors)
    chosen = smallest_of_best(scores)
    scores[chosen] = replace(scores[chosen], chosen=True)
    growth, grown_folds = growths[chosen], None
    if rows is copies and growth.recipe.pruning == "cost-complexity":
        grown_folds = growth.fold_trees
    growth = replace(
        growth, rows=copies, max_held_out=MAX_HELD_OUT, grown_folds=grown_folds
    )
    compared = tuple(errors) if rows is copies else ()
    return RecipeChoice(growth.recipe, tuple(scores), growth, compared)


def _is_small(training: TrainingSet) -> bool:
    """Return whether rows are too few for folds; a row of weight 2 is two rows."""
    n_rows, weights = float(len(training.classes)), training.weights
    if weights is not None:
        n_rows = max(float(weights.sum()), float(np.count_nonzero(weights)))
    return n_rows < MIN_ROWS_FOR_FOLDS


def smallest_of_best(scores: Sequence[RecipeScore]) -> int:
    """Return the index of the fewest leaves among candidates of nearly least error."""
    errors = np.array([score.risk for score in scores], np.float64)
    deviations = np.array([score.deviation for score in scores], np.float64)
    leaves = np.array([score.leaves for score in scores], np.int64)
    best = int(np.argmin(errors))
    nearly_least = errors <= errors[best] + MAX_STANDARD_ERRORS * deviations[best]
    return int(np.argmin(np.where(nearly_least, leaves, leaves.max() + 1)))


def _score(name: str, growth: FoldGrowth) -> tuple[RecipeScore, FoldErrors]:
    """Return the cross-validated error of a growth's recipe."""
    if growth.recipe.pruning == "cost-complexity":
        return _score_subtree(name, growth)
    rows, costs = growth.cross_validation_rows(growth.folds), growth.options.costs
    losses = np.zeros(len(rows.targets))
    for mask in growth.held_out(growth.folds):
        losses[mask] = _losses(growth.finished(~mask), growth.copies, mask, costs)
    error, deviation = mean_loss(losses, rows.weights)
    arrays = growth.finished(np.ones(len(losses), bool)).arrays
    # Only leaves with rows count: declared values must not choose the recipe.
    n_leaves = int(np.count_nonzero(~arrays.inner & (arrays.rows > 0)))
    losses = np.nan_to_num(losses, nan=MAX_LOSS, posinf=MAX_LOSS)
    errors = FoldErrors.of_folds(losses, rows.weights, growth.folds, n_leaves)
    return RecipeScore(name, error, deviation, n_leaves), errors


def mean_loss(losses: Floats, weights: Floats) -> tuple[float, float]:
    """Return the mean of the losses of rows, and its standard error."""
    losses = np.nan_to_num(losses, nan=MAX_LOSS, posinf=MAX_LOSS)
    fractions = weights / weights.sum()
    # Squares of squares of large numbers would be beyond floats, but not in this unit.
    unit = float(losses.max()) or 1.0
    mean = float(fractions @ (losses / unit))
    variance = fractions @ (losses / unit - mean) ** 2
    # As in cost complexity, weights are frequencies, but no row is less than one.
    n_rows = max(float(weights.sum()), np.count_nonzero(weights))
    return mean * unit, float(np.sqrt(variance / n_rows)) * unit


def _score_subtree(name: str, growth: FoldGrowth) -> tuple[RecipeScore, FoldErrors]:
    """Return the cross-validated error of the subtree that cost complexity chooses."""
    rows, costs = growth.cross_validation_rows(growth.folds), growth.options.costs
    rows = replace(rows, fold_trees=growth.fold_trees)
    tree = growth.grow_on(np.ones(len(rows.targets), dtype=bool))
    sequence = sequence_of(tree, leaf_risks(tree, costs))
    sequence = cross_validated(sequence, rows, costs=costs)
    subtree = sequence[sequence.best(growth.recipe.rule)]
    assert subtree.error is not None
    assert subtree.deviation is not None
    # They are fractions of the root's risk, or risks if that is 0.
    unit = (sequence.root_risk if sequence.root_risk > 0 else 1.0) / rows.weights.sum()
    score = RecipeScore(
        name,
        float(subtree.error * unit),
        float(subtree.deviation * unit),
        subtree.leaves,
    )
    return score, FoldErrors.of_sequence(sequence, growth.recipe.rule)


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
