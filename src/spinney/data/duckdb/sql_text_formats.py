"""The forms of numbers and dates in SQL: what a column is written in, and its cells.

It says of a column in DuckDB what
:func:`spinney.data.format_inference.infer_candidates` says of texts in memory.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from spinney.data.duckdb.columns import aggregated
from spinney.data.duckdb.sql_text import quote_text
from spinney.data.format_inference import PLACEHOLDERS, FormatCandidates
from spinney.data.text_formats import (
    CURRENCY,
    FORMS,
    GAPS,
    HALF_DAY,
    NUMBERS,
    SIGNS,
    DateFormat,
    Form,
    NumberFormat,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_LISTED = ", ".join(map(quote_text, sorted(PLACEHOLDERS)))


def infer_candidates_in_sql(
    texts: "DuckDBPyRelation", columns: Iterable[str], numeric: Collection[str] = ()
) -> dict[str, FormatCandidates]:
    """Return what the cells of columns of text say of their forms, if of any.

    Columns that are in no form are left out; ``numeric`` are known to be numbers.
    """
    columns = list(columns)
    tests = {
        (column, name): test
        for column in columns
        for name, test in _tests(column).items()
    }
    answers = aggregated(texts, tests)
    found = {
        column: _evidence(
            {name: answers[column, name] for name in _tests(column)},
            numeric=column in numeric,
        )
        for column in columns
    }
    return {column: each for column, each in found.items() if each is not None}


def _tests(column: str) -> dict[Any, str]:
    """Return the aggregates that are asked of a column."""
    known = _known(column)
    tests: dict[Any, str] = {
        form: f"bool_and(CASE WHEN {known} IS NOT NULL THEN {_fits(known, form)} END)"
        for form in FORMS
    }
    number = f"TRY_CAST({known} AS DOUBLE)"
    pointed = f"contains({known}, ',') OR contains({known}, '.')"
    currency = f"nullif(regexp_extract({known}, {quote_text(CURRENCY)}), '')"
    tests |= {
        "cells": f"count({known})",
        "percent": f"count(CASE WHEN contains({known}, '%') THEN 1 END)",
        "currencies": f"count(DISTINCT {currency})",
        "pointed": f"bool_or({pointed})",
        "plain": f"count({number}) = count({known})",
        "varies": f"min({known}) <> max({known})",
        "example": f"coalesce(max(CASE WHEN {pointed} THEN {known} END), max({known}))",
        "placeholders": "list_sort(list(DISTINCT CASE WHEN "
        f"{column} IN ({_LISTED}) THEN {column} END))",
    }
    return tests


def _evidence(answers: Mapping[Any, Any], *, numeric: bool) -> FormatCandidates | None:
    forms = [form for form in FORMS if answers[form]]
    placeholders = tuple(filter(None, answers["placeholders"] or ()))
    if numeric and not answers["cells"]:
        forms = [*NUMBERS]  # nothing but placeholders
    agree = answers["percent"] in (0, answers["cells"]) and answers["currencies"] < 2
    if not forms or not agree:
        return None
    if placeholders and not (answers["varies"] or numeric):
        return None  # of "-" and "1" both may be names
    return FormatCandidates(
        forms,
        pointed=bool(answers["pointed"]),
        plain=answers["plain"],
        example=answers["example"] or "0",
        placeholders=placeholders,
    )


def parse_expression(column: str, form: Form) -> str:
    """Return the cells of a column of text, read by a form that they all match."""
    known = _known(column)
    if isinstance(form, DateFormat):
        return _time(known, form)
    return number_in_sql(known, form)


def has_clocks(texts: "DuckDBPyRelation", columns: Iterable[str]) -> dict[str, bool]:
    """Return which columns of dates have times of day, too."""
    tests = {column: f"bool_or(contains({column}, ':'))" for column in columns}
    return {column: bool(has) for column, has in aggregated(texts, tests).items()}


def number_in_sql(text: str, form: NumberFormat) -> str:
    """Return the number that a text is, which matches."""
    bare = f"regexp_replace({text}, {quote_text(SIGNS)}, '', 'g')"
    bare = f"replace({bare}, {quote_text(form.thousands)}, '')"
    return f"TRY_CAST(replace({bare}, {quote_text(form.decimal)}, '.') AS DOUBLE)"


def _known(column: str) -> str:
    return f"(CASE WHEN {column} IN ({_LISTED}) THEN NULL ELSE {column} END)"


def _fits(text: str, form: Form) -> str:
    """Return whether a text is in a form, and a day of the calendar."""
    fits = f"regexp_full_match({text}, {quote_text(form.pattern)})"
    if isinstance(form, DateFormat):
        fits += f" AND {_time(text, form)} IS NOT NULL"
    return fits


def _time(text: str, form: DateFormat) -> str:
    """Return the instant that a text is, NULL where no calendar has it."""
    tidy = f"regexp_replace(trim({text}), {quote_text(GAPS)}, ' ', 'g')"
    tidy = f"regexp_replace({tidy}, {quote_text(HALF_DAY)}, ' \\1')"
    formats = ", ".join(map(quote_text, form.formats))
    return f"try_strptime({tidy}, [{formats}])"
