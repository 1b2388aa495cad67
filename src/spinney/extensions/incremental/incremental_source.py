"""Rows in memory, with the state of a tree that was grown on most of them.

The state of a node holds its rows, its count tables and its outcome. When rows are
added and removed, each node gets its changes::

    root        + the batch, − the removed rows
    a child     the changes of its branch, if its parent has the same split; else the
                difference between its rows now and before, if most stayed

Tables are then updated by these rows alone (``table_change``). A child with few of its
rows left is stale: it is counted from its rows, with all nodes below. Small nodes store
rows and no tables. The outcome of a node without changes comes from the cache, if a
search would find it again (``Search.finds_same_splits``).

The arrays of a state never change, so that one state can be updated twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import starts_of
from spinney.extensions.incremental.table_change import (
    Change,
    WeighedRows,
    are_numeric,
    changed_tables,
    difference,
    in_columns,
    joined_members,
    of_node,
    relaid,
    with_branches,
)
from spinney.extensions.incremental.tree_state import (
    ChildrenBefore,
    NodeState,
    TreeState,
)
from spinney.growth.plain.growing_nodes import NodeOutcome
from spinney.search import Search, rewritten_decision, same_split
from spinney.sources import ROOT, AgreementRequest, TableRequest, Totals
from spinney.sources.rows import REMOVED, JoinedRows, MemorySource, map_codes
from spinney.trees import CountTable, Route, Split, TableBatch, joined_batches

FEW_ROWS = 32  # of a node that stores no tables
MAX_CHANGED = 0.5  # the fraction of a node's rows beyond which it is stale
NO_ATTRIBUTE = -1  # that of the totals: a table of one value that all rows have


@dataclass(slots=True, eq=False)
class _Node:
    """A node while the tree grows again."""

    before: NodeState | None
    change: Change
    now: WeighedRows | None = None
    attributes: tuple[int, ...] = ()
    outcome: NodeOutcome | None = None
    tables: TableBatch | None = None
    agreement: tuple[Split, TableBatch] | None = None
    route: Route | None = None
    children: dict[int, int] = field(default_factory=dict)

    @property
    def members(self) -> WeighedRows:
        """Its rows."""
        if self.now is None:
            assert self.before is not None
            self.now = joined_members(self.before.members, self.change)
        return self.now

    @property
    def is_as_before(self) -> bool:
        """Whether its rows are those that it had."""
        return self.before is not None and not len(self.change)


class IncrementalSource:
    """A source that caches an earlier tree over most of its rows.

    Parameters
    ----------
    joined : JoinedRows
        The rows, with those added and removed.
    earlier : TreeState, optional
        The tree that was grown on those before.

    Notes
    -----
    ``n_counted`` is the number of cells counted so far: it grows with the changes of a
    batch, not with all rows.
    """

    def __init__(self, joined: JoinedRows, earlier: TreeState | None) -> None:
        rows = joined.rows
        self.schema, self._joined, self._earlier = rows.schema, joined, earlier
        self._weights = rows.sample_weights
        self._all = rows.source()
        self._numbers: Floats | None = None
        if self.schema.target.origin is not None:
            self._numbers = np.asarray(rows.classes - self.schema.target.origin)
        self.n_counted = 0
        self._search: Search | None = None
        self._same: tuple[Search, bool, bool] | None = None
        self._levels: dict[int, Any] = {}
        self._total: TableBatch | None = None
        self._nodes: dict[int, _Node] = {}
        self._begin()

    def _begin(self) -> None:
        """Start with the root and its rows."""
        joined = self._joined
        if self._earlier is None:
            now = self._weighed(joined.staying)
            self._nodes = {ROOT: _Node(None, Change(), now)}
            return
        n_rows, gone = len(joined.rows.classes), joined.removed
        new = np.arange(joined.n_before, n_rows)
        added = self._weighed(np.setdiff1d(new, gone, assume_unique=True))
        removed = self._weighed(gone[gone < joined.n_before])
        self._nodes = {ROOT: _Node(self._earlier.root, Change(added, removed))}

    def _weighed(self, rows: Integers) -> WeighedRows:
        return WeighedRows(rows, self._weights[rows])

    # Counting

    def _cells(self, index: int, rows: Integers) -> NDArray[np.float64]:
        """Return values of rows, NaN where missing, −∞ where the schema lost them."""
        codes = self._joined.rows.columns[index][rows]
        cells = codes.astype(np.float64)
        if self.schema.attributes[index].kind != "numeric":
            cells[codes == -1] = np.nan
            cells[codes == REMOVED] = -np.inf
        return cells + 0.0

    def _amounts(self, rows: Integers, weights: Floats) -> tuple[Floats, Integers]:
        """Return what rows add to the line of their value: by class, or moments."""
        if self._numbers is None:
            classes = self._joined.rows.classes[rows]
            return in_columns(classes, weights, self.schema.n_classes)
        numbers = self._numbers[rows]
        first = weights * numbers
        moments = np.stack([weights, first, first * numbers], axis=1)
        return moments, np.ones((len(rows), 1), dtype=np.int64)

    def root(self) -> Totals:
        """Return the totals of all rows."""
        self._begin()
        batch = self._totals()
        return Totals(batch.weights[0], batch.rows[0])

    def _totals(self) -> TableBatch:
        """Return the totals as a table of one line."""
        if self._total is not None:
            return self._total
        node = self._nodes[ROOT]
        old, change = None, node.change
        if self._earlier is not None:
            old = self._converted(self._earlier.totals)
        if old is None:
            weights, rows = self._amounts(node.members.rows[:0], np.zeros(0))
            none = np.zeros((1, weights.shape[1])), np.zeros((1, rows.shape[1]), int)
            node_of, attribute = np.array([0]), np.array([NO_ATTRIBUTE])
            start, values = np.array([0, 0]), np.zeros(0)
            old = TableBatch(node_of, attribute, start, values, weights, rows, *none)
            change = Change(node.members)
        batch, n_counted = changed_tables(
            old,
            change,
            node.members,
            lambda _, rows: np.zeros(len(rows)),
            self._amounts,
        )
        self.n_counted += n_counted
        self._total = batch
        return batch

    def tables(self, requests: Sequence[TableRequest]) -> Iterator[TableBatch]:
        """Give the tables of all requests, in one batch."""
        parts, to_count = [], []
        for number, request in enumerate(requests):
            node = self._nodes[request.node]
            if node.tables is None:
                node.tables = self._changed(node, request.attributes)
            if node.tables is None:
                to_count.append((number, request))
            else:
                parts.append(of_node(node.tables, request.attributes, number))
        if to_count:
            own = [request for _, request in to_count]
            counted = joined_batches(self._part(own).tables(own))
            for at, (number, request) in enumerate(to_count):
                own_tables = counted.take(np.flatnonzero(counted.node == at))
                parts.append(of_node(own_tables, request.attributes, number))
                node = self._nodes[request.node]
                whole = not node.attributes or node.attributes == request.attributes
                if whole and len(node.members) > FEW_ROWS:
                    node.tables = parts[-1]
        yield joined_batches(parts)

    def _part(
        self, requests: "Sequence[TableRequest | AgreementRequest]"
    ) -> MemorySource:
        """Return a source of the rows of some nodes alone."""
        members = [self._nodes[request.node].members for request in requests]
        start = starts_of(np.array([len(each) for each in members], dtype=np.int64))
        rows = np.concatenate([each.rows for each in members])
        part = self._joined.rows.take(rows).source()
        part.assign_rows(
            {
                request.node: (np.arange(start[at], start[at + 1]), each.weights)
                for at, (request, each) in enumerate(
                    zip(requests, members, strict=True)
                )
            }
        )
        pairs = zip(requests, members, strict=True)
        self.n_counted += sum(len(r.attributes) * len(own) for r, own in pairs)
        return part

    def _changed(self, node: _Node, attributes: tuple[int, ...]) -> TableBatch | None:
        """Return the stored tables of a node after its changes, if there are any."""
        before = node.before
        if before is None or before.tables is None:
            return None
        if not set(attributes) <= set(before.tables.attribute.tolist()):
            return None
        batch = self._converted(before.tables)
        if node.is_as_before:
            return batch
        if len(node.change) > MAX_CHANGED * len(node.members):
            return None
        batch = of_node(batch, attributes, 0)
        batch, n_counted = changed_tables(
            batch, node.change, node.members, self._cells, self._amounts
        )
        self.n_counted += n_counted
        return batch

    def _converted(self, batch: TableBatch) -> TableBatch:
        """Return tables in the codes and classes of the rows as they are now."""
        joined = self._joined
        if not joined.is_recoded:
            return batch
        values = batch.values.copy()
        attribute = batch.attribute[batch.owner]
        for index, codes in enumerate(joined.codes):
            if codes is not None:
                own = attribute == index
                values[own] = map_codes(values[own].astype(np.int64), codes)
        weights, rows = batch.weights, batch.rows
        missing, missing_rows = batch.missing, batch.missing_rows
        if joined.classes is not None:
            n_classes = self.schema.n_classes
            weights, rows, missing, missing_rows = (
                relaid(part, joined.classes, n_classes)
                for part in (weights, rows, missing, missing_rows)
            )
        stays = (values >= 0) | are_numeric(self.schema, attribute)
        stays &= rows.any(axis=1)
        counts = np.bincount(batch.owner[stays], minlength=len(batch))
        return replace(
            batch,
            start=starts_of(counts),
            values=values[stays],
            weights=weights[stays],
            rows=rows[stays],
            missing=missing,
            missing_rows=missing_rows,
        )

    # Surrogates

    def agreements(self, requests: Sequence[AgreementRequest]) -> Iterator[TableBatch]:
        """Give the tables of all requests, value × branch, in one batch."""
        most = max((request.split.n_branches for request in requests), default=0)
        parts, to_count = [], []
        for number, request in enumerate(requests):
            node = self._nodes[request.node]
            batch = self._changed_agreement(node, request)
            if batch is None:
                to_count.append((number, request))
            else:
                node.agreement = request.split, batch
                batch = of_node(batch, request.attributes, number)
                parts.append(with_branches(batch, most))
        if to_count:
            own = [request for _, request in to_count]
            counted = joined_batches(self._part(own).agreements(own))
            for at, (number, request) in enumerate(to_count):
                own_tables = counted.take(np.flatnonzero(counted.node == at))
                batch = of_node(own_tables, request.attributes, number)
                node = self._nodes[request.node]
                if len(node.members) > FEW_ROWS and request.split.n_branches == most:
                    node.agreement = request.split, batch
                parts.append(with_branches(batch, most))
        yield joined_batches(parts)

    def _changed_agreement(
        self, node: _Node, request: AgreementRequest
    ) -> TableBatch | None:
        """Return how attributes agreed with a split, after what changed at its node."""
        before, split = node.before, request.split
        if before is None or before.agreement is None or self._joined.is_recoded:
            return None
        old_split, batch = before.agreement
        if not same_split(old_split, split):
            return None
        if not set(request.attributes) <= set(batch.attribute.tolist()):
            return None
        if len(node.change) > MAX_CHANGED * len(node.members):
            return None
        n_branches = split.n_branches

        def amounts(rows: Integers, weights: Floats) -> tuple[Floats, Integers]:
            branches = self._all.split_branches(split, rows)
            branches = np.where(branches < 0, n_branches, branches)
            return in_columns(branches, weights, n_branches + 1)

        batch = of_node(batch, request.attributes, 0)
        batch, n_counted = changed_tables(
            batch, node.change, node.members, self._cells, amounts
        )
        self.n_counted += n_counted
        return batch

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return for each node and route the table of its rows by branch."""
        self._all.assign_rows(
            {
                node: (members.rows, members.weights)
                for node, _ in routes
                for members in (self._nodes[node].members,)
            }
        )
        self.n_counted += sum(len(self._nodes[node].members) for node, _ in routes)
        tables = self._all.routed(routes)
        self._all.release(node for node, _ in routes if node != ROOT)
        return tables

    # Sending rows

    def partition(
        self,
        node: int,
        route: Route,
        children: Mapping[int, int],
        *,
        keep: bool = False,
    ) -> None:
        """Send the rows of a node, or what changed there, to its children."""
        parent = self._nodes[node]
        parent.route, parent.children = route, dict(children)
        if self._splits_as_before(parent, route):
            sent = self._sent_changes(parent, route, children)
        else:
            sent = self._sent_rows(parent, route, children)
        self._nodes.update(sent)

    def _splits_as_before(self, node: _Node, route: Route) -> bool:
        """Return whether rows that stayed go where they went, none of them divided."""
        before = node.before
        if before is None or before.route is None or self._joined.is_recoded:
            return False
        if node.is_as_before:
            return before.route == route
        if route.surrogates or before.route.surrogates or before.tables is None:
            return False
        if node.tables is None or not same_split(before.route.split, route.split):
            return False
        return not any(
            batch.missing_rows[batch.attribute == route.split.attribute].any()
            for batch in (before.tables, node.tables)
        )

    def _sent_changes(
        self, parent: _Node, route: Route, children: Mapping[int, int]
    ) -> dict[int, _Node]:
        """Return children with their earlier states, and their part of the changes."""
        assert parent.before is not None
        change, nodes = parent.change, {}
        added_branch, removed_branch = (
            self._all.route_branches(route, each.rows) if len(each) else each.rows
            for each in (change.added, change.removed)
        )
        for branch, child in children.items():
            before = parent.before.children.get(branch)
            if before is None:  # a leaf, without a state
                only = {branch: child}
                nodes.update(self._sent_rows(parent, route, only, matched=False))
                continue
            own = change
            if len(change):
                own = Change(
                    change.added.take(added_branch == branch),
                    change.removed.take(removed_branch == branch),
                )
            nodes[child] = _Node(before, own)
        return nodes

    def _sent_rows(
        self,
        parent: _Node,
        route: Route,
        children: Mapping[int, int],
        *,
        matched: bool = True,
    ) -> dict[int, _Node]:
        """Return children with their rows, each the one that had most of them before.

        Only children with a state are ``matched``.
        """
        members, nodes = parent.members, {}
        branches = self._all.route_branches(route, members.rows)
        is_missing = branches < 0
        children_before = (
            parent.before.children if matched and parent.before is not None else {}
        )
        matcher = ChildrenBefore(children_before)
        for branch, child in children.items():
            in_branch, weights = branches == branch, members.weights
            if is_missing.any():
                share = route.split.shares[branch]
                weights = np.where(is_missing, weights * share, weights)
                in_branch = in_branch | (is_missing & (share > 0))
            now = WeighedRows(members.rows[in_branch], weights[in_branch])
            before = matcher.find(now)
            change = Change() if before is None else difference(before.members, now)
            if before is not None and len(change) > MAX_CHANGED * len(now):
                before, change = None, Change()
            nodes[child] = _Node(before, change, now)
        return nodes

    def release(self, nodes: Iterable[int]) -> None:
        """Do nothing: the nodes are the state for the next tree."""

    # The cache of outcomes

    def cached_outcome(
        self, node: int, attributes: tuple[int, ...], search: Search
    ) -> NodeOutcome | None:
        """Return the cached outcome of a node, if a search would find it again."""
        own_node = self._nodes[node]
        if (
            self._earlier is None
            or not own_node.is_as_before
            or self._joined.is_recoded
        ):
            return None
        assert own_node.before is not None
        outcome = own_node.before.outcome
        if outcome is None or own_node.before.attributes != attributes:
            return None
        same, rewritten = self._compared(search)
        if not same:
            return None
        if rewritten:
            outcome = self._rewritten(outcome, search)
        if outcome is not None:
            own_node.attributes, own_node.outcome = attributes, outcome
            own_node.tables, own_node.agreement = (
                own_node.before.tables,
                own_node.before.agreement,
            )
        return outcome

    def _compared(self, search: Search) -> tuple[bool, bool]:
        """Return whether a search finds what the earlier one did, and writes it so."""
        if self._same is None or self._same[0] is not search:
            earlier = None if self._earlier is None else self._earlier.search
            prices = any(attribute.cost for attribute in self.schema.attributes)
            same = rewritten = False
            if earlier is not None and not prices:
                same = search.finds_same_splits(earlier, self.schema)
                if same and search.recipe.thresholds == "observed":
                    rewritten = not _same_values(earlier, search)
            self._same = search, same, rewritten
        return self._same[1:]

    def _rewritten(self, outcome: NodeOutcome, search: Search) -> NodeOutcome | None:
        """Return an outcome with its thresholds by the rows now."""
        decision = rewritten_decision(outcome.decision, search, self._levels)
        if decision is None or outcome.route is None:
            return None if decision is None else replace(outcome, decision=decision)
        assert decision.chosen is not None
        split = decision.candidates[decision.chosen].split
        return replace(
            outcome, decision=decision, route=replace(outcome.route, split=split)
        )

    def cache_outcome(
        self,
        node: int,
        attributes: tuple[int, ...],
        outcome: NodeOutcome,
        search: Search,
    ) -> None:
        """Store the outcome of a node."""
        own_node = self._nodes[node]
        own_node.attributes, own_node.outcome = attributes, outcome
        self._search = search

    def tree_state(self) -> TreeState:
        """Return the tree that has grown, over the rows that stay."""
        joined = self._joined
        places = np.zeros(len(joined.rows.classes), dtype=np.int64)
        places[joined.staying] = np.arange(len(joined.staying))
        moved = bool(len(joined.removed))
        done: dict[int, NodeState] = {}
        for number in sorted(self._nodes, reverse=True):  # children before parents
            node = self._nodes[number]
            members = node.members
            if moved:
                members = WeighedRows(places[members.rows], members.weights)
            done[number] = NodeState(
                members,
                node.attributes,
                node.outcome,
                node.tables,
                node.agreement,
                node.route,
                {branch: done[child] for branch, child in node.children.items()},
            )
        return TreeState(done[ROOT], self._search, self._totals())


def _same_values(one: Search, other: Search) -> bool:
    """Return whether all rows have the same values, as they had."""
    values = other.root_summary.observed
    return all(
        np.array_equal(own, values[index])
        for index, own in one.root_summary.observed.items()
    )
