"""JSON lines: one object per line."""

import datetime
import json
import re
from pathlib import Path
from typing import Any

from spinney.data.cells import column_from_values, table_of
from spinney.data.declarations import Declarations, check_names
from spinney.data.table import Column, Table
from spinney.data.times import DAY_PATTERN, INSTANT_PATTERN
from spinney.errors import DataError

_DAY = re.compile(DAY_PATTERN, re.ASCII)
_INSTANT = re.compile(INSTANT_PATTERN, re.ASCII)


def read_json_lines(path: Path, origin: str, *, declarations: Declarations) -> Table:
    """Return the table in a plain UTF-8 file that the user knows as ``origin``.

    A name that a line lacks is a missing cell. Text that is an ISO date or instant in
    every line becomes numeric, as in CSV.
    """
    columns: dict[str, list[Any]] = {}
    rows = 0
    with open(path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            for name, cell in _object(line, number, origin).items():
                cells = columns.setdefault(name, [])
                cells.extend([None] * (rows - len(cells)))
                cells.append(cell)
            rows += 1
    if rows == 0:
        return Table((), 0)
    check_names(list(columns), declarations, origin=f"{origin!r}")
    for cells in columns.values():
        cells.extend([None] * (rows - len(cells)))
    return table_of(columns, rows, declarations, column=_column)


def _object(line: str, number: int, origin: str) -> dict[str, Any]:
    """Return the object of one line."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", type(error).__name__)
        msg = f"line {number} of {origin!r} is not JSON ({reason}): mend the line"
        raise DataError(msg) from None
    if not isinstance(row, dict):
        msg = (
            f"line {number} of {origin!r} is no JSON object: write every row as "
            '{"name": value, ...}'
        )
        raise DataError(msg)
    return row


def _column(name: str, cells: list[Any], declarations: Declarations) -> Column:
    """Return a column, numeric where it holds nothing but dates as text."""
    if declarations.kind(name) is None:
        cells = _times(cells, frozenset(declarations.missing) | {""})
    return column_from_values(name, cells, declarations)


def _times(cells: list[Any], markers: frozenset[str]) -> list[Any]:
    """Return the cells as dates or instants if all that are present are such text."""
    if not set(map(type, cells)) <= {str, type(None)}:
        return cells
    texts = set(cells) - markers - {None}
    if not texts or not all(map(_INSTANT.fullmatch, texts)):
        return cells
    read: type[datetime.date] = datetime.datetime
    if all(map(_DAY.fullmatch, texts)):
        read = datetime.date
    try:
        times = {text: read.fromisoformat(text) for text in texts}
    except ValueError:
        return cells
    return [times.get(cell) for cell in cells]
