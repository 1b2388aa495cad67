"""A model with rows that came after it was grown, and without some that left.

The tree is the one that all rows at once would give: the learner is the same, and asks
a source that remembers the tree before (:mod:`spinney.extensions.incremental`).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from spinney import registry
from spinney._support.checks import Progress
from spinney.data import Table
from spinney.errors import DataError, ParameterError, Setting, phrase
from spinney.extensions.incremental.grow_again import (
    IncrementalGrower,
    can_cache_counts,
    why_from_scratch,
)
from spinney.growth import Model, UpdateState
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
    moved_target,
    row_weights,
)
from spinney.sources.training_data import TrainingData


def update_model(
    model: Model,
    batch: Batch | None,
    removed: Batch | None = None,
    *,
    going_on: bool = True,
    progress: Progress | None = None,
) -> Model:
    """Return the model of its rows with those of a batch, and without those removed.

    ``going_on`` says that further batches will come, so that count tables are kept for
    them; without it the quickest engine grows the tree.
    """
    kept = update_state_of(model)
    if kept.stream is not None:
        if removed is not None:
            msg = "a stream keeps no rows, so that none can be removed"
            raise ParameterError(msg, remedy="grow by another recipe, such as 'c4.5'")
        usable = _usable(batch, kept)
        return (
            model
            if usable is None
            else registry.load("operation", "stream").learn_batch(model, usable)
        )
    joined = join_rows(kept.training, _usable(batch, kept), _usable(removed, kept))
    return grow_joined(joined, kept, going_on=going_on, progress=progress)


def grow_joined(
    joined: JoinedRows,
    kept: UpdateState,
    *,
    going_on: bool = True,
    progress: Progress | None = None,
) -> Model:
    """Return the model of joined rows, which takes up what is kept of a tree."""
    again = None
    whole = why_updated_from_scratch(kept)
    _refuse_rows(joined, whole=whole is not None)
    joined, tree = _measured(joined, kept), kept.tree
    if joined.rows.schema.target.origin != kept.training.schema.target.origin:
        tree = None
    rows = joined.rows.take(joined.staying) if len(joined.removed) else joined.rows
    if tree is None and going_on:
        going_on = can_cache_counts(rows, kept.recipe)
    if whole is None and going_on:
        again = IncrementalGrower(joined, tree)
    model = grow_model(
        TrainingData(rows),
        recipe=kept.recipe,
        engine=None if again is None else again.engine,
        progress=progress,
        **kept.given,
    )
    grown = None if again is None else again.kept
    return replace(model, kept=replace(kept, training=rows, tree=grown))


def update_state_of(model: Model, path: str | None = None) -> UpdateState:
    """Return the rows that a model keeps, or refuse one, of a path, that keeps none."""
    if model.kept is not None:
        return model.kept
    name = "the model" if path is None else path
    if model.recipe.grower.streams:
        msg = f"{name} is the tree of a stream as it was, and has not what it counted"
        raise ParameterError(
            msg, remedy="go on with the estimator that learns it, by partial_fit"
        )
    msg = (
        f"{name} keeps counts of its {model.fingerprint.n_rows} rows and not the rows, "
        "so that none can be added or removed"
    )
    raise ParameterError(
        msg,
        remedy=phrase("grow it with {}", Setting("keep_rows", True)),
    )


def why_updated_from_scratch(kept: UpdateState) -> str | None:
    """Return why a model is grown whole when rows come and go; None if it is not."""
    recipe, given = kept.recipe, kept.given
    if given.get("validation_share") is not None:
        return "a share of all rows is reserved to prune by"
    if given.get("ccp_alpha") is not None:
        recipe = replace(recipe, pruning="none", tries=())
    return why_from_scratch(recipe)


def batch_of(table: Table, kept: UpdateState) -> Batch:
    """Return the rows of a table that holds its target, and its weights if any."""
    target, weight = kept.training.schema.target.name, kept.weight
    weights = None if weight is None else row_weights(table[weight])
    return Batch(table.without((target, weight or "")), table[target], weights)


def _usable(batch: Batch | None, kept: UpdateState) -> Batch | None:
    """Return a batch without rows that growing would leave out.

    Those are rows without weight, and where the recipe drops them those that lack a
    cell.
    """
    if batch is None:
        return None
    counts = np.ones(batch.table.n_rows, bool)
    if batch.weights is not None:
        counts &= batch.weights > 0
    if kept.recipe.drops_rows:
        names = kept.training.schema.names
        for column in batch.table.columns:
            if column.name in names:
                counts &= ~column.missing
    if counts.all():
        return batch
    weights = None if batch.weights is None else batch.weights[counts]
    return Batch(batch.table.take(counts), batch.target.take(counts), weights)


def _measured(joined: JoinedRows, kept: UpdateState) -> JoinedRows:
    """Return rows whose numeric target is measured from near its mean."""
    schema = joined.rows.schema
    if kept.recipe.counts_from_zero:
        return joined
    staying, rows = joined.staying, joined.rows
    target = moved_target(
        schema.target, rows.classes[staying], rows.own_weights[staying]
    )
    if target is None:
        return joined
    return replace(joined, rows=replace(rows, schema=replace(schema, target=target)))


def _refuse_rows(joined: JoinedRows, *, whole: bool) -> None:
    """Refuse rows that no tree can be grown on; one class makes a tree of one leaf.

    Where folds are drawn or the tree is searched as a whole, numbers must be two.
    """
    rows, staying = joined.rows, joined.staying
    if not len(staying):
        msg = "no row is left: a model needs at least one"
        raise DataError(msg, remedy="remove fewer, or add others")
    target, classes = rows.schema.target, rows.classes[staying]
    if target.is_numeric:
        weights = None if rows.weights is None else rows.weights[staying]
        facts = NumberFacts.of(classes, weights)
        if whole or not (facts.constant or facts.n_rows == 1):
            check_numbers(target.name, facts)
        elif not facts.finite:
            check_numbers(target.name, replace(facts, n_rows=2))
        return
    present = np.unique(classes)
    if whole or len(present) > 1:
        check_classes(target, present, len(staying))


def first_rows(
    rows: TrainingSet, recipe: Recipe, given: dict[str, Any], weight: str | None = None
) -> Model:
    """Return the model of a first batch, ready for others."""
    if recipe.grower.streams:
        stream = registry.load("operation", "stream")
        first: Model = stream.begin_stream(rows, recipe, given, weight)
        return first
    joined = join_rows(rows, None, None)
    return grow_joined(joined, UpdateState(rows, recipe, given, weight))
