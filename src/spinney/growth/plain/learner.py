"""The plain learner: greedy, top-down growing from count tables, level by level.

Words
-----
growing node
    a node that may still be split; finished nodes are another type.
front
    the growing nodes to search next.
open nodes
    nodes whose best split is known and not yet made.

The algorithm::

    front ← the root
    while there is a front, or an open node:
        request the tables of the front: one batch of all nodes × attributes
        find the best candidate split of every table, then of every node;
            a node without one becomes a leaf, with the reason
        choose the nodes to split: all open nodes, or the best one if leaves are limited
        find their surrogates, if the recipe has any, and the default branch
        split them; the children that may be split are the next front, or several

With pre-pruning, validation rows go down the tree as it grows. Below a split that does
not help them nothing grows; ``pre_pruning`` cuts these children off the finished tree,
and records the cut. A node's split depends on its own rows alone, so this is the tree
that pruning the whole one gives. Two settings make splits depend on other nodes: a
limit on leaves, and attributes constructed from a whole tree. These trees are pruned
after growing.

The learner sees no training row, and does not recurse. If the source has a
``NodeCache`` of an earlier tree, nodes with a cached outcome are not searched again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from heapq import heappush

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.keyed_random import branch_key, root_key
from spinney._support.threads import run_streamed
from spinney._support.ties import TOLERANCE, pop_oldest_of_best
from spinney.data import Schema
from spinney.errors import ParameterError, Setting, warn
from spinney.growth.growth_options import Options
from spinney.growth.plain.growing_nodes import (
    GrowingNode,
    NodeCache,
    NodeOutcome,
    as_tree,
    finished_tree,
    is_multiway,
    paid_above,
    splits_above,
)
from spinney.growth.prune.by_validation import ValidationDescent
from spinney.recipes import Recipe
from spinney.search import (
    LevelSplits,
    NodeToRoute,
    Search,
    best_splits,
    bins_to_open,
    can_bound,
    decide_level,
    find_routes,
    n_distinct_values,
    random_cut_splits,
    sampled_tables,
    split_by_condition,
)
from spinney.search.oblique import decide_with_combinations
from spinney.sources import (
    Bins,
    BucketCounts,
    Counts,
    NodeBatches,
    TableRequest,
    Totals,
    are_pure,
    register_formulas,
    tables_of,
)
from spinney.trees import (
    CountTable,
    Reason,
    Route,
    SplitCondition,
    TableBatch,
    Tree,
    altered_priors,
    child_counts,
    describe,
    joined_batches,
    possible_codes,
    sizes,
)
from spinney.trees.criteria import deviation


def grow_tree(source: Counts, recipe: Recipe, options: Options | None = None) -> Tree:
    """Grow a tree over the rows of a source."""
    return _Learner(source, recipe, options or Options()).grow()


class _Learner:
    """The state of growing: the source, the constant settings, and the nodes so far."""

    def __init__(self, source: Counts, recipe: Recipe, options: Options) -> None:
        self.source, self.options = source, options
        # Looked up once: an isinstance check of a protocol takes longer than a call.
        self.cache = source if isinstance(source, NodeCache) else None
        self.node_batches = source if isinstance(source, NodeBatches) else None
        self.schema = options.with_costs(source.schema).extended(options.constructed)
        register_formulas(source, self.schema)
        totals = source.root()
        if options.class_weights is not None:
            totals = Totals(totals.weights * options.class_weights, totals.rows)
        self.root = GrowingNode(
            0,
            totals,
            tuple(range(len(self.schema.attributes))),
            key=0 if options.sampling is None else root_key(options.sampling.seed),
            plan=options.plan,
        )
        self.gain_unit, self.min_deviation = 1.0, 0.0
        if self.schema.target.is_numeric:
            self.gain_unit = recipe.measure(numeric=True).gain_unit(totals.weights)
            recipe = recipe.in_unit(self.gain_unit)
            spread = float(deviation(totals.weights))
            self.min_deviation = recipe.min_deviation * spread
        self.recipe = recipe
        self.search = search_over(totals.weights, self.schema, recipe, options)
        self.n_nodes, self.n_leaves = 0, 1
        self.open_nodes: list[tuple[float, int, GrowingNode]] = []
        self.reached_paths: set[tuple[str, ...]] = set()
        self.validation: ValidationDescent | None = None
        grows_whole = recipe.max_leaves is not None or recipe.construct > 0
        if options.validation and recipe.pruning == "pre-pruning" and not grows_whole:
            self.validation = ValidationDescent(options.validation)
        self.unhelpful_nodes: list[GrowingNode] = []

    def grow(self) -> Tree:
        """Grow the tree by the algorithm in the module's docstring."""
        fronts = [self.splittable([self.root])]
        while any(fronts) or self.open_nodes:
            front = fronts.pop() if fronts else []
            self.find_best_splits(front)
            if front and self.options.on_level is not None:
                self.options.on_level(front[0].depth)
            self.source.release(n.number for n in front if n.parent and not n.is_open)
            chosen = self.choose_nodes_to_split(front)
            self.find_routes(chosen)
            children = self.split(chosen)
            fronts += self.divide_front(children)
        self.warn_of_unreached_paths()
        return finished_tree(self.root, self.schema, self.recipe)

    def divide_front(self, front: Sequence[GrowingNode]) -> list[list[GrowingNode]]:
        """Return the front in parts, if the source wants parts and node order is free.

        The order is not free if nodes compete for leaves, or number their combinations.
        """
        ordered = self.recipe.max_leaves is not None or self.recipe.linear_terms > 1
        if ordered or self.node_batches is None:
            return [list(front)]
        nodes = {node.number: node for node in front}
        n_rows = {node.number: node.totals.n_rows for node in front}
        batches = self.node_batches.batches(n_rows)
        return [[nodes[number] for number in batch] for batch in batches]

    def splittable(self, nodes: Sequence[GrowingNode]) -> list[GrowingNode]:
        """Return the nodes that may be split; the others get their reasons."""
        if not nodes:
            return []
        weights = np.array([node.totals.weights for node in nodes])
        rows = np.array([node.totals.rows for node in nodes])
        n_rows, pure = rows.sum(axis=1), are_pure(weights, rows)
        min_weight = self.recipe.min_node_weight(self.search.total) * (1 - TOLERANCE)
        weight = sizes(weights, rows)
        alike = np.zeros(len(nodes), dtype=bool)
        if self.min_deviation:
            alike |= deviation(weights) < self.min_deviation * (1 - TOLERANCE)
        max_depth = self.recipe.max_depth
        for index, node in enumerate(nodes):
            if not n_rows[index]:
                node.reason = Reason.EMPTY
            elif pure[index]:
                node.reason = Reason.PURE
            elif not node.attributes:
                node.reason = Reason.EXHAUSTED
            elif max_depth is not None and node.depth >= max_depth:
                node.reason = Reason.DEPTH
            elif weight[index] < min_weight:
                node.reason = Reason.ROWS_TO_SPLIT
            elif alike[index]:
                node.reason = Reason.DEVIATION
            elif self.options.plan is not None and node.plan is None:
                node.reason = Reason.BEST
        return [node for node in nodes if node.reason is None]

    def find_best_splits(self, front: Sequence[GrowingNode]) -> None:
        """Find the best split of each node, or the reason why there is none."""
        if self.cache is not None:
            front = self.take_cached_outcomes(front, self.cache)
        if not front:
            return
        forced, conditions = self.forced_splits(front)
        search = partial(self.search_tables, front)
        batches = self.tables_to_search(front)
        if self.is_remote(front):  # its batches are as large as memory may hold
            searched = list(map(search, batches))
        else:
            searched = run_streamed(search, batches)
        level_splits, n_distinct = [], np.full(len(front), -1)
        for splits, nodes, counts in searched:
            level_splits.append(splits)
            np.maximum.at(n_distinct, nodes, counts)
        decisions = decide_level(
            self.search,
            level_splits,
            self.schema,
            totals=np.array([node.totals.weights for node in front]),
            max_distinct=n_distinct,
            forced=forced,
            paid=lambda index: paid_above(front[index]),
        )
        by_condition = {}
        for index, condition in conditions.items():
            (table,) = self.node_tables(front[index], (condition.attribute,)).values()
            by_condition[index] = split_by_condition(
                self.search, table, self.schema, condition
            )
        for node, decision in zip(front, decisions.of_nodes(by_condition), strict=True):
            node.set_decision(decision)
        if self.recipe.linear_terms > 1:
            for node in front:
                self.try_combination(node)
        self.cache_outcomes(front)

    def forced_splits(
        self, front: Sequence[GrowingNode]
    ) -> tuple[dict[int, int], dict[int, SplitCondition]]:
        """Return the forced attributes and the forced conditions, by node."""
        attributes, conditions = dict[int, int](), dict[int, SplitCondition]()
        for index, node in enumerate(front):
            if node.plan is not None:
                conditions[index] = node.plan.condition
            if not self.options.forced:
                continue
            self.reached_paths.add(node.path)
            forced = self.options.forced.get(node.path)
            node.forced = forced is not None
            if isinstance(forced, SplitCondition):
                conditions.setdefault(index, forced)
            elif forced is not None:
                attributes[index] = forced
        return attributes, conditions

    def take_cached_outcomes(
        self, front: Sequence[GrowingNode], cache: NodeCache
    ) -> Sequence[GrowingNode]:
        """Give nodes their cached outcomes; return the nodes without one."""
        uncached = []
        for node in front:
            outcome = None
            if node is not self.root:  # statistics of all rows are known after the root
                outcome = cache.cached_outcome(
                    node.number, node.attributes, self.search
                )
            if outcome is None:
                uncached.append(node)
                continue
            node.set_decision(outcome.decision)
            node.route, node.routed = outcome.route, outcome.routed
        return uncached

    def cache_outcomes(self, nodes: Sequence[GrowingNode]) -> None:
        """Store the outcomes of nodes, if the source has a ``NodeCache``."""
        if self.cache is None:
            return
        for node in nodes:
            outcome = NodeOutcome(node.decision, node.route, node.routed)
            self.cache.cache_outcome(node.number, node.attributes, outcome, self.search)

    def tables_to_search(
        self, front: Sequence[GrowingNode]
    ) -> Iterator[tuple[Search, TableBatch]]:
        """Yield the tables of all attributes, or of those that each node draws.

        Each batch comes with its search. The root's tables add statistics of all rows
        to the search, which is the tree's search from then on.
        """
        requests = [TableRequest(node.number, node.attributes) for node in front]
        sampling, sampled = self.options.sampling, None
        cuts = sampling is not None and sampling.random_cuts
        bounded = not cuts and can_bound(self.search, self.schema)
        if bounded and self.is_remote(front) and isinstance(self.source, Bins):
            batch, sampled = self.tables_by_bins(self.source, front, requests)
            batches = iter([batch])
        elif isinstance(self.source, BucketCounts) and self.buckets_suffice(front):
            bucket_cuts = self.search.root_summary.cuts
            batches = self.source.tables_in_buckets(requests, bucket_cuts)
        else:
            batches = self.source.tables(requests)
        if sampling is not None:
            batches = iter([joined_batches(batches)])  # a node draws among all of them
        for batch in batches:
            if front[0] is self.root:
                self.search = self.search.with_root_tables(batch, self.schema)
            if sampling is not None:
                batch = batch.take(
                    self.sampled_indices(front, batch) if sampled is None else sampled
                )
            yield self.search, batch.scaled(self.options.class_weights)

    def is_remote(self, front: Sequence[GrowingNode]) -> bool:
        """Return whether an engine, or workers, count the rows of some nodes."""
        source = self.source
        return isinstance(source, Bins) and source.is_remote(n.number for n in front)

    def buckets_suffice(self, front: Sequence[GrowingNode]) -> bool:
        """Return whether thresholds need only the counts of buckets.

        This holds below the root if the recipe merges buckets and every row weighs 1.
        The root computes the buckets. With weights of 1, counts do not depend on row
        order.
        """
        if self.recipe.grouping != "merge" or not self.search.root_summary.cuts:
            return False
        if front[0] is self.root or self.options.sampling is not None:
            return False
        totals = [node.totals for node in front]
        return not self.schema.target.is_numeric and all(
            np.array_equal(node_totals.weights, node_totals.rows)
            for node_totals in totals
        )

    def sampled_indices(
        self, front: Sequence[GrowingNode], batch: TableBatch
    ) -> Integers:
        """Return the tables of a batch that the nodes draw; all without sampling."""
        if self.options.sampling is None:
            return np.arange(len(batch))
        keys = [node.key for node in front]
        n_attributes = len(self.schema.attributes)
        return sampled_tables(
            batch, self.search, self.options.sampling, keys, n_attributes
        )

    def tables_by_bins(
        self,
        source: Bins,
        front: Sequence[GrowingNode],
        requests: Sequence[TableRequest],
    ) -> tuple[TableBatch, Integers]:
        """Return tables by bins, opened near the best split, and the tables to search.

        All tables are searched, or those that the nodes draw.
        """
        binned = source.binned(requests, [node.totals.n_rows for node in front])
        batch, search = binned.batch, self.search
        if front[0] is self.root:
            search = search.with_root_tables(batch, self.schema)
        sampled, closed = self.sampled_indices(front, batch), None
        while binned.open_bins is not None:
            batch = binned.batch
            searched = batch.take(sampled).scaled(self.options.class_weights)
            to_open = np.zeros(len(batch.values), dtype=bool)
            closed = np.full(len(batch), -np.inf)
            opened, closed[sampled] = bins_to_open(search, searched, self.schema)
            if not opened.any():
                break
            to_open[batch.lines_of(sampled)] = opened
            binned = binned.open_bins(to_open)
        return replace(binned.batch, closed_bound=closed), sampled

    def search_tables(
        self, front: Sequence[GrowingNode], tables: tuple[Search, TableBatch]
    ) -> tuple[LevelSplits, Integers, Integers]:
        """Return the best split of each table, or its split at a random cut.

        Return also the node of each table, and the number of its distinct values.
        """
        search, batch = tables
        n_distinct = n_distinct_values(batch, search)
        if search.root_summary.cuts and batch.low is not None:
            # One bucket may hold several values; it is not opened.
            n_distinct[batch.owner[batch.low < batch.values]] += 1
            batch = replace(batch, low=None)
        if self.options.sampling is None or not self.options.sampling.random_cuts:
            return best_splits(search, batch, self.schema), batch.node, n_distinct
        keys = [node.key for node in front]
        splits = random_cut_splits(search, batch, self.schema, keys)
        return splits, batch.node, n_distinct

    def node_tables(
        self, node: GrowingNode, attributes: tuple[int, ...]
    ) -> dict[int, CountTable]:
        """Return the tables of some attributes at a node, class weights included."""
        request = TableRequest(node.number, attributes)
        (tables,) = tables_of(self.source, [request], self.schema)
        scale = self.options.class_weights
        return {index: table.scaled(scale) for index, table in tables.items()}

    def try_combination(self, node: GrowingNode) -> None:
        """Let a linear combination compete with the best split of a node."""
        if node.forced:
            return
        decision, made = decide_with_combinations(
            self.search,
            self.source,
            node.number,
            tables=self.node_tables(node, node.attributes),
            decision=replace(node.decision, candidates=tuple(node.candidates)),
            schema=self.schema,
            paid=paid_above(node),
        )
        node.set_decision(decision)
        self.schema = self.schema.extended([] if made is None else [made])

    def choose_nodes_to_split(self, front: Sequence[GrowingNode]) -> list[GrowingNode]:
        """Return the nodes to split next: all, or the best one if leaves are limited.

        Best-first, forced splits come first, then those of the greatest impurity
        decrease over all rows.
        """
        decided = [node for node in front if node.is_open]
        max_leaves = self.recipe.max_leaves
        if max_leaves is None:
            return decided
        open_nodes = self.open_nodes
        for node in decided:
            decrease = float(node.totals.weight * node.winner.gain)
            urgency = -np.inf if node.forced else -decrease
            heappush(open_nodes, (urgency, node.number, node))
        margin = TOLERANCE * self.search.total * self.gain_unit
        while open_nodes:
            node = pop_oldest_of_best(open_nodes, margin)
            n_more = node.winner.split.n_branches - 1
            if self.n_leaves + n_more <= max_leaves:
                self.n_leaves += n_more
                return [node]
            if node.forced:
                raise ParameterError(
                    Setting("forced_splits"),
                    f": the split at the path {node.path!r} does not fit into ",
                    Setting("max_leaves", int(max_leaves)),
                    ": raise the limit",
                )
            node.chosen, node.reason = None, Reason.LEAVES
            node.route = node.routed = None
        return []

    def find_routes(self, nodes: Sequence[GrowingNode]) -> None:
        """Find the routes of rows: by split, surrogates, then default branch."""
        nodes = [node for node in nodes if node.route is None]
        if self.search.policy.surrogates:
            self.find_surrogates(nodes)
        else:
            for node in nodes:
                node.route = Route(node.winner.split)
        self.cache_outcomes(nodes)

    def find_surrogates(self, nodes: Sequence[GrowingNode]) -> None:
        """Find the surrogates of nodes, and the counts of branches with surrogates."""
        scale = self.options.class_weights
        to_route = [
            NodeToRoute(
                node.number,
                node.winner.split,
                node.winner.table.scaled(None if scale is None else 1 / scale),
                node.attributes,
            )
            for node in nodes
        ]
        routes = find_routes(self.search, self.source, to_route, self.schema)
        for node, (route, routed) in zip(nodes, routes, strict=True):
            node.route = route
            node.routed = routed and routed.scaled(scale)

    def split(self, nodes: Sequence[GrowingNode]) -> list[GrowingNode]:
        """Make the children of nodes; send rows to those that may be split."""
        if not nodes:
            return []
        weights, rows, first = child_counts([node.winner for node in nodes])
        for index, node in enumerate(nodes):
            branches = slice(first[index], first[index + 1])
            if node.routed is not None:
                weights[branches] = node.routed.weights
                rows[branches] = node.routed.rows
            node.children = self.make_children(node, weights[branches], rows[branches])
        helpful = self.nodes_that_help_validation(nodes)
        front = self.splittable([child for node in helpful for child in node.children])
        needing_rows, finished = {child.number for child in front}, list[int]()
        for node in nodes:
            branch_to_child = {
                child.branch: child.number
                for child in node.children
                if child.number in needing_rows
            }
            if branch_to_child:
                # Surrogates are for rows that lack a value.
                assert node.route is not None
                has_missing = node.winner.table.missing_rows.any()
                route = node.route if has_missing else Route(node.route.split)
                self.source.partition(node.number, route, branch_to_child)
            elif node.parent:  # all its children are leaves
                finished.append(node.number)
        self.source.release(finished)
        return front

    def nodes_that_help_validation(
        self, nodes: Sequence[GrowingNode]
    ) -> Sequence[GrowingNode]:
        """Return the nodes whose split helps validation rows; all without any."""
        if self.validation is None:
            return nodes
        order = [member for node in nodes for member in (node, *node.children)]
        root_weights = self.root.totals.weights
        stumps = as_tree(order, self.schema, self.recipe, root_weights)
        numbers = np.array([node.number for node in order])
        helpful = []
        helps = self.validation.helpful_splits(stumps, numbers)
        for node, split_helps in zip(nodes, helps, strict=True):
            if split_helps:
                helpful.append(node)
                continue
            self.unhelpful_nodes.append(node)
            for child in node.children:
                child.reason = Reason.PRUNED
        return helpful

    def make_children(
        self, node: GrowingNode, weights: Floats, rows: Integers
    ) -> list[GrowingNode]:
        """Return the children of a node, which have these weights and rows."""
        split = node.winner.split
        attributes = node.attributes
        if not self.recipe.reuse_attributes:
            behind = self.schema.input_columns
            columns = set(behind([split.attribute]))
            attributes = tuple(i for i in attributes if columns.isdisjoint(behind([i])))
        elif self.recipe.grouping == "multiway" and is_multiway(split):
            attributes = tuple(i for i in attributes if i != split.attribute)
        children = [
            GrowingNode(
                self.n_nodes + branch + 1,
                Totals(weights[branch], rows[branch]),
                attributes,
                depth=node.depth + 1,
                branch=branch,
                parent=node,
                path=self.child_path(node, branch) if self.options.forced else (),
                key=branch_key(node.key, branch) if self.options.sampling else 0,
                plan=None if node.plan is None else node.plan.branches[branch],
            )
            for branch in range(split.n_branches)
        ]
        self.n_nodes += len(children)
        return children

    def child_path(self, node: GrowingNode, branch: int) -> tuple[str, ...]:
        """Return the path of a child, as branches are printed."""
        assert node.route is not None
        split = node.route.described
        attribute = self.schema.attributes[split.attribute]
        n_codes = len(attribute.values)
        codes = possible_codes(splits_above(node), split.attribute, n_codes)
        return (*node.path, describe(split, attribute, branch, codes=codes))

    def warn_of_unreached_paths(self) -> None:
        """Warn of forced paths that lead to no node that could be split."""
        ends = [node.path for node in self.unhelpful_nodes]
        for path in self.options.forced:
            if path in self.reached_paths:
                continue
            if not any(path[: len(end)] == end for end in ends):
                warn(
                    Setting("forced_splits"),
                    f": no node to split is reached by the path {path!r}; write its "
                    "branches as they are printed, from the root on",
                )


def search_over(
    totals: Floats, schema: Schema, recipe: Recipe, options: Options
) -> Search:
    """Return the search over rows of these totals, class weights included."""
    numeric, costs = schema.target.is_numeric, options.costs
    return Search.of(
        recipe,
        numeric=numeric,
        total=float(totals[0] if numeric else totals.sum()),
        class_weights=options.class_weights,
        altered=None if costs is None else altered_priors(totals, costs),
        preference=options.preference,
    )
