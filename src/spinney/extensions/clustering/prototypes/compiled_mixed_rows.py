"""Rows of k-prototypes for compiled kernels, in threads."""

from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import n_threads, run_blocks
from spinney.extensions.clustering.prototypes.kernels.assign import (
    MixedTask,
    assign_rows,
)
from spinney.extensions.clustering.prototypes.mixed_cells import (
    MixedCells,
    Prototypes,
    mismatch_table,
)
from spinney.extensions.clustering.prototypes.mixed_rows import (
    ClusterTallies,
    MixedRows,
)

BLOCK = 1 << 11


class CompiledMixedRows(MixedRows):
    """Rows of k-prototypes for compiled kernels: the same bits as NumPy's."""

    def __init__(
        self, cells: MixedCells, weights: Floats, gamma: float, n_jobs: int
    ) -> None:
        # To the compiler, writable and read-only arrays are two types.
        super().__init__(cells, np.require(weights, requirements=["C", "W"]), gamma)
        self.n_jobs = max(1, min(n_jobs, n_threads()))
        self._numbers = np.require(cells.numbers, requirements=["C", "W"])
        self._codes = np.require(cells.codes, requirements=["C", "W"])

    def reset(self, prototypes: Prototypes) -> None:
        """Forget all assignments, and take the number of clusters from prototypes."""
        self._k = len(prototypes.codes)
        self._labels = np.full(len(self.cells), -1, np.int32)
        self._tallies = self._zero_tallies()

    def _zero_tallies(self) -> ClusterTallies:
        width = 2 * self._numbers.shape[1] + 1
        return ClusterTallies(
            np.zeros((2, self._k, width), np.int64),
            np.zeros((self.cells.unseen + 1, self._k), np.int64),
        )

    def assign(self, prototypes: Prototypes) -> int:
        """Assign each row to its nearest prototype; return how many rows changed."""
        points = np.ascontiguousarray(prototypes.numbers.T)
        mismatches = mismatch_table(self.cells, prototypes.codes)
        task = MixedTask(self._numbers, self._codes, points, mismatches, self.gamma)
        labels, weights = self._labels, self.weights
        factors, changed = self.scales.factors, list[int]()

        def workspace() -> Any:
            return (*self._zero_tallies(), np.empty((2, self._k)))

        def work(first: int, last: int, workspace: Any) -> None:
            span = np.array([first, last])
            changed.append(assign_rows(task, weights, labels, factors, workspace, span))

        n, jobs = len(self.cells), self.n_jobs
        for sums, counts, _ in run_blocks(
            work, n, step=BLOCK, n_jobs=jobs, make_workspace=workspace
        ):
            self._tallies.sums[...] += sums
            self._tallies.counts[...] += counts
        return sum(changed)

    def labels(self) -> Integers:
        """Return the cluster of each row."""
        return self._labels.astype(np.int64)

    def tallies(self) -> ClusterTallies:
        """Return the sums and counts of the clusters."""
        return self._tallies
