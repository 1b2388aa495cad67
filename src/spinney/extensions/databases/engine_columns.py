"""Columns of an engine: their kinds and the SQL expressions of their clean cells.

:func:`spinney.data.duckdb.columns.plan` does the same for DuckDB relations, which may
also be text files.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sqlglot import exp

from spinney.data import (
    LARGEST_EXACT_INTEGER,
    Declarations,
    Table,
    check_names,
    marker_numbers,
    no_columns_error,
    parse_number,
    text_cell_error,
    warn_of_large_integers,
)
from spinney.data.duckdb import (
    RawColumn,
    SqlColumn,
    column_of,
    described_column,
    invalid_cell_error,
    with_families,
)
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engines.sql_engine import SqlEngine, texts
from spinney.extensions.databases.grouped import grouped_statements
from spinney.extensions.databases.sql_formula import finite

Cells: TypeAlias = dict[str, exp.Expr]


def engine_columns(
    engine: SqlEngine, declarations: Declarations
) -> tuple[tuple[SqlColumn, ...], Cells]:
    """Return an engine's columns and their cell expressions; refuse invalid cells."""
    all_columns = engine.columns()
    check_names([raw.name for raw in all_columns], declarations)
    used = [raw for raw in all_columns if not declarations.ignores(raw.name)]
    raws = with_families(used, declarations)
    if not raws:
        raise no_columns_error(declarations, [raw.name for raw in all_columns])
    columns = [_column_of(raw, declarations) for raw in raws]
    _check_texts(engine, raws, declarations)
    cells = {
        raw.name: _cell(engine, raw, described, declarations.missing)
        for raw, described in zip(raws, columns, strict=True)
    }
    return _checked_columns(engine, raws, columns, cells, declarations), cells


def load_table(engine: SqlEngine, columns: Sequence[SqlColumn], cells: Cells) -> Table:
    """Return the rows of an engine as a table in memory."""
    listed = [
        sql.alias(cells[described.name].copy(), f"c{i}")
        for i, described in enumerate(columns)
    ]
    answer = engine.fetch(sql.select(listed, engine.rows))
    columns_of_table = tuple(
        column_of(described, _column_cells(described, fetched))
        for described, fetched in zip(columns, answer, strict=True)
    )
    return Table(columns_of_table, len(answer[0]))


def _column_cells(sql_column: SqlColumn, fetched: Sequence[object]) -> list[object]:
    cells = texts(fetched)
    if sql_column.kind == "numeric":
        return [float("nan") if cell is None else cell for cell in cells]
    return [
        cell if cell is None or isinstance(cell, str) else _digits(cell)
        for cell in cells
    ]


def _digits(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _column_of(raw: RawColumn, declarations: Declarations) -> SqlColumn:
    """Return a column with the kind of its declaration or type."""
    each = described_column(raw, declarations)
    as_number = each.kind != "numeric" and raw.family == "number"
    return replace(each, expression="", as_number=as_number)


def _cell(
    engine: SqlEngine, raw: RawColumn, sql_column: SqlColumn, markers: tuple[str, ...]
) -> exp.Expr:
    """Return the expression of a column's clean cells."""
    cell = sql.column(raw.name)
    if raw.family == "boolean" and sql_column.kind != "numeric":
        yes, no = exp.Literal.string("true"), exp.Literal.string("false")
        flag = engine.as_number(sql.column(raw.name), "boolean")
        is_true = exp.GT(this=flag, expression=sql.integer(0))
        return sql.case((sql.not_null(cell), sql.case((is_true, yes), default=no)))
    if sql_column.kind == "numeric" or sql_column.as_number:
        if raw.family == "text":
            number: exp.Expr = sql.double(_text(engine, raw, markers))
        else:
            assert raw.family is not None
            number = engine.nan_to_null(engine.as_number(cell, raw.family))
        markers_bound = [
            sql.param(m) for m in marker_numbers(markers, unit=sql_column.unit)
        ]
        if markers_bound:
            is_marker = exp.In(this=number.copy(), expressions=markers_bound)
            number = sql.case((is_marker, exp.Null()), default=number)
        # One zero for 0.0 and -0.0.
        return exp.Paren(this=sql.add([number, sql.param(0.0)]))
    return _text(engine, raw, markers)


def _text(engine: SqlEngine, raw: RawColumn, markers: tuple[str, ...]) -> exp.Expr:
    """Return the expression of a column's texts, NULL for missing ones."""
    text = engine.as_text(sql.column(raw.name), raw)
    markers_bound = [sql.param(marker) for marker in ("", *markers)]
    is_marker = exp.In(this=text.copy(), expressions=markers_bound)
    return sql.case((is_marker, exp.Null()), default=text)


def _check_texts(
    engine: SqlEngine, raws: Sequence[RawColumn], declarations: Declarations
) -> None:
    """Refuse texts in a column that is declared numeric."""
    for raw in raws:
        if raw.family != "text" or declarations.kind(raw.name) != "numeric":
            continue
        cell = sql.alias(_text(engine, raw, declarations.missing), "c0")

        def relation(_: Sequence[str], cell: exp.Expr = cell) -> exp.Query:
            return sql.select([cell.copy()], engine.rows)

        for statement, _ in grouped_statements(engine, relation, ["c0"], value="text"):
            for text in texts(engine.fetch(statement)[-1]):
                if text is not None and parse_number(text) is None:
                    raise text_cell_error(raw.name, text, declarations=declarations)


def _checked_columns(
    engine: SqlEngine,
    raws: Sequence[RawColumn],
    columns: Sequence[SqlColumn],
    cells: Cells,
    declarations: Declarations,
) -> tuple[SqlColumn, ...]:
    """Return the columns with typed levels; refuse invalid cells.

    Levels have the type of the cells. Without known cells there are no levels.
    """
    listed: list[exp.Expr] = []
    for raw, each in zip(raws, columns, strict=True):
        cell = cells[each.name]
        listed += [exp.Count(this=cell.copy()), exp.Max(this=_invalid_cell(each, cell))]
        large = exp.GT(
            this=exp.Abs(this=sql.double(sql.column(raw.name)))
            if raw.is_wide
            else sql.integer(0),
            expression=sql.param(float(LARGEST_EXACT_INTEGER)),
        )
        listed.append(exp.Count(this=sql.case((large, sql.integer(1)))))
    answers: list[Any] = []
    for start in range(0, len(listed), 300):
        part = [
            sql.alias(each, f"s{i}")
            for i, each in enumerate(listed[start : start + 300])
        ]
        answers += engine.fetch_row(sql.select(part, engine.rows))
    checked = []
    for i, (raw, each) in enumerate(zip(raws, columns, strict=True)):
        n_known, invalid, n_large = answers[3 * i : 3 * i + 3]
        if invalid is not None:
            if not isinstance(invalid, str):
                is_finite = abs(invalid) < float("inf")
                invalid = _digits(invalid) if is_finite else repr(float(invalid))
            raise invalid_cell_error(each, invalid)
        if n_large and raw.is_wide and each.kind == "numeric":
            warn_of_large_integers(each.name)
        if each.levels and each.family != "text" and not n_known:
            levels = tuple(declarations.levels(each.name))
            each = replace(each, levels=levels, family="text", as_number=False)
        checked.append(each)
    return tuple(checked)


def _invalid_cell(sql_column: SqlColumn, cell: exp.Expr) -> exp.Expr:
    """Return an expression: the cell if it is invalid, otherwise NULL."""
    if sql_column.levels and not sql_column.of_type:
        levels = [
            sql.param(float(level))
            if sql_column.as_number
            else sql.param(sql_column.text(level))
            for level in sql_column.levels
            if not (sql_column.as_number and isinstance(level, str))
        ]
        inside = exp.In(this=cell.copy(), expressions=levels) if levels else exp.false()
        return sql.case((exp.Not(this=inside), cell.copy()))
    if sql_column.kind == "numeric" or sql_column.as_number:
        return sql.case((exp.Not(this=finite(cell.copy())), cell.copy()))
    return exp.Null()
