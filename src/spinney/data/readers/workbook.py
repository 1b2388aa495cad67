"""Excel workbooks: a named sheet, or the first with a table, read by python-calamine.

The library reads cells as numbers, texts, truth values and dates. The header, which may
have two lines, and the formats of texts are inferred as in CSV.
"""

import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spinney._support.text import first_of
from spinney.data.cells import table_of
from spinney.data.declarations import Declarations, check_names
from spinney.data.parse_text_columns import parse_text_columns
from spinney.data.readers.table_head import (
    CellCounts,
    find_header,
    header_warning,
    joined_header,
    n_descriptions,
    resolve_names,
    unclear_names,
)
from spinney.data.reading_notes import ReadingNotes
from spinney.data.table import Table
from spinney.errors import DataError, ParameterError, Setting, phrase, refusal

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

_SAMPLE = 100
_MAX_NAMED = 5
_ANOTHER = Setting("sheet", ...)

Row = list[Any]


def read_workbook(
    path: Path, origin: str, *, declarations: Declarations, notes: ReadingNotes
) -> Table:
    """Return the table in a sheet of a file."""
    name, rows = _sheet(path, origin, declarations.text_format.sheet, notes)
    what = f"sheet {name!r} of {origin!r}"
    skip = declarations.text_format.skip
    texts = _texts(rows[: _SAMPLE + (skip or 0)])
    head = find_header(texts, skip)
    if head is None:
        msg = f"{what} has no header with column names"
        raise DataError(msg, remedy=("check it, or ", Setting("skip", 0)))
    if skip is None:
        head = joined_header(texts, head, notes)
    if head.n_titles and skip is None:
        notes.add_skipped(head.n_titles)
    warning = (
        header_warning(head.names, texts[head.above + 1 :]) if skip is None else ""
    )
    if warning and not notes.quiet:
        notes.add(warning)
    n_more = n_descriptions(texts[head.above + 1 :])
    notes.add_descriptions(n_more)
    body = [row for row in rows[head.above + 1 + n_more :] if any(map(_text, row))]
    if not body:
        remedy = phrase("give it one, or name another sheet ({})", _ANOTHER)
        msg = f"{what} has no rows"
        raise DataError(msg, remedy=remedy)
    columns = [list(cells) for cells in zip(*body, strict=True)]
    counts = {
        index: _cell_counts(columns[index]) for index in unclear_names(head.names)
    }
    settled = resolve_names(head.names, counts, declarations, notes)
    named = {
        name: cells
        for name, cells in zip(settled, columns, strict=True)
        if name is not None
    }
    check_names(list(named), declarations, origin=f"the header of {what}")
    cells = parse_text_columns(named, declarations, notes)
    return table_of(cells, len(body), declarations)


def _sheet(
    path: Path, origin: str, wanted: str | int | None, notes: ReadingNotes
) -> tuple[str, list[Row]]:
    """Return the name and the rows of the wanted sheet, or of the first with a table.

    A sheet without a table of several columns, as a cover, is passed over.
    """
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        book = CalamineWorkbook.from_path(str(path))
        names = book.sheet_names
        if wanted is not None:
            names = [_named_sheet(wanted, names, origin)]
        sheets = ((name, _rows(book, name)) for name in names)
        first: tuple[str, list[Row]] | None = None
        for name, rows in sheets:
            if rows and (len(names) == 1 or _has_table(rows)):
                break
            first = first or ((name, rows) if rows else None)
        else:
            name, rows = first or (names[0], [])
    except ParameterError:
        raise
    except (CalamineError, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        msg = f"{origin!r} is not an Excel workbook ({reason}): save it again as .xlsx"
        raise DataError(msg) from None
    if len(names) > 1:
        listed = first_of([repr(n) for n in names if n != name], _MAX_NAMED)
        notes.add(f"sheet {name!r} is read; to read another ({listed}), set ", _ANOTHER)
    return name, rows


def _named_sheet(wanted: str | int, names: list[str], origin: str) -> str:
    """Return the sheet of a name, or of a number from 1."""
    if wanted in names:
        return str(wanted)
    if str(wanted).isdecimal() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    listed = first_of([*map(repr, names)], _MAX_NAMED)
    raise refusal(
        Setting("sheet", wanted),
        f"is no sheet of {origin!r}",
        f"it has {listed}: give a name, or a number from 1 to {len(names)}",
    )


def _rows(book: "CalamineWorkbook", name: str) -> list[Row]:
    """Return the rows of a sheet, equally long."""
    rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
    return [[_cell(cell) for cell in row] for row in rows]


def _has_table(rows: list[Row]) -> bool:
    """Return whether two rows below a header have several cells."""
    head = find_header(_texts(rows[:_SAMPLE]))
    if head is None or len(head.names) < 2:
        return False
    below = (row for row in rows[head.above + 1 :] if len(list(filter(_text, row))) > 1)
    return len(list(islice(below, 2))) == 2


def _texts(rows: list[Row]) -> list[list[str]]:
    """Return the texts of rows, no cell for an empty row."""
    texts = ([_text(cell) for cell in row] for row in rows)
    return [cells if any(cells) else [] for cells in texts]


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
