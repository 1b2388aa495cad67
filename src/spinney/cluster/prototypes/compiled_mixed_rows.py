"""Rows of numbers and codes that compiled loops work on, in threads."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import n_threads, run_all
from spinney.cluster.prototypes.loops.assign import assign_rows, measure
from spinney.cluster.prototypes.mixed_rows import (
    MixedCells,
    Prototypes,
    Tallies,
    mixed_scales,
    unlikeness,
)

BLOCK = 1 << 11


class CompiledMixed:
    """Rows that compiled loops work on: the same bits as NumPy's."""

    def __init__(
        self, cells: MixedCells, weights: Floats, gamma: float, n_jobs: int
    ) -> None:
        self.cells, self.gamma = cells, gamma
        # Arrays that may be written to are one type to the compiler; others another.
        self.weights = np.require(weights, requirements=["C", "W"])
        self.scales = mixed_scales(cells, weights)
        self.n_jobs = max(1, min(n_jobs, n_threads()))
        self._numbers = np.require(cells.numbers, requirements=["C", "W"])
        self._codes = np.require(cells.codes, requirements=["C", "W"])

    def _each(
        self, work: Callable[[Any, Any], None], room: Callable[[], Any]
    ) -> list[Any]:
        """Do all blocks, each thread with a room of its own; return the rooms."""
        n, turns = len(self.cells), count()
        rooms: list[Any] = []

        def do() -> None:
            own = room()
            rooms.append(own)
            while (begin := BLOCK * next(turns)) < n:
                work(np.array([begin, min(n, begin + BLOCK)]), own)

        if self.n_jobs == 1 or n <= BLOCK:
            do()
        else:
            run_all([do] * self.n_jobs)
        return rooms

    def restart(self, n_clusters: int) -> None:
        """Forget all assignments."""
        self._labels = np.full(len(self.cells), -1, np.int32)
        self._tallies = self._nothing(n_clusters)

    def _nothing(self, n_clusters: int) -> Tallies:
        width = 2 * self._numbers.shape[1] + 1
        return Tallies(
            np.zeros((2, n_clusters, width), np.int64),
            np.zeros((self.cells.unseen + 1, n_clusters), np.int64),
        )

    def assign(self, prototypes: Prototypes) -> int:
        """Send each row to the nearest prototype; return how many went elsewhere."""
        unlike = unlikeness(self.cells, prototypes.codes)
        points = np.ascontiguousarray(prototypes.numbers.T)
        changed: list[int] = []

        def room() -> Any:
            n_clusters = len(prototypes.codes)
            return (*self._nothing(n_clusters), np.empty((2, n_clusters)))

        def work(span: Any, own: Any) -> None:
            changed.append(
                assign_rows(
                    self._numbers,
                    self._codes,
                    self.weights,
                    self._labels,
                    points,
                    unlike,
                    self.gamma,
                    self.scales.factors,
                    own,
                    span,
                )
            )

        for sums, counts, _ in self._each(work, room):
            self._tallies.sums[...] += sums
            self._tallies.counts[...] += counts
        return sum(changed)

    def labels(self) -> Integers:
        """Return the cluster of each row."""
        return self._labels.astype(np.int64)

    def tallies(self) -> Tallies:
        """Return what the clusters hold."""
        return self._tallies

    def distances(self, prototypes: Prototypes) -> Floats:
        """Return the distances from all rows to a few prototypes."""
        unlike = unlikeness(self.cells, prototypes.codes)
        points = np.ascontiguousarray(prototypes.numbers.T)
        out = np.empty((len(self.cells), len(prototypes.codes)))

        def work(span: Any, lanes: Any) -> None:
            measure(
                self._numbers,
                self._codes,
                points,
                unlike,
                self.gamma,
                lanes,
                out,
                span,
            )

        self._each(work, lambda: np.empty((2, out.shape[1])))
        return out
