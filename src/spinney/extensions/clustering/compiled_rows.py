"""Rows of k-means for compiled kernels, in threads: the same bits as NumPy's."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import n_threads, run_blocks
from spinney.extensions.clustering.kernels.assign import (
    ABSOLUTE_ERROR,
    CENTROID_MOVES,
    HALF_DISTANCE,
    LARGEST_MOVES,
    LARGEST_NORM,
    RELATIVE_ERROR,
    STORED_ERROR,
    AssignmentTask,
    assign_waiting,
    list_waiting,
    squared_distances,
)
from spinney.extensions.clustering.kernels.seed import (
    SeedingTask,
    add_gains,
    choose_candidate,
)
from spinney.extensions.clustering.numeric_rows import BLOCK, NumericRows
from spinney.extensions.clustering.random_rows import BINS

PRODUCTS = 1 << 17  # computed at once, so that they stay in the cache
MAX_ROWS_AT_ONCE = 1 << 13  # rows whose products are computed together
MANY_CLUSTERS = 2048  # beyond, distances between centroids take too much memory
FAR_OFF = 4  # a squared mean of more variances is subtracted from the rows


class CompiledNumericRows(NumericRows):
    """Contiguous rows for compiled kernels."""

    def __init__(self, cells: NDArray[Any], weights: Floats, n_jobs: int) -> None:
        super().__init__(cells, weights)
        self.n_jobs = max(1, min(n_jobs, n_threads()))
        self._n_blocks = -(-len(cells) // BLOCK)
        self._middle: NDArray[Any] | None = None
        precision = np.finfo(cells.dtype)
        columns = cells.shape[1]
        self._limits = np.zeros(4)
        self._limits[RELATIVE_ERROR] = (columns + 16) * precision.eps
        smallest = 2.0**-149 if cells.dtype.itemsize == 4 else 2.0**-1074
        self._limits[ABSOLUTE_ERROR] = 4 * columns * smallest
        self._limits[STORED_ERROR] = 4 * precision.eps

    def _run_blocks(
        self,
        work: Callable[[int, int, Any], None],
        workspace: Callable[[], Any] = lambda: None,
    ) -> list[Any]:
        """Process all blocks in threads, each thread with its own workspace."""
        n, jobs = self._n_blocks, self.n_jobs
        return run_blocks(
            work, n, step=max(1, n // (8 * jobs)), n_jobs=jobs, make_workspace=workspace
        )

    # Seeding

    def start_seeding(self, row: int, bins: NDArray[np.uint16]) -> None:
        """Make a row the first centroid; ``totals`` sums by these bins."""
        self._centre()
        n = len(self.cells)
        self._seeding = SeedingTask(
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
        self.add_centroid(row)

    def nearest(self) -> NDArray[Any]:
        """Return the squared distance of each row to its nearest centroid."""
        return self._seeding.near

    def gains(self, candidates: Integers) -> Floats:
        """Return the decrease of the squared distances by each candidate row."""
        task = self._seeding = self._seeding._replace(candidates=candidates)
        norms, factors = self._sizes[candidates], -2 * self._centred[candidates]
        task.limits[LARGEST_NORM] = np.sqrt(norms.max()) * (1 + 1e-6)
        gains = np.zeros((self._n_blocks, len(candidates)))

        def workspace() -> Any:
            limits = np.empty(MAX_ROWS_AT_ONCE, norms.dtype)
            return limits, np.empty(MAX_ROWS_AT_ONCE, np.int64)

        def work(first: int, last: int, workspace: Any) -> None:
            for block in range(first, last):
                for products, span in self._products(factors, *self._row_range(block)):
                    add_gains(task, products, norms, workspace, gains[block], span)

        self._run_blocks(work, workspace)
        return np.array([np.sum(column.copy()) for column in gains.T])

    def add_centroid(self, row: int) -> None:
        """Make one of the last candidates a centroid."""
        candidate = int(np.flatnonzero(self._seeding.candidates == row)[0])

        def work(first: int, last: int, _: Any) -> None:
            span = np.array([BLOCK, first, last, candidate])
            choose_candidate(self._seeding, self._bins, self._totals, span)

        self._run_blocks(work)

    def totals(self) -> Floats:
        """Return the weighted squared distances to the nearest, summed by bin."""
        return np.asarray(np.sum(self._totals, axis=0))

    # Iterating

    def reset(self, centroids: NDArray[Any]) -> None:
        """Forget all assignments, and take the number of clusters from centroids."""
        self._centre()
        kind, n, k = self.cells.dtype, len(self.cells), len(centroids)
        self._labels = np.full(n, -1, np.int32)
        self._bounds = np.zeros(n, kind), np.zeros(n, kind)
        self._moves = np.zeros((3, k))
        self._sums = np.zeros((2, k, self.cells.shape[1] + 1), np.int64)
        self._before: NDArray[Any] | None = None

    def _centre(self) -> None:
        """Subtract a mean far from 0, so that products yield accurate distances."""
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

    def _row_range(self, first: int, last: int | None = None) -> tuple[int, int]:
        """Return the row range from one block to the same or a later block."""
        end = first + 1 if last is None else last
        return first * BLOCK, min(len(self.cells), end * BLOCK)

    def _products(
        self, factors: NDArray[Any], first: int, last: int, pending: Any = None
    ) -> Iterator[tuple[NDArray[Any], Integers]]:
        """Yield products of factors and rows, and their ranges.

        ``pending`` lists the rows; by default they are the range itself.
        """
        height = min(MAX_ROWS_AT_ONCE, max(32, PRODUCTS // len(factors)))
        workspace = np.empty(len(factors) * min(height, last - first), factors.dtype)
        for start in range(first, last, height):
            stop = min(last, start + height)
            if pending is None:
                chosen = self._centred[start:stop]
            else:
                chosen = self._centred.take(pending[start:stop], axis=0)
            products = workspace[: len(factors) * (stop - start)].reshape(
                len(factors), -1
            )
            np.matmul(factors, chosen.T, out=products)
            yield products, np.array([start, stop])

    def assign(self, centroids: NDArray[Any]) -> int:
        """Assign each row to its nearest centroid; return how many rows changed."""
        centroids = np.ascontiguousarray(centroids)
        if self._before is not None:
            difference = (centroids.astype(np.float64) - self._before) ** 2
            moved = np.sqrt(difference.sum(axis=1)) * (1 + 1e-12)
            self._moves[CENTROID_MOVES] += moved
            self._moves[LARGEST_MOVES] += moved.max()
        self._before = centroids
        self._moves[HALF_DISTANCE] = _half_distances(centroids)
        centred = centroids - self._middle
        squares = (centred.astype(np.float64) ** 2).sum(axis=1)
        limits = self._limits.copy()
        limits[LARGEST_NORM] = np.sqrt(squares.max()) * (1 + 1e-6)
        task = AssignmentTask(
            rows=self.cells,
            weights=self.weights,
            sizes=self._sizes,
            labels=self._labels,
            upper=self._bounds[0],
            lower=self._bounds[1],
            centroids=centroids,
            norms=squares.astype(centroids.dtype),
            moves=self._moves,
            limits=limits,
            scales=self.scales.factors,
        )
        factors, changed = -2 * centred, list[int]()

        def workspace() -> Any:
            near = np.empty((2, MAX_ROWS_AT_ONCE), centroids.dtype)
            return (
                np.zeros_like(self._sums),
                *near,
                np.empty(MAX_ROWS_AT_ONCE, np.int32),
            )

        def work(first: int, last: int, workspace: Any) -> None:
            begin, end = self._row_range(first, last)
            pending = np.empty(end - begin, np.int64)
            n = list_waiting(task, pending, np.array([begin, end]))
            for products, span in self._products(factors, 0, n, pending):
                changed.append(assign_waiting(task, products, pending, workspace, span))

        for sums, *_ in self._run_blocks(work, workspace):
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

        self._run_blocks(work)
        return out


def _half_distances(centroids: NDArray[Any]) -> Floats:
    """Return lower bounds of half of each centroid's distance to the nearest other."""
    if len(centroids) == 1:
        return np.array([np.inf])
    if len(centroids) > MANY_CLUSTERS:
        return np.zeros(len(centroids))
    points = centroids.astype(np.float64)
    points -= points.mean(axis=0)
    norms = (points * points).sum(axis=1)
    squares = norms[:, None] + norms[None, :] - 2 * points @ points.T
    # The rounding of a product of matrices may have added this.
    squares -= 8 * (points.shape[1] + 8) * np.finfo(np.float64).eps * (norms.max() * 4)
    np.fill_diagonal(squares, np.inf)
    return np.asarray(np.sqrt(np.maximum(squares.min(axis=1), 0)) / 2 * (1 - 1e-9))
