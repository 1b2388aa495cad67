"""Mini-batch k-means by scikit-learn's conventions."""

import os
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.checks import check_whole
from spinney._support.keyed_random import seed_of
from spinney._support.threads import thread_count as threads_of
from spinney.cluster import Running, Start, in_batches, nearest_centroids
from spinney.data.duckdb import is_relation
from spinney.data.readers import number_batches
from spinney.errors import DataError, Setting
from spinney.estimators.cluster_estimator import (
    Centroids,
    checked_start,
    numbers_of,
    warn_of_few,
    weighted_sum,
    weights_of,
)
from spinney.estimators.kept import forget
from spinney.estimators.table_estimator import become

FIRST_BATCHES = 3  # as many rows are looked at for the start


class MiniBatchKMeans(Centroids):
    """k-means of rows that come in batches, for tables that memory does not hold.

    A batch's rows go to their nearest centroids, and each centroid moves to the mean of
    all rows that were ever its own (Sculley 2010): an approximation of
    :class:`KMeans`, that looks at a row once a pass.

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
    max_iter : int
        How many passes over the rows at most.
    tol : float
        No other pass is made if one lowers the mean squared distance by no more than
        this share of it.
    random_state : int, RandomState or None
        The seed. The same seed and batches give the same clusters.
    n_jobs : int, optional
        How many threads; one a core if not said, or -1.

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

    n_steps_: int
    _running: Running

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Start = "k-means++",
        batch_size: int = 1024,
        n_init: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.batch_size = batch_size
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    # Learning

    def _find(self, X: Any, sample_weight: Any) -> None:
        check_whole("batch_size", self.batch_size, least=1)
        check_whole("n_clusters", self.n_clusters, least=1)
        seed = seed_of(self.random_state)
        if is_relation(X) or _streams(X):
            if sample_weight is not None:
                msg = "sample_weight is for rows in memory: read the table first"
                raise DataError(msg)
            self._fit_stream(X, seed)
            return
        cells = numbers_of(self, X, reset=True)
        weights = weights_of(sample_weight, len(cells))
        first = self._first_rows(len(cells), weights, seed)
        self._start(cells[first], None if weights is None else weights[first], seed)
        self._pass_until_done(
            lambda turn: (
                (cells[rows], None if weights is None else weights[rows])
                for rows in in_batches(len(cells), self.batch_size, seed, turn)
            )
        )
        self._keep(cells.dtype)
        jobs = threads_of(self.n_jobs)
        self.labels_, squares = nearest_centroids(
            cells, self.cluster_centers_, n_jobs=jobs
        )
        self.inertia_ = weighted_sum(squares, weights)
        warn_of_few(self.cluster_centers_, self.labels_)

    def _first_rows(self, n_rows: int, weights: Floats | None, seed: int) -> Integers:
        """Return the rows to start on: of weight, where there are any so many."""
        heavy = np.arange(n_rows) if weights is None else np.flatnonzero(weights)
        size = FIRST_BATCHES * self.batch_size
        first = heavy[next(in_batches(len(heavy), size, seed, -1 % 2**32))]
        return first if len(first) >= self.n_clusters else np.arange(n_rows)

    def _fit_stream(self, X: Any, seed: int) -> None:
        """Learn from a file or a query, read once a pass."""
        with number_batches(X, FIRST_BATCHES * self.batch_size) as (names, batches):
            self.n_features_in_ = len(names)
            self.feature_names_in_ = np.array(names, dtype=object)
            self._start(_at_least(batches, self.n_clusters), None, seed)

        def batches_of(_: int) -> Iterator[tuple[NDArray[Any], None]]:
            with number_batches(X, self.batch_size) as (_names, found):
                yield from ((cells, None) for cells in found)

        self.inertia_ = self._pass_until_done(batches_of)
        self._keep(np.dtype(np.float64))

    def _start(self, cells: NDArray[Any], weights: Floats | None, seed: int) -> None:
        start, n_starts = checked_start(self, *cells.shape)
        self._seed = seed
        self._running = Running.started(
            cells,
            self.n_clusters,
            weights,
            start=start,
            n_starts=n_starts,
            seed=seed,
            n_jobs=threads_of(self.n_jobs),
        )
        self.n_steps_ = self.n_iter_ = 0

    def _pass_until_done(self, batches_of: Any) -> float:
        """Take all rows in, pass after pass; return the inertia of the last."""
        before = np.inf
        while True:
            inertia = weight = 0.0
            for cells, weights in batches_of(self.n_iter_):
                inertia += self._take(cells, weights)[1]
                weight += len(cells) if weights is None else float(weights.sum())
            self.n_iter_ += 1
            mean = inertia / weight
            if self.n_iter_ >= self.max_iter or mean >= before * (1 - self.tol):
                return inertia
            before = mean

    def _take(self, cells: NDArray[Any], weights: Floats | None) -> Any:
        self.n_steps_ += 1
        return self._running.learn(cells, weights, threads_of(self.n_jobs))

    def _keep(self, kind: Any) -> None:
        self.cluster_centers_ = self._running.centroids.astype(kind)
        self.counts_ = self._running.weights

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take one batch in; the first must have as many rows as there are clusters."""
        new = "_running" not in self.__dict__
        cells = numbers_of(self, X, reset=new)
        weights = weights_of(sample_weight, len(cells))
        if new:
            self._start(cells, weights, seed_of(self.random_state))
        self.labels_, self.inertia_ = self._take(cells, weights)
        self._keep(cells.dtype)
        return self

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
        >>> batches = (np.array([[0.0], [9.0], [place]]) for place in (0.0, 9.0))
        >>> MiniBatchKMeans(2, random_state=0).fit_batches(batches).n_steps_
        2
        """
        # What fails, or is interrupted, leaves the old clusters as they were.
        new = type(self)(**self.get_params(deep=False))
        new._fit_batches(batches)
        forget(self)
        become(self, new)
        return self

    def _fit_batches(self, batches: Iterable[Any]) -> None:
        check_whole("n_clusters", self.n_clusters, least=1)
        if not isinstance(batches, Iterable):
            raise DataError(
                Setting("batches", batches), " must be tables, one after the other"
            )
        waiting: list[NDArray[Any]] = []
        for batch in batches:
            cells = numbers_of(self, batch, reset="n_features_in_" not in vars(self))
            waiting.append(cells)
            begun = "_running" in self.__dict__
            if begun or sum(map(len, waiting)) >= self.n_clusters:
                joined = np.concatenate(waiting)
                if not begun:
                    self._start(joined, None, seed_of(self.random_state))
                self.inertia_ = self._take(joined, None)[1]
                waiting = []
        if "_running" not in self.__dict__:
            msg = (
                "the batches have fewer rows than ",
                Setting("n_clusters", int(self.n_clusters)),
            )
            raise DataError(*msg)
        self.n_iter_ = 1
        self._keep(cells.dtype)


def _streams(X: Any) -> bool:
    """Return whether X names a file that can be read some rows at a time."""
    if not isinstance(X, (str, os.PathLike)):
        return False
    name = os.fspath(X).lower().removesuffix(".gz")
    return name.endswith((".csv", ".tsv", ".parquet"))


def _at_least(batches: Iterator[Floats], n: int) -> Floats:
    """Return the first batches, until they have so many rows."""
    found: list[Floats] = []
    for batch in batches:
        found.append(batch)
        if sum(map(len, found)) >= n:
            break
    if not found:
        msg = "the table has no rows: give it at least one"
        raise DataError(msg)
    return np.concatenate(found)
