"""k-means of an array: starts, restarts, and who does the work."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.jit.loading_time import MIN_KERNEL_WORK, wants_kernels
from spinney._support.kmeans_1d import optimal_centroids
from spinney._support.matrix_view import matrix_behind
from spinney._support.threads import n_threads
from spinney.errors import DataError, ParameterError, Setting, refusal
from spinney.extensions.clustering.choose_k.choice import MEASURES
from spinney.extensions.clustering.choose_k.cluster_measures import silhouettes
from spinney.extensions.clustering.cluster_draws import ClusterDraws, Pool
from spinney.extensions.clustering.cluster_rows import (
    Rows,
    one_thread_a_product,
    squares_between,
)
from spinney.extensions.clustering.clustering import (
    Clustering,
    Starts,
    unscaled,
    weights_as_given,
)
from spinney.extensions.clustering.iterations import Watch, iterate
from spinney.extensions.clustering.k_means_starts import drawn_rows, plus_plus
from spinney.extensions.clustering.scaling import (
    in_groups,
    row_powers,
    scaled_start,
    scaling_power,
)
from spinney.extensions.clustering.scaling import scaled as scaled_cells

Start = str | NDArray[Any] | Callable[..., Any]
STARTS = ("k-means++", "random", "optimal")

# So many clusters times columns are for kernels: NumPy works column by column.
LEAST_WIDE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KMeansMethod(Starts):
    """k-means of numbers: the clustering of least inertia that some starts lead to.

    Parameters
    ----------
    init : {"k-means++", "random", "optimal"}, array or callable
        ``"optimal"``, of one column, is the best clustering there is
        (``_support/kmeans_1d.py``). A callable is given the cells, the number of
        clusters and a ``random_state``, and returns centroids.
    tol : float
        The iterations end if the squared moves of all centroids sum to no more than
        this times the mean variance of the columns. 0: only when nothing moves.
    n_init, max_iter, seed, n_jobs
        See :class:`~spinney.extensions.clustering.clustering.Starts`.

    Examples
    --------
    >>> import numpy as np
    >>> clustering = KMeansMethod().fit(np.array([[1.0], [2.0], [8.0]]), 2)
    >>> np.sort(clustering.centroids.ravel())
    array([1.5, 8. ])
    >>> clustering.inertia
    0.5
    """

    measures: ClassVar = MEASURES

    init: Start = "k-means++"
    tol: float = 0.0

    def fit(
        self,
        cells: NDArray[Any],
        k: int,
        *,
        weights: Floats | None = None,
        watch: Watch | None = None,
    ) -> Clustering:
        """Return k clusters of some rows.

        Parameters
        ----------
        cells : array, rows × columns
            Finite numbers, float32 or float64; at least as many rows as clusters.
        k : int
        weights : array, optional
            Those of the rows, none of them negative; rows of weight 0 are labelled
            only.
        watch : callable, optional
            Called after every iteration of every start; see ``iterations.Watch``.
        """
        given, heavy = weights_as_given(weights)
        cells = _as_kernels_take_it(cells)
        n_starts, (scaled, power) = self.n_starts(cells, k), scaled_cells(cells)
        work = scaled.size * k * n_starts
        if scaled.shape[1] * k * n_starts > LEAST_WIDE:
            work = max(work, MIN_KERNEL_WORK["k-means"])
        rows = rows_for(scaled, given, work, self.n_jobs)
        start, limit = self.init, 0.0
        if self.tol:
            limit = self.tol * float(np.mean(np.var(scaled, axis=0)))
        if isinstance(start, str) and start == "optimal":
            start = _optimal(cells, given, k)
        pool = Pool(scaled) if isinstance(start, str) else None

        def run(draws: ClusterDraws) -> Clustering:
            if pool is not None:
                draw = plus_plus if start == "k-means++" else drawn_rows
                centroids = rows.cells[draw(rows, k, draws, pool)]
            else:
                centroids = _given(rows, k, start, draws, power)
            return iterate(
                rows,
                centroids,
                max_iterations=self.max_iter,
                tolerance=limit,
                watch=_unscaled_watch(watch, power),
            )

        with one_thread_in(rows):
            return unscaled(self.best(n_starts, run), power, heavy)

    def labels(self, cells: NDArray[Any], clustering: Clustering) -> Integers:
        """Return the clusters of other rows."""
        return nearest_centroids(cells, clustering.centroids, n_jobs=self.n_jobs)[0]

    def small(self, cells: NDArray[Any]) -> tuple[NDArray[Any], int]:
        """Return rows whose squares are floats, and the power of two they are over."""
        return scaled_cells(np.asarray(cells))

    def silhouettes(
        self,
        cells: NDArray[Any],
        labelings: Sequence[Integers],
        weights: Floats,
        _: Clustering,
    ) -> list[float | None]:
        """Return the mean silhouette widths of several clusterings of rows."""
        return silhouettes(cells, labelings, weights, n_jobs=self.n_jobs or 1)


def _unscaled_watch(watch: Watch | None, power: int) -> Watch | None:
    """Return a watcher that is given centroids on the scale of the cells."""
    if watch is None or not power:
        return watch
    watcher = watch

    def unscaled(before: Any, after: Any, labels: Any, changed: int) -> None:
        watcher(np.ldexp(before, power), np.ldexp(after, power), labels, changed)

    return unscaled


def rows_for(
    cells: NDArray[Any], weights: Floats, work: float, n_jobs: int | None
) -> Rows:
    """Return rows that NumPy works on, or compiled kernels where there is much work."""
    if not wants_kernels("k-means", work):
        return Rows(cells, weights)
    from spinney.extensions.clustering.compiled_rows import CompiledRows

    return CompiledRows(cells, weights, n_threads() if n_jobs is None else n_jobs)


def nearest_centroids(
    cells: NDArray[Any], centroids: NDArray[Any], *, n_jobs: int | None = None
) -> tuple[Integers, Floats]:
    """Return each row's nearest centroid, the first of equals, and its square.

    >>> import numpy as np
    >>> nearest_centroids(np.array([[1.0], [4.0]]), np.array([[0.0], [2.0], [5.0]]))
    (array([0, 2]), array([1., 1.]))
    """
    labels, squares, powers = nearest_scaled(cells, centroids, n_jobs=n_jobs)
    with np.errstate(over="ignore"):
        return labels, np.ldexp(squares, 2 * powers)


def nearest_scaled(
    cells: NDArray[Any], centroids: NDArray[Any], *, n_jobs: int | None = None
) -> tuple[Integers, Floats, Integers]:
    """Return what :func:`nearest_centroids` does, and a power of two for each row.

    Squares are those of distances that were divided by it, so they are finite. What is
    found for a row is the same whatever rows are beside it.
    """

    def nearest(some: Any) -> tuple[Integers, Floats]:
        rows, points, _ = rows_beside(cells[some], centroids, n_jobs=n_jobs)
        with one_thread_in(rows):
            return rows.nearest_to(points)

    powers = row_powers(cells, centroids)
    return *in_groups(powers, nearest), powers


def rows_beside(
    cells: NDArray[Any],
    centroids: NDArray[Any],
    weights: Floats | None = None,
    *,
    n_jobs: int | None = None,
) -> tuple[Rows, NDArray[Any], int]:
    """Return rows and centroids, and the power of two that both are divided by."""
    cells, points, power = _alike(cells, centroids)
    own = np.empty(0) if weights is None else weights
    return rows_for(cells, own, cells.size * len(points), n_jobs), points, power


def distances_between(cells: NDArray[Any], centroids: NDArray[Any]) -> Floats:
    """Return the distances of rows to centroids, in float64.

    >>> import numpy as np
    >>> distances_between(np.array([[3e200, 0.0]]), np.array([[0.0, 4e200]]))
    array([[5.e+200]])
    """
    cells, points, power = _alike(cells, centroids)
    with np.errstate(over="ignore"):
        return np.ldexp(np.sqrt(squares_between(cells, points)), power)


def _alike(
    cells: NDArray[Any], centroids: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Return rows and centroids of one type, divided by a power of two."""
    kind = np.result_type(cells, centroids)
    cells = _as_kernels_take_it(cells.astype(kind, copy=False))
    points = centroids.astype(kind)
    power = scaling_power(cells, points)
    if power:
        cells, points = np.ldexp(cells, -power), np.ldexp(points, -power)
    return cells, points, power


def _as_kernels_take_it(cells: NDArray[Any]) -> NDArray[Any]:
    """Return rows side by side, of one type to the compiler, read-only or not."""
    cells = np.ascontiguousarray(cells)
    if cells.flags.writeable:
        return cells
    matrix = matrix_behind(list(cells.T))
    return cells.copy() if matrix is None else matrix


def _optimal(cells: NDArray[Any], weights: Floats, n_clusters: int) -> NDArray[Any]:
    """Return the best centroids of one column."""
    if cells.shape[1] != 1:
        raise refusal(
            Setting("init", "optimal"),
            f"is for one column, not {cells.shape[1]}",
            "use 'k-means++'",
        )
    values = cells[:, 0].astype(np.float64)
    return optimal_centroids(values, weights, n_clusters)[:, None]


def _given(
    rows: Rows, n_clusters: int, start: Start, draws: ClusterDraws, power: int
) -> NDArray[Any]:
    """Return given centroids, on the scale of the rows."""
    if callable(start):
        state = np.random.RandomState(int(draws.number() * 2**32))
        cells = np.ldexp(rows.cells, power) if power else rows.cells
        start = np.asarray(start(cells, n_clusters, random_state=state))
        start = checked_centroids(start, n_clusters, cells.shape[1])
    return scaled_start(start, rows.cells, power)


def checked_centroids(given: Any, n_clusters: int, n_columns: int) -> NDArray[Any]:
    """Return given centroids, refused unless finite and of the right shape."""
    try:
        centroids = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        msg = "init must be a name, a function or an array of numbers"
        raise ParameterError(msg) from None
    if centroids.shape != (n_clusters, n_columns):
        raise ParameterError(
            Setting("init"),
            f" has the shape {centroids.shape} and must have {n_clusters} centroids "
            f"of {n_columns} columns each",
        )
    if not np.isfinite(centroids).all():
        raise DataError(
            Setting("init"),
            " holds NaN or infinity",
            remedy="a centroid needs finite numbers",
        )
    return centroids


def one_thread_in(rows: Rows) -> Any:
    """Let each product of matrices use one thread, since we have our own."""
    return nullcontext() if type(rows) is Rows else one_thread_a_product()
