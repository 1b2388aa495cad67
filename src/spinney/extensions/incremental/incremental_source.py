"""Rows in memory, with the state of a tree that was grown on most of them.

The state of a node holds its rows, its count tables and its outcome. When rows are
added and removed, each node gets its changes::

    root        + the batch, − the removed rows
    a child     the changes of its branch, if its parent has the same split; else the
                difference between its rows now and before, if most stayed

Tables are then updated by these rows alone (``table_change``). A child that kept few of
its rows is counted again from its rows, with all nodes below. Small nodes store rows
and no tables. The outcome of a node without changes comes from the cache, if a search
would find it again (``Search.finds_same_splits``).

The arrays of a state never change, so that one state can be updated twice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers
from spinney._support.segments import starts_of
from spinney.extensions.incremental.table_change import (
    Change,
    WeighedRows,
    apply_change,
    are_numeric,
    changed_tables,
    difference,
    one_hot_counts,
    pad_branches,
    recode_classes,
    select_tables,
)
from spinney.extensions.incremental.tree_state import (
    ChildMatcher,
    NodeState,
    TreeState,
)
from spinney.growth.plain.growing_nodes import NodeOutcome
from spinney.search import Search, is_same_split, rewrite_decision
from spinney.sources import ROOT, AgreementRequest, TableRequest, Totals
from spinney.sources.rows import REMOVED, JoinedRows, MemorySource, map_codes
from spinney.trees import CountTable, Route, Split, TableBatch, joined_batches

MAX_UNCACHED_ROWS = 32  # the most rows of a node that stores no tables
MAX_CHANGED = 0.5  # the fraction of a node's rows beyond which it is stale
NO_ATTRIBUTE = -1  # that of the totals: a table of one value that all rows have


_Request = TypeVar("_Request", TableRequest, AgreementRequest)


@dataclass(slots=True, eq=False)
class _Node:
    """A node while the tree is regrown."""

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
        """The rows of the node after the changes."""
        if self.now is None:
            assert self.before is not None
            self.now = apply_change(self.before.members, self.change)
        return self.now

    @property
    def is_as_before(self) -> bool:
        """Whether the node has the same rows as in the earlier tree."""
        return self.before is not None and not len(self.change)


class IncrementalSource:
    """A source that caches an earlier tree over most of its rows.

    Parameters
    ----------
    joined : JoinedRows
        The rows of the model, with the added and the removed rows.
    earlier : TreeState, optional
        The state of the tree before the update.

    Notes
    -----
    ``n_counted`` is the number of cells counted so far: it grows with the changes of a
    batch, not with all rows.
    """

    def __init__(self, joined: JoinedRows, earlier: TreeState | None) -> None:
        rows = joined.rows
        self.schema, self._joined, self._earlier = rows.schema, joined, earlier
        self._weights = rows.sample_weights
        self._all_rows = rows.source()
        self._numbers: Floats | None = None
        if self.schema.target.origin is not None:
            self._numbers = np.asarray(rows.classes - self.schema.target.origin)
        self.n_counted = 0
        self._search: Search | None = None
        self._comparison: tuple[Search, bool, bool] | None = None
        self._levels: dict[int, Any] = {}
        self._total: TableBatch | None = None
        self._nodes: dict[int, _Node] = {}
        self._begin()

    def _begin(self) -> None:
        """Start with the root and its rows."""
        joined = self._joined
        if self._earlier is None:
            now = self._with_row_weights(joined.staying)
            self._nodes = {ROOT: _Node(None, Change(), now)}
            return
        n_rows, gone = len(joined.rows.classes), joined.removed
        new = np.arange(joined.n_before, n_rows)
        added = self._with_row_weights(np.setdiff1d(new, gone, assume_unique=True))
        removed = self._with_row_weights(gone[gone < joined.n_before])
        self._nodes = {ROOT: _Node(self._earlier.root, Change(added, removed))}

    def _with_row_weights(self, rows: Integers) -> WeighedRows:
        return WeighedRows(rows, self._weights[rows])

    # Counting

    def _cells(self, index: int, rows: Integers) -> NDArray[np.float64]:
        """Return values of rows: NaN if missing, −∞ if no longer in the schema."""
        codes = self._joined.rows.columns[index][rows]
        cells = codes.astype(np.float64)
        if self.schema.attributes[index].kind != "numeric":
            cells[codes == -1] = np.nan
            cells[codes == REMOVED] = -np.inf
        return cells + 0.0

    def _weights_and_counts(
        self, rows: Integers, weights: Floats
    ) -> tuple[Floats, Integers]:
        """Return each row's class weights or moments, and its row counts."""
        if self._numbers is None:
            classes = self._joined.rows.classes[rows]
            return one_hot_counts(classes, weights, self.schema.n_classes)
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
            old = self._recode_tables(self._earlier.totals)
        if old is None:
            weights, rows = self._weights_and_counts(node.members.rows[:0], np.zeros(0))
            none = np.zeros((1, weights.shape[1])), np.zeros((1, rows.shape[1]), int)
            numbers, attribute = np.array([0]), np.array([NO_ATTRIBUTE])
            start, values = np.array([0, 0]), np.zeros(0)
            old = TableBatch(numbers, attribute, start, values, weights, rows, *none)
            change = Change(node.members)
        batch, n_counted = changed_tables(
            old,
            change,
            node.members,
            lambda _, rows: np.zeros(len(rows)),
            self._weights_and_counts,
        )
        self.n_counted += n_counted
        self._total = batch
        return batch

    def tables(self, requests: Sequence[TableRequest]) -> Iterator[TableBatch]:
        """Yield the tables of all requests, in one batch."""
        parts, to_count = [], []
        for number, request in enumerate(requests):
            node = self._nodes[request.node]
            if node.tables is None:
                node.tables = self._changed_tables(node, request.attributes)
            if node.tables is None:
                to_count.append((number, request))
            else:
                parts.append(select_tables(node.tables, request.attributes, number))
        for request, batch in self._count_requests(to_count, MemorySource.tables):
            parts.append(batch)
            node = self._nodes[request.node]
            whole = not node.attributes or node.attributes == request.attributes
            if whole and len(node.members) > MAX_UNCACHED_ROWS:
                node.tables = batch
        yield joined_batches(parts)

    def _count_requests(
        self,
        numbered: "Sequence[tuple[int, _Request]]",
        count: "Callable[[MemorySource, Sequence[_Request]], Iterable[TableBatch]]",
    ) -> "Iterator[tuple[_Request, TableBatch]]":
        """Yield numbered requests, with tables counted from the rows of their nodes."""
        if not numbered:
            return
        requests = [request for _, request in numbered]
        counted = joined_batches(count(self._source_of_nodes(requests), requests))
        for index, (number, request) in enumerate(numbered):
            batch = counted.take(np.flatnonzero(counted.node == index))
            yield request, select_tables(batch, request.attributes, number)

    def _source_of_nodes(
        self, requests: "Sequence[TableRequest | AgreementRequest]"
    ) -> MemorySource:
        """Return a source of the rows of some nodes alone."""
        members = [self._nodes[request.node].members for request in requests]
        ends = np.cumsum([len(rows) for rows in members])
        source = self._joined.rows.take(np.concatenate([m.rows for m in members]))
        part, assigned = source.source(), {}
        for request, rows, end in zip(requests, members, ends, strict=True):
            assigned[request.node] = np.arange(end - len(rows), end), rows.weights
            self.n_counted += len(request.attributes) * len(rows)
        part.assign_rows(assigned)
        return part

    def _changed_tables(
        self, node: _Node, attributes: tuple[int, ...]
    ) -> TableBatch | None:
        """Return the stored tables of a node after its changes, if there are any."""
        before = node.before
        if before is None or before.tables is None:
            return None
        if not set(attributes) <= set(before.tables.attribute.tolist()):
            return None
        batch = self._recode_tables(before.tables)
        if node.is_as_before:
            return batch
        if len(node.change) > MAX_CHANGED * len(node.members):
            return None
        batch = select_tables(batch, attributes, 0)
        batch, n_counted = changed_tables(
            batch, node.change, node.members, self._cells, self._weights_and_counts
        )
        self.n_counted += n_counted
        return batch

    def _recode_tables(self, batch: TableBatch) -> TableBatch:
        """Return tables recoded to the current codes and classes of the rows."""
        joined = self._joined
        if not joined.is_recoded:
            return batch
        values = batch.values.copy()
        attribute = batch.attribute[batch.owner]
        for index, codes in enumerate(joined.codes):
            if codes is not None:
                lines = attribute == index
                values[lines] = map_codes(values[lines].astype(np.int64), codes)
        weights, rows = batch.weights, batch.rows
        missing, missing_rows = batch.missing, batch.missing_rows
        if joined.classes is not None:
            n_classes = self.schema.n_classes
            weights, rows, missing, missing_rows = (
                recode_classes(part, joined.classes, n_classes)
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
        """Yield the tables of all requests, value × branch, in one batch."""
        width = max((request.split.n_branches for request in requests), default=0)
        parts, to_count = [], []
        for number, request in enumerate(requests):
            node = self._nodes[request.node]
            batch = self._changed_agreement(node, request)
            if batch is None:
                to_count.append((number, request))
            else:
                node.agreement = request.split, batch
                batch = select_tables(batch, request.attributes, number)
                parts.append(pad_branches(batch, width))
        for request, batch in self._count_requests(to_count, MemorySource.agreements):
            node, split = self._nodes[request.node], request.split
            if len(node.members) > MAX_UNCACHED_ROWS and split.n_branches == width:
                node.agreement = split, batch
            parts.append(pad_branches(batch, width))
        yield joined_batches(parts)

    def _changed_agreement(
        self, node: _Node, request: AgreementRequest
    ) -> TableBatch | None:
        """Return the stored agreement of attributes with a split, after the changes."""
        before, split = node.before, request.split
        if before is None or before.agreement is None or self._joined.is_recoded:
            return None
        old_split, batch = before.agreement
        if not is_same_split(old_split, split):
            return None
        if not set(request.attributes) <= set(batch.attribute.tolist()):
            return None
        if len(node.change) > MAX_CHANGED * len(node.members):
            return None
        n_branches = split.n_branches

        def amounts(rows: Integers, weights: Floats) -> tuple[Floats, Integers]:
            branches = self._all_rows.split_branches(split, rows)
            branches = np.where(branches < 0, n_branches, branches)
            return one_hot_counts(branches, weights, n_branches + 1)

        batch = select_tables(batch, request.attributes, 0)
        batch, n_counted = changed_tables(
            batch, node.change, node.members, self._cells, amounts
        )
        self.n_counted += n_counted
        return batch

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return for each node and route the table of its rows by branch."""
        self._all_rows.assign_rows(
            {
                node: (members.rows, members.weights)
                for node, _ in routes
                for members in (self._nodes[node].members,)
            }
        )
        self.n_counted += sum(len(self._nodes[node].members) for node, _ in routes)
        tables = self._all_rows.routed(routes)
        self._all_rows.release(node for node, _ in routes if node != ROOT)
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
        """Send the rows of a node, or only its changed rows, to its children."""
        parent = self._nodes[node]
        parent.route, parent.children = route, dict(children)
        if self._splits_as_before(parent, route):
            sent = self._send_changes(parent, route, children)
        else:
            sent = self._send_rows(parent, route, children)
        self._nodes.update(sent)

    def _splits_as_before(self, node: _Node, route: Route) -> bool:
        """Return whether unchanged rows go to their former branches, undivided."""
        before = node.before
        if before is None or before.route is None or self._joined.is_recoded:
            return False
        if node.is_as_before:
            return before.route == route
        if route.surrogates or before.route.surrogates or before.tables is None:
            return False
        if node.tables is None or not is_same_split(before.route.split, route.split):
            return False
        return not any(
            batch.missing_rows[batch.attribute == route.split.attribute].any()
            for batch in (before.tables, node.tables)
        )

    def _send_changes(
        self, parent: _Node, route: Route, children: Mapping[int, int]
    ) -> dict[int, _Node]:
        """Return children with their earlier states and their changed rows."""
        assert parent.before is not None
        change, nodes = parent.change, {}
        added_branch, removed_branch = (
            self._all_rows.route_branches(route, part.rows) if len(part) else part.rows
            for part in (change.added, change.removed)
        )
        for branch, child in children.items():
            before = parent.before.children.get(branch)
            if before is None:  # a leaf, without a state
                only = {branch: child}
                nodes.update(self._send_rows(parent, route, only, match=False))
                continue
            in_branch = change
            if len(change):
                in_branch = Change(
                    change.added.take(added_branch == branch),
                    change.removed.take(removed_branch == branch),
                )
            nodes[child] = _Node(before, in_branch)
        return nodes

    def _send_rows(
        self,
        parent: _Node,
        route: Route,
        children: Mapping[int, int],
        *,
        match: bool = True,
    ) -> dict[int, _Node]:
        """Return children with their rows, and the earlier state with most of them.

        Without ``match`` they have no state.
        """
        members, nodes = parent.members, {}
        branches = self._all_rows.route_branches(route, members.rows)
        is_missing = branches < 0
        children_before = (
            parent.before.children if match and parent.before is not None else {}
        )
        matcher = ChildMatcher(children_before)
        for branch, child in children.items():
            in_branch, weights = branches == branch, members.weights
            if is_missing.any():
                fraction = route.split.shares[branch]
                weights = np.where(is_missing, weights * fraction, weights)
                in_branch = in_branch | (is_missing & (fraction > 0))
            now = WeighedRows(members.rows[in_branch], weights[in_branch])
            before = matcher.find(now)
            change = Change() if before is None else difference(before.members, now)
            if before is not None and len(change) > MAX_CHANGED * len(now):
                before, change = None, Change()
            nodes[child] = _Node(before, change, now)
        return nodes

    def release(self, nodes: Iterable[int]) -> None:
        """Do nothing: the nodes are the state of the next update."""

    # The cache of outcomes

    def cached_outcome(
        self, node: int, attributes: tuple[int, ...], search: Search
    ) -> NodeOutcome | None:
        """Return the cached outcome of a node, if a search would find it again."""
        current = self._nodes[node]
        before = current.before
        if before is None or not current.is_as_before or self._joined.is_recoded:
            return None
        outcome = before.outcome
        if outcome is None or before.attributes != attributes:
            return None
        finds_same, has_moved = self._compare_search(search)
        if not finds_same:
            return None
        if has_moved:
            outcome = self._with_new_thresholds(outcome, search)
        if outcome is not None:
            current.attributes, current.outcome = attributes, outcome
            current.tables, current.agreement = before.tables, before.agreement
        return outcome

    def _compare_search(self, search: Search) -> tuple[bool, bool]:
        """Return whether a search finds the same splits, and if thresholds move."""
        if self._comparison is None or self._comparison[0] is not search:
            earlier = None if self._earlier is None else self._earlier.search
            has_costs = any(attribute.cost for attribute in self.schema.attributes)
            finds_same = has_moved = False
            if earlier is not None and not has_costs:
                finds_same = search.finds_same_splits(earlier, self.schema)
                if finds_same and search.recipe.thresholds == "observed":
                    has_moved = not _have_same_values(earlier, search)
            self._comparison = search, finds_same, has_moved
        return self._comparison[1:]

    def _with_new_thresholds(
        self, outcome: NodeOutcome, search: Search
    ) -> NodeOutcome | None:
        """Return an outcome with the thresholds of the current rows."""
        decision = rewrite_decision(outcome.decision, search, self._levels)
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
        current = self._nodes[node]
        current.attributes, current.outcome = attributes, outcome
        self._search = search

    def tree_state(self) -> TreeState:
        """Return the state of the new tree, over the remaining rows."""
        joined = self._joined
        places = np.zeros(len(joined.rows.classes), dtype=np.int64)
        places[joined.staying] = np.arange(len(joined.staying))
        states: dict[int, NodeState] = {}
        for number in sorted(self._nodes, reverse=True):  # children before parents
            node = self._nodes[number]
            members = node.members
            if len(joined.removed):
                members = WeighedRows(places[members.rows], members.weights)
            states[number] = NodeState(
                members,
                node.attributes,
                node.outcome,
                node.tables,
                node.agreement,
                node.route,
                {branch: states[child] for branch, child in node.children.items()},
            )
        return TreeState(states[ROOT], self._search, self._totals())


def _have_same_values(earlier: Search, search: Search) -> bool:
    """Return whether two searches observed the same values of all attributes."""
    values = search.root_summary.observed
    return all(
        np.array_equal(observed, values[index])
        for index, observed in earlier.root_summary.observed.items()
    )
