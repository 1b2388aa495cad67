"""From a table to a model: read, code, grow."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from spinney._support.checks import check_named
from spinney._version import __version__
from spinney.combine import without_unused
from spinney.construct import grow_with_construction
from spinney.data import OpenRelation, opened_relation, read_table
from spinney.data.column_warnings import identifier_warning, is_identifier
from spinney.data.declarations import Declarations
from spinney.data.duckdb.columns import is_relation
from spinney.data.fingerprint import Fingerprint
from spinney.data.schema import Schema, Target
from spinney.errors import DataError, ParameterError, warn
from spinney.lessons import Lesson
from spinney.model import Model
from spinney.model_trees import with_models
from spinney.options import options_of
from spinney.prune import Pruned, Steps, pruned_after_growing
from spinney.recipes import RECIPES, Recipe, default_recipe, recipe_named, suited
from spinney.sources.base import Source
from spinney.sources.sql import SqlSource
from spinney.sources.sql_engine import Engine, SqlRows
from spinney.sources.sql_schema import (
    check_weights,
    count_classes,
    count_known,
    rows_of,
    schema_of,
    target_column,
)
from spinney.swift import grow_and_prune_swiftly, grow_swiftly, suits
from spinney.table_training import rows_in_memory
from spinney.training import (
    TrainingSet,
    as_target,
    check_classes,
    check_counts,
    check_numbers,
    check_roles,
    check_texts,
    missing_classes,
)

__all__ = ["SOURCES", "grow_from", "grow_model"]

SOURCES = ("memory", "duckdb")


def grow_model(
    source: Source,
    fingerprint: Fingerprint,
    *,
    recipe: Recipe,
    training: TrainingSet | None = None,
    **said: Any,
) -> Model:
    """Grow over a source, prune as the recipe says, and give leaves their models.

    What is said beside the recipe is for ``options_of``. ``training`` are the rows
    of the source, where they are at hand.
    """
    numeric = source.schema.target.is_numeric
    recipe.refuse_target(numeric=numeric)
    recipe = suited(recipe, numeric=numeric)
    options = options_of(source, recipe=recipe, **said)
    lesson: Lesson | None = None
    result: Pruned | None = None
    if recipe.needs_rows:
        if training is None:
            raise _no_rows(recipe)
        lesson = Lesson(training, recipe, options)
        tree = lesson.grow()
    elif training is not None and suits(training, recipe, options):
        result = grow_and_prune_swiftly(training, recipe)
        tree = grow_swiftly(training, recipe) if result is None else result.tree
    else:
        tree = grow_with_construction(source, recipe, options)
    if lesson is not None and recipe.pruning == "cost-complexity":
        result = lesson.pruned(tree)
    elif result is None:
        result = pruned_after_growing(
            tree, source, recipe=recipe, class_weights=options.class_weights
        )
    modelled = with_models(result.tree, source, recipe=recipe)
    steps = result.steps
    if modelled.steps:
        steps = Steps((*result.steps, *modelled.steps))
    tree = without_unused(modelled.tree)
    return Model(tree, recipe, fingerprint, steps, result.sequence)


def _no_rows(recipe: Recipe) -> ParameterError:
    """Return the refusal of a recipe that looks at rows, where they stay away."""
    what = "forest" if recipe.forest else "pruning"
    named = RECIPES.get(recipe.name)
    remedy = "take another recipe, such as 'c4.5'"
    if named is not None and not named.needs_rows:
        remedy = f"leave out {what}"
    return ParameterError(
        f"{what}={getattr(recipe, what)!r} (recipe {recipe.name!r}) needs the rows, "
        "and they stay in DuckDB: read them (source='memory', --source memory), or "
        f"{remedy}"
    )


def grow_from(
    data: Any,
    target: str,
    *,
    recipe: str | Recipe | None = None,
    settings: Mapping[str, Any] | None = None,
    declarations: Declarations,
    weight: str | None = None,
    source: str | None = None,
    connection: Any = None,
    format: str | None = None,
    encoding: str = "utf-8",
    **options: Any,
) -> Model:
    """Grow on a table that holds its target; ``options`` are those of grow_model.

    ``settings`` change the recipe. Where it is None, it is the default of the place
    where the rows are counted.
    """
    in_duckdb = _counted_in_duckdb(data, source, connection)
    if recipe is None:
        recipe = default_recipe(rows_at_hand=not in_duckdb)
    recipe = recipe_named(recipe).changed(**(settings or {}))
    check_roles(target, weight, declarations.ignore)
    if in_duckdb:
        with (
            opened_relation(
                data,
                declarations=declarations,
                format=format,
                encoding=encoding,
                connection=connection,
            ) as opened,
            Engine(opened.relation, opened.connection) as engine,
        ):
            rows, origin = _rows_in_duckdb(
                engine, opened, target, weight, recipe, declarations
            )
            return grow_model(rows, origin, recipe=recipe, **options)
    table = read_table(
        data, declarations=declarations, format=format, encoding=encoding
    )
    training = rows_in_memory(table, target, weight, declarations, recipe)
    return grow_model(
        training.source(),
        training.fingerprint(),
        recipe=recipe,
        training=training,
        **options,
    )


def _counted_in_duckdb(data: Any, source: str | None, connection: Any) -> bool:
    if source is not None:
        check_named("source", source, SOURCES)
    here = source == "duckdb" or (source is None and is_relation(data))
    if connection is not None and not (here and is_relation(data)):
        msg = "connection= is that of a DuckDB relation: leave it out for other data"
        raise ParameterError(msg)
    return here


def _rows_in_duckdb(
    engine: Engine,
    opened: OpenRelation,
    target: str,
    weight: str | None,
    recipe: Recipe,
    declared: Declarations,
) -> tuple[Source, Fingerprint]:
    rows = rows_of(engine, opened.columns, target, weight)
    check_weights(engine, rows)
    _check_known_classes(engine, rows)
    classes, _ = as_target(
        target_column(engine, rows), numeric=target in declared.numeric
    )
    if classes.is_numeric:
        from_zero = recipe.measure(numeric=True).from_zero
        origin = _origin_in_duckdb(engine, rows, from_zero=from_zero)
        classes = replace(classes, origin=origin)
    schema = schema_of(engine, rows, classes, markers=opened.markers)
    source = SqlSource(engine, rows, schema)
    totals = source.root()
    n_rows = int(totals.rows.sum())
    if not classes.is_numeric:
        check_classes(classes, np.flatnonzero(totals.rows), n_rows)
    for attribute in schema.attributes:
        check_texts(attribute.name, attribute.values)
    _warn_of_identifiers(engine, rows, schema)
    return source, Fingerprint(n_rows, totals.weight, "", __version__)


def _warn_of_identifiers(engine: Engine, rows: SqlRows, schema: Schema) -> None:
    nominal = [
        place for place, a in enumerate(schema.attributes) if a.kind == "nominal"
    ]
    known = count_known(engine, rows, nominal)
    for place, n_cells in zip(nominal, known, strict=True):
        attribute = schema.attributes[place]
        if is_identifier(attribute.values, n_cells):
            n_values = len(attribute.values)
            warn(identifier_warning(attribute.name, n_values, n_cells))


def _check_known_classes(engine: Engine, rows: SqlRows) -> None:
    """Say how many rows have no class; refuse a table without rows."""
    known, n_rows = count_classes(engine, rows)
    if not n_rows:
        msg = "the table has no rows: give it at least two"
        raise DataError(msg)
    if 0 < known < n_rows:
        warn(missing_classes(rows.target.name, n_rows - known, n_rows))


def _origin_in_duckdb(engine: Engine, rows: SqlRows, *, from_zero: bool) -> float:
    """Return a number near the target's mean; a whole one where all are whole."""
    statement = (
        "SELECT sum(class * weight) / sum(weight), bool_and(class = floor(class)), "
        "bool_and(isfinite(class)), max(abs(class)), min(class) = max(class), "
        f"count(*), min(class), sum(weight) FROM ({rows.select()})"
    )
    ((mean, whole, *facts),) = engine.fetch(statement)
    finite, largest, constant, n_rows, least, weight = facts
    probe = [0.0 if finite else np.inf, float(largest if finite else 0)]
    if n_rows == 1:
        probe = [0.0]
    elif constant:
        probe = [float(largest)] * 2
    target = Target(rows.target.name, origin=0.0)
    check_numbers(target, np.array(probe), weight=float(weight))
    if from_zero:
        check_counts(rows.target.name, float(least))
        return 0.0
    return float(np.rint(mean)) if whole else float(mean)
