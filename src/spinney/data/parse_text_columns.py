"""Cells in memory that are texts, read as the numbers and dates that they are.

What DuckDB does for CSV (:mod:`spinney.data.readers.delimited`), for the formats whose
cells have types of their own: a text there is a number or a date only where all texts
of its column are.
"""

import datetime
import re
from collections.abc import Mapping
from typing import Any

from spinney.data.declarations import Declarations
from spinney.data.format_inference import (
    PLACEHOLDERS,
    FormatCandidates,
    forms_of,
    infer_candidates,
    is_open,
    markers_of,
)
from spinney.data.reading_notes import ReadingNotes
from spinney.data.text_formats import DateFormat, Form, TimeFormat
from spinney.data.times import DAY_PATTERN, INSTANT_PATTERN

_DAY = re.compile(DAY_PATTERN, re.ASCII)
_INSTANT = re.compile(INSTANT_PATTERN, re.ASCII)

Cells = list[Any]


def parse_text_columns(
    columns: Mapping[str, Cells], declarations: Declarations, notes: ReadingNotes
) -> dict[str, Cells]:
    """Return columns whose texts are numbers and dates where they are written so.

    >>> columns = {"x": ["1,5", "N/A", "2"], "day": ["17.11.2026", None, None]}
    >>> parse_text_columns(columns, Declarations(), ReadingNotes())
    {'x': [1.5, None, 2.0], 'day': [datetime.date(2026, 11, 17), None, None]}
    """
    read = {name: list(cells) for name, cells in columns.items()}
    evidence: dict[str, FormatCandidates] = {}
    beside: dict[
        str, FormatCandidates
    ] = {}  # columns that are left out, and tell of others
    for name, cells in columns.items():
        if declarations.kind(name) not in (None, "numeric"):
            continue
        texts = {cell for cell in cells if isinstance(cell, str)}
        texts -= {"", *declarations.missing}
        if not texts:
            continue
        if (times := _iso_times(cells, texts)) is not None:
            read[name] = times
        elif (seen := _evidence(cells, texts)) is not None:
            (beside if declarations.ignores(name) else evidence)[name] = seen
    if not is_open(evidence.values(), declarations.text_format):
        beside = {}
    notes.hear(beside.values())
    said = (declarations.text_format, ",", declarations.remembered)
    forms = forms_of(evidence | beside, *said)
    forms = {name: form for name, form in forms.items() if name in evidence}
    for name, form in forms.items():
        read[name] = [_cell(cell, form, declarations) for cell in columns[name]]
        read[name] = _without_clocks(read[name])
    for name, each in evidence.items():
        notes.add_column(name, each, forms.get(name), declarations)
    markers = {*markers_of(evidence, forms)}
    if markers:
        notes.markers = sorted(markers)
        for name, cells in read.items():
            read[name] = [None if _is_one_of(cell, markers) else cell for cell in cells]
    return read


def _is_one_of(cell: Any, markers: set[str]) -> bool:
    return isinstance(cell, str) and cell in markers


def _evidence(cells: Cells, texts: set[str]) -> FormatCandidates | None:
    """Return what texts say of their form, numbers beside them being texts, too."""
    others = [cell for cell in cells if cell is not None and not isinstance(cell, str)]
    if any(type(cell) not in (int, float) for cell in others):
        return None
    return infer_candidates({*texts, *map(repr, others)})


def _cell(cell: Any, form: Form, declarations: Declarations) -> Any:
    if not isinstance(cell, str):
        return cell
    if cell in PLACEHOLDERS or cell in declarations.missing or not cell:
        return None
    if not isinstance(form, DateFormat):
        return form.number(cell)
    time = form.time(cell)
    assert time is not None  # as all its cells
    return time.time() if isinstance(form, TimeFormat) else time


def _without_clocks(cells: Cells) -> Cells:
    """Return instants as days where none has a time of day."""
    times = [cell for cell in cells if isinstance(cell, datetime.datetime)]
    midnight = datetime.time()
    if not times or any(time.time() != midnight for time in times):
        return cells
    return [
        cell.date() if isinstance(cell, datetime.datetime) else cell for cell in cells
    ]


def _iso_times(cells: Cells, texts: set[str]) -> Cells | None:
    """Return cells as dates or instants if all of them are such texts of ISO's."""
    if not set(map(type, cells)) <= {str, type(None)}:
        return None
    if not all(map(_INSTANT.fullmatch, texts)):
        return None
    read: type[datetime.date] = datetime.datetime
    if all(map(_DAY.fullmatch, texts)):
        read = datetime.date
    try:
        times = {text: read.fromisoformat(text) for text in texts}
    except ValueError:
        return None
    return [times.get(cell) for cell in cells]
