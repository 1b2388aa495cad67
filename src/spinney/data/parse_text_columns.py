"""Text cells in memory, parsed as numbers and dates.

Used for formats with typed cells, as DuckDB is for CSV
(:mod:`spinney.data.readers.delimited`). A column is parsed only if all its texts are
numbers or dates.
"""

import datetime
import re
from collections.abc import Mapping
from typing import Any

from spinney.data.declarations import Declarations
from spinney.data.format_inference import (
    PLACEHOLDERS,
    FormatCandidates,
    infer_candidates,
)
from spinney.data.reading_notes import ReadingNotes
from spinney.data.text_formats import CellFormat, DateFormat, TimeFormat
from spinney.data.times import DAY_PATTERN, INSTANT_PATTERN

_DAY = re.compile(DAY_PATTERN, re.ASCII)
_INSTANT = re.compile(INSTANT_PATTERN, re.ASCII)

Cells = list[Any]


def parse_text_columns(
    columns: Mapping[str, Cells], declarations: Declarations, notes: ReadingNotes
) -> dict[str, Cells]:
    """Return columns whose texts are parsed if all of them are numbers or dates.

    >>> columns = {"x": ["1,5", "N/A", "2"], "day": ["17.11.2026", None, None]}
    >>> parse_text_columns(columns, Declarations(), ReadingNotes())
    {'x': [1.5, None, 2.0], 'day': [datetime.date(2026, 11, 17), None, None]}
    """
    parsed = {name: list(cells) for name, cells in columns.items()}
    candidates: dict[str, FormatCandidates] = {}
    ignored: dict[
        str, FormatCandidates
    ] = {}  # ignored columns may decide the format of others
    for name, cells in columns.items():
        if declarations.kind(name) not in (None, "numeric"):
            continue
        texts = {cell for cell in cells if isinstance(cell, str)}
        texts -= {"", *declarations.missing}
        if not texts:
            continue
        if (times := _iso_times(cells, texts)) is not None:
            parsed[name] = times
        elif (inferred := _candidates(cells, texts)) is not None:
            (ignored if declarations.ignores(name) else candidates)[name] = inferred
    formats = notes.choose_formats(candidates, declarations, lambda: ignored)
    for name, format in formats.items():
        cells = [_parsed(cell, format, declarations) for cell in columns[name]]
        parsed[name] = _without_clocks(cells)
    if markers := notes.markers:
        for name, cells in parsed.items():
            parsed[name] = [
                None if isinstance(cell, str) and cell in markers else cell
                for cell in cells
            ]
    return parsed


def _candidates(cells: Cells, texts: set[str]) -> FormatCandidates | None:
    """Return the format candidates of texts; numbers among the cells count as texts."""
    typed = [cell for cell in cells if cell is not None and not isinstance(cell, str)]
    if any(type(cell) not in (int, float) for cell in typed):
        return None
    return infer_candidates({*texts, *map(repr, typed)})


def _parsed(cell: Any, format: CellFormat, declarations: Declarations) -> Any:
    if not isinstance(cell, str):
        return cell
    if cell in PLACEHOLDERS or cell in declarations.missing or not cell:
        return None
    if not isinstance(format, DateFormat):
        return format.parse(cell)
    time = format.parse(cell)
    assert time is not None  # like all cells of the column
    return time.time() if isinstance(format, TimeFormat) else time


def _without_clocks(cells: Cells) -> Cells:
    """Return timestamps as dates if none has a time of day."""
    times = [cell for cell in cells if isinstance(cell, datetime.datetime)]
    midnight = datetime.time()
    if not times or any(time.time() != midnight for time in times):
        return cells
    return [
        cell.date() if isinstance(cell, datetime.datetime) else cell for cell in cells
    ]


def _iso_times(cells: Cells, texts: set[str]) -> Cells | None:
    """Return cells as dates or timestamps if all of them are ISO ones, else None."""
    if not set(map(type, cells)) <= {str, type(None)}:
        return None
    if not all(map(_INSTANT.fullmatch, texts)):
        return None
    kind: type[datetime.date] = datetime.datetime
    if all(map(_DAY.fullmatch, texts)):
        kind = datetime.date
    try:
        times = {text: kind.fromisoformat(text) for text in texts}
    except ValueError:
        return None
    return [times.get(cell) for cell in cells]
