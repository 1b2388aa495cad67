"""Estimators of clusters as what a file keeps, and back."""

from typing import Any

import numpy as np

from spinney._support.checks import is_whole
from spinney._version import __version__
from spinney.cluster import BATCHES, MIXED, Clusters, Running, schema_of
from spinney.data import Attribute, Fingerprint

# What clusters know beside their public attributes.
PRIVATE = (
    "_attributes",
    "_began",
    "_by_name",
    "_markers",
    "_origin",
    "_running",
    "_scale",
    "_scaled_centers",
)


def forget(estimator: Any) -> None:
    """Let an estimator forget what it had learnt or loaded."""
    for name in PRIVATE:
        vars(estimator).pop(name, None)


def attributes_of(estimator: Any) -> tuple[Attribute, ...]:
    """Return the columns of fitted clusters; x0, x1, ... where they have no names."""
    known = getattr(estimator, "_attributes", None)
    if known is not None and len(known) == estimator.n_features_in_:
        return tuple(known)
    unnamed = [f"x{place}" for place in range(estimator.n_features_in_)]
    names = getattr(estimator, "feature_names_in_", unnamed)
    return tuple(Attribute(str(name), "numeric") for name in names)


def kept(estimator: Any) -> Clusters:
    """Return what a file keeps of k-means, or of batches."""
    batches = hasattr(estimator, "batch_size")
    scale = estimator._scale
    centers = estimator.cluster_centers_
    centers = centers if scale is None else estimator._scaled_centers
    n_columns = centers.shape[1]
    start = getattr(estimator, "_began", None)
    settings = {
        **_settings(estimator),
        "tol": float(estimator.tol),
        "standardise": scale is not None,
    }
    if batches:
        settings["batch_size"] = int(estimator.batch_size)
    return Clusters(
        schema_of(
            attributes_of(estimator), len(centers), getattr(estimator, "_markers", ())
        ),
        hasattr(estimator, "feature_names_in_"),
        BATCHES if batches else "k-means",
        settings,
        centers,
        np.ones(n_columns) if scale is None else scale,
        np.empty((len(centers), 0), np.int32),
        0.0,
        np.asarray(estimator.counts_, dtype=np.float64),
        np.empty((0, n_columns), centers.dtype) if start is None else start,
        float(estimator.inertia_),
        int(getattr(estimator, "n_iter_", 0)),
        _origin(estimator),
    )


def kept_prototypes(estimator: Any) -> Clusters:
    """Return what a file keeps of k-prototypes."""
    prototypes = estimator._prototypes
    schema = estimator._schema
    n = len(prototypes.codes)
    sizes = [len(a.values) for a in schema.attributes if a.kind != "numeric"]
    first = np.append(0, np.cumsum(sizes)).astype(np.int64)
    relative = prototypes.codes - first[:-1]
    scale = getattr(estimator, "_scale", None)
    return Clusters(
        schema_of(schema.attributes, n, schema.markers),
        hasattr(estimator, "feature_names_in_"),
        MIXED,
        {
            **_settings(estimator),
            "gamma": None if estimator.gamma is None else float(estimator.gamma),
            "standardise": scale is not None,
        },
        prototypes.numbers,
        np.ones(prototypes.numbers.shape[1]) if scale is None else scale,
        np.where(prototypes.codes >= first[-1], -1, relative).astype(np.int32),
        float(estimator.gamma_),
        np.asarray(estimator.counts_, dtype=np.float64),
        np.empty((0, prototypes.numbers.shape[1])),
        float(estimator.inertia_),
        int(estimator.n_iter_),
        _origin(estimator),
    )


def _settings(estimator: Any) -> dict[str, Any]:
    """Return the parameters that all methods share, as a file has them."""
    init, n_init = estimator.init, estimator.n_init
    given = "function" if callable(init) else "given"
    n_clusters = estimator.n_clusters
    return {
        "n_clusters": int(n_clusters) if is_whole(n_clusters) else str(n_clusters),
        "init": init if isinstance(init, str) else given,
        "n_init": int(n_init) if is_whole(n_init) else str(n_init),
        "max_iter": int(estimator.max_iter),
        "random_state": estimator._seed,
    }


def _origin(estimator: Any) -> Fingerprint:
    origin = getattr(estimator, "_origin", None)
    if origin is not None:
        return origin  # type: ignore[no-any-return]
    passes = estimator.n_iter_ if hasattr(estimator, "batch_size") else 1
    weight = float(np.sum(estimator.counts_)) / max(passes, 1)
    whole = hasattr(estimator, "labels_") and passes
    n_rows = len(estimator.labels_) if whole else round(weight)
    return Fingerprint(n_rows, weight, "", __version__)


def adopt(estimator: Any, clusters: Clusters) -> None:
    """Let an estimator know clusters that were loaded."""
    estimator._by_name = clusters.named
    estimator._attributes = clusters.schema.attributes
    estimator._markers = clusters.schema.markers
    estimator._seed = clusters.settings["random_state"]
    estimator._origin = clusters.fingerprint
    estimator.n_features_in_ = len(clusters.names)
    if clusters.named:
        estimator.feature_names_in_ = np.array(clusters.names, dtype=object)
    estimator.counts_ = clusters.weights
    estimator.inertia_ = clusters.inertia
    estimator.n_iter_ = clusters.n_iterations
    if clusters.settings["standardise"]:
        estimator._scale = clusters.scale
    if clusters.method == MIXED:
        estimator._schema = clusters.schema
        estimator._prototypes = clusters.prototypes
        estimator.gamma_ = clusters.gamma
        estimator.cluster_centers_ = clusters.values
        return
    estimator.cluster_centers_ = clusters.places
    estimator._scaled_centers = clusters.centroids
    if clusters.method == BATCHES:
        estimator._running = Running(clusters.centroids, clusters.weights)
        estimator.n_steps_ = 0
    if len(clusters.start):
        estimator._began = clusters.start
