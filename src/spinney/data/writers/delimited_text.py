"""Rows as text: CSV, TSV and JSON lines, in UTF-8."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from spinney._support.json_text import json_text
from spinney.data.writers.delimited_text import (
    Batch,
    RowStream,
    delimited,
    plain_text,
    texts_of,
)

_DELIMITERS = {"csv": ",", "tsv": "\t"}


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
        columns = [texts_of(cells, cell) for cells in batch]
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
    columns = [texts_of(cells, json_text) for cells in batch]
    return (form % row for row in zip(*columns, strict=True))
