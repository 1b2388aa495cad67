"""The growing of a multiway tree by several threads.

The largest nodes are searched together, each thread taking some of the attributes. The
nodes below are grown in bundles, one thread per bundle. Nodes are numbered at the end,
so threads do not change the tree.
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
from spinney.growth.multiway.kernels.grow import Task, grow_nodes
from spinney.growth.multiway.kernels.layout import Grown, Growth, Members, Workspace
from spinney.growth.multiway.multiway_dataset import MultiwayDataset, rank_rows
from spinney.growth.multiway.multiway_nodes import (
    MultiwayNodes,
    cut_back,
    levels_of,
    printing_order,
)
from spinney.growth.multiway.multiway_workspace import (
    EXTRA_LINES,
    MEMBER_ARRAYS,
    NODE_ARRAYS,
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
MIN_PARALLEL_ROWS = 8_000
PARALLEL_ROWS_DIVISOR = 8
BUNDLES_PER_THREAD = 4
# Cells to read before the first pause, about.
CELLS_PER_PAUSE = 4_000_000

PER_NODE_ARRAYS = NODE_ARRAYS[layout.SHORT_OF_NODES]


def grow_ranked_rows(dataset: MultiwayDataset, reason: int) -> Grown:
    """Return the tree of all rows; ``reason`` makes its root a leaf."""
    n_rows = len(dataset.columns.codes)
    grower = _NodeGrower.of(dataset, n_rows, 1)
    grower.members.rows[:n_rows] = np.arange(n_rows, dtype=np.uint32)
    if dataset.fractions is not None:
        grower.members.fractions[:n_rows] = dataset.fractions
    root = grower.grown
    root.nodes[0], root.weights[0], root.counts[0] = 0, dataset.weights, dataset.counts
    root.nodes[0, [layout.PARENT, layout.CHOSEN, layout.REASON]] = -1, -1, reason
    root.state[layout.N_NODES] = 1
    if reason:
        return _trimmed(grower.grown)
    grower.members.stack[0] = 0, n_rows, 0, dataset.fractions is None, 0
    grower.members.used[0] = 0
    root.state[layout.N_WAITING] = 1
    min_rows = max(MIN_PARALLEL_ROWS, n_rows // PARALLEL_ROWS_DIVISOR)
    if n_threads() == 1 or n_rows <= min_rows:
        grower.run()
        return _trimmed(grower.grown)
    remaining = grower.grow_largest(min_rows)
    return _join_bundles(grower.grown, _grow_remaining(dataset, grower, remaining))


@dataclass
class _WaitingNode:
    """A node to be grown by a thread: its number, its members, and used attributes."""

    node: int
    rows: NDArray[np.uint32]
    fractions: NDArray[np.float64]
    used: NDArray[np.uint8]
    unweighted: int


@dataclass
class _NodeGrower:
    """State of growing in one thread."""

    dataset: MultiwayDataset
    members: Members
    grown: Grown
    work: Workspace

    @classmethod
    def of(
        cls, dataset: MultiwayDataset, n_members: int, n_nodes: int
    ) -> "_NodeGrower":
        """Return the state of growing, with arrays that grow on demand."""
        p, n_classes = len(dataset.columns.facts), dataset.limits.n_classes
        max_codes = int(dataset.columns.facts[:, layout.N_CODES].max())
        size = n_members + n_members // 4 + 64
        members = members_for(size, n_nodes + 4 * max_codes + 64, p)
        nodes = n_nodes + 2 * n_members + 4 * max_codes + 64
        kinds, n_codes = dataset.columns.facts[:, [layout.KIND, layout.N_CODES]].T
        n_listed = n_codes[kinds != layout.NUMERIC]
        lines = n_members + 3 * p + int(n_listed.sum()) + EXTRA_LINES
        candidates = n_members // 2 + p + EXTRA_LINES
        grown = Grown(
            np.empty((nodes, 9), np.int32),
            np.empty((nodes, n_classes)),
            np.empty((nodes, n_classes), np.int64),
            np.empty((candidates, 6), np.int32),
            np.empty((candidates, 2)),
            np.empty(lines, np.int32),
            np.empty((lines, n_classes)),
            np.empty((lines, n_classes), np.int64),
            np.zeros(6, np.int64),
        )
        return cls(dataset, members, grown, workspace_for(dataset, n_members))

    def step(self, task: Task, first: int, last: int) -> None:
        """Run a kernel task to its end, enlarging each array that gets full."""
        rows = (self.dataset.columns, self.dataset.limits)
        while True:
            growth = Growth(*rows, self.members, self.grown, self.work)
            short = grow_nodes(growth, int(task), first, last)
            if short == layout.DONE:
                return
            self.enlarge(int(short))

    def run(self) -> None:
        """Grow all nodes; work can be stopped between two calls of the kernel."""
        n_members, p = len(self.members.rows), len(self.dataset.columns.facts)
        pace, state = Pace(CELLS_PER_PAUSE // (n_members * p)), self.grown.state
        while state[layout.N_WAITING]:
            with pace as n_more:
                state[layout.PAUSE_AT] = state[layout.N_NODES] + n_more
                self.step(Task.GROW, 0, p)

    def enlarge(self, short: int) -> None:
        """Enlarge the arrays that are full."""
        self.members = enlarged(self.members, MEMBER_ARRAYS[short])
        self.grown = enlarged(self.grown, NODE_ARRAYS[short])

    def grow_largest(self, min_rows: int) -> list[_WaitingNode]:
        """Split the nodes with more members than ``min_rows``; return the others."""
        p, remaining = len(self.dataset.columns.facts), []
        n = min(n_threads(), p)
        ranges = [(p * part // n, p * (part + 1) // n) for part in range(n)]
        # The threads share what has a line for each attribute.
        workspaces = [self.work]
        for _ in ranges[1:]:
            shared, n_rows = self.work, len(self.members.rows)
            workspace = workspace_for(self.dataset, n_rows, table=shared.table)
            results, merits, sides = shared.results, shared.merits, shared.sides
            workspaces.append(
                workspace._replace(results=results, merits=merits, sides=sides)
            )
        while self.grown.state[layout.N_WAITING]:
            top = int(self.grown.state[layout.N_WAITING]) - 1
            begin, end, node, unweighted, _ = map(int, self.members.stack[top])
            if end - begin <= min_rows:
                fractions = (
                    np.zeros(0)
                    if unweighted
                    else self.members.fractions[begin:end].copy()
                )
                rows = self.members.rows[begin:end].copy()
                used = self.members.used[top].copy()
                remaining.append(_WaitingNode(node, rows, fractions, used, unweighted))
                self.grown.state[layout.N_WAITING] = top
                continue
            run_all(
                [
                    partial(replace(self, work=work).step, Task.SEARCH, *part)
                    for work, part in zip(workspaces, ranges, strict=True)
                ]
            )
            self.step(Task.SPLIT, 0, p)
        return remaining


def _grow_remaining(
    dataset: MultiwayDataset, top: _NodeGrower, remaining: list[_WaitingNode]
) -> list[Grown]:
    """Grow the remaining nodes, in bundles of about equally many rows."""
    bundles: list[list[_WaitingNode]] = [
        [] for _ in range(BUNDLES_PER_THREAD * n_threads())
    ]
    sizes = np.zeros(len(bundles), np.int64)
    for waiting in sorted(remaining, key=lambda node: -len(node.rows)):
        smallest = int(sizes.argmin())
        bundles[smallest].append(waiting)
        sizes[smallest] += len(waiting.rows)
    pieces = [
        partial(_grow_bundle, dataset, top, bundle) for bundle in bundles if bundle
    ]
    return run_all(pieces)


def _grow_bundle(
    dataset: MultiwayDataset, top: _NodeGrower, bundle: list[_WaitingNode]
) -> Grown:
    """Return the subtrees of some nodes; the roots come first, with global parents."""
    n_members = sum(len(waiting.rows) for waiting in bundle)
    grower = _NodeGrower.of(dataset, n_members, len(bundle))
    begin = 0
    for index, waiting in enumerate(bundle):
        span = slice(begin, begin + len(waiting.rows))
        grower.members.rows[span] = waiting.rows
        if not waiting.unweighted:
            grower.members.fractions[span] = waiting.fractions
        grower.members.stack[index, [layout.BEGIN, layout.END]] = span.start, span.stop
        grower.members.stack[index, [layout.NODE, layout.UNWEIGHTED]] = (
            index,
            waiting.unweighted,
        )
        grower.members.used[index] = waiting.used
        grower.grown.nodes[index] = top.grown.nodes[waiting.node]
        begin = span.stop
    grower.grown.state[[layout.N_WAITING, layout.N_NODES]] = len(bundle), len(bundle)
    grower.run()
    for index, waiting in enumerate(bundle):
        grower.grown.nodes[index, layout.PARENT] = waiting.node
    state = grower.grown.state
    state[layout.N_WAITING] = len(bundle)
    return grower.grown


def _join_bundles(top: Grown, bundles: list[Grown]) -> Grown:
    """Return the tree with the bundles appended to its top."""
    parts = [_trimmed(top), *(_trimmed(bundle) for bundle in bundles)]
    columns = (layout.N_NODES, layout.N_FOUND, layout.N_WRITTEN)
    n_nodes, n_found, n_lines = (int(top.state[i]) for i in columns)
    for part, bundle in zip(parts[1:], bundles, strict=True):
        n_roots, nodes = int(bundle.state[layout.N_WAITING]), part.nodes
        part.candidates[:, layout.FIRST_LINE] += n_lines
        nodes[:, layout.FIRST_CANDIDATE] += n_found
        inner = nodes[:, layout.N_CHILDREN] > 0
        nodes[inner, layout.FIRST_CHILD] += n_nodes - n_roots
        roots = nodes[:n_roots, layout.PARENT].copy()
        below = nodes[n_roots:, layout.PARENT]
        below_roots = below < n_roots
        below[~below_roots] += n_nodes - n_roots
        below[below_roots] = roots[below[below_roots]]
        nodes[:n_roots, layout.PARENT] = parts[0].nodes[roots, layout.PARENT]
        parts[0].nodes[roots] = nodes[:n_roots]
        n_nodes += len(nodes) - n_roots
        n_found += len(part.candidates)
        n_lines += len(part.line_codes)
    begins = [0, *(int(bundle.state[layout.N_WAITING]) for bundle in bundles)]
    joined: dict[str, Any] = {"state": np.array([0, n_nodes, n_found, n_lines, 0, 0])}
    for name in WRITTEN_ARRAYS:
        arrays = [getattr(part, name) for part in parts]
        if name in PER_NODE_ARRAYS:
            arrays = [
                array[n_roots:] for array, n_roots in zip(arrays, begins, strict=True)
            ]
        joined[name] = np.concatenate(arrays)
    return top._replace(**joined)


def _trimmed(grown: Grown) -> Grown:
    """Return the used parts of arrays."""
    ends = dict.fromkeys(WRITTEN_ARRAYS, int(grown.state[layout.N_WRITTEN]))
    ends |= dict.fromkeys(PER_NODE_ARRAYS, int(grown.state[layout.N_NODES]))
    ends |= dict.fromkeys(("candidates", "merits"), int(grown.state[layout.N_FOUND]))
    written: dict[str, Any] = {
        name: getattr(grown, name)[:end] for name, end in ends.items()
    }
    return grown._replace(**written)


def grow_multiway_tree(
    training: "TrainingSet", recipe: Recipe, options: Options | None = None
) -> Tree:
    """Return the tree that the plain learner would grow.

    Its nodes are made on demand.
    """
    rows = _ranked_rows(training, recipe, options or Options())
    return Tree(rows.schema, _grow_all(rows, recipe))


def grow_and_prune_multiway_tree(
    training: "TrainingSet", recipe: Recipe, options: Options | None = None
) -> Pruned:
    """Return a tree after error-based pruning, as the plain learner would."""
    rows = _ranked_rows(training, recipe, options or Options())
    nodes = _grow_all(rows, recipe)
    return prune_multiway(Tree(rows.schema, nodes), nodes, rows)


def _ranked_rows(
    training: "TrainingSet", recipe: Recipe, options: Options
) -> MultiwayDataset:
    weighed = training.weighed(options.class_weights)
    training = replace(weighed, schema=options.with_costs(training.schema))
    return rank_rows(training, recipe, options.costs)


def _grow_all(rows: MultiwayDataset, recipe: Recipe) -> MultiwayNodes:
    """Return the nodes of the tree of the rows, up to the limit on leaves."""
    nodes = _as_nodes(grow_ranked_rows(rows, _root_leaf_reason(rows)), rows, recipe)
    if recipe.max_leaves is None:
        return nodes
    cuts = beyond_limit(Tree(rows.schema, nodes), recipe)
    if not cuts:
        return nodes
    lines = nodes.order[cuts]
    return _as_nodes(cut_back(nodes.grown, lines, layout.LEAVES), rows, recipe)


def _as_nodes(grown: Grown, rows: MultiwayDataset, recipe: Recipe) -> MultiwayNodes:
    levels, altered = levels_of(grown.nodes), rows.limits.altered
    order = printing_order(grown.nodes, levels)
    return MultiwayNodes(
        grown, rows.values, rows.schema, recipe, *order, levels, altered
    )


def _root_leaf_reason(rows: MultiwayDataset) -> int:
    """Return the reason if the root must be a leaf, else INNER."""
    limits = rows.limits
    if (rows.counts > 0).sum() == 1:
        return layout.PURE
    if not rows.schema.attributes:
        return layout.EXHAUSTED
    if limits.max_depth == 0:
        return layout.TOO_DEEP
    if rows.weights.sum() < limits.min_node_weight * (1 - TOLERANCE):
        return layout.TOO_FEW
    return layout.INNER
