"""Growing on rows at hand, and again on some of them.

A tree that a forest taught is grown on smoothed labels and then counted again on the
true ones: every number that it shows is of rows as they are.

What is drawn, the forest's rows and the folds, is drawn among *copies* of the rows: one
a unit of weight, in an order that depends on their cells only. So a table with its rows
shuffled gives the same tree, and so do two rows in the place of one of weight 2.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.row_order import Copies, copies_of
from spinney.data import Target
from spinney.errors import ParameterError, Setting, SpinneyWarning, warn
from spinney.growth.engine import choose_engine
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


FoldTrees = Sequence[tuple[Mask, Tree]]
"""Which copies each fold holds out, and the unpruned tree of the others."""


@dataclass(frozen=True)
class RowCopies:
    """Training rows, and their copies: what is drawn is drawn among these."""

    training: TrainingSet

    @cached_property
    def order(self) -> Copies:
        """The rows in an order that depends on their cells, as often as they weigh."""
        training = self.training
        cells = (*training.columns, training.classes)
        return copies_of(cells, training.weights)

    @cached_property
    def copies(self) -> TrainingSet:
        """The rows in order, as often as they weigh; once where that is not whole."""
        rows, weight = self.order.places, self.order.weight
        copies = self.training.take(rows)
        if weight is None:
            return copies
        weights = None if weight == 1 else np.full(len(rows), weight)
        return replace(copies, weights=weights)

    def few(self, most: int) -> "RowCopies":
        """Return at most so many of the copies, from all over their order."""
        n_copies = len(self.copies.classes)
        if n_copies <= most:
            return self
        return RowCopies(self.copies.take(np.arange(most) * n_copies // most))


@dataclass(frozen=True)
class FoldGrowth:
    """Growing over rows at hand, and on all of their folds but one.

    Parameters
    ----------
    rows : RowCopies
        The rows.
    recipe : Recipe
        How trees grow: where its ``forest`` is more than 0, on labels that a forest
        has smoothed.
    options : Options
        What a user says beside the recipe.
    most_held : int, optional
        How many copies are enough to be held out: further folds are left in. All
        folds are held out if not given.
    grown : function
        Called after each tree.
    before : sequence of (mask, Tree), optional
        The folds of the recipe with their unpruned trees, where they have been grown.
    """

    rows: RowCopies
    recipe: Recipe
    options: Options
    most_held: int | None = None
    grown: Callable[[], object] = lambda: None
    before: FoldTrees | None = None

    @property
    def training(self) -> TrainingSet:
        """The rows as they are."""
        return self.rows.training

    @property
    def copies(self) -> TrainingSet:
        """The rows as often as they weigh, in an order that depends on their cells."""
        return self.rows.copies

    @cached_property
    def labels(self) -> Floats | None:
        """The labels of all copies as a forest smooths them, if there is one."""
        if not self.recipe.forest:
            return None
        from spinney.growth.folds.teacher import smoothed_labels

        return smoothed_labels(self.copies, self.recipe.forest, self.recipe.seed)

    def grow(self) -> Tree:
        """Return the unpruned tree of all rows."""
        tree = self._grown(self.training, self._own_labels())
        self.grown()
        return tree

    def _own_labels(self) -> Floats | None:
        """Return the smoothed labels of rows: the mean of those of their copies."""
        if self.labels is None:
            return None
        order = self.rows.order
        copied, twins = order.places, order.twins
        numbers = np.bincount(copied, minlength=len(twins))
        sums = np.zeros((len(numbers), *self.labels.shape[1:]))
        np.add.at(sums, copied, self.labels)
        return np.asarray((sums[twins].T / numbers[twins]).T)

    def _grown(
        self, training: TrainingSet, labels: Floats | None, *, competitors: bool = True
    ) -> Tree:
        """Return the unpruned tree of some rows with these labels, or their own.

        A tree that is counted again keeps no ``competitors`` of its splits, and one of
        a fold needs none: so it may be grown by kernels that the forest has loaded.
        """
        recipe, options = self.recipe, self.options
        if labels is None:
            engine = choose_engine(training, recipe, options, competitors=competitors)
            return engine.grow(TrainingData(training), recipe, options)
        from spinney.growth.folds.teacher import smoothed_training

        # Rows to prune by are for the tree as it is counted again.
        options = replace(options, validation=None)
        taught = smoothed_training(training, labels)
        engine = choose_engine(taught, recipe, options, competitors=False)
        # It is counted again anyway.
        grower = replace(engine, recounts=False)
        tree = grower.grow(TrainingData(taught), recipe, options)
        rows, scale = TrainingData(training), options.class_weights
        return engine.recount(tree, rows, recipe, scale)

    def grow_on(self, mask: Mask) -> Tree:
        """Return the unpruned tree of some of the copies."""
        labels = None if self.labels is None else self.labels[mask]
        tree = self._grown(self.copies.take(mask), labels, competitors=False)
        self.grown()
        return tree

    def regrow(self, mask: Mask) -> Tree:
        """Return the tree of some copies, where what was forced may not be possible."""
        return self._freed(lambda growth: growth.grow_on(mask))

    def finished(self, mask: Mask) -> Tree:
        """Return the tree of some copies, pruned, and with models at its leaves."""
        rows = TrainingData(self.copies.take(mask))
        tree = self._freed(lambda g: grow_and_prune(rows, g.recipe, g.options).tree)
        self.grown()
        return tree

    def _freed(self, grow: Callable[["FoldGrowth"], Tree]) -> Tree:
        with warnings.catch_warnings():
            # On fewer rows a forced path may lead nowhere: no concern of the user's.
            warnings.simplefilter("ignore", SpinneyWarning)
            try:
                return grow(self)
            except ParameterError:
                if not self.options.forced:
                    raise
        # Or its attribute has one value there: then the tree is grown freely.
        return grow(replace(self, options=replace(self.options, forced={})))

    @cached_property
    def fold_trees(self) -> FoldTrees:
        """The copies of each of the recipe's own folds, and the tree of the others."""
        return [(held, self.regrow(~held)) for held in self.held_out(self.folds)]

    def held_out(self, folds: Integers) -> Iterator[Mask]:
        """Give the copies of each fold, as long as too few have been given."""
        n_held = 0
        for fold in np.unique(folds):
            if self.most_held is not None and n_held >= self.most_held:
                return
            held = folds == fold
            n_held += int(np.count_nonzero(held))
            yield held

    def training_rows(self, folds: Integers) -> CrossValidationRows:
        """Return the copies, and the trees of all folds but one."""
        training, scale = self.copies, self.options.class_weights
        counted = training.own_weights
        if scale is not None:
            counted = counted * scale[training.classes]
        anew = ((held, self.regrow(~held)) for held in self.held_out(folds))
        trees = anew if self.before is None else self.before
        return CrossValidationRows(training.columns, training.classes, counted, trees)

    def grow_and_prune(self) -> Pruned:
        """Return the tree of all rows, pruned as the recipe says."""
        tree, recipe, options = self.grow(), self.recipe, self.options
        if recipe.pruning == "cost-complexity" and options.validation is None:
            return self.pruned(tree)
        return pruned_after_growing(
            tree,
            self.training.source(),
            recipe=recipe,
            class_weights=options.class_weights,
            validation=options.validation,
        )

    def pruned(self, tree: Tree) -> Pruned:
        """Return the tree pruned by weakest links, as cross-validation chooses."""
        warn_of_squared_error_pruning(self.recipe, self.training.schema.target)
        return cost_complexity(
            tree,
            training=self.training_rows(self.folds),
            rule=self.recipe.rule,
            costs=self.options.costs,
        )

    @cached_property
    def folds(self) -> Integers:
        """The fold of each copy, as the recipe wants them."""
        recipe, training = self.recipe, self.copies
        target, n_rows = training.schema.target, len(training.classes)
        asked = not recipe.given.isdisjoint(("folds", "pruning"))
        if asked and recipe.folds > n_rows:
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
            asked=asked,
        )
