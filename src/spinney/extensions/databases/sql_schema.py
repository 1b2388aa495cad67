"""The schema of rows in an engine, from queries for distinct values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlglot import exp

from spinney.data import (
    MAX_UNUSED_VALUES,
    Attribute,
    Column,
    Schema,
    Target,
    TextFormat,
    Value,
    factorise,
    level_order,
    unused_values_note,
)
from spinney.data.duckdb import SqlColumn
from spinney.errors import DataError, Setting, did_you_mean, note
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engines.sql_engine import SqlEngine, texts
from spinney.extensions.databases.grouped import grouped_statements
from spinney.sources.rows.training_rows import NO_TARGET
from spinney.sources.rows.weight_checks import (
    WEIGHTS,
    check_least_weight,
    check_weight_kind,
    zero_weights_error,
)


@dataclass(frozen=True, slots=True)
class TrainingQuery:
    """Attributes, target and weight as expressions over the rows of an engine.

    ``cells`` are by column name. ``complete`` excludes rows with a missing cell.
    """

    engine: SqlEngine
    cells: Mapping[str, exp.Expr]
    attributes: tuple[SqlColumn, ...]
    target: SqlColumn
    weight: SqlColumn | None = None
    complete: bool = False

    def cell(self, column_: SqlColumn) -> exp.Expr:
        """Return the expression of a column's cells."""
        return self.cells[column_.name].copy()

    def over(self, listed: Sequence[exp.Expr]) -> exp.Select:
        """Return a select from the table without conditions."""
        return sql.select(listed, self.engine.rows)

    def select(self) -> exp.Select:
        """Return the select of cells as c0, c1 …, class and weight.

        Rows without class or weight are excluded.
        """
        weight = sql.param(1.0) if self.weight is None else self.cell(self.weight)
        cells = [
            sql.alias(self.cell(described), f"c{index}")
            for index, described in enumerate(self.attributes)
        ]
        cells.append(sql.alias(self.cell(self.target), "class"))
        cells.append(sql.alias(sql.double(weight), "weight"))
        light = exp.GT(this=sql.column("weight"), expression=exp.Literal.number(0))
        conditions = [sql.not_null(sql.column("class")), light]
        if self.complete:
            conditions += [
                sql.not_null(sql.column(f"c{i}")) for i in range(len(self.attributes))
            ]
        return sql.select([exp.Star()], self.over(cells), sql.all_of(conditions))


RawValue = str | float
"""A category as the engine stores it: a text or a number."""


@dataclass(frozen=True, slots=True)
class SeenValues:
    """The distinct values of nominal and ordinal columns, by stored value.

    ``attributes`` are by index.
    """

    attributes: Mapping[int, Mapping[RawValue, Value]]
    target: Mapping[RawValue, Value]


def training_query(
    engine: SqlEngine,
    cells: Mapping[str, exp.Expr],
    columns: Sequence[SqlColumn],
    *,
    target: str,
    weight: str | None,
) -> TrainingQuery:
    """Return the training query: attributes, target and weight by role."""
    by_name = {column.name: column for column in columns}
    if target == NO_TARGET:
        by_name[target] = SqlColumn(target, "nominal", "")
        cells = {**cells, target: sql.text(exp.Literal.string("rows"))}
    for name in (target, weight):
        if name is not None and name not in by_name:
            msg = f"there is no column {name!r}: {did_you_mean(name, by_name)}"
            raise DataError(msg)
    return TrainingQuery(
        engine,
        cells,
        tuple(column for column in columns if column.name not in (target, weight)),
        by_name[target],
        None if weight is None else by_name[weight],
    )


def check_weights(rows: TrainingQuery) -> None:
    """Refuse a weight column with missing, negative or too small weights."""
    if rows.weight is None:
        return
    weight = rows.weight
    check_weight_kind(weight.name, weight.kind)
    positive = exp.GT(this=rows.cell(weight), expression=exp.Literal.number(0))
    least, n_rows, n_known, lightest = rows.engine.fetch_row(
        rows.over(
            [
                exp.Min(this=rows.cell(weight)),
                sql.count_all(),
                exp.Count(this=rows.cell(weight)),
                exp.Min(this=sql.case((positive, rows.cell(weight)))),
            ]
        )
    )
    n_missing = n_rows - n_known
    if n_missing or (least is not None and least < 0):
        problem = f"{n_missing} missing cells" if n_missing else f"the weight {least}"
        raise DataError(
            Setting("weight"), f" {weight.name!r} has {problem}", remedy=WEIGHTS
        )
    if lightest is not None:
        check_least_weight(float(lightest))


def count_classes(rows: TrainingQuery) -> tuple[int, int]:
    """Return the number of rows with a class, and of all rows."""
    labelled = exp.Count(this=rows.cell(rows.target))
    n_labelled, n_rows = rows.engine.fetch_row(rows.over([labelled, sql.count_all()]))
    return int(n_labelled), int(n_rows)


def count_present(rows: TrainingQuery, indices: Sequence[int]) -> list[int]:
    """Return the number of known values of each attribute."""
    if not indices:
        return []
    counts = [exp.Count(this=sql.column(f"c{index}")) for index in indices]
    return list(map(int, rows.engine.fetch_row(sql.select(counts, rows.select()))))


def seen_values(rows: TrainingQuery) -> SeenValues:
    """Return the distinct values of the target and of nominal and ordinal columns."""
    columns = {f"c{index}": column for index, column in enumerate(rows.attributes)}
    columns["class"] = rows.target
    seen: dict[str, dict[RawValue, Value]] = {name: {} for name in columns}
    for numeric in (True, False):
        names = [
            name
            for name, described in columns.items()
            if (described.kind == "numeric" or described.as_number) is numeric
            and (described.kind != "numeric" or name == "class")
        ]
        statements = grouped_statements(
            rows.engine,
            lambda _: rows.select(),
            names,
            value="double" if numeric else "text",
        )
        for statement, group in statements:
            which, _, values = rows.engine.fetch(statement)
            for position, raw in zip(texts(which), texts(values), strict=True):
                name = group[position]
                if raw is not None:
                    seen[name][raw] = cell_value(columns[name], raw)
    target = seen.pop("class")
    if not target:
        if rows.target.name == NO_TARGET:
            raise zero_weights_error(rows.weight.name if rows.weight else None)
        msg = f"target {rows.target.name!r}: every cell is missing, or has no weight"
        raise DataError(msg)
    nominal = {
        index: seen[f"c{index}"]
        for index, described in enumerate(rows.attributes)
        if described.kind != "numeric"
    }
    return SeenValues(nominal, target)


def cell_value(column: SqlColumn, raw: Any) -> Value:
    """Return the value of a fetched cell."""
    if column.kind == "numeric":
        return float(raw)
    if isinstance(raw, str):
        return column.value(raw)
    return int(raw) if float(raw).is_integer() else float(raw)


def target_column(rows: TrainingQuery, seen: SeenValues) -> Column:
    """Return the distinct classes as a column."""
    column, values = rows.target, list(seen.target.values())
    if column.kind == "numeric":
        return Column(column.name, "numeric", np.array(values), unit=column.unit)
    codes, levels = factorise(values)
    return Column(column.name, column.kind, codes, levels)


def schema_of(
    rows: TrainingQuery,
    target: Target,
    seen: SeenValues,
    *,
    markers: tuple[str, ...] = (),
    text_format: TextFormat | None = None,
) -> Schema:
    """Return the schema; nominal values are sorted.

    Values that only an enum type declares are excluded if there are very many of them.
    """
    levels = {
        index: _sorted_values(column, set(seen.attributes[index].values()))
        for index, column in enumerate(rows.attributes)
        if column.kind == "nominal"
    }
    return Schema(
        tuple(
            Attribute(
                column.name, column.kind, levels.get(index, column.levels), column.unit
            )
            for index, column in enumerate(rows.attributes)
        ),
        target,
        markers,
        text_format or TextFormat(),
    )


def _sorted_values(column: SqlColumn, values: set[Value]) -> tuple[Value, ...]:
    declared = values.union(column.levels)
    n_without = len(declared) - len(values)
    if column.of_type and n_without > MAX_UNUSED_VALUES:
        note(unused_values_note(column.name, n_without))
    else:
        values = declared
    return tuple(sorted(values, key=level_order))
