"""The rows of nodes: a stored table, and the splits applied to it since.

Each line of a stored table is a row, or a fraction of one, at a node: the number of
the node, the weight, the class, the cells. A step sends every line to the child of its
node in one pass; a row that a split divides is joined with the shares of the children::

    SELECT coalesce(child, share.to) AS node, weight * coalesce(share, 1) AS weight, …
    FROM (SELECT *, CASE node WHEN 5 THEN CASE WHEN a3 <= 0.5 THEN 8 ELSE 9 END … END
          AS child FROM …) LEFT JOIN (VALUES (5, 8, 0.7), (5, 9, 0.3)) AS share
          ON share.node = CASE WHEN child IS NULL THEN node END

Lines of finished nodes are removed. So the tables of a level together are no longer
than the rows in use; the previous one is dropped.

Some engines update the numbers of nodes faster than they create a table. Removed lines
then go to ``DROPPED``, until they are half of all: then the others are stored again.
The table of all rows may be updated, too; all its lines are then the rows of the root.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from spinney.data import Attribute
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.expressions import FEW_NODES
from spinney.extensions.databases.sql_formula import expression_of
from spinney.extensions.databases.sql_routes import DROPPED, SqlRoutes, child_by_lists
from spinney.sources.base import ROOT
from spinney.trees import Route

Path = tuple[tuple[Route, int], ...]
SENT, SHARE = "spinney sent", "spinney share"
ALL_ROWS = "spinney all rows"
"""The name of the base table once the node numbers in it have been updated."""
MAX_NUMBER = 2**31 - 1
"""The largest node number that the updated column can hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Location:
    """The location of a node's rows: a table, a node there, and a path from it."""

    table: str
    origin: int
    path: Path = ()


@dataclass(slots=True, eq=False)
class SplitStep:
    """A split on a path: its node, its route and the nodes of its branches."""

    route: Route
    children: dict[int, int] = field(default_factory=dict)

    @property
    def drops(self) -> bool:
        """Whether the rows of a branch are dropped."""
        return len(self.children) < self.route.split.n_branches

    @property
    def divides(self) -> bool:
        """Whether a row with a missing value goes to several branches."""
        return self.route.fallback_branch is None


class NodeRows:
    """The rows of all active nodes.

    Parameters
    ----------
    engine : SqlEngine
    base : str
        The stored table of all encoded rows.
    columns : sequence of str
        Its columns except node and weight.
    routes : SqlRoutes
    constructed : function
        Returns the constructed attribute of an index, or None.
    has_weights : bool
        Whether the stored table has weights. Without them, a line weighs 1 until a row
        is divided.
    owns_base : bool
        Whether the stored table may be updated, as nothing else reads it.
    """

    def __init__(
        self,
        engine: SqlEngine,
        base: str,
        *,
        has_weights: bool,
        columns: Sequence[str],
        routes: SqlRoutes,
        constructed: Callable[[int], Attribute | None],
        owns_base: bool = False,
    ) -> None:
        self._engine, self._base, self._owns_base = engine, base, owns_base
        self._columns, self._routes, self._constructed = columns, routes, constructed
        self._locations = {ROOT: Location(base, ROOT)}
        self._tables: dict[str, set[int]] = {base: {ROOT}}
        # The node numbers in each table, including those of moved nodes.
        self._numbers: dict[str, frozenset[int]] = {base: frozenset([ROOT])}
        self._weighed = {base: has_weights}
        # The number of active lines of a table, at first and now.
        self._updated: dict[str, tuple[int, int]] = {}

    def send(
        self, node: int, route: Route, children: dict[int, int], *, keep: bool
    ) -> None:
        """Record the location of a node's children."""
        location = self._locations[node]
        for branch, child in children.items():
            path = (*location.path, (route, branch))
            self._set_location(child, Location(location.table, location.origin, path))
        if node != ROOT and not keep:
            self.release([node])

    def release(self, nodes: Iterable[int]) -> None:
        """Release nodes, and drop tables without nodes."""
        for node in nodes:
            location = self._locations.pop(node, None)
            if location is not None:
                self._release_table(node, location.table)

    def _set_location(self, node: int, location: Location) -> None:
        before = self._locations.get(node)
        self._locations[node] = location
        self._tables[location.table].add(node)
        if before is not None and before.table != location.table:
            self._release_table(node, before.table)

    def _release_table(self, node: int, name: str) -> None:
        inside = self._tables[name]
        inside.discard(node)
        if not inside and name not in (self._base, ALL_ROWS):
            del self._tables[name], self._numbers[name], self._weighed[name]
            self._updated.pop(name, None)
            self._engine.drop([name])

    def relations(
        self, nodes: Collection[int], used: Collection[int], *, joined: bool = False
    ) -> Iterator[tuple[Callable[[], exp.Query | exp.Table], bool]]:
        """Yield relations of the lines of nodes, and whether each has weights.

        ``used`` are the attributes to read, constructed ones included. Relations that
        will be ``joined`` by node may contain lines of other nodes.
        """
        for group in self.stored_groups(nodes):
            (name,) = {self._locations[node].table for node in group}
            others = self._numbers[name].difference(group) and not joined
            yield (
                self._relation_reader(name, group if others else (), used),
                self._weighed[name],
            )

    def stored_groups(self, nodes: Collection[int]) -> list[list[int]]:
        """Store the lines of nodes with unapplied splits; return nodes by table."""
        groups = self._nodes_by_table(nodes)
        for group in groups:
            if any(self._locations[node].path for node in group):
                self._store_nodes(group)
        return groups

    def lines(self, nodes: Collection[int]) -> Iterator[exp.Query | exp.Table]:
        """Yield relations of the lines of nodes, each to be read once."""
        for group in self._nodes_by_table(nodes):
            name = self._locations[group[0]].table
            has_weights = self._weighed[name]
            lines: exp.Query | exp.Table
            if any(self._locations[node].path for node in group):
                lines, has_weights = self._query_after_steps(group)
            else:
                lines = self._relation_reader(name, group, ())()
            yield lines if has_weights else with_weights(lines)

    def _relation_reader(
        self, name: str, nodes: Sequence[int], used: Collection[int]
    ) -> Callable[[], exp.Query | exp.Table]:
        """Return a function that returns the lines of nodes in a table."""

        def read() -> exp.Query | exp.Table:
            constructed = self._with_constructed(self._lines_of(name), used)
            if not nodes:
                return constructed
            if self._numbers[name] == {DROPPED, *nodes}:
                return sql.select([exp.Star()], constructed, _is_active())
            inside = exp.In(
                this=sql.column("node"), expressions=list(map(sql.integer, nodes))
            )
            return sql.select([exp.Star()], constructed, inside)

        return read

    def _nodes_by_table(self, nodes: Collection[int]) -> list[list[int]]:
        """Divide nodes by table, so that each node on a path has one route."""
        groups: list[tuple[str, dict[tuple[object, ...], object], list[int]]] = []
        for node in nodes:
            location = self._locations[node]
            node_routes = _routes_on_path(location)
            for name, routes, group in groups:
                if name == location.table and all(
                    routes.get(key, route) is route
                    for key, route in node_routes.items()
                ):
                    routes.update(node_routes)
                    group.append(node)
                    break
            else:
                groups.append((location.table, node_routes, [node]))
        return [group for _, _, group in groups]

    def _store_nodes(self, nodes: Sequence[int]) -> None:
        """Store the lines of nodes as a new table."""
        stored = self._locations[nodes[0]].table
        if not self._update_nodes(stored, nodes):
            query, has_weights = self._query_after_steps(nodes)
            stored = self._engine.store(query)
            self._tables[stored], self._numbers[stored] = set(), frozenset(nodes)
            self._weighed[stored] = has_weights
        for node in nodes:
            self._set_location(node, Location(stored, node))

    def _update_nodes(self, name: str, nodes: Sequence[int]) -> bool:
        """Update node numbers to those after one step; return whether this is possible.

        It is possible if only these nodes or the root use the table, no row is divided,
        and at least half of the lines are active.
        """
        first, last = self._updated.get(name, (0, 0))
        if not self._engine.prefers_update or 2 * last < first or name == ALL_ROWS:
            return False
        if (name == self._base and not self._owns_base) or ROOT in nodes:
            return False
        numbers = _NodeNumbers(nodes, self._locations)
        if len(numbers.by_place) > 1 or not self._tables[name] <= {ROOT, *nodes}:
            return False
        steps, arrived = numbers.by_place[0]
        if any(step.divides for step in steps.values()) or self._with_formulas(steps):
            return False
        present = self._numbers[name] - {DROPPED}
        number = self._next_node(steps, arrived, present)
        if name == self._locations[ROOT].table:
            self._tables[ALL_ROWS], self._numbers[ALL_ROWS] = set(), frozenset([ROOT])
            self._weighed[ALL_ROWS] = self._weighed[name]
            self._set_location(ROOT, Location(ALL_ROWS, ROOT))
        n_lines = self._engine.update(name, {"node": number}, _is_active())
        self._updated[name] = first or n_lines, n_lines
        leave = present > {*steps, *arrived} or any(s.drops for s in steps.values())
        before = {DROPPED} & self._numbers[name]
        self._numbers[name] = frozenset([*nodes, *([DROPPED] if leave else before)])
        return True

    def _lines_of(self, name: str) -> exp.Query | exp.Table:
        """Return the lines of a table, or the root's lines if it is an updated base."""
        if name != ALL_ROWS:
            return sql.table(name)
        kind = self._engine.integer_type(DROPPED, MAX_NUMBER)
        number = sql.alias(exp.Cast(this=sql.integer(ROOT), to=kind), "node")
        weight = ["weight"] if self._weighed[ALL_ROWS] else []
        cells = map(sql.column, [*weight, *self._columns])
        return sql.select([number, *cells], sql.table(self._base))

    def _with_formulas(self, steps: Mapping[int, SplitStep]) -> bool:
        """Return whether a split uses a constructed attribute."""
        used = (index for step in steps.values() for index in step.route.attributes)
        return any(self._constructed(index) is not None for index in used)

    def _query_after_steps(self, nodes: Sequence[int]) -> tuple[exp.Query, bool]:
        """Return the lines of nodes after unapplied splits.

        The second result says whether the lines have weights.
        """
        name = self._locations[nodes[0]].table
        depth = max(len(self._locations[node].path) for node in nodes)
        relation = self._lines_of(name)
        present: Collection[int] = self._numbers[name]
        if DROPPED in present:
            relation = sql.select([exp.Star()], relation, _is_active())
            present = {*present} - {DROPPED}
        numbers, has_weights = _NodeNumbers(nodes, self._locations), self._weighed[name]
        for place in range(depth):
            steps, arrived = numbers.by_place[place]
            present = present if not place else {*steps, *arrived}
            relation, has_weights = self._after_step(
                relation, steps, arrived, has_weights=has_weights, present=present
            )
        assert isinstance(relation, exp.Query)
        return relation, has_weights

    def _next_node(
        self,
        steps: Mapping[int, SplitStep],
        arrived: Mapping[int, int],
        present: Collection[int],
    ) -> exp.Expr:
        """Return the next node of a line, NULL if the line is divided.

        ``present`` are the current node numbers of lines.
        """
        if self._engine.has_lists and len(present) > FEW_NODES:
            stays = {**dict.fromkeys(present, DROPPED), **arrived}
            leaving = {n: (s.route, s.children) for n, s in steps.items()}
            by_lists = child_by_lists(
                self._engine,
                leaving,
                {node: n for node, n in stays.items() if node not in leaving},
                attribute=self._routes.attribute,
            )
            if by_lists is not None:
                return by_lists
        goes_to = {
            node: self._routes.sent(step.route, step.children)
            for node, step in steps.items()
        }
        goes_to |= {node: sql.integer(number) for node, number in arrived.items()}
        return sql.by_node(goes_to, DROPPED)

    def _after_step(
        self,
        relation: exp.Query | exp.Table,
        steps: dict[int, SplitStep],
        arrived: dict[int, int],
        *,
        has_weights: bool,
        present: Collection[int],
    ) -> tuple[exp.Query, bool]:
        """Return the lines after one step, and whether they have weights.

        ``present`` are the node numbers before the step.
        """
        used = {index for step in steps.values() for index in step.route.attributes}
        child = self._next_node(steps, arrived, present)
        cells = ["node", *(["weight"] if has_weights else []), *self._columns]
        sent = sql.select(
            [*map(sql.column, cells), sql.alias(child, "child")],
            self._with_constructed(relation, used),
        )
        divided = [
            (
                sql.integer(node),
                sql.integer(number),
                sql.param(float(step.route.split.shares[branch])),
            )
            for node, step in steps.items()
            if step.divides
            for branch, number in step.children.items()
            if step.route.split.shares[branch] > 0
        ]
        child_node: exp.Expr = sql.column("child", SENT)
        weight: exp.Expr | None = sql.column("weight", SENT) if has_weights else None
        if divided:
            child_node = sql.coalesce([child_node, sql.column("to", SHARE)])
            share = sql.coalesce(
                [sql.double(sql.column("share", SHARE)), sql.param(1.0)]
            )
            weight = share if weight is None else sql.product(weight, share)
        sent_to = (n for step in steps.values() for n in step.children.values())
        max_node = max((*arrived.values(), *sent_to), default=0)
        max_node = MAX_NUMBER if self._engine.prefers_update else max_node
        number = exp.Cast(
            this=child_node, to=self._engine.integer_type(DROPPED, max_node)
        )
        listed = [
            sql.alias(number, "node"),
            *([] if weight is None else [sql.alias(weight, "weight")]),
            *(sql.column(name, SENT) for name in self._columns),
        ]
        # Dropping lines, an engine may compute the next node of each line twice.
        keeps_all = {*present} <= {*steps, *arrived}
        drops = divided or not keeps_all or any(step.drops for step in steps.values())
        stays = (
            exp.GTE(this=child_node.copy(), expression=sql.integer(0))
            if drops
            else None
        )
        query = sql.select(listed, sent, stays, name=SENT)
        if divided:
            divided_node = sql.case(
                (sql.is_null(sql.column("child", SENT)), sql.column("node", SENT))
            )
            equal = exp.EQ(this=sql.column("from", SHARE), expression=divided_node)
            lines = self._engine.values(divided, ("from", "to", "share"), SHARE)
            query.append("joins", exp.Join(this=lines, side="LEFT", on=equal))
        return query, weight is not None

    def _with_constructed(
        self, relation: exp.Query | exp.Table, indices: Collection[int]
    ) -> exp.Query | exp.Table:
        """Return a relation extended by the constructed ones of these attributes."""
        constructed = [
            sql.alias(expression_of(attribute), f"a{index}")
            for index in sorted(indices)
            if (attribute := self._constructed(index)) is not None
        ]
        return (
            sql.select([exp.Star(), *constructed], relation)
            if constructed
            else relation
        )


def with_weights(relation: exp.Query | exp.Table) -> exp.Select:
    """Return unweighted lines with a weight of 1."""
    return sql.select(
        [exp.Star(), sql.alias(sql.double(sql.integer(1)), "weight")], relation
    )


def _is_active() -> exp.Expr:
    """Return the condition that a line is at an active node."""
    return exp.GTE(this=sql.column("node"), expression=sql.integer(0))


def _routes_on_path(location: Location) -> dict[tuple[object, ...], object]:
    """Return the route of each node on a path; None for the last."""
    routes: dict[tuple[object, ...], object] = {}
    key: tuple[object, ...] = (location.origin,)
    for route, branch in location.path:
        routes[key] = route
        key = (*key, branch)
    routes[key] = location
    return routes


class _NodeNumbers:
    """Numbers the nodes of paths: requested nodes keep theirs, others get higher ones.

    At each depth of the paths, nodes have further steps, or have arrived and are
    renumbered.
    """

    def __init__(self, nodes: Sequence[int], locations: dict[int, Location]) -> None:
        self.by_place: list[tuple[dict[int, SplitStep], dict[int, int]]] = []
        above = max(nodes) + 1
        numbers: dict[tuple[object, ...], int] = {}

        def number(key: tuple[object, ...], ends: int | None) -> int:
            nonlocal above
            if ends is not None:
                numbers[key] = ends
            elif key not in numbers:
                numbers[key] = above
                above += 1
            return numbers[key]

        depth = max(len(locations[node].path) for node in nodes)
        for place in range(depth):
            steps: dict[int, SplitStep] = {}
            arrived: dict[int, int] = {}
            for node in nodes:
                location = locations[node]
                path = location.path
                if len(path) <= place:
                    before = location.origin if not place else node
                    arrived[before] = node
                    continue
                key = (location.origin, *(branch for _, branch in path[:place]))
                before = location.origin if not place else numbers[key]
                route, branch = path[place]
                last = len(path) == place + 1
                step = steps.setdefault(before, SplitStep(route))
                step.children[branch] = number((*key, branch), node if last else None)
            self.by_place.append((steps, arrived))
