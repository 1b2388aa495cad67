"""The search of one large node by all threads, each taking some of the attributes."""

from functools import partial
from itertools import pairwise

import numpy as np

from spinney._support.threads import n_threads, run_all
from spinney.growth.binned.binned_dataset import BinnedDataset
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.grow import Task, run_task
from spinney.growth.binned.kernels.layout import Cells, Workspace, empty_workspace
from spinney.growth.binned.kernels.nodes import copied_head
from spinney.growth.binned.kernels.packed_rows import PackedRows
from spinney.growth.binned.subtree import Grown, RowRange, new_search, stack_with_node

Ranges = list[tuple[int, int]]

# A node of fewer rows is left to one thread, and so is one with less than an eighth of
# all rows: then there are enough of them for all threads.
MIN_PARALLEL_ROWS = 20_000
PARALLEL_ROWS_DIVISOR = 8

SPARSE_PER_DENSE = 5  # attributes of the tail are counted in the time of another


class ParallelNodeSearch:
    """The search of one large node by all threads."""

    def __init__(
        self, dataset: BinnedDataset, rows: PackedRows, ranges: Ranges, node: RowRange
    ) -> None:
        self.dataset, self.rows, self.ranges, self.node = dataset, rows, ranges, node
        p, rules = len(self.dataset.cells.n_bins), self.dataset.rules
        self.stack = stack_with_node(self.dataset, node, 0, 0)
        self.search = new_search(
            self.dataset,
            rows,
            self.stack,
            n_nodes=1,
            n_lines=rules.max_code_lines,
            n_competitors=p,
        )
        others = [empty_workspace(node.n_rows, p, rules.width, 0) for _ in ranges[1:]]
        counts = (
            self.search.work.histograms if node.histograms is None else node.histograms
        )
        workspaces = [self.search.work, *others]
        self.workspaces = [work._replace(histograms=counts) for work in workspaces]

    def run(
        self, task: Task, work: Workspace, first: int, last: int, floor: float
    ) -> int:
        """Run a task for a range of attributes."""
        search = self.search._replace(work=work)
        return int(run_task(search, int(task), first, last, floor))

    def run_in_threads(self, task: Task, floor: float = 0.0) -> None:
        """Run a task in all threads, each for its own attributes."""
        pairs = zip(self.workspaces, self.ranges, strict=True)
        run_all([partial(self.run, task, work, *part, floor) for work, part in pairs])

    def split(self) -> Grown | None:
        """Split the node; return None for a leaf, whose subtree writes the record."""
        node, stack, search = self.node, self.stack, self.search
        if node.histograms is None:
            self.run_in_threads(Task.COUNT)
            node.histograms = self.workspaces[0].histograms
        chosen, work = self.choose_attribute(), self.workspaces[0]
        if chosen < 0 or self.run(Task.SPLIT, work, chosen, chosen, 0.0) < 0:
            return None
        if node.n_rows >= self.dataset.rules.competitor_rows:
            self.run(Task.COMPETITORS, work, 0, len(self.dataset.cells.n_bins), 0.0)
        code_counts = copied_head(search.code_counts, stack.state[nodes.N_LISTED])
        competitors = copied_head(search.competitors, stack.state[nodes.N_COMPETITORS])
        return Grown(search.records, code_counts, competitors)

    def children(self) -> tuple[RowRange, RowRange]:
        """Return both children of the split, with their histograms if known."""
        node, stack = self.node, self.stack
        middle = int(stack.entries[0, nodes.MIDDLE])
        # Keys seed draws, and trees that draw attributes are not searched in parallel.
        left, right = (
            RowRange(
                *span,
                node.depth + 1,
                node.key,
                stack.child_weights[side].copy(),
                stack.child_counts[side].copy(),
            )
            for side, span in enumerate([(node.begin, middle), (middle, node.end)])
        )
        self.count_children(left, right)
        return left, right

    def choose_attribute(self) -> int:
        """Return the attribute with the best split, or -1.

        The first workspace then has the results of all threads.
        """
        self.run_in_threads(Task.EDGES)
        pairs = list(zip(self.workspaces, self.ranges, strict=True))
        scores = [work.cuts[slice(*part), layout.SCORE] for work, part in pairs]
        floor = float(np.concatenate(scores).max())
        self.run_in_threads(Task.INSIDE, floor)
        merged = self.workspaces[0]
        for work, part in pairs:
            attributes = slice(*part)
            merged.cuts[attributes] = work.cuts[attributes]
            merged.masks[attributes] = work.masks[attributes]
        return self.run(Task.CHOOSE, merged, 0, 0, 0.0)

    def count_children(self, left: RowRange, right: RowRange) -> None:
        """Count the smaller child, and subtract it to get the larger one."""
        if self.dataset.rules.subtract and self.node.histograms is not None:
            smaller, larger = sorted((left, right), key=lambda child: child.n_rows)
            search = ParallelNodeSearch(self.dataset, self.rows, self.ranges, smaller)
            search.run_in_threads(Task.COUNT)
            smaller.histograms = search.workspaces[0].histograms
            larger.histograms = self.node.histograms
            larger.histograms -= smaller.histograms


def min_parallel_rows(n_rows: int) -> int:
    """Return the number of rows up to which one thread searches a node."""
    return max(MIN_PARALLEL_ROWS, n_rows // PARALLEL_ROWS_DIVISOR)


def attribute_ranges(cells: Cells) -> Ranges:
    """Return a range of attributes per thread, with equal times of counting."""
    p = len(cells.n_bins)
    n = min(n_threads(), p)
    cost = np.where(np.arange(p) < cells.tail, 1.0, 1.0 / SPARSE_PER_DENSE).cumsum()
    ends = np.searchsorted(cost, cost[-1] * np.arange(1, n) / n) + 1
    ends = np.minimum(np.maximum.accumulate(ends), p - n + np.arange(1, n))
    return list(pairwise([0, *map(int, ends), p]))
