"""One tree by several threads.

The largest nodes are searched together, each thread taking some of the attributes; the
subtrees of the others are grown side by side::

           ●            searched together
         ●   ●
       ▲  ▲ ▲  ▲        grown side by side, then put in printing order

Who does what changes nothing: every attribute of a node is searched, ties go to the
first, and a subtree depends on its own rows only.
"""

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.threads import n_threads, run_all
from spinney.growth.binned.binned_arrays import with_typical
from spinney.growth.binned.binned_nodes import GrownNodes
from spinney.growth.binned.binned_rows import Prepared, prepared
from spinney.growth.binned.binned_surrogates import surrogates_of_grown
from spinney.growth.binned.loops import layout, nodes
from spinney.growth.binned.loops.grow import Task, work_on
from spinney.growth.binned.loops.layout import Cells, Workspace, workspace_for
from spinney.growth.binned.loops.nodes import cut
from spinney.growth.binned.loops.row_words import RowWords, words_of
from spinney.growth.binned.subtree import (
    Grown,
    Stretch,
    grow_stretch,
    search_of,
    stack_of,
)
from spinney.growth.growth_options import Options
from spinney.recipes import Recipe
from spinney.search import policy_named, typical_value
from spinney.trees import Tree, altered_priors

if TYPE_CHECKING:
    from spinney.sources.rows import TrainingSet

# A node of fewer rows is grown by one thread, and so is one with less than an eighth
# of all rows: then there are enough of them for all threads.
FEWEST_ROWS = 20_000
SHARE = 8

IN_TAIL = 5  # attributes of the tail are counted in the time of another


def grow_together(ready: Prepared) -> Grown:
    """Grow the tree of all rows."""
    return _Crowd(ready, words_of(ready.labels)).grow()


class _Crowd:
    def __init__(self, ready: Prepared, rows: RowWords) -> None:
        self.ready, self.rows = ready, rows
        self.ranges = _ranges(ready.cells, min(n_threads(), len(ready.cells.n_bins)))
        self.least = max(FEWEST_ROWS, len(rows) // SHARE)

    def grow(self) -> Grown:
        """Search the largest nodes together, and grow what remains side by side."""
        ready = self.ready
        totals = (ready.weights, ready.counts)
        root = Stretch(0, len(self.rows), 0, np.uint64(0), *totals)
        # In printing order: nodes that are done, and those whose subtrees are to grow.
        order: list[Grown | Stretch] = []
        links: list[tuple[int, int]] = []
        stack = [(root, -1, 0)]
        while stack:
            node, above, branch = stack.pop()
            result = _Meeting(self, node).split() if self.is_large(node) else None
            order.append(node if result is None else result[0])
            links.append((above, branch))
            if result is not None:
                _, left, right = result
                stack += [(right, len(order) - 1, 1), (left, len(order) - 1, 0)]
        return joined(self.finished(order), links)

    def is_large(self, node: Stretch) -> bool:
        """Return whether a node is worth the meeting of all threads."""
        deep = node.depth < self.ready.rules.max_depth
        return len(self.ranges) > 1 and node.n_rows > self.least and deep

    def finished(self, order: list[Grown | Stretch]) -> list[Grown]:
        """Grow the subtrees of the nodes that wait, the largest first."""
        waiting = [entry for entry in order if isinstance(entry, Stretch)]
        by_size = sorted(waiting, key=lambda node: -node.n_rows)
        grown = run_all(
            [partial(grow_stretch, self.ready, self.rows, node) for node in by_size]
        )
        results = {id(node): tree for node, tree in zip(by_size, grown, strict=True)}
        return [
            results[id(entry)] if isinstance(entry, Stretch) else entry
            for entry in order
        ]


class _Meeting:
    """The search of one large node by all threads."""

    def __init__(self, crowd: _Crowd, node: Stretch) -> None:
        self.crowd, self.ready, self.node = crowd, crowd.ready, node
        p, rules = len(self.ready.cells.n_bins), self.ready.rules
        self.stack = stack_of(self.ready, node, 0, 0)
        sizes = {"n_nodes": 1, "n_lines": rules.listing, "n_lost": p}
        self.search = search_of(self.ready, crowd.rows, self.stack, **sizes)
        more = [workspace_for(node.n_rows, p, rules.width, 0) for _ in crowd.ranges[1:]]
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
        pairs = zip(self.works, self.crowd.ranges, strict=True)
        run_all([partial(self.do, task, work, *part, floor) for work, part in pairs])

    def split(self) -> tuple[Grown, Stretch, Stretch] | None:
        """Split the node; None where it is a leaf, which its subtree will say."""
        node, stack, search = self.node, self.stack, self.search
        if node.lines is None:
            self.together(Task.COUNT)
            node.lines = self.works[0].lines
        chosen = self.best()
        if chosen < 0:
            return None
        middle = self.do(Task.SPLIT, self.works[0], chosen, chosen, 0.0)
        if middle < 0:
            return None
        sides = []
        for side, (begin, end) in enumerate([(node.begin, middle), (middle, node.end)]):
            totals = stack.side_weights[side].copy(), stack.side_counts[side].copy()
            # The key is for draws, and who draws attributes has no meetings.
            sides.append(Stretch(begin, end, node.depth + 1, node.key, *totals))
        if node.n_rows >= self.ready.rules.runners_up:
            n_attributes = len(self.ready.cells.n_bins)
            self.do(Task.RUNNERS_UP, self.works[0], 0, n_attributes, 0.0)
        self.share_counts(*sides)
        lines = cut(search.listed, stack.state[nodes.LISTED])
        runners_up = cut(search.runners_up, stack.state[nodes.RECORDED])
        return Grown(search.shape, lines, runners_up), sides[0], sides[1]

    def best(self) -> int:
        """Return the attribute whose split is best, -1 for none.

        What all threads found is then with the first of them.
        """
        self.together(Task.EDGES)
        pairs = list(zip(self.works, self.crowd.ranges, strict=True))
        scores = [work.cuts[slice(*part), layout.SCORE] for work, part in pairs]
        floor = float(np.concatenate(scores).max())
        self.together(Task.INSIDE, floor)
        all_found = self.works[0]
        for work, part in pairs:
            own = slice(*part)
            all_found.cuts[own], all_found.masks[own] = work.cuts[own], work.masks[own]
        return self.do(Task.CHOOSE, all_found, 0, 0, 0.0)

    def share_counts(self, left: Stretch, right: Stretch) -> None:
        """Count the smaller branch; the larger one has what remains."""
        if self.ready.rules.subtract and self.node.lines is not None:
            smaller, larger = sorted((left, right), key=lambda child: child.n_rows)
            meeting = _Meeting(self.crowd, smaller)
            meeting.together(Task.COUNT)
            smaller.lines = meeting.works[0].lines
            larger.lines = self.node.lines
            larger.lines -= smaller.lines


def typical_values(training: "TrainingSet") -> Floats:
    """Return what a missing value stands for, by attribute; no cell is missing."""
    return np.array(
        [
            typical_value(cells, training.own_weights, attribute.kind)
            for cells, attribute in zip(
                training.columns, training.schema.attributes, strict=True
            )
        ]
    )


def _ranges(cells: Cells, n: int) -> list[tuple[int, int]]:
    """Return ranges of attributes that take as long as each other to count."""
    p = len(cells.n_bins)
    cost = np.where(np.arange(p) < cells.tail, 1.0, 1.0 / IN_TAIL).cumsum()
    ends = np.searchsorted(cost, cost[-1] * np.arange(1, n) / n) + 1
    ends = np.minimum(np.maximum.accumulate(ends), p - n + np.arange(1, n))
    return list(pairwise([0, *map(int, ends), p]))


def joined(parts: list[Grown], links: list[tuple[int, int]]) -> Grown:
    """Put the parts of a tree into one, each below what its link says."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(part.shape.whole) for part in parts)])
    n_lines = np.cumsum([0, *(len(part.lines.codes) for part in parts)])
    shape = _stacked([part.shape for part in parts])
    lost = _stacked([part.rivals for part in parts])
    owners = np.repeat(np.arange(len(parts)), np.diff(starts))
    for column in (nodes.ABOVE, nodes.CHILD, nodes.CHILD + 1):
        own = shape.whole[:, column]
        own += np.where(own >= 0, starts[owners], 0).astype(np.int32)
    shape.whole[:, nodes.LINE] += n_lines[owners]
    n_lost = [len(part.rivals.whole) for part in parts]
    owners = np.repeat(np.arange(len(parts)), n_lost)
    lost.whole[:, nodes.ABOVE] += starts[owners]
    lost.whole[:, nodes.LINE] += n_lines[owners]
    for part, (above, branch) in enumerate(links):
        if above >= 0:
            own = starts[part]
            shape.whole[own, [nodes.ABOVE, nodes.SIDE]] = starts[above], branch
            shape.whole[starts[above], nodes.CHILD + branch] = starts[part]
    return Grown(shape, _stacked([part.lines for part in parts]), lost)


def _stacked(parts: list[Any]) -> Any:
    """Return the arrays of several tuples one after the other."""
    arrays = zip(*parts, strict=True)
    return type(parts[0])(*(np.concatenate(array) for array in arrays))


def grow(
    training: "TrainingSet",
    recipe: Recipe,
    options: Options | None = None,
) -> Tree:
    """Grow the tree that the plain learner would grow.

    Its nodes are made when they are looked at. Under costs it is grown on altered
    weights, and then counted as the rows weigh.
    """
    options = options or Options()
    schema, class_weights = options.priced(training.schema), options.class_weights
    weighed, altered = training.weighed(class_weights), None
    if options.costs is not None:
        altered = altered_priors(weighed.source().root().weights, options.costs)
    ready = prepared(weighed, recipe, altered=altered)
    shape, lines, lost = grow_together(ready)
    if policy_named(recipe.missing).by_root:
        typical = typical_values(training)
        for records in (shape, lost):
            with_typical(records, lines, schema, typical)
    surrogates = None
    if policy_named(recipe.missing).surrogates:
        surrogates = surrogates_of_grown(
            ready, training.weights, shape, lines, recipe.surrogates
        )
    grown = shape, lines, lost, schema, recipe, ready.buckets
    nodes = GrownNodes(*grown, surrogates, class_weights)
    counted = None if altered is None else nodes.recounted(training)
    return Tree(schema, counted or nodes)
