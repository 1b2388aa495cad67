"""Measures of a clustering: silhouette, Calinski-Harabasz, Davies-Bouldin.

A row of weight 2 counts as two. None stands for an undefined measure, such as that of
one cluster; a measure is never NaN. Empty clusters are ignored.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import run_each
from spinney.errors import DataError
from spinney.extensions.clustering.numeric_rows import one_blas_thread
from spinney.extensions.clustering.scaling import rounding_square, scaled

# The most distances of a thread in memory at once, and the most rows.
DISTANCES = 1 << 22
MAX_ROWS = 512


def silhouettes(
    cells: NDArray[Any],
    labelings: Sequence[Any],
    weights: Floats | None = None,
    *,
    n_jobs: int = 1,
) -> list[float | None]:
    """Return the mean silhouette widths of several clusterings (Rousseeuw 1987).

    The width of a row is (b - a) / max(a, b), with a the mean distance to the other
    rows of its cluster, and b the least mean distance to those of another cluster. It
    is 0 for a row alone in its cluster (of weight at most 1), or if a and b are 0. None
    stands for a single cluster.

    Distances are computed once. A block of distances times the weighted memberships of
    all clusterings gives the sums of distances to all clusters. Memory grows with the
    rows, not with their square.

    >>> silhouettes(np.array([[0.0], [1.0], [4.0]]), [[0, 0, 1]])[0].__round__(4)
    0.4722
    """
    labelled = [_labelled_rows(cells, labels, weights) for labels in labelings]
    if not labelled:
        return []
    from scipy.spatial.distance import cdist

    # By differences, which keep what a product of matrices would cancel.
    rows = labelled[0].rows
    return mean_silhouette_widths(
        lambda part: np.asarray(cdist(rows[part], rows)),
        [rows.codes for rows in labelled],
        labelled[0].weights,
        n_jobs=n_jobs,
    )


def mean_silhouette_widths(
    distances: Callable[[slice], Floats],
    codings: Sequence[Integers],
    weights: Floats,
    *,
    n_jobs: int = 1,
) -> list[float | None]:
    """Return the mean silhouette widths of several clusterings.

    ``distances`` returns the distances from a slice of rows to all rows. ``codings``
    are labels from 0 on without empty clusters, and weights are above 0.
    """
    n_rows = len(weights)
    if not n_rows:
        return [None] * len(codings)
    sizes: list[Floats] = [
        np.bincount(codes, weights=weights).astype(np.float64) for codes in codings
    ]
    ends = np.cumsum([0, *map(len, sizes)])
    members = np.zeros((n_rows, ends[-1]))
    for first, codes in zip(ends, codings, strict=False):
        members[np.arange(n_rows), first + codes] = weights
    step = max(1, min(MAX_ROWS, DISTANCES // n_rows))
    widths = np.zeros((len(codings), n_rows))

    def fill(start: int) -> None:
        part = slice(start, start + step)
        sums = distances(part) @ members
        for index, codes in enumerate(codings):
            own_sums = sums[:, ends[index] : ends[index + 1]]
            widths[index, part] = _silhouette_widths(
                own_sums, codes[part], sizes[index]
            )

    with one_blas_thread():
        pieces = [partial(fill, start) for start in range(0, n_rows, step)]
        run_each(pieces, max_threads=n_jobs)
    means = widths @ weights / weights.sum()
    return [
        float(mean) if len(clusters) > 1 else None
        for mean, clusters in zip(means, sizes, strict=True)
    ]


def _silhouette_widths(sums: Floats, codes: Integers, sizes: Floats) -> Floats:
    """Return the silhouette widths of rows from sums of distances to all clusters."""
    if len(sizes) < 2:
        return np.zeros(len(codes))
    rows = np.arange(len(codes))
    n_others = sizes[codes] - 1
    alone = n_others <= 0
    inner = sums[rows, codes] / np.where(alone, 1.0, n_others)
    means = sums / sizes
    means[rows, codes] = np.inf
    outer = means.min(axis=1)
    larger = np.maximum(inner, outer)
    flat = alone | (larger == 0)
    return np.where(flat, 0.0, (outer - inner) / np.where(flat, 1.0, larger))


def calinski_harabasz(
    cells: NDArray[Any], labels: Any, weights: Floats | None = None
) -> float | None:
    """Return the ratio of variances between and within clusters; larger is better.

    (B / (k - 1)) / (W / (n - k)), with W the weighted sum of squared distances of rows
    to their centroids, B that of centroids to the mean of all rows (Caliński and
    Harabasz 1974). Infinite if W is 0; None for one cluster, or if the total weight is
    at most the number of clusters.

    >>> calinski_harabasz(np.array([[0.0], [1.0], [4.0], [5.0]]), [0, 0, 1, 1])
    32.0
    """
    rows = _labelled_rows(cells, labels, weights)
    k, n = len(rows.sizes), float(rows.weights.sum())
    if k < 2 or n <= k:
        return None
    centroids, squares = rows.centred()
    within = float(squares @ rows.weights)
    between = float(rows.sizes @ (centroids * centroids).sum(axis=1))
    return between * (n - k) / (within * (k - 1)) if within else np.inf


def davies_bouldin(
    cells: NDArray[Any], labels: Any, weights: Floats | None = None
) -> float | None:
    """Return the mean similarity of clusters to their most similar; less is better.

    The similarity of two clusters is the sum of their spreads over the distance of
    their centroids, a spread being the mean distance of rows to their centroid (Davies
    and Bouldin 1979). Infinite if two clusters with spread share a centroid; None for
    one cluster, or if the total weight is at most the number of clusters.

    >>> davies_bouldin(np.array([[0.0], [1.0], [4.0], [5.0]]), [0, 0, 1, 1])
    0.25
    """
    rows = _labelled_rows(cells, labels, weights)
    k = len(rows.sizes)
    if k < 2 or float(rows.weights.sum()) <= k:
        return None
    centroids, squares = rows.centred()
    roots = np.sqrt(squares) * rows.weights
    spreads = np.bincount(rows.codes, weights=roots, minlength=k) / rows.sizes
    worst = np.zeros(k)
    for index in range(k):
        distances = np.sqrt(((centroids - centroids[index]) ** 2).sum(axis=1))
        spread_sums = spreads + spreads[index]
        with np.errstate(divide="ignore", invalid="ignore"):
            similarities = np.where(spread_sums == 0, 0.0, spread_sums / distances)
        similarities[index] = 0.0
        worst[index] = similarities.max()
    return float(worst.mean())


@dataclass(frozen=True, slots=True, eq=False)
class _LabelledRows:
    """Rows with weight, scaled so that squares are floats, and their clusters."""

    rows: Floats
    codes: Integers
    weights: Floats
    sizes: Floats  # the weight of each cluster

    def centred(self) -> tuple[Floats, Floats]:
        """Return centroids relative to the overall mean, and rows' squared distances.

        A square that rounding alone can cause is 0, so that equal rows have no scatter.
        """
        middle = self.weights @ self.rows / self.weights.sum()
        distances = self.rows - middle
        weighted = (self.weights * column for column in distances.T)
        sums = [np.bincount(self.codes, weights=column) for column in weighted]
        centroids = np.column_stack(sums) / self.sizes[:, None]
        squares = ((distances - centroids[self.codes]) ** 2).sum(axis=1)
        least = rounding_square(self.rows)
        return centroids, np.where(squares > least, squares, 0.0)


def _labelled_rows(
    cells: NDArray[Any], labels: Any, weights: Floats | None
) -> _LabelledRows:
    rows, labels = np.asarray(cells, dtype=np.float64), np.asarray(labels)
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, np.float64)
    if rows.ndim != 2 or not len(rows) == len(labels) == len(weights):
        msg = (
            f"{len(labels)} labels and {len(weights)} weights for rows of the shape "
            f"{rows.shape}: give one label and one weight per row"
        )
        raise DataError(msg)
    if (
        not (np.isfinite(rows).all() and np.isfinite(weights).all())
        or (weights < 0).any()
    ):
        msg = "a measure needs finite numbers, and weights of at least 0"
        raise DataError(msg)
    if not weights.all():
        counts = weights > 0
        rows, labels, weights = rows[counts], labels[counts], weights[counts]
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    sizes = np.asarray(np.bincount(codes, weights=weights), dtype=np.float64)
    return _LabelledRows(scaled(rows)[0], codes.astype(np.int64), weights, sizes)
