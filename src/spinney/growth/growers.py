"""Growers: the plain learner, and two sets of compiled kernels.

All growers grow the same tree with the same model file, byte by byte, whatever kernels
are loaded (docs/reliability.md). The loaded kernels affect the choice in two cases
only. Either all sums are exact, so that all growers agree in every bit; or competitors
are not read, and the nodes are counted again in row order (``recounts``). ``python -m
tools.compare_growers`` checks this.

The plain learner takes any task, and remote rows. Compiled kernels take the tasks of
``binned_limits`` and ``multiway_limits``, if growing without kernels takes longer than
loading them: one large tree, or small trees from the second on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np

from spinney import registry
from spinney._support.arrays import Floats
from spinney._support.jit.loading_time import TIME_WITHOUT_KERNELS, worth_loading
from spinney.errors import Setting, phrase, refusal
from spinney.growth.best_first import limited
from spinney.growth.binned.binned_limits import can_grow_binned, has_missing_cells
from spinney.growth.growth_options import Options
from spinney.growth.kernel_weights import growers_agree, with_summable_weights
from spinney.growth.multiway.multiway_limits import can_grow_multiway
from spinney.growth.plain.construct import construct_and_grow
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune import Pruned, pruned_after_growing
from spinney.growth.prune.mutable_nodes import recounted
from spinney.growth.replayed_nodes import counted_in_order, replayed
from spinney.recipes import Recipe
from spinney.search import policy_named
from spinney.sources import Counts, Formulas, Surrogates
from spinney.sources.rows import TrainingSet
from spinney.sources.training_data import TrainingData
from spinney.trees import Tree


def _grow_plain(rows: TrainingData, recipe: Recipe, options: Options) -> Tree:
    if rows.training is None:
        _refuse_lacking_source(rows.source, recipe)
    with TIME_WITHOUT_KERNELS.running():
        if recipe.construct:
            return construct_and_grow(rows.source, recipe, options)
        return grow_tree(rows.source, recipe, options)


def _refuse_lacking_source(source: Counts, recipe: Recipe) -> None:
    """Refuse a recipe that needs more than the source can count."""
    numeric = source.schema.target.is_numeric
    surrogates = policy_named(recipe.missing_policy).surrogates
    needs = (
        ("missing_policy", surrogates, Surrogates, "branch"),
        ("linear_terms", recipe.linear_terms > 1, Formulas, 0),
        ("construct", recipe.construct > 0, Formulas, 0),
        ("leaves", numeric and recipe.leaves == "linear", Formulas, "mean"),
        ("pruning", numeric and recipe.fits_models, Formulas, "none"),
    )
    for name, is_needed, capability, alternative in needs:
        if is_needed and not isinstance(source, capability):
            needed, engine = capability.__name__.lower(), type(source).__name__
            raise refusal(
                Setting(name, getattr(recipe, name)),
                f"(recipe {recipe.name!r}) needs {needed}, which {engine} lacks",
                phrase(
                    "take {}, or read the rows ({})",
                    Setting(name, alternative),
                    Setting("engine", "memory"),
                ),
            )


def _grow_binned(rows: TrainingData, recipe: Recipe, options: Options) -> Tree:
    from spinney.growth.binned.grow_binned import grow_binned_tree

    tree = grow_binned_tree(rows.in_memory_rows, recipe, options)
    return tree if recipe.max_leaves is None else limited(tree, recipe)


def _grow_multiway(rows: TrainingData, recipe: Recipe, options: Options) -> Tree:
    from spinney.growth.multiway.grow_multiway import grow_multiway_tree

    return grow_multiway_tree(rows.in_memory_rows, recipe, options)


def _grow_and_prune_multiway(
    rows: TrainingData, recipe: Recipe, options: Options
) -> Pruned:
    from spinney.growth.multiway.grow_multiway import grow_and_prune_multiway_tree

    return grow_and_prune_multiway_tree(rows.in_memory_rows, recipe, options)


def _extension_grower(search: str) -> "Grower":
    """Return an extension's grower for a value of ``search``."""
    grow = registry.load("grower", search)
    return Grower(
        search, lambda rows, recipe, options: grow(rows.in_memory_rows, recipe, options)
    )


@dataclass(frozen=True, slots=True)
class Grower:
    """A way to grow the tree of a recipe.

    Parameters
    ----------
    name : str
        "plain", "binned" (two branches, numbers in bins) or "multiway" (a branch per
        value, values by rank); or the search of an extension's grower.
    grows : function
        The function from rows, a recipe and options to the unpruned tree.
    grows_and_prunes : function, optional
        The function from the same arguments to the tree after error-based pruning.
    replays : bool
        Whether the plain learner grows the same tree: it finds the competitors on
        request, and trees of forests have its gains.
    recounts : bool
        Whether nodes are counted again, in row order: the choice of the grower depends
        on the loaded kernels, and growers round sums differently.
    """

    name: str
    grows: Callable[[TrainingData, Recipe, Options], Tree]
    grows_and_prunes: Callable[[TrainingData, Recipe, Options], Pruned] | None = None
    replays: bool = False
    recounts: bool = False

    def grow(self, rows: TrainingData, recipe: Recipe, options: Options) -> Tree:
        """Return the unpruned tree."""
        rows = _with_summable_weights(rows)
        tree = self.grows(rows, recipe, options)
        if self.replays:
            copied = _copied(rows)
            return replayed(tree, lambda: PLAIN.grow(copied, recipe, options))
        return self._recounted(tree, rows, recipe, options)

    def grow_and_prune(
        self, rows: TrainingData, recipe: Recipe, options: Options
    ) -> Pruned:
        """Return the tree, pruned by the recipe's method unless it needs folds."""
        rows = _with_summable_weights(rows)
        if recipe.pruning == "error-based" and self.grows_and_prunes is not None:
            result = self.grows_and_prunes(rows, recipe, options)
            if self.replays:
                copied = _copied(rows)
                tree = replayed(
                    result.tree,
                    lambda: PLAIN.grow_and_prune(copied, recipe, options).tree,
                )
                return replace(result, tree=tree)
        else:
            result = pruned_after_growing(
                self.grow(rows, recipe, options),
                rows.source,
                recipe=recipe,
                class_weights=options.class_weights,
                validation=options.validation,
            )
        if recipe.pruning != "error-based":
            return result
        # Branches that were raised have other rows than when they were grown.
        tree = self._recounted(result.tree, rows, recipe, options)
        return replace(result, tree=tree)

    def recount(
        self,
        tree: Tree,
        rows: TrainingData,
        recipe: Recipe,
        class_weights: Floats | None,
    ) -> Tree:
        """Return a tree of this grower, counted again on other labels."""
        rows = _with_summable_weights(rows)
        options = Options(class_weights=class_weights)
        agree = not self.recounts or growers_agree(rows.in_memory_rows, options)
        counted = tree.nodes.recounted(rows.in_memory_rows) if agree else None
        if counted is not None:
            return replace(tree, nodes=counted)
        return recounted(tree, rows.source, recipe=recipe, class_weights=class_weights)

    def _recounted(
        self, tree: Tree, rows: TrainingData, recipe: Recipe, options: Options
    ) -> Tree:
        """Return the tree; recompute its node weights in row order if ``recounts``."""
        if not self.recounts:
            return tree
        return counted_in_order(
            tree, rows.in_memory_rows, recipe, options.class_weights
        )


# Seconds that the plain learner takes on a machine of two cores: for a cell of a level;
# for a row, which ends up in a small node; for a row with a numeric target; and for a
# level, however few its rows. Then the longest wait for exact competitors: of splits in
# two, of multiway splits, and for a tree of a forest.
SECONDS_PER_CELL, SECONDS_PER_ROW, SECONDS_PER_NUMBER = 0.3e-6, 40e-6, 250e-6
SECONDS_PER_LEVEL = 0.5e-3
MAX_WAIT, MAX_WAIT_MULTIWAY, MAX_WAIT_FOREST = 0.5, 0.75, 0.1

PLAIN = Grower("plain", _grow_plain)
BINNED = Grower("binned", _grow_binned)
MULTIWAY = Grower("multiway", _grow_multiway, _grow_and_prune_multiway)

BINNED_KERNELS = ("spinney.growth.binned.kernels.grow", "run_task")
MULTIWAY_KERNELS = ("spinney.growth.multiway.kernels.grow", "grow_nodes")

# How many trees are grown whose competitors nobody looks at; None otherwise.
_PREDICTION_ONLY: ContextVar[int | None] = ContextVar("only to predict", default=None)


@contextmanager
def prediction_only(n_trees: int) -> Iterator[None]:
    """Grow ``n_trees`` trees inside this block that will only predict.

    They store no competitors, and kernels are loaded once for all of them.
    """
    token = _PREDICTION_ONLY.set(n_trees)
    try:
        yield
    finally:
        _PREDICTION_ONLY.reset(token)


def choose_grower(
    training: TrainingSet | None,
    recipe: Recipe,
    options: Options,
    *,
    competitors: bool = True,
) -> Grower:
    """Return the fastest grower for the tree of these rows.

    Remote rows, with a ``training`` of None, need the plain learner. With
    ``competitors`` competitors of splits may be read later. Kernels do not store all of
    them exactly; a plain learner that is fast finds them on request.
    """
    if recipe.grower.needs_rows:
        return _extension_grower(recipe.search)
    if training is None:
        return PLAIN
    plain = plain_seconds(training, recipe)
    n_trees = _PREDICTION_ONLY.get()
    if n_trees is not None:
        plain, competitors = plain * n_trees, False
    for grower, kernels, can_grow, patience in (
        (BINNED, BINNED_KERNELS, can_grow_binned, MAX_WAIT),
        (MULTIWAY, MULTIWAY_KERNELS, can_grow_multiway, MAX_WAIT_MULTIWAY),
    ):
        quick = plain <= patience
        optional = quick or not competitors  # else kernels grow it anyway
        exact = not optional or _agree_in_bits(grower, training, options)
        divided = grower is MULTIWAY and optional and not (quick and exact)
        divided = divided and has_missing_cells(training)
        if quick and not exact and (competitors or divided):
            continue
        replays = competitors and quick
        by_cost = replays or not (competitors or divided)
        loads = not by_cost or worth_loading(*kernels, instead=plain)
        if not loads and exact:
            continue
        if can_grow(training, recipe, options):
            chosen = grower if loads else PLAIN
            recounts = by_cost and not exact
            return replace(chosen, replays=replays and loads, recounts=recounts)
    return PLAIN


def _agree_in_bits(grower: Grower, training: TrainingSet, options: Options) -> bool:
    """Return whether kernels and plain learner agree in every bit of a node.

    The two multiply the fractions of divided rows by class weights in another order.
    """
    scaled = options.class_weights is not None
    if grower is MULTIWAY and scaled and has_missing_cells(training):
        return False
    return growers_agree(training, options)


def choose_forest_grower(
    training: TrainingSet,
    recipe: Recipe,
    *,
    attributes_per_node: int,
    n_trees: int,
    is_exact: Callable[[], bool],
) -> Grower:
    """Return the fastest grower for ``n_trees`` trees of a forest.

    Kernels grow trees that take the plain learner long, and all trees if sums over bags
    are not exact. So the same rows give the same forest in every process, also if trees
    are added later.
    """
    if not can_grow_binned(training, recipe, Options()):
        return PLAIN
    plain = plain_seconds(training, recipe, attributes_per_node=attributes_per_node)
    if plain > MAX_WAIT_FOREST or not is_exact():
        return BINNED
    plain_total = n_trees * (_PREDICTION_ONLY.get() or 1)
    if not worth_loading(*BINNED_KERNELS, instead=plain_total * plain):
        return PLAIN
    return replace(BINNED, replays=True)


def plain_seconds(
    training: TrainingSet, recipe: Recipe, *, attributes_per_node: int | None = None
) -> float:
    """Return an estimate of the seconds that the plain learner needs for a tree.

    A node searches ``attributes_per_node`` attributes, by default all.
    """
    n_rows = len(training.classes)
    n_attributes = (
        len(training.columns) if attributes_per_node is None else attributes_per_node
    )
    n_levels = 1.5 * np.log2(n_rows + 1)
    per_row = (
        SECONDS_PER_NUMBER if training.schema.target.is_numeric else SECONDS_PER_ROW
    )
    if recipe.max_depth is not None and recipe.max_depth < n_levels:
        n_levels, per_row = recipe.max_depth, SECONDS_PER_ROW
    by_row = n_attributes * n_levels * SECONDS_PER_CELL + per_row
    return float(n_rows * by_row + n_levels * SECONDS_PER_LEVEL)


def _with_summable_weights(rows: TrainingData) -> TrainingData:
    """Return rows whose weights add up exactly in any order, if rounding allows."""
    if rows.training is None or rows.training.weights is None:
        return rows
    summable = with_summable_weights(rows.training)
    if summable is rows.training:
        return rows
    return replace(rows, training=summable, counted=None)


def _copied(rows: TrainingData) -> TrainingData:
    """Return a copy of rows, which the caller may change."""
    all_rows = np.arange(len(rows.in_memory_rows.classes))
    return TrainingData(rows.in_memory_rows.take(all_rows))
