"""One tree whose rows with missing values follow surrogates, a level at a time.

::

level ← the root
while the level has nodes:
    split them by the rows that have the value
    find their surrogates, and route the other rows by these
    their children are the next level

The largest nodes are searched by all threads together, the others in parallel. Nodes
come level by level, and are put in printing order at the end.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import n_threads, run_all
from spinney.growth.binned.binned_arrays import SurrogateTotals
from spinney.growth.binned.binned_dataset import BinnedDataset, with_buckets
from spinney.growth.binned.binned_surrogates import GrownSurrogates
from spinney.growth.binned.kernels import nodes
from spinney.growth.binned.kernels.nodes import (
    NodeStack,
    concatenated,
    empty_stack,
    selected,
)
from spinney.growth.binned.kernels.packed_rows import pack_rows
from spinney.growth.binned.kernels.route_missing import (
    N_TOTALS,
    ROUTED_LEFT,
    MissingRouting,
    route_missing_rows,
)
from spinney.growth.binned.kernels.surrogates import SurrogateRecords
from spinney.growth.binned.parallel_search import (
    ParallelNodeSearch,
    attribute_ranges,
    min_parallel_rows,
)
from spinney.growth.binned.subtree import (
    Grown,
    RowRange,
    concatenate_subtrees,
    grow_stack,
)
from spinney.growth.binned.surrogate_finder import (
    NodeArrays,
    SurrogateFinder,
    empty_surrogates,
    row_weights,
)
from spinney.trees import links_of, printing_places

# Nodes of fewer rows in all are not worth another thread.
MIN_GROUP_ROWS = 4096


class Level(NamedTuple):
    """Nodes of one depth: the spans of their rows, and their totals.

    ``above`` has the numbers of their parents, and ``side`` the child index below the
    parent.
    """

    spans: NDArray[np.int64]
    weights: Floats
    counts: Integers
    above: Integers
    side: Integers

    @property
    def n_rows(self) -> Integers:
        """The number of rows of each node."""
        return self.spans[:, 1] - self.spans[:, 0]


class SplitLevel(NamedTuple):
    """The split nodes of a level in order, and the spans of their children.

    ``sums`` and ``counts`` are as in ``MissingRouting``, one line per inner node.
    """

    level: Level
    grown: Grown
    surrogates: SurrogateRecords
    sums: Floats
    counts: Integers
    spans: NDArray[np.int64]


def grow_routed(
    dataset: BinnedDataset, row_weights: Floats | None, max_surrogates: int
) -> tuple[Grown, GrownSurrogates, SurrogateTotals]:
    """Grow the tree of all rows, with up to ``max_surrogates`` surrogates at a node.

    The agreement of surrogates is by ``row_weights``.
    """
    return _LevelGrower(dataset, row_weights, max_surrogates).grow()


class _LevelGrower:
    def __init__(
        self, dataset: BinnedDataset, own: Floats | None, max_surrogates: int
    ) -> None:
        self.dataset, self.max_surrogates = dataset, max_surrogates
        self.bucketed = with_buckets(dataset.cells, dataset.buckets)  # as surrogates do
        self.rows = pack_rows(dataset.labels)
        self.weights = row_weights(own, len(self.rows))
        self.ranges = attribute_ranges(dataset.cells)
        self.min_rows = min_parallel_rows(len(self.rows))

    def grow(self) -> tuple[Grown, GrownSurrogates, SurrogateTotals]:
        """Grow level by level."""
        dataset, none = self.dataset, np.array([-1])
        span = np.array([[0, len(self.rows)]])
        level = Level(span, dataset.weights[None], dataset.counts[None], none, none + 1)
        done: list[SplitLevel] = []
        depth, number = 0, 0
        while len(level.spans):
            parts = list(self.split(level, depth))
            children = []
            for part in parts:
                children.append(_children(part, number))
                number += len(part.level.spans)
            done += parts
            level = concatenated(children)
            depth += 1
        return _in_printing_order(done, dataset)

    def split(self, level: Level, depth: int) -> Iterator[SplitLevel]:
        """Split the nodes of a level: large nodes by all threads, others by one."""
        large = (level.n_rows > self.min_rows) & (len(self.ranges) > 1)
        large &= depth < self.dataset.rules.max_depth
        for index in np.flatnonzero(large).tolist():
            part = self.split_large(selected(level, [index]), depth)
            large[index] = part is not None
            if part is not None:
                yield part
        rest = selected(level, ~large)
        yield from run_all(
            [partial(self.split_group, part, depth) for part in _node_groups(rest)]
        )

    def split_large(self, level: Level, depth: int) -> SplitLevel | None:
        """Split a node by all threads; None if it is a leaf."""
        (begin, end), key = level.spans[0].tolist(), np.uint64(0)
        node = RowRange(begin, end, depth, key, level.weights[0], level.counts[0])
        search = ParallelNodeSearch(self.dataset, self.rows, self.ranges, node)
        grown = search.split()
        return None if grown is None else self.route(level, grown, search.stack)

    def split_group(self, level: Level, depth: int) -> SplitLevel:
        """Split nodes by one thread."""
        stack = _stack_with_level(self.dataset, level, depth)
        return self.route(level, grow_stack(self.dataset, self.rows, stack), stack)

    def route(self, level: Level, grown: Grown, stack: NodeStack) -> SplitLevel:
        """Find the surrogates of nodes, and route rows with a missing value by them."""
        dataset, ints = self.dataset, grown.records.ints
        n, inner = len(ints), ints[:, nodes.ATTRIBUTE] >= 0
        spans = _spans(level, stack, inner)
        # Children are numbered after the nodes, two and two.
        ints[inner, nodes.LEFT_CHILD] = np.arange(n, len(spans), 2)
        surrogates = empty_surrogates(inner, self.bucketed, self.max_surrogates)
        if inner.any() and self.max_surrogates:
            self.find_surrogates(
                (ints, grown.records.floats, grown.code_counts.codes, spans), surrogates
            )
        widths = level.weights.shape[1], level.counts.shape[1]
        routing = MissingRouting(
            self.bucketed,
            dataset.labels,
            dataset.rules.kind,
            self.weights.weights,
            self.rows,
            ints,
            spans,
            level.spans[:, 1].copy(),
            surrogates,
            np.zeros((len(surrogates.floats), N_TOTALS, widths[0])),
            np.zeros((len(surrogates.floats), N_TOTALS, widths[1]), np.int64),
        )
        route_missing_rows(routing)
        return SplitLevel(
            level, grown, surrogates, routing.sums, routing.counts, spans[n:]
        )

    def find_surrogates(self, tree: NodeArrays, surrogates: SurrogateRecords) -> None:
        """Find the surrogates of nodes; all threads share a large one."""
        ints, *_, spans = tree
        finder = SurrogateFinder(
            self.bucketed, self.weights, self.rows, tree, surrogates
        )
        max_rows = int(np.diff(spans[: len(ints)]).max())
        if len(ints) == 1 and max_rows > self.min_rows:
            finder.find_in_threads(0, max_rows)
        else:
            finder.find((0, len(ints)), max_rows)


def _spans(
    level: Level, stack: NodeStack, inner: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the spans of the known rows.

    First those of the nodes that were on a stack, the first on top, then those of both
    children of each inner one.
    """
    n, begin = len(inner), level.spans[:, 0]
    middle, end = stack.entries[:n][::-1][:, [nodes.MIDDLE, nodes.MISSING_BEGIN]].T
    children = np.stack([begin, middle, middle, end], axis=1)[inner]
    return np.concatenate([np.stack([begin, end], axis=1), children.reshape(-1, 2)])


def _stack_with_level(dataset: BinnedDataset, level: Level, depth: int) -> NodeStack:
    """Return a stack with the nodes of a level, the first on top."""
    n, width, n_counts = len(level.spans), dataset.rules.width, level.counts.shape[1]
    max_rows = int(level.n_rows.max())
    stack = empty_stack(
        max(max_rows, n), n, len(dataset.cells.n_bins), width, n_counts, 0
    )
    stack.entries[:n] = -1
    stack.entries[:n, [nodes.BEGIN, nodes.END]] = level.spans[::-1]
    stack.entries[:n, nodes.LEVEL], stack.entries[:n, nodes.BRANCH] = depth, 0
    stack.keys[:n] = 0
    stack.weights[:n], stack.counts[:n] = level.weights[::-1], level.counts[::-1]
    stack.state[nodes.N_WAITING] = n
    return stack


def _node_groups(level: Level) -> Iterator[Level]:
    """Yield the nodes of a level in groups of similar numbers of rows."""
    if not len(level.spans):
        return
    before = np.cumsum(level.n_rows) - level.n_rows
    size = max(MIN_GROUP_ROWS, int(level.n_rows.sum()) // (2 * n_threads()))
    part = before // size
    for number in np.unique(part).tolist():
        yield selected(level, part == number)


def _children(part: SplitLevel, number: int) -> Level:
    """Return the children of nodes; ``number`` is the first node's number."""
    parents = number + np.flatnonzero(part.grown.records.ints[:, nodes.ATTRIBUTE] >= 0)
    width, n_counts = part.sums.shape[2], part.counts.shape[2]
    return Level(
        part.spans,
        part.sums[:, :ROUTED_LEFT].reshape(-1, width),
        part.counts[:, :ROUTED_LEFT].reshape(-1, n_counts),
        np.repeat(parents, 2),
        np.tile([0, 1], len(parents)),
    )


def _in_printing_order(
    parts: Sequence[SplitLevel], dataset: BinnedDataset
) -> tuple[Grown, GrownSurrogates, SurrogateTotals]:
    """Return the nodes of all levels in printing order."""
    levels = concatenated([part.level for part in parts])
    depth = links_of(levels.above).depth
    ends = np.cumsum(np.bincount(depth))[:-1]
    by_depth = np.lexsort((levels.side, levels.above, depth))
    places = printing_places(levels.above, np.split(by_depth, ends))
    records, code_counts, competitors = _linked(parts, levels, places)
    inner, order = records.ints[:, nodes.ATTRIBUTE] >= 0, np.argsort(places)
    lines = np.argsort(places[inner])  # code_counts are of inner nodes
    surrogates = concatenated([part.surrogates for part in parts])
    line_of = np.cumsum(inner[order]) - 1
    surrogates = GrownSurrogates(
        SurrogateRecords(
            line_of,
            surrogates.attributes[lines],
            surrogates.floats[lines],
            surrogates.masks[lines],
        ),
        dataset.cells.nominal,
        dataset.buckets,
    )
    totals = SurrogateTotals(
        line_of,
        np.concatenate([part.sums[:, ROUTED_LEFT] for part in parts])[lines],
        np.concatenate([part.counts[:, ROUTED_LEFT] for part in parts])[lines],
    )
    by_node = np.argsort(competitors.ints[:, nodes.PARENT_NODE], kind="stable")
    return (
        Grown(selected(records, order), code_counts, selected(competitors, by_node)),
        surrogates,
        totals,
    )


def _linked(parts: Sequence[SplitLevel], levels: Level, places: Integers) -> Grown:
    """Return the concatenated nodes of all levels, linked by their final places."""
    joined, _ = concatenate_subtrees([part.grown for part in parts])
    records, competitors = joined.records, joined.competitors
    below = np.flatnonzero(levels.above >= 0)
    above, side = levels.above[below], levels.side[below]
    records.ints[below, nodes.PARENT_NODE] = places[above]
    records.ints[:, nodes.PARENT_BRANCH] = levels.side
    records.ints[above, nodes.LEFT_CHILD + side] = places[below]
    competitors.ints[:, nodes.PARENT_NODE] = places[
        competitors.ints[:, nodes.PARENT_NODE]
    ]
    return joined
