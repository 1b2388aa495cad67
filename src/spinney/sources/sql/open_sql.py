"""A relation of DuckDB as a source: checked, described, ready to be counted."""

from dataclasses import replace

import numpy as np

from spinney.data import (
    Declarations,
    Fingerprint,
    Schema,
    fingerprint_of,
    identifier_warning,
    is_identifier,
    target_note,
)
from spinney.data.readers import OpenRelation
from spinney.errors import DataError, note, warn
from spinney.sources.base import Source
from spinney.sources.rows.incomplete_rows import note_incomplete
from spinney.sources.rows.training_rows import (
    NumberFacts,
    as_target,
    check_classes,
    check_numbers,
    check_texts,
    missing_classes,
)
from spinney.sources.sql.sql_engine import Engine, SqlRows
from spinney.sources.sql.sql_schema import (
    check_weights,
    count_classes,
    count_known,
    rows_of,
    schema_of,
    target_column,
)
from spinney.sources.sql.sql_source import SqlSource


def source_in_duckdb(
    engine: Engine,
    opened: OpenRelation,
    target: str,
    weight: str | None,
    declared: Declarations,
    *,
    from_zero: bool,
    complete: bool = False,
) -> tuple[Source, Fingerprint]:
    """Return a relation as a source, and what tells its rows from others.

    ``complete`` leaves out rows that lack a cell.
    """
    rows = rows_of(engine, opened.columns, target, weight)
    check_weights(engine, rows)
    _check_known_classes(engine, rows)
    if complete:
        _note_incomplete(engine, rows)
        rows = replace(rows, complete=True)
    column = target_column(engine, rows)
    if reading := target_note(column, declared):
        note(reading, of_reading=False)
    classes, _ = as_target(column, numeric=target in declared.numeric)
    if classes.is_numeric:
        origin = _origin_in_duckdb(engine, rows, from_zero=from_zero)
        classes = replace(classes, origin=origin)
    schema = schema_of(
        engine, rows, classes, markers=opened.markers, notation=opened.notation
    )
    source = SqlSource(engine, rows, schema)
    totals = source.root()
    n_rows = int(totals.rows.sum())
    if not classes.is_numeric:
        check_classes(classes, np.flatnonzero(totals.rows), n_rows)
    for attribute in schema.attributes:
        check_texts(attribute.name, attribute.values)
    _warn_of_identifiers(engine, rows, schema)
    return source, fingerprint_of(n_rows, totals.weight)


def _warn_of_identifiers(engine: Engine, rows: SqlRows, schema: Schema) -> None:
    nominal = [
        index
        for index, a in enumerate(schema.attributes)
        if a.kind == "nominal" and not rows.attributes[index].levels
    ]
    known = count_known(engine, rows, nominal)
    for index, n_cells in zip(nominal, known, strict=True):
        attribute = schema.attributes[index]
        if is_identifier(attribute.values, n_cells):
            n_values = len(attribute.values)
            warning = identifier_warning(attribute.name, n_values, n_cells)
            warn(*warning.args, remedy=warning.remedy)


def _check_known_classes(engine: Engine, rows: SqlRows) -> None:
    """Say how many rows have no class; refuse a table without rows."""
    known, n_rows = count_classes(engine, rows)
    if not n_rows:
        msg = "the table has no rows: give it at least two"
        raise DataError(msg)
    if 0 < known < n_rows:
        warn(missing_classes(rows.target.name, n_rows - known, n_rows))


def _note_incomplete(engine: Engine, rows: SqlRows) -> None:
    """Tell how many rows lack a cell; refuse if all of them do."""
    names = [column.name for column in rows.attributes]
    known = count_known(engine, rows, range(len(names)))
    whole = replace(rows, complete=True).select()
    count = "SELECT count(*), sum(weight) FROM"
    ((n_rows, weight),) = engine.fetch(f"{count} ({rows.select()})")
    ((n_left, left),) = engine.fetch(f"{count} ({whole})")
    lacking = {name: n_rows - n for name, n in zip(names, known, strict=True)}
    weighs = 0.0 if rows.weight is None else (weight or 0.0) - (left or 0.0)
    note_incomplete(n_rows - n_left, n_rows, lacking, weight=weighs)


def _origin_in_duckdb(engine: Engine, rows: SqlRows, *, from_zero: bool) -> float:
    """Return a number near the target's mean; a whole one where all are whole."""
    statement = (
        "SELECT sum(class * weight) / sum(weight), bool_and(class = floor(class)), "
        "count(*), bool_and(isfinite(class)), min(class), max(abs(class)), "
        f"min(class) = max(class), sum(weight) FROM ({rows.select()})"
    )
    ((mean, whole, *facts),) = engine.fetch(statement)
    check_numbers(rows.target.name, NumberFacts(*facts), from_zero=from_zero)
    if from_zero:
        return 0.0
    return float(np.rint(mean)) if whole else float(mean)
