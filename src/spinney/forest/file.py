"""A forest as a file: saved whole or not at all, checked before it is used.

The file is of the kind ``spinney-forest`` (see :mod:`spinney.data.model_kind`). The
arrays are those of :class:`~spinney.forest.members.Member`, the trees one after
another, and ``nodes``: how many nodes each tree has.
"""

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ParameterError
from spinney.files.model_arrays import Arrays
from spinney.files.model_header import (
    KEYS,
    origin_header,
    read_fingerprint,
    read_recipe,
    read_schema,
)
from spinney.files.model_kind import (
    FOREST,
    Kind,
    Limits,
    format_name,
    load_kind,
    save_kind,
)
from spinney.files.plain import listed, members, number
from spinney.files.strict_json import DamageError
from spinney.forest.check import check_forest_arrays
from spinney.growth.forest.compact_tree import Member, narrowed
from spinney.growth.forest.forest import Forest
from spinney.growth.forest.forest_settings import ForestSettings, forest_recipe

if TYPE_CHECKING:
    import os

__all__ = ["FOREST_LIMITS", "is_forest", "load_forest", "save_forest"]

FOREST_VERSION = 1
FOREST_LIMITS = Limits(file_bytes=1 << 36, nodes=1 << 31)

_SETTINGS = tuple(field.name for field in fields(ForestSettings))
_ARRAYS = tuple(field.name for field in fields(Member))
# Weights are in single precision where that is exact, in double precision elsewhere.
DTYPES: dict[str, tuple[type[np.generic], ...]] = {
    "nodes": (np.int64,),
    "attribute": (np.int32,),
    "parent": (np.int32,),
    "cut": (np.float64,),
    "missing": (np.int16,),
    "gain": (np.float64,),
    "weights": (np.float32, np.float64),
    "rows": (np.int32,),
    "absent": (np.int32,),
    "reason": (np.uint8,),
    "listed": (np.int32,),
    "branches": (np.int16,),
    "cuts": (np.float64,),
}


def save_forest(
    forest: Forest, path: "str | os.PathLike[str]", *, force: bool = True
) -> None:
    """Save a forest; the same forest gives the same bytes.

    Parameters and errors are those of :func:`spinney.data.model_file.save_model`.
    """
    save_kind(_FOREST, forest, path, force=force)


def _parts(forest: Forest) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    header = _header(forest)
    _read_header(header)
    arrays = _arrays(forest)
    check_forest_arrays(arrays, forest.schema, max_nodes=FOREST_LIMITS.nodes)
    return header, arrays


def _header(forest: Forest) -> dict[str, Any]:
    settings = {name: getattr(forest.settings, name) for name in _SETTINGS}
    scale = settings["class_weight"]
    if scale is not None and not isinstance(scale, str):
        n_classes = forest.schema.n_classes
        settings["class_weight"] = [float(scale.get(c, 1.0)) for c in range(n_classes)]
    for name, value in settings.items():
        if isinstance(value, np.generic):
            settings[name] = value.item()
    origin = origin_header(forest.schema, forest.recipe, forest.fingerprint)
    return {**origin, "settings": settings, "shrinkage": forest.shrinkage}


def _arrays(forest: Forest) -> dict[str, NDArray[Any]]:
    arrays = {
        name: np.concatenate([getattr(member, name) for member in forest.members])
        for name in _ARRAYS
    }
    arrays["nodes"] = np.array([len(member) for member in forest.members], np.int64)
    return arrays


def is_forest(path: "str | os.PathLike[str]") -> bool:
    """Return whether a file says of itself that it is a forest; False if unreadable."""
    return format_name(path) == FOREST


def load_forest(
    path: "str | os.PathLike[str]", *, limits: Limits | None = None
) -> Forest:
    """Load a forest that :func:`save_forest` wrote.

    Parameters and errors are those of :func:`spinney.data.model_file.load_model`.
    """
    return load_kind(_FOREST, path, limits)


def _read(data: object, arrays: Arrays, max_nodes: int) -> Forest:
    """Return a forest, after checking every rule that the rest relies on."""
    found = _read_header(data)
    check_forest_arrays(arrays, found.schema, max_nodes=max_nodes)
    return replace(found, members=tuple(_members(arrays)))


def _read_header(data: object) -> Forest:
    """Return a forest without trees, from what its header says."""
    found = members(data, "the model", (*KEYS, "settings", "shrinkage"))
    schema = read_schema(found)
    if schema.target.costs is not None or any(a.formula for a in schema.attributes):
        msg = "a forest has neither costs nor attributes with formulas"
        raise DamageError(msg)
    recipe = read_recipe(found["recipe"])
    settings = _read_settings(found["settings"], schema.n_classes)
    fingerprint = read_fingerprint(found["fingerprint"])
    try:
        forest_recipe(recipe, extra_random=settings.extra_random)
    except ParameterError as error:
        msg = f"the recipe is none of a forest: {error}"
        raise DamageError(msg) from None
    shrinkage = number(found["shrinkage"], "the shrinkage")
    if not shrinkage >= 0 or settings.shrinkage not in (None, shrinkage):
        msg = f"leaves are shrunk by {shrinkage}, against the settings"
        raise DamageError(msg)
    return Forest(schema, recipe, fingerprint, settings, (), shrinkage)


def _read_settings(data: object, n_classes: int) -> ForestSettings:
    entry = dict(members(data, "the settings", _SETTINGS))
    scale = entry["class_weight"]
    if isinstance(scale, list):
        what = "the class weights"
        numbers = [number(each, what) for each in listed(scale, what)]
        if len(numbers) != n_classes or min(numbers) < 0:
            msg = f"{what} must be {n_classes} numbers of at least 0"
            raise DamageError(msg)
        entry["class_weight"] = dict(enumerate(numbers))
    elif scale is not None and not isinstance(scale, str):
        msg = "the class weights must be a list, a name or nothing"
        raise DamageError(msg)
    try:
        return ForestSettings(**{name: entry[name] for name in _SETTINGS})
    except (ParameterError, TypeError) as error:
        msg = f"the settings are none of a forest: {error}"
        raise DamageError(msg) from None


def _members(arrays: Arrays) -> list[Member]:
    """Return the trees, each with its own part of the arrays."""
    arrays = {**arrays, "weights": narrowed(arrays["weights"])}
    ends = arrays["nodes"].cumsum()
    starts = ends - arrays["nodes"]
    grouped = np.isnan(arrays["cut"])
    in_branches = np.append(0, np.where(grouped, arrays["listed"], 0).cumsum())
    in_cuts = np.append(0, np.where(grouped, 0, arrays["listed"]).cumsum())
    found = []
    for start, end in zip(starts, ends, strict=True):
        own = {name: arrays[name][start:end] for name in _ARRAYS}
        own["branches"] = arrays["branches"][in_branches[start] : in_branches[end]]
        own["cuts"] = arrays["cuts"][in_cuts[start] : in_cuts[end]]
        found.append(Member(**own))
    return found


_FOREST = Kind(
    FOREST,
    FOREST_VERSION,
    "this forest",
    "grow the forest again",
    "it is a safetensors file, but not a forest of Spinney's",
    DTYPES,
    _parts,
    _read,
    limits=FOREST_LIMITS,
)
