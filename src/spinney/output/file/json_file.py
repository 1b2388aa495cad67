"""A model file as JSON text: the same header and the same arrays, number by number.

::

    {"format": "spinney-tree", "version": 2, "library_version": "0.1.0",
     …                                            the members of the header
     "nodes": […],                                of a tree, for those who read it
     "arrays": {"node.parent": {"dtype": "I64", "shape": [3], "data": [-1, 0, 0]}, …}}

NaN is null; infinite numbers are "inf" and "-inf". Reading converts the text to the
bytes of the model file, so that the same checks apply.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isinf, isnan, nan, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._version import __version__
from spinney.errors import ParameterError
from spinney.output.file.container import DTYPES, pack, read_form
from spinney.output.file.kind import Kind
from spinney.output.file.plain_data import as_list, described, members, text, whole
from spinney.output.file.strict_json import (
    MAX_CHARACTERS,
    DamageError,
    dump,
    parse,
    refuse,
)

NODES, ARRAYS, FOR_READERS = "nodes", "arrays", "validation_rows"
_ABOUT = ("format", "version", "library_version", ARRAYS)
_INFINITE = {"inf": inf, "-inf": -inf}


def json_members(kind: Kind[Any], content: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the header of a model with its versions, and the lines of its arrays."""
    try:
        header, arrays = kind.parts(content)
    except DamageError as damage:
        msg = f"{kind.noun} cannot be written as JSON: {damage}"
        raise ParameterError(msg) from None
    version = kind.version_of(header, packed=False)
    about = {"format": kind.format, "version": version, "library_version": __version__}
    lines = [
        f"{dump(name)}: {dump(_array_data(array))}"
        for name, array in sorted(arrays.items())
    ]
    return {**about, **header}, lines


def _array_data(array: NDArray[Any]) -> dict[str, Any]:
    names = {dtype.str[1:]: name for name, dtype in DTYPES.items()}
    cells = array.ravel().tolist()
    if array.dtype.kind == "f":
        cells = [_written(cell) for cell in cells]
    dtype = names[array.dtype.str[1:]]
    return {"dtype": dtype, "shape": list(array.shape), "data": cells}


def _written(number: float) -> float | str | None:
    if isnan(number):
        return None
    return number if not isinf(number) else "inf" if number > 0 else "-inf"


def is_json(path: object) -> bool:
    """Return whether a file begins like a JSON object, as no model file does."""
    if not isinstance(path, (str, os.PathLike)):
        return False
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            start = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    except (OSError, ValueError):
        return False
    return start[:1] == b"{" and start[1:].lstrip()[:1] in (b'"', b"}", b"")


@dataclass(frozen=True, slots=True)
class JsonText:
    """The text of a JSON object, and its parsed data."""

    source: str
    written: dict[str, Any]

    def file(self) -> bytes:
        """Return the bytes of the model file with the same content."""
        data = self.written
        if ARRAYS not in data:
            refuse("it is JSON for readers, without arrays; export the model as json")
        members({name: data[name] for name in _ABOUT if name in data}, "it", _ABOUT)
        others = (*_ABOUT, NODES, FOR_READERS)
        header = {name: entry for name, entry in data.items() if name not in others}
        version = str(whole(data["version"], "the version"))
        texts = {
            "format": text(data["format"], "the format"),
            "format_version": version,
            "min_reader_version": version,
            "library_version": text(data["library_version"], "the library's version"),
            "model": dump(header),
        }
        return b"".join(pack(_read_arrays(data[ARRAYS]), texts))


def read_json(path: "str | os.PathLike[str]") -> JsonText:
    """Return the JSON object in a file; raise DamageError if there is none."""
    try:
        if os.path.getsize(path) > MAX_CHARACTERS:
            refuse(f"it has more than {MAX_CHARACTERS} bytes")
        source = Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError:
        refuse("its text is not in UTF-8")
    except OSError as error:
        refuse(f"{error.strerror}; check the path and the permissions")
    data = parse(source)
    if not isinstance(data, dict) or "format" not in data:
        refuse("it is JSON, but no model; export one as json")
    return JsonText(source, data)


def _read_arrays(data: object) -> dict[str, NDArray[Any]]:
    if not isinstance(data, dict):
        refuse(f"the arrays must be an object, not {described(data)}")
    return {name: _read_array(entry, name) for name, entry in data.items()}


def _read_array(data: object, name: str) -> NDArray[Any]:
    what = f"the array {name[:80]!r}"
    entry = members(data, what, ("dtype", "shape", "data"))
    dtype, shape = read_form(entry, what)
    cells = as_list(entry["data"], what)
    if prod(shape) != len(cells):
        refuse(f"{what} has {len(cells)} numbers, which is not what its shape needs")
    numbers = _floats if DTYPES[dtype].kind == "f" else _integers
    return numbers(cells, DTYPES[dtype], what).reshape(shape)


def _floats(cells: Sequence[Any], dtype: np.dtype[Any], what: str) -> NDArray[Any]:
    numbers = []
    for cell in cells:
        if cell is None:
            numbers.append(nan)
        elif isinstance(cell, str) and cell in _INFINITE:
            numbers.append(_INFINITE[cell])
        elif isinstance(cell, (int, float)) and not isinstance(cell, bool):
            numbers.append(_as_float(cell, what))
        else:
            refuse(f"{what} holds {described(cell)}, not a number")
    with np.errstate(over="ignore"):
        array = np.array(numbers, np.float64).astype(dtype)
    if (np.isinf(array) != np.isinf(np.array(numbers, np.float64))).any():
        refuse(f"{what} holds a number that is out of range")
    return array


def _as_float(cell: float, what: str) -> float:
    try:
        return float(cell)
    except OverflowError:
        refuse(f"{what} holds a number that is out of range")


def _integers(cells: Sequence[Any], dtype: np.dtype[Any], what: str) -> NDArray[Any]:
    limits = np.iinfo(dtype)
    for cell in cells:
        if type(cell) is not int or not limits.min <= cell <= limits.max:
            refuse(f"{what} holds {described(cell)}, not an integer of its type")
    return np.array(cells, dtype)
