"""Mini-batch k-means by scikit-learn's conventions."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_whole
from spinney._support.threads import thread_count
from spinney.data import Fingerprint
from spinney.data.duckdb import is_relation
from spinney.data.readers import number_batches
from spinney.errors import DataError, Setting
from spinney.estimators.table_estimator import transactional_fit
from spinney.extensions.clustering.clusters import BATCHES, Clusters, cluster_schema
from spinney.extensions.clustering.estimators.cluster_estimator import (
    Centroids,
    encode_later_rows,
    numeric_attributes,
    numeric_input,
    sample_weights,
    warn_if_too_few,
    weighted_sum,
)
from spinney.extensions.clustering.exact_sums import exact_means
from spinney.extensions.clustering.fit_k_means import (
    nearest_centroids,
    one_blas_thread_for,
    scaled_rows_and_points,
)
from spinney.extensions.clustering.lloyd import prepare_weights
from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.fit_clusters import (
    ClusterInput,
    check_n_clusters,
    make_clusters,
    method_for,
    recorded_settings,
)

FIRST_BATCHES = 3  # initial centroids come from these


@dataclass(eq=False, repr=False)
class MiniBatchKMeans(Centroids):
    """Mini-batch k-means, for tables larger than memory (Sculley 2010).

    The rows of a batch are assigned to their nearest centroids, and each centroid moves
    to the mean of all rows ever assigned to it. This approximates :class:`KMeans`, and
    reads each row once per pass.

    Parameters
    ----------
    n_clusters : int
        The number of clusters.
    init : {"k-means++", "random"}, array or callable
        The initial centroids, as in :class:`KMeans`, from three batches of rows.
    batch_size : int
        The number of rows in a batch.
    n_init : int or "auto"
        The number of random initialisations; the least inertia on these batches wins.
        ``"auto"`` is as in :class:`KMeans`.
    max_iter : int
        The most passes over the rows.
    tol : float
        Training ends after a pass that lowers the mean squared distance by at most this
        fraction.
    random_state : int, RandomState or None
        The seed. The same seed and batches give the same clusters.
    n_jobs : int, optional
        As in :class:`KMeans`.

    Attributes
    ----------
    cluster_centers_ : array, clusters × columns
        The centroids.
    counts_ : array
        The total weight assigned to each cluster.
    labels_ : array
        The cluster of each row; of the last batch after ``partial_fit``. Missing after
        a fit on a file, a query or batches: use ``predict``.
    inertia_ : float
        The weighted sum of the squared distances of the rows in ``labels_``.
    n_iter_ : int
        The number of passes.
    n_steps_ : int
        The number of batches learned.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import MiniBatchKMeans
    >>> rows = np.repeat([[0.0], [1.0], [10.0], [11.0]], 500, axis=0)
    >>> model = MiniBatchKMeans(2, batch_size=100, random_state=0).fit(rows)
    >>> np.sort(model.cluster_centers_.ravel())
    array([ 0.5, 10.5])
    """

    _: KW_ONLY
    batch_size: int = 1024
    tol: float = 1e-3

    # Learning

    def _fit(self, X: Any, sample_weight: Any) -> None:
        check_whole("batch_size", self.batch_size, least=1)
        check_whole("n_clusters", self.n_clusters, least=1)
        if is_relation(X) or _is_streamable(X):
            if sample_weight is not None:
                msg = "sample_weight needs rows in memory"
                raise DataError(msg, remedy="read the table first")
            self._fit_stream(X)
            return
        rows = numeric_input(self, X)
        cells, weights = rows.cells, sample_weights(sample_weight, len(rows.cells))
        plan = self._plan(rows)
        first = self._first_rows(len(cells), weights, plan.seed)
        first_weights = None if weights is None else weights[first]
        self._initialise(replace(rows, cells=cells[first]), first_weights, plan)

        def make_batches(turn: int) -> Iterator[tuple[NDArray[Any], Floats | None]]:
            for batch in shuffled_batches(len(cells), self.batch_size, plan.seed, turn):
                yield cells[batch], None if weights is None else weights[batch]

        n_iter, _ = self._run_passes(make_batches)
        points = self._running.centroids.astype(cells.dtype)
        jobs = thread_count(self.n_jobs)
        self.labels_, squares = nearest_centroids(cells, points, n_jobs=jobs)
        inertia = weighted_sum(squares, weights)
        self._store_centroids(cells.dtype, inertia, n_iter, rows.fingerprint(weights))
        warn_if_too_few(len(points), self.labels_)

    def _first_rows(self, n_rows: int, weights: Floats | None, seed: int) -> Integers:
        """Return rows for the initial centroids; rows of weight 0 only if needed."""
        heavy = np.arange(n_rows) if weights is None else np.flatnonzero(weights)
        size = FIRST_BATCHES * self.batch_size
        first = heavy[next(shuffled_batches(len(heavy), size, seed, -1 % 2**32))]
        return first if len(first) >= self.n_clusters else np.arange(n_rows)

    def _fit_stream(self, X: Any) -> None:
        """Fit to a file or a query, which is read once per pass."""
        with number_batches(X, FIRST_BATCHES * self.batch_size) as (names, batches):
            self.n_features_in_ = len(names)
            self.feature_names_in_ = np.array(names, dtype=object)
            cells = _first_batches(batches, self.n_clusters)
            rows = ClusterInput(numeric_attributes(names), cells)
            self._initialise(rows, None, self._plan(rows))

        def make_batches(_: int) -> Iterator[tuple[NDArray[Any], None]]:
            with number_batches(X, self.batch_size) as (_names, batches):
                yield from ((cells, None) for cells in batches)

        n_iter, inertia = self._run_passes(make_batches)
        self._store_centroids(cells.dtype, inertia, n_iter)

    def _initialise(
        self, rows: ClusterInput, weights: Floats | None, plan: Plan
    ) -> None:
        """Initialise the centroids from the first rows, as k-means does."""
        k = self.n_clusters
        check_whole("n_clusters", k, least=1)
        check_n_clusters(k, len(rows.cells))
        method = method_for(plan, rows)
        clustering = replace(method, max_iter=0).fit(rows.cells, k, weights=weights)
        settings = {
            **recorded_settings(plan, method, k),
            "batch_size": int(self.batch_size),
        }
        scale = np.ones(rows.cells.shape[1])
        clusters = make_clusters(rows, clustering, scale, weights, settings)
        self.clusters_ = replace(clusters, method=BATCHES, start=clusters.start[:0])
        self._running = RunningCentroids(clustering.centroids, np.zeros(k))
        self.n_steps_ = 0

    def _run_passes(self, make_batches: Callable[[int], Any]) -> tuple[int, float]:
        """Learn all rows in passes; return how many, and the last inertia."""
        before, n_iter = np.inf, 0
        while True:
            inertia = weight = 0.0
            for cells, weights in make_batches(n_iter):
                inertia += self._learn_batch(cells, weights)[1]
                weight += len(cells) if weights is None else float(weights.sum())
            n_iter += 1
            mean = inertia / weight
            if n_iter >= self.max_iter or mean >= before * (1 - self.tol):
                return n_iter, inertia
            before = mean

    def _learn_batch(self, cells: NDArray[Any], weights: Floats | None) -> Any:
        self.n_steps_ += 1
        return self._running.learn(cells, weights, thread_count(self.n_jobs))

    def _store_centroids(
        self, kind: Any, inertia: float, n_iter: int, origin: Fingerprint | None = None
    ) -> None:
        """Store the current centroids; rows no longer in memory have no digest."""
        weight = float(self._running.weights.sum()) / max(n_iter, 1)
        self.clusters_ = replace(
            self.clusters_,
            centroids=self._running.centroids.astype(kind),
            start=self.clusters_.start.astype(kind),
            weights=self._running.weights.copy(),
            inertia=inertia,
            n_iterations=n_iter,
            fingerprint=origin or Fingerprint(round(weight), weight),
        )

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn one batch; the first needs as many rows as there are clusters."""
        if "clusters_" in vars(self):
            n_iter = self.n_iter_
            cells = encode_later_rows(self, X, self.clusters_.schema)
            weights = sample_weights(sample_weight, len(cells))
        else:
            n_iter, rows = 0, numeric_input(self, X)
            cells, weights = rows.cells, sample_weights(sample_weight, len(rows.cells))
            self._initialise(rows, weights, self._plan(rows))
        self.labels_, inertia = self._learn_batch(cells, weights)
        self._store_centroids(cells.dtype, inertia, n_iter)
        return self

    @classmethod
    def from_model(cls, clusters: Clusters) -> Self:
        """Return the estimator of clusters that a file contains."""
        model = super().from_model(clusters)
        model._running = RunningCentroids(clusters.centroids, clusters.weights)
        model.n_steps_ = 0
        return model

    def fit_batches(self, batches: Iterable[Any]) -> Self:
        """Learn from an iterable of arrays or data frames in one pass.

        The first batches are joined until there are as many rows as clusters.

        Examples
        --------
        >>> import numpy as np
        >>> from spinney import MiniBatchKMeans
        >>> batches = (np.array([[0.0], [9.0], [cell]]) for cell in (0.0, 9.0))
        >>> MiniBatchKMeans(2, random_state=0).fit_batches(batches).n_steps_
        2
        """
        with transactional_fit(self) as new:
            new._fit_batches(batches)
        return self

    def _fit_batches(self, batches: Iterable[Any]) -> None:
        check_whole("n_clusters", self.n_clusters, least=1)
        if not isinstance(batches, Iterable):
            raise DataError(
                Setting("batches", batches), " must be an iterable of tables"
            )
        first: ClusterInput | None = None
        waiting: list[NDArray[Any]] = []
        for batch in batches:
            if first is None:
                first = numeric_input(self, batch)
                waiting.append(first.cells)
            else:
                schema = cluster_schema(first.attributes, 1)
                waiting.append(encode_later_rows(self, batch, schema))
            started = "clusters_" in vars(self)
            if started or sum(map(len, waiting)) >= self.n_clusters:
                joined = np.concatenate(waiting)
                if not started:
                    rows = replace(first, cells=joined)
                    self._initialise(rows, None, self._plan(rows))
                inertia = self._learn_batch(joined, None)[1]
                waiting = []
        if "clusters_" not in vars(self):
            msg = "the batches have fewer rows than "
            raise DataError(msg, Setting("n_clusters", int(self.n_clusters)))
        self._store_centroids(joined.dtype, inertia, 1)


def _is_streamable(X: Any) -> bool:
    """Return whether X names a file that can be read in batches."""
    if not isinstance(X, (str, os.PathLike)):
        return False
    name = os.fspath(X).lower().removesuffix(".gz")
    return name.endswith((".csv", ".tsv", ".parquet"))


def _first_batches(batches: Iterator[Floats], n: int) -> Floats:
    """Return the first batches that together have n rows."""
    parts: list[Floats] = []
    for batch in batches:
        parts.append(batch)
        if sum(map(len, parts)) >= n:
            break
    if not parts:
        msg = "the table has no rows"
        raise DataError(msg, remedy="give at least one")
    return np.concatenate(parts)


class RunningCentroids:
    """Centroids that are the means of all rows ever assigned to them.

    A centroid without rows moves to the batch's row farthest from its centroid.
    """

    def __init__(self, centroids: Floats, weights: Floats) -> None:
        self.centroids = np.array(centroids, dtype=np.float64)
        self.weights = np.array(weights, dtype=np.float64)

    def learn(
        self, cells: NDArray[Any], weights: Floats | None, n_jobs: int | None
    ) -> tuple[Integers, float]:
        """Learn a batch; return its labels and inertia before the update."""
        small, weight_power = prepare_weights(weights)
        points = self.centroids.astype(cells.dtype)
        rows, points, power = scaled_rows_and_points(
            cells, points, small, n_jobs=n_jobs
        )
        with one_blas_thread_for(rows):
            labels, squares = rows.nearest_to(points)
        centroids = np.ldexp(self.centroids, -power)
        means, added = exact_means(rows.sums(), rows.scales)
        changed = added > 0
        with np.errstate(over="ignore"):
            added = np.ldexp(added[changed], weight_power)
            total = self.weights[changed] + added
        fraction = (added / total)[:, None]
        centroids[changed] += (means[changed] - centroids[changed]) * fraction
        self.weights[changed] = total
        sizes = squares * small if len(small) else squares
        empty = np.flatnonzero(self.weights <= 0)
        farthest = np.argsort(-sizes, kind="stable")[: len(empty)]
        farthest = farthest[sizes[farthest] > 0]
        centroids[empty[: len(farthest)]] = rows.cells[farthest]
        self.centroids = np.ldexp(centroids, power)
        with np.errstate(over="ignore"):
            return labels, float(np.ldexp(np.sum(sizes), 2 * power + weight_power))


def shuffled_batches(
    n_rows: int, size: int, seed: int, turn: int
) -> Iterator[Integers]:
    """Yield the rows of each batch of a pass, in random order (NumPy's PCG64).

    A single batch of all rows stays in order.

    >>> [len(batch) for batch in shuffled_batches(10, 4, seed=0, turn=0)]
    [4, 4, 2]
    """
    if n_rows <= size:
        yield np.arange(n_rows)
        return
    order = np.random.default_rng([seed, turn]).permutation(n_rows)
    for first in range(0, n_rows, size):
        yield np.sort(order[first : first + size])
