"""Rows in memory that Lloyd's iterations ask: what k-means and k-prototypes share.

The sums of the clusters are exact (``exact_sums.py``). A subclass measures distances,
and says which columns are added up.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney.extensions.clustering.exact_sums import (
    Scales,
    parts_of,
    scales_for,
    sums_of,
)


class ClusteredRows:
    """Rows with weights, each in a cluster.

    ``weights`` are empty where every row weighs 1.
    """

    def __init__(self, cells: Any, weights: Floats) -> None:
        self.cells, self.weights = cells, weights

    # What subclasses say

    def assign(self, centroids: Any) -> int:
        """Send each row to the nearest centroid; return how many went elsewhere."""
        raise NotImplementedError

    def costs(self, centroids: Any, labels: Integers) -> Floats:
        """Return the distance of each row to the centroid of its cluster."""
        raise NotImplementedError

    def alike(self, row: int, among: Integers) -> Integers:
        """Return those of some rows that are equal to one."""
        raise NotImplementedError

    def rounding(self) -> float:
        """Return the largest cost that rounding alone could have made."""
        raise NotImplementedError

    def summands(self, some: Any) -> Any:
        """Return the columns of some rows that are added up by cluster."""
        raise NotImplementedError

    # What they share

    def restart(self, centroids: Any) -> None:
        """Forget all assignments; as many clusters follow as there are centroids."""
        self._k = len(centroids)
        self._labels = np.full(len(self.cells), -1)

    def labels(self) -> Integers:
        """Return the cluster of each row."""
        return self._labels

    def nearest_to(self, centroids: Any) -> tuple[Integers, Floats]:
        """Return the nearest centroid of each row, and the distance to it."""
        self.restart(centroids)
        self.assign(centroids)
        labels = self.labels()
        return labels, self.costs(centroids, labels)

    def inertia(self, centroids: Any) -> float:
        """Return the weighted sum of the distances of rows to their centroids."""
        costs = self.costs(centroids, self.labels())
        return float(np.sum(costs * self.weights if len(self.weights) else costs))

    @cached_property
    def scales(self) -> Scales:
        """The scales of the sums of the clusters."""
        return scales_for(self.summands(slice(None)), self.weights)

    @cached_property
    def _parts(self) -> Integers:
        return self.parts(slice(None))

    def parts(self, some: Any) -> Integers:
        """Return what some of the rows add to the sums of their clusters."""
        own = self.weights[some] if len(self.weights) else self.weights
        return parts_of(self.summands(some), own, self.scales)

    def sums(self) -> Integers:
        """Return the sums of the clusters."""
        return sums_of(self._parts, self._labels, self._k)

    def fill_empty(
        self, centroids: Any, sums: Integers
    ) -> Iterator[tuple[Integers, int, int]]:
        """Give empty clusters the rows that are farthest from their centroids.

        The first empty cluster gets the farthest row, the first of equals, with its
        doubles, and so on. They are taken from the sums of their own cluster, unless
        nothing else has weight there; a row on its centroid, but for a rounding, is not
        taken. Every such move lowers the inertia, so this comes to an end. Yields the
        rows, the cluster that they leave and the one that they fill.
        """
        waiting = np.flatnonzero(~(sums[:, :, -1] != 0).any(axis=0)).tolist()
        if not waiting:
            return
        labels = self.labels()
        costs = self.costs(centroids, labels)
        if len(self.weights):
            costs = np.where(self.weights > 0, costs, 0.0)
        far = np.flatnonzero(costs > self.rounding())
        seen: set[int] = set()
        for row in far[np.argsort(-costs[far], kind="stable")].tolist():
            if row in seen:
                continue
            own = labels[row]
            among = np.flatnonzero((costs == costs[row]) & (labels == own))
            doubles = self.alike(row, among)
            seen.update(doubles.tolist())
            part = self.parts(doubles).sum(axis=1)
            if not (sums[:, own, -1] - part[:, -1] > 0).any():
                continue
            sums[:, own] -= part
            sums[:, waiting[0]] = part
            yield doubles, own, waiting.pop(0)
            if not waiting:
                return
