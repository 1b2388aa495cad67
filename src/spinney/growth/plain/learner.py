"""The learner: ask, search, partition, repeat.

Words
-----
growing node
    a node that may still be split; finished nodes are another type.
front
    the growing nodes whose tables are wanted next.
open nodes
    those whose best split is known and not yet made.

The algorithm, a level at a time::

    front ← the root
    while there is a front, or an open node:
        ask the source for the tables of the front: one stack of all nodes × attributes
        find the best split of every table, and of every node, or the reason to stop
        take open nodes: all of them, or the best one if leaves are limited
        ask the source for their surrogates, if the recipe has any
        make their children; those that may be split are the next front, or several

Where the recipe is pre-pruned, children of a split that does not help validation rows
are asked about no more; ``pre_pruning`` cuts them off when the tree is finished, and
records it. What a node asks depends on its rows alone, so this is the tree that comes
of pruning the whole one. Not so where leaves are limited, for splits compete for them,
and where attributes are constructed by what a whole tree asks: these are grown whole.

No training row is ever seen here, and nothing recurs; validation rows are sent down
by ``Descent``, of pre-pruned recipes alone. A source with a ``Memory`` of an earlier
tree is asked first what was found at a node: it is not sought again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from heapq import heappush

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.keyed_random import branch_key, root_key
from spinney._support.threads import run_as_they_come
from spinney._support.ties import TOLERANCE, pop_oldest_of_best
from spinney.data import Schema
from spinney.errors import ParameterError, Setting, warn
from spinney.growth.growth_options import Options
from spinney.growth.plain.growing_nodes import (
    Growing,
    Memory,
    NodeOutcome,
    as_tree,
    finish,
    steps_to,
)
from spinney.growth.prune.while_growing import Descent
from spinney.recipes import Recipe
from spinney.search import (
    Decision,
    LevelSplits,
    NodeSampling,
    NodeToRoute,
    Search,
    best_splits,
    bins_to_open,
    can_bound,
    decide_level,
    n_different,
    random_cut_splits,
    routes_of,
    sampled_tables,
    split_by_condition,
)
from spinney.search.oblique import combined
from spinney.sources import (
    Bins,
    BucketCounts,
    Counts,
    NodeBatches,
    TableRequest,
    Totals,
    are_pure,
    tables_of,
    take_formulas,
)
from spinney.trees import (
    Candidate,
    CountTable,
    Groups,
    Reason,
    Route,
    Split,
    SplitCondition,
    TableBatch,
    Threshold,
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
    learner = _Learner(source, recipe, options or Options())
    return learner.grow()


class _Learner:
    """A tree that grows: its source, what is constant, and the nodes so far."""

    def __init__(self, source: Counts, recipe: Recipe, options: Options) -> None:
        self.source, self.options = source, options
        # Looked up once: what a protocol asks for takes longer to find than to use.
        self.memory = source if isinstance(source, Memory) else None
        self.turns = source if isinstance(source, NodeBatches) else None
        self.schema = options.priced(source.schema).extended(options.constructed)
        take_formulas(source, self.schema)
        totals = source.root()
        if options.class_weights is not None:
            totals = Totals(totals.weights * options.class_weights, totals.rows)
        self.root = Growing(
            0,
            totals,
            tuple(range(len(self.schema.attributes))),
            key=0 if options.draws is None else root_key(options.draws.seed),
            plan=options.plan,
        )
        self.unit, self.least_deviation = 1.0, 0.0
        if self.schema.target.is_numeric:
            self.unit = recipe.measure(numeric=True).gain_unit(totals.weights)
            recipe = recipe.in_unit(self.unit)
            spread = float(deviation(totals.weights))
            self.least_deviation = recipe.min_deviation * spread
        self.recipe = recipe
        self.search = search_over(totals.weights, self.schema, recipe, options)
        self.n_nodes, self.n_leaves = 0, 1
        self.open_nodes: list[tuple[float, int, Growing]] = []
        self.reached: set[tuple[str, ...]] = set()
        self.descent = descent_of(recipe, options)
        self.stopped: list[Growing] = []

    def grow(self) -> Tree:
        """Grow as the module's text says."""
        waiting = [self.worth_asking([self.root])]
        while any(waiting) or self.open_nodes:
            front = waiting.pop() if waiting else []
            self.decide(front)
            if front and self.options.heard is not None:
                self.options.heard(front[0].depth)
            self.source.release(n.number for n in front if n.parent and not n.is_open)
            taken = self.take(front)
            self.find_routes(taken)
            waiting += self.batches(self.split(taken))
        self.warn_unreached()
        return finish(self.root, self.schema, self.recipe)

    def batches(self, front: Sequence[Growing]) -> list[list[Growing]]:
        """Divide a front if the source wants that, and the order of nodes is free.

        It is not where they compete for leaves, or number the combinations they make.
        """
        ordered = self.recipe.max_leaves is not None or self.recipe.linear_terms > 1
        if ordered or self.turns is None:
            return [list(front)]
        nodes = {node.number: node for node in front}
        n_rows = {node.number: node.totals.n_rows for node in front}
        groups = self.turns.batches(n_rows)
        return [[nodes[number] for number in group] for group in groups]

    def worth_asking(self, nodes: Sequence[Growing]) -> list[Growing]:
        """Return the nodes that may be split; note the reasons of the others."""
        if not nodes:
            return []
        weights = np.array([node.totals.weights for node in nodes])
        rows = np.array([node.totals.rows for node in nodes])
        n_rows, pure = rows.sum(axis=1), are_pure(weights, rows)
        least = self.recipe.least_node(self.search.total) * (1 - TOLERANCE)
        weight = sizes(weights, rows)
        alike = np.zeros(len(nodes), dtype=bool)
        if self.least_deviation:
            alike |= deviation(weights) < self.least_deviation * (1 - TOLERANCE)
        most_depth = self.recipe.max_depth
        for at, node in enumerate(nodes):
            if not n_rows[at]:
                node.reason = Reason.EMPTY
            elif pure[at]:
                node.reason = Reason.PURE
            elif not node.attributes:
                node.reason = Reason.EXHAUSTED
            elif most_depth is not None and node.depth >= most_depth:
                node.reason = Reason.DEPTH
            elif weight[at] < least:
                node.reason = Reason.ROWS_TO_SPLIT
            elif alike[at]:
                node.reason = Reason.DEVIATION
            elif self.options.plan is not None and node.plan is None:
                node.reason = Reason.BEST
        return [node for node in nodes if node.reason is None]

    def decide(self, front: Sequence[Growing]) -> None:
        """Find the best split of each node, or the reason why there is none."""
        if self.memory is not None:
            front = self.recalled(front, self.memory)
        if not front:
            return
        forced, asked = dict[int, int](), dict[int, SplitCondition]()
        for at, node in enumerate(front if self.options.forced else ()):
            self.reached.add(node.path)
            node.forced = node.path in self.options.forced
            wanted = self.options.forced.get(node.path)
            if isinstance(wanted, SplitCondition):
                asked[at] = wanted
            elif wanted is not None:
                forced[at] = wanted
        for at, node in enumerate(front):
            if node.plan is not None:
                asked[at] = node.plan.question
        search = partial(self.searched, front)
        looked_at = self.looked_at(front)
        if self.is_remote(front):  # its stacks are as large as memory may hold
            searched = list(map(search, looked_at))
        else:
            searched = run_as_they_come(search, looked_at)
        parts, different = [], np.full(len(front), -1)
        for splits, nodes, numbers in searched:
            parts.append(splits)
            np.maximum.at(different, nodes, numbers)
        decisions = decide_level(
            self.search,
            parts,
            self.schema,
            totals=np.array([node.totals.weights for node in front]),
            different=different,
            forced=forced,
            paid=lambda at: paid_above(front[at]),
        )
        given = {at: self.asked(front[at], each) for at, each in asked.items()}
        for node, decision in zip(front, decisions.of_nodes(given), strict=True):
            node.decide(decision)
        if self.recipe.linear_terms > 1:
            for node in front:
                self.combine(node)
        self.remember(front)

    def recalled(self, front: Sequence[Growing], memory: Memory) -> Sequence[Growing]:
        """Let nodes be as they were found before, if they would be; return others."""
        others = []
        for node in front:
            found = None
            if node is not self.root:  # what all rows say is known after the root
                found = memory.recall(node.number, node.attributes, self.search)
            if found is None:
                others.append(node)
                continue
            node.decide(found.decision)
            node.route, node.routed = found.route, found.routed
        return others

    def remember(self, nodes: Sequence[Growing]) -> None:
        """Let a source that remembers take note of what was found at nodes."""
        if self.memory is None:
            return
        for node in nodes:
            decision = Decision(node.candidates, node.chosen, node.reason)
            found = NodeOutcome(decision, node.route, node.routed)
            self.memory.remember(node.number, node.attributes, found, self.search)

    def looked_at(
        self, front: Sequence[Growing]
    ) -> Iterator[tuple[Search, TableBatch]]:
        """Give the tables of all attributes, or of those that each node draws.

        With each comes the search that knows them: at the root it learns what all rows
        say of the attributes, and so it is the tree's search from then on.
        """
        requests = [TableRequest(node.number, node.attributes) for node in front]
        draws, places = self.options.draws, None
        cuts = draws is not None and draws.cuts
        bounded = not cuts and can_bound(self.search, self.schema)
        if bounded and self.is_remote(front) and isinstance(self.source, Bins):
            stack, places = self.by_bins(self.source, front, requests)
            stacks = iter([stack])
        elif isinstance(self.source, BucketCounts) and self.are_by_buckets(front):
            stacks = self.source.tables_in_buckets(
                requests, self.search.root_summary.cuts
            )
        else:
            stacks = self.source.tables(requests)
        if draws is not None:
            stacks = iter([joined_batches(stacks)])  # a node draws among all of them
        for stack in stacks:
            if front[0] is self.root:
                self.search = self.search.with_root_tables(stack, self.schema)
            if draws is not None:
                if places is None:
                    places = self.drawn(draws, front, stack)
                stack = stack.take(places)
            yield self.search, stack.scaled(self.options.class_weights)

    def is_remote(self, front: Sequence[Growing]) -> bool:
        """Return whether an engine, or workers, count the rows of some nodes."""
        source = self.source
        return isinstance(source, Bins) and source.is_remote(n.number for n in front)

    def are_by_buckets(self, front: Sequence[Growing]) -> bool:
        """Return whether no more of numbers is asked at nodes than how buckets count.

        So it is where buckets are merged, after the root, which makes them; and where
        each row counts 1, so that counts are the same in whatever order.
        """
        if self.recipe.grouping != "merge" or not self.search.root_summary.cuts:
            return False
        if front[0] is self.root or self.options.draws is not None:
            return False
        totals = [node.totals for node in front]
        return not self.schema.target.is_numeric and all(
            np.array_equal(own.weights, own.rows) for own in totals
        )

    def drawn(
        self, draws: NodeSampling, front: Sequence[Growing], stack: TableBatch
    ) -> Integers:
        """Return which tables the nodes draw."""
        keys = [node.key for node in front]
        n_attributes = len(self.schema.attributes)
        return sampled_tables(stack, self.search, draws, keys, n_attributes)

    def by_bins(
        self, source: Bins, front: Sequence[Growing], requests: Sequence[TableRequest]
    ) -> tuple[TableBatch, Integers]:
        """Return the tables of a source that has bins, those opened that may matter.

        And which of them matter: all, or those that the nodes draw.
        """
        n_rows = [node.totals.n_rows for node in front]
        binned = source.binned(requests, n_rows)
        stack, search, draws = binned.batch, self.search, self.options.draws
        if front[0] is self.root:
            search = search.with_root_tables(stack, self.schema)
        places = np.arange(len(stack))
        if draws is not None:
            places = self.drawn(draws, front, stack)
        closed = None
        while binned.open_bins is not None:
            stack = binned.batch
            part = stack.take(places).scaled(self.options.class_weights)
            lines = np.zeros(len(stack.values), dtype=bool)
            closed = np.full(len(stack), -np.inf)
            opened, closed[places] = bins_to_open(search, part, self.schema)
            if not opened.any():
                break
            lines[stack.lines_of(places)] = opened
            binned = binned.open_bins(lines)
        return replace(binned.batch, closed_bound=closed), places

    def searched(
        self, front: Sequence[Growing], looked_at: tuple[Search, TableBatch]
    ) -> tuple[LevelSplits, Integers, Integers]:
        """Return the best split of each table, or the one whose cut is drawn.

        Besides for each table its node, and how many values its rows have.
        """
        search, stack = looked_at
        different = n_different(stack, search)
        if search.root_summary.cuts and stack.low is not None:
            # One bucket may hold several values; it is not opened.
            different[stack.owner[stack.low < stack.values]] += 1
            stack = replace(stack, low=None)
        if self.options.draws is None or not self.options.draws.cuts:
            return best_splits(search, stack, self.schema), stack.node, different
        keys = [node.key for node in front]
        splits = random_cut_splits(search, stack, self.schema, keys)
        return splits, stack.node, different

    def asked(self, node: Growing, question: SplitCondition) -> Candidate:
        """Return the split of a node by what a user has written."""
        table = self.tables_of(node, (question.attribute,))[question.attribute]
        return split_by_condition(self.search, table, self.schema, question)

    def tables_of(
        self, node: Growing, attributes: tuple[int, ...]
    ) -> dict[int, CountTable]:
        """Return the tables of some attributes at a node, class weights included."""
        request = TableRequest(node.number, attributes)
        (tables,) = tables_of(self.source, [request], self.schema)
        scale = self.options.class_weights
        return {index: table.scaled(scale) for index, table in tables.items()}

    def combine(self, node: Growing) -> None:
        """Let a combination of numbers compete with what a node has chosen."""
        if node.forced:
            return
        decision, made = combined(
            self.search,
            self.source,
            node.number,
            tables=self.tables_of(node, node.attributes),
            decision=Decision(tuple(node.candidates), node.chosen, node.reason),
            schema=self.schema,
            paid=paid_above(node),
        )
        node.decide(decision)
        self.schema = self.schema.extended([] if made is None else [made])

    def urgency(self, node: Growing) -> float:
        """Return the order of best-first growth: forced, then by gain over all rows."""
        if node.forced:
            return -np.inf
        return -float(node.totals.weight * node.winner.gain)

    def take(self, front: Sequence[Growing]) -> list[Growing]:
        """Take the nodes to split next: all, or the best if leaves are limited."""
        decided = [node for node in front if node.is_open]
        limit = self.recipe.max_leaves
        if limit is None:
            return decided
        open_nodes = self.open_nodes
        for node in decided:
            heappush(open_nodes, (self.urgency(node), node.number, node))
        margin = TOLERANCE * self.search.total * self.unit
        while open_nodes:
            node = pop_oldest_of_best(open_nodes, margin)
            more = node.winner.split.n_branches - 1
            if self.n_leaves + more <= limit:
                self.n_leaves += more
                return [node]
            if node.forced:
                raise ParameterError(
                    Setting("force"),
                    f": the split at the path {node.path!r} does not fit into ",
                    Setting("max_leaves", int(limit)),
                    ": raise the limit",
                )
            node.chosen, node.reason = None, Reason.LEAVES
            node.route = node.routed = None
        return []

    def find_routes(self, nodes: Sequence[Growing]) -> None:
        """Find how rows leave these nodes, and what surrogates make of it."""
        nodes = [node for node in nodes if node.route is None]
        if not self.search.policy.surrogates:
            for node in nodes:
                node.route = Route(node.winner.split)
            self.remember(nodes)
            return
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
        routes = routes_of(self.search, self.source, to_route, self.schema)
        for node, (route, routed) in zip(nodes, routes, strict=True):
            node.route = route
            node.routed = routed and routed.scaled(scale)
        self.remember(nodes)

    def split(self, nodes: Sequence[Growing]) -> list[Growing]:
        """Make the children of nodes, and send those that may be split their rows."""
        if not nodes:
            return []
        weights, rows, first = child_counts([node.winner for node in nodes])
        for at, node in enumerate(nodes):
            own = slice(first[at], first[at + 1])
            if node.routed is not None:
                weights[own], rows[own] = node.routed.weights, node.routed.rows
            node.children = self.children_of(node, weights[own], rows[own])
        further = self.going_on(nodes)
        children = [child for node in further for child in node.children]
        front = self.worth_asking(children)
        asked, done = {child.number for child in front}, list[int]()
        for node in nodes:
            sent = {c.branch: c.number for c in node.children if c.number in asked}
            if sent:
                # Surrogates are for rows that lack a value.
                assert node.route is not None
                absent = node.winner.table.missing_rows.any()
                route = node.route if absent else Route(node.route.split)
                self.source.partition(node.number, route, sent)
            elif node.parent:  # all its children are leaves
                done.append(node.number)
        self.source.release(done)
        return front

    def going_on(self, nodes: Sequence[Growing]) -> Sequence[Growing]:
        """Return the nodes below which to go on: all, or those whose split helps."""
        if self.descent is None:
            return nodes
        order = [each for node in nodes for each in (node, *node.children)]
        everything = self.root.totals.weights
        stumps = as_tree(order, self.schema, self.recipe, everything)
        numbers = np.array([node.number for node in order])
        further = []
        helped = self.descent.helped(stumps, numbers)
        for node, helps in zip(nodes, helped, strict=True):
            if helps:
                further.append(node)
                continue
            self.stopped.append(node)
            for child in node.children:
                child.reason = Reason.PRUNED
        return further

    def children_of(
        self, node: Growing, weights: Floats, rows: Integers
    ) -> list[Growing]:
        """Return the children of a node, which have these counts."""
        split = node.winner.split
        attributes = node.attributes
        if not self.recipe.reuse:
            attributes = self.without(attributes, split.attribute)
        elif self.recipe.grouping == "multiway" and is_multiway(split):
            attributes = tuple(i for i in attributes if i != split.attribute)
        children = [
            Growing(
                self.n_nodes + branch + 1,
                Totals(weights[branch], rows[branch]),
                attributes,
                depth=node.depth + 1,
                branch=branch,
                parent=node,
                path=self.path_to(node, branch) if self.options.forced else (),
                key=branch_key(node.key, branch) if self.options.draws else 0,
                plan=None if node.plan is None else node.plan.branches[branch],
            )
            for branch in range(split.n_branches)
        ]
        self.n_nodes += len(children)
        return children

    def without(self, attributes: tuple[int, ...], asked: int) -> tuple[int, ...]:
        """Return the attributes that share no column with one that was asked about."""
        behind = self.schema.behind
        columns = set(behind([asked]))
        return tuple(i for i in attributes if columns.isdisjoint(behind([i])))

    def path_to(self, node: Growing, branch: int) -> tuple[str, ...]:
        """Return how the path to a child reads."""
        assert node.route is not None
        split = node.route.described
        attribute = self.schema.attributes[split.attribute]
        n_codes = len(attribute.values)
        codes = possible_codes(steps_to(node), split.attribute, n_codes)
        return (*node.path, describe(split, attribute, branch, codes=codes))

    def warn_unreached(self) -> None:
        """Say which forced paths lead to no node that could be split."""
        stopped = [node.path for node in self.stopped]
        for path in self.options.forced:
            if any(path[: len(above)] == above for above in stopped):
                continue
            if path not in self.reached:
                warn(
                    Setting("force"),
                    f": no node to split is reached by the path {path!r}; write its "
                    "branches as they are printed, from the root on",
                )


def descent_of(recipe: Recipe, options: Options) -> Descent | None:
    """Return validation rows that tell a tree where to stop, if they can."""
    whole = recipe.max_leaves is not None or recipe.construct > 0
    if options.validation is None or recipe.pruning != "pre-pruning" or whole:
        return None
    return Descent(options.validation)


def paid_above(node: Growing) -> set[int]:
    """Return the attributes that were asked about on the way to a node."""
    return {split.attribute for split, _ in steps_to(node)}


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


def is_multiway(split: Split) -> bool:
    """Return whether each branch has one value, or bucket, so that none is left."""
    if isinstance(split, Groups):
        return max(map(len, split.groups)) == 1
    return not isinstance(split, Threshold)
