"""One tree by several threads.

The largest nodes are searched together, each thread taking some of the attributes; the
subtrees of the others are grown side by side::

           ●            searched together
         ●   ●
       ▲  ▲ ▲  ▲        grown side by side, then put in printing order

Who does what changes nothing: every attribute of a node is searched, ties go to the
first, and a subtree depends on its own rows only.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spinney.kernels.growing import (
    close_node,
    find_ends,
    grow_subtree,
    partition,
    record_cut,
)
from spinney.kernels.layout import BINS, WORTH, Work, work_for
from spinney.kernels.records import (
    ABOVE,
    CHILD,
    INNER,
    LINE,
    LINES,
    REASON,
    SIDE,
    Lines,
    Shape,
    count_sides,
    lines_for,
    list_codes,
    open_node,
    push,
    reason_to_stop,
    shape_for,
    stack_for,
)
from spinney.kernels.searching import (
    count,
    search_edges_of,
    search_inside_of,
    slack_of,
)
from spinney.swift.prepared import Prepared
from spinney.swift.threads import n_threads, run_all

__all__ = ["grow_together"]

# A node of fewer rows is grown by one thread, and so is one with less than an eighth
# of all rows: then there are enough of them for all threads.
FEWEST_ROWS = 20_000
SHARE = 8

Grown = tuple[Shape, Lines]
Counts = NDArray[np.float64]


@dataclass
class Waiting:
    """A node whose subtree is still to be grown: rows, depth, totals and counts."""

    begin: int
    end: int
    depth: int
    weights: NDArray[np.float64]
    counts: NDArray[np.int64]
    lines: Counts | None = None

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return self.end - self.begin


def grow_together(ready: Prepared) -> Grown:
    """Grow the tree of all rows."""
    rows = np.arange(len(ready.labels.weights), dtype=np.uint32)
    return _Crowd(ready, rows).grow()


class _Crowd:
    def __init__(self, ready: Prepared, rows: NDArray[np.uint32]) -> None:
        self.ready, self.rows = ready, rows
        p, n = len(ready.cells.n_bins), min(n_threads(), len(ready.cells.n_bins))
        self.ranges = [(p * t // n, p * (t + 1) // n) for t in range(n)]
        self.least = max(FEWEST_ROWS, len(rows) // SHARE)

    def grow(self) -> Grown:
        """Search the largest nodes together, and grow what remains side by side."""
        ready = self.ready
        root = Waiting(0, len(self.rows), 0, ready.weights[None], ready.counts[None])
        # In printing order: nodes that are done, and those whose subtrees are to grow.
        order: list[Grown | Waiting] = []
        links: list[tuple[int, int]] = []
        stack = [(root, -1, 0)]
        while stack:
            node, above, branch = stack.pop()
            found = self.searched(node) if self.is_large(node) else None
            order.append(node if found is None else found[0])
            links.append((above, branch))
            if found is not None:
                _, left, right = found
                stack += [(right, len(order) - 1, 1), (left, len(order) - 1, 0)]
        return joined(self.finished(order), links)

    def is_large(self, node: Waiting) -> bool:
        """Return whether a node is worth the meeting of all threads."""
        return len(self.ranges) > 1 and node.n_rows > self.least

    def finished(self, order: list[Grown | Waiting]) -> list[Grown]:
        """Grow the subtrees of the nodes that wait, the largest first."""
        waiting = [entry for entry in order if isinstance(entry, Waiting)]
        by_size = sorted(waiting, key=lambda node: -node.n_rows)
        grown = run_all([partial(self.subtree, node) for node in by_size])
        results = {id(node): tree for node, tree in zip(by_size, grown, strict=True)}
        return [
            results[id(entry)] if isinstance(entry, Waiting) else entry
            for entry in order
        ]

    def subtree(self, node: Waiting) -> Grown:
        """Grow a subtree by one thread."""
        ready = self.ready
        known = np.zeros((0, 0, 0)) if node.lines is None else node.lines
        shape, *lines = grow_subtree(
            ready.cells,
            ready.labels,
            ready.rules,
            self.rows,
            node.begin,
            node.end,
            node.depth,
            node.weights,
            node.counts,
            known,
            np.uint64(1),
        )
        return shape, Lines(*lines)

    def counted(self, begin: int, end: int) -> Counts:
        """Count all attributes over a stretch of rows."""
        ready, p = self.ready, len(self.ready.cells.n_bins)
        lines = np.empty((p, BINS, ready.rules.width))
        words = np.empty((p, BINS), np.uint64)
        settled = (ready.cells, ready.labels, ready.rules, self.rows, begin, end)
        run_all([partial(count, *settled, *part, lines, words) for part in self.ranges])
        return lines

    def searched(self, node: Waiting) -> tuple[Grown, Waiting, Waiting] | None:
        """Split a node; None where it is a leaf, which its subtree will say."""
        ready, rules = self.ready, self.ready.rules
        width, n_counts = rules.width, node.counts.shape[1]
        stack, shape = stack_for(0, width, n_counts), shape_for(1, width, n_counts)
        push(stack, 0, 0, 0, node.depth, -1, 0, -1, node.weights, node.counts, 0)
        open_node(shape, 0, stack, 0, 0)
        shape.whole[0, REASON] = reason_to_stop(rules, stack, 0)
        if shape.whole[0, REASON] != INNER:
            return None
        if node.lines is None:
            node.lines = self.counted(node.begin, node.end)
        chosen, work = self.best(node)
        if chosen < 0 or not close_node(rules, shape, 0, chosen, work, stack, 0):
            return None
        settled = (ready.cells, self.rows, node.begin)
        spare = np.empty(node.n_rows, self.rows.dtype)
        middle = partition(*settled, node.end, chosen, work, spare)
        ends = (middle, node.end, chosen, node.lines, work.founds)
        find_ends(rules.kind, *settled, *ends)
        sides = lines_for(3, width, n_counts)
        coded = (rules.kind, ready.cells, ready.labels, self.rows, node.begin)
        count_sides(*coded, middle, node.end, chosen, sides)
        record_cut(shape, 0, chosen, work, sides)
        lines = lines_for(BINS, width, n_counts)
        n_lines = 0
        if ready.cells.listed[chosen]:
            n_lines = list_codes(*coded, node.end, chosen, work.masks, lines, 0)
        shape.whole[0, LINES] = n_lines
        left, right = (
            Waiting(
                begin,
                end,
                node.depth + 1,
                sides.weights[side : side + 1].copy(),
                sides.counts[side : side + 1].copy(),
            )
            for side, (begin, end) in enumerate(
                [(node.begin, middle), (middle, node.end)]
            )
        )
        self.share_counts(node, left, right)
        kept = Lines(*(array[:n_lines] for array in lines))
        return (shape, kept), left, right

    def share_counts(self, node: Waiting, left: Waiting, right: Waiting) -> None:
        """Count the smaller branch; the larger one has what remains."""
        if self.ready.rules.subtract and node.lines is not None:
            smaller, larger = sorted((left, right), key=lambda child: child.n_rows)
            smaller.lines = self.counted(smaller.begin, smaller.end)
            larger.lines = node.lines
            larger.lines -= smaller.lines

    def best(self, node: Waiting) -> tuple[int, Work]:
        """Return the attribute whose split is best, -1 for none, and where it is."""
        ready, rules = self.ready, self.ready.rules
        slack = slack_of(rules.kind, node.weights, 0)
        p = len(ready.cells.n_bins)
        works = [work_for(node.n_rows, p, rules.width, 1) for _ in self.ranges]
        pairs = list(zip(self.ranges, works, strict=True))
        run_all(
            [
                partial(
                    search_edges_of, ready.cells, rules, node.lines, *part, slack, work
                )
                for part, work in pairs
            ]
        )
        floor = max(
            float(work.founds[slice(*part), WORTH].max()) for part, work in pairs
        )
        settled = (ready.cells, ready.labels, rules, self.rows, node.begin, node.end)
        run_all(
            [
                partial(
                    search_inside_of, *settled, node.lines, *part, floor, slack, work
                )
                for part, work in pairs
            ]
        )
        best, chosen, where = -np.inf, -1, works[0]
        for (first, last), work in pairs:
            for a in range(first, last):
                if work.founds[a, WORTH] > best + slack:
                    best, chosen, where = work.founds[a, WORTH], a, work
        return chosen, where


def joined(parts: list[Grown], links: list[tuple[int, int]]) -> Grown:
    """Put the parts of a tree into one, each below what its link says."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(shape.whole) for shape, _ in parts)])
    n_lines = np.cumsum([0, *(len(lines.codes) for _, lines in parts)])
    whole = np.concatenate([shape.whole for shape, _ in parts])
    for place, (above, branch) in enumerate(links):
        own = whole[starts[place] : starts[place + 1]]
        for column in (ABOVE, CHILD, CHILD + 1):
            own[:, column] += np.where(own[:, column] >= 0, starts[place], 0)
        own[:, LINE] += n_lines[place]
        if above >= 0:
            own[0, ABOVE], own[0, SIDE] = starts[above], branch
            whole[starts[above], CHILD + branch] = starts[place]
    arrays = zip(*(shape[1:] for shape, _ in parts), strict=True)
    shape = Shape(whole, *(np.concatenate(array) for array in arrays))
    lines = zip(*(lines for _, lines in parts), strict=True)
    return shape, Lines(*(np.concatenate(array) for array in lines))
