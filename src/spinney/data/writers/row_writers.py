"""Rows written to files: CSV, TSV, JSON lines, Excel and Parquet, in UTF-8.

The suffix or a parameter selects the format. DuckDB writes Parquet from a temporary CSV
file, so that only a batch and DuckDB's buffers are in memory.
"""

import gzip
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from spinney._support.atomic_file import whole_file, write_whole
from spinney._support.json_text import json_text
from spinney._support.text import shown, value_text
from spinney.data.duckdb.columns import first_line
from spinney.data.duckdb.sql_text import quote_identifier, quote_text
from spinney.data.writers.workbook_writer import write_workbook
from spinney.errors import ParameterError, refuse_unknown

# All delimiters that readers may assume; cells with any of them are quoted.
_QUOTED = re.compile(r'[,;|"\t\r\n]|^\ufeff')
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_DELIMITERS = {"csv": ",", "tsv": "\t"}

Batch = Sequence[Sequence[Any]]
"""A batch of rows: the cells of each column as Python values, None if missing."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column to write; ``type`` is its SQL type, used for Parquet."""

    name: str
    type: str = "VARCHAR"


@dataclass(frozen=True, slots=True)
class RowStream:
    """Columns and batches of their cells, which can be iterated once."""

    fields: tuple[Field, ...]
    batches: Iterable[Batch]

    @property
    def names(self) -> list[str]:
        """The names of the columns, all different."""
        return distinct_names([field.name for field in self.fields])


def distinct_names(names: Iterable[str], *, by_case: bool = True) -> list[str]:
    """Return distinct names, with underscores appended to repeated ones.

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
        converted = {cell: text(cell) for cell in set(cells)}
        return list(map(converted.__getitem__, cells))
    return list(map(text, cells))


def plain_text(cell: Any) -> str:
    """Return a cell as text, "" if missing."""
    return "" if cell is None else value_text(cell)


def spreadsheet_safe(cell: Any) -> str:
    """Return a cell as text that no spreadsheet evaluates as a formula.

    >>> [spreadsheet_safe(cell) for cell in ("=1+1", "-1", -1.5, "good")]
    ["'=1+1", '-1', '-1.5', 'good']
    """
    text = plain_text(cell)
    risky = isinstance(cell, str) and text.startswith(_FORMULA) and not _number(text)
    return f"'{text}" if risky else text


def printable_text(cell: Any) -> str:
    """Return a cell as text without terminal control codes."""
    return "" if cell is None else shown(cell)


def delimited(text: str) -> str:
    """Return a text as a cell of CSV or TSV, quoted if necessary.

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
    """Yield the rows in a text format; CSV and TSV start with the header.

    Parameters
    ----------
    rows : RowStream
    format : {"csv", "tsv", "jsonl"}
    cell_text : function
        Returns the text of a CSV or TSV cell, before quoting.

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

    # The header waits for the first rows, which may raise an error.
    head = _line(list(map(cell, rows.names)), delimiter)
    for batch in rows.batches:
        columns = [convert_cells(cells, cell) for cells in batch]
        lines = (_line(row, delimiter) for row in zip(*columns, strict=True))
        yield head + "".join(lines)
        head = ""
    if head:
        yield head


def _line(cells: "tuple[str, ...] | list[str]", delimiter: str) -> str:
    """Return a line; an otherwise empty line has a quoted empty cell."""
    return (delimiter.join(cells) or '""') + "\n"


def _json_lines(rows: RowStream, *_: Any) -> Iterator[str]:
    form = json_form(rows.names)
    for batch in rows.batches:
        yield "".join(f"{row}\n" for row in json_objects(batch, form))


def json_form(names: Iterable[str]) -> str:
    """Return a JSON object template with these names, for ``%`` formatting.

    >>> json_form(["size", "100 %"]) % ("1", "null")
    '{"size": 1, "100 %": null}'
    """
    quoted = (json_text(name).replace("%", "%%") for name in names)
    return "{" + ", ".join(f"{name}: %s" for name in quoted) + "}"


def json_objects(batch: Batch, form: str) -> Iterator[str]:
    """Yield the rows of a batch as JSON objects, formatted by a template."""
    columns = [convert_cells(cells, json_text) for cells in batch]
    return (form % row for row in zip(*columns, strict=True))


ROW_GROUP = 40_960  # rows that DuckDB buffers before writing
LONGEST_LINE = 1 << 22  # bytes; DuckDB's buffer takes several times as many

# Types whose texts DuckDB parses unchanged; others stay text.
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_UNSIGNED = ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_OTHERS = ("BOOLEAN", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP", "TIME")


def write_parquet(rows: RowStream, path: Path) -> None:
    """Write rows to a Parquet file; names that differ only in case are changed."""
    import duckdb

    columns = tuple(
        Field(f"c{number}", _written_type(field.type))
        for number, field in enumerate(rows.fields)
    )
    names = distinct_names(rows.names, by_case=False)
    selected = ", ".join(
        f"{column.name} AS {quote_identifier(name)}"
        for column, name in zip(columns, names, strict=True)
    )
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        gathered = Path(folder, "rows.csv")
        with open(gathered, "wb") as file:
            file.writelines(text_rows(RowStream(columns, rows.batches), "csv"))
        try:
            with duckdb.connect() as connection:
                connection.execute(
                    "SET threads = 1"
                )  # each thread buffers rows of its own
                connection.execute(
                    f"COPY (SELECT {selected} FROM {_scan(gathered, columns)}) "
                    f"TO {quote_text(str(path))} (FORMAT parquet, USE_TMP_FILE false, "
                    f"ROW_GROUP_SIZE {ROW_GROUP})"
                )
        except duckdb.Error as error:
            reason = first_line(str(error))
            msg = f"Parquet cannot be written there ({reason}): try another folder"
            raise ParameterError(msg) from None


def _scan(path: Path, columns: tuple[Field, ...]) -> str:
    """Return SQL that reads a CSV file with these columns."""
    types = ", ".join(f"'{column.name}': '{column.type}'" for column in columns)
    return (
        f"read_csv({quote_text(str(path))}, auto_detect = false, header = true, "
        f"columns = {{{types}}}, delim = ',', quote = '\"', escape = '\"', "
        f"new_line = '\\n', nullstr = '', max_line_size = {LONGEST_LINE})"
    )


def _written_type(type_: str) -> str:
    """Return the type that a column is written as."""
    if type_ in _INTEGERS or type_ in _UNSIGNED or type_ in _OTHERS:
        return type_
    return "DOUBLE" if type_.startswith("DECIMAL") else "VARCHAR"


_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".json": "json",
}
# Formats of files that are written whole, and no text.
WHOLE_FILES = {"parquet": write_parquet, "xlsx": write_workbook}
OUTPUT_FORMATS = tuple(dict.fromkeys(_SUFFIXES.values()))


def output_format_of(path: str | None, *, declared: str | None = None) -> str:
    """Return the format to write in: the declared one, or that of a file's suffix.

    "json" is a single document, which :func:`write_rows` does not write.

    >>> output_format_of("out.TSV.gz"), output_format_of("out", declared="parquet")
    ('tsv', 'parquet')
    """
    if declared is not None and declared not in OUTPUT_FORMATS:
        refuse_unknown("output_format", declared, OUTPUT_FORMATS)
    if path is None:
        return declared or "csv"
    lower = path.lower()
    by_suffix = _SUFFIXES.get(Path(lower.removesuffix(".gz")).suffix)
    if declared is None and by_suffix is None:
        msg = f"the suffix of {path!r} is no known format"
        known = ", ".join(_SUFFIXES)
        remedy = f"use one of {known} (.gz after a text format is fine)"
        raise ParameterError(msg, remedy=remedy)
    if declared is not None and by_suffix not in (None, declared):
        msg = f"{path!r} has the suffix of {by_suffix}, but the format is {declared}"
        raise ParameterError(msg, remedy="name the file by its format")
    format_ = declared or by_suffix or ""
    if format_ in WHOLE_FILES and lower.endswith(".gz"):
        msg = f"{path!r}: {format_} is already compressed: remove .gz"
        raise ParameterError(msg)
    return format_


def write_rows(
    path: str | os.PathLike[str],
    rows: RowStream,
    *,
    format: str,
    overwrite: bool = True,
    cell_text: Callable[[Any], str] = plain_text,
) -> None:
    r"""Write rows to a file, whole or not at all; compressed if its name ends in .gz.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from spinney.data.writers import Field
    >>> with TemporaryDirectory() as folder:
    ...     out = Path(folder, "out.tsv")
    ...     write_rows(out, RowStream((Field("x"),), [[["a", "b"]]]), format="tsv")
    ...     out.read_bytes()
    b'x\na\nb\n'
    """
    if format in WHOLE_FILES:
        with whole_file(path, overwrite=overwrite) as temporary:
            WHOLE_FILES[format](rows, temporary)
        return
    parts = text_rows(rows, format, cell_text=cell_text)
    write_parts(path, parts, overwrite=overwrite)


def write_parts(
    path: str | os.PathLike[str], parts: Iterable[bytes], *, overwrite: bool
) -> None:
    """Write the parts of a text to a file, compressed if its name ends in .gz."""
    if os.fsdecode(path).lower().endswith(".gz"):
        parts = _compressed(parts)
    write_whole(path, parts, overwrite=overwrite)


def _compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield parts compressed by gzip, without a time, so bytes are reproducible."""
    buffer = BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
        for part in parts:
            file.write(part)
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()
