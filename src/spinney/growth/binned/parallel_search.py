"""The search of one large node by all threads, each taking some of the attributes."""

from functools import partial
from itertools import pairwise

import numpy as np

from spinney._support.threads import run_all
from spinney.growth.binned.binned_rows import BinnedDataset
from spinney.growth.binned.kernels import layout, nodes
from spinney.growth.binned.kernels.grow import Task, work_on
from spinney.growth.binned.kernels.layout import Cells, Workspace, workspace_for
from spinney.growth.binned.kernels.nodes import cut
from spinney.growth.binned.kernels.row_words import RowWords
from spinney.growth.binned.subtree import Grown, RowRange, search_of, stack_of

Ranges = list[tuple[int, int]]

# A node of fewer rows is left to one thread, and so is one with less than an eighth of
# all rows: then there are enough of them for all threads.
FEWEST_ROWS = 20_000
SHARE = 8

IN_TAIL = 5  # attributes of the tail are counted in the time of another


class ParallelNodeSearch:
    """The search of one large node by all threads."""

    def __init__(
        self, ready: BinnedDataset, rows: RowWords, ranges: Ranges, node: RowRange
    ) -> None:
        self.ready, self.rows, self.ranges, self.node = ready, rows, ranges, node
        p, rules = len(self.ready.cells.n_bins), self.ready.rules
        self.stack = stack_of(self.ready, node, 0, 0)
        sizes = {"n_nodes": 1, "n_lines": rules.listing, "n_lost": p}
        self.search = search_of(self.ready, rows, self.stack, **sizes)
        more = [workspace_for(node.n_rows, p, rules.width, 0) for _ in ranges[1:]]
        counts = self.search.work.lines if node.lines is None else node.lines
        works = [self.search.work, *more]
        self.works = [work._replace(lines=counts) for work in works]

    def do(
        self, task: Task, work: Workspace, first: int, last: int, floor: float
    ) -> int:
        """Do a task for a range of attributes."""
        search = self.search._replace(work=work)
        return int(work_on(search, int(task), first, last, floor))

    def together(self, task: Task, floor: float = 0.0) -> None:
        """Do a task, each thread for its own attributes."""
        pairs = zip(self.works, self.ranges, strict=True)
        run_all([partial(self.do, task, work, *part, floor) for work, part in pairs])

    def split(self) -> Grown | None:
        """Split the node; None where it is a leaf, which its subtree will say."""
        node, stack, search = self.node, self.stack, self.search
        if node.lines is None:
            self.together(Task.COUNT)
            node.lines = self.works[0].lines
        chosen, work = self.best(), self.works[0]
        if chosen < 0 or self.do(Task.SPLIT, work, chosen, chosen, 0.0) < 0:
            return None
        if node.n_rows >= self.ready.rules.runners_up:
            self.do(Task.RUNNERS_UP, work, 0, len(self.ready.cells.n_bins), 0.0)
        lines = cut(search.listed, stack.state[nodes.LISTED])
        runners_up = cut(search.runners_up, stack.state[nodes.RECORDED])
        return Grown(search.shape, lines, runners_up)

    def sides(self) -> tuple[RowRange, RowRange]:
        """Return both sides of the split, with what is known of their counts."""
        node, stack = self.node, self.stack
        middle = int(stack.at[0, nodes.MIDDLE])
        # The key is for draws, and who draws attributes has no meetings.
        left, right = (
            RowRange(
                *span,
                node.depth + 1,
                node.key,
                stack.side_weights[side].copy(),
                stack.side_counts[side].copy(),
            )
            for side, span in enumerate([(node.begin, middle), (middle, node.end)])
        )
        self.share_counts(left, right)
        return left, right

    def best(self) -> int:
        """Return the attribute whose split is best, -1 for none.

        What all threads found is then with the first of them.
        """
        self.together(Task.EDGES)
        pairs = list(zip(self.works, self.ranges, strict=True))
        scores = [work.cuts[slice(*part), layout.SCORE] for work, part in pairs]
        floor = float(np.concatenate(scores).max())
        self.together(Task.INSIDE, floor)
        all_found = self.works[0]
        for work, part in pairs:
            own = slice(*part)
            all_found.cuts[own], all_found.masks[own] = work.cuts[own], work.masks[own]
        return self.do(Task.CHOOSE, all_found, 0, 0, 0.0)

    def share_counts(self, left: RowRange, right: RowRange) -> None:
        """Count the smaller branch; the larger one has what remains."""
        if self.ready.rules.subtract and self.node.lines is not None:
            smaller, larger = sorted((left, right), key=lambda child: child.n_rows)
            meeting = ParallelNodeSearch(self.ready, self.rows, self.ranges, smaller)
            meeting.together(Task.COUNT)
            smaller.lines = meeting.works[0].lines
            larger.lines = self.node.lines
            larger.lines -= smaller.lines


def least_together(n_rows: int) -> int:
    """Return how many rows a node has at most that one thread searches."""
    return max(FEWEST_ROWS, n_rows // SHARE)


def ranges_of(cells: Cells, n: int) -> Ranges:
    """Return ranges of attributes that take as long as each other to count."""
    p = len(cells.n_bins)
    cost = np.where(np.arange(p) < cells.tail, 1.0, 1.0 / IN_TAIL).cumsum()
    ends = np.searchsorted(cost, cost[-1] * np.arange(1, n) / n) + 1
    ends = np.minimum(np.maximum.accumulate(ends), p - n + np.arange(1, n))
    return list(pairwise([0, *map(int, ends), p]))
