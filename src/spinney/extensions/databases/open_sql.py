"""Open the rows of an engine: check, describe and encode them as a source."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np
from sqlglot import exp

from spinney.data import (
    REMOTE_ISSUES,
    Declarations,
    IntegerSummary,
    IssueFacts,
    Schema,
    TextFormat,
    Value,
    column_warnings,
    exclude_identifiers,
    level_order,
    target_note,
)
from spinney.data.duckdb import SqlColumn, selected
from spinney.data.readers import OpenRelation
from spinney.errors import DataError, note, warn
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.caching_source import CachingSource
from spinney.extensions.databases.engines.duckdb_engine import DuckDBEngine
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.hashed_table import HashedTable
from spinney.extensions.databases.query_results import FetchedRows, rows_query
from spinney.extensions.databases.row_hash import (
    cell_names,
    sampleable_rows,
    sampled_rows,
)
from spinney.extensions.databases.sql_formula import finite
from spinney.extensions.databases.sql_schema import (
    RawValue,
    SeenValues,
    TrainingQuery,
    check_weights,
    count_classes,
    count_present,
    schema_of,
    seen_values,
    target_column,
    training_query,
)
from spinney.extensions.databases.sql_source import SqlSource
from spinney.sources.base import Totals
from spinney.sources.rows.incomplete_rows import note_incomplete
from spinney.sources.rows.row_hashing import sample_fraction
from spinney.sources.rows.sampleable_rows import (
    ColumnRoles,
    HashedTrainingSet,
    RemoteData,
    RemoteOptions,
    check_reserved_fraction,
    max_rows_in_memory,
)
from spinney.sources.rows.training_rows import (
    NO_TARGET,
    NumberFacts,
    TrainingSet,
    as_target,
    check_classes,
    check_numbers,
    check_texts,
    missing_targets_warning,
)


@contextmanager
def rows_in_duckdb(
    opened: OpenRelation, roles: ColumnRoles, options: RemoteOptions
) -> Iterator[RemoteData]:
    """Yield the training data of a DuckDB relation."""
    relation = selected(opened.relation, opened.columns)
    cells = {
        described.name: sql.column(name)
        for described, name in zip(opened.columns, relation.columns, strict=True)
    }
    with DuckDBEngine(relation, opened.connection) as engine:
        yield rows_in_engine(
            engine,
            cells,
            opened.columns,
            roles,
            options,
            markers=opened.markers,
            text_format=opened.text_format,
            has_types=opened.has_types,
        )


def rows_in_engine(
    engine: SqlEngine,
    cells: Mapping[str, exp.Expr],
    columns: Sequence[SqlColumn],
    roles: ColumnRoles,
    options: RemoteOptions,
    *,
    markers: tuple[str, ...] = (),
    text_format: TextFormat | None = None,
    has_types: bool = True,
) -> RemoteData:
    """Return the training data of an engine, counted there or fetched.

    ``has_types`` is False for text files, whose cells have no types.
    """
    engine.budget = options.budget
    clean = training_query(
        engine, cells, columns, target=roles.target, weight=roles.weight
    )
    check_weights(clean)
    n_known = _count_labelled_rows(clean)
    if not roles.identifiers:
        clean = _without_identifiers(clean, roles.declared, has_types=has_types)
    if roles.complete:
        _note_incomplete(clean)
        clean = replace(clean, complete=True)
    seen = seen_values(clean)
    target = target_column(clean, seen)
    if reading := target_note(target, roles.declared):
        note(reading, of_reading=False)
    numeric = roles.declared.kind(roles.target) == "numeric"
    classes, _ = as_target(target, numeric=numeric)
    if classes.is_numeric:
        classes = replace(
            classes, origin=_target_origin(clean, from_zero=roles.from_zero)
        )
    schema = schema_of(clean, classes, seen, markers=markers, text_format=text_format)
    coded, max_rows = (
        encoded_query(clean, schema, seen),
        max_rows_in_memory(options.max_bytes, schema),
    )
    reserved = None
    if n_known > max_rows:
        engine.prepare_storage(n_known, schema.n_columns + 1)
    fraction = options.share(n_known, classes)
    if fraction is not None:
        coded, reserved = _reserve_validation_rows(
            engine, coded, schema, fraction, options
        )
        n_known -= len(reserved.classes)
        max_rows -= len(reserved.classes)  # the tables last until the tree is grown
    if n_known <= max_rows:
        data, totals = _fetch_rows(engine, coded, schema, options)
    elif options.sampleable:
        base = _store_with_hashes(engine, coded, schema, options.seed)
        rows = HashedTable(engine, base, schema, max_rows)
        totals = rows.root()
        data = RemoteData(totals.fingerprint(), rows.source, sampleable=rows)
    else:
        weighed = roles.weight is not None
        names = ["class", *(f"a{index}" for index in range(schema.n_columns))]
        names = ["node", *(["weight"] if weighed else []), *names]
        base = engine.store(sql.select(map(sql.column, names), coded))
        counted = SqlSource(engine, base, schema, has_weights=weighed)
        source = CachingSource(counted, max_rows) if max_rows else counted
        totals = source.root()
        data = RemoteData(totals.fingerprint(), source)
    if not classes.is_numeric and roles.target != NO_TARGET:
        n_rows = totals.n_rows
        check_classes(classes, np.flatnonzero(totals.rows), n_rows)
    for attribute in schema.attributes:
        check_texts(attribute.name, attribute.values)
    _warn_of_columns(clean, schema, roles.declared, has_types=has_types)
    return replace(data, reserved=reserved)


def _fetch_rows(
    engine: SqlEngine, coded: exp.Select, schema: Schema, options: RemoteOptions
) -> tuple[RemoteData, Totals]:
    """Return rows that fit in memory, fetched, and their totals."""
    lines = FetchedRows.read(engine.fetch(rows_query(coded, schema)), schema)
    training = lines.training(schema)
    totals = training.source().root()
    origin = totals.fingerprint()
    hashed = HashedTrainingSet(training, origin) if options.sampleable else None
    return RemoteData(origin, training=training, sampleable=hashed), totals


def _store_with_hashes(
    engine: SqlEngine, coded: exp.Select, schema: Schema, seed: int
) -> str:
    """Store the encoded rows with their hashes; return the table's name."""
    plain = engine.store(coded)
    base = engine.store(sampleable_rows(engine, plain, schema, seed=seed))
    engine.drop([plain])
    return base


def _reserve_validation_rows(
    engine: SqlEngine,
    coded: exp.Select,
    schema: Schema,
    fraction: float,
    options: RemoteOptions,
) -> tuple[exp.Select, TrainingSet]:
    """Return a select of the training rows, and the reserved validation rows."""
    base = _store_with_hashes(engine, coded, schema, options.seed)
    sample, names = sample_fraction(fraction), cell_names(schema)
    lines, rest = (
        sql.select(map(sql.column, names), sampled_rows(sql.table(base), names, [each]))
        for each in (sample, sample.complement)
    )
    (n_reserved,) = engine.fetch_row(sql.select([sql.count_all()], lines.copy()))
    (n_rest,) = engine.fetch_row(sql.select([sql.count_all()], rest.copy()))
    max_rows = max_rows_in_memory(options.max_bytes, schema)
    check_reserved_fraction(fraction, n_reserved, n_reserved + n_rest, max_rows)
    reserved = FetchedRows.read(engine.fetch(rows_query(lines, schema)), schema)
    return rest, reserved.training(schema)


def _without_identifiers(
    rows: TrainingQuery, declared: Declarations, *, has_types: bool
) -> TrainingQuery:
    """Return rows without identifier columns; report the excluded columns.

    The same columns are excluded in memory.
    """
    values_by_raw = seen_values(rows).attributes
    values = {
        index: sorted(set(values_by_raw[index].values()), key=level_order)
        for index, described in enumerate(rows.attributes)
        if described.kind == "nominal" and declared.kind(described.name) is None
    }
    names = exclude_identifiers(
        _issue_facts(rows, values, declared, has_types=has_types)
    )
    attributes = tuple(
        described for described in rows.attributes if described.name not in names
    )
    return replace(rows, attributes=attributes)


def _warn_of_columns(
    rows: TrainingQuery, schema: Schema, declared: Declarations, *, has_types: bool
) -> None:
    """Warn of identifier-like columns and unparsable texts, as in memory."""
    values = {
        index: attribute.values
        for index, attribute in enumerate(schema.attributes)
        if attribute.kind == "nominal" and not rows.attributes[index].levels
    }
    facts = _issue_facts(rows, values, declared, has_types=has_types)
    for warning in column_warnings(facts, REMOTE_ISSUES):
        warn(*warning.args, remedy=warning.remedy)


def _issue_facts(
    rows: TrainingQuery,
    values: Mapping[int, Sequence[Value]],
    declared: Declarations,
    *,
    has_types: bool,
) -> list[IssueFacts]:
    """Return the facts about columns that have values."""
    known = dict(zip(values, count_present(rows, [*values]), strict=True))
    return [
        IssueFacts(
            described.name,
            described.kind,
            described.unit,
            declared,
            values.get(index, ()),
            known.get(index, 0),
            partial(_integer_summary, rows, index),
            is_alone=len(rows.attributes) < 2,
            has_types=has_types,
            parses_text=not has_types,
        )
        for index, described in enumerate(rows.attributes)
    ]


def _integer_summary(rows: TrainingQuery, index: int) -> IntegerSummary | None:
    """Return the counts of an attribute's numbers; None unless all are integers."""
    number = partial(sql.column, f"c{index}")
    is_whole = exp.EQ(this=number(), expression=exp.Floor(this=number()))
    different = exp.Count(this=exp.Distinct(expressions=[number()]))
    aggregates = [
        sql.count_all(),
        exp.Count(this=number()),
        different,
        exp.Min(this=number()),
        exp.Max(this=number()),
        exp.Count(this=sql.case((is_whole, sql.integer(1)))),
    ]
    *facts, n_whole = rows.engine.fetch_row(sql.select(aggregates, rows.select()))
    n_known = facts[1]
    return IntegerSummary(*facts) if n_known and n_whole == n_known else None


def _count_labelled_rows(rows: TrainingQuery) -> int:
    """Return the number of rows with a class; report the others; require rows."""
    known, n_rows = count_classes(rows)
    if not n_rows:
        msg = "the table has no rows: give it at least two"
        raise DataError(msg)
    if 0 < known < n_rows:
        warn(missing_targets_warning(rows.target.name, n_rows - known, n_rows))
    return known


def _note_incomplete(rows: TrainingQuery) -> None:
    """Report the number of incomplete rows; refuse a table without complete rows."""
    names = [column.name for column in rows.attributes]
    known = count_present(rows, range(len(names)))
    total = [sql.count_all(), sql.total(sql.column("weight"))]
    n_rows, weight = rows.engine.fetch_row(sql.select(total, rows.select()))
    complete = replace(rows, complete=True).select()
    n_complete, complete_weight = rows.engine.fetch_row(
        sql.select([t.copy() for t in total], complete)
    )
    lacking = {name: n_rows - n for name, n in zip(names, known, strict=True)}
    weighs = 0.0 if rows.weight is None else (weight or 0.0) - (complete_weight or 0.0)
    note_incomplete(n_rows - n_complete, n_rows, lacking, weight=weighs)


def _target_origin(rows: TrainingQuery, *, from_zero: bool) -> float:
    """Return a number near the target's mean; an integer if all targets are."""
    number, weight = partial(sql.column, "class"), partial(sql.column, "weight")
    is_whole = exp.EQ(this=number(), expression=exp.Floor(this=number()))
    total, size, n_rows, n_whole, n_finite, least, greatest, largest = (
        rows.engine.fetch_row(
            sql.select(
                [
                    sql.total(sql.product(number(), weight())),
                    sql.total(weight()),
                    sql.count_all(),
                    exp.Count(this=sql.case((is_whole, sql.integer(1)))),
                    exp.Count(this=sql.case((finite(number()), sql.integer(1)))),
                    exp.Min(this=number()),
                    exp.Max(this=number()),
                    exp.Max(this=exp.Abs(this=number())),
                ],
                rows.select(),
            )
        )
    )
    facts = NumberFacts(
        n_rows, n_finite == n_rows, least, largest, least == greatest, size
    )
    check_numbers(rows.target.name, facts, from_zero=from_zero)
    if from_zero:
        return 0.0
    mean = total / size
    return float(np.rint(mean)) if n_whole == n_rows else float(mean)


MAX_COMPARED = 12
"""The maximum number of values in one CASE."""


def encoded_query(rows: TrainingQuery, schema: Schema, seen: SeenValues) -> exp.Select:
    """Return the select of node, weight, class, a0, a1, … with codes for categories."""
    coded: dict[str, dict[RawValue, int]] = {}
    for index, attribute in enumerate(schema.attributes):
        if attribute.kind != "numeric":
            codes = {value: code for code, value in enumerate(attribute.values)}
            coded[f"c{index}"] = _codes_by_raw_value(seen.attributes[index], codes)
    if not schema.target.is_numeric:
        classes = {value: code for code, value in enumerate(schema.target.classes)}
        coded["class"] = _codes_by_raw_value(seen.target, classes)
    many = sorted(
        (name for name, codes in coded.items() if len(codes) > MAX_COMPARED),
        key=lambda name: -len(coded[name]),
    )
    joined = many[: rows.engine.max_joins]
    listed = [sql.alias(sql.integer(0), "node"), sql.column("weight")]
    names = {"class": "class", **{f"c{i}": f"a{i}" for i in range(schema.n_columns)}}
    for name, new_name in names.items():
        cell: exp.Expr = sql.column(name)
        if name in joined:
            cell = sql.column("code", f"codes of {name}")
        elif name in coded:
            whens = (
                (sql.param(raw), sql.integer(code)) for raw, code in coded[name].items()
            )
            cell = sql.case(*whens, subject=cell) if coded[name] else exp.Null()
        if name in coded:
            kind = rows.engine.integer_type(0, len(coded[name]))
            cell = exp.Cast(this=cell, to=kind)
        elif new_name == "class":
            cell = sql.double(cell)
        listed.append(sql.alias(cell, new_name))
    has_class = sql.not_null(sql.column("class")) if "class" not in joined else None
    query = sql.select(listed, rows.select(), has_class)
    for name in joined:
        alias = f"codes of {name}"
        lines = [
            (sql.param(raw), sql.integer(code)) for raw, code in coded[name].items()
        ]
        codes_table = rows.engine.values(lines, ("raw", "code"), alias)
        equal = exp.EQ(this=sql.column("raw", alias), expression=sql.column(name))
        join = exp.Join(this=codes_table, side="LEFT", on=equal)
        query.append("joins", join)
    return query


def _codes_by_raw_value(
    seen: Mapping[RawValue, Value], codes: Mapping[Value, int]
) -> dict[RawValue, int]:
    return {raw: codes[value] for raw, value in seen.items() if value in codes}
