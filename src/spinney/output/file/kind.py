"""Kinds of model files: names, arrays, writing and reading.

Trees, forests and clusters are files of one form: a safetensors container (see
:mod:`spinney.output.file.container`) with arrays and these texts:

format
    The kind, such as ``spinney-tree``.
format_version, min_reader_version
    The version of the format, and the oldest one whose readers can use the file.
library_version
    The version of Spinney that wrote the file.
model
    JSON: all content except the arrays.

A file is written whole or not at all. Loading runs no code: container, version, and the
names and types of arrays are checked here for every kind, their content by
``Kind.read``.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO, Generic, TypeVar

import numpy as np

from spinney._support.atomic_file import write_whole
from spinney._version import __version__
from spinney.errors import ModelFormatError, ParameterError, Setting, refusal
from spinney.output.file.container import DTYPES as CONTAINED
from spinney.output.file.container import (
    LENGTH,
    Header,
    pack,
    read_header,
    unpack,
    worth_packing,
)
from spinney.output.file.file_arrays import Arrays
from spinney.output.file.plain_data import members
from spinney.output.file.strict_json import (
    DamageError,
    ForeignFileError,
    dump,
    parse,
    refuse,
)
from spinney.output.file.tree_check import MAX_NODES

FOREST = "spinney-forest"
CLUSTERS = "spinney-clusters"
_TEXTS = ("format", "format_version", "min_reader_version", "library_version", "model")

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Limits on the size of a model file.

    Parameters
    ----------
    file_bytes, header_bytes : int
        The maximum size of the file and of its header, checked before reading.
    unpacked_bytes : int
        The maximum unpacked size of all arrays, checked before unpacking.
    nodes : int
        The maximum number of nodes.
    """

    file_bytes: int = 1 << 32
    header_bytes: int = 1 << 26
    unpacked_bytes: int = 1 << 32
    nodes: int = MAX_NODES


@dataclass(frozen=True, slots=True)
class Kind(Generic[Content]):
    """A kind of model file.

    Parameters
    ----------
    content : type
        The type of the loaded content.
    format, version : str, int
        The format and the version in the file; readers of that version can use it.
    packed_version : int
        The version, if greater, of files with packed arrays.
    later_version, is_later : int, function of a header
        The version, if greater, of files for whose header ``is_later`` is true.
    noun : str
        The content in error messages: "this forest".
    again : str
        The advice to replace a damaged file: "grow the forest again".
    refusal : str
        The message for a file of another format.
    dtypes : mapping
        The permitted dtypes of each array, by name.
    parts : callable
        Returns the header and arrays of content; raises DamageError if ``read`` would.
    read : callable
        Returns the content from header, arrays and maximum number of nodes, or raises
        DamageError.
    refusals : mapping
        Messages for files of other formats, by format.
    completed : callable, optional
        Returns arrays with defaults for those that older versions lack.
    limits : FileLimits
        The default limits.
    """

    content: type[Content]
    format: str
    version: int
    packed_version: int
    noun: str
    again: str
    refusal: str
    dtypes: Mapping[str, tuple[type[np.generic], ...]]
    parts: Callable[[Content], tuple[Mapping[str, Any], Arrays]]
    read: Callable[[object, Arrays, int], Content]
    refusals: Mapping[str, str] = field(default_factory=dict)
    completed: Callable[[Arrays], Arrays] | None = None
    limits: FileLimits = field(default_factory=FileLimits)
    later_version: int = 0
    is_later: Callable[[Mapping[str, Any]], bool] = field(default=lambda _: False)

    @property
    def newest(self) -> int:
        """The newest version that can be read."""
        return max(self.version, self.packed_version, self.later_version)

    def version_of(self, header: Mapping[str, Any], *, packed: bool) -> int:
        """Return the oldest version whose readers can use a file."""
        asked = [self.version]
        asked += [self.packed_version] if packed else []
        asked += [self.later_version] if self.is_later(header) else []
        return max(asked)

    @property
    def remedy(self) -> str:
        """The remedy for a file that is damaged."""
        return f"restore it from a copy, or {self.again}"


def save_kind(
    kind: Kind[Content],
    content: Content,
    path: "str | os.PathLike[str]",
    *,
    overwrite: bool,
) -> None:
    """Save a model, as :func:`spinney.output.file.model_files.save_model` does."""
    _check_path(path)
    try:
        header, arrays = kind.parts(content)
        packed = worth_packing(arrays, kind.limits.unpacked_bytes)
        version = str(kind.version_of(header, packed=packed))
        texts = {
            "format": kind.format,
            "format_version": version,
            "min_reader_version": version,
            "library_version": __version__,
            "model": dump(header),
        }
        parts = pack(arrays, texts, packed=packed)
    except DamageError as damage:
        msg = f"cannot write {os.fsdecode(path)}: {kind.noun} cannot be saved: {damage}"
        raise ParameterError(msg) from None
    write_whole(path, parts, overwrite=overwrite)


def load_kind(
    kinds: Iterable[Kind[Any]],
    path: "str | os.PathLike[str]",
    limits: FileLimits | None,
) -> Any:
    """Load what :func:`save_kind` wrote, or raise ModelFormatError.

    The file's format selects one of ``kinds``; errors for other formats are those of
    the first kind.
    """
    _check_path(path)
    try:
        kind, header, data = _read_file(kinds, path, limits)
        return _content(kind, header, data, limits or kind.limits)
    except DamageError as damage:
        msg = f"cannot load {os.fsdecode(path)}: {damage}"
        raise ModelFormatError(msg) from None


def content_of(
    kinds: Iterable[Kind[Any]], data: bytes, limits: FileLimits | None = None
) -> Any:
    """Return the content of a file's bytes, which must be of one of ``kinds``."""
    header = read_header(data)
    kind = _kind_of_format(header.texts.get("format"), iter(kinds))
    return _content(kind, header, data, limits or kind.limits)


def _kind_of_format(written: str | None, kinds: Iterator[Kind[Any]]) -> Kind[Any]:
    """Return the kind with this format, or the first kind."""
    first = next(kinds)
    every = chain([first], kinds)
    return next((kind for kind in every if kind.format == written), first)


def _content(
    kind: Kind[Content], header: Header, data: bytes, limits: FileLimits
) -> Content:
    _check_format(kind, header.texts.get("format"))
    with _advice(kind.remedy):
        _check_packed(kind, header)
        arrays: Arrays = unpack(
            data, header, max_unpacked=limits.unpacked_bytes, known=kind.dtypes
        )
        if kind.completed:
            arrays = kind.completed(arrays)
    _check_version(kind, header)
    with _advice(_remedy(kind, header)):
        members(dict(header.texts), "the file", _TEXTS)
        members(arrays, "the file", kind.dtypes)
        for name, dtypes in kind.dtypes.items():
            if arrays[name].dtype not in dtypes:
                refuse(f"the array {name!r} has the dtype of another")
        return kind.read(parse(header.texts["model"]), arrays, limits.nodes)


def _check_packed(kind: Kind[Any], header: Header) -> None:
    """Refuse unknown packed arrays before unpacking any."""
    for name, form in header.packed.items():
        wanted = kind.dtypes.get(name)
        if wanted is not None and CONTAINED[form.dtype].type not in wanted:
            refuse(f"the array {name!r} has the dtype of another")


@contextmanager
def _advice(remedy: str) -> Iterator[None]:
    """Add the remedy to a message about damage."""
    try:
        yield
    except ForeignFileError:
        raise
    except DamageError as damage:
        refuse(f"{damage}; {remedy}")


def _check_format(kind: Kind[Any], written: str | None) -> None:
    if written is not None and written in kind.refusals:
        refuse(kind.refusals[written])
    if written != kind.format:
        refuse(f"{kind.refusal}; {kind.remedy}")


def _check_path(path: object) -> None:
    """Refuse a path of another type: an integer would mean an open file."""
    if not isinstance(path, (str, os.PathLike)):
        raise refusal(
            Setting("path", path), "is not a path", "give the name of a model file"
        )


def _read_file(
    kinds: Iterable[Kind[Any]],
    path: "str | os.PathLike[str]",
    limits: FileLimits | None,
) -> tuple[Kind[Any], Header, bytes]:
    """Return the kind of a file, its header and its bytes, within the limits.

    Pipes and devices are not opened, as reading could block.
    """
    kinds = iter(kinds)
    kind = next(kinds)
    try:
        size = _size(path)
        with open(path, "rb") as file:
            head, header = _read_head(file, size, limits or kind.limits, kind.remedy)
            kind = _kind_of_format(header.texts.get("format"), chain([kind], kinds))
            _check_size(size, limits or kind.limits)
            file.seek(0)
            data = file.read(size + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        refuse(f"{reason}; check the path and the permissions")
    if len(data) != size or not data.startswith(head):
        refuse("it changed while it was read; try again")
    return kind, header, data


def _read_head(
    file: BinaryIO, size: int, limits: FileLimits, remedy: str
) -> tuple[bytes, Header]:
    head = file.read(LENGTH)
    head += file.read(min(int.from_bytes(head, "little"), limits.header_bytes))
    try:
        with _advice(remedy):
            header = read_header(head, max_header=limits.header_bytes, size=size)
    except DamageError:
        _check_size(size, limits)
        raise
    return head, header


def _size(path: "str | os.PathLike[str]") -> int:
    """Return the size of a regular file."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        refuse(f"it is {kind}; name the model file itself")
    return status.st_size


def _check_size(size: int, limits: FileLimits) -> None:
    if size > limits.file_bytes:
        refuse(
            f"it has {size} bytes, over the limit of "
            f"{limits.file_bytes}; allow more (limits) if you trust it"
        )


def _version(header: Header, key: str) -> int:
    """Return a version number in the header; 0 if it is missing."""
    digits = header.texts.get(key, "")
    return (
        int(digits) if len(digits) < 10 and digits.isascii() and digits.isdigit() else 0
    )


def _check_version(kind: Kind[Any], header: Header) -> None:
    """Refuse a file that only readers of a newer format can use."""
    oldest = _version(header, "min_reader_version")
    if oldest > kind.newest:
        writer = header.texts.get("library_version", "unknown")[:40]
        refuse(
            f"it was written by a newer Spinney ({writer}), as format {oldest}, and "
            f"this one reads up to {kind.newest}; upgrade Spinney"
        )
    if not 1 <= oldest <= _version(header, "format_version"):
        refuse(f"its version numbers are invalid; {kind.remedy}")


def _remedy(kind: Kind[Any], header: Header) -> str:
    """Return the remedy for a file that may be damaged or newer."""
    if _version(header, "format_version") > kind.newest:
        return "it was written by a newer Spinney: upgrade"
    return kind.remedy
