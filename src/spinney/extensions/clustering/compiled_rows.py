"""Rows that compiled loops work on, in threads: the same bits as NumPy's."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import in_turns, n_threads
from spinney.extensions.clustering.cluster_draws import BINS
from spinney.extensions.clustering.cluster_rows import BLOCK, Rows, squares_between
from spinney.extensions.clustering.loops.assign import (
    ERROR,
    FALLEN,
    GROWN,
    HALF,
    KEPT,
    LONGEST,
    TINY,
    Assigning,
    settle,
    sift,
    squared_distances,
)
from spinney.extensions.clustering.loops.lanes import LANES
from spinney.extensions.clustering.loops.seed import Seeding, gains_of, take

PRODUCTS = 1 << 16  # at once: they stay in the cache
MANY_CLUSTERS = 2048  # whose distances to each other are not worth their room
FAR_OFF = 4  # a squared mean of so many variances is taken off the rows


class CompiledRows(Rows):
    """Rows of contiguous floats that compiled loops work on."""

    def __init__(self, cells: NDArray[Any], weights: Floats, n_jobs: int) -> None:
        super().__init__(cells, weights)
        self.n_jobs = max(1, min(n_jobs, n_threads()))
        self._n_blocks = -(-len(cells) // BLOCK)
        self._middle: NDArray[Any] | None = None
        precision = np.finfo(cells.dtype)
        columns = cells.shape[1]
        self._limits = np.zeros(4)
        self._limits[ERROR] = (columns + 16) * precision.eps
        smallest = 2.0**-149 if cells.dtype.itemsize == 4 else 2.0**-1074
        self._limits[TINY] = 4 * columns * smallest
        self._limits[KEPT] = 4 * precision.eps

    def _each(
        self,
        work: Callable[[int, int, Any], None],
        room: Callable[[], Any] = lambda: None,
    ) -> list[Any]:
        """Do all blocks, some at a time, each thread with a room of its own."""
        n, jobs = self._n_blocks, self.n_jobs
        return in_turns(work, n, step=max(1, n // (8 * jobs)), n_jobs=jobs, room=room)

    # Seeding

    def begin(self, row: int, bins: NDArray[np.uint16]) -> None:
        """Take a row as the first centroid; the bins are those of ``totals``."""
        n, first = len(self.cells), np.array([row])
        self._near = np.full(n, np.inf, self.cells.dtype)
        self._owner = np.zeros(n, np.int32)
        self._better = np.full((1, n), 1, np.uint8)
        self._chosen: list[int] = []
        self._bins = bins
        self._totals = np.zeros((self._n_blocks, BINS))
        self._ask(first)
        self.take(row)

    def _ask(self, candidates: Integers) -> None:
        """Let these rows be the candidates."""
        self._candidates, points = candidates, self._in_lanes(candidates)
        if len(self._better) != len(points):
            self._better = np.zeros((len(points), len(self.cells)), np.uint8)
        self._seeding = Seeding(
            self.cells, self.weights, self._near, self._owner, self._better, points
        )
        self._lanes = partial(np.empty, (1, LANES), self.cells.dtype)

    def gains(self, candidates: Integers) -> Floats:
        """Return what each row would take off the sum of squared distances."""
        self._ask(candidates)
        groups, gap = len(self._better), self._gap(candidates)
        gains = np.zeros((self._n_blocks * groups, LANES))

        def work(first: int, last: int, lanes: Any) -> None:
            gains_of(self._seeding, gap, lanes, gains, np.array([BLOCK, first, last]))

        self._each(work, self._lanes)
        by_block = gains.reshape(self._n_blocks, groups * LANES)
        return np.array([np.sum(by_block[:, k].copy()) for k in range(len(candidates))])

    def take(self, row: int) -> None:
        """Take one of the candidates that were asked about as a centroid."""
        candidate = int(np.flatnonzero(self._candidates == row)[0])

        def work(first: int, last: int, lanes: Any) -> None:
            span = np.array([BLOCK, first, last, candidate, len(self._chosen)])
            take(self._seeding, self._bins, lanes, self._totals, span)

        self._each(work, self._lanes)
        self._chosen.append(row)

    def _gap(self, candidates: Integers) -> NDArray[Any]:
        """Return by centroid the squared distance up to which a row stays for sure."""
        apart = squares_between(self.cells[self._chosen], self.cells[candidates])
        slack = 1 + 8 * self._limits[ERROR]
        return np.asarray(apart.min(axis=1) / (4 * slack**2), dtype=self.cells.dtype)

    def _in_lanes(self, rows: Integers) -> NDArray[Any]:
        """Return rows in groups of lanes, the last filled up with the first of them."""
        groups = -(-len(rows) // LANES)
        padded = np.full(groups * LANES, rows[0])
        padded[: len(rows)] = rows
        points = self.cells[padded].reshape(groups, LANES, -1)
        return np.ascontiguousarray(points.transpose(0, 2, 1))

    def totals(self) -> Floats:
        """Return the weighted squared distances to the nearest, summed by bin."""
        return np.asarray(np.sum(self._totals, axis=0))

    # Iterating

    def restart(self, centroids: NDArray[Any]) -> None:
        """Forget all assignments; as many clusters follow as there are centroids."""
        if self._middle is None:
            self._centre()
        kind, n, k = self.cells.dtype, len(self.cells), len(centroids)
        self._labels = np.full(n, -1, np.int32)
        self._bounds = np.zeros(n, kind), np.zeros(n, kind)
        self._moves = np.zeros((3, k))
        self._sums = np.zeros((2, k, self.cells.shape[1] + 1), np.int64)
        self._before: NDArray[Any] | None = None

    def _centre(self) -> None:
        """Find the rows whose products with centroids tell distances well.

        Those are rows whose mean is not far from 0; a copy, if need be.
        """
        mean = self.cells.mean(axis=0, dtype=np.float64)
        spread = self.cells.var(axis=0, dtype=np.float64).sum()
        self._middle = np.zeros(len(mean), self.cells.dtype)
        self._centred = self.cells
        if mean @ mean > FAR_OFF * spread:
            self._middle = mean.astype(self.cells.dtype)
            self._centred = self.cells - self._middle
        self._sizes = np.einsum("ij,ij->i", self._centred, self._centred)

    def assign(self, centroids: NDArray[Any]) -> int:
        """Send each row to the nearest centroid; return how many went elsewhere."""
        centroids = np.ascontiguousarray(centroids)
        if self._before is not None:
            apart = (centroids.astype(np.float64) - self._before) ** 2
            moved = np.sqrt(apart.sum(axis=1)) * (1 + 1e-12)
            self._moves[GROWN] += moved
            self._moves[FALLEN] += moved.max()
        self._before = centroids
        self._moves[HALF] = _halves(centroids)
        task = _Assignment(self, centroids)
        for (sums, _, _), _ in self._each(task.work, task.room):
            self._sums += sums
        return sum(task.changed)

    def labels(self) -> Integers:
        """Return the cluster of each row."""
        return self._labels.astype(np.int64)

    def sums(self) -> Integers:
        """Return the sums of the clusters."""
        return self._sums

    def costs(self, centroids: NDArray[Any], labels: Integers) -> Floats:
        """Return each row's squared distance to its centroid, in float64."""
        out = np.empty(len(self.cells))

        def work(first: int, last: int, _: Any) -> None:
            span = np.array([first * BLOCK, min(len(self.cells), last * BLOCK)])
            squared_distances(self.cells, centroids, labels, out, span)

        self._each(work)
        return out


class _Assignment:
    """One assignment of all rows, in pieces."""

    def __init__(self, rows: CompiledRows, centroids: NDArray[Any]) -> None:
        self.rows = rows
        kind, k = centroids.dtype, len(centroids)
        centred = centroids - rows._middle
        width = -(-k // LANES) * LANES
        self.factors = np.zeros((centroids.shape[1], width), kind)
        self.factors[:, :k] = -2 * centred.T
        squares = (centred.astype(np.float64) ** 2).sum(axis=1)
        norms = np.full(width, np.inf, kind)
        norms[:k] = squares
        limits = rows._limits.copy()
        limits[LONGEST] = np.sqrt(squares.max()) * (1 + 1e-6)
        self.height = max(32, PRODUCTS // width)
        self.changed: list[int] = []
        self.task = Assigning(
            rows=rows.cells,
            weights=rows.weights,
            sizes=rows._sizes,
            own=rows._labels,
            upper=rows._bounds[0],
            lower=rows._bounds[1],
            centroids=centroids,
            norms=norms,
            moves=rows._moves,
            limits=limits,
            scales=rows.scales.factors,
        )

    def room(self) -> Any:
        """Return what one thread needs."""
        kind = self.factors.dtype
        sums, lanes = np.zeros_like(self.rows._sums), np.zeros((2, LANES), kind)
        products = np.empty((self.height, self.factors.shape[1]), kind)
        return (sums, lanes, np.zeros(LANES, np.int32)), products

    def work(self, first: int, last: int, own: Any) -> None:
        """Assign the rows of some blocks."""
        rows, (room, products) = self.rows, own
        begin, end = first * BLOCK, min(len(rows.cells), last * BLOCK)
        waiting = np.empty(end - begin, np.int64)
        n = sift(self.task, waiting, np.array([begin, end]))
        for start in range(0, n, self.height):
            stop = min(n, start + self.height)
            turn = waiting[start:stop]
            if turn[-1] - turn[0] == len(turn) - 1:
                chosen = rows._centred[turn[0] : turn[-1] + 1]
            else:
                chosen = rows._centred[turn]
            np.matmul(chosen, self.factors, out=products[: len(turn)])
            span = np.array([start, stop])
            self.changed.append(settle(self.task, products, waiting, room, span))


def _halves(centroids: NDArray[Any]) -> Floats:
    """Return a little less than half of each centroid's distance to the next."""
    if len(centroids) == 1:
        return np.array([np.inf])
    if len(centroids) > MANY_CLUSTERS:
        return np.zeros(len(centroids))
    points = centroids.astype(np.float64)
    points -= points.mean(axis=0)
    norms = (points * points).sum(axis=1)
    squares = norms[:, None] + norms[None, :] - 2 * points @ points.T
    # What the rounding of a product of matrices may have added.
    squares -= 8 * (points.shape[1] + 8) * np.finfo(np.float64).eps * (norms.max() * 4)
    np.fill_diagonal(squares, np.inf)
    return np.asarray(np.sqrt(np.maximum(squares.min(axis=1), 0)) / 2 * (1 - 1e-9))
