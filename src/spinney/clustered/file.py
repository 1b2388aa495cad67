"""Clusters as a file: saved whole or not at all, checked before they are used.

The container is that of one tree (:mod:`spinney.files.model_file`), with the format
``spinney-clusters``. The arrays are ``centroids`` and ``start``, in single or double
precision as the rows were, ``scale``, ``codes`` and ``weights``; the header has the
columns, the method and its settings, γ, the inertia and the number of iterations.
"""

import os
from collections.abc import Mapping
from math import inf, isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.clustered.model import BATCHES, COLUMN, METHODS, MIXED, Clusters
from spinney.errors import ModelFormatError, ParameterError
from spinney.files.atomic import write_whole
from spinney.files.model_container import pack, read_header, unpack
from spinney.files.model_file import (
    CLUSTERS,
    TEXTS,
    Limits,
    check_path,
    check_version,
    format_name,
    read_bytes,
    remedy,
    texts_of,
)
from spinney.files.model_header import (
    ADDED,
    fingerprint_data,
    read_fingerprint,
    read_schema,
    schema_header,
)
from spinney.files.model_rules import amounts, require, shaped, within
from spinney.files.plain import described, members, number, text, whole
from spinney.files.strict_json import DamageError, parse
from spinney.schema import Schema

__all__ = ["is_clusters", "load_clusters", "save_clusters"]

CLUSTERS_VERSION = 1
KEYS = (
    "method",
    "settings",
    "named",
    "attributes",
    "markers",
    "gamma",
    "inertia",
    "n_iterations",
    "fingerprint",
)
SETTINGS = (
    "n_clusters",
    "init",
    "n_init",
    "max_iter",
    "random_state",
    "standardise",
)
# What not all methods have.
FURTHER = {
    "k-means": ("tol",),
    BATCHES: ("tol", "batch_size"),
    MIXED: ("gamma",),
}
ARRAYS = {
    "centroids": (np.float32, np.float64),
    "start": (np.float32, np.float64),
    "scale": (np.float64,),
    "codes": (np.int32,),
    "weights": (np.float64,),
}
MOST = 1 << 31


def is_clusters(path: "str | os.PathLike[str]") -> bool:
    """Return whether a file says that it holds clusters; False if unreadable."""
    return format_name(path) == CLUSTERS


def save_clusters(
    clusters: Clusters, path: "str | os.PathLike[str]", *, force: bool = True
) -> None:
    """Save clusters; the same clusters give the same bytes.

    Parameters
    ----------
    clusters : Clusters
        What to save.
    path : path
        Where; by custom the name ends in ``.spinney``.
    force : bool
        Whether an existing file may be replaced.
    """
    check_path(path)
    arrays = {name: getattr(clusters, name) for name in ARRAYS}
    try:
        header = _header(clusters)
        _read(header, arrays)
        parts = pack(arrays, texts_of(header, CLUSTERS, CLUSTERS_VERSION))
    except DamageError as damage:
        msg = (
            f"cannot write {os.fsdecode(path)}: these clusters cannot be saved: "
            f"{damage}"
        )
        raise ParameterError(msg) from None
    write_whole(path, parts, force=force)


def _header(clusters: Clusters) -> dict[str, Any]:
    schema = schema_header(clusters.schema)
    return {
        "method": clusters.method,
        "settings": dict(clusters.settings),
        "named": clusters.named,
        "attributes": schema["attributes"],
        "markers": schema["markers"],
        "gamma": float(clusters.gamma),
        "inertia": None if isinf(clusters.inertia) else float(clusters.inertia),
        "n_iterations": int(clusters.n_iterations),
        "fingerprint": fingerprint_data(clusters.fingerprint),
    }


def load_clusters(
    path: "str | os.PathLike[str]", *, limits: Limits | None = None
) -> Clusters:
    """Load clusters that :func:`save_clusters` wrote.

    Raises
    ------
    ModelFormatError
        The file is missing, damaged, something else, or of a newer version.
    """
    check_path(path)
    limits = limits or Limits()
    try:
        return _clusters(read_bytes(path, limits), limits)
    except DamageError as damage:
        msg = f"cannot load {os.fsdecode(path)}: {damage}"
        raise ModelFormatError(msg) from None


def _clusters(data: bytes, limits: Limits) -> Clusters:
    header = read_header(data, max_header=limits.header_bytes)
    if header.texts.get("format") != CLUSTERS:
        msg = "it is a safetensors file, but holds no clusters of Spinney's"
        raise DamageError(msg)
    try:
        arrays = unpack(data, header)
        check_version(header, CLUSTERS_VERSION)
        members(dict(header.texts), "the file", TEXTS)
        members(arrays, "the file", ARRAYS)
        for name, dtypes in ARRAYS.items():
            if arrays[name].dtype not in dtypes:
                msg = f"the array {name!r} has the dtype of another"
                raise DamageError(msg)
        return _read(parse(header.texts["model"]), arrays)
    except DamageError as damage:
        msg = f"{damage}; {remedy(header, CLUSTERS_VERSION)}"
        raise DamageError(msg) from None


def _read(data: object, arrays: Mapping[str, NDArray[Any]]) -> Clusters:
    """Return clusters, after checking every rule that the rest relies on."""
    found = members(data, "the model", KEYS)
    method = text(found["method"], "the method")
    if method not in METHODS:
        msg = f"the method {method[:40]!r} is unknown"
        raise DamageError(msg)
    if type(found["named"]) is not bool:
        msg = f"named must be true or false, not {described(found['named'])}"
        raise DamageError(msg)
    settings = _read_settings(found["settings"], method)
    n_clusters = len(arrays["centroids"]) if arrays["centroids"].ndim == 2 else 0
    if not 1 <= n_clusters < MOST:
        msg = "there is no cluster"
        raise DamageError(msg)
    schema = read_schema(
        {
            **ADDED,
            "target": COLUMN,
            "classes": list(range(n_clusters)),
            "attributes": found["attributes"],
            "markers": found["markers"],
        }
    )
    _check_columns(schema, method)
    _check_arrays(dict(arrays), schema, n_clusters, method)
    gamma = number(found["gamma"], "gamma")
    if gamma < 0 or (gamma > 0 and method != MIXED):
        msg = f"gamma is {gamma}, which means nothing"
        raise DamageError(msg)
    # Squares of numbers near the limits of floats have a sum beyond them.
    beyond = found["inertia"] is None
    inertia = inf if beyond else number(found["inertia"], "the inertia")
    if not inertia >= 0:
        msg = "the inertia is negative"
        raise DamageError(msg)
    return Clusters(
        schema,
        found["named"],
        method,
        settings,
        arrays["centroids"],
        arrays["scale"],
        arrays["codes"],
        gamma,
        arrays["weights"],
        arrays["start"],
        inertia,
        whole(found["n_iterations"], "the number of iterations"),
        read_fingerprint(found["fingerprint"]),
    )


def _check_columns(schema: Schema, method: str) -> None:
    """Check that columns are such as a method measures distances in."""
    if not schema.attributes:
        msg = "there is no column"
        raise DamageError(msg)
    for attribute in schema.attributes:
        plain = attribute.formula is None and not attribute.cost
        if not plain or (method != MIXED and attribute.kind != "numeric"):
            msg = f"{method} has no use for the column {attribute.name[:80]!r}"
            raise DamageError(msg)


def _check_arrays(
    arrays: dict[str, NDArray[Any]], schema: Schema, n: int, method: str
) -> None:
    """Check shapes and numbers."""
    coded = [a for a in schema.attributes if a.kind != "numeric"]
    n_numeric = len(schema.attributes) - len(coded)
    shaped(arrays, "centroids", (n, n_numeric))
    shaped(arrays, "scale", (n_numeric,))
    shaped(arrays, "codes", (n, len(coded)))
    shaped(arrays, "weights", (n,))
    centroids, start, scale = arrays["centroids"], arrays["start"], arrays["scale"]
    shaped(arrays, "start", (n if len(start) else 0, n_numeric))
    if start.dtype != centroids.dtype:
        msg = "the array 'start' has another precision than the centroids"
        raise DamageError(msg)
    require(np.isfinite(scale) & (scale > 0), "the scale of column {} is none")
    with np.errstate(over="ignore", invalid="ignore"):
        places = centroids * scale.astype(centroids.dtype)
    known = np.isfinite(centroids) & np.isfinite(places)
    if method == MIXED:  # what no row knows, no prototype does
        known |= np.isnan(centroids).all(axis=0)
    require(known, "the centroid of cluster {} is no point")
    require(np.isfinite(start), "the start of cluster {} is no point")
    sizes = np.array([len(a.values) for a in coded], dtype=np.int64)
    require(within(arrays["codes"], -1, sizes), "cluster {} has a value that is none")
    require(amounts(arrays["weights"]), "the weight of cluster {} is none")


def _read_settings(data: object, method: str) -> dict[str, Any]:
    names = (*SETTINGS, *FURTHER[method])
    entry = members(data, "the settings", names)
    for name in ("n_clusters", "n_init"):
        if entry[name] != "auto":
            whole(entry[name], name, least=1)
    for name in ("max_iter", "batch_size"):
        if name in names:
            whole(entry[name], name, least=1)
    text(entry["init"], "init")
    for name in ("tol", "gamma"):
        if name not in names or (name == "gamma" and entry[name] is None):
            continue
        if number(entry[name], name) < 0:
            msg = f"{name} is negative"
            raise DamageError(msg)
    if entry["random_state"] is not None:
        whole(entry["random_state"], "random_state")
    if type(entry["standardise"]) is not bool:
        msg = "standardise must be true or false"
        raise DamageError(msg)
    return {name: entry[name] for name in names}
