"""Rows that are away, as Lloyd's iterations ask them: for sums by cluster."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.errors import DataError
from spinney.sources.rows import ClusterSums, Points

STILL = 1e-12
"""What a centroid may move by, as a share of how far rows are spread, and yet stay: in
which order sums are added up is the engine's."""


class RemoteRows:
    """Rows in an engine or in partitions: an assignment is one question.

    Which rows went elsewhere nobody says, so the iterations end when no centroid has
    moved but for a rounding. A centroid without rows stays where it is.

    Parameters
    ----------
    ask : callable
        What answers with the sums of the rows by their nearest point.
    points : Points
        The first of them.

    Attributes
    ----------
    sums : ClusterSums
        Those of the last assignment.
    """

    def __init__(self, ask: Callable[[Points], ClusterSums], points: Points) -> None:
        self._ask, self._points = ask, points

    def restart(self, _: Floats) -> None:
        """Forget nothing, as nothing is kept."""

    def assign(self, centroids: Floats) -> int:
        """Ask for the sums of the rows by their nearest centroid."""
        self._points = replace(self._points, centroids=centroids)
        self.sums = self._ask(self._points)
        if self.sums.n_lacking:
            raise rows_lacking(self.sums.n_lacking)
        if not np.isfinite(self.sums.sums).all():
            msg = "a cell is infinite, or a sum of cells is beyond all floats"
            raise DataError(msg, remedy="scale the column down, or leave it out")
        return 0

    def moved(self, centroids: Floats) -> tuple[Floats, int]:
        """Return the centroids at the means of their rows, of which none was filled."""
        means, sums = centroids.copy(), self.sums
        some = sums.weights > 0
        means[some] = self._points.origin + sums.sums[some] / sums.weights[some, None]
        return means, 0

    def same(self, before: Floats, after: Floats) -> bool:
        """Return whether no centroid has moved, but for a rounding.

        Means are rounded as the sums of cells − origin are, and where they are put.
        """
        apart = np.abs(after - self._points.origin).max(axis=0)
        within = np.sqrt(self.sums.squares.sum() / self.sums.weights.sum())
        least = np.maximum(STILL * (apart + within), np.spacing(np.abs(after)))
        return bool((np.abs(after - before) <= least).all())

    def labels(self) -> Integers:
        """Return no cluster, for no row is here."""
        return np.zeros(0, np.int64)

    def inertia(self, _: Floats) -> float:
        """Return the weighted sum of the squared distances to the centroids."""
        return float(self.sums.squares.sum())


def rows_lacking(n_rows: int) -> DataError:
    """Return the refusal of rows that lack a cell."""
    msg = f"{n_rows} rows lack a cell, and k-means needs all numbers"
    return DataError(msg, remedy="leave those rows or columns out")
