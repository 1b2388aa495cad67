"""The subtree of a stretch of rows, grown by one thread."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.counts import Floats
from spinney.kernels.growing import GROW, work_on
from spinney.kernels.layout import BINS, work_for
from spinney.kernels.records import (
    DONE,
    FREE,
    LISTED,
    SLOT,
    SLOTS,
    WAITING,
    Lines,
    Room,
    Shape,
    cut,
    lines_for,
    longer,
    room_for,
    shape_for,
)
from spinney.swift.coded import near_tables
from spinney.swift.prepared import Prepared

__all__ = ["Grown", "Stretch", "grow_stretch", "room_of"]

# Rows that are brought near at once: their codes, numbers and labels fit into the cache
# of a core.
NEAR_ROWS = 8192
FIRST_NODES = 1024

Grown = tuple[Shape, Lines]


@dataclass
class Stretch:
    """A node whose subtree is still to be grown: rows, depth, totals and counts."""

    begin: int
    end: int
    depth: int
    key: np.uint64
    weights: Floats
    counts: NDArray[np.int64]
    lines: Floats | None = None

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return self.end - self.begin


def room_of(ready: Prepared, node: Stretch, deepest: int, slots: int) -> Room:
    """Return room with a node that waits."""
    p, width, n_counts = len(ready.cells.n_bins), ready.rules.width, len(node.counts)
    room = room_for(node.n_rows, deepest, p, width, n_counts, slots)
    room.at[0] = node.begin, node.end, node.depth, -1, 0, -1
    room.keys[0], room.weights[0], room.counts[0] = node.key, node.weights, node.counts
    room.state[WAITING] = 1
    return room


def grow_stretch(ready: Prepared, rows: NDArray[np.uint32], node: Stretch) -> Grown:
    """Grow the subtree of a stretch of rows, whose order is lost."""
    rules, n = ready.rules, node.n_rows
    p, width, n_counts = len(ready.cells.n_bins), rules.width, len(node.counts)
    deepest = rules.max_depth - node.depth
    keeping = rules.tries >= p and n > rules.small
    room = room_of(ready, node, deepest, SLOTS if keeping else 0)
    if keeping and node.lines is not None:
        room.state[FREE] -= 1
        room.at[0, SLOT] = room.free[room.state[FREE]]
        room.pool[room.at[0, SLOT]] = node.lines
    work = work_for(n, p, width, rules.small)
    near = near_tables(ready.cells, ready.labels, min(n, NEAR_ROWS))
    shape = shape_for(min(FIRST_NODES, 2 * n), width, n_counts)
    lines = lines_for(2 * BINS, width, n_counts)
    tables = (ready.cells, ready.labels, *near, rules, rows, room, work)
    while room.state[WAITING]:
        work_on(GROW, *tables, shape, lines, 0, 0, 0.0)
        if room.state[DONE] == len(shape.whole):
            shape = longer(shape)
        if room.state[LISTED] + BINS > len(lines.codes):
            lines = longer(lines)
    return cut(shape, room.state[DONE]), cut(lines, room.state[LISTED])
