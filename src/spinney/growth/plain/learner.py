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
    while there is a front:
        ask the source for the tables of the front       (siblings by subtraction)
        decide each node: its best split, or the reason to stop
        take open nodes: all of them, or the best one if leaves are limited
        ask the source for their surrogates, if the recipe has any
        make their children; those that may be split are the next front

No row is ever seen here, and nothing recurs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from spinney._support.arrays import Floats
from spinney._support.keyed_random import branch_key, root_key
from spinney._support.ties import TOLERANCE
from spinney.data import Schema
from spinney.errors import ParameterError, Setting, warn
from spinney.growth.growth_options import Options
from spinney.growth.plain.growing_nodes import (
    Family,
    Growing,
    finish,
    plan,
    remainder,
    steps_to,
)
from spinney.recipes import Recipe
from spinney.search import (
    Decision,
    Drawn,
    NodeToRoute,
    Search,
    coarse_tables,
    decide,
    drawn,
    n_different,
    routes_of,
    with_drawn_cuts,
)
from spinney.search.oblique import combined
from spinney.sources import Counts, Request, Totals, take_formulas
from spinney.trees import (
    Groups,
    Reason,
    Route,
    Split,
    Threshold,
    Tree,
    altered_priors,
    describe,
    possible_codes,
)
from spinney.trees.criteria import deviation

if TYPE_CHECKING:
    from spinney.trees import CountTable


def grow_tree(source: Counts, recipe: Recipe, options: Options | None = None) -> Tree:
    """Grow a tree over the rows of a source."""
    learner = _Learner(source, recipe, options or Options())
    return learner.grow()


class _Learner:
    """A tree that grows: its source, what is constant, and the nodes so far."""

    def __init__(self, source: Counts, recipe: Recipe, options: Options) -> None:
        self.source, self.options = source, options
        self.schema = priced(source.schema, options).extended(options.constructed)
        take_formulas(source, self.schema)
        totals = source.root()
        if options.class_weights is not None:
            totals = Totals(totals.weights * options.class_weights, totals.rows)
        self.root = Growing(
            0,
            totals,
            tuple(range(len(self.schema.attributes))),
            whole=source.whole,
            key=0 if options.draws is None else root_key(options.draws.seed),
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
        self.reached: set[tuple[str, ...]] = set()

    def grow(self) -> Tree:
        """Grow as the module's text says."""
        front = [Family((self.root,))] if self.may_split(self.root) else []
        open_nodes: list[tuple[float, int, Growing]] = []
        while front:
            for node in self.ask(front):
                self.decide(node)
                if node.is_open:
                    heappush(open_nodes, (self.urgency(node), node.number, node))
            taken = self.take(open_nodes)
            self.find_routes(taken)
            front = [self.split(node) for node in taken]
        self.warn_unreached()
        return finish(self.root, self.schema, self.recipe)

    def may_split(self, node: Growing) -> bool:
        """Return whether a node is worth asking about; note the reason if not."""
        reason = self.stop(node)
        if reason is not None:
            node.decision = Decision((), reason=reason)
        return reason is None

    def stop(self, node: Growing) -> Reason | None:
        """Return why a node is a leaf before any table is asked for."""
        recipe, rows = self.recipe, node.totals.rows
        if not rows.any():
            return Reason.EMPTY
        if node.totals.is_pure:
            return Reason.PURE
        if not node.attributes:
            return Reason.EXHAUSTED
        if recipe.max_depth is not None and node.depth >= recipe.max_depth:
            return Reason.DEPTH
        if node.totals.weight < recipe.least_node * (1 - TOLERANCE):
            return Reason.ROWS_TO_SPLIT
        least = self.least_deviation * (1 - TOLERANCE)
        if least and float(deviation(node.totals.weights)) < least:
            return Reason.DEVIATION
        return None

    def ask(self, families: Sequence[Family]) -> list[Growing]:
        """Give the nodes of the families their tables, and return those to decide."""
        counted = [node for family in families for node in family.counted]
        requests = [Request(node.number, node.attributes) for node in counted]
        for node, tables in zip(counted, self.source.tables(requests), strict=True):
            node.tables = tables
        for family in families:
            if family.subtracted is not None:
                family.subtracted.tables = remainder(family)
        nodes = [node for family in families for node in family.nodes]
        for node in nodes:
            if node.parent is not None:
                node.parent.tables = None
            if node.decision.reason is not None:
                node.tables = None
        if self.n_nodes == 0 and self.root.tables is not None:
            self.search = self.search.from_root(self.root.tables, self.schema)
        return [node for node in nodes if node.tables is not None]

    def decide(self, node: Growing) -> None:
        """Find a node's best split, or the reason why there is none."""
        forced = self.options.forced.get(node.path)
        node.forced = forced is not None
        self.reached.add(node.path)
        paid = {split.attribute for split, _ in steps_to(node)}
        scale, draws = self.options.class_weights, self.options.draws
        tables = {i: table.scaled(scale) for i, table in self.looked_at(node).items()}
        cuts: dict[int, Drawn] = {}
        if draws is not None and draws.cuts:
            binary = self.recipe.grouping == "binary"
            tables, cuts = coarse_tables(tables, self.schema, node.key, binary=binary)
        node.decision = decide(
            self.search, tables, self.schema, forced=forced, paid=paid
        )
        if cuts:
            node.decision = with_drawn_cuts(node.decision, cuts)
        if self.recipe.linear_terms > 1 and not node.forced:
            node.decision, made = combined(
                self.search,
                self.source,
                node.number,
                tables=tables,
                decision=node.decision,
                schema=self.schema,
                paid=paid,
            )
            self.schema = self.schema.extended([] if made is None else [made])
        if not node.is_open:
            node.tables = None

    def looked_at(self, node: Growing) -> "Mapping[int, CountTable]":
        """Return the tables of all attributes, or of those that are drawn."""
        assert node.tables is not None
        draws, tables = self.options.draws, node.tables
        if draws is None:
            return tables
        policy = self.search.policy
        attributes = drawn(
            node.key,
            len(self.schema.attributes),
            draws.tries,
            lambda index: index in tables and n_different(tables[index], policy) > 1,
        )
        return {index: tables[index] for index in attributes if index in tables}

    def urgency(self, node: Growing) -> float:
        """Return the order of best-first growth: forced, then by gain over all rows."""
        if node.forced:
            return -np.inf
        return -float(node.totals.weight * node.candidate.gain)

    def take(self, open_nodes: list[tuple[float, int, Growing]]) -> list[Growing]:
        """Take the nodes to split next: all, or the best if leaves are limited."""
        limit = self.recipe.max_leaves
        if limit is None:
            taken = sorted((node for *_, node in open_nodes), key=lambda n: n.number)
            open_nodes.clear()
            return taken
        while open_nodes:
            node = self.most_urgent(open_nodes)
            more = node.candidate.split.n_branches - 1
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
            node.decision = replace(node.decision, chosen=None, reason=Reason.LEAVES)
        return []

    def most_urgent(self, open_nodes: list[tuple[float, int, Growing]]) -> Growing:
        """Take the node of the greatest gain; the oldest of those that tie."""
        best = heappop(open_nodes)
        tied = [best]
        margin = TOLERANCE * self.search.total * self.unit
        while open_nodes and open_nodes[0][0] <= best[0] + margin:
            tied.append(heappop(open_nodes))
        tied.sort(key=lambda entry: entry[1])
        for entry in tied[1:]:
            heappush(open_nodes, entry)
        return tied[0][2]

    def find_routes(self, nodes: Sequence[Growing]) -> None:
        """Find how rows leave these nodes, and what surrogates make of it."""
        to_route = [
            NodeToRoute(node.number, node.candidate.split, node.tables or {})
            for node in nodes
        ]
        routes = routes_of(self.search, self.source, to_route, self.schema)
        for node, (route, routed) in zip(nodes, routes, strict=True):
            node.route = route
            node.routed = routed and routed.scaled(self.options.class_weights)

    def split(self, node: Growing) -> Family:
        """Make the children of a node and send them their rows."""
        assert node.route is not None
        absent = bool(node.candidate.table.missing_rows.any())
        divided = absent and node.route.final_branch is None
        node.children = self.children_of(node, whole=node.whole and not divided)
        front = [child for child in node.children if self.may_split(child)]
        family = plan(node, front)
        if family.subtracted is None:
            node.tables = None
        if front:
            kept = {child.branch: child.number for child in family.nodes}
            route = node.route if absent else Route(node.route.split)
            self.source.partition(node.number, route, kept)
        return family

    def children_of(self, node: Growing, *, whole: bool) -> list[Growing]:
        """Return the children with the counts that the split gives them."""
        split = node.candidate.split
        weights, rows = node.candidate.shared_out()
        if node.routed is not None:
            weights, rows = node.routed.weights, node.routed.rows
        used = self.recipe.grouping == "multiway" and is_multiway(split)
        attributes = tuple(
            index for index in node.attributes if not used or index != split.attribute
        )
        children = [
            Growing(
                self.n_nodes + branch + 1,
                Totals(weights[branch], rows[branch]),
                attributes,
                depth=node.depth + 1,
                branch=branch,
                parent=node,
                path=self.path_to(node, branch),
                whole=whole,
                key=branch_key(node.key, branch) if self.options.draws else 0,
            )
            for branch in range(split.n_branches)
        ]
        self.n_nodes += len(children)
        return children

    def path_to(self, node: Growing, branch: int) -> tuple[str, ...]:
        """Return how the path to a child reads, if anybody asked for a path."""
        if not self.options.forced:
            return ()
        assert node.route is not None
        split = node.route.described
        attribute = self.schema.attributes[split.attribute]
        n_codes = possible_codes(steps_to(node), split, len(attribute.values))
        return (*node.path, describe(split, attribute, branch, n_codes=n_codes))

    def warn_unreached(self) -> None:
        """Say which forced paths lead to no node that could be split."""
        for path in self.options.forced:
            if path not in self.reached:
                warn(
                    Setting("force"),
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


def priced(schema: Schema, options: Options) -> Schema:
    """Return the schema with what errors and questions cost."""
    if options.costs is None and not options.prices:
        return schema
    attributes = tuple(
        replace(attribute, cost=options.prices.get(index, 0.0))
        for index, attribute in enumerate(schema.attributes)
    )
    target = schema.target
    if options.costs is not None:
        target = replace(target, costs=tuple(map(tuple, options.costs.tolist())))
    return replace(schema, attributes=attributes, target=target)


def is_multiway(split: Split) -> bool:
    """Return whether each branch has one value, or bucket, so that none is left."""
    if isinstance(split, Groups):
        return max(map(len, split.groups)) == 1
    return not isinstance(split, Threshold)
