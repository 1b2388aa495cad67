"""Finding a file, and making it one that can be read: local, plain and in UTF-8."""

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
from pathlib import Path
from typing import IO, cast

from spinney.errors import DataError, Setting, phrase, refusal, refuse_unknown

STANDARD_INPUT = "-"
UTF8 = "utf-8"
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arff": "arff",
}
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 20


def format_of(path: str, *, declared: str | None = None) -> str:
    """Return the format of a file: the declared one, or that of its suffix.

    >>> format_of("table.CSV.gz"), format_of("-"), format_of("x", declared="arff")
    ('csv', 'csv', 'arff')
    """
    if declared is not None:
        if declared not in FORMATS:
            refuse_unknown("format", declared, FORMATS)
        return declared
    if path == STANDARD_INPUT:
        return "csv"
    plain = Path(path.lower().removesuffix(".gz"))
    if plain.suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        msg = f"the suffix of {path!r} tells no format"
        remedy = phrase(
            "use one of {} (.gz after it is fine) or name the format ({})",
            known,
            Setting("format", "csv"),
        )
        raise DataError(msg, remedy=remedy)
    return SUFFIXES[plain.suffix]


def origin_of(path: str) -> str:
    """Return what the user knows a file as."""
    return "standard input" if path == STANDARD_INPUT else path


def refuse_file_options(format: str | None, encoding: str) -> None:
    """Refuse what only a file has, for a table that is none."""
    for name, value, usual in (("format", format, None), ("encoding", encoding, UTF8)):
        if value != usual:
            raise refusal(
                Setting(name, value), "is for files", "leave it out for data in memory"
            )


@contextmanager
def readable(path: str, *, format: str, encoding: str) -> Iterator[Path]:
    """Give a regular, uncompressed file, of UTF-8 if it is a text format.

    It is the file itself where that will do, else a private copy that is removed.
    """
    encoding = _known_encoding(encoding)
    try:
        if path != STANDARD_INPUT and _usable_as_it_is(path, encoding, format):
            yield Path(os.path.abspath(path))
            return
        with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
            copy = Path(folder, f"table.{format}")
            _copy(path, copy, encoding=None if format == "parquet" else encoding)
            yield copy
    except (EOFError, gzip.BadGzipFile, zlib.error):
        msg = f"{path!r} is cut short or damaged inside: compress or fetch it again"
        raise DataError(msg) from None
    except UnicodeError:
        raise wrong_encoding(path, encoding) from None
    except BrokenPipeError:  # of whoever writes what is read here
        raise
    except OSError as error:
        raise _unreadable(path, error) from None


def wrong_encoding(path: str, encoding: str) -> DataError:
    """Return the error for bytes that are no text of this encoding."""
    return DataError(
        f"{path!r} is not text in {encoding}",
        remedy=phrase(
            "name its encoding ({}) or save it as UTF-8", Setting("encoding", "latin-1")
        ),
    )


def _known_encoding(encoding: str) -> str:
    """Return the standard name of an encoding of text."""
    try:
        "".encode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        remedy = "use 'utf-8', 'latin-1' or 'cp1252'"
        raise refusal(Setting("encoding", encoding), "is unknown", remedy) from None


def _usable_as_it_is(path: str, encoding: str, format: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except ValueError:  # a NUL character
        raise FileNotFoundError from None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError
    if not stat.S_ISREG(mode):
        return False
    with open(path, "rb") as file:
        compressed = file.read(2) == _GZIP_MAGIC
    return format == "parquet" or (encoding == "utf-8" and not compressed)


def _copy(path: str, copy: Path, *, encoding: str | None) -> None:
    """Copy standard input or a file, uncompressed and, given an encoding, as UTF-8."""
    raw = copy.with_suffix(".raw")
    with _opened(path) as source, open(raw, "wb") as target:
        shutil.copyfileobj(source, target, _CHUNK)
    with _uncompressed(raw) as source, open(copy, "wb") as target:
        if encoding is None or encoding == "utf-8":
            shutil.copyfileobj(source, target, _CHUNK)
            return
        decoder = codecs.getincrementaldecoder(encoding)()
        while chunk := source.read(_CHUNK):
            target.write(decoder.decode(chunk).encode("utf-8"))
        target.write(decoder.decode(b"", final=True).encode("utf-8"))


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
    """Return the error for a file that the operating system will not give."""
    if isinstance(error, FileNotFoundError):
        return DataError(f"there is no file {path!r}: check its name and folder")
    if isinstance(error, IsADirectoryError):
        return DataError(f"{path!r} is a folder: name a file in it")
    if isinstance(error, PermissionError):
        return DataError(f"{path!r} may not be read: change its permissions")
    reason = error.strerror or type(error).__name__
    return DataError(f"{path!r} cannot be read ({reason}): check the file and the disk")
