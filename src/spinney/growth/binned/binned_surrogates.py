"""Surrogates of a grown tree, found in a second walk over its rows.

Without missing cells, surrogates route no row, so the tree does not depend on them. The
walk takes several times as long as growing, so it starts when a surrogate is first
read. Until then the rows are kept, unless they are many.

The largest nodes are searched by all threads together, each taking some of the
attributes; the subtrees below them are walked in parallel.
"""

from copy import copy
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import run_all
from spinney.growth.binned.binned_arrays import Buckets, thresholds_between
from spinney.growth.binned.binned_dataset import BinnedDataset, with_buckets
from spinney.growth.binned.kernels.layout import Cells
from spinney.growth.binned.kernels.nodes import (
    ATTRIBUTE,
    LEFT_CHILD,
    CodeCounts,
    NodeRecords,
)
from spinney.growth.binned.kernels.surrogates import SurrogateRecords
from spinney.growth.binned.parallel_search import min_parallel_rows
from spinney.growth.binned.surrogate_finder import (
    SurrogateFinder,
    empty_surrogates,
    row_weights,
)
from spinney.trees import LazySurrogates, SurrogateArrays

MAX_CACHED_BYTES = 2**27  # bytes of a table that is kept until its surrogates are found


@dataclass(frozen=True, eq=False)
class GrownSurrogates:
    """Surrogates of nodes as the kernels record them."""

    records: SurrogateRecords
    nominal: NDArray[np.bool_]
    buckets: Buckets

    def arrays(self, inner: NDArray[np.bool_]) -> SurrogateArrays:
        """Return the surrogates of all nodes; ``inner`` marks the inner ones."""
        exists = self.records.attributes >= 0
        attribute = self.records.attributes[exists]
        grouped = self.nominal[attribute]
        floats, masks = self.records.floats[exists], self.records.masks[exists][grouped]
        cut = np.full(len(attribute), np.nan)
        low, high = floats[~grouped, :2].T
        ordered = attribute[~grouped]
        cut[~grouped] = thresholds_between(low, high, ordered, self.buckets)
        # Branches are 1 and 2 there, and no branch is 0.
        within = np.arange(masks.shape[1]) < _ends(masks)[:, None]
        listed = np.zeros(len(attribute), np.int32)
        listed[grouped] = _ends(masks)
        count = np.zeros(len(inner), np.int64)
        count[inner] = exists.sum(axis=1)
        return SurrogateArrays(
            attribute=attribute,
            cut=cut,
            listed=listed,
            branches=masks[within].astype(np.int32) - 1,
            cuts=np.zeros(0),
            count=count,
            agreement=floats[:, 2],
            adjusted=floats[:, 3],
            reversed=floats[:, 4] > 0,
        )


def _ends(masks: NDArray[np.uint8]) -> Integers:
    """Return for each line the number of codes up to the last one with a branch."""
    codes = np.arange(1, masks.shape[1] + 1)
    return np.asarray(np.where(masks > 0, codes, 0).max(axis=1, initial=0))


class DeferredSurrogates:
    """Surrogates of a tree without missing cells, found on demand.

    The rows are kept until then. Every inner node has up to ``max_surrogates``, and
    their agreement is by ``weights`` of rows.
    """

    def __init__(
        self,
        dataset: BinnedDataset,
        weights: Floats | None,
        records: NodeRecords,
        code_counts: CodeCounts,
        max_surrogates: int,
    ) -> None:
        cells = with_buckets(dataset.cells, dataset.buckets)
        self.nominal, self.buckets = cells.nominal, dataset.buckets
        self._rows: Any = cells, weights, records, code_counts, max_surrogates
        self._surrogates: GrownSurrogates | None = None
        self._lock = Lock()

    def copy_rows(self) -> "DeferredSurrogates":
        """Copy the rows, since their owner may change them, and return this object."""
        cells, weights, *tree = self._rows
        needed = slice(None if np.any(cells.column >= 0) else 0)
        cells = cells._replace(
            singles=cells.singles[needed].copy("K"),
            doubles=cells.doubles[needed].copy("K"),
            by_attribute=cells.by_attribute[:0],
        )
        self._rows = cells, None if weights is None else weights.copy(), *tree
        return self

    @property
    def n_bytes(self) -> int:
        """Size of the rows."""
        cells = self._rows[0]
        return sum(
            array.nbytes for array in (cells.codes, cells.singles, cells.doubles)
        )

    def find(self) -> GrownSurrogates:
        """Find and return the surrogates, then release the rows."""
        with self._lock:
            if self._surrogates is None:
                cells, weights, records, code_counts, max_surrogates = self._rows
                inner = records.ints[:, ATTRIBUTE] >= 0
                surrogates = empty_surrogates(inner, cells, max_surrogates)
                if inner.any() and max_surrogates:
                    _SurrogateWalk(
                        cells, weights, records, code_counts, surrogates
                    ).run()
                self._surrogates = GrownSurrogates(
                    surrogates, self.nominal, self.buckets
                )
                self._rows = None
        return self._surrogates

    def arrays(self, inner: NDArray[np.bool_]) -> SurrogateArrays:
        """Return the surrogates of all nodes; ``inner`` marks the inner ones."""
        n_attributes = len(self.nominal)
        return LazySurrogates(inner, n_attributes, lambda: self.find().arrays(inner))

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep no rows in a copy or a pickle."""
        return copy, (self.find(),)


def lazy_surrogates(
    dataset: BinnedDataset,
    weights: Floats | None,
    records: NodeRecords,
    code_counts: CodeCounts,
    max_surrogates: int,
) -> GrownSurrogates | DeferredSurrogates:
    """Return the surrogates of inner nodes; those of a large table are found now.

    Each node has up to ``max_surrogates``. Agreement is by these weights of rows.
    """
    lazy = DeferredSurrogates(dataset, weights, records, code_counts, max_surrogates)
    return lazy.copy_rows() if lazy.n_bytes <= MAX_CACHED_BYTES else lazy.find()


class _SurrogateWalk:
    def __init__(
        self,
        cells: Cells,
        weights: Floats | None,
        records: NodeRecords,
        code_counts: CodeCounts,
        surrogates: SurrogateRecords,
    ) -> None:
        n_rows = len(cells.codes)
        self.ints, self.min_rows = records.ints, min_parallel_rows(n_rows)
        self.spans = np.zeros((len(self.ints), 2), np.int64)
        self.spans[0] = 0, n_rows
        tree = (records.ints, records.floats, code_counts.codes, self.spans)
        rows = np.arange(n_rows, dtype=np.uint64)
        self.finder = SurrogateFinder(
            cells, row_weights(weights, n_rows), rows, tree, surrogates
        )

    def run(self) -> None:
        """Search the largest nodes together, and walk the subtrees in parallel."""
        ints = self.ints
        # A node, and the number after the last one of its subtree.
        stack, small = [(0, len(ints))], []
        while stack:
            node, last = stack.pop()
            n_rows = int(self.spans[node, 1] - self.spans[node, 0])
            if ints[node, ATTRIBUTE] < 0:
                continue
            if len(self.finder.ranges) == 1 or n_rows <= self.min_rows:
                small.append((-n_rows, node, last))
                continue
            self.finder.find_in_threads(node, n_rows, routes=True)
            left, right = map(int, ints[node, LEFT_CHILD : LEFT_CHILD + 2])
            stack += [(right, last), (left, right)]
        run_all([partial(self.walk, *subtree) for subtree in sorted(small)])

    def walk(self, less_rows: int, first: int, last: int) -> None:
        """Find the surrogates of a subtree by one thread."""
        self.finder.find((first, last), -less_rows, routes=True)
