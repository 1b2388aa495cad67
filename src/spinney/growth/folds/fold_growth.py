"""Growing on rows in memory, and on their training folds.

With a forest teacher, a tree grows on smoothed labels and is then counted again on the
true labels. So every printed number is about the original rows.

The forest's bags and the folds are drawn among *copies* of the rows: one per unit of
weight, in an order that depends on their cells only. So shuffling the table has no
effect, and two rows of weight 1 equal one row of weight 2.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.row_order import Copies, row_copies
from spinney.data import Target
from spinney.errors import ParameterError, Setting, SpinneyWarning, warn
from spinney.growth.growers import choose_grower
from spinney.growth.growth_options import Options
from spinney.growth.pipeline import grow_and_prune
from spinney.growth.prune import (
    CrossValidationRows,
    Pruned,
    folds_of,
    pruned_after_growing,
)
from spinney.growth.prune.cost_complexity import Mask, cost_complexity
from spinney.recipes import Recipe
from spinney.sources.rows import TrainingSet
from spinney.sources.training_data import TrainingData
from spinney.trees import Tree
from spinney.trees.criteria import CRITERIA


def warn_of_squared_error_pruning(recipe: Recipe, target: Target) -> None:
    """Warn if cost-complexity pruning uses squared errors for Poisson deviance.

    The moments do not give the deviance of counts: Σ y ln y is missing, and at a leaf
    of mean 0 it is infinite for the first held-out event.
    """
    if target.is_numeric and recipe.measure(numeric=True) is CRITERIA["poisson"]:
        warn(
            Setting("criterion", "poisson"),
            remedy="the tree is grown by the deviance of counts, but cost-complexity "
            "pruning weighs its leaves by squared errors",
        )


FoldTrees = Sequence[tuple[Mask, Tree]]
"""The held-out copies of each fold, and the unpruned tree of the others."""


@dataclass(frozen=True)
class RowCopies:
    """The training rows, and their copies, among which bags and folds are drawn."""

    training: TrainingSet

    @cached_property
    def order(self) -> Copies:
        """The rows in an order that depends on their cells, repeated by weight."""
        training = self.training
        return row_copies((*training.columns, training.classes), training.weights)

    @cached_property
    def copies(self) -> TrainingSet:
        """The rows in order, repeated by weight; once each if weights are fractions."""
        rows, weight = self.order.places, self.order.weight
        copies = self.training.take(rows)
        if weight is None:
            return copies
        weights = None if weight == 1 else np.full(len(rows), weight)
        return replace(copies, weights=weights)

    def sample(self, max_copies: int) -> "RowCopies":
        """Return at most ``max_copies`` copies, spread evenly over their order."""
        n_copies = len(self.copies.classes)
        if n_copies <= max_copies:
            return self
        evenly = np.arange(max_copies) * n_copies // max_copies
        return RowCopies(self.copies.take(evenly))


@dataclass(frozen=True)
class FoldGrowth:
    """Growing on rows in memory, on all rows or on all folds but one.

    Parameters
    ----------
    rows : RowCopies
        The rows.
    recipe : Recipe
        The recipe of the trees; if ``forest`` is above 0, labels are smoothed by a
        forest.
    options : Options
        The user's options beside the recipe.
    max_held_out : int, optional
        The number of copies after which no further fold is held out; by default all
        folds are held out.
    grown : function
        Called after each tree.
    grown_folds : sequence of (mask, Tree), optional
        The folds of the recipe with their unpruned trees, if known.
    """

    rows: RowCopies
    recipe: Recipe
    options: Options
    max_held_out: int | None = None
    on_tree: Callable[[], object] = lambda: None
    grown_folds: FoldTrees | None = None

    @property
    def training(self) -> TrainingSet:
        """The original rows."""
        return self.rows.training

    @property
    def copies(self) -> TrainingSet:
        """The rows repeated by weight, in an order that depends on their cells."""
        return self.rows.copies

    @cached_property
    def labels(self) -> Floats | None:
        """The labels of all copies, smoothed by a forest; None without a forest."""
        if not self.recipe.forest:
            return None
        from spinney.growth.folds.teacher import smoothed_labels

        return smoothed_labels(self.copies, self.recipe.forest, self.recipe.seed)

    def grow(self) -> Tree:
        """Return the unpruned tree of all rows."""
        labels = None
        if self.labels is not None:  # those of a row are the mean of its copies'
            order = self.rows.order
            row_of_copy, equal_row = order.places, order.twins
            counts = np.bincount(row_of_copy, minlength=len(equal_row))
            sums = np.zeros((len(counts), *self.labels.shape[1:]))
            np.add.at(sums, row_of_copy, self.labels)
            labels = np.asarray((sums[equal_row].T / counts[equal_row]).T)
        tree = self._grow_tree(self.training, labels)
        self.on_tree()
        return tree

    def _grow_tree(
        self, training: TrainingSet, labels: Floats | None, *, competitors: bool = True
    ) -> Tree:
        """Return the unpruned tree of some rows, with ``labels`` or their own.

        A tree that is counted again loses the ``competitors`` of its splits, and a
        fold's tree needs none. So the forest's compiled kernels may grow these trees.
        """
        recipe, options = self.recipe, self.options
        if labels is None:
            grower = choose_grower(training, recipe, options, competitors=competitors)
            return grower.grow(TrainingData(training), recipe, options)
        from spinney.growth.folds.teacher import smoothed_training

        # Validation rows are for the tree after it is counted again.
        options = replace(options, validation=None)
        smoothed = smoothed_training(training, labels)
        grower = choose_grower(smoothed, recipe, options, competitors=False)
        # The tree is counted again anyway.
        fastest = replace(grower, recounts=False)
        tree = fastest.grow(TrainingData(smoothed), recipe, options)
        rows, scale = TrainingData(training), options.class_weights
        return grower.recount(tree, rows, recipe, scale)

    def grow_on(self, mask: Mask) -> Tree:
        """Return the unpruned tree of some of the copies."""
        labels = None if self.labels is None else self.labels[mask]
        tree = self._grow_tree(self.copies.take(mask), labels, competitors=False)
        self.on_tree()
        return tree

    def regrow(self, mask: Mask) -> Tree:
        """Return the unpruned tree of some copies, without impossible forced splits."""
        return self._with_possible_splits(lambda growth: growth.grow_on(mask))

    def finished(self, mask: Mask) -> Tree:
        """Return the tree of some copies, pruned, with models at its leaves."""
        rows = TrainingData(self.copies.take(mask))
        tree = self._with_possible_splits(
            lambda growth: grow_and_prune(rows, growth.recipe, growth.options).tree
        )
        self.on_tree()
        return tree

    def _with_possible_splits(self, grow: Callable[["FoldGrowth"], Tree]) -> Tree:
        with warnings.catch_warnings():
            # On fewer rows a forced path may lead nowhere: no concern of the user's.
            warnings.simplefilter("ignore", SpinneyWarning)
            try:
                return grow(self)
            except ParameterError:
                if not self.options.forced:
                    raise
        # Or its attribute has one value there: then no split is forced.
        return grow(replace(self, options=replace(self.options, forced={})))

    @cached_property
    def fold_trees(self) -> FoldTrees:
        """The copies of each fold of the recipe, and the tree of the other folds."""
        masks = self.held_out(self.folds)
        return [(held_out, self.regrow(~held_out)) for held_out in masks]

    def held_out(self, folds: Integers) -> Iterator[Mask]:
        """Yield the mask of copies in each fold, until enough are held out."""
        n_held_out = 0
        for fold in np.unique(folds):
            if self.max_held_out is not None and n_held_out >= self.max_held_out:
                return
            mask = folds == fold
            n_held_out += int(np.count_nonzero(mask))
            yield mask

    def cross_validation_rows(self, folds: Integers) -> CrossValidationRows:
        """Return the copies, and for each fold the tree of the other folds."""
        training, scale = self.copies, self.options.class_weights
        weights = training.sample_weights
        if scale is not None:
            weights = weights * scale[training.classes]
        trees = self.grown_folds or (
            (held_out, self.regrow(~held_out)) for held_out in self.held_out(folds)
        )
        return CrossValidationRows(training.columns, training.classes, weights, trees)

    def grow_and_prune(self) -> Pruned:
        """Return the tree of all rows, pruned by the recipe."""
        tree, recipe, options = self.grow(), self.recipe, self.options
        if recipe.pruning != "cost-complexity" or options.validation is not None:
            return pruned_after_growing(
                tree,
                self.training.source(),
                recipe=recipe,
                class_weights=options.class_weights,
                validation=options.validation,
            )
        warn_of_squared_error_pruning(recipe, self.training.schema.target)
        return cost_complexity(
            tree,
            training=self.cross_validation_rows(self.folds),
            rule=recipe.rule,
            costs=options.costs,
        )

    @cached_property
    def folds(self) -> Integers:
        """The recipe's fold of each copy."""
        recipe, training = self.recipe, self.copies
        target, n_rows = training.schema.target, len(training.classes)
        is_set = not recipe.given.isdisjoint(("folds", "pruning"))
        if is_set and recipe.folds > n_rows:
            warn(
                Setting("folds", recipe.folds),
                f" of recipe {recipe.name!r} is more than the rows",
                remedy=f"{n_rows} folds of one row each choose the alpha",
            )
        return folds_of(
            training.classes,
            target,
            n_folds=min(recipe.folds, n_rows),
            seed=recipe.seed,
            is_set=is_set,
        )
