"""A tree of several branches by several threads.

The largest nodes are searched together, each thread taking some of the attributes; what
is below them is dealt out in bundles of nodes, a thread growing one at a time. Nodes
are numbered in the end, so who grew what leaves no trace.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.threads import Pace, n_threads, run_all
from spinney._support.ties import TOLERANCE
from spinney.growth.best_first import beyond_limit
from spinney.growth.growth_options import Options
from spinney.growth.multiway.kernels import layout
from spinney.growth.multiway.kernels.grow import Task
from spinney.growth.multiway.kernels.grow import grow as grow_nodes
from spinney.growth.multiway.kernels.layout import Grown, Growth, Members, Workspace
from spinney.growth.multiway.multiway_nodes import (
    MultiwayNodes,
    cut_back,
    levels_of,
    printing_order,
)
from spinney.growth.multiway.multiway_rows import MultiwayRows, rank_rows
from spinney.growth.multiway.multiway_workspace import (
    ROOM,
    ROOM_OF_MEMBERS,
    ROOM_OF_NODES,
    WRITTEN_ARRAYS,
    enlarged,
    members_for,
    workspace_for,
)
from spinney.growth.multiway.prune_multiway import prune_multiway
from spinney.growth.prune import Pruned
from spinney.recipes import Recipe
from spinney.trees import Tree

if TYPE_CHECKING:
    from spinney.sources.rows import TrainingSet

# A node of fewer rows is grown by one thread, and so is one with less than an eighth of
# all rows; each thread has so many bundles of them.
FEWEST_ROWS = 8_000
SHARE = 8
BUNDLES = 4
# About so many cells are looked at before the first pause.
CELLS_AT_ONCE = 4_000_000

OF_NODES = ROOM_OF_NODES[layout.SHORT_OF_NODES]


def grow_multiway(ready: MultiwayRows, reason: int) -> Grown:
    """Grow the tree of all rows; its root is a leaf if there is a reason."""
    n_rows = len(ready.columns.codes)
    gang = _Gang.of(ready, n_rows, 1)
    gang.members.rows[:n_rows] = np.arange(n_rows, dtype=np.uint32)
    if ready.parts is not None:
        gang.members.parts[:n_rows] = ready.parts
    root = gang.grown
    root.nodes[0], root.weights[0], root.counts[0] = 0, ready.weights, ready.counts
    root.nodes[0, [layout.PARENT, layout.CHOSEN, layout.REASON]] = -1, -1, reason
    root.state[layout.NODES] = 1
    if reason:
        return _cut(gang.grown)
    gang.members.stack[0] = 0, n_rows, 0, ready.parts is None, 0
    gang.members.used[0] = 0
    root.state[layout.WAITING] = 1
    least = max(FEWEST_ROWS, n_rows // SHARE)
    if n_threads() == 1 or n_rows <= least:
        gang.run()
        return _cut(gang.grown)
    aside = gang.grow_largest(least)
    return _joined(gang.grown, _grow_aside(ready, gang, aside))


@dataclass
class _Waiting:
    """A node that waits for a thread: its number, its members, and what is used."""

    node: int
    rows: NDArray[np.uint32]
    parts: NDArray[np.float64]
    used: NDArray[np.uint8]
    plain: int


@dataclass
class _Gang:
    """All that the loop works on, in one thread."""

    ready: MultiwayRows
    members: Members
    grown: Grown
    work: Workspace

    @classmethod
    def of(cls, ready: MultiwayRows, n_members: int, n_nodes: int) -> "_Gang":
        """Return room for the nodes that wait; it grows where it has to."""
        p, n_classes = len(ready.columns.facts), ready.limits.n_classes
        most = int(ready.columns.facts[:, layout.CODES].max())
        size = n_members + n_members // 4 + 64
        members = members_for(size, n_nodes + 4 * most + 64, p)
        nodes = n_nodes + 2 * n_members + 4 * most + 64
        kinds, n_codes = ready.columns.facts[:, [layout.KIND, layout.CODES]].T
        listed = n_codes[kinds != layout.NUMERIC]
        lines = n_members + 3 * p + int(listed.sum()) + ROOM
        found = n_members // 2 + p + ROOM
        grown = Grown(
            np.empty((nodes, 9), np.int32),
            np.empty((nodes, n_classes)),
            np.empty((nodes, n_classes), np.int64),
            np.empty((found, 6), np.int32),
            np.empty((found, 2)),
            np.empty(lines, np.int32),
            np.empty((lines, n_classes)),
            np.empty((lines, n_classes), np.int64),
            np.zeros(6, np.int64),
        )
        return cls(ready, members, grown, workspace_for(ready, n_members))

    def step(self, task: Task, first: int, last: int) -> None:
        """Let the loop work until it is done, with more room whenever it asks."""
        rows = (self.ready.columns, self.ready.limits)
        while True:
            growth = Growth(*rows, self.members, self.grown, self.work)
            short = grow_nodes(growth, int(task), first, last)
            if short == layout.DONE:
                return
            self.enlarge(int(short))

    def run(self) -> None:
        """Grow all that waits, with pauses in which the work may be stopped."""
        n_members, p = len(self.members.rows), len(self.ready.columns.facts)
        pace, state = Pace(CELLS_AT_ONCE // (n_members * p)), self.grown.state
        while state[layout.WAITING]:
            with pace as n_more:
                state[layout.PAUSE] = state[layout.NODES] + n_more
                self.step(Task.GROW, 0, p)

    def enlarge(self, short: int) -> None:
        """Give more room to what is short of it."""
        self.members = enlarged(self.members, ROOM_OF_MEMBERS[short])
        self.grown = enlarged(self.grown, ROOM_OF_NODES[short])

    def grow_largest(self, least: int) -> list[_Waiting]:
        """Split the nodes with more members than this; return the others."""
        p, aside = len(self.ready.columns.facts), []
        n = min(n_threads(), p)
        ranges = [(p * part // n, p * (part + 1) // n) for part in range(n)]
        # The threads share what has a line for each attribute.
        works = [self.work]
        for _ in ranges[1:]:
            shared, n_rows = self.work, len(self.members.rows)
            own = workspace_for(self.ready, n_rows, table=shared.table)
            results, merits, sides = shared.results, shared.merits, shared.sides
            works.append(own._replace(results=results, merits=merits, sides=sides))
        while self.grown.state[layout.WAITING]:
            top = int(self.grown.state[layout.WAITING]) - 1
            begin, end, node, plain, _ = map(int, self.members.stack[top])
            if end - begin <= least:
                parts = np.zeros(0) if plain else self.members.parts[begin:end].copy()
                rows = self.members.rows[begin:end].copy()
                used = self.members.used[top].copy()
                aside.append(_Waiting(node, rows, parts, used, plain))
                self.grown.state[layout.WAITING] = top
                continue
            run_all(
                [
                    partial(replace(self, work=work).step, Task.SEARCH, *part)
                    for work, part in zip(works, ranges, strict=True)
                ]
            )
            self.step(Task.SPLIT, 0, p)
        return aside


def _grow_aside(ready: MultiwayRows, top: _Gang, aside: list[_Waiting]) -> list[Grown]:
    """Grow the nodes that wait, in bundles of about as many rows each."""
    bundles: list[list[_Waiting]] = [[] for _ in range(BUNDLES * n_threads())]
    sizes = np.zeros(len(bundles), np.int64)
    for waiting in sorted(aside, key=lambda each: -len(each.rows)):
        least = int(sizes.argmin())
        bundles[least].append(waiting)
        sizes[least] += len(waiting.rows)
    pieces = [partial(_bundle, ready, top, bundle) for bundle in bundles if bundle]
    return run_all(pieces)


def _bundle(ready: MultiwayRows, top: _Gang, bundle: list[_Waiting]) -> Grown:
    """Grow some nodes; they come first, under the numbers that they had as parents."""
    n_members = sum(len(waiting.rows) for waiting in bundle)
    gang = _Gang.of(ready, n_members, len(bundle))
    begin = 0
    for at, waiting in enumerate(bundle):
        stretch = slice(begin, begin + len(waiting.rows))
        gang.members.rows[stretch] = waiting.rows
        if not waiting.plain:
            gang.members.parts[stretch] = waiting.parts
        gang.members.stack[at, [layout.BEGIN, layout.END]] = stretch.start, stretch.stop
        gang.members.stack[at, [layout.NODE, layout.PLAIN]] = at, waiting.plain
        gang.members.used[at] = waiting.used
        gang.grown.nodes[at] = top.grown.nodes[waiting.node]
        begin = stretch.stop
    gang.grown.state[[layout.WAITING, layout.NODES]] = len(bundle), len(bundle)
    gang.run()
    for at, waiting in enumerate(bundle):
        gang.grown.nodes[at, layout.PARENT] = waiting.node
    state = gang.grown.state
    state[layout.WAITING] = len(bundle)
    return gang.grown


def _joined(top: Grown, bundles: list[Grown]) -> Grown:
    """Put bundles after the top of the tree."""
    cut = [_cut(top), *(_cut(bundle) for bundle in bundles)]
    columns = (layout.NODES, layout.FOUND, layout.WRITTEN)
    n_nodes, n_found, n_lines = (int(top.state[i]) for i in columns)
    for part, bundle in zip(cut[1:], bundles, strict=True):
        own, nodes = int(bundle.state[layout.WAITING]), part.nodes
        part.candidates[:, layout.LINE] += n_lines
        nodes[:, layout.CANDIDATE] += n_found
        inner = nodes[:, layout.CHILDREN] > 0
        nodes[inner, layout.CHILD] += n_nodes - own
        roots = nodes[:own, layout.PARENT].copy()
        below = nodes[own:, layout.PARENT]
        first = below < own
        below[~first] += n_nodes - own
        below[first] = roots[below[first]]
        nodes[:own, layout.PARENT] = cut[0].nodes[roots, layout.PARENT]
        cut[0].nodes[roots] = nodes[:own]
        n_nodes += len(nodes) - own
        n_found += len(part.candidates)
        n_lines += len(part.line_codes)
    begins = [0, *(int(bundle.state[layout.WAITING]) for bundle in bundles)]
    joined: dict[str, Any] = {"state": np.array([0, n_nodes, n_found, n_lines, 0, 0])}
    for name in WRITTEN_ARRAYS:
        arrays = [getattr(part, name) for part in cut]
        if name in OF_NODES:
            arrays = [array[own:] for array, own in zip(arrays, begins, strict=True)]
        joined[name] = np.concatenate(arrays)
    return top._replace(**joined)


def _cut(grown: Grown) -> Grown:
    """Return what was written of arrays."""
    ends = dict.fromkeys(WRITTEN_ARRAYS, int(grown.state[layout.WRITTEN]))
    ends |= dict.fromkeys(OF_NODES, int(grown.state[layout.NODES]))
    ends |= dict.fromkeys(("candidates", "merits"), int(grown.state[layout.FOUND]))
    written: dict[str, Any] = {
        name: getattr(grown, name)[:end] for name, end in ends.items()
    }
    return grown._replace(**written)


def grow(
    training: "TrainingSet", recipe: Recipe, options: Options | None = None
) -> Tree:
    """Grow the tree that the plain learner would grow.

    Its nodes are made when they are looked at.
    """
    rows = _ranked(training, recipe, options or Options())
    return Tree(rows.schema, _nodes(rows, recipe))


def grow_and_prune(
    training: "TrainingSet", recipe: Recipe, options: Options | None = None
) -> Pruned:
    """Grow a tree and prune it by errors, as the plain learner would."""
    rows = _ranked(training, recipe, options or Options())
    nodes = _nodes(rows, recipe)
    return prune_multiway(Tree(rows.schema, nodes), nodes, rows)


def _ranked(training: "TrainingSet", recipe: Recipe, options: Options) -> MultiwayRows:
    weighed = training.weighed(options.class_weights)
    priced = replace(weighed, schema=options.priced(training.schema))
    return rank_rows(priced, recipe, options.costs)


def _nodes(rows: MultiwayRows, recipe: Recipe) -> MultiwayNodes:
    """Return what grows of the rows, up to the limit on leaves."""
    nodes = _numbered(grow_multiway(rows, _reason(rows)), rows, recipe)
    if recipe.max_leaves is None:
        return nodes
    cuts = beyond_limit(Tree(rows.schema, nodes), recipe)
    if not cuts:
        return nodes
    lines = nodes.order[cuts]
    return _numbered(cut_back(nodes.grown, lines, layout.LEAVES), rows, recipe)


def _numbered(grown: Grown, rows: MultiwayRows, recipe: Recipe) -> MultiwayNodes:
    levels, altered = levels_of(grown.nodes), rows.limits.altered
    order = printing_order(grown.nodes, levels)
    return MultiwayNodes(
        grown, rows.values, rows.schema, recipe, *order, levels, altered
    )


def _reason(rows: MultiwayRows) -> int:
    """Return why the root is a leaf, if it is one."""
    limits = rows.limits
    if (rows.counts > 0).sum() == 1:
        return layout.PURE
    if not rows.schema.attributes:
        return layout.EXHAUSTED
    if limits.max_depth == 0:
        return layout.TOO_DEEP
    if rows.weights.sum() < limits.least_node * (1 - TOLERANCE):
        return layout.TOO_FEW
    return layout.INNER
