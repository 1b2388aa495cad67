"""A DuckDB relation as columns: one SQL expression per column.

An expression is SQL text with quoted names and escaped literals. It is VARCHAR for a
nominal or ordinal column and DOUBLE for a numeric one, NULL for a missing cell. DuckDB
can group by it, so that a table larger than memory is counted in DuckDB; :func:`load`
reads the columns into memory.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney.data.cells import (
    LARGEST_EXACT_INTEGER,
    infinite_cell_error,
    numeric_column,
    recode_column,
    text_cell_error,
    typed_levels,
    unknown_level_error,
    warn_of_large_integers,
)
from spinney.data.declarations import Declarations, check_names, no_columns_error
from spinney.data.declared_values import (
    merged_values,
    unknown_value_error,
    with_type_values,
)
from spinney.data.duckdb.sql_text import (
    Family,
    number_expression,
    quote_identifier,
    quote_text,
    text_expression,
)
from spinney.data.table import Column, Kind, Table, Value, factorise
from spinney.data.times import TIME_UNITS
from spinney.errors import DataError, Setting, note, phrase

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation
    from duckdb.sqltypes import DuckDBPyType

Key = TypeVar("Key")

_FAMILIES: dict[str, Family] = {
    **dict.fromkeys(("varchar", "enum", "uuid"), "text"),
    **dict.fromkeys(("tinyint", "smallint", "integer", "bigint", "hugeint"), "number"),
    **dict.fromkeys(("utinyint", "usmallint", "uinteger", "ubigint"), "number"),
    **dict.fromkeys(("uhugeint", "bignum", "varint", "decimal"), "number"),
    **dict.fromkeys(("float", "double", "null", "sqlnull"), "number"),
    "boolean": "boolean",
    "date": "day",
    **dict.fromkeys(("timestamp", "timestamp_s", "timestamp_ms"), "instant"),
    **dict.fromkeys(("timestamp_ns", "timestamp with time zone"), "instant"),
    **dict.fromkeys(("time", "time_ns", "time with time zone"), "clock"),
}
_WIDE_INTEGERS = {"bigint", "ubigint", "hugeint", "uhugeint", "bignum", "varint"}
# DuckDB lets expressions use aliases, so aliases must differ from column names.
_POSITION = "spinney column "


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """One column of a relation as an SQL expression.

    Parameters
    ----------
    name : str
    kind : {"nominal", "ordinal", "numeric"}
    expression : str
        SQL over the relation: VARCHAR or, if numeric, DOUBLE; NULL if missing.
    levels : tuple
        The levels of an ordinal column, low to high, or the declared values of a
        nominal one.
    unit : str or None
        The unit of a date or time.
    family : str
        The type of values behind the VARCHAR: ``text``, ``number`` or ``boolean``.
    type : str
        The SQL type of the relation's column.
    of_type : bool
        Whether the column's type, not the user, declares the values.
    as_number : bool
        Whether the expression is DOUBLE for numeric categories.
    """

    name: str
    kind: Kind
    expression: str
    levels: tuple[Value, ...] = ()
    unit: str | None = None
    family: Family = "text"
    type: str = "VARCHAR"
    of_type: bool = False
    as_number: bool = False

    def value(self, text: str) -> Value:
        """Return the value behind a text of the expression.

        >>> SqlColumn("x", "nominal", '"x"', family="number").value("7")
        7
        """
        if self.family == "boolean":
            return text == "true"
        if self.family != "number":
            return text
        try:
            return int(text)
        except ValueError:
            number = float(text)
            # From 1e38 on, the expression gives a float instead of digits.
            whole = number.is_integer() and abs(number) < 1e38
            return int(number) if whole else number

    def text(self, value: Value) -> str:
        """Return the text of a value in the expression.

        >>> SqlColumn("x", "nominal", '"x"', family="boolean").text(True)
        'true'
        """
        return str(value).lower() if isinstance(value, bool) else str(value)


def is_relation(data: object) -> bool:
    """Return whether data is a DuckDB relation, without importing DuckDB."""
    duckdb = sys.modules.get("duckdb")
    return duckdb is not None and isinstance(data, duckdb.DuckDBPyRelation)


def plan(
    relation: "DuckDBPyRelation",
    declarations: Declarations | None = None,
    *,
    names: Sequence[str] | None = None,
) -> tuple[SqlColumn, ...]:
    """Return the columns of a relation, after checking all their cells.

    Parameters
    ----------
    relation : DuckDBPyRelation
    declarations : Declarations, optional
    names : sequence of str, optional
        The names of the columns, if they differ from those of the relation.

    Returns
    -------
    tuple of SqlColumn
        The columns that are not ignored.

    Examples
    --------
    >>> import duckdb
    >>> relation = duckdb.sql("SELECT 1 AS size, 'red' AS colour")
    >>> [(column.name, column.kind) for column in plan(relation)]
    [('size', 'numeric'), ('colour', 'nominal')]
    """
    declarations = declarations or Declarations()
    with translated_errors("the table"):  # the connection may be closed
        written, types = list(relation.columns), list(relation.types)
    names = written if names is None else list(names)
    check_names(names, declarations)
    raw_columns = with_families(
        [
            _raw_column(name, column, kind)
            for name, column, kind in zip(names, written, types, strict=True)
            if not declarations.ignores(name)
        ],
        declarations,
    )
    if not raw_columns:
        raise no_columns_error(declarations, names)
    columns = tuple(described_column(raw, declarations) for raw in raw_columns)
    with translated_errors("the table"):
        # The rows of a file are ordered, those of a relation may not be.
        _check_texts(relation, raw_columns, declarations, in_order=names is not written)
        _check_cells(relation, raw_columns, columns)
        return _without_unseen_types(relation, columns, declarations)


@dataclass(frozen=True, slots=True)
class RawColumn:
    """A column of a relation, or of a table of another engine.

    ``quoted`` is its name in SQL; ``is_wide`` is true for integers beyond floats;
    ``values`` are declared by its type. Types without a family are refused.
    """

    name: str
    quoted: str
    family: Family | None
    type: str
    is_wide: bool
    values: tuple[str, ...] = ()


def family_of(kind: "DuckDBPyType") -> Family | None:
    """Return the family of a type of DuckDB, None if it has none."""
    return _FAMILIES.get(str(kind.id))


def _raw_column(name: str, column: str, kind: "DuckDBPyType") -> RawColumn:
    """Return a column of the relation."""
    identity = str(kind.id)
    family = _FAMILIES.get(identity)
    if str(kind) == "JSON":
        family = None
    is_wide = identity in _WIDE_INTEGERS
    values: Any = kind.children[0][1] if identity == "enum" else ()
    quoted = quote_identifier(column)
    return RawColumn(name, quoted, family, str(kind), is_wide, tuple(values))


def with_families(
    columns: Sequence[RawColumn], declarations: Declarations
) -> list[RawColumn]:
    """Return the columns whose types can be used, and note the others.

    A declared column, or one that a model needs, is refused.
    """
    for column in columns:
        if column.family is None:
            name = column.name
            if declarations.only is not None or declarations.kind(name) is not None:
                raise column_type_error(name, column.type)
            note(f"column {name!r} has type {column.type} and was excluded")
    return [column for column in columns if column.family is not None]


def column_type_error(name: str, kind: str) -> DataError:
    """Return the error for a column of a type without a family."""
    msg = f"column {name!r} has type {kind}, which is neither text, a number nor a date"
    remedy = "exclude it ({}) or select a field of it"
    return DataError(msg, remedy=phrase(remedy, Setting("ignore", [name])))


def described_column(raw: RawColumn, declarations: Declarations) -> SqlColumn:
    """Return a column with the kind of its declaration or family."""
    name, family, markers = raw.name, raw.family, declarations.missing
    assert family is not None
    kind = declarations.kind(name)
    if kind is None:
        kind = "nominal" if family in ("text", "boolean") else "numeric"
    if kind == "numeric":
        unit = TIME_UNITS.get(family)
        expression = number_expression(raw.quoted, family, markers, unit)
        return SqlColumn(name, kind, expression, (), unit, "number", raw.type)
    shown = family if family in ("number", "boolean") else "text"
    sample: dict[str, Value] = {"number": 0, "boolean": False, "text": ""}
    levels = typed_levels(declarations.levels(name), [sample[shown]])
    expression = text_expression(raw.quoted, family, markers)
    of_type = bool(raw.values) and not levels and declarations.uses_type_values
    if kind == "nominal":
        named = raw.values if of_type else levels
        levels = merged_values([sample[shown]], named, markers)
    return SqlColumn(name, kind, expression, levels, None, shown, raw.type, of_type)


def _check_texts(
    relation: "DuckDBPyRelation",
    raw_columns: Sequence[RawColumn],
    declarations: Declarations,
    *,
    in_order: bool,
) -> None:
    """Refuse texts that are not numbers in columns declared numeric.

    Texts without digits are reported first: they may explain the others.
    """
    tests, texts = {}, {}
    for raw in raw_columns:
        if raw.family == "text" and declarations.kind(raw.name) == "numeric":
            text = text_expression(raw.quoted, "text", declarations.missing)
            number = f"TRY_CAST({text} AS DOUBLE) IS NOT NULL"
            test = f"{number} AND NOT contains({text}, '_')"
            cell = f"CASE WHEN {test} THEN NULL ELSE {text} END"
            word = (
                f"CASE WHEN regexp_matches({text}, '[0-9]') THEN NULL ELSE {cell} END"
            )
            tests[raw.name] = f"coalesce(min({word}), min({cell}))"
            texts[raw.name] = text
    for name, cell in aggregate(relation, tests).items():
        if cell is None:
            continue
        row = None
        if in_order:
            numbered = f'{texts[name]} AS "cell", row_number() OVER () AS "row"'
            rows = relation.project(numbered).filter(f'"cell" = {quote_text(cell)}')
            row = int(rows.aggregate('min("row")').fetchall()[0][0])
        raise text_cell_error(name, cell, declarations=declarations, row=row)


def _check_cells(
    relation: "DuckDBPyRelation",
    raw_columns: Sequence[RawColumn],
    columns: Sequence[SqlColumn],
) -> None:
    """Refuse invalid cells, and warn of large integers."""
    pairs = list(zip(raw_columns, columns, strict=True))
    tests = {column.name: _invalid_aggregate(raw, column) for raw, column in pairs}
    answers = aggregate(relation, tests)
    for column in columns:
        if (cell := answers[column.name]) is not None:
            raise invalid_cell_error(column, str(cell))
    large = {
        column.name: f"bool_or({column.expression} IS NOT NULL AND ("
        f"{raw.quoted} > {LARGEST_EXACT_INTEGER} OR "
        f"{raw.quoted} < -{LARGEST_EXACT_INTEGER}))"
        for raw, column in pairs
        if raw.is_wide and column.kind == "numeric"
    }
    for name, is_large in aggregate(relation, large).items():
        if is_large:
            warn_of_large_integers(name)


def _without_unseen_types(
    relation: "DuckDBPyRelation",
    columns: Sequence[SqlColumn],
    declarations: Declarations,
) -> tuple[SqlColumn, ...]:
    """Return columns, with levels as declared if no cell is known.

    As in memory, levels have the type of the cells.
    """
    typed = [c for c in columns if c.levels and c.family != "text"]
    counts = {column.name: f"count({column.expression})" for column in typed}
    n_present = aggregate(relation, counts)
    return tuple(
        column
        if n_present.get(column.name) != 0
        else replace(
            column, levels=tuple(declarations.levels(column.name)), family="text"
        )
        for column in columns
    )


def aggregate(
    relation: "DuckDBPyRelation", expressions: Mapping[Key, str]
) -> dict[Key, Any]:
    """Return the value of each aggregate by name, from one pass over the rows."""
    if not expressions:
        return {}
    row = relation.aggregate(_select_list(expressions.values())).fetchall()[0]
    return dict(zip(expressions, row, strict=True))


def _select_list(expressions: Iterable[str]) -> str:
    """Return a select list with numbered column names."""
    return ", ".join(
        f'{expression} AS "{_POSITION}{number}"'
        for number, expression in enumerate(expressions)
    )


def _invalid_aggregate(raw: RawColumn, column: SqlColumn) -> str:
    """Return an aggregate that gives an invalid cell, or NULL."""
    cell = column.expression
    if raw.family in ("day", "instant"):
        return f"min(CASE WHEN NOT isfinite({raw.quoted}) THEN 'inf' END)"
    if column.kind == "numeric":
        return f"max(CASE WHEN isinf({cell}) THEN {cell} END)"
    if column.levels and not column.of_type:
        known = ", ".join(quote_text(column.text(level)) for level in column.levels)
        return f"min(CASE WHEN {cell} NOT IN ({known}) THEN {cell} END)"
    if column.family == "number":
        return f"max(CASE WHEN {cell} IN ('inf', '-inf') THEN {cell} END)"
    return "NULL"


def invalid_cell_error(column: SqlColumn, cell: str) -> DataError:
    """Return the error for an invalid cell."""
    if column.levels:
        refuse = (
            unknown_level_error if column.kind == "ordinal" else unknown_value_error
        )
        return refuse(column.name, column.value(cell), column.levels)
    return infinite_cell_error(column.name, float(cell))


def load(relation: "DuckDBPyRelation", columns: Sequence[SqlColumn]) -> Table:
    """Return the planned columns of a relation as a table in memory.

    Examples
    --------
    >>> import duckdb
    >>> relation = duckdb.sql("SELECT * FROM (VALUES ('b'), (NULL), ('a')) AS t(x)")
    >>> load(relation, plan(relation))["x"].cells
    array([ 1, -1,  0], dtype=int32)
    """
    with translated_errors("the table"):
        arrays = selected(relation, columns).fetchnumpy()
    made = tuple(
        column_of(column, _unmasked(column, arrays[f"{_POSITION}{number}"]))
        for number, column in enumerate(columns)
    )
    table = Table(made, len(made[0].cells) if made else 0)
    named = {column.name: column.levels for column in columns if column.of_type}
    return with_type_values(table, named)


def selected(
    relation: "DuckDBPyRelation", columns: Sequence[SqlColumn]
) -> "DuckDBPyRelation":
    """Return the relation of the planned columns, in their order."""
    return relation.project(_select_list(column.expression for column in columns))


def _unmasked(column: SqlColumn, fetched: NDArray[Any]) -> NDArray[Any]:
    """Return the cells of a fetched array, NaN or None if masked."""
    numeric = column.kind == "numeric"
    cells = np.ma.getdata(fetched).astype(np.float64 if numeric else object)
    cells[np.ma.getmaskarray(fetched)] = np.nan if numeric else None
    return cells


def column_of(column: SqlColumn, cells: NDArray[Any] | Sequence[Any]) -> Column:
    """Return the column of fetched cells, NaN or None for missing ones."""
    if column.kind == "numeric":
        numbers = np.asarray(cells, dtype=np.float64)
        return numeric_column(column.name, numbers, unit=column.unit)
    codes, texts = factorise(list(cells))
    values = [column.value(str(text)) for text in texts]
    levels = column.levels if column.kind == "ordinal" else None
    return recode_column(column.name, codes, values, levels=levels)


def first_line(message: str) -> str:
    """Return the first line of a DuckDB message, without its advice."""
    return message.strip().partition("\n")[0]


@contextmanager
def translated_errors(origin: str) -> Iterator[None]:
    """Turn DuckDB's errors into DataError with one line of text."""
    import duckdb

    try:
        yield
    except RuntimeError as error:
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from None  # the handler before DuckDB's
        raise
    except duckdb.Error as error:
        reason = first_line(str(error))
        msg = f"{origin} cannot be read by DuckDB ({reason}): check it, or remake it"
        raise DataError(msg) from None
