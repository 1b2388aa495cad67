"""JSON lines: one object per line."""

import json
from pathlib import Path
from typing import Any

from spinney.data.cells import table_of
from spinney.data.declarations import Declarations, check_names
from spinney.data.parse_text_columns import parse_text_columns
from spinney.data.reading_notes import ReadingNotes
from spinney.data.table import Table
from spinney.errors import DataError


def read_json_lines(
    path: Path, origin: str, *, declarations: Declarations, notes: ReadingNotes
) -> Table:
    """Return the table in a plain UTF-8 file that the user knows as ``origin``.

    A name absent from a line is a missing cell. A column of texts that are all dates,
    or all formatted numbers, becomes numeric, as in CSV.
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
    return table_of(
        parse_text_columns(columns, declarations, notes), rows, declarations
    )


def _object(line: str, number: int, origin: str) -> dict[str, Any]:
    """Return the object of one line."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", type(error).__name__)
        msg = f"line {number} of {origin!r} is not JSON ({reason}): fix the line"
        raise DataError(msg) from None
    if not isinstance(row, dict):
        msg = (
            f"line {number} of {origin!r} is not a JSON object: write every row as "
            '{"name": value, ...}'
        )
        raise DataError(msg)
    return row
