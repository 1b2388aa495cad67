"""Sums of rows by nearest centroid, for k-means."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats, Integers

DISTANCES_PER_BATCH = 1 << 20
"""The maximum number of distances in memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Centroids of k-means; a row belongs to the nearest one, the first if tied.

    Parameters
    ----------
    attributes : tuple of int
        The numeric columns of the distances.
    scale : array
        The divisor of each column.
    centroids : array, points × columns
    origin : array
        The origin of the sums: near the rows, so that they keep their digits.
    """

    attributes: tuple[int, ...]
    scale: Floats
    centroids: Floats
    origin: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSums:
    """The weight, the sums and the squares of each centroid's rows.

    ``sums`` add weight × (cell − origin), ``squares`` weight × squared distance to the
    centroid. ``n_lacking`` rows have a missing cell and belong to no centroid.
    """

    weights: Floats
    sums: Floats
    squares: Floats
    n_lacking: int = 0

    def plus(self, other: "ClusterSums") -> "ClusterSums":
        """Return the sums of both."""
        return ClusterSums(
            self.weights + other.weights,
            self.sums + other.sums,
            self.squares + other.squares,
            self.n_lacking + other.n_lacking,
        )


def no_sums(points: Points) -> ClusterSums:
    """Return sums of 0 for all centroids."""
    k, width = points.centroids.shape
    return ClusterSums(np.zeros(k), np.zeros((k, width)), np.zeros(k))


def sums_by_point(
    columns: Sequence[Floats], weights: Floats, points: Points
) -> ClusterSums:
    """Return the sums of rows by nearest centroid."""
    total = no_sums(points)
    step = max(1, DISTANCES_PER_BATCH // len(points.centroids))
    for start in range(0, len(weights), step):
        part = slice(start, start + step)
        cells = np.column_stack([cells[part] for cells in columns]) / points.scale
        total = total.plus(_batch_sums(cells, weights[part], points))
    return total


def _batch_sums(cells: Floats, weights: Floats, points: Points) -> ClusterSums:
    complete = ~np.isnan(cells).any(axis=1)
    n_lacking = int(np.count_nonzero(~complete))
    cells, weights = cells[complete], weights[complete]
    k, width = points.centroids.shape
    squares = np.zeros((len(cells), k))
    for column in range(width):
        squares += (cells[:, column, None] - points.centroids[None, :, column]) ** 2
    nearest = np.argmin(squares, axis=1) if len(cells) else np.zeros(0, np.int64)
    costs = squares[np.arange(len(cells)), nearest] * weights
    offsets = (cells - points.origin) * weights[:, None]
    sums = [_sum_by_point(nearest, offsets[:, column], k) for column in range(width)]
    return ClusterSums(
        _sum_by_point(nearest, weights, k),
        np.column_stack(sums),
        _sum_by_point(nearest, costs, k),
        n_lacking,
    )


def _sum_by_point(nearest: Integers, amounts: Floats, k: int) -> Floats:
    return np.asarray(np.bincount(nearest, amounts, k), np.float64)
