"""Excel workbooks of one sheet: a folder of XML in a zip file.

Cells are texts, numbers, truth values, dates and instants. The same rows give the same
bytes: no part has a time.
"""

import datetime
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from spinney._support.text import value_text
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.data.writers.row_writers import Batch, RowStream

MAX_ROWS, MAX_COLUMNS, MAX_TEXT = 1_048_576, 16_384, 32_767
# Excel keeps 15 digits of a number, and counts days from 1899-12-30.
LARGEST_NUMBER = 10**15
EPOCH = datetime.datetime(1899, 12, 30)
STYLES = {"DATE": 1, "TIMESTAMP": 2}

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" '
    f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" '
    f'ContentType="{_TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship '
    f'Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    "</Relationships>",
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="rows" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/worksheet" '
    f'Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="{_OFFICE}/styles" '
    'Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts>'
    '<fills count="1"><fill/></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/>'
    '<xf numFmtId="14" applyNumberFormat="1"/>'
    '<xf numFmtId="22" applyNumberFormat="1"/></cellXfs></styleSheet>',
}
# Characters that XML cannot hold.
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_workbook(rows: "RowStream", path: Path) -> None:
    """Write rows to a workbook with a line of names above them."""
    if len(rows.names) > MAX_COLUMNS:
        raise _too_large(len(rows.names), "columns", MAX_COLUMNS)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _PARTS.items():
            archive.writestr(zipfile.ZipInfo(name), _HEAD + text)
        sheet = zipfile.ZipInfo("xl/worksheets/sheet1.xml")
        sheet.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(sheet, "w", force_zip64=True) as file:
            for lines in _sheet(rows):
                file.write(lines.encode())


def _sheet(rows: "RowStream") -> Iterator[str]:
    """Yield the XML of the sheet."""
    names = "".join(_cell(name, "VARCHAR") for name in rows.names)
    yield f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData><row>{names}</row>'
    types, n_rows = [field.type for field in rows.fields], 1
    for batch in rows.batches:
        n_rows += len(batch[0]) if batch else 0
        if n_rows > MAX_ROWS:
            raise _too_large(n_rows, "rows", MAX_ROWS)
        yield _rows(batch, types)
    yield "</sheetData></worksheet>"


def _rows(batch: "Batch", types: Sequence[str]) -> str:
    columns = [
        [_cell(cell, type_) for cell in cells]
        for cells, type_ in zip(batch, types, strict=True)
    ]
    return "".join(f"<row>{''.join(row)}</row>" for row in zip(*columns, strict=True))


def _cell(cell: Any, type_: str) -> str:
    """Return the XML of a cell.

    >>> _cell(1.5, "DOUBLE"), _cell(None, "DOUBLE"), _cell("2026-11-17", "DATE")
    ('<c><v>1.5</v></c>', '<c/>', '<c s="1"><v>46343.0</v></c>')
    >>> _cell("a & b", "VARCHAR")
    '<c t="inlineStr"><is><t xml:space="preserve">a &amp; b</t></is></c>'
    """
    if cell is None or cell != cell:
        return "<c/>"
    if isinstance(cell, bool):
        return f'<c t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, (int, float)) and abs(cell) < LARGEST_NUMBER:
        return f"<c><v>{cell}</v></c>"
    if type_ in STYLES and (days := _days(value_text(cell))) is not None:
        return f"<c s={quoteattr(str(STYLES[type_]))}><v>{days}</v></c>"
    text = escape(_NO_XML.sub("\ufffd", value_text(cell)[:MAX_TEXT]))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _days(text: str) -> float | None:
    """Return the number by which Excel counts an instant, if it has one."""
    try:
        instant = datetime.datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None
    return (instant - EPOCH) / datetime.timedelta(days=1) if instant > EPOCH else None


def _too_large(n: int, what: str, most: int) -> ParameterError:
    msg = f"a sheet of Excel has at most {most} {what}, and the result has {n}"
    return ParameterError(msg, remedy="write CSV or Parquet instead (-o out.csv)")
