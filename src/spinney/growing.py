"""From a table to a model: read, code, grow."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spinney._version import __version__
from spinney.counts import Floats
from spinney.declare import Declarations
from spinney.errors import DataError, ParameterError, SpinneyWarning, did_you_mean
from spinney.files import OpenRelation, opened_relation, read_table, table_warnings
from spinney.learner import grow_tree
from spinney.model import Fingerprint, Model
from spinney.options import options_of
from spinney.recipe import Recipe
from spinney.sources.base import Source
from spinney.sources.sql import Cells, Engine, SqlSource
from spinney.sources.sql_schema import (
    cells_of,
    check_weights,
    count_classes,
    schema_of,
    target_column,
)
from spinney.table import Column, Table, Value
from spinney.training import (
    as_classes,
    check_classes,
    check_names,
    check_target,
    check_texts,
    missing_classes,
    training_set,
)

__all__ = ["SOURCES", "grow_from", "grow_model"]

SOURCES = ("memory", "duckdb")


def grow_model(
    source: Source,
    fingerprint: Fingerprint,
    *,
    recipe: Recipe,
    class_weight: Mapping[Value, float] | str | None = None,
    ties: Sequence[str] | None = None,
    force: Mapping[Any, str] | None = None,
) -> Model:
    """Grow over a source."""
    options = options_of(
        source, recipe=recipe, class_weight=class_weight, ties=ties, force=force
    )
    return Model(grow_tree(source, recipe, options), recipe, fingerprint)


def grow_from(
    data: Any,
    target: str,
    *,
    recipe: Recipe,
    declarations: Declarations,
    weight: str | None = None,
    source: str | None = None,
    connection: Any = None,
    format: str | None = None,
    encoding: str = "utf-8",
    **options: Any,
) -> Model:
    """Grow on a table that holds its target; ``options`` are those of grow_model."""
    check_names(target, weight, declarations.ignore)
    if _counted_in_duckdb(data, source):
        with opened_relation(
            data,
            declarations=declarations,
            format=format,
            encoding=encoding,
            connection=connection,
        ) as opened:
            rows, origin = _rows_in_duckdb(opened, target, weight)
            return grow_model(rows, origin, recipe=recipe, **options)
    table = read_table(
        data, declarations=declarations, format=format, encoding=encoding
    )
    rows, origin = _rows_in_memory(table, target, weight, declarations)
    return grow_model(rows, origin, recipe=recipe, **options)


def _counted_in_duckdb(data: Any, source: str | None) -> bool:
    if source is None:
        return type(data).__name__ == "DuckDBPyRelation"
    if source not in SOURCES:
        msg = f"source={source!r} is unknown: {did_you_mean(str(source), SOURCES)}"
        raise ParameterError(msg)
    return source == "duckdb"


def _rows_in_memory(
    table: Table, target: str, weight: str | None, declared: Declarations
) -> tuple[Source, Fingerprint]:
    column = check_target(table, target)
    weights = None
    if weight is not None:
        weights = _weights(table[weight])
        table, weights = table.take(weights > 0), weights[weights > 0]
        column = table[target]
    classes, codes = as_classes(column)
    attributes = table.without((target, weight or ""))
    for warning in table_warnings(attributes, declared):
        warnings.warn(warning, SpinneyWarning, stacklevel=5)
    training = training_set(
        attributes, classes, classes=codes, weights=weights, markers=declared.missing
    )
    return training.source(), training.fingerprint()


def _weights(column: Column) -> Floats:
    """Return the cells of a weight column, or say why they cannot be weights."""
    if column.kind != "numeric":
        msg = f"weight {column.name!r} is {column.kind}: weights must be numbers"
        raise DataError(msg)
    odd = np.flatnonzero(~(column.cells >= 0))
    if len(odd):
        cell = column.cells[odd[0]]
        found = "a missing cell" if np.isnan(cell) else f"the weight {cell:g}"
        msg = (
            f"weight {column.name!r} has {found} in row {odd[0] + 1}: weights must be "
            "0 or greater"
        )
        raise DataError(msg)
    return np.asarray(column.cells, dtype=np.float64)


def _rows_in_duckdb(
    opened: OpenRelation, target: str, weight: str | None
) -> tuple[Source, Fingerprint]:
    engine = Engine(opened.relation, opened.connection)
    cells = cells_of(opened.columns, target, weight)
    check_weights(engine, cells)
    _warn_of_missing_classes(engine, cells)
    classes, _ = as_classes(target_column(engine, cells))
    schema = schema_of(engine, cells, classes, markers=opened.markers)
    for attribute in schema.attributes:
        check_texts(attribute.name, attribute.values)
    source = SqlSource(engine, cells, schema)
    totals = source.root()
    n_rows = int(totals.rows.sum())
    check_classes(classes, np.flatnonzero(totals.rows), n_rows)
    origin = Fingerprint(n_rows, float(totals.weights.sum()), "", __version__)
    return source, origin


def _warn_of_missing_classes(engine: Engine, cells: Cells) -> None:
    """Say how many rows are left out because they have no class."""
    known, n_rows = count_classes(engine, cells)
    if not n_rows:
        msg = "the table has no rows: give it at least two"
        raise DataError(msg)
    if 0 < known < n_rows:
        msg = missing_classes(cells.target.name, n_rows - known, n_rows)
        warnings.warn(msg, SpinneyWarning, stacklevel=5)
