"""Rows that compiled kernels work on, in threads: the same bits as NumPy's."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import n_threads, run_blocks
from spinney.extensions.clustering.cluster_draws import BINS
from spinney.extensions.clustering.cluster_rows import BLOCK, Rows
from spinney.extensions.clustering.kernels.assign import (
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
from spinney.extensions.clustering.kernels.seed import (
    Seeding,
    gains_of,
    take,
)

PRODUCTS = 1 << 17  # at once: they stay in the cache
MOST_AT_ONCE = 1 << 13  # rows whose products are taken together
MANY_CLUSTERS = 2048  # whose distances to each other are not worth their room
FAR_OFF = 4  # a squared mean of so many variances is taken off the rows


class CompiledRows(Rows):
    """Rows of contiguous floats that compiled kernels work on."""

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
        return run_blocks(work, n, step=max(1, n // (8 * jobs)), n_jobs=jobs, room=room)

    # Seeding

    def begin(self, row: int, bins: NDArray[np.uint16]) -> None:
        """Take a row as the first centroid; the bins are those of ``totals``."""
        self._centre()
        n = len(self.cells)
        self._seeding = Seeding(
            rows=self.cells,
            weights=self.weights,
            sizes=self._sizes,
            near=np.full(n, np.inf, self.cells.dtype),
            better=np.ones(n, np.uint32),
            candidates=np.array([row]),
            limits=self._limits.copy(),
        )
        self._bins = bins
        self._totals = np.zeros((self._n_blocks, BINS))
        self.take(row)

    def nearest(self) -> NDArray[Any]:
        """Return the squared distance of each row to its nearest centroid."""
        return self._seeding.near

    def gains(self, candidates: Integers) -> Floats:
        """Return what each row would take off the sum of squared distances."""
        task = self._seeding = self._seeding._replace(candidates=candidates)
        norms, factors = self._sizes[candidates], -2 * self._centred[candidates]
        task.limits[LONGEST] = np.sqrt(norms.max()) * (1 + 1e-6)
        gains = np.zeros((self._n_blocks, len(candidates)))

        def room() -> Any:
            most = np.empty(MOST_AT_ONCE, norms.dtype)
            return most, np.empty(MOST_AT_ONCE, np.int64)

        def work(first: int, last: int, room: Any) -> None:
            for block in range(first, last):
                for products, span in self._products(factors, *self._span(block)):
                    gains_of(task, products, norms, room, gains[block], span)

        self._each(work, room)
        return np.array([np.sum(column.copy()) for column in gains.T])

    def take(self, row: int) -> None:
        """Take one of the candidates that were asked about as a centroid."""
        candidate = int(np.flatnonzero(self._seeding.candidates == row)[0])

        def work(first: int, last: int, _: Any) -> None:
            span = np.array([BLOCK, first, last, candidate])
            take(self._seeding, self._bins, self._totals, span)

        self._each(work)

    def totals(self) -> Floats:
        """Return the weighted squared distances to the nearest, summed by bin."""
        return np.asarray(np.sum(self._totals, axis=0))

    # Iterating

    def restart(self, centroids: NDArray[Any]) -> None:
        """Forget all assignments; as many clusters follow as there are centroids."""
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
        if self._middle is not None:
            return
        mean = self.cells.mean(axis=0, dtype=np.float64)
        spread = self.cells.var(axis=0, dtype=np.float64).sum()
        self._middle = np.zeros(len(mean), self.cells.dtype)
        self._centred = self.cells
        if mean @ mean > FAR_OFF * spread:
            self._middle = mean.astype(self.cells.dtype)
            self._centred = self.cells - self._middle
        self._sizes = np.einsum("ij,ij->i", self._centred, self._centred)

    def _span(self, first: int, last: int | None = None) -> tuple[int, int]:
        """Return the first row of a block, and the last of it or of another."""
        end = first + 1 if last is None else last
        return first * BLOCK, min(len(self.cells), end * BLOCK)

    def _products(
        self, factors: NDArray[Any], first: int, last: int, waiting: Any = None
    ) -> Iterator[tuple[NDArray[Any], Integers]]:
        """Yield the products of factors and rows, some rows at a time, and which.

        The rows are those of a stretch, or of the same stretch of ``waiting``.
        """
        height = min(MOST_AT_ONCE, max(32, PRODUCTS // len(factors)))
        room = np.empty(len(factors) * min(height, last - first), factors.dtype)
        for start in range(first, last, height):
            stop = min(last, start + height)
            if waiting is None:
                chosen = self._centred[start:stop]
            else:
                chosen = self._centred.take(waiting[start:stop], axis=0)
            products = room[: len(factors) * (stop - start)].reshape(len(factors), -1)
            np.matmul(factors, chosen.T, out=products)
            yield products, np.array([start, stop])

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
        centred = centroids - self._middle
        squares = (centred.astype(np.float64) ** 2).sum(axis=1)
        limits = self._limits.copy()
        limits[LONGEST] = np.sqrt(squares.max()) * (1 + 1e-6)
        task = Assigning(
            rows=self.cells,
            weights=self.weights,
            sizes=self._sizes,
            own=self._labels,
            upper=self._bounds[0],
            lower=self._bounds[1],
            centroids=centroids,
            norms=squares.astype(centroids.dtype),
            moves=self._moves,
            limits=limits,
            scales=self.scales.factors,
        )
        factors, changed = -2 * centred, list[int]()

        def room() -> Any:
            near = np.empty((2, MOST_AT_ONCE), centroids.dtype)
            return np.zeros_like(self._sums), *near, np.empty(MOST_AT_ONCE, np.int32)

        def work(first: int, last: int, room: Any) -> None:
            begin, end = self._span(first, last)
            waiting = np.empty(end - begin, np.int64)
            n = sift(task, waiting, np.array([begin, end]))
            for products, span in self._products(factors, 0, n, waiting):
                changed.append(settle(task, products, waiting, room, span))

        for sums, *_ in self._each(work, room):
            self._sums += sums
        return sum(changed)

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
