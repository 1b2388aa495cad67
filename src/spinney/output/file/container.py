"""The container of a model file: named arrays and texts, with a checksum.

It is a safetensors file, so that other tools can open it::

    8 bytes   n, the length of the header, little-endian
    n bytes   the header, JSON: for each array its dtype, shape and place, and
              under "__metadata__" the texts; padded with spaces to 8 bytes
    the rest  the arrays without gaps, little-endian

The last 32 bytes are the array ``sha256``, the checksum of all bytes before them.
That is so in every version of the format.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.output.file.plain_data import OPTIONAL, as_list, members, text, whole
from spinney.output.file.strict_json import DamageError, dump, parse

DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "U8": np.dtype("u1"),
}
CHECKSUM = "sha256"
METADATA = "__metadata__"
LENGTH = 8

_PICKLE, _ZIP, _GZIP = b"\x80", b"PK", b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a file: its texts, and where each array is in the rest."""

    texts: Mapping[str, str]
    entries: Mapping[str, tuple[str, tuple[int, ...], int]]
    start: int


def pack(arrays: Mapping[str, NDArray[Any]], texts: Mapping[str, str]) -> list[bytes]:
    """Return the parts of a file; the same ones for the same content.

    >>> parts = pack({"a": np.arange(3)}, {"format": "example"})
    >>> header = read_header(b"".join(parts))
    >>> unpack(b"".join(parts), header)
    {'a': array([0, 1, 2])}
    """
    names = {dtype.str[1:]: name for name, dtype in DTYPES.items()}
    entries: dict[str, Any] = {METADATA: dict(sorted(texts.items()))}
    parts, end = [], 0
    checksum = np.zeros(32, dtype=np.uint8)
    for name, array in [*sorted(arrays.items()), (CHECKSUM, checksum)]:
        dtype = names[array.dtype.str[1:]]
        part = array.astype(DTYPES[dtype], copy=False).tobytes()
        entries[name] = {
            "dtype": dtype,
            "shape": list(array.shape),
            "data_offsets": [end, end + len(part)],
        }
        parts.append(part)
        end += len(part)
    header = dump(entries).encode("utf-8")
    header += b" " * (-len(header) % 8)
    file = [len(header).to_bytes(LENGTH, "little"), header, *parts[:-1]]
    digest = hashlib.sha256()
    for part in file:
        digest.update(part)
    return [*file, digest.digest()]


def read_header(data: bytes, *, max_header: int = 1 << 26) -> Header:
    """Return the header of a file, after checking all that it says of itself."""
    if len(data) == 0:
        msg = "it is empty"
        raise DamageError(msg)
    length = int.from_bytes(data[:LENGTH], "little")
    if len(data) < LENGTH or length > min(max_header, len(data) - LENGTH):
        raise DamageError(_why_foreign(data, length, max_header))
    try:
        header = data[LENGTH : LENGTH + length].decode("utf-8")
    except UnicodeDecodeError:
        msg = "its header is not in UTF-8"
        raise DamageError(msg) from None
    entries = parse(header)
    if not isinstance(entries, dict):
        msg = "its header is no JSON object"
        raise DamageError(msg)
    texts = entries.pop(METADATA, {})
    if not isinstance(texts, dict):
        msg = "its texts are no JSON object"
        raise DamageError(msg)
    return Header(
        {key: text(value, f"the text {key[:80]!r}") for key, value in texts.items()},
        {name: _read_entry(entry, name) for name, entry in entries.items()},
        LENGTH + length,
    )


def _why_foreign(data: bytes, length: int, max_header: int) -> str:
    """Return what a file is whose first bytes are no length of a header."""
    for magic, kind in ((_ZIP, "a zip archive"), (_GZIP, "compressed by gzip")):
        if data.startswith(magic):
            return f"it is {kind}, not a model file"
    if data.startswith(_PICKLE):
        return "it looks like a pickle, which is never loaded as it could run code"
    if data.lstrip()[:1] == b"{":
        return (
            "it is JSON text, not a model file: a JSON export is for reading, and "
            "spinney.load reads the .spinney file of the tree"
        )
    if len(data) < LENGTH or len(data) - LENGTH < length <= max_header:
        return "it ends before its header does"
    if data[:LENGTH].isascii() and data[:LENGTH].decode().isprintable():
        return "it is text, not a model file"
    return f"its first bytes tell a header of {length} bytes, over {max_header}"


def _read_entry(data: object, name: str) -> tuple[str, tuple[int, ...], int]:
    """Return dtype, shape and start of an array; its end must follow from them."""
    what = f"the array {name[:80]!r}"
    entry = members(data, what, ("dtype", "shape", "data_offsets"))
    dtype = entry["dtype"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        msg = f"{what} has the dtype {str(dtype)[:40]!r}, which a model has not"
        raise DamageError(msg)
    shape = tuple(
        whole(size, f"the shape of {what}")
        for size in as_list(entry["shape"], f"the shape of {what}")
    )
    if len(shape) not in (1, 2):
        msg = f"{what} has {len(shape)} dimensions"
        raise DamageError(msg)
    offsets = as_list(entry["data_offsets"], f"the place of {what}")
    if len(offsets) != 2:
        msg = f"the place of {what} must be two numbers"
        raise DamageError(msg)
    start, end = (whole(offset, f"the place of {what}") for offset in offsets)
    if end - start != math.prod(shape) * DTYPES[dtype].itemsize:
        msg = f"{what} has {end - start} bytes, which is not what its shape needs"
        raise DamageError(msg)
    return dtype, shape, start


def unpack(data: bytes, header: Header) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file, after checking length, places and checksum."""
    end = 0
    ordered = sorted(
        header.entries.items(), key=lambda item: (item[1][2], _size(item[1]))
    )
    for name, entry in ordered:
        if entry[2] != end:
            msg = f"the array {name[:80]!r} does not follow the one before it"
            raise DamageError(msg)
        end += _size(entry)
    available = len(data) - header.start
    if end != available:
        msg = f"it has {available} bytes of arrays where its header tells {end}"
        raise DamageError(msg)
    if not ordered or ordered[-1][0] != CHECKSUM or _size(ordered[-1][1]) != 32:
        msg = "it has no checksum at its end"
        raise DamageError(msg)
    view = memoryview(data)
    if hashlib.sha256(view[:-32]).digest() != data[-32:]:
        msg = "its checksum does not match its content"
        raise DamageError(msg)
    return {
        name: _array(view, header.start, entry)
        for name, entry in ordered
        if name != CHECKSUM and not name.startswith(OPTIONAL)
    }


def _size(entry: tuple[str, tuple[int, ...], int]) -> int:
    dtype, shape, _ = entry
    return math.prod(shape) * DTYPES[dtype].itemsize


def _array(
    data: memoryview, offset: int, entry: tuple[str, tuple[int, ...], int]
) -> NDArray[Any]:
    dtype, shape, start = entry
    here = data[offset + start : offset + start + _size(entry)]
    array = np.frombuffer(here, dtype=DTYPES[dtype]).reshape(shape)
    native = array.dtype.newbyteorder("=")
    return array.astype(native, copy=False)
