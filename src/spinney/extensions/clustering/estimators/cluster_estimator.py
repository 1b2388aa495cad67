"""The base classes of the scikit-learn estimators of clusters."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_named, is_whole
from spinney._support.keyed_random import seed_of
from spinney._support.threads import limited_threads, thread_count
from spinney.data import Attribute, Schema, Table
from spinney.data.duckdb import is_relation
from spinney.data.readers import read_table, read_with_schema
from spinney.errors import DataError, Setting, warn
from spinney.estimators.table_estimator import (
    collected,
    has_names_only,
    is_framed,
    transactional_fit,
    validated,
)
from spinney.extensions.clustering.choose_k.choice import Choice
from spinney.extensions.clustering.clusters import (
    MIXED,
    Clusters,
    encode_numbers,
    numeric_cells,
)
from spinney.extensions.clustering.fit_k_means import (
    K_MEANS_INITS,
    distances_to_centroids,
    nearest_centroids,
)
from spinney.extensions.clustering.lloyd import is_random_init
from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.fit_clusters import (
    ClusterInput,
    check_weights,
    fit_clusters,
)
from spinney.extensions.clustering.models.fitted_clusters import FittedClusters
from spinney.output.file import save_model
from spinney.sources.rows import given_weights

if TYPE_CHECKING:
    import os

    from spinney.extensions.explorer import ExplorerPage


@dataclass(eq=False, repr=False)
class ClusterParameters:
    """The common parameters, as fields that define the signature of ``__init__``."""

    n_clusters: Any = 8
    _: KW_ONLY
    init: Any = "k-means++"
    n_init: Any = "auto"
    max_iter: int = 100
    random_state: Any = None
    n_jobs: int | None = None


P = ParamSpec("P")
R = TypeVar("R")


def delegate_to_clusters(
    method: Callable[Concatenate[FittedClusters, P], R],
) -> Callable[Concatenate[Any, P], R]:
    """Return a method of fitted clusters as a method of their estimator."""

    @wraps(method)
    def delegate(estimator: Any, /, *arguments: P.args, **settings: P.kwargs) -> R:
        check_is_fitted(estimator)
        return method(FittedClusters(estimator.clusters_), *arguments, **settings)

    return delegate


class ClusterEstimator(ClusterParameters, ClusterMixin):  # type: ignore[misc]
    """An estimator of clusters, a base class before scikit-learn's ``BaseEstimator``.

    ``clusters_`` has the fitted clusters, as a file stores them. scikit-learn's
    attributes are read from ``clusters_``.
    """

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    clusters_: Clusters
    labels_: Integers
    choice_: Choice
    _by_name: bool = False  # whether columns of later tables are matched by name

    # Learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array, data frame, dict of columns or anything that ``read_table`` takes
            The rows. k-means needs finite numbers; float32 is kept, all other types
            become float64. To declare kinds of columns, pass the result of
            ``read_table``.
        y : ignored
        sample_weight : array, optional
            The weight of each row; a row of weight 0 only gets a label.
        """
        with limited_threads(self.n_jobs), transactional_fit(self) as new:
            new._fit(X, sample_weight)
        return self

    def _fit(self, X: Any, sample_weight: Any) -> None:
        """Find the clusters, in a new estimator."""
        rows = self._cluster_input(X)
        weights = sample_weights(sample_weight, len(rows.cells))
        fit = fit_clusters(rows, self._plan(rows), weights=weights)
        self.clusters_, self.labels_ = fit.clusters, fit.labels
        if fit.choice is not None:
            self.choice_ = fit.choice
        warn_if_too_few(len(fit.clusters), fit.labels)

    def _cluster_input(self, X: Any) -> ClusterInput:
        """Return the training rows, and store their columns."""
        raise NotImplementedError

    def _plan(self, rows: ClusterInput, **settings: Any) -> Plan:
        """Return the plan of the estimator's parameters."""
        init, n_init = self.init, self.n_init
        if not is_random_init(init) and is_whole(n_init) and n_init > 1:
            warn(
                Setting("n_init", int(n_init)),
                " has no effect without a random initialisation",
                remedy="one run is made",
            )
            n_init = 1
        return Plan(
            n_clusters=self.n_clusters,
            n_init=n_init,
            max_iter=self.max_iter,
            standardise=getattr(self, "standardise", False),
            seed=seed_of(self.random_state),
            n_jobs=self.n_jobs,
            **{"init": init, **settings},
        )

    @classmethod
    def from_model(cls, clusters: Clusters) -> Self:
        """Return the estimator of clusters that a file contains."""
        settings = dict(clusters.settings)
        if not hasattr(cls(), "standardise"):
            del settings["standardise"]
        if settings["init"] in ("given", "function"):
            # Use the initial centroids, if they are known.
            start = clusters.start * clusters.scale
            settings["init"] = start if len(start) else clusters.values
        model = cls(**settings)
        model._by_name = clusters.named
        model.clusters_ = clusters
        model.n_features_in_ = len(clusters.names)
        if clusters.named:
            model.feature_names_in_ = np.array(clusters.names, dtype=object)
        return model

    # Fitted attributes

    @property
    def cluster_centers_(self) -> NDArray[Any]:
        """The centroids in the units of the columns."""
        mixed = self.clusters_.method == MIXED
        return self.clusters_.values if mixed else self.clusters_.unscaled_centroids

    @property
    def counts_(self) -> Floats:
        """The total weight of each cluster's rows."""
        return self.clusters_.weights

    @property
    def inertia_(self) -> float:
        """The weighted sum of the distances of rows to their clusters."""
        return self.clusters_.inertia

    @property
    def n_iter_(self) -> int:
        """The number of iterations."""
        return self.clusters_.n_iterations

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Integers:
        """Find the clusters; return the label of each row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> Integers:
        """Return the label of each row's nearest cluster, the first of equals."""
        return self._nearest(X)[0]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the negative inertia of some rows."""
        distances = self._nearest(X)[1]
        return -weighted_sum(distances, sample_weights(sample_weight, len(distances)))

    def _nearest(self, X: Any) -> tuple[Integers, Floats]:
        """Return the label of each row, and its contribution to the inertia."""
        raise NotImplementedError

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Save the clusters to a file; :func:`spinney.load` reads them back.

        The file has no rows, so a loaded model has no ``labels_``.
        """
        check_is_fitted(self)
        save_model(self.clusters_, path)

    def __str__(self) -> str:
        """Return sizes and centroids as a table, once fitted."""
        if "clusters_" not in vars(self):
            return str(super().__str__())
        return str(FittedClusters(self.clusters_))

    def explore(self, *, rows: Any = None, beside: Any = None) -> "ExplorerPage":
        """Return an interactive page of the clusters.

        Parameters
        ----------
        rows : table, optional
            The rows to show, with the iterations of k-means.
        beside : fitted model, optional
            Another model to compare, such as clusters or a tree.
        """
        check_is_fitted(self)
        return FittedClusters(self.clusters_).explore(rows=rows, beside=beside)

    export = delegate_to_clusters(FittedClusters.export)
    plot = delegate_to_clusters(FittedClusters.plot)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Return the notebook display; before fit, the display of the parameters."""
        if "clusters_" in vars(self):
            return FittedClusters(self.clusters_)._repr_mimebundle_(**options)
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return bundle

    @property
    def _repr_html_(self) -> Any:
        """Scikit-learn's display of the parameters, before fit."""
        if "clusters_" in vars(self):
            msg = "fitted clusters have their own display"
            raise AttributeError(msg)
        return super()._repr_html_


def sample_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return the weights of the rows or None; refuse unusable ones."""
    if sample_weight is None:
        return None
    weights = given_weights(sample_weight, n_rows, max_total=np.inf)
    return check_weights(weights, "sample_weight")


def weighted_sum(distances: Floats, weights: Floats | None) -> float:
    """Return the weighted sum of distances; rows of weight 0 add nothing."""
    if weights is not None:
        distances = np.where(weights > 0, distances, 0.0)
    with np.errstate(over="ignore"):
        return float(np.sum(distances if weights is None else distances * weights))


def require_rows(table: Table) -> None:
    """Refuse a table without rows."""
    if not table.n_rows:
        msg = "the table has no rows (0 samples)"
        raise DataError(msg, remedy="give at least one")


def warn_if_too_few(n_clusters: int, labels: Integers) -> None:
    """Warn if there are fewer distinct rows than clusters."""
    n_distinct = len(np.unique(labels))
    if n_distinct < n_clusters:
        warn(
            f"{n_distinct} distinct clusters were found, fewer than ",
            Setting("n_clusters", n_clusters),
            remedy="there are no more distinct rows with weight",
        )


# The most distances in memory at once.
DISTANCES = 1 << 20


class Centroids(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterEstimator,
    BaseEstimator,  # type: ignore[misc]
):
    """A base class of k-means and mini-batch k-means."""

    tol: float

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the clusters; return the distances of all rows to all centroids."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the distance of each row to each centroid."""
        cells, centroids = self._scaled_rows_and_centroids(X)
        distances = np.empty((len(cells), len(centroids)), cells.dtype)
        step = max(1, DISTANCES // len(centroids))
        with np.errstate(over="ignore"):
            for first in range(0, len(cells), step):
                part = slice(first, first + step)
                distances[part] = distances_to_centroids(cells[part], centroids)
        return distances

    def _nearest(self, X: Any) -> tuple[Integers, Floats]:
        cells, centroids = self._scaled_rows_and_centroids(X)
        jobs = thread_count(self.n_jobs)
        return nearest_centroids(cells, centroids, n_jobs=jobs)

    def _scaled_rows_and_centroids(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return rows and centroids, both divided by the scale of the columns."""
        check_is_fitted(self)
        cells = encode_later_rows(self, X, self.clusters_.schema)
        return self.clusters_.scaled(cells), self.clusters_.centroids

    def _cluster_input(self, X: Any) -> ClusterInput:
        return numeric_input(self, X)

    def _plan(self, rows: ClusterInput, **settings: Any) -> Plan:
        if isinstance(self.init, str):
            check_named("init", self.init, K_MEANS_INITS)
        return super()._plan(rows, tol=self.tol, **settings)

    @property
    def _n_features_out(self) -> int:
        return len(self.clusters_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def numeric_input(estimator: Any, X: Any) -> ClusterInput:
    """Return training rows of finite floats, and store their columns."""
    X = collected(X)
    if not (is_framed(X) or _is_read_by_name(X)):
        cells = _finite_array(estimator, X, reset=True)
        unnamed = [f"x{index}" for index in range(cells.shape[1])]
        return ClusterInput(numeric_attributes(unnamed), cells, named=False)
    table = read_table(X)
    require_rows(table)
    cells = numeric_cells(table, type(estimator).__name__)
    if _is_read_by_name(X):
        estimator.n_features_in_ = len(table.columns)
        estimator.feature_names_in_ = np.array(table.names, dtype=object)
    else:
        _validate(estimator, X, skip_check_array=True, reset=True)
    named = hasattr(estimator, "feature_names_in_")
    names = estimator.feature_names_in_ if named else table.names
    units = [column.unit for column in table.columns]
    return ClusterInput(numeric_attributes(names, units), cells, named=named)


def numeric_attributes(
    names: Sequence[Any], units: Sequence[Any] | None = None
) -> tuple[Attribute, ...]:
    """Return attributes of numbers, with their units if they have any."""
    return tuple(
        Attribute(str(name), "numeric", (), unit)
        for name, unit in zip(names, units or [None] * len(names), strict=True)
    )


def encode_later_rows(estimator: Any, X: Any, schema: Schema) -> NDArray[Any]:
    """Return later rows of finite floats, by the columns of the clusters."""
    X = collected(X)
    if not (is_framed(X) or _is_read_by_name(X)):
        return _finite_array(estimator, X, reset=False)
    if _is_read_by_name(X) or estimator._by_name:
        later = read_with_schema(
            schema, range(len(schema.attributes)), X, may_be_empty=False
        )
        return encode_numbers(schema, later)
    table = read_table(X)
    require_rows(table)
    cells = numeric_cells(table, type(estimator).__name__)
    _validate(estimator, X, skip_check_array=True, reset=False)
    return cells


def _is_read_by_name(X: Any) -> bool:
    return has_names_only(X) or is_relation(X)


def _finite_array(estimator: Any, X: Any, *, reset: bool) -> NDArray[Any]:
    """Return X as an array of finite floats, by scikit-learn's conventions."""
    settings: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C"}
    X = _validate(estimator, X, reset=reset, ensure_all_finite=False, **settings)
    cells = np.asarray(X)
    finite = np.isfinite(cells)
    if finite.all():
        return cells
    row, column = (int(index) for index in np.argwhere(~finite)[0])
    number = float(cells[row, column])
    text = "NaN" if np.isnan(number) else "infinity" if number > 0 else "-infinity"
    alternative = ", or use KPrototypes" if text == "NaN" else ""
    msg = (
        f"column {column} contains {text} in row {row}, and "
        f"{type(estimator).__name__} needs finite numbers"
    )
    raise DataError(msg, remedy=f"fill or remove such cells{alternative}")


def _validate(estimator: Any, X: Any, **settings: Any) -> Any:
    """Return X as scikit-learn validates it; its errors become ours."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        msg = "X has masked cells"
        raise DataError(msg, remedy="fill them, or remove these rows")
    return validated(estimator, X, **settings)
