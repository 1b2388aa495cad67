"""The error of a grown tree on rows that it has not seen, and on its training rows.

What the choice of a recipe and cost-complexity pruning have measured already is taken
from there: it costs nothing. Otherwise the tree is grown again without some rows, in
five folds; where that takes long, once without a part of the rows; where even that
takes long, not at all. Either way no row has a part in the choice of its prediction.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spinney._support.arrays import Floats
from spinney.errors import SpinneyWarning
from spinney.growth.folds.fold_growth import FoldGrowth, RowCopies
from spinney.growth.folds.nested_error import FoldErrors, nested_error
from spinney.growth.folds.recipe_choice import (
    MAX_HELD_OUT,
    MAX_LOSS,
    MIN_ROWS_FOR_FOLDS,
    RecipeChoice,
    mean_loss,
    outputs_of,
    smallest_of_best,
)
from spinney.growth.growers import prediction_only
from spinney.growth.growth_options import Options
from spinney.growth.prune import Pruned, folds_of, pruned_by_impurity
from spinney.growth.prune.risk import costs_of, leaf_errors
from spinney.growth.quality import Quality
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.sources.training_data import TrainingData
from spinney.trees import Tree, labels_of, spread_of

N_FOLDS = 5
# Cells (rows × columns) of all trees that are grown to measure one: more take seconds.
MAX_CELLS = 2_000_000
# Trees of numbers are deep, or have linear models: they take so many times longer.
COST_OF_NUMBERS = 10


@dataclass(frozen=True, slots=True)
class QualityMeasure:
    """Measures the quality of a tree that was grown on some rows.

    Parameters
    ----------
    rows : TrainingData
        The rows.
    choice : RecipeChoice
        The recipe, and the scores of those that were tried.
    options : Options
        The user's options beside the recipe.
    ccp_alpha : float, optional
        The alpha that the tree is pruned at after growing.
    may_grow : bool
        Whether further trees may be grown to measure it.
    """

    rows: TrainingData
    choice: RecipeChoice
    options: Options
    ccp_alpha: float | None = None
    may_grow: bool = False

    def quality_of(
        self, result: Pruned, *, on_tree: Callable[[], object] = lambda: None
    ) -> Quality | None:
        """Return the quality of a tree, if it is free or trees may be grown for it."""
        if self._is_free:
            return self._free(result)
        return self._measured(result.tree, on_tree) if self.may_grow else None

    @property
    def _is_free(self) -> bool:
        """Whether choosing or pruning counts the rows in error of the tree."""
        options, recipe = self.options, self.choice.recipe
        if options.class_weights is not None or options.costs is not None:
            return False
        if self.rows.is_remote:
            return False
        by_folds = recipe.pruning == "cost-complexity" and options.validation is None
        return by_folds or bool(self.choice.fold_errors)

    @property
    def n_trees(self) -> int:
        """How many further trees are to be grown: five, one, or none."""
        rows, recipe = self.rows, self.choice.recipe
        if self._is_free or not self.may_grow:
            return 0
        if rows.is_remote or recipe.grower.needs_rows or recipe.grower.streams:
            return 0
        if rows.n_rows < MIN_ROWS_FOR_FOLDS:
            return 0
        n_cells = int(rows.n_rows * self._cost_of_row(recipe))
        affordable = MAX_CELLS // max(n_cells, 1)
        return N_FOLDS if affordable >= N_FOLDS else min(affordable, 1)

    def _cost_of_row(self, recipe: Recipe) -> float:
        """Return how many cells of a row are read to grow and prune a tree."""
        cost = self.rows.schema.n_columns * (1 + recipe.forest)
        if recipe.needs_rows and self.options.validation is None:
            cost *= 1 + recipe.folds
        is_numeric = self.rows.schema.target.is_numeric
        return cost * (COST_OF_NUMBERS if is_numeric else 1)

    def _free(self, result: Pruned) -> Quality | None:
        """Return the quality that choosing or pruning has measured."""
        growth, sequence = self.choice.growth, result.sequence
        candidates = self.choice.fold_errors
        if not candidates:
            assert sequence is not None
            candidates = (FoldErrors.of_sequence(sequence, self.choice.recipe.rule),)
        if len(candidates[0].losses.weights) > 1:
            error, deviation = nested_error(candidates, smallest_of_best)
        else:  # one fold of many rows, to choose and to measure
            errors, deviations = candidates[0].losses.means(np.arange(1))
            index, _ = candidates[0].chosen(np.arange(1))
            error, deviation = float(errors[index]), float(deviations[index])
        n_folds, n_rows = self.choice.recipe.folds, self.rows.n_rows
        if growth is not None:
            n_held_out = sum(int(mask.sum()) for mask in growth.held_out(growth.folds))
            if n_held_out < len(growth.copies.classes):
                n_folds, n_rows = 1, n_held_out
        known = self._on_training_rows(result.tree)
        return known and replace(
            known,
            n_rows=n_rows,
            n_folds=n_folds,
            error=error,
            standard_error=deviation,
        )

    def _measured(self, tree: Tree, on_tree: Callable[[], object]) -> Quality | None:
        """Return the quality of a tree, by growing others without some of the rows."""
        known, n_trees = self._on_training_rows(tree), self.n_trees
        if known is None or not n_trees:
            return known
        copies, recipe = RowCopies(self.rows.in_memory_rows), self.choice.recipe
        growth = FoldGrowth(copies, recipe, self.options, on_tree=on_tree)
        n_copies = len(growth.copies.classes)
        folds = folds_of(
            growth.copies.classes,
            tree.schema.target,
            n_folds=max(N_FOLDS, -(-n_copies // MAX_HELD_OUT) * (n_trees == 1)),
            seed=recipe.seed,
            is_set=False,
        )
        losses, held_out = np.zeros(n_copies), folds < n_trees
        with prediction_only(n_trees), warnings.catch_warnings():
            # Warnings about a recipe came when the tree of all rows was grown.
            warnings.simplefilter("ignore", SpinneyWarning)
            for fold in range(n_trees):
                mask = folds == fold
                without = self._pruned(growth.finished(~mask))
                losses[mask] = _losses(without, growth.copies.take(mask))
        weights = growth.copies.sample_weights[held_out]
        error, deviation = mean_loss(losses[held_out], weights)
        all_rows = n_trees > 1
        return replace(
            known,
            n_rows=self.rows.n_rows if all_rows else int(held_out.sum()),
            n_folds=n_trees,
            error=error,
            standard_error=deviation,
        )

    def _pruned(self, tree: Tree) -> Tree:
        """Return a tree pruned as that of all rows was after growing."""
        if not self.ccp_alpha:
            return tree
        return pruned_by_impurity(tree, self.choice.recipe, self.ccp_alpha).tree

    def _on_training_rows(self, tree: Tree) -> Quality | None:
        """Return the quality on training rows; None if counts do not tell it."""
        target, arrays, rows = tree.schema.target, tree.arrays, self.rows.training
        is_leaf, scale = ~arrays.inner, self.options.class_weights
        # A row that is divided among leaves is predicted by all of them together.
        is_divided = arrays.rows[is_leaf].sum() != arrays.rows[0]
        if rows is not None and (arrays.models is not None or is_divided):
            weights = rows.sample_weights
            error, _ = mean_loss(_losses(tree, rows), weights)
        elif arrays.models is not None or (scale is not None and not scale.all()):
            return None
        elif target.is_numeric:
            error = leaf_errors(tree)[is_leaf].sum() / arrays.weights[0, 0]
        else:
            weights = np.asarray(arrays.weights, np.float64)[is_leaf]
            weights = weights if scale is None else weights / scale
            labels = tree.nodes.labels[is_leaf]
            right = weights[np.arange(len(labels)), labels].sum()
            error = 1.0 - right / weights.sum()
        variance = None
        if target.is_numeric:
            moments = np.asarray(arrays.weights[0], np.float64)
            variance = _finite(spread_of(moments) / moments[0])
        return Quality(max(_finite(error), 0.0), variance)


def _finite(error: float) -> float:
    return float(np.nan_to_num(error, nan=MAX_LOSS, posinf=MAX_LOSS))


def _losses(tree: Tree, rows: TrainingSet) -> Floats:
    """Return 1 for each row of another class than predicted, or the squared error."""
    predicted = outputs_of(tree, rows)
    if rows.schema.target.is_numeric:
        return np.asarray((predicted[:, 0] - rows.classes) ** 2)
    labels = labels_of(predicted, costs_of(tree.schema.target))
    return np.asarray(labels != rows.classes, dtype=np.float64)
