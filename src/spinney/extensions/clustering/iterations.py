"""Lloyd's iterations over rows of any kind: assign, move, until nothing moves.

Rows are in memory, as numbers (``cluster_rows.py``) or mixed (``prototypes``), or they
are counted where they are (``remote_rows.py``). Centroids are an array of k-means,
``Prototypes`` of k-prototypes; the rows know them.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney.extensions.clustering.clustering import Clustering

Watch = Callable[[NDArray[Any], NDArray[Any], Callable[[], Integers], int], None]
"""What is called after an iteration: with the centroids before and after it, what tells
the clusters of the rows, and how many rows went elsewhere."""


class IteratedRows(Protocol):
    """What an iteration asks of rows."""

    def restart(self, centroids: Any) -> None:
        """Forget all assignments; as many clusters follow as there are centroids."""
        ...

    def assign(self, centroids: Any) -> int:
        """Send each row to the nearest centroid; return how many went elsewhere."""
        ...

    def moved(self, centroids: Any) -> tuple[Any, int]:
        """Return the centroids of least cost, and how many empty ones were filled."""
        ...

    def same(self, before: Any, after: Any) -> bool:
        """Return whether no centroid has moved."""
        ...

    def labels(self) -> Integers:
        """Return the cluster of each row."""
        ...

    def inertia(self, centroids: Any) -> float:
        """Return the weighted sum of the distances of rows to their centroids."""
        ...


def iterate(
    rows: IteratedRows,
    centroids: Any,
    *,
    max_iterations: int,
    tolerance: float = 0.0,
    watch: Watch | None = None,
) -> Clustering:
    """Iterate from given centroids.

    An iteration sends each row to its nearest centroid, the first of equals, and moves
    each centroid to the values of least cost for its rows: the weighted mean of
    numbers. It is the last one if no row has gone elsewhere and no centroid has moved,
    or if the squared moves of all centroids sum to no more than the tolerance, where
    that is above 0.
    """
    rows.restart(centroids)
    start, converged, n = centroids, False, 0
    while n < max_iterations and not converged:
        n += 1
        before, changed = centroids, rows.assign(centroids)
        centroids, filled = rows.moved(before)
        converged = changed == 0 and not filled and rows.same(before, centroids)
        if watch is not None:
            watch(before, centroids, rows.labels, changed)
        if tolerance > 0 and _squared_moves(before, centroids) <= tolerance:
            break
    if not converged:
        rows.assign(centroids)
    inertia = rows.inertia(centroids)
    return Clustering(centroids, rows.labels(), inertia, n, converged, start)


def _squared_moves(before: NDArray[Any], after: NDArray[Any]) -> float:
    return float(np.sum((after.astype(np.float64) - before) ** 2))
