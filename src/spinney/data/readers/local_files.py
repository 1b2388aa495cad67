"""Local files: format, encoding, decompression and conversion to UTF-8."""

import codecs
import gzip
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from spinney.data.declarations import Declarations
from spinney.data.readers.file_sets import TableFile, files_of_table, is_file_set
from spinney.data.reading_notes import ReadingNotes
from spinney.errors import (
    DataError,
    ParameterError,
    Setting,
    phrase,
    refusal,
    refuse_unknown,
)

STANDARD_INPUT = "-"
UTF8 = "utf-8"
# The encoding of old Windows programs, then one that decodes every byte.
OLD_ENCODINGS = ("cp1252", "latin-1")
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arff": "arff",
    ".xlsx": "xlsx",
}
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
NOT_TEXT = ("parquet", "xlsx")

_GZIP_MAGIC = b"\x1f\x8b"
# Longer byte-order marks first: that of UTF-32 begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CHUNK = 1 << 20


def format_of(path: str, *, declared: str | None = None) -> str:
    """Return the declared format of a file, or else that of its suffix.

    >>> format_of("table.CSV.gz"), format_of("-"), format_of("x", declared="arff")
    ('csv', 'csv', 'arff')
    """
    if declared is not None:
        if declared not in FORMATS:
            refuse_unknown("format", declared, FORMATS)
        return declared
    if path == STANDARD_INPUT:
        return "csv"
    if is_file_set(path):
        return "parquet"
    plain = Path(path.lower().removesuffix(".gz"))
    if "://" in path:
        msg = f"{path.partition('://')[0]}://… is an address, not a file"
        elsewhere = (
            "save the table as a file; docs/databases.md lists what databases do"
        )
        raise DataError(msg, remedy=elsewhere)
    if plain.suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        msg = f"the suffix of {path!r} is no known format"
        words = "use one of {} (.gz after it is fine) or name the format ({})"
        remedy = phrase(words, known, Setting("format", "csv"))
        raise DataError(msg, remedy=remedy)
    return SUFFIXES[plain.suffix]


def origin_of(path: str) -> str:
    """Return the name of a file in messages."""
    return "standard input" if path == STANDARD_INPUT else path


def refuse_file_options(format: str | None, encoding: str | None) -> None:
    """Refuse file options for a table in memory."""
    for name, value in (("format", format), ("encoding", encoding)):
        if value is not None:
            raise refusal(
                Setting(name, value),
                "applies only to files",
                "remove it for data in memory",
            )


def refuse_text_format(declarations: Declarations, format: str | None) -> None:
    """Refuse a declared text format for a table whose cells have types.

    ``format`` is the file's format, None for a table in memory. The text format of a
    model may apply to any table.
    """
    names: tuple[str, ...] = ("sheet",)  # the other settings may be those of a model
    if declarations.only is None:
        names = ("decimal", "thousands", "dates", "skip", "sheet")
    unused = {"jsonl": ("skip", "sheet"), "xlsx": ()}
    unused |= dict.fromkeys(("csv", "tsv"), ("sheet",))
    for name in filter(unused.get(format or "", names).__contains__, names):
        value = getattr(declarations.text_format, name)
        if value is not None:
            where = "data in memory" if format is None else f"{format} files"
            remedy = f"leave it out for {where}"
            what = "text as people write it" if name != "sheet" else "Excel workbooks"
            raise refusal(Setting(name, value), f"is for {what}", remedy)


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A plain file at ``path``, with its name in messages, ``origin``.

    ``parts`` are the files of a table in several files, the first one at ``path``.
    """

    path: Path
    origin: str
    format: str
    encoding: str | None
    parts: tuple[TableFile, ...] = ()


@contextmanager
def opened_file(
    path: str,
    declarations: Declarations,
    *,
    format: str | None = None,
    encoding: str | None = None,
) -> Iterator[tuple[LocalFile, ReadingNotes]]:
    """Yield a table's file for reading, and the notes of its reader."""
    kind = format_of(path, declared=format)
    refuse_text_format(declarations, kind)
    notes = ReadingNotes(quiet=declarations.only is not None)
    if path != STANDARD_INPUT and is_file_set(path):
        if encoding is not None:
            raise _no_encoding(_known_encoding(encoding), "parquet")
        parts = files_of_table(path, tuple(SUFFIXES), declared=format)
        yield LocalFile(parts[0].path, path, "parquet", None, parts), notes
        return
    with readable(path, format=kind, encoding=encoding, notes=notes) as local:
        yield LocalFile(local, origin_of(path), kind, encoding), notes


@contextmanager
def readable(
    path: str, *, format: str, encoding: str | None, notes: ReadingNotes
) -> Iterator[Path]:
    """Yield a regular, uncompressed file, in UTF-8 if it is a text format.

    It is the file itself if possible, else a temporary copy. The encoding is inferred
    by default, and noted unless it is UTF-8.
    """
    if encoding is not None:
        encoding = _known_encoding(encoding)
        if format in NOT_TEXT:
            raise _no_encoding(encoding, format)
    try:
        with _uncompressed_file(path, format) as local:
            if format in NOT_TEXT:
                yield local
                return
            encoding = encoding or _encoding_of(local, notes)
            if encoding == UTF8:
                yield local
                return
            with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
                copy = Path(folder, f"table.{format}")
                _recode(local, copy, encoding)
                yield copy
    except (EOFError, gzip.BadGzipFile, zlib.error):
        msg = f"{path!r} is truncated or damaged: compress or download it again"
        raise DataError(msg) from None
    except UnicodeError:
        raise wrong_encoding(path, encoding) from None
    except BrokenPipeError:  # from the program that writes to standard input
        raise
    except OSError as error:
        raise _unreadable(path, error) from None


def _no_encoding(encoding: str, format: str) -> ParameterError:
    remedy = f"leave it out for {format} files"
    return refusal(Setting("encoding", encoding), "is for text", remedy)


def wrong_encoding(path: str, encoding: str | None) -> DataError:
    """Return the error for bytes that are invalid in this encoding."""
    return DataError(
        f"{path!r} is not text in {encoding or UTF8}",
        remedy=phrase(
            "name its encoding ({}) or save it as UTF-8", Setting("encoding", "latin-1")
        ),
    )


def _known_encoding(encoding: str) -> str:
    """Return the standard name of a text encoding; refuse others."""
    try:
        "".encode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        remedy = "use 'utf-8', 'latin-1' or 'cp1252'"
        raise refusal(Setting("encoding", encoding), "is unknown", remedy) from None


@contextmanager
def _uncompressed_file(path: str, format: str) -> Iterator[Path]:
    """Yield an uncompressed regular file: the file itself, or a copy."""
    if path != STANDARD_INPUT and _is_plain_file(path):
        yield Path(os.path.abspath(path))
        return
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        raw, copy = Path(folder, "table.raw"), Path(folder, f"table.{format}")
        with _opened(path) as source, open(raw, "wb") as target:
            shutil.copyfileobj(source, target, _CHUNK)
        with _uncompressed(raw) as source, open(copy, "wb") as target:
            shutil.copyfileobj(source, target, _CHUNK)
        yield copy


def _is_plain_file(path: str) -> bool:
    """Return whether a path is a regular file that is not compressed."""
    try:
        mode = os.stat(path).st_mode
    except ValueError:  # a path with a NUL character
        raise FileNotFoundError from None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError
    if not stat.S_ISREG(mode):
        return False
    with open(path, "rb") as file:
        return file.read(2) != _GZIP_MAGIC


def _encoding_of(path: Path, notes: ReadingNotes) -> str:
    """Return the encoding by byte-order mark, or UTF-8, or else an older one."""
    with open(path, "rb") as file:
        first = file.read(4)
    for mark, encoding in _MARKS.items():
        if first.startswith(mark):
            return encoding
    for encoding in (UTF8, *OLD_ENCODINGS):
        if _is_text(path, encoding):
            break
    if encoding != UTF8:
        notes.add(
            "the file is not UTF-8 and is read with ", Setting("encoding", encoding)
        )
    return encoding


def _is_text(path: Path, encoding: str) -> bool:
    """Return whether a file is text of an encoding that extends ASCII."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with open(path, "rb") as file:
        try:
            while chunk := file.read(_CHUNK):
                if not chunk.isascii() or decoder.getstate()[0]:
                    decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _recode(path: Path, copy: Path, encoding: str) -> None:
    """Copy a text file as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with open(path, "rb") as source, open(copy, "wb") as target:
        while chunk := source.read(_CHUNK):
            target.write(decoder.decode(chunk).encode(UTF8))
        target.write(decoder.decode(b"", final=True).encode(UTF8))


@contextmanager
def _uncompressed(path: Path) -> Iterator[IO[bytes]]:
    with open(path, "rb") as file:
        compressed = file.read(2) == _GZIP_MAGIC
        file.seek(0)
        if compressed:
            with gzip.open(file, "rb") as plain:
                yield cast("IO[bytes]", plain)
        else:
            yield file


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            msg = "standard input is closed: pipe a table into it, or name a file"
            raise DataError(msg)
        yield sys.stdin.buffer
    else:
        with open(path, "rb") as file:
            yield file


def _unreadable(path: str, error: OSError) -> DataError:
    """Return the error for a file that the operating system refuses."""
    if isinstance(error, FileNotFoundError):
        return DataError(
            f"there is no file {path!r}", remedy="check its name and folder"
        )
    if isinstance(error, IsADirectoryError):
        return DataError(f"{path!r} is a folder: name a file in it")
    if isinstance(error, PermissionError):
        return DataError(f"{path!r} cannot be read (permission denied)")
    reason = error.strerror or type(error).__name__
    return DataError(f"{path!r} cannot be read ({reason}): check the file and the disk")
