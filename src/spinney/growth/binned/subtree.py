"""The subtree of a stretch of rows, grown by one thread."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import Pace
from spinney.growth.binned.binned_rows import BinnedDataset
from spinney.growth.binned.kernels import nodes
from spinney.growth.binned.kernels.bags import Bags, no_bags
from spinney.growth.binned.kernels.grow import Search, Task, work_on
from spinney.growth.binned.kernels.layout import workspace_for
from spinney.growth.binned.kernels.nodes import (
    Lines,
    NodeStack,
    Shape,
    cut,
    first_lines,
    lines_for,
    longer,
    shape_for,
    stack_for,
    stacked,
)
from spinney.growth.binned.kernels.row_words import RowWords

FIRST_NODES = 1024
MOST_FIRST_NODES = 65_536  # room that is not used costs nothing
CELLS_AT_ONCE = 4_000_000  # looked at before the first pause, about
FIRST_KEEPING = 256  # nodes that keep the splits that lost


class Grown(NamedTuple):
    """Nodes, lines of codes, and the splits that lost (``loops/runners_up.py``)."""

    shape: Shape
    lines: Lines
    competitors: Shape


@dataclass
class RowRange:
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


def stack_of(
    ready: BinnedDataset, node: RowRange, deepest: int, slots: int
) -> NodeStack:
    """Return a stack with a node that waits."""
    p, width, n_counts = len(ready.cells.n_bins), ready.rules.width, len(node.counts)
    stack = stack_for(node.n_rows, deepest, p, width, n_counts, slots)
    stack.at[0] = node.begin, node.end, node.depth, -1, 0, -1, -1, -1
    stack.keys[0], stack.weights[0] = node.key, node.weights
    stack.counts[0], stack.state[nodes.WAITING] = node.counts, 1
    return stack


def search_of(
    ready: BinnedDataset,
    rows: RowWords,
    stack: NodeStack,
    *,
    n_nodes: int,
    n_lines: int,
    n_lost: int,
) -> Search:
    """Return a search of what waits, with room for so many nodes, lines and losers."""
    p, tries, width = len(ready.cells.n_bins), ready.rules.tries, ready.rules.width
    n_counts, drawn = stack.counts.shape[1], tries if tries < p else 0
    return Search(
        cells=ready.cells,
        labels=ready.labels,
        rules=ready.rules,
        rows=rows,
        stack=stack,
        work=workspace_for(len(stack.spare), p, width, drawn),
        shape=shape_for(n_nodes, width, n_counts),
        listed=lines_for(n_lines, width, n_counts),
        runners_up=shape_for(n_lost, width, n_counts),
        bags=no_bags(),
    )


def grow_stretch(ready: BinnedDataset, rows: RowWords, node: RowRange) -> Grown:
    """Grow the subtree of a stretch of rows, whose order is lost."""
    keeping = ready.rules.tries >= len(ready.cells.n_bins)
    slots = nodes.SLOTS if keeping and node.n_rows > ready.rules.small else 0
    stack = stack_of(ready, node, ready.rules.max_depth - node.depth, slots)
    if slots and node.lines is not None:
        stack.state[nodes.FREE] -= 1
        stack.at[0, nodes.SLOT] = stack.free[stack.state[nodes.FREE]]
        stack.pool[stack.at[0, nodes.SLOT]] = node.lines
    return grow_waiting(ready, rows, stack)


def grow_waiting(ready: BinnedDataset, rows: RowWords, stack: NodeStack) -> Grown:
    """Grow the nodes that wait on a stack, and theirs."""
    return _grown(Task.GROW, ready, rows, stack, no_bags())


def grow_bags(
    ready: BinnedDataset,
    in_bags: NDArray[np.uint8],
    seeds: NDArray[np.uint64],
    base: Floats | None,
) -> tuple[Grown, Integers]:
    """Grow a tree of a forest for each bag, one after the other.

    Return the nodes of all, numbered through, and where each tree begins.

    Parameters
    ----------
    ready : BinnedDataset
        All rows, coded.
    in_bags : array of uint8, trees × rows
        How often each row is in each bag.
    seeds : array of uint64
        Of what is drawn at the nodes, one a tree.
    base : array, optional
        What a row weighs that is in a bag once; 1 if not said. Each bag weighs less
        than 2³² where there are several, and these are whole numbers.
    """
    base = np.zeros(0) if base is None else base
    whole, total = bool(np.all(base == np.floor(base))), float(base.sum())
    least = float(base[base > 0].min(initial=np.inf)) if len(base) else 1.0
    rules = ready.rules._replace(
        single=1.5 * least, tally=True, subtract=whole and total <= 2.0**53
    )
    # Weights are those of a bag, so they are ours to write.
    halves = ready.labels.halves and whole and total < 2.0**32
    labels = ready.labels._replace(weights=np.empty(len(base)), halves=halves)
    n, p = in_bags.shape[1], len(ready.cells.n_bins)
    slots = nodes.SLOTS if rules.tries >= p and n > rules.small else 0
    stack = stack_for(n, rules.max_depth, p, rules.width, len(ready.counts), slots)
    bags = Bags(in_bags, base, seeds, np.zeros(len(seeds), np.int64))
    ready, rows = replace(ready, labels=labels, rules=rules), np.empty(n, np.uint64)
    return _grown(Task.TREES, ready, rows, stack, bags), bags.roots


def _grown(
    task: Task, ready: BinnedDataset, rows: RowWords, stack: NodeStack, bags: Bags
) -> Grown:
    """Grow nodes, with more room when there is none left.

    Room for a few at a time makes pauses, in which the work may be stopped.
    """
    rules, n = ready.rules, len(stack.spare)
    p = len(ready.cells.n_bins)
    # More than full trees have, where classes are told apart with ease.
    likely = max(1, len(bags.roots)) * n // 3
    first = min(max(FIRST_NODES, likely), MOST_FIRST_NODES)
    keeping = FIRST_KEEPING if n >= rules.runners_up else 1
    sizes = {"n_nodes": first, "n_lines": 2 * rules.listing, "n_lost": p * keeping}
    search = search_of(ready, rows, stack, **sizes)._replace(bags=bags)
    state, pace = stack.state, Pace(CELLS_AT_ONCE // (n * min(rules.tries, p) + 1))
    while state[nodes.WAITING] or state[nodes.TREE] < len(bags.roots):
        with pace as n_more:
            room = first_lines(search.shape, state[nodes.DONE] + n_more)
            work_on(search._replace(shape=room), int(task), 0, 0, 0.0)
        if state[nodes.DONE] == len(search.shape.whole):
            search = search._replace(shape=longer(search.shape))
        if state[nodes.LISTED] + rules.listing > len(search.listed.codes):
            search = search._replace(listed=longer(search.listed))
        if state[nodes.RECORDED] + p > len(search.runners_up.whole):
            search = search._replace(runners_up=longer(search.runners_up))
    # Forests make other arrays of these at once, so there is no need to let room go.
    ended = cut if task == Task.GROW else first_lines
    return Grown(
        ended(search.shape, state[nodes.DONE]),
        ended(search.listed, state[nodes.LISTED]),
        ended(search.runners_up, state[nodes.RECORDED]),
    )


def end_to_end(parts: Sequence[Grown]) -> tuple[Grown, Integers]:
    """Return parts of a tree one after the other, and where each begins and ends.

    Nodes and competitors have their lines there, and competitors their nodes; how the
    nodes of one part hang on those of another is not known here.
    """
    shape, lines, competitors = (stacked(each) for each in zip(*parts, strict=True))
    starts = np.cumsum([0, *(len(part.shape.whole) for part in parts)])
    first_line = np.cumsum([0, *(len(part.lines.codes) for part in parts)])[:-1]
    n_competitors = [len(part.competitors.whole) for part in parts]
    shape.whole[:, nodes.LINE] += np.repeat(first_line, np.diff(starts)).astype(
        np.int32
    )
    competitors.whole[:, nodes.LINE] += np.repeat(first_line, n_competitors).astype(
        np.int32
    )
    competitors.whole[:, nodes.ABOVE] += np.repeat(starts[:-1], n_competitors).astype(
        np.int32
    )
    return Grown(shape, lines, competitors), starts
