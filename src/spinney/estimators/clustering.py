"""What all scikit-learn classes of clusters share: fitting, keeping, checks."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_named, check_whole
from spinney.clustered.file import save_clusters
from spinney.clustered.model import Clusters
from spinney.clustered.readable import ReadableClusters
from spinney.data.table import Table
from spinney.errors import DataError, warn
from spinney.estimators.kept import forget
from spinney.estimators.tables import become, checked_weights

if TYPE_CHECKING:
    import os

__all__ = [
    "ClusterEstimator",
    "check_counts",
    "check_enough",
    "n_starts_of",
    "refuse_no_rows",
    "warn_of_few",
    "weighted_sum",
    "weights_of",
]

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
        msg = (
            f"n_clusters={n_clusters} is more than the rows (n_samples="
            f"{n_rows}): ask for fewer clusters"
        )
        raise DataError(msg)


def n_starts_of(n_init: Any, *, drawn: bool, usual: int = MANY_STARTS) -> int:
    """Return how many starts are meant: one where nothing is drawn."""
    if isinstance(n_init, str):
        check_named("n_init", n_init, ["auto"])
        return usual if drawn else 1
    check_whole("n_init", n_init, least=1)
    if not drawn and n_init > 1:
        warn(f"n_init={n_init} where nothing is drawn: one start is made")
        return 1
    return int(n_init)


def warn_of_few(centroids: NDArray[Any], labels: Integers) -> None:
    """Warn where rows are not different enough for so many clusters."""
    found = len(np.unique(labels))
    if found < len(centroids):
        warn(
            f"{found} distinct clusters were found, fewer than n_clusters="
            f"{len(centroids)}: there are no more distinct rows of weight"
        )
