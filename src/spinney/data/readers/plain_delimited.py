"""Fast reader of small, unambiguous CSV and TSV files, without DuckDB.

Importing DuckDB and planning its queries takes a fifth of a second, most of the time of
a command on a few rows. A small file is read here if it has no quotes, lines of equal
length, and columns of plain numbers or plain texts; the table is the same. Ambiguous
files, and those with errors or warnings, are left to
:mod:`spinney.data.readers.delimited`.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from spinney.data.cells import LARGEST_EXACT_INTEGER, table_of
from spinney.data.declarations import Declarations, check_names
from spinney.data.format_inference import PLACEHOLDERS
from spinney.data.readers.delimited import DELIMITERS, layout_of
from spinney.data.readers.table_head import unclear_names
from spinney.data.table import Table
from spinney.data.text_formats import PADDED

LARGEST_FILE = 50_000  # bytes
NAN = float("nan")

# Texts that every parser reads as the same number.
_NUMBER = re.compile(r"-?\d{1,25}(\.\d{1,25})?([eE][+-]?\d{1,2})?", re.ASCII)
# Numbers with leading zeros, which may be codes.
_PADDED = re.compile(PADDED, re.ASCII)
# Texts that no parser reads as a number, a date or a missing cell.
_TEXT = re.compile(r"(?!inf|nan)[a-z][^0-9]*", re.ASCII | re.IGNORECASE)


def read_plain(
    path: Path, origin: str, *, kind: str, declarations: Declarations
) -> Table | None:
    """Return the table in a small, plain file; None if DuckDB must read it."""
    lines = _lines(path)
    if len(lines) < 2:
        return None
    if not (declarations.text_format.is_empty and declarations.model_format.is_empty):
        return None
    layout = layout_of(path, origin, "\t" if kind == "tsv" else DELIMITERS)
    rows, names = [line.split(layout.delimiter) for line in lines], [*layout.names]
    if rows[0] != names or any(len(row) != len(names) for row in rows):
        return None
    if unclear_names(names) or len(set(names)) < len(names):
        return None
    if layout.warning and declarations.only is None:
        return None
    check_names(names, declarations, origin=f"the header of {origin!r}")
    missing, columns = {"", *declarations.missing}, {}
    for name, texts in zip(names, zip(*rows[1:], strict=True), strict=True):
        if declarations.ignores(name):
            continue
        cells = _cells(
            [None if text in missing else text for text in texts],
            declarations.kind(name),
            declarations.levels(name),
        )
        if cells is None:
            return None
        columns[name] = cells
    return table_of(columns, len(rows) - 1, declarations) if columns else None


def _lines(path: Path) -> list[str]:
    """Return the lines of a file; [] if it is large or not plain."""
    if path.stat().st_size > LARGEST_FILE:
        return []
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return []
    if text.count("\r") == text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")
    lines = text.removesuffix("\n").split("\n")
    plain = "\r" not in text and '"' not in text and "\0" not in text and all(lines)
    return lines if plain else []


def _cells(
    texts: Sequence[str | None], kind: str | None, levels: Sequence[str]
) -> list[float] | list[str | None] | None:
    """Return the cells of a column, numbers or texts; None if ambiguous."""
    known = [text for text in texts if text is not None]
    if kind == "nominal":
        return list(texts)
    if kind == "ordinal":
        return list(texts) if set(known) <= set(levels) else None
    if all(map(_NUMBER.fullmatch, known)):
        if kind is None and any(map(_PADDED.fullmatch, known)):
            return None
        numbers = [NAN if text is None else float(text) for text in texts]
        exact = all(abs(n) < LARGEST_EXACT_INTEGER for n in numbers if n == n)
        return numbers if exact else None
    if kind is None and any(map(_TEXT.fullmatch, set(known) - PLACEHOLDERS)):
        return list(texts)
    return None
