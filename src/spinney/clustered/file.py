"""Clusters as a file: saved whole or not at all, checked before they are used.

The container is that of one tree (:mod:`spinney.files.model_file`), with the format
``spinney-clusters``. The arrays are ``centroids`` and ``start``, in single or double
precision as the rows were, ``scale`` and ``weights``; the header has the columns, the
method and its settings, the inertia and the number of iterations.
"""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.clustered.model import COLUMN, METHODS, Clusters, schema_of
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
from spinney.files.model_rules import amounts, require, shaped
from spinney.files.plain import described, listed, members, number, text, whole
from spinney.files.strict_json import DamageError, parse

__all__ = ["is_clusters", "load_clusters", "save_clusters"]

CLUSTERS_VERSION = 1
KEYS = (
    "method",
    "settings",
    "named",
    "attributes",
    "markers",
    "inertia",
    "n_iterations",
    "fingerprint",
)
SETTINGS = (
    "n_clusters",
    "init",
    "n_init",
    "max_iter",
    "tol",
    "random_state",
    "standardise",
)
# What only one method has.
FURTHER = {"k-means": (), "mini-batch k-means": ("batch_size",)}
ARRAYS = {
    "centroids": (np.float32, np.float64),
    "start": (np.float32, np.float64),
    "scale": (np.float64,),
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
        "inertia": float(clusters.inertia),
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
    n_clusters = _check_arrays(arrays, found["attributes"])
    schema = read_schema(
        {
            **ADDED,
            "target": COLUMN,
            "classes": list(range(n_clusters)),
            "attributes": found["attributes"],
            "markers": found["markers"],
        }
    )
    for attribute in schema.attributes:
        if attribute.kind != "numeric" or attribute.formula or attribute.cost:
            msg = f"the column {attribute.name[:80]!r} is no plain column of numbers"
            raise DamageError(msg)
    inertia = number(found["inertia"], "the inertia")
    if not inertia >= 0:
        msg = "the inertia is negative"
        raise DamageError(msg)
    return Clusters(
        schema_of(schema.attributes, n_clusters, schema.markers),
        found["named"],
        method,
        settings,
        arrays["centroids"],
        arrays["scale"],
        arrays["weights"],
        arrays["start"],
        inertia,
        whole(found["n_iterations"], "the number of iterations"),
        read_fingerprint(found["fingerprint"]),
    )


def _check_arrays(arrays: Mapping[str, NDArray[Any]], attributes: object) -> int:
    """Check shapes and numbers; return how many clusters there are."""
    n_columns = len(listed(attributes, "the attributes"))
    centroids, start = arrays["centroids"], arrays["start"]
    if centroids.ndim != 2 or not 1 <= len(centroids) < MOST or not n_columns:
        msg = "there is no cluster, or no column"
        raise DamageError(msg)
    n = len(centroids)
    known = dict(arrays)
    shaped(known, "centroids", (n, n_columns))
    shaped(known, "scale", (n_columns,))
    shaped(known, "weights", (n,))
    if start.ndim != 2 or len(start) or start.shape[1] != n_columns:
        shaped(known, "start", (n, n_columns))
    if start.dtype != centroids.dtype:
        msg = "the array 'start' has another precision than the centroids"
        raise DamageError(msg)
    require(np.isfinite(centroids), "the centroid of cluster {} is no point")
    require(np.isfinite(start), "the start of cluster {} is no point")
    scale = arrays["scale"]
    require(np.isfinite(scale) & (scale > 0), "the scale of column {} is none")
    require(amounts(arrays["weights"]), "the weight of cluster {} is none")
    with np.errstate(over="ignore", invalid="ignore"):
        places = centroids * scale.astype(centroids.dtype)
    require(np.isfinite(places), "the centroid of cluster {} is out of range")
    return n


def _read_settings(data: object, method: str) -> dict[str, Any]:
    entry = members(data, "the settings", (*SETTINGS, *FURTHER[method]))
    settings = {name: entry[name] for name in (*SETTINGS, *FURTHER[method])}
    for name in ("n_clusters", "max_iter", *FURTHER[method]):
        if not (name == "n_clusters" and settings[name] == "auto"):
            whole(settings[name], name, least=1)
    if settings["n_init"] != "auto":
        whole(settings["n_init"], "n_init", least=1)
    text(settings["init"], "init")
    if not number(settings["tol"], "tol") >= 0:
        msg = "tol is negative"
        raise DamageError(msg)
    if settings["random_state"] is not None:
        whole(settings["random_state"], "random_state")
    if type(settings["standardise"]) is not bool:
        msg = "standardise must be true or false"
        raise DamageError(msg)
    return settings
