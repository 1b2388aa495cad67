"""A model that learns from batches of rows, which are not stored."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spinney._support.checks import Progress
from spinney.data.duckdb import is_relation
from spinney.data.readers import table_batches
from spinney.errors import ParameterError
from spinney.extensions.streaming.growing_stream import GrowingStream, refuse_options
from spinney.growth import Model, UpdateState
from spinney.recipes import Recipe
from spinney.sources.rows import (
    Batch,
    TrainingSet,
    check_roles,
    join_rows,
    rows_in_memory,
    warn_of_constant_target,
)
from spinney.sources.training_data import TableInput, engine_of

BATCH_ROWS = 50_000  # some megabytes


def is_streamed(data: Any, engine: str | None) -> bool:
    """Return whether a table is read in batches: a file or a relation."""
    if engine is not None:
        return False
    is_file = isinstance(data, (str, os.PathLike)) and engine_of(data) is None
    return is_file or is_relation(data)


def stream_from(
    table_input: TableInput,
    *,
    recipe: Recipe,
    progress: Progress | None = None,
    **options: Any,
) -> Model:
    """Learn a table with its target in batches, each row once.

    ``progress`` is called with the number of batches so far, and that number plus 1.
    """
    data, target, weight = table_input.data, table_input.target, table_input.weight
    declarations = table_input.declarations
    check_roles(target, weight, declarations)
    refuse_options(options)
    model: Model | None = None
    reading = {"format": table_input.format, "encoding": table_input.encoding}
    with table_batches(data, declarations, n_rows=BATCH_ROWS, **reading) as (batches,):
        for number, table in enumerate(batches.tables):
            if model is None:
                rows = rows_in_memory(
                    table,
                    target,
                    weight,
                    declarations,
                    from_zero=False,
                    complete=recipe.drops_rows,
                    first=True,
                )
                model = begin_stream(rows, recipe, {}, weight)
            else:
                model = learn_batch(model, Batch.of(table, target, weight))
            if progress is not None:
                progress(number + 1, number + 2)
    assert model is not None  # a table without rows is refused by its reader
    classes = model.schema.target.classes
    if len(classes) == 1:
        warn_of_constant_target(
            target, f"class, {classes[0]!r}", model.fingerprint.n_rows
        )
    return model


def begin_stream(
    rows: TrainingSet,
    recipe: Recipe,
    options: Mapping[str, Any],
    weight: str | None = None,
) -> Model:
    """Return the model of a first batch; it stores counts and no rows."""
    recipe.refuse_target(numeric=rows.schema.target.is_numeric)
    refuse_options(options)
    stream = GrowingStream(rows.schema, recipe)
    stream.learn(rows)
    state = UpdateState(rows.take(slice(0, 0)), recipe, {}, weight, stream=stream)
    return _make_model(state)


def learn_batch(model: Model, batch: Batch) -> Model:
    """Return the model after a further batch.

    The counts belong to the new model: the old one cannot learn further rows.
    """
    state, stream = model.update_state, stream_of(model)
    assert state is not None
    joined = join_rows(state.training, batch, None)
    stream.recode(joined)
    stream.learn(joined.rows)
    return _make_model(replace(state, training=joined.rows.take(slice(0, 0))))


def stream_of(model: Model) -> GrowingStream:
    """Return the stream of a model, if the model is the latest."""
    assert model.update_state is not None
    stream = model.update_state.stream
    assert stream is not None
    if stream.learned.n_rows != model.fingerprint.n_rows:
        msg = "this model is older than its stream, which learned further rows"
        raise ParameterError(msg, remedy="use the latest model")
    return stream


def _make_model(state: UpdateState) -> Model:
    stream = state.stream
    assert stream is not None
    return Model(
        stream.tree(),
        state.recipe,
        stream.fingerprint,
        update_state=state,
        stream_stats=stream.learned,
    )
