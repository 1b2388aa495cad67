"""Small CSV and TSV files that are unambiguous, read without DuckDB.

To load DuckDB and to plan its queries takes a fifth of a second, which is most of what
a command over a few rows takes. So a small file is looked at first: where it has no
quote, all lines are equally long, and every column is plainly of numbers or plainly of
text, its cells are taken as they stand, to the same table. Whatever may be read in two
ways, or is to be refused or warned of, is left to
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

# What every reader of numbers takes for the same number.
_NUMBER = re.compile(r"-?\d{1,25}(\.\d{1,25})?([eE][+-]?\d{1,2})?", re.ASCII)
# Numbers of which a user is told that they may be names.
_PADDED = re.compile(PADDED, re.ASCII)
# What none takes for a number, a date or a missing cell.
_TEXT = re.compile(r"(?!inf|nan)[a-z][^0-9]*", re.ASCII | re.IGNORECASE)


def read_plain(
    path: Path, origin: str, *, kind: str, declarations: Declarations
) -> Table | None:
    """Return the table in a small and plain file; None where DuckDB is to read it."""
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
    """Return the lines of a file; none where it is large, or not plain."""
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
    """Return the cells of a column, numbers or texts; None where it may be either."""
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
