"""The surrogates of a grown tree, found in a second walk over its rows.

Where no cell is missing, surrogates send no row, so that the tree does not depend on
them, and the walk takes several times as long as the growing: it is made when somebody
asks for a surrogate. Until then the rows are kept, unless they are many.

The largest nodes are searched by all threads together, each taking some of the
attributes; the subtrees below them are walked side by side.
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
from spinney.growth.binned.binned_rows import BinnedDataset, in_buckets
from spinney.growth.binned.kernels.layout import Cells
from spinney.growth.binned.kernels.nodes import ATTRIBUTE, CHILD, Lines, Shape
from spinney.growth.binned.kernels.surrogates import SurrogateLines
from spinney.growth.binned.parallel_search import least_together
from spinney.growth.binned.surrogate_finder import (
    Finder,
    own_weights,
    room_for_lines,
)
from spinney.trees import LazySurrogates, SurrogateArrays

MOST_KEPT = 2**27  # bytes of a table that is kept until its surrogates are found


@dataclass(frozen=True, eq=False)
class GrownSurrogates:
    """The surrogates of nodes as the kernels keep them."""

    kept: SurrogateLines
    nominal: NDArray[np.bool_]
    buckets: Buckets

    def arrays(self, inner: NDArray[np.bool_]) -> SurrogateArrays:
        """Return the surrogates of all nodes, of which these are the inner ones."""
        there = self.kept.attributes >= 0
        attribute = self.kept.attributes[there]
        grouped = self.nominal[attribute]
        real, masks = self.kept.real[there], self.kept.masks[there][grouped]
        cut = np.full(len(attribute), np.nan)
        low, high = real[~grouped, :2].T
        own = attribute[~grouped]
        cut[~grouped] = thresholds_between(low, high, own, self.buckets)
        # Branches are 1 and 2 there, and no branch is 0.
        within = np.arange(masks.shape[1]) < _ends(masks)[:, None]
        listed = np.zeros(len(attribute), np.int32)
        listed[grouped] = _ends(masks)
        count = np.zeros(len(inner), np.int64)
        count[inner] = there.sum(axis=1)
        return SurrogateArrays(
            attribute=attribute,
            cut=cut,
            listed=listed,
            branches=masks[within].astype(np.int32) - 1,
            cuts=np.zeros(0),
            count=count,
            agreement=real[:, 2],
            adjusted=real[:, 3],
            reversed=real[:, 4] > 0,
        )


def _ends(masks: NDArray[np.uint8]) -> Integers:
    """Return one more than the last code that has a branch, for each line."""
    codes = np.arange(1, masks.shape[1] + 1)
    return np.asarray(np.where(masks > 0, codes, 0).max(axis=1, initial=0))


class UnfoundSurrogates:
    """The surrogates of a tree none of whose cells is missing, found when asked for.

    The rows are kept until then. There are up to ``most`` of every inner node, by the
    rows' ``own`` weights.
    """

    def __init__(
        self,
        ready: BinnedDataset,
        own: Floats | None,
        shape: Shape,
        lines: Lines,
        most: int,
    ) -> None:
        cells = in_buckets(ready.cells, ready.buckets)
        self.nominal, self.buckets = cells.nominal, ready.buckets
        self._rows: Any = cells, own, shape, lines, most
        self._found: GrownSurrogates | None = None
        self._finding = Lock()

    def apart(self) -> "UnfoundSurrogates":
        """Return these, of rows that whoever gave them may change."""
        cells, own, *tree = self._rows
        kept = slice(None if np.any(cells.column >= 0) else 0)
        cells = cells._replace(
            singles=cells.singles[kept].copy("K"),
            doubles=cells.doubles[kept].copy("K"),
            by_attribute=cells.by_attribute[:0],
        )
        self._rows = cells, None if own is None else own.copy(), *tree
        return self

    @property
    def n_bytes(self) -> int:
        """How large the rows are."""
        cells = self._rows[0]
        return sum(
            array.nbytes for array in (cells.codes, cells.singles, cells.doubles)
        )

    def found(self) -> GrownSurrogates:
        """Return the surrogates, and let go of the rows."""
        with self._finding:
            if self._found is None:
                cells, own, shape, lines, most = self._rows
                inner = shape.whole[:, ATTRIBUTE] >= 0
                kept = room_for_lines(inner, cells, most)
                if inner.any() and most:
                    _Walk(cells, own, shape, lines, kept).run()
                self._found = GrownSurrogates(kept, self.nominal, self.buckets)
                self._rows = None
        return self._found

    def arrays(self, inner: NDArray[np.bool_]) -> SurrogateArrays:
        """Return the surrogates of all nodes, of which these are the inner ones."""
        n_attributes = len(self.nominal)
        return LazySurrogates(inner, n_attributes, lambda: self.found().arrays(inner))

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep no rows in a copy or a pickle."""
        return copy, (self.found(),)


def surrogates_of_grown(
    ready: BinnedDataset, own: Floats | None, shape: Shape, lines: Lines, most: int
) -> GrownSurrogates | UnfoundSurrogates:
    """Return up to ``most`` surrogates of every inner node, by the rows' own weights.

    Of a table that is too large to be kept they are found at once.
    """
    unfound = UnfoundSurrogates(ready, own, shape, lines, most)
    return unfound.apart() if unfound.n_bytes <= MOST_KEPT else unfound.found()


class _Walk:
    def __init__(
        self,
        cells: Cells,
        own: Floats | None,
        shape: Shape,
        lines: Lines,
        kept: SurrogateLines,
    ) -> None:
        n_rows = len(cells.codes)
        self.whole, self.least = shape.whole, least_together(n_rows)
        self.spans = np.zeros((len(self.whole), 2), np.int64)
        self.spans[0] = 0, n_rows
        tree = (shape.whole, shape.real, lines.codes, self.spans)
        rows = np.arange(n_rows, dtype=np.uint64)
        self.finder = Finder(cells, own_weights(own, n_rows), rows, tree, kept)

    def run(self) -> None:
        """Search the largest nodes together, and walk the subtrees side by side."""
        whole = self.whole
        # A node, and the number after the last one of its subtree.
        stack, small = [(0, len(whole))], []
        while stack:
            node, last = stack.pop()
            n_rows = int(self.spans[node, 1] - self.spans[node, 0])
            if whole[node, ATTRIBUTE] < 0:
                continue
            if len(self.finder.ranges) == 1 or n_rows <= self.least:
                small.append((-n_rows, node, last))
                continue
            self.finder.find_together(node, n_rows, sends=True)
            left, right = map(int, whole[node, CHILD : CHILD + 2])
            stack += [(right, last), (left, right)]
        run_all([partial(self.walk, *each) for each in sorted(small)])

    def walk(self, less_rows: int, first: int, last: int) -> None:
        """Find the surrogates of a subtree by one thread."""
        self.finder.find((first, last), -less_rows, sends=True)
