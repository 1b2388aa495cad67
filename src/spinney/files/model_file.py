"""A model as a file: saved whole or not at all, checked before it is used.

The file is a safetensors container (see :mod:`spinney.files.model_container`) with
the arrays of :mod:`spinney.files.model_arrays` and these texts:

format
    ``spinney-tree``.
format_version, min_reader_version
    The version of the format, and the oldest one whose readers can use the file.
library_version
    The version of Spinney that wrote the file.
model
    JSON: target, classes, attributes, recipe and fingerprint.

Loading runs no code, and every rule of :mod:`spinney.files.model_check` holds for
what it returns.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spinney._version import __version__
from spinney.errors import ModelFormatError, ParameterError
from spinney.files.atomic import write_whole
from spinney.files.model_arrays import DTYPES, unflatten, with_defaults
from spinney.files.model_check import MAX_NODES, check_arrays, check_model
from spinney.files.model_container import Header, pack, read_header, unpack
from spinney.files.model_header import (
    ADDED,
    FORMAT,
    FORMAT_VERSION,
    KEYS,
    read_fingerprint,
    read_recipe,
    read_schema,
)
from spinney.files.plain import members
from spinney.files.strict_json import DamageError, dump, parse
from spinney.model import Model

__all__ = [
    "CLUSTERS",
    "FOREST",
    "TEXTS",
    "Limits",
    "check_path",
    "check_version",
    "format_name",
    "load_model",
    "read_bytes",
    "remedy",
    "save_model",
    "texts_of",
]

TEXTS = ("format", "format_version", "min_reader_version", "library_version", "model")
FOREST = "spinney-forest"
CLUSTERS = "spinney-clusters"
# What other files hold, and the commands that read them.
OTHERS = {
    FOREST: ("a forest", "predict, info and evaluate"),
    CLUSTERS: ("clusters", "show, predict and info"),
}
_REMEDY = "restore it from a copy, or grow the tree again"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a file may ask of its reader.

    Parameters
    ----------
    file_bytes, header_bytes : int
        The longest file and header, checked before they are read.
    nodes : int
        The most nodes.
    """

    file_bytes: int = 1 << 32
    header_bytes: int = 1 << 26
    nodes: int = MAX_NODES


def save_model(
    model: Model, path: "str | os.PathLike[str]", *, force: bool = True
) -> None:
    """Save a model; the same model gives the same bytes.

    Parameters
    ----------
    model : Model
        What to save.
    path : path
        Where; by custom the name ends in ``.spinney``.
    force : bool
        Whether an existing file may be replaced.

    Raises
    ------
    ParameterError
        The file cannot be written, or the model could not be loaded again. An
        old file of that name is as it was.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from spinney.learner import grow_tree
    >>> from spinney.model import Fingerprint
    >>> from spinney.recipe import RECIPES
    >>> from spinney.schema import Attribute, Schema, Target
    >>> from spinney.sources.memory import MemorySource
    >>> schema = Schema((Attribute("size", "numeric"),), Target("sort", ("a", "b")))
    >>> source = MemorySource(schema, [np.array([1.0, 2.0])], classes=np.arange(2))
    >>> tree = grow_tree(source, RECIPES["id3"])
    >>> model = Model(tree, RECIPES["id3"], Fingerprint(2, 2.0, "", "0.1.0"))
    >>> with TemporaryDirectory() as directory:
    ...     save_model(model, f"{directory}/sort.spinney")
    ...     loaded = load_model(f"{directory}/sort.spinney")
    >>> [loaded.tree.condition(node) for node in loaded.tree.leaves]
    ['size ≤ 1.5', 'size > 1.5']
    """
    check_path(path)
    try:
        parts = _parts(model)
    except DamageError as damage:
        msg = f"cannot write {os.fsdecode(path)}: this model cannot be saved: {damage}"
        raise ParameterError(msg) from None
    write_whole(path, parts, force=force)


def _parts(model: Model) -> list[bytes]:
    header, _, arrays = check_model(model)
    return pack(arrays, texts_of(header, FORMAT, FORMAT_VERSION))


def texts_of(header: Mapping[str, Any], format: str, version: int) -> dict[str, str]:
    """Return the texts of a file of a format."""
    return {
        "format": format,
        "format_version": str(version),
        "min_reader_version": str(version),
        "library_version": __version__,
        "model": dump(header),
    }


def load_model(
    path: "str | os.PathLike[str]", *, limits: Limits | None = None
) -> Model:
    """Load a model that :func:`save_model` wrote.

    Parameters
    ----------
    path : path
        The file.
    limits : Limits, optional
        How much the file may ask for.

    Raises
    ------
    ModelFormatError
        The file is missing, damaged, something else, or of a newer version.
    """
    check_path(path)
    limits = limits or Limits()
    try:
        data = read_bytes(path, limits)
        return _model(data, limits)
    except DamageError as damage:
        msg = f"cannot load {os.fsdecode(path)}: {damage}"
        raise ModelFormatError(msg) from None


def check_path(path: object) -> None:
    """Refuse what names no file: a number would be taken for an open one."""
    if not isinstance(path, (str, os.PathLike)):
        msg = f"path={path!r} is no path: give the name of a model file"
        raise ParameterError(msg)


def read_bytes(path: "str | os.PathLike[str]", limits: Limits) -> bytes:
    """Return the bytes of a file, once its size is known to be allowed."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "no plain file"
            msg = f"it is {kind}; name the model file itself"
            raise DamageError(msg)
        if status.st_size > limits.file_bytes:
            msg = (
                f"it has {status.st_size} bytes, over the limit of "
                f"{limits.file_bytes}; allow more (limits) if you trust it"
            )
            raise DamageError(msg)
        with Path(path).open("rb") as file:
            data = file.read(status.st_size + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        msg = f"{reason}; check the path and that you may read it"
        raise DamageError(msg) from None
    if len(data) != status.st_size:
        msg = "it changed while it was read; try again"
        raise DamageError(msg)
    return data


def format_name(path: "str | os.PathLike[str]") -> str | None:
    """Return the format that a file says it has; None if unreadable.

    What is no file, such as a pipe, is not opened: nobody might write to it.
    """
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= Limits().header_bytes:
                return None
            head = file.read(length)
        header = read_header(length.to_bytes(8, "little") + head)
    except (OSError, ValueError, TypeError, DamageError):
        return None
    return header.texts.get("format")


def _model(data: bytes, limits: Limits) -> Model:
    try:
        header = read_header(data, max_header=limits.header_bytes)
        written = header.texts.get("format")
        if written not in (FORMAT, *OTHERS):
            msg = "it is a safetensors file, but not a Spinney model"
            raise DamageError(msg)
        arrays = with_defaults(unpack(data, header)) if written == FORMAT else {}
    except DamageError as damage:
        msg = f"{damage}; {_REMEDY}"
        raise DamageError(msg) from None
    if written in OTHERS:
        what, commands = OTHERS[written]
        msg = (
            f"it holds {what}, and this reads one tree; spinney.load, and spinney "
            f"{commands}, read such files"
        )
        raise DamageError(msg)
    check_version(header)
    try:
        members(dict(header.texts), "the file", TEXTS)
        text = parse(header.texts["model"])
        found = {**ADDED, **members(text, "the model", KEYS, defaults=ADDED)}
        schema = read_schema(found)
        recipe = read_recipe(found["recipe"])
        fingerprint = read_fingerprint(found["fingerprint"])
        members(arrays, "the file", DTYPES)
        for name, dtype in DTYPES.items():
            if arrays[name].dtype != dtype:
                msg = f"the array {name!r} has the dtype of another"
                raise DamageError(msg)
        check_arrays(arrays, schema, max_nodes=limits.nodes)
    except DamageError as damage:
        msg = f"{damage}; {remedy(header)}"
        raise DamageError(msg) from None
    return Model(unflatten(arrays, schema), recipe, fingerprint)


def _version(header: Header, key: str) -> int:
    """Return a version of the format; 0 where there is none."""
    digits = header.texts.get(key, "")
    return (
        int(digits) if len(digits) < 10 and digits.isascii() and digits.isdigit() else 0
    )


def check_version(header: Header, newest: int = FORMAT_VERSION) -> None:
    """Refuse a file that only readers of a newer format can use."""
    oldest = _version(header, "min_reader_version")
    if oldest > newest:
        writer = header.texts.get("library_version", "unknown")[:40]
        msg = (
            f"it was written by a newer Spinney ({writer}), as format {oldest}, and "
            f"this one reads up to {newest}; upgrade Spinney"
        )
        raise DamageError(msg)
    if not 1 <= oldest <= _version(header, "format_version"):
        msg = f"its versions make no sense; {_REMEDY}"
        raise DamageError(msg)


def remedy(header: Header, newest: int = FORMAT_VERSION) -> str:
    """Return what to do about a file that is damaged."""
    if _version(header, "format_version") > newest:
        return "it was written by a newer Spinney: upgrade"
    return _REMEDY
