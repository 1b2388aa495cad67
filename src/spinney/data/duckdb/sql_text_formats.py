"""Format inference and parsing of text columns in SQL.

The candidates are those of :func:`spinney.data.format_inference.infer_candidates` for
texts in memory.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from spinney.data.duckdb.columns import aggregate
from spinney.data.duckdb.sql_text import quote_text
from spinney.data.format_inference import (
    PLACEHOLDERS,
    FormatCandidates,
    is_one_unit,
)
from spinney.data.text_formats import (
    AM_PM_AT_END,
    CELL_FORMATS,
    CURRENCY,
    DATE_SEPARATORS,
    DIGITS,
    DURATION_PARTS,
    LAST_LETTERS,
    LAST_MAGNITUDE,
    MAGNITUDES,
    NEGATIVE,
    NUMBER_FORMATS,
    PLURAL,
    SIGNS,
    SPACES,
    CellFormat,
    DateFormat,
    DurationFormat,
    NumberFormat,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_PLACEHOLDERS_IN_SQL = ", ".join(map(quote_text, sorted(PLACEHOLDERS)))


def infer_candidates_in_sql(
    texts: "DuckDBPyRelation", columns: Iterable[str], numeric: Collection[str] = ()
) -> dict[str, FormatCandidates]:
    """Return the format candidates of text columns that have any.

    The ``numeric`` columns are known to be numbers.
    """
    columns = list(columns)
    tests = {
        (column, name): test
        for column in columns
        for name, test in _tests(column).items()
    }
    answers = aggregate(texts, tests)
    units = _units(texts, [column for column in columns if answers[column, "letters"]])
    candidates = {
        column: _candidates(
            {name: answers[column, name] for name in _tests(column)},
            units.get(column, {""}),
            numeric=column in numeric,
        )
        for column in columns
    }
    return {column: found for column, found in candidates.items() if found is not None}


def _tests(column: str) -> dict[Any, str]:
    """Return the aggregates that test the formats of a column."""
    cell = _without_placeholders(column)
    tests: dict[Any, str] = {
        format: f"bool_and(CASE WHEN {cell} IS NOT NULL "
        f"THEN {_matches(cell, format)} END)"
        for format in CELL_FORMATS
    }
    number = f"TRY_CAST({cell} AS DOUBLE)"
    has_marks = f"contains({cell}, ',') OR contains({cell}, '.')"
    currency = f"nullif(regexp_extract({cell}, {quote_text(CURRENCY)}), '')"
    tests |= {
        "cells": f"count({cell})",
        "letters": f"bool_or(lower({cell}) <> upper({cell}))",
        "percent": f"count(CASE WHEN contains({cell}, '%') THEN 1 END)",
        "currencies": f"count(DISTINCT {currency})",
        "has marks": f"bool_or({has_marks})",
        "plain": f"count({number}) = count({cell})",
        "varies": f"min({cell}) <> max({cell})",
        "example": f"coalesce(max(CASE WHEN ({has_marks}) AND {number} IS NULL "
        f"THEN {cell} END), max(CASE WHEN {has_marks} THEN {cell} END), "
        f"max(CASE WHEN {number} IS NULL THEN {cell} END), max({cell}))",
        "placeholders": "list_sort(list(DISTINCT CASE WHEN "
        f"{column} IN ({_PLACEHOLDERS_IN_SQL}) THEN {column} END))",
    }
    return tests


def _units(texts: "DuckDBPyRelation", columns: Iterable[str]) -> dict[str, set[str]]:
    """Return the units of columns of numbers: the first, the last and that of none."""
    tests = {}
    for column in columns:
        cell = _without_placeholders(column)
        found = f"regexp_extract({cell}, {quote_text(LAST_LETTERS)}, 1)"
        none = f"regexp_full_match({found}, {quote_text(CURRENCY)}) OR "
        none += f"regexp_matches({cell}, {quote_text(LAST_MAGNITUDE)})"
        unit = f"regexp_replace({found}, {quote_text(PLURAL)}, '\\1')"
        unit = f"CASE WHEN {none} THEN '' ELSE {unit} END"
        tests[column, "first"] = f"min(nullif({unit}, ''))"
        tests[column, "last"] = f"max({unit})"
        tests[column, "none"] = f"bool_or({unit} = '')"
    answers = aggregate(texts, tests)
    return {
        column: {answers[column, "first"] or "", answers[column, "last"] or ""}
        | ({""} if answers[column, "none"] else set())
        for column in columns
    }


def _candidates(
    answers: Mapping[Any, Any], units: set[str], *, numeric: bool
) -> FormatCandidates | None:
    formats = [format for format in CELL_FORMATS if answers[format]]
    placeholders = tuple(filter(None, answers["placeholders"] or ()))
    if numeric and not answers["cells"]:
        formats = [*NUMBER_FORMATS]  # placeholders only
    has_one_unit = (
        answers["percent"] in (0, answers["cells"])
        and answers["currencies"] < 2
        and is_one_unit(units)
    )
    if not has_one_unit:
        formats = [f for f in formats if not isinstance(f, NumberFormat)]
    if not formats:
        return None
    if placeholders and not (answers["varies"] or numeric):
        return None  # "-" and "1" may both be categories
    return FormatCandidates(
        formats,
        has_marks=bool(answers["has marks"]),
        is_plain=answers["plain"],
        example=answers["example"] or "0",
        placeholders=placeholders,
        unit=max(units).strip("%"),
        has_units="" not in units or max(units) in ("", "%"),
    )


def parse_expression(column: str, format: CellFormat) -> str:
    """Return SQL that parses the cells of a text column by a format."""
    cell = _without_placeholders(column)
    if isinstance(format, DateFormat):
        return _parse_date(cell, format)
    if isinstance(format, DurationFormat):
        return _parse_duration(cell)
    return parse_number_in_sql(cell, format)


def have_times_of_day(
    texts: "DuckDBPyRelation", columns: Iterable[str]
) -> dict[str, bool]:
    """Return whether each date column has times of day."""
    tests = {column: f"bool_or(contains({column}, ':'))" for column in columns}
    return {column: bool(has) for column, has in aggregate(texts, tests).items()}


def parse_number_in_sql(text: str, format: NumberFormat) -> str:
    """Return the number of a text that matches.

    Most texts have nothing but a currency and marks of thousands beside the digits.
    """
    plain = f"regexp_replace({text}, {quote_text(SIGNS)}, '', 'g')"
    digits, exponent, magnitude = (
        f"regexp_extract({text}, {quote_text(DIGITS)}, {group})" for group in (1, 2, 3)
    )
    sign = f"CASE WHEN regexp_matches({text}, {quote_text(NEGATIVE)}) THEN '-' "
    digits = f"regexp_replace({digits}, {quote_text(SPACES)}, '', 'g')"
    sizes = " ".join(f"WHEN '{name}' THEN '{e}'" for name, e in MAGNITUDES.items())
    size = f"CASE {magnitude} {sizes} ELSE '' END"
    whole = f"({sign} ELSE '' END) || {_with_point(digits, format)} || "
    whole += f"{exponent} || {size}"
    return (
        f"coalesce(TRY_CAST({_with_point(plain, format)} AS DOUBLE), "
        f"TRY_CAST({whole} AS DOUBLE))"
    )


def _with_point(digits: str, format: NumberFormat) -> str:
    """Return digits without marks of thousands, with a decimal point."""
    digits = f"replace({digits}, {quote_text(format.thousands)}, '')"
    return f"replace({digits}, {quote_text(format.decimal)}, '.')"


def _parse_duration(text: str) -> str:
    """Return the minutes of a text that is a duration."""
    parts = (
        f"{n} * coalesce(TRY_CAST(regexp_extract({text}, {quote_text(part)}, 1) "
        "AS DOUBLE), 0)"
        for n, part in DURATION_PARTS.items()
    )
    return f"CASE WHEN {text} IS NOT NULL THEN ({' + '.join(parts)}) / 60 END"


def _without_placeholders(column: str) -> str:
    return (
        f"(CASE WHEN {column} IN ({_PLACEHOLDERS_IN_SQL}) THEN NULL ELSE {column} END)"
    )


def _matches(text: str, format: CellFormat) -> str:
    """Return the condition that a text matches a format and is a valid date."""
    matches = f"regexp_full_match({text}, {quote_text(format.pattern)})"
    if isinstance(format, DateFormat):
        matches += f" AND {_parse_date(text, format)} IS NOT NULL"
    return matches


def _parse_date(text: str, format: DateFormat) -> str:
    """Return SQL that parses a date, NULL if it is invalid."""
    separators, am_pm = quote_text(DATE_SEPARATORS), quote_text(AM_PM_AT_END)
    normalised = f"regexp_replace(trim({text}), {separators}, ' ', 'g')"
    normalised = f"regexp_replace({normalised}, {am_pm}, ' \\1')"
    formats = ", ".join(map(quote_text, format.formats))
    return f"try_strptime({normalised}, [{formats}])"
