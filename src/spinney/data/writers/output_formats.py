"""Which format rows are written in: that of the suffix, or the one that is named."""

import gzip
import os
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from spinney._support.atomic_file import whole_file, write_whole
from spinney.data.writers.delimited_text import RowStream, plain_text, text_rows
from spinney.data.writers.parquet_rows import write_parquet
from spinney.errors import ParameterError, refuse_unknown

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".json": "json",
}
OUTPUT_FORMATS = tuple(dict.fromkeys(_SUFFIXES.values()))


def output_format_of(path: str | None, *, declared: str | None = None) -> str:
    """Return the format to write in: the declared one, or that of a file's suffix.

    "json" is one document, which is not made of rows alone: :func:`write_rows` does
    not write it.

    >>> output_format_of("out.TSV.gz"), output_format_of("out", declared="parquet")
    ('tsv', 'parquet')
    """
    if declared is not None and declared not in OUTPUT_FORMATS:
        refuse_unknown("output_format", declared, OUTPUT_FORMATS)
    if path is None:
        return declared or "csv"
    small = path.lower()
    told = _SUFFIXES.get(Path(small.removesuffix(".gz")).suffix)
    if declared is None and told is None:
        msg = f"the suffix of {path!r} is no known format"
        known = ", ".join(_SUFFIXES)
        remedy = f"use one of {known} (.gz after a text format is fine)"
        raise ParameterError(msg, remedy=remedy)
    if declared is not None and told not in (None, declared):
        msg = f"{path!r} has the suffix of {told} and would hold {declared}"
        raise ParameterError(msg, remedy="name the file by its format")
    format_ = declared or told or ""
    if format_ == "parquet" and small.endswith(".gz"):
        msg = f"{path!r}: Parquet is compressed inside: leave .gz out"
        raise ParameterError(msg)
    return format_


def write_rows(
    path: str | os.PathLike[str],
    rows: RowStream,
    *,
    format: str,
    force: bool = True,
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
    if format == "parquet":
        with whole_file(path, force=force) as temporary:
            write_parquet(rows, temporary)
        return
    parts = text_rows(rows, format, cell_text=cell_text)
    write_parts(path, parts, force=force)


def write_parts(
    path: str | os.PathLike[str], parts: Iterable[bytes], *, force: bool
) -> None:
    """Write parts of a text to a file; compressed where its name ends in .gz."""
    if os.fsdecode(path).lower().endswith(".gz"):
        parts = _compressed(parts)
    write_whole(path, parts, force=force)


def _compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield parts as gzip writes them; the same bytes whenever it is done."""
    buffer = BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as file:
        for part in parts:
            file.write(part)
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()
