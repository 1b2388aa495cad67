"""k-means of an array: initial centroids, restarts, and the choice of kernels."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import log
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.jit.loading_time import MIN_KERNEL_WORK, wants_kernels
from spinney._support.kmeans_1d import optimal_centroids
from spinney._support.matrix_view import matrix_behind
from spinney._support.threads import n_threads
from spinney._support.ties import heaviest
from spinney.errors import DataError, ParameterError, Setting, refusal
from spinney.extensions.clustering.choose_k.choice import MEASURES
from spinney.extensions.clustering.choose_k.cluster_measures import silhouettes
from spinney.extensions.clustering.lloyd import (
    Clustering,
    ClusterMethod,
    IterationCallback,
    iterate,
    prepare_weights,
    undo_scaling,
)
from spinney.extensions.clustering.numeric_rows import (
    NumericRows,
    one_blas_thread,
    pairwise_squares,
)
from spinney.extensions.clustering.random_rows import (
    RandomStream,
    RowSampler,
    fill_up,
    full_weights,
)
from spinney.extensions.clustering.scaling import (
    nearest_by_group,
    row_powers,
    scaled_start,
    scaling_power,
)
from spinney.extensions.clustering.scaling import scaled as scaled_cells

Init = str | NDArray[Any] | Callable[..., Any]
K_MEANS_INITS = ("k-means++", "random", "optimal")

# More clusters × columns use kernels: NumPy works column by column.
LEAST_WIDE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KMeansMethod(ClusterMethod):
    """k-means of numbers: the clustering of least inertia among some restarts.

    ``init`` and ``tol`` are those of :class:`spinney.KMeans`.

    >>> import numpy as np
    >>> clustering = KMeansMethod().fit(np.array([[1.0], [2.0], [8.0]]), 2)
    >>> np.sort(clustering.centroids.ravel())
    array([1.5, 8. ])
    >>> clustering.inertia
    0.5
    """

    measures: ClassVar = MEASURES

    init: Init = "k-means++"
    tol: float = 0.0

    def fit(
        self,
        cells: NDArray[Any],
        k: int,
        *,
        weights: Floats | None = None,
        on_iteration: IterationCallback | None = None,
    ) -> Clustering:
        """Return k clusters of at least k rows of finite float32 or float64 numbers.

        Rows of weight 0 only get labels.
        """
        row_weights, weight_power = prepare_weights(weights)
        cells = _contiguous_writable(cells)
        n_starts, (scaled, power) = self.n_starts(cells, k), scaled_cells(cells)
        work = scaled.size * k * n_starts
        if scaled.shape[1] * k * n_starts > LEAST_WIDE:
            work = max(work, MIN_KERNEL_WORK["k-means"])
        rows = make_numeric_rows(scaled, row_weights, work, self.n_jobs)
        start, tolerance = self.init, 0.0
        if self.tol:
            tolerance = self.tol * float(np.mean(np.var(scaled, axis=0)))
        if isinstance(start, str) and start == "optimal":
            start = _optimal_centroids(cells, row_weights, k)
        pool = RowSampler(scaled) if isinstance(start, str) else None

        def run(draws: RandomStream) -> Clustering:
            if pool is not None:
                sample = k_means_plus_plus if start == "k-means++" else sample_by_weight
                centroids = rows.cells[sample(rows, k, draws, pool)]
            else:
                centroids = _init_centroids(rows, k, start, draws, power)
            return iterate(
                rows,
                centroids,
                max_iterations=self.max_iter,
                tolerance=tolerance,
                on_iteration=_unscaled_callback(on_iteration, power),
            )

        with one_blas_thread_for(rows):
            return undo_scaling(self.best(n_starts, run), power, weight_power)

    def labels(self, cells: NDArray[Any], clustering: Clustering) -> Integers:
        """Return the labels of other rows."""
        return nearest_centroids(cells, clustering.centroids, n_jobs=self.n_jobs)[0]

    def rescaled(self, cells: NDArray[Any]) -> tuple[NDArray[Any], int]:
        """Return rows over a power of two, so that their squares are floats."""
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


def _unscaled_callback(
    on_iteration: IterationCallback | None, power: int
) -> IterationCallback | None:
    """Return a callback that gets centroids on the scale of the cells."""
    if on_iteration is None or not power:
        return on_iteration
    return lambda before, after, labels, changed: on_iteration(
        np.ldexp(before, power), np.ldexp(after, power), labels, changed
    )


def make_numeric_rows(
    cells: NDArray[Any], weights: Floats, work: float, n_jobs: int | None
) -> NumericRows:
    """Return rows for NumPy or, for much work, for compiled kernels."""
    if not wants_kernels("k-means", work):
        return NumericRows(cells, weights)
    from spinney.extensions.clustering.compiled_rows import CompiledNumericRows

    return CompiledNumericRows(
        cells, weights, n_threads() if n_jobs is None else n_jobs
    )


def nearest_centroids(
    cells: NDArray[Any], centroids: NDArray[Any], *, n_jobs: int | None = None
) -> tuple[Integers, Floats]:
    """Return each row's nearest centroid, the first of equals, and squared distance.

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
    """Return nearest centroids, squared distances, and a power of two for each row.

    Distances are divided by this power, so that squares are finite. The result for a
    row does not depend on other rows.
    """

    def nearest(part: Any) -> tuple[Integers, Floats]:
        rows, points, _ = scaled_rows_and_points(cells[part], centroids, n_jobs=n_jobs)
        with one_blas_thread_for(rows):
            return rows.nearest_to(points)

    powers = row_powers(cells, centroids)
    return *nearest_by_group(powers, nearest), powers


def scaled_rows_and_points(
    cells: NDArray[Any],
    centroids: NDArray[Any],
    weights: Floats | None = None,
    *,
    n_jobs: int | None = None,
) -> tuple[NumericRows, NDArray[Any], int]:
    """Return rows and centroids over a common power of two, and that power."""
    cells, points, power = _common_scale(cells, centroids)
    weights = np.empty(0) if weights is None else weights
    rows = make_numeric_rows(cells, weights, cells.size * len(points), n_jobs)
    return rows, points, power


def distances_to_centroids(cells: NDArray[Any], centroids: NDArray[Any]) -> Floats:
    """Return the distances of rows to centroids, in float64.

    >>> import numpy as np
    >>> distances_to_centroids(np.array([[3e200, 0.0]]), np.array([[0.0, 4e200]]))
    array([[5.e+200]])
    """
    cells, points, power = _common_scale(cells, centroids)
    with np.errstate(over="ignore"):
        return np.ldexp(np.sqrt(pairwise_squares(cells, points)), power)


def _common_scale(
    cells: NDArray[Any], centroids: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Return rows and centroids of one type over a common power of two."""
    dtype = np.result_type(cells, centroids)
    cells = _contiguous_writable(cells.astype(dtype, copy=False))
    points = centroids.astype(dtype)
    power = scaling_power(cells, points)
    if power:
        cells, points = np.ldexp(cells, -power), np.ldexp(points, -power)
    return cells, points, power


def _contiguous_writable(cells: NDArray[Any]) -> NDArray[Any]:
    """Return contiguous writable rows, which are one type to the compiler."""
    cells = np.ascontiguousarray(cells)
    if cells.flags.writeable:
        return cells
    matrix = matrix_behind(list(cells.T))
    return cells.copy() if matrix is None else matrix


def _optimal_centroids(
    cells: NDArray[Any], weights: Floats, n_clusters: int
) -> NDArray[Any]:
    """Return the best centroids of one column."""
    if cells.shape[1] != 1:
        raise refusal(
            Setting("init", "optimal"),
            f"is for one column, not {cells.shape[1]}",
            "use 'k-means++'",
        )
    values = cells[:, 0].astype(np.float64)
    return optimal_centroids(values, weights, n_clusters)[:, None]


def _init_centroids(
    rows: NumericRows, n_clusters: int, start: Init, draws: RandomStream, power: int
) -> NDArray[Any]:
    """Return the user's centroids on the scale of the rows."""
    if callable(start):
        state = np.random.RandomState(int(draws.number() * 2**32))
        cells = np.ldexp(rows.cells, power) if power else rows.cells
        start = np.asarray(start(cells, n_clusters, random_state=state))
        start = check_centroids(start, n_clusters, cells.shape[1])
    return scaled_start(start, rows.cells, power)


def check_centroids(init: Any, n_clusters: int, n_columns: int) -> NDArray[Any]:
    """Return the user's centroids; refuse a wrong shape or numbers not finite."""
    try:
        centroids = np.array(init, dtype=np.float64)
    except (TypeError, ValueError):
        msg = "init must be a name, a callable or an array of numbers"
        raise ParameterError(msg) from None
    if centroids.shape != (n_clusters, n_columns):
        raise ParameterError(
            Setting("init"),
            f" has the shape {centroids.shape}, and must have the shape "
            f"{(n_clusters, n_columns)}",
        )
    if not np.isfinite(centroids).all():
        msg = " contains NaN or infinity"
        raise DataError(Setting("init"), msg, remedy="give finite numbers")
    return centroids


def one_blas_thread_for(rows: NumericRows) -> Any:
    """Limit BLAS to one thread for rows whose kernels have their own threads."""
    return nullcontext() if type(rows) is NumericRows else one_blas_thread()


CANDIDATE_STEP = 8  # candidates whose matrix product costs no more than that of one


def sample_by_weight(
    rows: NumericRows, n_clusters: int, draws: RandomStream, pool: RowSampler
) -> Integers:
    """Return distinct rows drawn by weight; too few are followed by the first."""
    remaining = full_weights(rows.weights, len(rows.cells)).copy()
    totals = pool.totals(remaining)
    chosen: list[int] = []
    while len(chosen) < n_clusters and totals.sum() > 0:
        row = pool.row_at(totals, remaining.__getitem__, draws.number())
        chosen.append(row)
        remaining[pool.duplicates(row)] = 0.0
        number = int(pool.bins[row])
        totals[number] = remaining[pool.members(number)].sum()
    return fill_up(chosen, n_clusters)


def k_means_plus_plus(
    rows: NumericRows, n_clusters: int, draws: RandomStream, pool: RowSampler
) -> Integers:
    """Return the rows that k-means++ chooses (Arthur and Vassilvitskii 2007).

    The first is drawn in proportion to weight. Each other is the best of at least 2 +
    ⌊log k⌋ candidates, a multiple of 8, drawn in proportion to weighted squared
    distance to the nearest chosen row. The best lowers the sum of these most; ties up
    to rounding, frequent for two nearest rows, go to the first. If all distinct rows
    are chosen, the first is repeated.
    """
    n_candidates = -(-(2 + int(log(n_clusters))) // CANDIDATE_STEP) * CANDIDATE_STEP
    weights = full_weights(rows.weights, len(rows.cells))
    totals = pool.totals(weights)
    first = pool.row_at(totals, weights.__getitem__, draws.number())
    chosen = [first]
    rows.start_seeding(first, pool.bins)

    def sizes(part: Integers) -> Floats:
        return np.asarray(rows.nearest()[part].astype(np.float64) * weights[part])

    while len(chosen) < n_clusters:
        totals = rows.totals()
        if not totals.sum() > 0:
            break
        candidates = [
            pool.row_at(totals, sizes, draws.number()) for _ in range(n_candidates)
        ]
        best = candidates[heaviest(rows.gains(np.array(candidates)))]
        rows.add_centroid(best)
        chosen.append(best)
    return fill_up(chosen, n_clusters)
