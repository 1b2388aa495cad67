"""Growing on rows at hand: with a forest as the teacher, and again on some of them.

A tree that a forest taught is grown on smoothed labels and then counted again on the
true ones: every number that it shows is of rows as they are.

What is drawn, the forest's rows and the folds, is drawn among *copies* of the rows: one
a unit of weight, in an order that depends on their cells only. So a table with its rows
shuffled gives the same tree, and so do two rows in the place of one of weight 2.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.row_order import Copies, copies_of
from spinney.data import Target
from spinney.errors import ParameterError, Setting, SpinneyWarning, warn
from spinney.growth.engine import choose_engine
from spinney.growth.growth_options import Options
from spinney.growth.prune import Pruned, TrainingRows, folds_of, pruned_after_growing
from spinney.growth.prune.cost_complexity import Mask, cost_complexity
from spinney.growth.taught.teacher import smoothed_labels, smoothed_training
from spinney.recipes import Recipe
from spinney.sources.opened import OpenedSource
from spinney.sources.rows import TrainingSet
from spinney.trees import Tree
from spinney.trees.criteria import CRITERIA


def warn_of_squares(recipe: Recipe, target: Target) -> None:
    """Say that cost complexity is one of squares, where a tree was grown otherwise.

    The deviance of counts is not to be had of moments: Σ y ln y is missing, and where
    a leaf's mean is 0 it is infinite for the first event held out.
    """
    if target.is_numeric and recipe.measure(numeric=True) is CRITERIA["poisson"]:
        warn(
            Setting("criterion", "poisson"),
            remedy="the tree is grown by the deviance of counts, but cost-complexity "
            "pruning weighs its leaves by squared errors",
        )


@dataclass(frozen=True)
class TaughtGrowth:
    """Growing over rows at hand: on labels that a forest has smoothed, or their own."""

    training: TrainingSet
    recipe: Recipe
    options: Options

    @cached_property
    def order(self) -> Copies:
        """The rows in an order that depends on their cells, as often as they weigh."""
        training = self.training
        cells = (*training.columns, training.classes)
        return copies_of(cells, training.weights)

    @cached_property
    def copies(self) -> TrainingSet:
        """The rows in order, as often as they weigh; once where that is not whole."""
        places, weight = self.order.places, self.order.weight
        copies = self.training.taken(places)
        if weight is None:
            return copies
        weights = None if weight == 1 else np.full(len(places), weight)
        return replace(copies, weights=weights)

    @cached_property
    def labels(self) -> Floats | None:
        """The labels of all copies as a forest smooths them, if there is one."""
        if not self.recipe.forest:
            return None
        return smoothed_labels(self.copies, self.recipe.forest, self.recipe.seed)

    def grow(self) -> Tree:
        """Return the unpruned tree of all rows; of its copies a row has the mean."""
        if self.labels is None:
            return self._grown(self.training, None)
        places, twins = self.order.places, self.order.twins
        numbers = np.bincount(places, minlength=len(twins))
        sums = np.zeros((len(numbers), *self.labels.shape[1:]))
        np.add.at(sums, places, self.labels)
        return self._grown(self.training, (sums[twins].T / numbers[twins]).T)

    def _grown(
        self, training: TrainingSet, labels: Floats | None, *, rivals: bool = True
    ) -> Tree:
        """Return the unpruned tree of some rows with these labels, or their own.

        A tree that is counted again keeps no ``rivals`` of its splits, and one of a
        fold needs none: so it may be grown by loops that the forest has loaded.
        """
        recipe, options = self.recipe, self.options
        if labels is None:
            engine = choose_engine(training, recipe, options, rivals=rivals)
            return engine.grow(OpenedSource(training), recipe, options)
        taught = smoothed_training(training, labels)
        engine = choose_engine(taught, recipe, options, rivals=False)
        tree = engine.grow(OpenedSource(taught), recipe, options)
        rows, scale = OpenedSource(training), options.class_weights
        return engine.recount(tree, rows, recipe, scale)

    def grow_on(self, mask: Mask) -> Tree:
        """Return the unpruned tree of some of the copies."""
        labels = None if self.labels is None else self.labels[mask]
        return self._grown(self.copies.taken(mask), labels, rivals=False)

    def regrow(self, mask: Mask) -> Tree:
        """Return the tree of some copies, where what was forced may not be possible."""
        with warnings.catch_warnings():
            # On fewer rows a forced path may lead nowhere: no concern of the user's.
            warnings.simplefilter("ignore", SpinneyWarning)
            try:
                return self.grow_on(mask)
            except ParameterError:
                if not self.options.forced:
                    raise
        # Or its attribute has one value there: then the tree is grown freely.
        free = replace(self, options=replace(self.options, forced={}))
        return free.grow_on(mask)

    def fold_trees(self, folds: Integers) -> Iterator[tuple[Mask, Tree]]:
        """Give the copies of each fold, and the tree of the others."""
        for fold in np.unique(folds):
            held = folds == fold
            yield held, self.regrow(~held)

    def training_rows(self, folds: Integers) -> TrainingRows:
        """Return the copies, and the trees of all folds but one."""
        training, scale = self.copies, self.options.class_weights
        counted = training.own_weights
        if scale is not None:
            counted = counted * scale[training.classes]
        trees = self.fold_trees(folds)
        return TrainingRows(training.columns, training.classes, counted, trees)

    def grow_and_prune(self) -> Pruned:
        """Return the tree of all rows, pruned as the recipe says."""
        tree, recipe = self.grow(), self.recipe
        if recipe.pruning == "cost-complexity":
            return self.pruned(tree)
        source, scale = self.training.source(), self.options.class_weights
        return pruned_after_growing(tree, source, recipe=recipe, class_weights=scale)

    def pruned(self, tree: Tree) -> Pruned:
        """Return the tree pruned by weakest links, as cross-validation chooses."""
        recipe, training = self.recipe, self.copies
        target, n_rows = training.schema.target, len(training.classes)
        warn_of_squares(recipe, target)
        asked = not recipe.given.isdisjoint(("folds", "pruning"))
        if asked and recipe.folds > n_rows:
            warn(
                Setting("folds", recipe.folds),
                f" of recipe {recipe.name!r} is more than the rows",
                remedy=f"{n_rows} folds of one row each choose the alpha",
            )
        folds = folds_of(
            training.classes,
            target,
            n_folds=min(recipe.folds, n_rows),
            seed=recipe.seed,
            asked=asked,
        )
        return cost_complexity(
            tree,
            training=self.training_rows(folds),
            rule=recipe.rule,
            costs=self.options.costs,
        )
