"""One tree whose rows go by surrogates where they lack a value, a level at a time.

::

    level ← the root
    while the level has nodes:
        split them by the rows that have the value
        find their surrogates, and send the other rows by these
        their children are the next level

The largest nodes are searched by all threads together, the others side by side. Nodes
come level by level, and are put in printing order at the end.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import n_threads, run_all
from spinney.growth.binned.binned_arrays import SentRows
from spinney.growth.binned.binned_rows import BinnedDataset, in_buckets
from spinney.growth.binned.binned_surrogates import GrownSurrogates
from spinney.growth.binned.kernels import nodes
from spinney.growth.binned.kernels.nodes import (
    NodeStack,
    stack_for,
    stacked,
    taken,
)
from spinney.growth.binned.kernels.route import COUNTED, SENT, Routing, route_rows
from spinney.growth.binned.kernels.row_words import words_of
from spinney.growth.binned.kernels.surrogates import SurrogateLines
from spinney.growth.binned.parallel_search import (
    ParallelNodeSearch,
    least_together,
    ranges_of,
)
from spinney.growth.binned.subtree import Grown, RowRange, end_to_end, grow_waiting
from spinney.growth.binned.surrogate_finder import (
    Finder,
    NodeArrays,
    own_weights,
    room_for_lines,
)
from spinney.trees import links_of, printing_places

# Nodes of fewer rows in all are not worth another thread.
FEWEST_AT_ONCE = 4096


class Level(NamedTuple):
    """Nodes of one depth: where their rows begin and end, their totals, and places.

    ``above`` has the numbers of their parents, ``side`` which child of these they are.
    """

    spans: NDArray[np.int64]
    weights: Floats
    counts: Integers
    above: Integers
    side: Integers

    @property
    def n_rows(self) -> Integers:
        """How many rows each has."""
        return self.spans[:, 1] - self.spans[:, 0]


class Routed(NamedTuple):
    """Nodes that were split, in the order of their level, and how their rows left them.

    ``sums`` and ``counts`` are those of ``Routing``, a line for each inner node.
    """

    level: Level
    grown: Grown
    kept: SurrogateLines
    sums: Floats
    counts: Integers
    spans: NDArray[np.int64]


def grow_routed(
    ready: BinnedDataset, own: Floats | None, most: int
) -> tuple[Grown, GrownSurrogates, SentRows]:
    """Grow the tree of all rows, with up to ``most`` surrogates at a node.

    Agreement is by the rows' ``own`` weights.
    """
    return _Routes(ready, own, most).grow()


class _Routes:
    def __init__(self, ready: BinnedDataset, own: Floats | None, most: int) -> None:
        self.ready, self.most = ready, most
        self.told_apart = in_buckets(ready.cells, ready.buckets)  # as surrogates do
        self.rows = words_of(ready.labels)
        self.own = own_weights(own, len(self.rows))
        self.ranges = ranges_of(ready.cells, min(n_threads(), len(ready.cells.n_bins)))
        self.least = least_together(len(self.rows))

    def grow(self) -> tuple[Grown, GrownSurrogates, SentRows]:
        """Grow as the module's text says."""
        ready, none = self.ready, np.array([-1])
        span = np.array([[0, len(self.rows)]])
        level = Level(span, ready.weights[None], ready.counts[None], none, none + 1)
        done: list[Routed] = []
        depth, number = 0, 0
        while len(level.spans):
            parts = list(self.split(level, depth))
            children = []
            for part in parts:
                children.append(_children(part, number))
                number += len(part.level.spans)
            done += parts
            level = stacked(children)
            depth += 1
        return _in_printing_order(done, ready)

    def split(self, level: Level, depth: int) -> Iterator[Routed]:
        """Split the nodes of a level: large ones by all threads, the others by one."""
        large = (level.n_rows > self.least) & (len(self.ranges) > 1)
        large &= depth < self.ready.rules.max_depth
        for at in np.flatnonzero(large).tolist():
            part = self.split_together(taken(level, [at]), depth)
            large[at] = part is not None
            if part is not None:
                yield part
        rest = taken(level, ~large)
        yield from run_all(
            [partial(self.split_alone, part, depth) for part in _divided(rest)]
        )

    def split_together(self, level: Level, depth: int) -> Routed | None:
        """Split a node by all threads; None where it is a leaf."""
        (begin, end), key = level.spans[0].tolist(), np.uint64(0)
        node = RowRange(begin, end, depth, key, level.weights[0], level.counts[0])
        meeting = ParallelNodeSearch(self.ready, self.rows, self.ranges, node)
        grown = meeting.split()
        return None if grown is None else self.route(level, grown, meeting.stack)

    def split_alone(self, level: Level, depth: int) -> Routed:
        """Split nodes by one thread."""
        stack = _waiting(self.ready, level, depth)
        return self.route(level, grow_waiting(self.ready, self.rows, stack), stack)

    def route(self, level: Level, grown: Grown, stack: NodeStack) -> Routed:
        """Find the surrogates of nodes, and send their rows by them."""
        ready, whole = self.ready, grown.shape.whole
        n, inner = len(whole), whole[:, nodes.ATTRIBUTE] >= 0
        spans = _spans(level, stack, inner)
        # Children are numbered after the nodes, two and two.
        whole[inner, nodes.CHILD] = np.arange(n, len(spans), 2)
        kept = room_for_lines(inner, self.told_apart, self.most)
        if inner.any() and self.most:
            self.find((whole, grown.shape.real, grown.lines.codes, spans), kept)
        widths = level.weights.shape[1], level.counts.shape[1]
        routing = Routing(
            self.told_apart,
            ready.labels,
            ready.rules.kind,
            self.own.weights,
            self.rows,
            whole,
            spans,
            level.spans[:, 1].copy(),
            kept,
            np.zeros((len(kept.real), COUNTED, widths[0])),
            np.zeros((len(kept.real), COUNTED, widths[1]), np.int64),
        )
        route_rows(routing)
        return Routed(level, grown, kept, routing.sums, routing.counts, spans[n:])

    def find(self, tree: NodeArrays, kept: SurrogateLines) -> None:
        """Find the surrogates of nodes: of a large one by all threads."""
        whole, *_, spans = tree
        finder = Finder(self.told_apart, self.own, self.rows, tree, kept)
        most_rows = int(np.diff(spans[: len(whole)]).max())
        if len(whole) == 1 and most_rows > self.least:
            finder.find_together(0, most_rows)
        else:
            finder.find((0, len(whole)), most_rows)


def _spans(
    level: Level, stack: NodeStack, inner: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return where the rows that have a value begin and end.

    Of the nodes that were on a stack, the first on top, and of both children of each
    inner one.
    """
    n, begin = len(inner), level.spans[:, 0]
    middle, aside = stack.at[:n][::-1][:, [nodes.MIDDLE, nodes.ASIDE]].T
    children = np.stack([begin, middle, middle, aside], axis=1)[inner]
    return np.concatenate([np.stack([begin, aside], axis=1), children.reshape(-1, 2)])


def _waiting(ready: BinnedDataset, level: Level, depth: int) -> NodeStack:
    """Return a stack on which nodes wait, the first of them on top."""
    n, width, n_counts = len(level.spans), ready.rules.width, level.counts.shape[1]
    most_rows = int(level.n_rows.max())
    stack = stack_for(max(most_rows, n), n, len(ready.cells.n_bins), width, n_counts, 0)
    stack.at[:n] = -1
    stack.at[:n, [nodes.BEGIN, nodes.END]] = level.spans[::-1]
    stack.at[:n, nodes.LEVEL], stack.at[:n, nodes.BRANCH] = depth, 0
    stack.keys[:n] = 0
    stack.weights[:n], stack.counts[:n] = level.weights[::-1], level.counts[::-1]
    stack.state[nodes.WAITING] = n
    return stack


def _divided(level: Level) -> Iterator[Level]:
    """Give the nodes of a level in parts of about as many rows each."""
    if not len(level.spans):
        return
    before = np.cumsum(level.n_rows) - level.n_rows
    size = max(FEWEST_AT_ONCE, int(level.n_rows.sum()) // (2 * n_threads()))
    part = before // size
    for number in np.unique(part).tolist():
        yield taken(level, part == number)


def _children(part: Routed, number: int) -> Level:
    """Return the children of nodes, the first of which has this number."""
    parents = number + np.flatnonzero(part.grown.shape.whole[:, nodes.ATTRIBUTE] >= 0)
    width, n_counts = part.sums.shape[2], part.counts.shape[2]
    return Level(
        part.spans,
        part.sums[:, :SENT].reshape(-1, width),
        part.counts[:, :SENT].reshape(-1, n_counts),
        np.repeat(parents, 2),
        np.tile([0, 1], len(parents)),
    )


def _in_printing_order(
    parts: Sequence[Routed], ready: BinnedDataset
) -> tuple[Grown, GrownSurrogates, SentRows]:
    """Put the nodes of all levels into the order of printing."""
    levels = stacked([part.level for part in parts])
    depth = links_of(levels.above).depth
    ends = np.cumsum(np.bincount(depth))[:-1]
    by_depth = np.lexsort((levels.side, levels.above, depth))
    places = printing_places(levels.above, np.split(by_depth, ends))
    shape, lines, competitors = _linked(parts, levels, places)
    inner, order = shape.whole[:, nodes.ATTRIBUTE] >= 0, np.argsort(places)
    own = np.argsort(places[inner])  # lines are of inner nodes
    kept = stacked([part.kept for part in parts])
    line_of = np.cumsum(inner[order]) - 1
    surrogates = GrownSurrogates(
        SurrogateLines(line_of, kept.attributes[own], kept.real[own], kept.masks[own]),
        ready.cells.nominal,
        ready.buckets,
    )
    sent = SentRows(
        line_of,
        np.concatenate([part.sums[:, SENT] for part in parts])[own],
        np.concatenate([part.counts[:, SENT] for part in parts])[own],
    )
    by_node = np.argsort(competitors.whole[:, nodes.ABOVE], kind="stable")
    return (
        Grown(taken(shape, order), lines, taken(competitors, by_node)),
        surrogates,
        sent,
    )


def _linked(parts: Sequence[Routed], levels: Level, places: Integers) -> Grown:
    """Return the nodes of parts one after the other, linked by the places to be."""
    every, _ = end_to_end([part.grown for part in parts])
    shape, competitors = every.shape, every.competitors
    below = np.flatnonzero(levels.above >= 0)
    above, side = levels.above[below], levels.side[below]
    shape.whole[below, nodes.ABOVE] = places[above]
    shape.whole[:, nodes.SIDE] = levels.side
    shape.whole[above, nodes.CHILD + side] = places[below]
    competitors.whole[:, nodes.ABOVE] = places[competitors.whole[:, nodes.ABOVE]]
    return every
