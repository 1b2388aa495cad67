"""Rows of an engine as a source: checked, described, coded, ready to be counted."""

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
from spinney.extensions.databases.caching_source import CachingSource
from spinney.extensions.databases.engines.duckdb_engine import DuckDBEngine
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.expressions import (
    bound,
    case,
    column,
    count_all,
    double,
    known,
    named,
    product,
    select,
    summed_up,
    table,
    whole,
)
from spinney.extensions.databases.hashed_table import HashedTable
from spinney.extensions.databases.query_results import FetchedRows, rows_query
from spinney.extensions.databases.row_hash import (
    cells_of,
    sampleable_rows,
    sampled_rows,
)
from spinney.extensions.databases.sql_formula import finite
from spinney.extensions.databases.sql_schema import (
    Raw,
    SeenValues,
    TrainingQuery,
    check_weights,
    count_classes,
    count_known,
    rows_of,
    schema_of,
    seen_values,
    target_column,
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
    max_rows_in_bytes,
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
    opened: OpenRelation, roles: ColumnRoles, wanted: RemoteOptions
) -> Iterator[RemoteData]:
    """Give the rows of a relation."""
    relation = selected(opened.relation, opened.columns)
    cells = {
        each.name: column(name)
        for each, name in zip(opened.columns, relation.columns, strict=True)
    }
    with DuckDBEngine(relation, opened.connection) as engine:
        yield rows_in_engine(
            engine,
            cells,
            opened.columns,
            roles,
            wanted,
            markers=opened.markers,
            text_format=opened.text_format,
            has_types=opened.has_types,
        )


def rows_in_engine(
    engine: SqlEngine,
    cells: Mapping[str, exp.Expr],
    columns: Sequence[SqlColumn],
    roles: ColumnRoles,
    wanted: RemoteOptions,
    *,
    markers: tuple[str, ...] = (),
    text_format: TextFormat | None = None,
    has_types: bool = True,
) -> RemoteData:
    """Return the rows of an engine, counted there or read once.

    ``has_types`` says that cells have types, as all but those of text files do.
    """
    engine.budget = wanted.budget
    clean = rows_of(engine, cells, columns, target=roles.target, weight=roles.weight)
    check_weights(clean)
    n_known = _check_known_classes(clean)
    if not roles.identifiers:
        clean = _without_identifiers(clean, roles.declared, has_types=has_types)
    if roles.complete:
        _note_incomplete(clean)
        clean = replace(clean, complete=True)
    seen = seen_values(clean)
    target = target_column(clean, seen)
    if reading := target_note(target, roles.declared):
        note(reading, of_reading=False)
    numeric = roles.target in roles.declared.numeric
    classes, _ = as_target(target, numeric=numeric)
    if classes.is_numeric:
        classes = replace(classes, origin=_origin(clean, from_zero=roles.from_zero))
    schema = schema_of(clean, classes, seen, markers=markers, text_format=text_format)
    coded, most = (
        coded_rows(clean, schema, seen),
        max_rows_in_bytes(wanted.room, schema),
    )
    reserved = None
    if n_known > most:
        engine.expect(n_known, schema.n_columns + 1)
    share = wanted.share(n_known, classes)
    if share is not None:
        coded, reserved = _reserve(engine, coded, schema, share, wanted)
        n_known -= len(reserved.classes)
        most -= len(reserved.classes)  # they stay for as long as the tree grows
    if n_known <= most:
        away, totals = _read(engine, coded, schema, wanted)
    elif wanted.sampleable:
        base = _keep_with_hashes(engine, coded, schema, wanted.seed)
        rows = HashedTable(engine, base, schema, most)
        totals = rows.root()
        away = RemoteData(totals.fingerprint(), rows.source, sampleable=rows)
    else:
        weighed = roles.weight is not None
        names = ["class", *(f"a{index}" for index in range(schema.n_columns))]
        names = ["node", *(["weight"] if weighed else []), *names]
        base = engine.keep(select(map(column, names), coded))
        counted = SqlSource(engine, base, schema, has_weights=weighed)
        source = CachingSource(counted, most) if most else counted
        totals = source.root()
        away = RemoteData(totals.fingerprint(), source)
    if not classes.is_numeric and roles.target != NO_TARGET:
        n_rows = totals.n_rows
        check_classes(classes, np.flatnonzero(totals.rows), n_rows)
    for attribute in schema.attributes:
        check_texts(attribute.name, attribute.values)
    _warn_of_columns(clean, schema, roles.declared, has_types=has_types)
    return replace(away, reserved=reserved)


def _read(
    engine: SqlEngine, coded: exp.Select, schema: Schema, wanted: RemoteOptions
) -> tuple[RemoteData, Totals]:
    """Return rows that have room, read once, and their totals."""
    lines = FetchedRows.read(engine.fetch(rows_query(coded, schema)), schema)
    training = lines.training(schema)
    totals = training.source().root()
    origin = totals.fingerprint()
    hashed = HashedTrainingSet(training, origin) if wanted.sampleable else None
    return RemoteData(origin, training=training, sampleable=hashed), totals


def _keep_with_hashes(
    engine: SqlEngine, coded: exp.Select, schema: Schema, seed: int
) -> str:
    """Return the kept table of coded rows with their numbers."""
    plain = engine.keep(coded)
    base = engine.keep(sampleable_rows(engine, plain, schema, seed=seed))
    engine.drop([plain])
    return base


def _reserve(
    engine: SqlEngine,
    coded: exp.Select,
    schema: Schema,
    share: float,
    wanted: RemoteOptions,
) -> tuple[exp.Select, TrainingSet]:
    """Return the select of the rows that are left, and those that are reserved."""
    base = _keep_with_hashes(engine, coded, schema, wanted.seed)
    draw, names = sample_fraction(share), cells_of(schema)
    lines, left = (
        select(map(column, names), sampled_rows(table(base), names, [each]))
        for each in (draw, draw.others)
    )
    (n_reserved,) = engine.line(select([count_all()], lines.copy()))
    (n_left,) = engine.line(select([count_all()], left.copy()))
    most = max_rows_in_bytes(wanted.room, schema)
    check_reserved_fraction(share, n_reserved, n_reserved + n_left, most)
    reserved = FetchedRows.read(engine.fetch(rows_query(lines, schema)), schema)
    return left, reserved.training(schema)


def _without_identifiers(
    rows: TrainingQuery, declared: Declarations, *, has_types: bool
) -> TrainingQuery:
    """Return rows without the columns that only tell them apart; say which they were.

    They are those that are left out in memory.
    """
    seen = seen_values(rows).attributes
    values = {
        index: sorted(set(seen[index].values()), key=level_order)
        for index, each in enumerate(rows.attributes)
        if each.kind == "nominal" and declared.kind(each.name) is None
    }
    names = exclude_identifiers(_facts(rows, values, declared, has_types=has_types))
    kept = tuple(each for each in rows.attributes if each.name not in names)
    return replace(rows, attributes=kept)


def _warn_of_columns(
    rows: TrainingQuery, schema: Schema, declared: Declarations, *, has_types: bool
) -> None:
    """Warn of columns that only tell rows apart, and of odd texts, as in memory."""
    values = {
        index: each.values
        for index, each in enumerate(schema.attributes)
        if each.kind == "nominal" and not rows.attributes[index].levels
    }
    facts = _facts(rows, values, declared, has_types=has_types)
    for warning in column_warnings(facts, REMOTE_ISSUES):
        warn(*warning.args, remedy=warning.remedy)


def _facts(
    rows: TrainingQuery,
    values: Mapping[int, Sequence[Value]],
    declared: Declarations,
    *,
    has_types: bool,
) -> list[IssueFacts]:
    """Return what is known of columns, of which some have values."""
    known = dict(zip(values, count_known(rows, [*values]), strict=True))
    return [
        IssueFacts(
            each.name,
            each.kind,
            each.unit,
            declared,
            values.get(index, ()),
            known.get(index, 0),
            partial(_whole_numbers, rows, index),
            is_alone=len(rows.attributes) < 2,
            has_types=has_types,
            parses_text=not has_types,
        )
        for index, each in enumerate(rows.attributes)
    ]


def _whole_numbers(rows: TrainingQuery, index: int) -> IntegerSummary | None:
    """Return what is counted of an attribute's numbers, if all of them are whole."""
    number = partial(column, f"c{index}")
    even = exp.EQ(this=number(), expression=exp.Floor(this=number()))
    different = exp.Count(this=exp.Distinct(expressions=[number()]))
    aggregates = [
        count_all(),
        exp.Count(this=number()),
        different,
        exp.Min(this=number()),
        exp.Max(this=number()),
        exp.Count(this=case((even, whole(1)))),
    ]
    *facts, n_even = rows.engine.line(select(aggregates, rows.select()))
    n_known = facts[1]
    return IntegerSummary(*facts) if n_known and n_even == n_known else None


def _check_known_classes(rows: TrainingQuery) -> int:
    """Say how many rows have no class, return how many have one; refuse no rows."""
    known, n_rows = count_classes(rows)
    if not n_rows:
        msg = "the table has no rows: give it at least two"
        raise DataError(msg)
    if 0 < known < n_rows:
        warn(missing_targets_warning(rows.target.name, n_rows - known, n_rows))
    return known


def _note_incomplete(rows: TrainingQuery) -> None:
    """Tell how many rows lack a cell; refuse if all of them do."""
    names = [column.name for column in rows.attributes]
    known = count_known(rows, range(len(names)))
    total = [count_all(), summed_up(column("weight"))]
    n_rows, weight = rows.engine.line(select(total, rows.select()))
    left_rows = replace(rows, complete=True).select()
    n_left, left = rows.engine.line(select([t.copy() for t in total], left_rows))
    lacking = {name: n_rows - n for name, n in zip(names, known, strict=True)}
    weighs = 0.0 if rows.weight is None else (weight or 0.0) - (left or 0.0)
    note_incomplete(n_rows - n_left, n_rows, lacking, weight=weighs)


def _origin(rows: TrainingQuery, *, from_zero: bool) -> float:
    """Return a number near the target's mean; a whole one where all are whole."""
    number, weight = partial(column, "class"), partial(column, "weight")
    even = exp.EQ(this=number(), expression=exp.Floor(this=number()))
    total, size, n_rows, n_even, n_finite, least, greatest, most = rows.engine.line(
        select(
            [
                summed_up(product(number(), weight())),
                summed_up(weight()),
                count_all(),
                exp.Count(this=case((even, whole(1)))),
                exp.Count(this=case((finite(number()), whole(1)))),
                exp.Min(this=number()),
                exp.Max(this=number()),
                exp.Max(this=exp.Abs(this=number())),
            ],
            rows.select(),
        )
    )
    facts = NumberFacts(
        n_rows, n_finite == n_rows, least, most, least == greatest, size
    )
    check_numbers(rows.target.name, facts, from_zero=from_zero)
    if from_zero:
        return 0.0
    mean = total / size
    return float(np.rint(mean)) if n_even == n_rows else float(mean)


FEW = 12
"""So many values are compared one after the other."""


def coded_rows(rows: TrainingQuery, schema: Schema, seen: SeenValues) -> exp.Select:
    """Return the select of node, weight, class, a0, a1 and so on, codes for names."""
    coded: dict[str, dict[Raw, int]] = {}
    for index, attribute in enumerate(schema.attributes):
        if attribute.kind != "numeric":
            codes = {value: code for code, value in enumerate(attribute.values)}
            coded[f"c{index}"] = _codes(seen.attributes[index], codes)
    if not schema.target.is_numeric:
        classes = {value: code for code, value in enumerate(schema.target.classes)}
        coded["class"] = _codes(seen.target, classes)
    many = sorted(
        (name for name, codes in coded.items() if len(codes) > FEW),
        key=lambda name: -len(coded[name]),
    )
    joined = many[: rows.engine.most_joins]
    listed = [named(whole(0), "node"), column("weight")]
    names = {"class": "class", **{f"c{i}": f"a{i}" for i in range(schema.n_columns)}}
    for name, target_name in names.items():
        cell: exp.Expr = column(name)
        if name in joined:
            cell = column("code", f"codes of {name}")
        elif name in coded:
            whens = ((bound(raw), whole(code)) for raw, code in coded[name].items())
            cell = case(*whens, of=cell) if coded[name] else exp.Null()
        if name in coded:
            kind = rows.engine.whole_type(0, len(coded[name]))
            cell = exp.Cast(this=cell, to=kind)
        elif target_name == "class":
            cell = double(cell)
        listed.append(named(cell, target_name))
    wanted = known(column("class")) if "class" not in joined else None
    query = select(listed, rows.select(), wanted)
    for name in joined:
        alias = f"codes of {name}"
        lines = [(bound(raw), whole(code)) for raw, code in coded[name].items()]
        codes_table = rows.engine.values(lines, ("raw", "code"), alias)
        equal = exp.EQ(this=column("raw", alias), expression=column(name))
        join = exp.Join(this=codes_table, side="LEFT", on=equal)
        query.append("joins", join)
    return query


def _codes(seen: Mapping[Raw, Value], codes: Mapping[Value, int]) -> dict[Raw, int]:
    return {raw: codes[value] for raw, value in seen.items() if value in codes}
