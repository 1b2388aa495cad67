"""Rows of numbers and codes that compiled kernels work on, in threads."""

from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import n_threads, run_blocks
from spinney.extensions.clustering.prototypes.kernels.assign import (
    Measuring,
    assign_rows,
)
from spinney.extensions.clustering.prototypes.mixed_distances import (
    MixedCells,
    Prototypes,
    unlikeness,
)
from spinney.extensions.clustering.prototypes.mixed_rows import MixedRows, Tallies

BLOCK = 1 << 11


class CompiledMixed(MixedRows):
    """Rows that compiled kernels work on: the same bits as NumPy's."""

    def __init__(
        self, cells: MixedCells, weights: Floats, gamma: float, n_jobs: int
    ) -> None:
        # Arrays that may be written to are one type to the compiler; others another.
        super().__init__(cells, np.require(weights, requirements=["C", "W"]), gamma)
        self.n_jobs = max(1, min(n_jobs, n_threads()))
        self._numbers = np.require(cells.numbers, requirements=["C", "W"])
        self._codes = np.require(cells.codes, requirements=["C", "W"])

    def restart(self, prototypes: Prototypes) -> None:
        """Forget all assignments; as many clusters follow as there are prototypes."""
        self._k = len(prototypes.codes)
        self._labels = np.full(len(self.cells), -1, np.int32)
        self._tallies = self._nothing()

    def _nothing(self) -> Tallies:
        width = 2 * self._numbers.shape[1] + 1
        return Tallies(
            np.zeros((2, self._k, width), np.int64),
            np.zeros((self.cells.unseen + 1, self._k), np.int64),
        )

    def assign(self, prototypes: Prototypes) -> int:
        """Send each row to the nearest prototype; return how many went elsewhere."""
        points = np.ascontiguousarray(prototypes.numbers.T)
        unlike = unlikeness(self.cells, prototypes.codes)
        task = Measuring(self._numbers, self._codes, points, unlike, self.gamma)
        own, weights = self._labels, self.weights
        factors, changed = self.scales.factors, list[int]()

        def room() -> Any:
            return (*self._nothing(), np.empty((2, self._k)))

        def work(first: int, last: int, room: Any) -> None:
            span = np.array([first, last])
            changed.append(assign_rows(task, weights, own, factors, room, span))

        n, jobs = len(self.cells), self.n_jobs
        for sums, counts, _ in run_blocks(work, n, step=BLOCK, n_jobs=jobs, room=room):
            self._tallies.sums[...] += sums
            self._tallies.counts[...] += counts
        return sum(changed)

    def labels(self) -> Integers:
        """Return the cluster of each row."""
        return self._labels.astype(np.int64)

    def tallies(self) -> Tallies:
        """Return what the clusters hold."""
        return self._tallies
