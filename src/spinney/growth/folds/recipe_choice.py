"""The choice among several recipes, by folds of the rows.

All candidates see the same folds. The risk of a candidate is what its trees cost on the
rows held out: the share of wrong labels, their mean cost, or the mean squared error. Of
those whose risk is within half a standard error of the least, the one with the fewest
leaves is chosen, for a tree is there to be read; of equal ones the first.

A dozen rows cannot be cross-validated: what is held out of them is two or three rows,
and says nothing. Such a table is grown by the first candidate that needs no folds.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spinney._support.arrays import Floats
from spinney.errors import SpinneyWarning
from spinney.growth.engine import only_to_predict
from spinney.growth.folds.fold_growth import FoldGrowth, RowCopies
from spinney.growth.growth_options import Options
from spinney.growth.model import Tried
from spinney.growth.prune.cost_complexity import Mask, cross_validated
from spinney.growth.prune.cost_complexity_sequence import sequence_of
from spinney.growth.prune.risk import costs_of, leaf_risks
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.trees import Tree, labels_of
from spinney.trees.predict import flatten, outputs

# Of fewer rows, no fold of five holds out more than five: too few to choose by.
MIN_ROWS_FOR_FOLDS = 30
# Copies of rows that candidates are compared on, of classes and of numbers: more would
# choose little better, and model trees take long.
MOST_COMPARED, MOST_COMPARED_NUMBERS = 2000, 500
# How far from the least risk, in standard errors, a candidate of fewer leaves may be.
INDIFFERENT = 0.5
# So many rows held out tell how far to prune: a default that takes long is none.
MOST_HELD = 10_000
# What a row costs where a linear model goes beyond floats.
WORST = 1e280


class RecipeChoice(NamedTuple):
    """A recipe, how each candidate did, and the way to grow where folds chose it."""

    recipe: Recipe
    tried: tuple[Tried, ...] = ()
    growth: FoldGrowth | None = None

    @property
    def risk(self) -> float:
        """What the chosen one costs on rows held out; 0 where nothing was tried."""
        return next((each.risk or 0.0 for each in self.tried if each.chosen), 0.0)


def choose_recipe(
    training: TrainingSet,
    candidates: Mapping[str, Recipe],
    options: Options,
    *,
    grown: Callable[[], object] = lambda: None,
) -> RecipeChoice:
    """Return one of the candidates, and how each did; nothing is tried of a single one.

    Of a large table they are compared on some of the rows, of a small one not at all,
    unless folds are asked for by hand. ``grown`` is called after each tree; there are a
    tree for each fold, and one, of each candidate.
    """
    first, *others = candidates.values()
    if not others or len(training.classes) < 2:
        return RecipeChoice(first)
    if "folds" not in first.given and _is_small(training):
        for name, recipe in candidates.items():
            if not recipe.needs_rows:
                return RecipeChoice(recipe, (Tried(name, chosen=True),))
    numeric, copied = training.schema.target.is_numeric, RowCopies(training)
    rows = copied.few(MOST_COMPARED_NUMBERS if numeric else MOST_COMPARED)
    n_trees = len(candidates) * (first.folds + 1)
    tried, growths = list[Tried](), list[FoldGrowth]()
    with only_to_predict(n_trees), warnings.catch_warnings():
        # What is to be said of a recipe is said when the tree of all rows is grown.
        warnings.simplefilter("ignore", SpinneyWarning)
        for name, recipe in candidates.items():
            growths.append(FoldGrowth(rows, recipe, options, grown=grown))
            tried.append(_judged(name, growths[-1]))
    chosen = _chosen(tried)
    tried[chosen] = replace(tried[chosen], chosen=True)
    growth, before = growths[chosen], None
    if rows is copied and growth.recipe.pruning == "cost-complexity":
        before = growth.fold_trees
    growth = replace(growth, rows=copied, most_held=MOST_HELD, before=before)
    return RecipeChoice(growth.recipe, tuple(tried), growth)


def _is_small(training: TrainingSet) -> bool:
    """Return whether rows are too few for folds; a row of weight 2 is two rows."""
    n_rows, weights = float(len(training.classes)), training.weights
    if weights is not None:
        n_rows = max(float(weights.sum()), float(np.count_nonzero(weights)))
    return n_rows < MIN_ROWS_FOR_FOLDS


def _chosen(tried: Sequence[Tried]) -> int:
    """Return which has the fewest leaves of those whose risk is nearly the least."""
    risks = np.array([each.risk for each in tried], np.float64)
    deviations = np.array([each.deviation for each in tried], np.float64)
    leaves = np.array([each.leaves for each in tried], np.int64)
    best = int(np.argmin(risks))
    able = risks <= risks[best] + INDIFFERENT * deviations[best]
    return int(np.argmin(np.where(able, leaves, leaves.max() + 1)))


def _judged(name: str, growth: FoldGrowth) -> Tried:
    """Return how the recipe of a growth does on its folds."""
    if growth.recipe.pruning == "cost-complexity":
        return _judged_subtree(name, growth)
    rows, costs = growth.training_rows(growth.folds), growth.options.costs
    losses = np.zeros(len(rows.targets))
    for held in growth.held_out(growth.folds):
        losses[held] = _losses(growth.finished(~held), growth.copies, held, costs)
    losses = np.nan_to_num(losses, nan=WORST, posinf=WORST)
    shares = rows.weights / rows.weights.sum()
    # Squares of squares of large numbers would be beyond floats, but not in this unit.
    unit = float(losses.max()) or 1.0
    risk = float(shares @ (losses / unit))
    spread = shares @ (losses / unit - risk) ** 2
    # As cost complexity has it: weights are frequencies, but no row is less than one.
    n_rows = max(float(rows.weights.sum()), np.count_nonzero(rows.weights))
    arrays = growth.finished(np.ones(len(losses), bool)).arrays
    # Those that rows reach: values that are declared must not choose the recipe.
    n_leaves = int(np.count_nonzero(~arrays.inner & (arrays.rows > 0)))
    deviation = float(np.sqrt(spread / n_rows))
    return Tried(name, risk * unit, deviation * unit, n_leaves)


def _judged_subtree(name: str, growth: FoldGrowth) -> Tried:
    """Return how the subtree does that cost complexity chooses."""
    rows, costs = growth.training_rows(growth.folds), growth.options.costs
    rows = replace(rows, fold_trees=growth.fold_trees)
    tree = growth.grow_on(np.ones(len(rows.targets), dtype=bool))
    sequence = sequence_of(tree, leaf_risks(tree, costs))
    sequence = cross_validated(sequence, rows, costs=costs)
    subtree = sequence[sequence.best(growth.recipe.rule)]
    assert subtree.error is not None
    assert subtree.deviation is not None
    # They are shares of the root's risk, or the risks themselves where it has none.
    unit = (sequence.root_risk if sequence.root_risk > 0 else 1.0) / rows.weights.sum()
    return Tried(
        name,
        float(subtree.error * unit),
        float(subtree.deviation * unit),
        subtree.leaves,
    )


def _losses(
    tree: Tree, copies: TrainingSet, held: Mask, costs: Floats | None
) -> Floats:
    """Return what a tree costs for each of some rows: 1, a cost or a square."""
    columns = [cells[held] for cells in copies.columns]
    columns = tree.schema.completed(columns, flatten(tree).gathered)
    true = copies.classes[held]
    predicted = outputs(flatten(tree), columns, len(true))
    if copies.schema.target.is_numeric:
        return np.asarray((predicted[:, 0] - true) ** 2)
    matrix = costs_of(tree.schema.target, costs)
    labels = labels_of(predicted, matrix)
    if matrix is None:
        return np.asarray(labels != true, dtype=np.float64)
    return np.asarray(matrix[labels, true])
