"""A relation of DuckDB as a source: checked, described, ready to be counted."""

from dataclasses import replace

import numpy as np

from spinney._version import __version__
from spinney.data import (
    Declarations,
    Fingerprint,
    Schema,
    Target,
    identifier_warning,
    is_identifier,
)
from spinney.data.readers import OpenRelation
from spinney.errors import DataError, warn
from spinney.sources.base import Source
from spinney.sources.rows.training_rows import (
    as_target,
    check_classes,
    check_counts,
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
) -> tuple[Source, Fingerprint]:
    """Return a relation as a source, and what tells its rows from others."""
    rows = rows_of(engine, opened.columns, target, weight)
    check_weights(engine, rows)
    _check_known_classes(engine, rows)
    classes, _ = as_target(
        target_column(engine, rows), numeric=target in declared.numeric
    )
    if classes.is_numeric:
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
