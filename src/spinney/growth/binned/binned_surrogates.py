"""The surrogates of a grown tree, found in a second walk over its rows.

Where no cell is missing, surrogates send no row, so that the tree does not depend on
them. The largest nodes are searched by all threads together, each taking some of the
attributes; the subtrees below them are walked side by side.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import n_threads, run_all
from spinney.growth.binned.binned_arrays import Buckets, thresholds_between
from spinney.growth.binned.binned_rows import Prepared, in_buckets
from spinney.growth.binned.loops.layout import BINS
from spinney.growth.binned.loops.nodes import ATTRIBUTE, CHILD, Lines, Shape
from spinney.growth.binned.loops.surrogate_bins import (
    FOUND,
    LINES_OF_PARTS,
    PARTS,
    SurrogateRoom,
)
from spinney.growth.binned.loops.surrogates import (
    KEPT,
    SurrogateLines,
    SurrogateSearch,
    find_surrogates,
)
from spinney.trees import SurrogateArrays

# A node of fewer rows is searched by one thread, and so is one with less than an
# eighth of all rows.
FEWEST_ROWS = 20_000
SHARE = 8

SMALL = 96

SEND, SEARCH, KEEP = (True, False, False), (False, True, False), (False, False, True)
ALL_STEPS = (True, True, True)


@dataclass(frozen=True, eq=False)
class GrownSurrogates:
    """The surrogates of nodes as the loops keep them."""

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


def surrogates_of_grown(
    ready: Prepared, own: Floats | None, shape: Shape, lines: Lines, most: int
) -> GrownSurrogates:
    """Find up to ``most`` surrogates of every inner node, by the rows' own weights."""
    inner = shape.whole[:, ATTRIBUTE] >= 0
    ready = replace(ready, cells=in_buckets(ready.cells, ready.buckets))
    n, cells = int(inner.sum()), ready.cells
    # Codes that some node lacks are 0, and pages never written to take no memory.
    widest = max((cells.n_bins[cells.nominal]).tolist(), default=0)
    kept = SurrogateLines(
        np.cumsum(inner) - 1,
        np.full((n, most), -1, np.int32),
        np.zeros((n, most, KEPT)),
        np.zeros((n, most, widest), np.uint8),
    )
    if n and most:
        _Walk(ready, own, shape, lines, kept).run()
    return GrownSurrogates(kept, cells.nominal, ready.buckets)


class _Walk:
    def __init__(
        self,
        ready: Prepared,
        own: Floats | None,
        shape: Shape,
        lines: Lines,
        kept: SurrogateLines,
    ) -> None:
        self.ready, self.shape, self.kept = ready, shape, kept
        self.weights = np.ones(len(ready.cells.codes)) if own is None else own
        self.unit = bool(np.all(self.weights == 1.0))
        self.rows = np.arange(len(self.weights), dtype=np.uint32)
        self.spans = np.zeros((len(shape.whole), 2), np.int64)
        self.spans[0] = 0, len(self.rows)
        self.tree = (shape.whole, shape.real, lines.codes, self.spans)
        p = len(ready.cells.n_bins)
        n = min(n_threads(), p)
        self.ranges = [(p * t // n, p * (t + 1) // n) for t in range(n)]
        self.least = max(FEWEST_ROWS, len(self.rows) // SHARE)

    def run(self) -> None:
        """Search the largest nodes together, and walk the subtrees side by side."""
        whole = self.shape.whole
        # A node, and the number after the last one of its subtree.
        stack, small = [(0, len(whole))], []
        while stack:
            node, last = stack.pop()
            n_rows = int(self.spans[node, 1] - self.spans[node, 0])
            if whole[node, ATTRIBUTE] < 0:
                continue
            if len(self.ranges) == 1 or n_rows <= self.least:
                small.append((-n_rows, node, last))
                continue
            self.search_together(node, n_rows)
            left, right = map(int, whole[node, CHILD : CHILD + 2])
            stack += [(right, last), (left, right)]
        run_all([partial(self.walk, *each) for each in sorted(small)])

    def search_together(self, node: int, n_rows: int) -> None:
        """Find the surrogates of a node, each thread taking some attributes."""
        room, one = self.room(n_rows), (node, node + 1)
        everything = 0, len(self.ready.cells.n_bins)
        self.find(one, everything, SEND, room)
        run_all(
            [
                partial(self.find, one, part, SEARCH, self.private(room, n_rows))
                for part in self.ranges
            ]
        )
        self.find(one, everything, KEEP, room)

    def walk(self, less_rows: int, first: int, last: int) -> None:
        """Find the surrogates of a subtree by one thread."""
        everything = 0, len(self.ready.cells.n_bins)
        self.find((first, last), everything, ALL_STEPS, self.room(-less_rows))

    def find(
        self,
        nodes: tuple[int, int],
        attributes: tuple[int, int],
        steps: tuple[bool, bool, bool],
        room: SurrogateRoom,
    ) -> None:
        """Make these steps at a range of nodes."""
        tree = (*self.tree, self.rows)
        search = SurrogateSearch(
            self.ready.cells, self.weights, self.unit, *tree, SMALL, room, self.kept
        )
        find_surrogates(search, nodes, attributes, steps)

    def room(self, n_rows: int) -> SurrogateRoom:
        """Return room for the search of nodes of up to so many rows."""
        p, size = len(self.ready.cells.n_bins), self.length(n_rows)
        return SurrogateRoom(
            np.zeros((p, BINS), np.uint64),
            np.zeros((p, BINS, 2)),
            np.zeros((p, FOUND)),
            np.zeros((p, BINS), np.uint8),
            np.zeros(BINS, np.int64),
            np.zeros((LINES_OF_PARTS, PARTS)),
            np.empty(size),
            np.empty(size, np.int64),
            np.empty(size, np.uint8),
        )

    def private(self, room: SurrogateRoom, n_rows: int) -> SurrogateRoom:
        """Return a room that shares what is told apart by attributes."""
        size = self.length(n_rows)
        return room._replace(
            marks=np.zeros(BINS, np.int64),
            parts=np.zeros((LINES_OF_PARTS, PARTS)),
            keys=np.empty(size),
            places=np.empty(size, np.int64),
            owners=np.empty(size, np.uint8),
        )

    def length(self, n_rows: int) -> int:
        """Return how many keys there are at most."""
        return max(n_rows, BINS, int(self.kept.real.shape[1]))
