"""The container of a model file: named arrays and texts, with a checksum.

It is a safetensors file, so that other tools can open it::

    8 bytes   n, the length of the header, little-endian
    n bytes   the header, JSON: for each array its dtype, shape and offsets, and
              under "__metadata__" the texts; padded with spaces to 8 bytes
    the rest  the arrays without gaps, little-endian

The last 32 bytes are the array ``sha256``, the checksum of all bytes before them.
This holds for every version of the format.

Arrays of a large file are *packed*, compressed by zlib; the text ``packed`` has their
dtypes and shapes. An array that would unpack to more than a hundred times its size is
not packed, so that small files need little memory.
"""

import hashlib
import math
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.threads import run_all
from spinney.output.file.plain_data import OPTIONAL, as_list, members, text, whole
from spinney.output.file.strict_json import (
    DamageError,
    ForeignFileError,
    dump,
    parse,
    refuse,
)

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
PACKED = "packed"
LENGTH = 8

# Smaller arrays are not worth packing.
PACKED_FROM = 1 << 16
# Level 1 saves most: higher levels take four times as long for a sixth of the bytes.
LEVEL = 1

# Above this unpacked size, MOST_TIMES limits the ratio to the size of the file.
FREELY_UNPACKED = 1 << 26
MOST_TIMES = 100
LONGEST = 1 << 48  # more than any array has; NumPy does not overflow

_PICKLE, _ZIP, _GZIP = b"\x80", b"PK", b"\x1f\x8b"
_GROW = "if it is a table, grow a model on it, save it, and load the saved file"


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a file: its texts, and the place of each array.

    ``packed`` has dtype and shape of the packed arrays.
    """

    texts: Mapping[str, str]
    entries: Mapping[str, "ArrayPlace"]
    packed: Mapping[str, "ArrayForm"]
    start: int


def worth_packing(arrays: Mapping[str, NDArray[Any]], max_unpacked: int) -> bool:
    """Return whether arrays are large, and within the default limits for reading."""
    return PACKED_FROM <= sum(a.nbytes for a in arrays.values()) <= max_unpacked


def pack(
    arrays: Mapping[str, NDArray[Any]],
    texts: Mapping[str, str],
    *,
    packed: bool = False,
) -> list[bytes]:
    """Return the parts of a file; equal content gives equal parts.

    With ``packed``, arrays that become smaller are packed.

    >>> parts = pack({"a": np.arange(3)}, {"format": "example"})
    >>> header = read_header(b"".join(parts))
    >>> unpack(b"".join(parts), header)
    {'a': array([0, 1, 2])}
    """
    names = {dtype.str[1:]: name for name, dtype in DTYPES.items()}
    entries, forms, end = dict[str, Any](), dict[str, Any](), 0
    ordered = sorted(arrays.items())
    parts = run_all([partial(_bytes, array, packed=packed) for _, array in ordered])
    if sum(a.nbytes for a in arrays.values()) > may_become(sum(map(len, parts))):
        parts = [_bytes(array, packed=False) for _, array in ordered]
    checksum = np.zeros(32, dtype=np.uint8)
    parts.append(checksum.tobytes())
    for (name, array), part in zip(
        [*ordered, (CHECKSUM, checksum)], parts, strict=True
    ):
        form = {"dtype": names[array.dtype.str[1:]], "shape": list(array.shape)}
        if len(part) < array.nbytes:
            forms[name] = form
            form = {"dtype": "U8", "shape": [len(part)]}
        entries[name] = {**form, "data_offsets": [end, end + len(part)]}
        end += len(part)
    also = {PACKED: dump(forms)} if forms else {}
    entries[METADATA] = dict(sorted({**texts, **also}.items()))
    header = dump(entries).encode("utf-8")
    header += b" " * (-len(header) % 8)
    file = [len(header).to_bytes(LENGTH, "little"), header, *parts[:-1]]
    digest = hashlib.sha256()
    for part in file:
        digest.update(part)
    return [*file, digest.digest()]


def may_become(size: int) -> int:
    """Return the maximum unpacked size of a file of this size."""
    return max(FREELY_UNPACKED, MOST_TIMES * size)


def _bytes(array: NDArray[Any], *, packed: bool) -> bytes:
    """Return the little-endian bytes of an array, packed if asked and smaller."""
    part = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    smaller = zlib.compress(part, LEVEL) if packed else part
    return smaller if len(smaller) < len(part) else part


def read_header(
    data: bytes, *, max_header: int = 1 << 26, size: int | None = None
) -> Header:
    """Return the checked header of a file.

    If ``data`` is only the beginning of the file, ``size`` is the file size.
    """
    size = len(data) if size is None else size
    if len(data) == 0:
        refuse("it is empty")
    length = int.from_bytes(data[:LENGTH], "little")
    if size < LENGTH or length > min(max_header, size - LENGTH):
        raise _foreign(data, length, max_header, size)
    try:
        header = data[LENGTH : LENGTH + length].decode("utf-8")
    except UnicodeDecodeError:
        refuse("its header is not in UTF-8")
    entries = parse(header)
    if not isinstance(entries, dict):
        refuse("its header is no JSON object")
    texts = entries.pop(METADATA, {})
    if not isinstance(texts, dict):
        refuse("its texts are no JSON object")
    texts = {key: text(value, f"the text {key[:80]!r}") for key, value in texts.items()}
    places = {name: _read_place(entry, name) for name, entry in entries.items()}
    packed = _read_packed(texts.pop(PACKED, "{}"), places)
    return Header(texts, places, packed, LENGTH + length)


def _foreign(data: bytes, length: int, max_header: int, size: int) -> DamageError:
    """Return the error for a file that does not start with a header length."""
    for magic, kind in ((_ZIP, "a zip archive"), (_GZIP, "compressed by gzip")):
        if data.startswith(magic):
            return ForeignFileError(f"it is {kind}, not a model file; {_GROW}")
    if data.startswith(_PICKLE):
        msg = "it looks like a pickle, which is never loaded as it could run code"
        return DamageError(msg)
    if data.lstrip()[:1] == b"{":
        msg = "it is JSON text, not a model file; spinney.load reads exported models"
        return ForeignFileError(msg)
    if size < LENGTH or size - LENGTH < length <= max_header:
        return DamageError("it ends before its header does")
    if data[:LENGTH].isascii() and data[:LENGTH].decode().isprintable():
        msg = f"it is text, such as a table, and not a model file; {_GROW}"
        return ForeignFileError(msg)
    msg = f"its header has {length} bytes, over the limit of {max_header}"
    return DamageError(msg)


class ArrayForm(NamedTuple):
    """The type and shape of an array."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of bytes."""
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize


class ArrayPlace(NamedTuple):
    """The form of an array in the file, and its offset."""

    form: ArrayForm
    start: int


def _read_place(data: object, name: str) -> ArrayPlace:
    """Return the form and offset of an array, after checking them."""
    what = f"the array {name[:80]!r}"
    entry = members(data, what, ("dtype", "shape", "data_offsets"))
    form = read_form(entry, what)
    offsets = _numbers(entry["data_offsets"], "the place of", what)
    if len(offsets) != 2:
        refuse(f"the place of {what} must be two numbers")
    start, end = offsets
    if end - start != form.size:
        refuse(f"{what} has {end - start} bytes, which is not what its shape needs")
    return ArrayPlace(form, start)


def read_form(entry: Mapping[str, Any], what: str) -> ArrayForm:
    """Return the dtype and the shape of an array, after checking both."""
    dtype = entry["dtype"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        refuse(f"{what} has the dtype {str(dtype)[:40]!r}, which models do not use")
    shape = _numbers(entry["shape"], "the shape of", what)
    if len(shape) not in (1, 2):
        refuse(f"{what} has {len(shape)} dimensions")
    if max(shape) > LONGEST:  # even where the other length is 0
        refuse(f"{what} has a length of {max(shape)}, not what its shape needs")
    return ArrayForm(dtype, shape)


def _numbers(data: object, of: str, what: str) -> tuple[int, ...]:
    """Return a tuple of integers after checking it."""
    if type(data) is list and all(type(n) is int and 0 <= n < 2**63 for n in data):
        return tuple(data)
    return tuple(whole(n, f"{of} {what}") for n in as_list(data, f"{of} {what}"))


def _read_packed(
    written: str, places: Mapping[str, ArrayPlace]
) -> dict[str, ArrayForm]:
    """Return the forms of packed arrays; only byte arrays can be packed."""
    data, forms = parse(written), dict[str, ArrayForm]()
    if not isinstance(data, dict):
        refuse("what it says of packed arrays is no JSON object")
    for name, entry in data.items():
        what = f"the packed array {name[:80]!r}"
        form = places[name].form if name in places and name != CHECKSUM else None
        if form is None or form.dtype != "U8" or len(form.shape) != 1:
            refuse(f"{what} is not there as bytes")
        forms[name] = read_form(members(entry, what, ("dtype", "shape")), what)
    return forms


def unpack(
    data: bytes,
    header: Header,
    *,
    max_unpacked: int = 1 << 32,
    known: Collection[str] = (),
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file, after checking length, places and checksum.

    Optional arrays are read only if ``known`` has their names.
    """
    end = 0
    ordered = sorted(
        header.entries.items(), key=lambda item: (item[1].start, item[1].form.size)
    )
    for name, place in ordered:
        if place.start != end:
            refuse(f"the array {name[:80]!r} does not follow the one before it")
        end += place.form.size
    available = len(data) - header.start
    if end != available:
        refuse(f"it has {available} bytes of arrays, but its header says {end}")
    if not ordered or ordered[-1][0] != CHECKSUM or ordered[-1][1].form.size != 32:
        refuse("it has no checksum at its end")
    view = memoryview(data)
    if hashlib.sha256(view[:-32]).digest() != data[-32:]:
        refuse("its checksum does not match its content")
    unpacked = sum(form.size for form in header.packed.values())
    if unpacked > max_unpacked:
        refuse(
            f"its arrays unpack to {unpacked} bytes, over the limit of "
            f"{max_unpacked} (limits can allow more, if you trust it)"
        )
    if unpacked > may_become(len(data)):
        refuse(
            f"its arrays unpack to {unpacked} bytes, more than {MOST_TIMES} times "
            "the size of the file"
        )
    arrays = {}
    for name, (form, start) in ordered:
        if name == CHECKSUM or (name.startswith(OPTIONAL) and name not in known):
            continue
        part = view[header.start + start : header.start + start + form.size]
        if name in header.packed:
            form = header.packed[name]
            part = _inflated(part, form.size, name)
        arrays[name] = _array(part, form)
    return arrays


def _inflated(packed: memoryview, size: int, name: str) -> memoryview:
    """Return the unpacked bytes; refuse more than the declared number."""
    inflater = zlib.decompressobj()
    try:
        part = inflater.decompress(packed, size + 1)
    except zlib.error:
        part = b""
    if len(part) != size or not inflater.eof or inflater.unused_data:
        refuse(f"the packed array {name[:80]!r} is not what its shape needs")
    return memoryview(part)


def _array(part: memoryview, form: ArrayForm) -> NDArray[Any]:
    array = np.frombuffer(part, dtype=DTYPES[form.dtype]).reshape(form.shape)
    native = array.dtype.newbyteorder("=")
    return array.astype(native, copy=False)
