"""What all scikit-learn classes of clusters share: fitting, keeping, checks."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_named, check_number, check_whole
from spinney._support.threads import thread_count as threads_of
from spinney.cluster import (
    STARTS,
    Clusters,
    checked_centroids,
    distances_between,
    nearest_centroids,
    refuse_missing,
    schema_of,
)
from spinney.data import Attribute, Table
from spinney.data.duckdb import is_relation
from spinney.data.readers import read_by, read_table
from spinney.errors import CellError, DataError, Setting, warn
from spinney.estimators.kept import attributes_of, forget, kept
from spinney.estimators.table_estimator import become, checked_weights, has_names_only
from spinney.models.clusters import ReadableClusters
from spinney.output.file import save_clusters

if TYPE_CHECKING:
    import os

MANY_STARTS = 10


class ClusterEstimator(ClusterMixin):  # type: ignore[misc]
    """An estimator of clusters; it stands before scikit-learn's ``BaseEstimator``."""

    n_jobs: int | None
    cluster_centers_: NDArray[Any]
    labels_: Integers
    counts_: Floats
    inertia_: float
    n_iter_: int
    # What columns are divided by where they are standardised.
    _scale: Floats | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array, data frame, dict of columns or anything that ``read_table`` takes
            The rows. Where distances are those of numbers, they are finite; float32 is
            kept, all else becomes float64. To declare kinds of columns, pass what
            ``read_table`` returns.
        y : ignored
        sample_weight : array, optional
            The weight of each row; a row of weight 0 is labelled and no more.
        """
        # A fit that fails, or is interrupted, leaves the old clusters as they were.
        new = type(self)(**self.get_params(deep=False))
        new._find(X, sample_weight)
        forget(self)
        become(self, new)
        return self

    def _find(self, X: Any, sample_weight: Any) -> None:
        """Find the clusters, as a new estimator that nobody else knows yet."""
        raise NotImplementedError

    def _nearest(self, X: Any) -> tuple[Integers, Floats]:
        """Return the cluster of each row, and what its distance adds to the inertia."""
        raise NotImplementedError

    def _kept(self) -> Clusters:
        """Return what a file keeps."""
        raise NotImplementedError

    def _tell(self, found: Any, weights: Floats | None, inertia: float) -> None:
        """Keep what rows came to, once there are centroids."""
        warn_of_few(self.cluster_centers_, found.labels)
        self.labels_ = found.labels
        n_clusters = len(self.cluster_centers_)
        self.counts_ = np.bincount(found.labels, weights, n_clusters).astype(np.float64)
        self.inertia_ = inertia
        self.n_iter_ = found.n_iterations

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Integers:
        """Find the clusters; return that of each row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> Integers:
        """Return the cluster of each row: the nearest one, the first of equals."""
        return self._nearest(X)[0]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the inertia of rows, as ``inertia_`` is that of others, times -1."""
        distances = self._nearest(X)[1]
        return -weighted_sum(distances, weights_of(sample_weight, len(distances)))

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Save the clusters to a file; :func:`spinney.load` reads them back.

        Where they are, their columns and the settings are kept, the rows are not: so
        ``labels_`` is not there after loading.
        """
        check_is_fitted(self, "cluster_centers_")
        save_clusters(self._kept(), path)

    def __str__(self) -> str:
        """Return sizes and places as a table, once there are any."""
        if "cluster_centers_" not in vars(self):
            return str(super().__str__())
        return str(ReadableClusters(self._kept()))


def weights_of(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return the weights of the rows, None if none are said; refuse those of no use."""
    if sample_weight is None:
        return None
    try:
        weights = checked_weights(sample_weight, n_rows)
    except (TypeError, ValueError) as error:
        raise DataError(str(error)) from None
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not total > 0:
        msg = "sample_weight is 0 for every row: at least one must weigh more"
        raise DataError(msg)
    if total == np.inf:
        msg = "the sum of sample_weight is beyond all floats: divide all by a number"
        raise DataError(msg)
    return weights


def weighted_sum(distances: Floats, weights: Floats | None) -> float:
    """Return the sum of distances by weight; what has no weight adds nothing."""
    if weights is not None:
        distances = np.where(weights > 0, distances, 0.0)
    with np.errstate(over="ignore"):
        return float(np.sum(distances if weights is None else distances * weights))


def refuse_no_rows(table: Table) -> None:
    """Refuse a table without rows."""
    if not table.n_rows:
        msg = "the table has no rows (0 samples): give it at least one"
        raise DataError(msg)


def check_counts(estimator: Any) -> None:
    """Refuse numbers of clusters and of iterations that mean nothing."""
    check_whole("n_clusters", estimator.n_clusters, least=1)
    check_whole("max_iter", estimator.max_iter, least=1)


def check_enough(n_clusters: int, n_rows: int) -> None:
    """Refuse fewer rows than clusters."""
    if n_rows < n_clusters:
        raise DataError(
            Setting("n_clusters", int(n_clusters)),
            f" is more than the rows (n_samples={n_rows})",
            remedy="ask for fewer clusters",
        )


def n_starts_of(n_init: Any, *, drawn: bool, usual: int = MANY_STARTS) -> int:
    """Return how many starts are meant: one where nothing is drawn."""
    if isinstance(n_init, str):
        check_named("n_init", n_init, ["auto"])
        return usual if drawn else 1
    check_whole("n_init", n_init, least=1)
    if not drawn and n_init > 1:
        warn(
            Setting("n_init", int(n_init)),
            " where nothing is drawn",
            remedy="one start is made",
        )
        return 1
    return int(n_init)


def warn_of_few(centroids: NDArray[Any], labels: Integers) -> None:
    """Warn where rows are not different enough for so many clusters."""
    found = len(np.unique(labels))
    if found < len(centroids):
        warn(
            f"{found} distinct clusters were found, fewer than ",
            Setting("n_clusters", len(centroids)),
            remedy="there are no more distinct rows of weight",
        )


# As many distances at once as transform keeps.
DISTANCES = 1 << 20


class Centroids(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterEstimator,
    BaseEstimator,  # type: ignore[misc]
):
    """Clusters that are told by their centroids."""

    # The centroids as distances are measured, where columns are standardised.
    _scaled_centers: NDArray[Any]

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the clusters; return the distances of all rows to all centroids."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the distance of each row to each centroid."""
        check_is_fitted(self)
        cells, centroids = self._measured(numbers_of(self, X, reset=False))
        found = np.empty((len(cells), len(centroids)), cells.dtype)
        step = max(1, DISTANCES // len(centroids))
        with np.errstate(over="ignore"):
            for first in range(0, len(cells), step):
                part = slice(first, first + step)
                found[part] = distances_between(cells[part], centroids)
        return found

    def _nearest(self, X: Any) -> tuple[Integers, Floats]:
        check_is_fitted(self)
        cells, centroids = self._measured(numbers_of(self, X, reset=False))
        jobs = threads_of(self.n_jobs)
        return nearest_centroids(cells, centroids, n_jobs=jobs)

    def _measured(self, cells: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return rows and centroids as distances are measured between them."""
        if self._scale is None:
            return cells, self.cluster_centers_
        return cells / self._scale.astype(cells.dtype), self._scaled_centers

    def _kept(self) -> Clusters:
        return kept(self)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def numbers_of(estimator: Any, X: Any, *, reset: bool) -> NDArray[Any]:
    """Return X as rows of finite floats, by scikit-learn's conventions."""
    named = has_names_only(X) or is_relation(X)
    if named or hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__"):
        by_name = named or getattr(estimator, "_by_name", False)
        if by_name and not reset:
            return _by_name(estimator, X)
        table = read_table(X)
        refuse_no_rows(table)
        cells = _cells_of(table, type(estimator).__name__)
        if not named:
            _validated(estimator, X, skip_check_array=True, reset=reset)
        else:
            estimator.n_features_in_ = len(table.columns)
            estimator.feature_names_in_ = np.array(table.names, dtype=object)
        if reset:
            estimator._attributes = tuple(
                Attribute(str(name), "numeric", (), column.unit)
                for name, column in zip(
                    getattr(estimator, "feature_names_in_", table.names),
                    table.columns,
                    strict=True,
                )
            )
        return cells
    settings: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C"}
    cells = _validated(estimator, X, reset=reset, ensure_all_finite=False, **settings)
    return _finite(np.asarray(cells), type(estimator).__name__)


def _validated(estimator: Any, X: Any, **settings: Any) -> Any:
    """Return what scikit-learn makes of X; what it refuses is our error."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        msg = "X has masked cells: fill them, or leave these rows out"
        raise DataError(msg)
    try:
        return validate_data(estimator, X, **settings)
    except TypeError as error:
        raise CellError(str(error)) from None
    except ValueError as error:
        raise DataError(str(error)) from None


def _finite(cells: NDArray[Any], estimator: str) -> NDArray[Any]:
    """Return the cells of an array, refused by the first that is no finite number."""
    known = np.isfinite(cells)
    if known.all():
        return cells
    row, column = (int(place) for place in np.argwhere(~known)[0])
    cell = "infinity" if cells[row, column] > 0 else "-infinity"
    cell = "NaN" if np.isnan(cells[row, column]) else cell
    other = ", or use KPrototypes" if cell == "NaN" else ""
    msg = (
        f"column {column} holds {cell} in row {row}, and {estimator} measures "
        f"distances of finite numbers: fill such cells, or leave these rows out{other}"
    )
    raise DataError(msg)


def _by_name(estimator: Any, X: Any) -> NDArray[Any]:
    """Return the columns that the clusters were found on, by their names."""
    schema = schema_of(attributes_of(estimator), 1)
    schema = replace(schema, markers=getattr(estimator, "_markers", ()))
    table = read_by(schema, range(len(schema.attributes)), X, may_be_empty=False)
    encoded = schema.encode(table)
    for attribute, cells in zip(schema.attributes, encoded, strict=True):
        refuse_missing(attribute.name, np.isnan(cells))
    return np.column_stack(encoded)


def _cells_of(table: Table, estimator: str) -> NDArray[Any]:
    """Return the cells of a table of numbers, none of them missing."""
    for column in table.columns:
        if column.kind != "numeric":
            msg = (
                f"column {column.name!r} is {column.kind}, and {estimator} measures "
                "distances of numbers: leave it out, or use KPrototypes"
            )
            raise DataError(msg)
        if column.missing.any():
            row = int(np.argmax(column.missing))
            msg = (
                f"column {column.name!r} is missing (NaN) in row {row}, and "
                f"{estimator} knows no missing cells: fill them, leave the rows out, "
                "or use KPrototypes"
            )
            raise DataError(msg)
    return np.column_stack([column.cells for column in table.columns])


def checked_start(estimator: Any, n_rows: int, n_columns: int) -> tuple[Any, int]:
    """Refuse parameters that mean nothing; return the start, and how many of them."""
    check_counts(estimator)
    check_number("tol", estimator.tol)
    start: Any = estimator.init
    if isinstance(start, str):
        check_named("init", start, STARTS)
    elif not callable(start):
        start = checked_centroids(start, estimator.n_clusters, n_columns)
    check_enough(estimator.n_clusters, n_rows)
    named = isinstance(start, str)
    drawn = callable(start) or (named and start != "optimal")
    usual = 1 if named and start == "k-means++" else MANY_STARTS
    return start, n_starts_of(estimator.n_init, drawn=drawn, usual=usual)
