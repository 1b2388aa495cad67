"""SQL text of cells: quoted names and texts, and columns as DOUBLE or VARCHAR."""

from collections.abc import Iterable
from typing import Literal

import numpy as np

from spinney.data.cells import marker_numbers
from spinney.errors import DataError

Family = Literal["text", "number", "boolean", "day", "instant", "clock"]


def quote_identifier(name: str) -> str:
    """Return a name as a quoted SQL identifier.

    >>> print(quote_identifier('the "best" one'))
    "the ""best"" one"
    """
    if "\0" in name:
        msg = f"column {name!r} has a NUL character in its name: rename it"
        raise DataError(msg)
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Return a text as an SQL literal.

    >>> print(quote_text("it's"))
    'it''s'
    """
    if "\0" in text:
        return " || chr(0) || ".join(map(quote_text, text.split("\0"))).join("()")
    return "'" + text.replace("'", "''") + "'"


def number_expression(
    quoted: str, family: Family, markers: tuple[str, ...], unit: str | None
) -> str:
    """Return a column as DOUBLE, NULL for missing cells, 0.0 for -0.0."""
    number = {
        "text": f"CAST({text_expression(quoted, 'text', markers)} AS DOUBLE)",
        "number": f"CAST({quoted} AS DOUBLE)",
        "boolean": f"CAST(CAST({quoted} AS INTEGER) AS DOUBLE)",
        "day": f"(epoch_us({quoted}) / 864e8)",
        "instant": f"(epoch_us({quoted}) / 1e6)",
        "clock": f"(epoch_us({quoted}) / 1e6)",
    }[family]
    missing = _numbers(marker_numbers(markers, unit=unit))
    return f"CASE WHEN {number} IN ({missing}) THEN NULL ELSE {number} + 0.0 END"


def _numbers(numbers: Iterable[float]) -> str:
    """Return a SQL list of NaN, which equals itself in DuckDB, and numbers."""
    return ", ".join(f"CAST('{number!r}' AS DOUBLE)" for number in (np.nan, *numbers))


def text_expression(quoted: str, family: Family, markers: tuple[str, ...]) -> str:
    """Return a column as VARCHAR, NULL for missing cells."""
    text = f"CAST({quoted} AS VARCHAR)"
    if family == "number":
        number = f"CAST({quoted} AS DOUBLE)"
        missing = _numbers(marker_numbers(markers, unit=None))
        # A whole number is written as an integer, so that 1.0 and 1 are one value.
        return (
            f"CASE WHEN {number} IN ({missing}) THEN NULL "
            f"WHEN {number} = trunc({number}) AND abs({number}) < 1e38 "
            f"THEN CAST(CAST({quoted} AS HUGEINT) AS VARCHAR) "
            f"ELSE CAST({number} AS VARCHAR) END"
        )
    if family == "instant":
        text = f"CAST(make_timestamp(epoch_us({quoted})) AS VARCHAR)"
    texts = ", ".join(map(quote_text, ["", *markers]))
    return f"CASE WHEN {text} IN ({texts}) THEN NULL ELSE {text} END"
