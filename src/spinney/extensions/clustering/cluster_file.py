"""The file of clusters, checked when it is written and read.

The file is of the kind ``spinney-clusters`` (see :mod:`spinney.output.file.kind`). The
arrays are ``centroids`` and ``start``, in single or double precision as the rows were,
``scale``, ``codes`` and ``weights``; the header has the columns, the method and its
settings, γ, the inertia and the number of iterations.
"""

from math import inf, isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema
from spinney.extensions.clustering.clusters import (
    BATCHES,
    COLUMN,
    METHODS,
    MIXED,
    Clusters,
)
from spinney.output.file.file_arrays import Arrays
from spinney.output.file.header import (
    ADDED,
    fingerprint_data,
    read_fingerprint,
    read_schema,
    schema_header,
)
from spinney.output.file.kind import CLUSTERS, Kind
from spinney.output.file.plain_data import described, members, number, text, whole
from spinney.output.file.requirements import amounts, require, shaped, within
from spinney.output.file.strict_json import DamageError

CLUSTERS_VERSION = 1
PACKED_VERSION = 2  # the version of packed arrays
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
SETTINGS_BY_METHOD = {
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
MAX_CLUSTERS = 1 << 31


def _header_and_arrays(
    clusters: Clusters,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    header = _header(clusters)
    arrays = {name: getattr(clusters, name) for name in ARRAYS}
    _read(header, arrays)
    return header, arrays


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


def _read(data: object, arrays: Arrays) -> Clusters:
    """Return clusters, after all checks."""
    entries = members(data, "the model", KEYS)
    method = text(entries["method"], "the method")
    if method not in METHODS:
        msg = f"the method {method[:40]!r} is unknown"
        raise DamageError(msg)
    if type(entries["named"]) is not bool:
        msg = f"named must be true or false, not {described(entries['named'])}"
        raise DamageError(msg)
    settings = _read_settings(entries["settings"], method)
    n_clusters = len(arrays["centroids"]) if arrays["centroids"].ndim == 2 else 0
    if not 1 <= n_clusters < MAX_CLUSTERS:
        msg = "there is no cluster"
        raise DamageError(msg)
    schema = read_schema(
        {
            **ADDED,
            "target": COLUMN,
            "classes": list(range(n_clusters)),
            "attributes": entries["attributes"],
            "markers": entries["markers"],
        }
    )
    _check_columns(schema, method)
    _check_arrays(arrays, schema, n_clusters, method)
    gamma = number(entries["gamma"], "gamma")
    if gamma < 0 or (gamma > 0 and method != MIXED):
        msg = f"gamma is {gamma}, which means nothing"
        raise DamageError(msg)
    # A sum of squares of numbers near the limits of floats overflows.
    overflows = entries["inertia"] is None
    inertia = inf if overflows else number(entries["inertia"], "the inertia")
    if not inertia >= 0:
        msg = "the inertia is negative"
        raise DamageError(msg)
    return Clusters(
        schema=schema,
        named=entries["named"],
        method=method,
        settings=settings,
        centroids=arrays["centroids"],
        scale=arrays["scale"],
        codes=arrays["codes"],
        gamma=gamma,
        weights=arrays["weights"],
        start=arrays["start"],
        inertia=inertia,
        n_iterations=whole(entries["n_iterations"], "the number of iterations"),
        fingerprint=read_fingerprint(entries["fingerprint"]),
    )


def _check_columns(schema: Schema, method: str) -> None:
    """Check that the method can use the columns."""
    if not schema.attributes:
        msg = "there is no column"
        raise DamageError(msg)
    for attribute in schema.attributes:
        plain = attribute.formula is None and not attribute.cost
        if not plain or (method != MIXED and attribute.kind != "numeric"):
            msg = f"{method} cannot use the column {attribute.name[:80]!r}"
            raise DamageError(msg)


def _check_arrays(arrays: Arrays, schema: Schema, n: int, method: str) -> None:
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
    valid = _finite_centroids(centroids, scale)
    if method == MIXED:  # columns without cells
        valid |= np.isnan(centroids).all(axis=0)
    require(valid, "the centroid of cluster {} is no point")
    require(_finite_centroids(start, scale), "the start of cluster {} is no point")
    sizes = np.array([len(a.values) for a in coded], dtype=np.int64)
    require(within(arrays["codes"], -1, sizes), "cluster {} has a value that is none")
    require(amounts(arrays["weights"]), "the weight of cluster {} is none")
    with np.errstate(over="ignore"):
        if not np.isfinite(arrays["weights"].sum()):
            msg = "the clusters have weights whose sum is beyond floats"
            raise DamageError(msg)


def _finite_centroids(
    centroids: NDArray[Any], scale: NDArray[Any]
) -> NDArray[np.bool_]:
    """Return where centroids are finite, also in the units of the columns."""
    with np.errstate(over="ignore", invalid="ignore"):
        points = centroids * scale.astype(centroids.dtype)
    return np.asarray(np.isfinite(centroids) & np.isfinite(points))


def _read_settings(data: object, method: str) -> dict[str, Any]:
    names = (*SETTINGS, *SETTINGS_BY_METHOD[method])
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


CLUSTERINGS = Kind(
    Clusters,
    CLUSTERS,
    CLUSTERS_VERSION,
    PACKED_VERSION,
    "these clusters",
    "find the clusters again",
    "it is a safetensors file, but holds no clusters of Spinney's",
    ARRAYS,
    _header_and_arrays,
    lambda data, arrays, _: _read(data, arrays),
)
