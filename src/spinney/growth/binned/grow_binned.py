"""The growing of one binary tree by several threads.

The largest nodes are searched together, each thread taking some of the attributes. The
subtrees below them are grown in parallel::

          ●            searched together
        ●   ●
      ▲  ▲ ▲  ▲        grown in parallel, then put in printing order

Threads do not change the tree: every attribute of a node is searched, ties go to the
first attribute, and a subtree depends on its own rows only.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.threads import run_all
from spinney.growth.binned.binned_arrays import SurrogateTotals, set_missing_by_typical
from spinney.growth.binned.binned_dataset import BinnedDataset, binned_dataset
from spinney.growth.binned.binned_nodes import BinnedNodes
from spinney.growth.binned.binned_surrogates import (
    DeferredSurrogates,
    GrownSurrogates,
    lazy_surrogates,
)
from spinney.growth.binned.grow_routed import grow_routed
from spinney.growth.binned.kernels import nodes
from spinney.growth.binned.kernels.packed_rows import PackedRows, pack_rows
from spinney.growth.binned.parallel_search import (
    ParallelNodeSearch,
    attribute_ranges,
    min_parallel_rows,
)
from spinney.growth.binned.subtree import (
    Grown,
    RowRange,
    concatenate_subtrees,
    grow_range,
)
from spinney.growth.growth_options import Options
from spinney.recipes import Recipe
from spinney.search import policy_named, typical_value
from spinney.trees import Tree, altered_priors

if TYPE_CHECKING:
    from spinney.sources.rows import TrainingSet


class ParallelGrower:
    """Grower of the subtrees of one tree in several threads."""

    def __init__(self, dataset: BinnedDataset, rows: PackedRows) -> None:
        self.dataset, self.rows = dataset, rows
        self.ranges = attribute_ranges(dataset.cells)
        self.min_rows = min_parallel_rows(len(rows))

    def grow(self) -> Grown:
        """Search the largest nodes together, and grow the rest in parallel."""
        dataset = self.dataset
        totals = (dataset.weights, dataset.counts)
        root = RowRange(0, len(self.rows), 0, np.uint64(0), *totals)
        # In printing order: nodes that are done, and those whose subtrees are to grow.
        order: list[Grown | RowRange] = []
        links: list[tuple[int, int]] = []
        stack = [(root, -1, 0)]
        while stack:
            node, above, branch = stack.pop()
            result = None
            if self.is_large(node):
                search = ParallelNodeSearch(self.dataset, self.rows, self.ranges, node)
                result = search.split()
            order.append(node if result is None else result)
            links.append((above, branch))
            if result is not None:
                left, right = search.children()
                stack += [(right, len(order) - 1, 1), (left, len(order) - 1, 0)]
        return join_subtrees(self.grow_remaining(order), links)

    def is_large(self, node: RowRange) -> bool:
        """Return whether all threads search a node together."""
        deep = node.depth < self.dataset.rules.max_depth
        return len(self.ranges) > 1 and node.n_rows > self.min_rows and deep

    def grow_remaining(self, order: list[Grown | RowRange]) -> list[Grown]:
        """Grow the subtrees of the remaining nodes, the largest first."""
        waiting = [entry for entry in order if isinstance(entry, RowRange)]
        by_size = sorted(waiting, key=lambda node: -node.n_rows)
        grown = run_all(
            [partial(grow_range, self.dataset, self.rows, node) for node in by_size]
        )
        results = {id(node): tree for node, tree in zip(by_size, grown, strict=True)}
        return [
            results[id(entry)] if isinstance(entry, RowRange) else entry
            for entry in order
        ]


def typical_values(training: "TrainingSet") -> Floats:
    """Return the typical value of each attribute, if no cell is missing."""
    return np.array(
        [
            typical_value(cells, training.sample_weights, attribute.kind)
            for cells, attribute in zip(
                training.columns, training.schema.attributes, strict=True
            )
        ]
    )


def join_subtrees(parts: list[Grown], links: list[tuple[int, int]]) -> Grown:
    """Return one tree of subtrees, each below the node and branch of its link."""
    if len(parts) == 1:
        return parts[0]
    joined, starts = concatenate_subtrees(parts)
    ints = joined.records.ints
    first = np.repeat(starts[:-1], np.diff(starts))
    for column in (nodes.PARENT_NODE, nodes.LEFT_CHILD, nodes.LEFT_CHILD + 1):
        links_in_column = ints[:, column]
        links_in_column += np.where(links_in_column >= 0, first, 0).astype(np.int32)
    for part, (above, branch) in enumerate(links):
        if above >= 0:
            ints[starts[part], [nodes.PARENT_NODE, nodes.PARENT_BRANCH]] = (
                starts[above],
                branch,
            )
            ints[starts[above], nodes.LEFT_CHILD + branch] = starts[part]
    return joined


def grow_binned_tree(
    training: "TrainingSet",
    recipe: Recipe,
    options: Options | None = None,
) -> Tree:
    """Return the tree that the plain learner would grow.

    Its nodes are made on demand. Under costs the tree is grown on altered weights, and
    its counts then become the weights of the rows.
    """
    options = options or Options()
    schema, class_weights = options.with_costs(training.schema), options.class_weights
    weighed, altered = training.weighed(class_weights), None
    if options.costs is not None:
        altered = altered_priors(weighed.source().root().weights, options.costs)
    dataset = binned_dataset(weighed, recipe, altered=altered)
    policy, row_weights = policy_named(recipe.missing_policy), training.weights
    max_surrogates = recipe.surrogates
    surrogates: GrownSurrogates | DeferredSurrogates | None = None
    surrogate_totals: SurrogateTotals | None = None
    if dataset.rules.missing_separate:
        grown, surrogates, surrogate_totals = grow_routed(
            dataset, row_weights, max_surrogates
        )
    else:
        grown = ParallelGrower(dataset, pack_rows(dataset.labels)).grow()
        if policy.surrogates:
            surrogates = lazy_surrogates(
                dataset, row_weights, *grown[:2], max_surrogates
            )
    if policy.imputes_typical:
        typical = typical_values(training)
        for records in (grown.records, grown.competitors):
            set_missing_by_typical(records, grown.code_counts, schema, typical)
    if altered is not None:
        by_class = np.ones(len(altered)) if class_weights is None else class_weights
        by_count = by_class if training.weights is None else None
        weigh = partial(_unaltered, altered=altered, by_count=by_count)
        grown = Grown(*(_weighed(part, weigh) for part in grown))
        surrogate_totals = (
            None if surrogate_totals is None else _weighed(surrogate_totals, weigh)
        )
    context = schema, recipe, dataset.buckets
    return Tree(
        schema,
        BinnedNodes(*grown, *context, surrogates, surrogate_totals, class_weights),
    )


def _weighed(records: Any, weigh: Callable[[Floats, Integers], Floats]) -> Any:
    """Return records, code counts or totals with other weights."""
    return records._replace(weights=weigh(records.weights, records.counts))


def _unaltered(
    weights: Floats, counts: Integers, *, altered: Floats, by_count: Floats | None
) -> Floats:
    """Return sums of altered weights as sums of the rows' weights.

    Costs alter all rows of a class alike. If a row's weight depends on its class only
    (``by_count``), sums are products, and exact.
    """
    n_times = weights.shape[-1] // len(altered)  # weights, and those of missing rows
    if by_count is not None:
        return np.asarray(counts * np.tile(by_count, n_times))
    return np.asarray(weights / np.tile(altered, n_times))
