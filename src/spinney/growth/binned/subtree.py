"""The subtree of a stretch of rows, grown by one thread."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney.growth.binned.binned_rows import Prepared
from spinney.growth.binned.loops import nodes
from spinney.growth.binned.loops.bags import Bags, no_bags
from spinney.growth.binned.loops.grow import GROW, TREES, work_on
from spinney.growth.binned.loops.layout import work_for
from spinney.growth.binned.loops.nodes import (
    Lines,
    Room,
    Shape,
    cut,
    lines_for,
    longer,
    room_for,
    shape_for,
)
from spinney.growth.binned.loops.row_words import RowWords

FIRST_NODES = 1024
MOST_FIRST_NODES = 65_536  # room that is not used costs nothing
FIRST_KEEPING = 256  # nodes that keep the splits that lost


class Grown(NamedTuple):
    """Nodes, lines of codes, and the splits that lost (``loops/runners_up.py``)."""

    shape: Shape
    lines: Lines
    rivals: Shape


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
    room.state[nodes.WAITING] = 1
    return room


def grow_stretch(ready: Prepared, rows: RowWords, node: Stretch) -> Grown:
    """Grow the subtree of a stretch of rows, whose order is lost."""
    keeping = ready.rules.tries >= len(ready.cells.n_bins)
    slots = nodes.SLOTS if keeping and node.n_rows > ready.rules.small else 0
    room = room_of(ready, node, ready.rules.max_depth - node.depth, slots)
    if slots and node.lines is not None:
        room.state[nodes.FREE] -= 1
        room.at[0, nodes.SLOT] = room.free[room.state[nodes.FREE]]
        room.pool[room.at[0, nodes.SLOT]] = node.lines
    return _worked(GROW, ready, rows, room, no_bags())


def grow_bags(ready: Prepared, bags: Bags) -> Grown:
    """Grow a tree for each bag, one after the other; ``bags.roots`` is set."""
    n, rules = bags.times.shape[1], ready.rules
    width, n_counts = rules.width, len(ready.counts)
    # Weights are those of a bag, so they are ours to write.
    whole = bool(np.all(bags.base == np.floor(bags.base)))
    halves = ready.labels.halves and whole
    labels = ready.labels._replace(weights=np.empty(len(bags.base)), halves=halves)
    p = len(ready.cells.n_bins)
    slots = nodes.SLOTS if rules.tries >= p and n > rules.small else 0
    room = room_for(n, rules.max_depth, p, width, n_counts, slots)
    rows = np.empty(n, np.uint64)
    return _worked(TREES, replace(ready, labels=labels), rows, room, bags)


def _worked(
    task: int, ready: Prepared, rows: RowWords, room: Room, bags: Bags
) -> Grown:
    """Grow nodes, with more room when there is none left."""
    rules, n = ready.rules, len(room.spare)
    p, n_counts = len(ready.cells.n_bins), room.counts.shape[1]
    work = work_for(n, p, rules.width, rules.tries if rules.tries < p else 0)
    # About as many as full trees have, where classes are told apart with ease.
    likely = max(1, len(bags.roots)) * n // 4
    first = min(max(FIRST_NODES, likely), MOST_FIRST_NODES)
    shape = shape_for(first, rules.width, n_counts)
    lines = lines_for(2 * rules.listing, rules.width, n_counts)
    keeping = FIRST_KEEPING if n >= rules.rivals else 1
    rivals = shape_for(p * keeping, rules.width, n_counts)
    tables = (ready.cells, ready.labels, rules, rows, room, work)
    while room.state[nodes.WAITING] or room.state[nodes.TREE] < len(bags.roots):
        work_on(task, *tables, shape, lines, rivals, bags, 0, 0, 0.0)
        if room.state[nodes.DONE] == len(shape.whole):
            shape = longer(shape)
        if room.state[nodes.LISTED] + rules.listing > len(lines.codes):
            lines = longer(lines)
        if room.state[nodes.RECORDED] + p > len(rivals.whole):
            rivals = longer(rivals)
    done, listed, recorded = room.state[[nodes.DONE, nodes.LISTED, nodes.RECORDED]]
    return Grown(cut(shape, done), cut(lines, listed), cut(rivals, recorded))
