"""Mini-batch k-means by scikit-learn's conventions."""

import os
from collections.abc import Iterable, Iterator
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
from spinney.estimators.table_estimator import learning_anew
from spinney.extensions.clustering.clusters import BATCHES, Clusters, schema_of
from spinney.extensions.clustering.estimators.cluster_estimator import (
    Centroids,
    later_numbers,
    numeric_attributes,
    rows_of_numbers,
    warn_of_few,
    weighted_sum,
    weights_of,
)
from spinney.extensions.clustering.fit_k_means import nearest_centroids
from spinney.extensions.clustering.mini_batch import RunningCentroids, in_batches
from spinney.extensions.clustering.models.cluster_plan import Plan
from spinney.extensions.clustering.models.find import (
    MeasuredRows,
    check_enough,
    clusters_of,
    method_of,
    settings_of,
)

FIRST_BATCHES = 3  # as many rows are looked at for the start


@dataclass(eq=False, repr=False)
class MiniBatchKMeans(Centroids):
    """k-means of rows that come in batches, for tables that memory does not hold.

    A batch's rows go to their nearest centroids, and each centroid moves to the mean of
    all rows that were ever its own (Sculley 2010): an approximation of
    :class:`KMeans`, that looks at a row once per pass.

    Parameters
    ----------
    n_clusters : int
        How many clusters.
    init : {"k-means++", "random"}, array or callable
        Where to start, as in :class:`KMeans`; drawn among the first rows, or three
        batches of them.
    batch_size : int
        How many rows at once.
    n_init : int or "auto"
        How many starts are drawn; the one of least inertia on those rows is kept.
        ``"auto"`` is that of :class:`KMeans`, for those rows.
    max_iter : int
        How many passes over the rows at most.
    tol : float
        No other pass is made if one lowers the mean squared distance by no more than
        this share of it.
    random_state : int, RandomState or None
        The seed. The same seed and batches give the same clusters.
    n_jobs : int, optional
        As in :class:`KMeans`.

    Attributes
    ----------
    cluster_centers_ : array, clusters × columns
        The centroids.
    counts_ : array
        The weight that each of them has had.
    labels_ : array
        The cluster of each row; of the last batch after ``partial_fit``. Not there
        after a fit on a file, a query or batches: ``predict`` tells it.
    inertia_ : float
        The weighted sum of the squared distances of the same rows.
    n_iter_ : int
        How many passes were made.
    n_steps_ : int
        How many batches were taken in.

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

    def _find(self, X: Any, sample_weight: Any) -> None:
        check_whole("batch_size", self.batch_size, least=1)
        check_whole("n_clusters", self.n_clusters, least=1)
        if is_relation(X) or _streams(X):
            if sample_weight is not None:
                msg = "sample_weight is for rows in memory: read the table first"
                raise DataError(msg)
            self._fit_stream(X)
            return
        rows = rows_of_numbers(self, X)
        cells, weights = rows.cells, weights_of(sample_weight, len(rows.cells))
        plan = self._plan(rows)
        first = self._first_rows(len(cells), weights, plan.seed)
        own = None if weights is None else weights[first]
        self._start(replace(rows, cells=cells[first]), own, plan)
        n_iter, _ = self._pass_until_done(
            lambda turn: (
                (cells[some], None if weights is None else weights[some])
                for some in in_batches(len(cells), self.batch_size, plan.seed, turn)
            )
        )
        points = self._running.centroids.astype(cells.dtype)
        jobs = thread_count(self.n_jobs)
        self.labels_, squares = nearest_centroids(cells, points, n_jobs=jobs)
        inertia = weighted_sum(squares, weights)
        self._keep_running(cells.dtype, inertia, n_iter, rows.fingerprint(weights))
        warn_of_few(len(points), self.labels_)

    def _first_rows(self, n_rows: int, weights: Floats | None, seed: int) -> Integers:
        """Return the rows to start on: of weight, where there are any so many."""
        heavy = np.arange(n_rows) if weights is None else np.flatnonzero(weights)
        size = FIRST_BATCHES * self.batch_size
        first = heavy[next(in_batches(len(heavy), size, seed, -1 % 2**32))]
        return first if len(first) >= self.n_clusters else np.arange(n_rows)

    def _fit_stream(self, X: Any) -> None:
        """Learn from a file or a query, read once per pass."""
        with number_batches(X, FIRST_BATCHES * self.batch_size) as (names, batches):
            self.n_features_in_ = len(names)
            self.feature_names_in_ = np.array(names, dtype=object)
            cells = _at_least(batches, self.n_clusters)
            rows = MeasuredRows(numeric_attributes(names), cells)
            self._start(rows, None, self._plan(rows))

        def batches_of(_: int) -> Iterator[tuple[NDArray[Any], None]]:
            with number_batches(X, self.batch_size) as (_names, batches):
                yield from ((cells, None) for cells in batches)

        n_iter, inertia = self._pass_until_done(batches_of)
        self._keep_running(cells.dtype, inertia, n_iter)

    def _start(self, rows: MeasuredRows, weights: Floats | None, plan: Plan) -> None:
        """Start on the first rows, as k-means does.

        ``_running`` has the centroids as they move, in double precision.
        """
        k = self.n_clusters
        check_whole("n_clusters", k, least=1)
        check_enough(k, len(rows.cells))
        method = method_of(plan, rows)
        clustering = replace(method, max_iter=0).fit(rows.cells, k, weights=weights)
        settings = {
            **settings_of(plan, method, k),
            "batch_size": int(self.batch_size),
        }
        scale = np.ones(rows.cells.shape[1])
        clusters = clusters_of(rows, clustering, scale, weights, settings)
        self.clusters_ = replace(clusters, method=BATCHES, start=clusters.start[:0])
        self._running = RunningCentroids(clustering.centroids, np.zeros(k))
        self.n_steps_ = 0

    def _pass_until_done(self, batches_of: Any) -> tuple[int, float]:
        """Take all rows in, pass after pass; return how many, and the last inertia."""
        before, n_iter = np.inf, 0
        while True:
            inertia = weight = 0.0
            for cells, weights in batches_of(n_iter):
                inertia += self._take(cells, weights)[1]
                weight += len(cells) if weights is None else float(weights.sum())
            n_iter += 1
            mean = inertia / weight
            if n_iter >= self.max_iter or mean >= before * (1 - self.tol):
                return n_iter, inertia
            before = mean

    def _take(self, cells: NDArray[Any], weights: Floats | None) -> Any:
        self.n_steps_ += 1
        return self._running.learn(cells, weights, thread_count(self.n_jobs))

    def _keep_running(
        self, kind: Any, inertia: float, n_iter: int, origin: Fingerprint | None = None
    ) -> None:
        """Keep the centroids as they are now; rows that are gone have no digest."""
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
        """Take one batch in; the first must have as many rows as there are clusters."""
        if "clusters_" in vars(self):
            n_iter = self.n_iter_
            cells = later_numbers(self, X, self.clusters_.schema)
            weights = weights_of(sample_weight, len(cells))
        else:
            n_iter, rows = 0, rows_of_numbers(self, X)
            cells, weights = rows.cells, weights_of(sample_weight, len(rows.cells))
            self._start(rows, weights, self._plan(rows))
        self.labels_, inertia = self._take(cells, weights)
        self._keep_running(cells.dtype, inertia, n_iter)
        return self

    @classmethod
    def from_model(cls, clusters: Clusters) -> Self:
        """Return the estimator of clusters that were loaded from a file."""
        model = super().from_model(clusters)
        model._running = RunningCentroids(clusters.centroids, clusters.weights)
        model.n_steps_ = 0
        return model

    def fit_batches(self, batches: Iterable[Any]) -> Self:
        """Learn from tables that come one after the other, in one pass.

        Parameters
        ----------
        batches : iterable of arrays or data frames
            Those before there are as many rows as clusters are put together.

        Examples
        --------
        >>> import numpy as np
        >>> from spinney import MiniBatchKMeans
        >>> batches = (np.array([[0.0], [9.0], [cell]]) for cell in (0.0, 9.0))
        >>> MiniBatchKMeans(2, random_state=0).fit_batches(batches).n_steps_
        2
        """
        with learning_anew(self) as new:
            new._fit_batches(batches)
        return self

    def _fit_batches(self, batches: Iterable[Any]) -> None:
        check_whole("n_clusters", self.n_clusters, least=1)
        if not isinstance(batches, Iterable):
            raise DataError(
                Setting("batches", batches), " must be tables, one after the other"
            )
        first: MeasuredRows | None = None
        waiting: list[NDArray[Any]] = []
        for batch in batches:
            if first is None:
                first = rows_of_numbers(self, batch)
                waiting.append(first.cells)
            else:
                schema = schema_of(first.attributes, 1)
                waiting.append(later_numbers(self, batch, schema))
            started = "clusters_" in vars(self)
            if started or sum(map(len, waiting)) >= self.n_clusters:
                joined = np.concatenate(waiting)
                if not started:
                    rows = replace(first, cells=joined)
                    self._start(rows, None, self._plan(rows))
                inertia = self._take(joined, None)[1]
                waiting = []
        if "clusters_" not in vars(self):
            msg = "the batches have fewer rows than "
            raise DataError(msg, Setting("n_clusters", int(self.n_clusters)))
        self._keep_running(joined.dtype, inertia, 1)


def _streams(X: Any) -> bool:
    """Return whether X names a file that can be read some rows at a time."""
    if not isinstance(X, (str, os.PathLike)):
        return False
    name = os.fspath(X).lower().removesuffix(".gz")
    return name.endswith((".csv", ".tsv", ".parquet"))


def _at_least(batches: Iterator[Floats], n: int) -> Floats:
    """Return the first batches, until they have so many rows."""
    parts: list[Floats] = []
    for batch in batches:
        parts.append(batch)
        if sum(map(len, parts)) >= n:
            break
    if not parts:
        msg = "the table has no rows: give it at least one"
        raise DataError(msg)
    return np.concatenate(parts)
