"""Rows as text: CSV, TSV and JSON lines, in UTF-8."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spinney._support.json_text import json_text
from spinney._support.text import shown, value_text

# Every delimiter that a reader may assume, so that none splits a cell.
_QUOTED = re.compile(r'[,;|"\t\r\n]|^\ufeff')
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_DELIMITERS = {"csv": ",", "tsv": "\t"}

Batch = Sequence[Sequence[Any]]
"""Some rows: the cells of each column, values of Python, None where missing."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column to be written; ``type`` is what SQL, and so Parquet, calls its cells."""

    name: str
    type: str = "VARCHAR"


@dataclass(frozen=True, slots=True)
class RowStream:
    """Columns and their cells, which can be read once."""

    fields: tuple[Field, ...]
    batches: Iterable[Batch]

    @property
    def names(self) -> list[str]:
        """The names of the columns, all different."""
        return distinct_names([field.name for field in self.fields])


def distinct_names(names: Iterable[str], *, by_case: bool = True) -> list[str]:
    """Return names with a line under those that were there before.

    >>> distinct_names(["leaf", "p(1)", "p(1)", "leaf", "Leaf"])
    ['leaf', 'p(1)', 'p(1)_', 'leaf_', 'Leaf']
    >>> distinct_names(["leaf", "Leaf"], by_case=False)
    ['leaf', 'Leaf_']
    """
    distinct: dict[str, str] = {}
    for name in names:
        while (key := name if by_case else name.casefold()) in distinct:
            name += "_"
        distinct[key] = name
    return list(distinct.values())


def convert_cells(cells: Sequence[Any], text: Callable[[Any], str]) -> list[str]:
    """Return the text of each cell; equal cells are converted once."""
    kinds = set(map(type, cells))
    if kinds <= {str, type(None), bool}:
        known = {cell: text(cell) for cell in set(cells)}
        return list(map(known.__getitem__, cells))
    return list(map(text, cells))


def plain_text(cell: Any) -> str:
    """Return a cell as text, nothing where it is missing."""
    return "" if cell is None else value_text(cell)


def spreadsheet_safe(cell: Any) -> str:
    """Return a cell as text that no spreadsheet takes for a formula.

    >>> [spreadsheet_safe(cell) for cell in ("=1+1", "-1", -1.5, "good")]
    ["'=1+1", '-1', '-1.5', 'good']
    """
    text = plain_text(cell)
    risky = isinstance(cell, str) and text.startswith(_FORMULA) and not _number(text)
    return f"'{text}" if risky else text


def printable_text(cell: Any) -> str:
    """Return a cell as text that a terminal does not obey."""
    return "" if cell is None else shown(cell)


def delimited(text: str) -> str:
    """Return a text as a cell of CSV or TSV, in quotes where it needs them.

    >>> print(delimited("plain"), delimited('the "a;b" one'))
    plain "the ""a;b"" one"
    """
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if _QUOTED.search(text) else text


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def text_rows(
    rows: RowStream, format: str, *, cell_text: Callable[[Any], str] = plain_text
) -> Iterator[bytes]:
    """Yield the rows in a format of text; of CSV and TSV the header is before them.

    Parameters
    ----------
    rows : RowStream
    format : {"csv", "tsv", "jsonl"}
    cell_text : function
        How a cell of CSV or TSV reads, before it is quoted.

    Examples
    --------
    >>> from spinney.data.writers import Field
    >>> cells = [["a", "b"], [1.5, None]]
    >>> rows = RowStream((Field("id"), Field("size", "DOUBLE")), [cells])
    >>> print(b"".join(text_rows(rows, "csv")).decode(), end="")
    id,size
    a,1.5
    b,
    >>> print(b"".join(text_rows(rows, "jsonl")).decode(), end="")
    {"id": "a", "size": 1.5}
    {"id": "b", "size": null}
    """
    lines = _json_lines if format == "jsonl" else _delimited_lines
    for text in lines(rows, _DELIMITERS.get(format, ""), cell_text):
        yield text.encode("utf-8", "backslashreplace")


def _delimited_lines(
    rows: RowStream, delimiter: str, cell_text: Callable[[Any], str]
) -> Iterator[str]:
    def cell(value: Any) -> str:
        return delimited(cell_text(value))

    # The header waits for the first rows: they may be refused.
    head = _line(list(map(cell, rows.names)), delimiter)
    for batch in rows.batches:
        columns = [convert_cells(cells, cell) for cells in batch]
        lines = (_line(row, delimiter) for row in zip(*columns, strict=True))
        yield head + "".join(lines)
        head = ""
    if head:
        yield head


def _line(cells: "tuple[str, ...] | list[str]", delimiter: str) -> str:
    """Return a line; one that would be empty holds an empty cell in quotes."""
    return (delimiter.join(cells) or '""') + "\n"


def _json_lines(rows: RowStream, *_: Any) -> Iterator[str]:
    form = json_form(rows.names)
    for batch in rows.batches:
        yield "".join(f"{row}\n" for row in json_objects(batch, form))


def json_form(names: Iterable[str]) -> str:
    """Return the form of an object of JSON with these names, to be filled by cells.

    >>> json_form(["size", "100 %"]) % ("1", "null")
    '{"size": 1, "100 %": null}'
    """
    quoted = (json_text(name).replace("%", "%%") for name in names)
    return "{" + ", ".join(f"{name}: %s" for name in quoted) + "}"


def json_objects(batch: Batch, form: str) -> Iterator[str]:
    """Yield the rows of a batch as JSON, each in a form that its cells fill."""
    columns = [convert_cells(cells, json_text) for cells in batch]
    return (form % row for row in zip(*columns, strict=True))
