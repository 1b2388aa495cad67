"""The schema of rows in DuckDB, found by asking for distinct values."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney.data import (
    MOST_WITHOUT_ROWS,
    Attribute,
    Column,
    Notation,
    Schema,
    Target,
    Value,
    factorise,
    left_out,
    level_order,
)
from spinney.data.duckdb import SqlColumn
from spinney.errors import DataError, Setting, did_you_mean, note
from spinney.sources.rows.training_rows import WEIGHTS, check_least, check_weight_kind
from spinney.sources.sql.sql_engine import Engine, SqlRows


def rows_of(
    engine: Engine, columns: Sequence[SqlColumn], target: str, weight: str | None
) -> SqlRows:
    """Tell the attributes from the target and the weight."""
    by_name = {column.name: column for column in columns}
    for name in (target, weight):
        if name is not None and name not in by_name:
            msg = f"there is no column {name!r}: {did_you_mean(name, by_name)}"
            raise DataError(msg)
    return SqlRows(
        engine.name,
        tuple(column for column in columns if column.name not in (target, weight)),
        by_name[target],
        None if weight is None else by_name[weight],
    )


def check_weights(engine: Engine, rows: SqlRows) -> None:
    """Refuse a weight column with missing or negative rows, or too light ones."""
    if rows.weight is None:
        return
    column = rows.weight
    check_weight_kind(column.name, column.kind)
    cell = column.expression
    statement = (
        f"SELECT min({cell}), count(*) - count({cell}), "
        f"min({cell}) FILTER ({cell} > 0) FROM {engine.name}"
    )
    ((least, absent, lightest),) = engine.fetch(statement)
    if absent or (least is not None and least < 0):
        odd = f"{absent} missing cells" if absent else f"the weight {least}"
        raise DataError(
            Setting("weight"), f" {column.name!r} has {odd}", remedy=WEIGHTS
        )
    if lightest is not None:
        check_least(float(lightest))


def count_classes(engine: Engine, rows: SqlRows) -> tuple[int, int]:
    """Return how many rows have a class, and how many there are."""
    statement = f"SELECT count({rows.target.expression}), count(*) FROM {engine.name}"
    ((known, n_rows),) = engine.fetch(statement)
    return int(known), int(n_rows)


def count_known(engine: Engine, rows: SqlRows, indices: Sequence[int]) -> list[int]:
    """Return how many rows have a value, for each attribute at these places."""
    if not indices:
        return []
    wanted = ", ".join(f"count(a{index})" for index in indices)
    (counts,) = engine.fetch(f"SELECT {wanted} FROM ({rows.select()})")
    return [int(number) for number in counts]


def target_column(engine: Engine, rows: SqlRows) -> Column:
    """Return the distinct classes as a column."""
    answer = engine.fetch(f"SELECT DISTINCT class FROM ({rows.select()})")
    if not answer:
        msg = f"target {rows.target.name!r}: every cell is missing, or has no weight"
        raise DataError(msg)
    column = rows.target
    if column.kind == "numeric":
        numbers = np.array([float(value) for (value,) in answer])
        return Column(column.name, "numeric", numbers, unit=column.unit)
    codes, levels = factorise([column.value(value) for (value,) in answer])
    return Column(column.name, column.kind, codes, levels)


def schema_of(
    engine: Engine,
    rows: SqlRows,
    target: Target,
    *,
    markers: tuple[str, ...] = (),
    notation: Notation | None = None,
) -> Schema:
    """Return the schema: nominal values are those that occur or are declared, sorted.

    Of values that types declare, those of which very many have no row are left out.
    """
    nominal = [
        index
        for index, column in enumerate(rows.attributes)
        if column.kind == "nominal"
    ]
    levels: dict[int, tuple[Value, ...]] = {}
    if nominal:
        wanted = ", ".join(f"list(DISTINCT a{index})" for index in nominal)
        (answer,) = engine.fetch(f"SELECT {wanted} FROM ({rows.select()})")
        for index, texts in zip(nominal, answer, strict=True):
            levels[index] = _sorted(rows.attributes[index], texts or ())
    return Schema(
        tuple(
            Attribute(
                column.name, column.kind, levels.get(index, column.levels), column.unit
            )
            for index, column in enumerate(rows.attributes)
        ),
        target,
        markers,
        notation or Notation(),
    )


def _sorted(column: SqlColumn, texts: Sequence[Any]) -> tuple[Value, ...]:
    values = {column.value(text) for text in texts if text is not None}
    declared = values.union(column.levels)
    n_without = len(declared) - len(values)
    if column.of_type and n_without > MOST_WITHOUT_ROWS:
        note(left_out(column.name, n_without))
    else:
        values = declared
    return tuple(sorted(values, key=level_order))
