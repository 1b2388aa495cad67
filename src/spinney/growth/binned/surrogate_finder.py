"""The search for surrogates at nodes, by one thread or by all of them."""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.threads import n_threads, run_all
from spinney.growth.binned import binned_dataset
from spinney.growth.binned.kernels.layout import BINS, Cells
from spinney.growth.binned.kernels.packed_rows import PackedRows
from spinney.growth.binned.kernels.surrogate_bins import (
    FOUND,
    SUBBIN_FIELDS,
    SUBBINS,
    SurrogateWorkspace,
)
from spinney.growth.binned.kernels.surrogates import (
    RECORD_SIZE,
    SurrogateRecords,
    SurrogateSearch,
    find_surrogates,
)

SEND, SEARCH, KEEP = (True, False, False), (False, True, False), (False, False, True)


# ``ints``, ``floats``, ``by_code`` and ``spans`` of ``SurrogateSearch``.
NodeArrays = tuple[NDArray[np.int32], Floats, NDArray[np.int64], NDArray[np.int64]]


class RowWeights(NamedTuple):
    """What rows weigh by themselves, and whether each weighs 1."""

    weights: Floats
    unit: bool


def row_weights(weights: Floats | None, n_rows: int) -> RowWeights:
    """Return the weights of rows, None for 1 each."""
    weights = np.ones(n_rows) if weights is None else weights
    return RowWeights(weights, bool(np.all(weights == 1.0)))


def empty_surrogates(
    inner: NDArray[np.bool_], cells: Cells, most: int
) -> SurrogateRecords:
    """Return work for up to ``most`` surrogates of each inner node."""
    n = int(inner.sum())
    # Codes that some node lacks are 0, and pages never written to take no memory.
    widest = max((cells.n_bins[cells.nominal]).tolist(), default=0)
    return SurrogateRecords(
        np.cumsum(inner) - 1,
        np.full((n, most), -1, np.int32),
        np.zeros((n, most, RECORD_SIZE)),
        np.zeros((n, most, widest), np.uint8),
    )


class SurrogateFinder:
    """The search for surrogates at nodes, whose rows are stretches of one array.

    ``tree`` is what is known of the nodes; lines of ``kept`` become their surrogates.
    """

    def __init__(
        self,
        cells: Cells,
        weights: RowWeights,
        rows: PackedRows,
        tree: NodeArrays,
        kept: SurrogateRecords,
    ) -> None:
        self.cells, self.weights, self.rows = cells, weights, rows
        self.tree, self.kept = tree, kept
        self.everything = 0, len(cells.n_bins)
        p, n = len(cells.n_bins), min(n_threads(), len(cells.n_bins))
        self.ranges = [(p * t // n, p * (t + 1) // n) for t in range(n)]

    def find(self, nodes: tuple[int, int], n_rows: int, *, sends: bool = False) -> None:
        """Find the surrogates of a range of nodes by one thread.

        None has more than ``n_rows`` rows. They are sent down first, if that is wanted.
        """
        steps = (sends, True, True)
        self._step(nodes, self.everything, steps, self._room(n_rows))

    def find_together(self, node: int, n_rows: int, *, sends: bool = False) -> None:
        """Find the surrogates of a node, each thread taking some attributes."""
        work, one = self._room(n_rows), (node, node + 1)
        if sends:
            self._step(one, self.everything, SEND, work)
        run_all(
            [
                partial(self._step, one, part, SEARCH, self._private(work, n_rows))
                for part in self.ranges
            ]
        )
        self._step(one, self.everything, KEEP, work)

    def _step(
        self,
        nodes: tuple[int, int],
        attributes: tuple[int, int],
        steps: tuple[bool, bool, bool],
        work: SurrogateWorkspace,
    ) -> None:
        """Make these steps at a range of nodes."""
        ints, floats, by_code, spans = self.tree
        search = SurrogateSearch(
            self.cells,
            *self.weights,
            ints,
            floats,
            by_code,
            spans,
            self.rows,
            binned_dataset.SMALL_NODE_ROWS,
            work,
            self.kept,
        )
        find_surrogates(search, nodes, attributes, steps)

    def _room(self, n_rows: int) -> SurrogateWorkspace:
        """Return work for the search of nodes of up to so many rows."""
        p, size = len(self.cells.n_bins), self._length(n_rows)
        return SurrogateWorkspace(
            np.zeros((p, BINS), np.uint64),
            np.zeros((p, BINS, 2)),
            np.zeros((p, FOUND)),
            np.zeros((p, BINS), np.uint8),
            np.zeros(BINS, np.int64),
            np.zeros((SUBBIN_FIELDS, SUBBINS)),
            np.empty(size),
            np.empty(size, np.int64),
            np.empty(size, np.uint8),
        )

    def _private(self, work: SurrogateWorkspace, n_rows: int) -> SurrogateWorkspace:
        """Return a work that shares what is told apart by attributes."""
        size = self._length(n_rows)
        return work._replace(
            marks=np.zeros(BINS, np.int64),
            subbins=np.zeros((SUBBIN_FIELDS, SUBBINS)),
            keys=np.empty(size),
            places=np.empty(size, np.int64),
            row_bins=np.empty(size, np.uint8),
        )

    def _length(self, n_rows: int) -> int:
        """Return how many keys there are at most."""
        return max(n_rows, BINS, int(self.kept.floats.shape[1]))
