"""Search for surrogates at nodes, by one thread or by all of them."""

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
    N_CUT_FIELDS,
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

ROUTE, SEARCH, RECORD = (True, False, False), (False, True, False), (False, False, True)


# ``ints``, ``floats``, ``by_code`` and ``spans`` of ``SurrogateSearch``.
NodeArrays = tuple[NDArray[np.int32], Floats, NDArray[np.int64], NDArray[np.int64]]


class RowWeights(NamedTuple):
    """The weights of rows, and whether each is 1."""

    weights: Floats
    unit: bool


def row_weights(weights: Floats | None, n_rows: int) -> RowWeights:
    """Return the weights of rows; None means that each row weighs 1."""
    weights = np.ones(n_rows) if weights is None else weights
    return RowWeights(weights, bool(np.all(weights == 1.0)))


def empty_surrogates(
    inner: NDArray[np.bool_], cells: Cells, max_surrogates: int
) -> SurrogateRecords:
    """Return empty records of surrogates, a line for each inner node."""
    n = int(inner.sum())
    # Codes that some node lacks are 0, and pages never written to take no memory.
    widest = max((cells.n_bins[cells.nominal]).tolist(), default=0)
    return SurrogateRecords(
        np.cumsum(inner) - 1,
        np.full((n, max_surrogates), -1, np.int32),
        np.zeros((n, max_surrogates, RECORD_SIZE)),
        np.zeros((n, max_surrogates, widest), np.uint8),
    )


class SurrogateFinder:
    """Search for surrogates at nodes, whose rows are ranges of one array.

    ``tree`` has the arrays of the nodes. ``records`` receives their surrogates.
    """

    def __init__(
        self,
        cells: Cells,
        weights: RowWeights,
        rows: PackedRows,
        tree: NodeArrays,
        records: SurrogateRecords,
    ) -> None:
        self.cells, self.weights, self.rows = cells, weights, rows
        self.tree, self.records = tree, records
        self.all_attributes = 0, len(cells.n_bins)
        p, n = len(cells.n_bins), min(n_threads(), len(cells.n_bins))
        self.ranges = [(p * t // n, p * (t + 1) // n) for t in range(n)]

    def find(
        self, nodes: tuple[int, int], n_rows: int, *, routes: bool = False
    ) -> None:
        """Find the surrogates of a range of nodes by one thread.

        No node has more than ``n_rows`` rows. With ``routes`` their rows are routed
        first.
        """
        steps = (routes, True, True)
        self._step(nodes, self.all_attributes, steps, self._workspace(n_rows))

    def find_in_threads(self, node: int, n_rows: int, *, routes: bool = False) -> None:
        """Find the surrogates of a node, each thread taking some attributes."""
        work, node_range = self._workspace(n_rows), (node, node + 1)
        if routes:
            self._step(node_range, self.all_attributes, ROUTE, work)
        run_all(
            [
                partial(
                    self._step,
                    node_range,
                    part,
                    SEARCH,
                    self._thread_workspace(work, n_rows),
                )
                for part in self.ranges
            ]
        )
        self._step(node_range, self.all_attributes, RECORD, work)

    def _step(
        self,
        nodes: tuple[int, int],
        attributes: tuple[int, int],
        steps: tuple[bool, bool, bool],
        work: SurrogateWorkspace,
    ) -> None:
        """Run the selected steps at a range of nodes."""
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
            self.records,
        )
        find_surrogates(search, nodes, attributes, steps)

    def _workspace(self, n_rows: int) -> SurrogateWorkspace:
        """Return a workspace for nodes of up to ``n_rows`` rows."""
        p = len(self.cells.n_bins)
        size = max(n_rows, BINS, int(self.records.floats.shape[1]))
        return SurrogateWorkspace(
            np.zeros((p, BINS), np.uint64),
            np.zeros((p, BINS, 2)),
            np.zeros((p, N_CUT_FIELDS)),
            np.zeros((p, BINS), np.uint8),
            np.zeros(BINS, np.int64),
            np.zeros((SUBBIN_FIELDS, SUBBINS)),
            np.empty(size),
            np.empty(size, np.int64),
            np.empty(size, np.uint8),
        )

    def _thread_workspace(
        self, work: SurrogateWorkspace, n_rows: int
    ) -> SurrogateWorkspace:
        """Return a workspace that shares the results by attribute."""
        thread_work = self._workspace(n_rows)
        return thread_work._replace(
            packed_counts=work.packed_counts,
            bin_weights=work.bin_weights,
            cuts=work.cuts,
            masks=work.masks,
        )
