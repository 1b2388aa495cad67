"""Columns of an engine as clean cells: kinds from its types and what is declared.

It is for engines what :func:`spinney.data.duckdb.columns.plan` is for relations of
DuckDB, which reads files too and knows how their cells are written.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

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
    column_type_error,
    described_column,
    invalid_cell_error,
)
from spinney.extensions.databases.engines.sql_engine import SqlEngine, texts
from spinney.extensions.databases.expressions import (
    bound,
    case,
    column,
    double,
    known,
    named,
    select,
    total_of,
    whole,
)
from spinney.extensions.databases.grouped import grouped_statements
from spinney.extensions.databases.sql_formula import finite

Cells: TypeAlias = dict[str, exp.Expr]


def engine_columns(
    engine: SqlEngine, declarations: Declarations
) -> tuple[tuple[SqlColumn, ...], Cells]:
    """Return the columns of an engine's rows and their cells, after checking these."""
    every = engine.columns()
    check_names([raw.name for raw in every], declarations)
    raws = [raw for raw in every if not declarations.ignores(raw.name)]
    if not raws:
        raise no_columns_error(declarations, [raw.name for raw in every])
    for raw in raws:
        if raw.family is None:
            raise column_type_error(raw.name, raw.type)
    columns = [_described(raw, declarations) for raw in raws]
    _check_texts(engine, raws, declarations)
    cells = {
        raw.name: _cell(engine, raw, each, declarations.missing)
        for raw, each in zip(raws, columns, strict=True)
    }
    return _checked(engine, raws, columns, cells, declarations), cells


def loaded(engine: SqlEngine, columns: Sequence[SqlColumn], cells: Cells) -> Table:
    """Return the rows of an engine in memory."""
    listed = [named(cells[each.name].copy(), f"c{i}") for i, each in enumerate(columns)]
    answer = engine.fetch(select(listed, engine.rows))
    made = tuple(
        column_of(each, _texts_of(each, given))
        for each, given in zip(columns, answer, strict=True)
    )
    return Table(made, len(answer[0]))


def _texts_of(each: SqlColumn, given: Sequence[object]) -> list[object]:
    cells = texts(given)
    if each.kind == "numeric":
        return [float("nan") if cell is None else cell for cell in cells]
    return [
        cell if cell is None or isinstance(cell, str) else _digits(cell)
        for cell in cells
    ]


def _digits(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _described(raw: RawColumn, declarations: Declarations) -> SqlColumn:
    """Return a column by its family and what was declared."""
    each = described_column(raw, declarations)
    as_number = each.kind != "numeric" and raw.family == "number"
    return replace(each, expression="", as_number=as_number)


def _cell(
    engine: SqlEngine, raw: RawColumn, each: SqlColumn, markers: tuple[str, ...]
) -> exp.Expr:
    """Return the clean cells of a column."""
    cell = column(raw.name)
    if raw.family == "boolean" and each.kind != "numeric":
        yes, no = exp.Literal.string("true"), exp.Literal.string("false")
        flag = engine.number_of(column(raw.name), "boolean")
        is_true = exp.GT(this=flag, expression=whole(0))
        return case((known(cell), case((is_true, yes), otherwise=no)))
    if each.kind == "numeric" or each.as_number:
        if raw.family == "text":
            number: exp.Expr = double(_text(engine, raw, markers))
        else:
            assert raw.family is not None
            number = engine.known_number(engine.number_of(cell, raw.family))
        without = [bound(m) for m in marker_numbers(markers, unit=each.unit)]
        if without:
            absent = exp.In(this=number.copy(), expressions=without)
            number = case((absent, exp.Null()), otherwise=number)
        # One zero for 0.0 and -0.0.
        return exp.Paren(this=total_of([number, bound(0.0)]))
    return _text(engine, raw, markers)


def _text(engine: SqlEngine, raw: RawColumn, markers: tuple[str, ...]) -> exp.Expr:
    """Return the text of a column's cells, NULL where they are missing."""
    text = engine.text_of(column(raw.name), raw)
    without = [bound(marker) for marker in ("", *markers)]
    absent = exp.In(this=text.copy(), expressions=without)
    return case((absent, exp.Null()), otherwise=text)


def _check_texts(
    engine: SqlEngine, raws: Sequence[RawColumn], declarations: Declarations
) -> None:
    """Raise for a text that is no number where the column was declared numeric."""
    for raw in raws:
        if raw.family != "text" or raw.name not in declarations.numeric:
            continue
        cell = named(_text(engine, raw, declarations.missing), "c0")

        def relation(_: Sequence[str], cell: exp.Expr = cell) -> exp.Query:
            return select([cell.copy()], engine.rows)

        for statement, _ in grouped_statements(engine, relation, ["c0"], value="text"):
            for text in texts(engine.fetch(statement)[-1]):
                if text is not None and parse_number(text) is None:
                    raise text_cell_error(raw.name, text, declarations=declarations)


def _checked(
    engine: SqlEngine,
    raws: Sequence[RawColumn],
    columns: Sequence[SqlColumn],
    cells: Cells,
    declarations: Declarations,
) -> tuple[SqlColumn, ...]:
    """Return the columns; raise for a cell that has no place, warn of large integers.

    Levels have the type of the cells, and where no cell is known, none.
    """
    listed: list[exp.Expr] = []
    for raw, each in zip(raws, columns, strict=True):
        cell = cells[each.name]
        listed += [exp.Count(this=cell.copy()), exp.Max(this=_invalid_cell(each, cell))]
        large = exp.GT(
            this=exp.Abs(this=double(column(raw.name))) if raw.is_wide else whole(0),
            expression=bound(float(LARGEST_EXACT_INTEGER)),
        )
        listed.append(exp.Count(this=case((large, whole(1)))))
    answers: list[object] = []
    for start in range(0, len(listed), 300):
        part = [
            named(each, f"s{i}") for i, each in enumerate(listed[start : start + 300])
        ]
        answers += engine.line(select(part, engine.rows))
    checked = []
    for at, (raw, each) in enumerate(zip(raws, columns, strict=True)):
        n_known, odd, n_large = answers[3 * at : 3 * at + 3]
        if odd is not None:
            raise invalid_cell_error(
                each, odd if isinstance(odd, str) else _number_digits(odd)
            )
        if n_large and raw.is_wide and each.kind == "numeric":
            warn_of_large_integers(each.name)
        if each.levels and each.family != "text" and not n_known:
            levels = tuple(declarations.levels(each.name))
            each = replace(each, levels=levels, family="text", as_number=False)
        checked.append(each)
    return tuple(checked)


def _invalid_cell(each: SqlColumn, cell: exp.Expr) -> exp.Expr:
    """Return a cell that is to be refused, or NULL."""
    if each.levels and not each.of_type:
        raws = [
            bound(float(level)) if each.as_number else bound(each.text(level))
            for level in each.levels
            if not (each.as_number and isinstance(level, str))
        ]
        inside = exp.In(this=cell.copy(), expressions=raws) if raws else exp.false()
        return case((exp.Not(this=inside), cell.copy()))
    if each.kind == "numeric" or each.as_number:
        return case((exp.Not(this=finite(cell.copy())), cell.copy()))
    return exp.Null()


def _number_digits(odd: object) -> str:
    number = float(odd)  # type: ignore[arg-type]
    return repr(number) if abs(number) == float("inf") else _digits(number)
