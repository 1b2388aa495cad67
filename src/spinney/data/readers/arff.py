"""ARFF, the format of Weka: a header of typed attributes, then rows.

https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/ describes the
format. Supported: nominal, numeric, string and ISO date attributes, quotes and escapes,
comments, sparse rows. An unquoted ``?`` is a missing cell. Row weights and relational
attributes are refused.
"""

import datetime
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

from spinney.data.cells import parse_number, table_of
from spinney.data.declarations import Declarations, check_names
from spinney.data.declared_values import with_type_values
from spinney.data.readers.table_head import unique_names
from spinney.data.reading_notes import ReadingNotes
from spinney.data.table import Table
from spinney.errors import DataError

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_CELL = re.compile(rf"\s*({_QUOTED}|[^,'\"{{}}\s][^,{{}}]*|)\s*(,|$)")
_SPARSE_CELL = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,'\"{{}}\s][^,{{}}]*)\s*(,|$)")
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.+)", re.IGNORECASE)
_WEIGHT = re.compile(r",\s*\{[\s\d.eE+-]*\}$")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_NUMERIC = {"numeric", "real", "integer"}


@dataclass(frozen=True, slots=True)
class _Attribute:
    """A declared attribute."""

    name: str
    type: Literal["nominal", "numeric", "string", "date"]
    levels: tuple[str, ...] = ()


class _LineError(Exception):
    """The problem of a line whose number is not yet known."""


def read_arff(
    path: Path, origin: str, *, declarations: Declarations, notes: ReadingNotes
) -> Table:
    """Return the table in a plain UTF-8 file that the user knows as ``origin``."""
    attributes: list[_Attribute] = []
    rows: list[list[Any]] = []
    with open(path, encoding="utf-8-sig") as file:
        lines = _numbered(file)
        for number, line in lines:
            try:
                if line.lower() == "@data":
                    break
                if (attribute := _header_line(line)) is not None:
                    attributes.append(attribute)
            except _LineError as error:
                _refuse(origin, number, error)
        else:
            msg = f"{origin!r} has no @data line: it is incomplete, or not an ARFF file"
            raise DataError(msg)
        names = unique_names([declared.name for declared in attributes], notes)
        check_names(names, declarations, origin=repr(origin))
        for number, line in lines:
            try:
                rows.append(_row(line, attributes))
            except _LineError as error:
                _refuse(origin, number, error)
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    table = table_of(dict(zip(names, columns, strict=True)), len(rows), declarations)
    levels = [attribute.levels for attribute in attributes]
    named = dict(zip(names, levels, strict=True))
    table = with_type_values(table, named, declarations)
    notes.notes.extend(table.notes)
    return table


def _numbered(file: "Iterator[str] | Any") -> Iterator[tuple[int, str]]:
    """Yield the numbers and texts of lines, without empty lines and comments."""
    for number, line in enumerate(file, 1):
        text = line.strip()
        if text and not text.startswith("%"):
            yield number, text


def _refuse(origin: str, number: int, error: _LineError) -> NoReturn:
    msg = f"line {number} of {origin!r} {error}"
    raise DataError(msg) from None


def _header_line(line: str) -> _Attribute | None:
    """Return the attribute declared by a header line, or None."""
    if line.lower().startswith("@relation"):
        return None
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        msg = f"is not an @relation, @attribute or @data: {line[:40]!r}; fix it"
        raise _LineError(msg)
    name, rest = _unquote(match[1]), match[2].strip()
    if rest.startswith("{"):
        if not rest.endswith("}"):
            msg = f"opens the values of attribute {name!r} and does not close them"
            raise _LineError(msg)
        levels = tuple(_unquote(cell) for cell in _cells(rest[1:-1]))
        return _Attribute(name, "nominal", levels)
    kind = rest.split()[0].lower()
    if kind in _NUMERIC:
        return _Attribute(name, "numeric")
    if kind == "string":
        return _Attribute(name, "string")
    if kind == "date":
        return _Attribute(name, "date")
    msg = (
        f"declares attribute {name!r} of type {kind!r}; only nominal, numeric, string "
        "and date attributes are read"
    )
    raise _LineError(msg)


def _cells(text: str) -> list[str]:
    """Return the cells between commas, with their quotes."""
    cells = []
    start = 0
    while True:
        match = _CELL.match(text, start)
        if match is None:
            msg = f"cannot be split into cells at {text[start : start + 20]!r}; fix it"
            raise _LineError(msg)
        cells.append(match[1].strip())
        start = match.end()
        if not match[2]:
            return cells


def _row(line: str, attributes: list[_Attribute]) -> list[Any]:
    """Return the cells of one line of data."""
    if _WEIGHT.search(line):
        msg = "ends in a weight {...}; weights are not read, make them a column"
        raise _LineError(msg)
    if line.startswith("{") and line.endswith("}"):
        return _sparse_row(line[1:-1], attributes)
    cells = _cells(line)
    if len(cells) != len(attributes):
        msg = (
            "and the header differ in their number of cells, "
            f"{len(cells)} and {len(attributes)}; fix it"
        )
        raise _LineError(msg)
    return [
        _value(cell, attribute)
        for cell, attribute in zip(cells, attributes, strict=True)
    ]


def _sparse_row(text: str, attributes: list[_Attribute]) -> list[Any]:
    """Return the cells of ``{index value, ...}``; unnamed cells are zero."""
    by_index: dict[int, str] = {}
    start = 0
    while text[start:].strip():
        match = _SPARSE_CELL.match(text, start)
        if match is None or int(match[1]) >= len(attributes):
            msg = f"has no 'index value' at {text[start : start + 20]!r}; fix it"
            raise _LineError(msg)
        by_index[int(match[1])] = match[2].strip()
        start = match.end()
    return [
        _value(by_index[index], attribute) if index in by_index else _zero(attribute)
        for index, attribute in enumerate(attributes)
    ]


def _zero(attribute: _Attribute) -> Any:
    """Return the value of an unnamed cell in a sparse row."""
    if attribute.type == "numeric":
        return 0.0
    if attribute.type == "nominal" and attribute.levels:
        return attribute.levels[0]
    msg = f"does not name attribute {attribute.name!r}, which has no zero; name it"
    raise _LineError(msg)


def _value(cell: str, attribute: _Attribute) -> Any:
    """Return the value of a cell's text."""
    if cell in ("?", ""):
        return None
    text = _unquote(cell)
    if attribute.type == "string" or text == "":
        return text
    if attribute.type == "nominal":
        value: Any = text if text in attribute.levels else None
    else:
        value = _READERS[attribute.type](text)
    if value is None:
        msg = (
            f"holds {text!r} for the {attribute.type} attribute {attribute.name!r}; "
            "fix the cell or the @attribute line"
        )
        raise _LineError(msg)
    return value


def _unquote(text: str) -> str:
    """Return a text without its quotes and escapes."""
    if len(text) < 2 or text[0] not in "'\"" or text[0] != text[-1]:
        return text
    return _ESCAPE.sub(_unescape, text[1:-1])


def _unescape(match: "re.Match[str]") -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES.get(code, code)


def _instant(text: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


_READERS: dict[str, Callable[[str], Any]] = {"numeric": parse_number, "date": _instant}
