"""Updates of a model: rows are added to its training rows, or removed.

The tree is the one that all rows at once would give: the learner is the same, and its
source caches the earlier tree (``incremental_source``).
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spinney import registry
from spinney._support.arrays import Floats
from spinney._support.checks import Progress
from spinney._support.jit.loading_time import TIME_WITHOUT_KERNELS
from spinney.data import Table
from spinney.errors import DataError, ParameterError, Setting, phrase
from spinney.extensions.incremental.incremental_source import IncrementalSource
from spinney.extensions.incremental.tree_state import TreeState
from spinney.growth import Model, UpdateState
from spinney.growth.growers import Grower, choose_grower, plain_seconds
from spinney.growth.growth_options import Options
from spinney.growth.plain.learner import grow_tree
from spinney.models import grow_model
from spinney.recipes import Recipe
from spinney.sources.rows import (
    Batch,
    JoinedRows,
    NumberFacts,
    TrainingSet,
    check_classes,
    check_numbers,
    join_rows,
    recentred_target,
)
from spinney.sources.training_data import TrainingData
from spinney.trees import Tree


def update_model(
    model: Model,
    batch: Batch | None,
    removed: Batch | None = None,
    *,
    cache_counts: bool = True,
    progress: Progress | None = None,
) -> Model:
    """Return the model after a batch of rows is added and others are removed.

    ``cache_counts`` stores count tables for further batches; without it the fastest
    grower grows the tree.
    """
    state = require_update_state(model)
    if state.stream is not None:
        if removed is not None:
            msg = "a stream stores no rows, so none can be removed"
            raise ParameterError(msg, remedy="use another recipe, such as 'c4.5'")
        usable = _drop_unusable_rows(batch, state)
        if usable is None:
            return model
        learned: Model = registry.load("operation", "stream").learn_batch(model, usable)
        return learned
    added, removed = (_drop_unusable_rows(part, state) for part in (batch, removed))
    joined = join_rows(state.training, added, removed)
    return _grow_joined(joined, state, cache_counts=cache_counts, progress=progress)


def _grow_joined(
    joined: JoinedRows,
    state: UpdateState,
    *,
    cache_counts: bool = True,
    progress: Progress | None = None,
) -> Model:
    """Return the model of joined rows, from the earlier tree's state if possible."""
    grower = None
    from_scratch = why_updated_from_scratch(state) is not None
    _refuse_rows(joined, from_scratch=from_scratch)
    joined, tree = _move_target_origin(joined, state), state.tree
    if joined.rows.schema.target.origin != state.training.schema.target.origin:
        tree = None
    rows = joined.rows.take(joined.staying) if len(joined.removed) else joined.rows
    if tree is None and cache_counts:
        cache_counts = can_cache_counts(rows, state.recipe)
    if cache_counts and not from_scratch:
        grower = IncrementalGrower(joined, tree)
    model = grow_model(
        TrainingData(rows),
        recipe=state.recipe,
        grower=None if grower is None else grower.grower,
        progress=progress,
        **state.given,
    )
    tree = None if grower is None else grower.tree_state
    return replace(model, update_state=replace(state, training=rows, tree=tree))


def require_update_state(model: Model, path: str | None = None) -> UpdateState:
    """Return the update state of a model; refuse a model (of a path) without one."""
    if model.update_state is not None:
        return model.update_state
    name = "the model" if path is None else path
    if model.recipe.grower.streams:
        msg = f"{name} is a past tree of a stream, without the counts of its leaves"
        raise ParameterError(msg, remedy="continue with the estimator's partial_fit")
    msg = (
        f"{name} does not store its {model.fingerprint.n_rows} rows, so none can be "
        "added or removed"
    )
    remedy = phrase("grow it with {}", Setting("keep_rows", True))
    raise ParameterError(msg, remedy=remedy)


def why_updated_from_scratch(state: UpdateState) -> str | None:
    """Return why an update grows a model from scratch; None if it does not."""
    recipe, options = state.recipe, state.given
    if options.get("validation_share") is not None:
        return "a fraction of all rows is the validation set for pruning"
    if options.get("ccp_alpha") is not None:
        recipe = replace(recipe, pruning="none", tries=())
    return why_from_scratch(recipe)


def update_batch(table: Table, state: UpdateState) -> Batch:
    """Return a batch of a table with the target and the weights of a model."""
    return Batch.of(table, state.training.schema.target.name, state.weight)


def _drop_unusable_rows(batch: Batch | None, state: UpdateState) -> Batch | None:
    """Return a batch without the rows that growing drops.

    These rows have no weight, or lack a cell and the recipe drops incomplete rows.
    """
    if batch is None:
        return None
    usable = np.ones(batch.table.n_rows, bool)
    if batch.weights is not None:
        usable &= batch.weights > 0
    if state.recipe.drops_rows:
        names = state.training.schema.names
        for column in batch.table.columns:
            if column.name in names:
                usable &= ~column.missing
    if usable.all():
        return batch
    weights = None if batch.weights is None else batch.weights[usable]
    return Batch(batch.table.take(usable), batch.target.take(usable), weights)


def _move_target_origin(joined: JoinedRows, state: UpdateState) -> JoinedRows:
    """Return rows with the origin of a numeric target near its mean."""
    schema = joined.rows.schema
    if state.recipe.counts_from_zero:
        return joined
    staying, rows = joined.staying, joined.rows
    target = recentred_target(
        schema.target, rows.classes[staying], rows.sample_weights[staying]
    )
    if target is None:
        return joined
    return replace(joined, rows=replace(rows, schema=replace(schema, target=target)))


def _refuse_rows(joined: JoinedRows, *, from_scratch: bool) -> None:
    """Refuse rows that no tree can be grown on; one class makes a tree of one leaf.

    A tree from scratch needs two different targets, because folds are drawn.
    """
    rows, staying = joined.rows, joined.staying
    if not len(staying):
        msg = "no row is left: a model needs at least one"
        raise DataError(msg, remedy="remove fewer rows, or add some")
    target, classes = rows.schema.target, rows.classes[staying]
    if target.is_numeric:
        weights = None if rows.weights is None else rows.weights[staying]
        facts = NumberFacts.of(classes, weights)
        if from_scratch or not (facts.constant or facts.n_rows == 1):
            check_numbers(target.name, facts)
        elif not facts.finite:
            check_numbers(target.name, replace(facts, n_rows=2))
        return
    present = np.unique(classes)
    if from_scratch or len(present) > 1:
        check_classes(target, present, len(staying))


def begin_updates(
    rows: TrainingSet,
    recipe: Recipe,
    options: dict[str, Any],
    weight: str | None = None,
) -> Model:
    """Return the model of a first batch, ready for updates."""
    if recipe.grower.streams:
        stream = registry.load("operation", "stream")
        first: Model = stream.begin_stream(rows, recipe, options, weight)
        return first
    joined = join_rows(rows, None, None)
    return _grow_joined(joined, UpdateState(rows, recipe, options, weight))


@dataclass(slots=True)
class IncrementalGrower:
    """A grower that starts from the state of an earlier tree.

    Parameters
    ----------
    joined : JoinedRows
        The rows of the model, with the added and the removed rows.
    tree_state : TreeState, optional
        The state of the earlier tree; without one all rows are counted.
    n_counted : int
        The number of cells counted to grow the tree.
    """

    joined: JoinedRows
    tree_state: TreeState | None = None
    n_counted: int = field(default=0, init=False)

    @property
    def grower(self) -> Grower:
        """The grower; after a run, ``tree_state`` is the state of the new tree."""
        return Grower("incremental", self._grow)

    def _grow(self, rows: TrainingData, recipe: Recipe, options: Options) -> Tree:
        weights = rows.in_memory_rows.weights
        joined, earlier = _with_rounded_weights(self.joined, weights, self.tree_state)
        source = IncrementalSource(joined, earlier)
        with TIME_WITHOUT_KERNELS.running():
            tree = grow_tree(source, recipe, options)
        self.tree_state, self.n_counted = source.tree_state(), source.n_counted
        return tree


def _with_rounded_weights(
    joined: JoinedRows, weights: Floats | None, earlier: TreeState | None
) -> tuple[JoinedRows, TreeState | None]:
    """Return joined rows with these weights of the remaining rows.

    Weights are rounded to add up exactly (``growth/kernel_weights.py``), by the weight
    of all rows. If rounding changes the weight of an old row, no count can be reused.
    """
    if weights is None:
        return joined, earlier
    all_weights = joined.rows.sample_weights.copy()
    if earlier is not None:
        all_weights[earlier.root.members.rows] = earlier.root.members.weights
    before = all_weights[joined.staying]
    all_weights[joined.staying] = weights
    old = joined.staying < joined.n_before
    if not np.array_equal(before[old], weights[old]):
        earlier = None
    return replace(joined, rows=replace(joined.rows, weights=all_weights)), earlier


# The most seconds that the plain learner may take to count all rows. Beyond that,
# compiled kernels regrow a tree many times before stored tables pay for it.
MAX_SECONDS = 30.0


def can_cache_counts(rows: TrainingSet, recipe: Recipe) -> bool:
    """Return whether rows are few enough to store their count tables.

    The plain learner stores them in any case, if kernels cannot grow the tree.
    """
    if plain_seconds(rows, recipe) <= MAX_SECONDS:
        return True
    return choose_grower(rows, recipe, Options()).name == "plain"


def why_from_scratch(recipe: Recipe) -> str | None:
    """Return why updates grow a tree from scratch; None if they do not.

    >>> why_from_scratch(Recipe.named("id3"))
    >>> why_from_scratch(Recipe.named("auto"))
    'cross-validation on all rows chooses the recipe'
    """
    by_rows = recipe.pruning in ("reduced-error", "pre-pruning")
    reasons = (
        (bool(recipe.tries), "cross-validation on all rows chooses the recipe"),
        (recipe.grower.seeks_whole_trees, "all splits are optimised together"),
        (recipe.forest > 0, "a forest of all rows smooths the labels"),
        (recipe.pruning == "cost-complexity", "cross-validation chooses the pruning"),
        (by_rows, "the tree is pruned on a validation set"),
        (recipe.construct > 0, "a first tree of all rows constructs attributes"),
        (recipe.linear_terms > 1, "linear combinations are fitted to all rows"),
    )
    return next((reason for holds, reason in reasons if holds), None)
