"""Lloyd's iterations over rows of any kind: assign, move, until nothing moves.

Centroids are an array of k-means, ``Prototypes`` of k-prototypes; the rows know them.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney.extensions.clustering.clustering import Clustering

if TYPE_CHECKING:
    from spinney.extensions.clustering.cluster_rows import Rows
    from spinney.extensions.clustering.prototypes.mixed_rows import MixedRows

Watch = Callable[[NDArray[Any], NDArray[Any], Callable[[], Integers], int], None]
"""What is called after an iteration: with the centroids before and after it, what tells
the clusters of the rows, and how many rows went elsewhere."""


def iterate(
    rows: "Rows | MixedRows",
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
    labels = rows.labels()
    costs = rows.costs(centroids, labels)
    inertia = float(np.sum(costs * rows.weights if len(rows.weights) else costs))
    return Clustering(centroids, labels, inertia, n, converged, start)


def _squared_moves(before: NDArray[Any], after: NDArray[Any]) -> float:
    return float(np.sum((after.astype(np.float64) - before) ** 2))


def fill_empty(
    rows: "Rows | MixedRows", centroids: Any, sums: Integers
) -> Iterator[tuple[Integers, int, int]]:
    """Give empty clusters the rows that are farthest from their centroids.

    The first empty cluster gets the farthest row, the first of equals, with its
    doubles, and so on. They are taken from the sums of their own cluster, unless
    nothing else has weight there; a row on its centroid, but for a rounding, is not
    taken. Every such move lowers the inertia, so this comes to an end. Yields the rows,
    the cluster that they leave and the one that they fill.
    """
    waiting = np.flatnonzero(~(sums[:, :, -1] != 0).any(axis=0)).tolist()
    if not waiting:
        return
    labels = rows.labels()
    costs = rows.costs(centroids, labels)
    if len(rows.weights):
        costs = np.where(rows.weights > 0, costs, 0.0)
    far = np.flatnonzero(costs > rows.rounding())
    seen: set[int] = set()
    for row in far[np.argsort(-costs[far], kind="stable")].tolist():
        if row in seen:
            continue
        own = labels[row]
        among = np.flatnonzero((costs == costs[row]) & (labels == own))
        doubles = rows.alike(row, among)
        seen.update(doubles.tolist())
        part = rows.parts(doubles).sum(axis=1)
        if not (sums[:, own, -1] - part[:, -1] > 0).any():
            continue
        sums[:, own] -= part
        sums[:, waiting[0]] = part
        yield doubles, own, waiting.pop(0)
        if not waiting:
            return
