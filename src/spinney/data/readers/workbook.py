"""Excel workbooks: the first non-empty sheet, read by python-calamine.

The library reads cells as numbers, texts, truth values and dates. The header and the
formats of texts are inferred as in CSV.
"""

import datetime
from pathlib import Path
from typing import Any

from spinney.data.cells import table_of
from spinney.data.declarations import Declarations, check_names
from spinney.data.parse_text_columns import parse_text_columns
from spinney.data.readers.table_head import (
    CellCounts,
    find_header,
    header_warning,
    resolve_names,
    unclear_names,
)
from spinney.data.reading_notes import ReadingNotes
from spinney.data.table import Table
from spinney.errors import DataError, Setting, missing_extra

_SAMPLE = 100

Row = list[Any]


def read_workbook(
    path: Path, origin: str, *, declarations: Declarations, notes: ReadingNotes
) -> Table:
    """Return the table in the first non-empty sheet of a file."""
    rows = _rows(path, origin, notes)
    skip = declarations.text_format.skip
    texts = [[_text(cell) for cell in row] for row in rows[: _SAMPLE + (skip or 0)]]
    head = find_header([cells if any(cells) else [] for cells in texts], skip)
    if head is None:
        msg = f"{origin!r} has no header with column names"
        raise DataError(msg, remedy=("check it, or ", Setting("skip", 0)))
    if head.above and skip is None:
        notes.add_skipped(head.above)
    warning = (
        header_warning(head.names, texts[head.above + 1 :]) if skip is None else ""
    )
    if warning and not notes.quiet:
        notes.add(warning)
    body = [row for row in rows[head.above + 1 :] if any(map(_text, row))]
    columns = [list(cells) for cells in zip(*body, strict=True)] or [
        [] for _ in head.names
    ]
    counts = {
        index: _cell_counts(columns[index]) for index in unclear_names(head.names)
    }
    settled = resolve_names(head.names, counts, declarations, notes)
    named = {
        name: cells
        for name, cells in zip(settled, columns, strict=True)
        if name is not None
    }
    check_names(list(named), declarations, origin=f"the header of {origin!r}")
    cells = parse_text_columns(named, declarations, notes)
    return table_of(cells, len(body), declarations)


def _rows(path: Path, origin: str, notes: ReadingNotes) -> list[Row]:
    """Return the rows of the first non-empty sheet, padded to equal length."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise missing_extra(
            what="Excel files need", library="python-calamine", extra="excel"
        ) from None
    try:
        book = CalamineWorkbook.from_path(str(path))
        for name in book.sheet_names:
            rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
            if rows:
                if len(book.sheet_names) > 1:
                    n_sheets = len(book.sheet_names)
                    notes.add(f"sheet {name!r} is read, one of {n_sheets}")
                return [[_cell(cell) for cell in row] for row in rows]
    except (CalamineError, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        msg = f"{origin!r} is not an Excel workbook ({reason}): save it again as .xlsx"
        raise DataError(msg) from None
    return []


def _cell(cell: Any) -> Any:
    """Return a cell as a value of a table; None if it is empty."""
    if cell == "" or cell is None:
        return None
    if isinstance(cell, datetime.timedelta):
        return cell.total_seconds()
    return cell


def _text(cell: Any) -> str:
    """Return a cell as the name of a column."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def _cell_counts(cells: Row) -> CellCounts:
    known = [_text(cell) for cell in cells if cell is not None]
    return CellCounts(len(cells), len(known), len(set(known)))
