"""Columns of a table, made from cells of any origin.

Words
-----
marker
    a missing-value marker: a text that the user declared to be a missing cell.
family
    the type of a column's cells before its kind is known: ``text``, ``number``,
    ``boolean``, or one of the times ``day``, ``instant`` and ``clock``.

A text is missing if it *is* a marker, a number or time if it equals a marker's value.
The empty text is always missing.
"""

import datetime
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.declarations import Declarations
from spinney.data.table import Column, Kind, Table, Value, factorise, level_order
from spinney.data.text_formats import DATE_AND_TIME_FORMATS, NUMBER_FORMATS, CellFormat
from spinney.data.times import (
    TIME_UNITS,
    as_instant,
    days_of,
    parse_time,
    seconds_of,
    seconds_of_day,
    time_text,
)
from spinney.errors import CellError, DataError, Setting, Step, Text, phrase, warn

LARGEST_EXACT_INTEGER = 2**53
MAX_SAMPLED = 200  # texts by which the format of most is found
_TIMES = (datetime.date, datetime.time)

_MISSING_TYPES = {"NoneType", "NAType", "NaTType"}


def is_missing(cell: object) -> bool:
    """Return whether a Python cell is None, NaN, or NA or NaT of pandas."""
    if type(cell).__name__ in _MISSING_TYPES:
        return True
    return isinstance(cell, (float, np.floating)) and bool(np.isnan(cell))


def parse_number(text: str) -> float | None:
    """Return a text as a number, or None.

    >>> parse_number("1e3"), parse_number("1_000"), parse_number("x")
    (1000.0, None, None)
    """
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def marker_numbers(markers: Iterable[str], *, unit: str | None) -> tuple[float, ...]:
    """Return the markers that are numbers, or times in this unit."""
    parsed = (parse_number(m) if unit is None else parse_time(m, unit) for m in markers)
    return tuple(n for n in parsed if n is not None and n == n)


UNBOUNDED = "trees cannot cut at infinity, nor clusters measure a distance to it"


class InfiniteCellError(DataError):
    """The error for an infinite number; ``row`` is its first row, if known."""

    row: int | None = None


def infinite_cell_error(
    name: str, value: float, *, row: int | None = None
) -> InfiniteCellError:
    """Return the error for an infinite number."""
    error = InfiniteCellError(
        f"column {name!r} holds {value}",
        remedy=phrase(
            "{}; declare it missing ({}) or exclude the column ({})",
            UNBOUNDED,
            Setting("missing_values", [str(value)]),
            Setting("ignore", [name]),
        ),
    )
    error.row = row
    return error


def text_cell_error(
    name: str, value: Value, *, declarations: Declarations, row: int | None = None
) -> DataError:
    """Return the error for a text in a column declared numeric."""
    if declarations.only is not None:
        unit = declarations.model_format.unit(name)
        return model_text_error(name, value, row=row, unit=unit)
    return DataError(
        f"column {name!r} was declared numeric but holds {value!r}",
        remedy=phrase(
            "declare that missing ({}) or do not declare the column numeric",
            Setting("missing_values", [str(value)]),
        ),
    )


def first_unparsable(texts: Sequence[str], formats: Iterable[CellFormat]) -> str:
    """Return the first text that no format parses, or not that of most; else the first.

    >>> first_unparsable(["1,5", "x"], NUMBER_FORMATS)
    'x'
    >>> first_unparsable(["11/17/26", "12/31/26", "17.11.26"], DATE_AND_TIME_FORMATS)
    '17.11.26'
    """
    formats, sample = tuple(formats), texts[:MAX_SAMPLED]
    likely = max(formats, key=lambda format: sum(map(format.can_parse, sample)))
    unparsable = (t for t in texts if not any(f.can_parse(t) for f in formats))
    unlike = (text for text in texts if not likely.can_parse(text))
    return next(unparsable, None) or next(unlike, texts[0])


def model_text_error(
    name: str,
    value: Value,
    kind: str = "numeric",
    *,
    row: int | None = None,
    unit: str | None = None,
) -> DataError:
    """Return the error for a text in a column of numbers or dates of a model.

    ``row`` is the first row that has it, counted from 1, if rows have an order;
    ``unit`` is that of the column in the table of the model.
    """
    # A column without known cells is numeric, too.
    where = "" if row is None else f" in row {row}"
    step = Step("grow", (Setting("nominal", [name]),), subject="data")
    if unit is not None:
        return DataError(
            f"column {name!r} counted {unit} when the model was grown, but holds "
            f"{value!r}{where}",
            remedy=f"convert it to {unit}, or leave the cell empty",
        )
    return DataError(
        f"column {name!r} was {kind} when the model was grown, but holds {value!r}"
        f"{where}",
        remedy=phrase(
            "fix that cell or leave it empty; for a column of labels grow the model "
            "again by {}",
            step,
        ),
    )


def unknown_level_error(name: str, value: Value, levels: Iterable[Value]) -> DataError:
    """Return the error for a value that is not a declared level."""
    order = " < ".join(map(str, levels))
    return DataError(
        f"column {name!r} holds {value!r}, not one of its levels {order}",
        remedy=phrase(
            "add it to the levels or declare it missing ({})",
            Setting("missing_values", [str(value)]),
        ),
    )


def warn_of_large_integers(name: str) -> None:
    """Warn that integers of this column are not exact as float64."""
    warn(
        f"column {name!r} holds integers beyond 2**53, and different ones become the "
        "same number",
        remedy=phrase(
            "declare it nominal ({}) or exclude it ({})",
            Setting("nominal", [name]),
            Setting("ignore", [name]),
        ),
    )


def numeric_column(
    name: str,
    cells: NDArray[Any],
    *,
    missing: Iterable[str] = (),
    unit: str | None = None,
) -> Column:
    """Return a numeric column; NaN and the markers are missing.

    >>> numeric_column("x", np.array([1.0, -1.0]), missing=["-1"]).cells
    array([ 1., nan])
    """
    # The sum copies, and turns -0.0 into 0.0.
    with np.errstate(over="ignore"):
        values = np.asarray(cells).astype(np.float64) + 0.0
    if markers := marker_numbers(missing, unit=unit):
        values[np.isin(values, markers)] = np.nan
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        first = int(infinite[0])
        raise infinite_cell_error(name, float(values[first]), row=first + 1)
    return Column(name, "numeric", values, unit=unit)


def coded_column(
    name: str,
    values: Sequence[Value | None],
    *,
    missing: Iterable[str] = (),
    levels: Sequence[Value] | None = None,
) -> Column:
    """Return a nominal column, or an ordinal one if its levels are given.

    >>> coded_column("x", ["b", "a", None]).levels
    ('a', 'b')
    """
    codes, present = factorise(values)
    return recode_column(name, codes, list(present), missing=missing, levels=levels)


def recode_column(
    name: str,
    codes: NDArray[np.int32],
    present: Sequence[Value],
    *,
    missing: Iterable[str] = (),
    levels: Sequence[Value] | None = None,
) -> Column:
    """Return the column whose cell ``i`` is ``present[codes[i]]``, its levels in order.

    Texts are sorted, as :func:`factorise` returns them.
    """
    texts = frozenset(missing)
    is_text = set(map(type, present)) == {str}
    if levels is None and is_text and texts.isdisjoint(present):
        return Column(name, "nominal", codes, tuple(present))
    markers = marker_values(texts)
    values = [_integer_if_whole(value) for value in present]
    known = [value for value in values if not is_marker(value, markers)]
    if levels is None:
        ordered = tuple(sorted(known, key=level_order))
    else:
        ordered = typed_levels(levels, known)
    code_of = {level_order(level): code for code, level in enumerate(ordered)}
    recode = np.full(len(values) + 1, -1, dtype=np.int32)
    for code, value in enumerate(values):
        if is_marker(value, markers):
            continue
        if isinstance(value, float) and np.isinf(value):
            raise infinite_cell_error(name, value)
        if (new := matched_code(value, code_of)) is None:
            raise unknown_level_error(name, value, ordered)
        recode[code] = new
    kind: Kind = "nominal" if levels is None else "ordinal"
    return Column(name, kind, recode[codes], ordered)


def _integer_if_whole(value: Value) -> Value:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def marker_values(markers: Iterable[str]) -> frozenset[Value]:
    """Return the missing-value markers, as texts and as numbers."""
    markers = frozenset(markers)
    return markers | set(marker_numbers(markers, unit=None))


def is_marker(value: Value, markers: frozenset[Value]) -> bool:
    """Return whether a value is a missing-value marker."""
    return (str(value).lower() if isinstance(value, bool) else value) in markers


def typed_levels(
    levels: Sequence[Value], present: Sequence[Value]
) -> tuple[Value, ...]:
    """Return declared levels as values of the type of the cells.

    Without known cells, levels stay as declared. "nan" stays a text.

    >>> typed_levels(["1", "2"], [2, 1]), typed_levels(["1", "2"], ["2", "1"])
    ((1, 2), ('1', '2'))
    """
    if present and all(isinstance(value, bool) for value in present):
        known: dict[str, Value] = {"true": True, "false": False}
        return tuple(known.get(str(level).lower(), level) for level in levels)
    if present and not any(isinstance(value, (bool, str)) for value in present):
        parsed = [parse_number(str(level)) for level in levels]
        return tuple(
            level if number is None or np.isnan(number) else _integer_if_whole(number)
            for level, number in zip(levels, parsed, strict=True)
        )
    return tuple(levels)


def matched_code(value: Value, code_of: dict[tuple[str, Value], int]) -> int | None:
    """Return the code of a value, matched by value or else by text."""
    code = code_of.get(level_order(value))
    return code_of.get(("text", str(value))) if code is None else code


def column_from_values(
    name: str, values: Sequence[object], declarations: Declarations
) -> Column:
    """Return a column of Python objects, of the declared or inferred kind.

    Examples
    --------
    >>> column_from_values("x", [1, None, 2.5], Declarations()).cells
    array([1. , nan, 2.5])
    >>> column_from_values("x", ["a", 1], Declarations()).levels
    (1, 'a')
    """
    kind = declarations.kind(name)
    if kind in (None, "numeric") and set(map(type, values)) == {float}:
        numbers = np.array(values, dtype=np.float64)
        return numeric_column(name, numbers, missing=declarations.missing)
    cells, families = plain_values(name, values)
    if families & set(TIME_UNITS):
        return _time_column(name, cells, families, declarations)
    if kind == "numeric" or (kind is None and families <= {"number"}):
        return _number_column(name, cells, declarations)
    levels = declarations.levels(name) if kind == "ordinal" else None
    return coded_column(name, cells, missing=declarations.missing, levels=levels)


def table_of(
    columns: Mapping[str, Any],
    n_rows: int,
    declarations: Declarations,
    *,
    column: Callable[[str, Any, Declarations], Column] = column_from_values,
) -> Table:
    """Return the table of all columns that are not ignored."""
    made = (
        column(name, cells, declarations)
        for name, cells in columns.items()
        if not declarations.ignores(name)
    )
    return Table(tuple(made), n_rows)


def plain_values(name: str, values: Sequence[object]) -> tuple[list[Any], set[str]]:
    """Return the cells as plain Python values (None if missing), and their families."""
    readers: dict[type, tuple[str, Callable[[Any], Any]]] = {}
    for kind in set(map(type, values)):
        reader = _reader(kind)
        if reader is None:
            row = next(i for i, value in enumerate(values, 1) if type(value) is kind)
            msg = (
                f"column {name!r} holds a {kind.__name__} in row {row}; an argument "
                "must be a string or a number"
            )
            raise CellError(msg, remedy=_convert_or_exclude(name))
        readers[kind] = reader
    if set(readers) <= {str, type(None)}:
        texts = [value or None for value in values]
        return texts, ({"text"} if any(texts) else set())
    if set(readers) == {int}:
        return list(values), {"number"}
    try:
        cells = [readers[type(value)][1](value) for value in values]
    except Exception as error:
        msg = f"column {name!r} holds a cell without a value: {error!r}"
        raise CellError(msg, remedy=_convert_or_exclude(name)) from error
    families = {
        readers[type(value)][0]
        for value, cell in zip(values, cells, strict=True)
        if cell is not None
    }
    return cells, families


def _convert_or_exclude(name: str) -> Text:
    remedy = "convert it to text, a number or a date, or exclude the column ({})"
    return phrase(remedy, Setting("ignore", [name]))


def _reader(kind: type) -> tuple[str, Callable[[Any], Any]] | None:
    """Return the family of a cell type, and a function that converts its cells."""
    if kind.__name__ in _MISSING_TYPES:
        return "missing", lambda _: None
    if issubclass(kind, (bool, np.bool_)):
        return "boolean", bool
    if issubclass(kind, str):
        return "text", lambda text: str(text) or None
    if issubclass(kind, np.timedelta64):  # NumPy treats it as an integer
        return None
    if issubclass(kind, (int, np.integer)):
        return "number", int
    if issubclass(kind, Decimal):  # comparing a signalling NaN raises
        return "number", lambda number: None if number.is_nan() else float(number)
    if issubclass(kind, (float, np.floating, numbers.Rational)):
        return "number", lambda number: None if number != number else float(number)
    if issubclass(kind, datetime.datetime):
        return "instant", lambda instant: instant
    if issubclass(kind, datetime.date):
        return "day", lambda day: day
    if issubclass(kind, datetime.time):
        return "clock", lambda clock: clock
    if issubclass(kind, np.datetime64):
        return "instant", lambda instant: instant.astype("datetime64[us]").item()
    return None


def _number_column(name: str, cells: list[Any], declarations: Declarations) -> Column:
    """Return a numeric column of numbers, booleans and numeric texts."""
    markers = frozenset(declarations.missing)
    texts: dict[str, float] = {}
    unparsable = []
    for text in dict.fromkeys(cell for cell in cells if isinstance(cell, str)):
        number = np.nan if text in markers else parse_number(text)
        if number is None:
            unparsable.append(text)
        else:
            texts[text] = number
    if unparsable:
        text = first_unparsable(unparsable, NUMBER_FORMATS)
        row = cells.index(text) + 1
        raise text_cell_error(name, text, declarations=declarations, row=row)
    if any(
        isinstance(cell, int) and abs(cell) > LARGEST_EXACT_INTEGER for cell in cells
    ):
        warn_of_large_integers(name)
    try:
        as_floats = np.array(
            [np.nan if cell is None else texts.get(cell, cell) for cell in cells],
            dtype=np.float64,
        )
    except OverflowError:
        raise infinite_cell_error(name, np.inf) from None
    return numeric_column(name, as_floats, missing=declarations.missing)


def _refuse_mixed_times(
    name: str, cells: list[Any], declarations: Declarations
) -> DataError:
    """Return the error for a column of a model that mixes times and other cells."""
    numeric = declarations.kind(name) == "numeric"
    places = [
        place
        for place, cell in enumerate(cells)
        if cell is not None and isinstance(cell, _TIMES) is numeric
    ]
    texts = [str(cells[place]) for place in places]
    text = first_unparsable(texts, DATE_AND_TIME_FORMATS)
    kind = "numeric" if numeric else "a date or time"
    return model_text_error(name, text, kind, row=places[texts.index(text)] + 1)


def _time_column(
    name: str, cells: list[Any], families: set[str], declarations: Declarations
) -> Column:
    """Return a column of days, instants or times of day."""
    if families not in ({"day"}, {"instant"}, {"clock"}, {"day", "instant"}):
        if declarations.only is not None and not families <= set(TIME_UNITS):
            raise _refuse_mixed_times(name, cells, declarations)
        msg = f"column {name!r} mixes {' and '.join(sorted(families))} cells"
        remedy = phrase(
            "make them all dates or all text, or exclude the column ({})",
            Setting("ignore", [name]),
        )
        raise DataError(msg, remedy=remedy)
    kind = declarations.kind(name)
    if kind in ("nominal", "ordinal"):
        levels = declarations.levels(name) if kind == "ordinal" else None
        texts = [None if cell is None else time_text(cell) for cell in cells]
        return coded_column(name, texts, missing=declarations.missing, levels=levels)
    family = "instant" if "instant" in families else next(iter(families))
    if families == {"day", "instant"}:
        cells = [as_instant(cell) for cell in cells]
    measures: dict[str, Callable[[Any], float]] = {
        "day": days_of,
        "instant": seconds_of,
        "clock": seconds_of_day,
    }
    measure = measures[family]
    as_floats = np.array([np.nan if cell is None else measure(cell) for cell in cells])
    return numeric_column(
        name, as_floats, missing=declarations.missing, unit=TIME_UNITS[family]
    )
