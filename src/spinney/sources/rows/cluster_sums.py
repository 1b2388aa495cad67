"""What k-means asks of rows: how many are nearest to which point, and their sums."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spinney._support.arrays import Floats, Integers

AT_ONCE = 1 << 20
"""So many distances are measured at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Points that rows are sent to, the first of the nearest.

    Parameters
    ----------
    attributes : tuple of int
        The columns that distances are measured in, numbers all of them.
    scale : array
        What each of these is divided by.
    centroids : array, points × columns
    origin : array
        What sums are measured from: near the rows, so that they keep their digits.
    """

    attributes: tuple[int, ...]
    scale: Floats
    centroids: Floats
    origin: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSums:
    """The rows of each point: their weight, their sums and squares.

    ``sums`` are those of weight × (cell − origin), ``squares`` those of weight ×
    squared distance to the point; ``n_lacking`` rows lack a cell and have no point.
    """

    weights: Floats
    sums: Floats
    squares: Floats
    n_lacking: int = 0

    def plus(self, other: "ClusterSums") -> "ClusterSums":
        """Return those of the rows of both."""
        return ClusterSums(
            self.weights + other.weights,
            self.sums + other.sums,
            self.squares + other.squares,
            self.n_lacking + other.n_lacking,
        )


def no_sums(points: Points) -> ClusterSums:
    """Return the sums of no rows."""
    k, width = points.centroids.shape
    return ClusterSums(np.zeros(k), np.zeros((k, width)), np.zeros(k))


def sums_by_point(
    columns: Sequence[Floats], weights: Floats, points: Points
) -> ClusterSums:
    """Return the sums of rows, whose columns are those of the points."""
    total = no_sums(points)
    step = max(1, AT_ONCE // len(points.centroids))
    for start in range(0, len(weights), step):
        some = slice(start, start + step)
        cells = np.column_stack([cells[some] for cells in columns]) / points.scale
        total = total.plus(_sums(cells, weights[some], points))
    return total


def _sums(cells: Floats, weights: Floats, points: Points) -> ClusterSums:
    known = ~np.isnan(cells).any(axis=1)
    n_lacking = int(np.count_nonzero(~known))
    cells, weights = cells[known], weights[known]
    k, width = points.centroids.shape
    squares = np.zeros((len(cells), k))
    for column in range(width):
        squares += (cells[:, column, None] - points.centroids[None, :, column]) ** 2
    nearest = np.argmin(squares, axis=1) if len(cells) else np.zeros(0, np.int64)
    costs = squares[np.arange(len(cells)), nearest] * weights
    away = (cells - points.origin) * weights[:, None]
    sums = [_added(nearest, away[:, column], k) for column in range(width)]
    return ClusterSums(
        _added(nearest, weights, k),
        np.column_stack(sums),
        _added(nearest, costs, k),
        n_lacking,
    )


def _added(nearest: Integers, amounts: Floats, k: int) -> Floats:
    return np.asarray(np.bincount(nearest, amounts, k), np.float64)
