"""What the scikit-learn classes of centroids share: reading, and distances."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_named, check_number
from spinney._support.threads import thread_count as threads_of
from spinney.cluster.fit import (
    STARTS,
    checked_centroids,
    distances_between,
    nearest_centroids,
)
from spinney.clustered.model import Clusters, refuse_missing, schema_of
from spinney.data import read_table
from spinney.data.conform import read_by
from spinney.data.duckdb.columns import is_relation
from spinney.data.schema import Attribute
from spinney.data.table import Table
from spinney.errors import CellError, DataError
from spinney.estimators.clustering import (
    MANY_STARTS,
    ClusterEstimator,
    check_counts,
    check_enough,
    n_starts_of,
    refuse_no_rows,
)
from spinney.estimators.kept import attributes_of, kept
from spinney.estimators.tables import has_names_only

__all__ = ["Centroids", "checked_start", "numbers_of"]

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
