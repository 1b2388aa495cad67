"""Where the rows of nodes are: in a kept table, and some steps of splits from there.

Each line of a kept table is a row, or a part of one, at a node: its number, the weight,
the class, the cells. A step sends every line to the child of its node that the split
says, in one pass; a row that a split divides is joined with the children's shares::

    SELECT coalesce(child, share.to) AS node, weight * coalesce(share, 1) AS weight, …
    FROM (SELECT *, CASE node WHEN 5 THEN CASE WHEN a3 <= 0.5 THEN 8 ELSE 9 END … END
          AS child FROM …) LEFT JOIN (VALUES (5, 8, 0.7), (5, 9, 0.3)) AS share
          ON share.node = CASE WHEN child IS NULL THEN node END

Lines at nodes that nobody asks about fall out. So the tables of a level, in all, are no
longer than the rows that still matter; the one before is dropped.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from spinney.data import Attribute
from spinney.sources.base import ROOT
from spinney.sources.sql.engines.sql_engine import SqlEngine
from spinney.sources.sql.expressions import (
    bound,
    by_node,
    case,
    column,
    double,
    first_known,
    named,
    nothing,
    product,
    select,
    table,
    whole,
)
from spinney.sources.sql.sql_formula import expression_of
from spinney.sources.sql.sql_routes import NOWHERE, SqlRoutes
from spinney.trees import Route

Path = tuple[tuple[Route, int], ...]
SENT, SHARE = "spinney sent", "spinney share"


@dataclass(frozen=True, slots=True, eq=False)
class Location:
    """Where a node's rows are: in a table, at a node there, and then along a path."""

    table: str
    origin: int
    path: Path = ()


@dataclass(slots=True, eq=False)
class Leaving:
    """A node that a path goes on from: its route, and the nodes of its branches."""

    route: Route
    children: dict[int, int] = field(default_factory=dict)

    @property
    def drops(self) -> bool:
        """Whether a branch leads nowhere."""
        return len(self.children) < self.route.split.n_branches


class NodeRows:
    """The rows of all nodes that may be asked about.

    Parameters
    ----------
    engine : SqlEngine
    base : str
        The kept table of all rows, coded.
    columns : sequence of str
        Its columns beside node and weight.
    routes : SqlRoutes
    made : function
        The attribute at a place that has a formula, None where there is none.
    weighed : bool
        Whether the kept table has weights. Without them a line weighs 1, until a row
        is divided: the tables from there on have some.
    """

    def __init__(
        self,
        engine: SqlEngine,
        base: str,
        *,
        weighed: bool,
        columns: Sequence[str],
        routes: SqlRoutes,
        made: Callable[[int], Attribute | None],
    ) -> None:
        self._engine, self._base = engine, base
        self._columns, self._routes, self._made = columns, routes, made
        self._locations = {ROOT: Location(base, ROOT)}
        self._tables: dict[str, set[int]] = {base: {ROOT}}
        # What numbers lines have, of nodes that have gone elsewhere since, too.
        self._numbers: dict[str, frozenset[int]] = {base: frozenset([ROOT])}
        self._weighed = {base: weighed}

    def send(
        self, node: int, route: Route, children: dict[int, int], *, keep: bool
    ) -> None:
        """Note where the children of a node are."""
        at = self._locations[node]
        for branch, child in children.items():
            path = (*at.path, (route, branch))
            self._move(child, Location(at.table, at.origin, path))
        if node != ROOT and not keep:
            self.forget([node])

    def forget(self, nodes: Iterable[int]) -> None:
        """Let go of nodes, and of tables in which there is nobody left."""
        for node in nodes:
            location = self._locations.pop(node, None)
            if location is not None:
                self._leave(node, location.table)

    def _move(self, node: int, location: Location) -> None:
        before = self._locations.get(node)
        self._locations[node] = location
        self._tables[location.table].add(node)
        if before is not None and before.table != location.table:
            self._leave(node, before.table)

    def _leave(self, node: int, name: str) -> None:
        inside = self._tables[name]
        inside.discard(node)
        if not inside and name != self._base:
            del self._tables[name], self._numbers[name], self._weighed[name]
            self._engine.drop([name])

    def relations(
        self, nodes: Collection[int], asked: Collection[int]
    ) -> Iterator[tuple[Callable[[], exp.Query | exp.Table], bool]]:
        """Give the lines of nodes, some after the others, with their numbers.

        ``asked`` are the attributes that will be read, which may have formulas. With
        each comes whether its lines have weights.
        """
        for group in self.settled(nodes):
            (name,) = {self._locations[node].table for node in group}
            others = self._numbers[name].difference(group)
            yield (
                self._reader(name, group if others else (), asked),
                self._weighed[name],
            )

    def settled(self, nodes: Collection[int]) -> list[list[int]]:
        """Keep the lines of nodes that are steps away, and divide nodes by table."""
        groups = self._groups(nodes)
        for group in groups:
            if any(self._locations[node].path for node in group):
                self._settle(group)
        return groups

    def lines(self, nodes: Collection[int]) -> Iterator[exp.Query | exp.Table]:
        """Give the lines of nodes to be read once, some after the others."""
        for group in self._groups(nodes):
            name = self._locations[group[0]].table
            weighed = self._weighed[name]
            lines: exp.Query | exp.Table
            if any(self._locations[node].path for node in group):
                lines, weighed = self._stepped(group)
            else:
                lines = self._reader(name, group, ())()
            yield lines if weighed else with_weights(lines)

    def _reader(
        self, name: str, nodes: Sequence[int], asked: Collection[int]
    ) -> Callable[[], exp.Query | exp.Table]:
        """Return what gives the lines of a table, or of some of its nodes."""

        def read() -> exp.Query | exp.Table:
            made = self._with_made(table(name), asked)
            if not nodes:
                return made
            inside = exp.In(this=column("node"), expressions=list(map(whole, nodes)))
            return select([exp.Star()], made, inside)

        return read

    def _groups(self, nodes: Collection[int]) -> list[list[int]]:
        """Divide nodes by their tables, and so that no two ways lead from one node."""
        groups: list[tuple[str, dict[tuple[object, ...], object], list[int]]] = []
        for node in nodes:
            location = self._locations[node]
            ways = _ways(location)
            for name, taken, group in groups:
                if name == location.table and all(
                    taken.get(key, route) is route for key, route in ways.items()
                ):
                    taken.update(ways)
                    group.append(node)
                    break
            else:
                groups.append((location.table, ways, [node]))
        return [group for _, _, group in groups]

    def _settle(self, nodes: Sequence[int]) -> None:
        """Keep the lines of nodes as a table of their own."""
        query, weighed = self._stepped(nodes)
        kept = self._engine.keep(query)
        self._tables[kept], self._numbers[kept] = set(), frozenset(nodes)
        self._weighed[kept] = weighed
        for node in nodes:
            self._move(node, Location(kept, node))

    def _stepped(self, nodes: Sequence[int]) -> tuple[exp.Query, bool]:
        """Return the lines of nodes, some of them steps away from their table.

        Besides, whether they have weights.
        """
        name = self._locations[nodes[0]].table
        depth = max(len(self._locations[node].path) for node in nodes)
        relation: exp.Query | exp.Table = table(name)
        numbers, weighed = _Numbers(nodes, self._locations), self._weighed[name]
        for place in range(depth):
            steps, staying = numbers.by_place[place]
            every = not place and self._numbers[name] <= {*steps, *staying}
            relation, weighed = self._step(
                relation, steps, staying, weighed=weighed, every=every or place > 0
            )
        assert isinstance(relation, exp.Query)
        return relation, weighed

    def _step(
        self,
        relation: exp.Query | exp.Table,
        steps: dict[int, Leaving],
        staying: dict[int, int],
        *,
        weighed: bool,
        every: bool,
    ) -> tuple[exp.Query, bool]:
        """Return the lines one step further, and whether they have weights there.

        ``every`` says that all nodes of the relation go on or stay.
        """
        asked = {index for step in steps.values() for index in step.route.attributes}
        goes_to = {
            node: self._routes.sent(step.route, step.children)
            for node, step in steps.items()
        }
        goes_to |= {node: whole(number) for node, number in staying.items()}
        child = by_node(goes_to, NOWHERE)
        cells = ["node", *(["weight"] if weighed else []), *self._columns]
        sent = select(
            [*map(column, cells), named(child, "child")],
            self._with_made(relation, asked),
        )
        divided = [
            (whole(node), whole(number), bound(float(step.route.split.shares[branch])))
            for node, step in steps.items()
            if step.route.otherwise is None and step.route.split.missing is None
            for branch, number in step.children.items()
            if step.route.split.shares[branch] > 0
        ]
        goes: exp.Expr = column("child", SENT)
        weight: exp.Expr | None = column("weight", SENT) if weighed else None
        if divided:
            goes = first_known([goes, column("to", SHARE)])
            share = first_known([double(column("share", SHARE)), bound(1.0)])
            weight = share if weight is None else product(weight, share)
        most = max((*staying.values(), *_numbers_of(steps.values())), default=0)
        number = exp.Cast(this=goes, to=self._engine.whole_type(NOWHERE, most))
        listed = [
            named(number, "node"),
            *([] if weight is None else [named(weight, "weight")]),
            *(column(name, SENT) for name in self._columns),
        ]
        # To drop lines an engine may look twice for where each of them goes.
        drops = divided or not every or any(step.drops for step in steps.values())
        stays = exp.GTE(this=goes.copy(), expression=whole(0)) if drops else None
        query = select(listed, sent, stays, name=SENT)
        if divided:
            apart = case((nothing(column("child", SENT)), column("node", SENT)))
            equal = exp.EQ(this=column("from", SHARE), expression=apart)
            lines = self._engine.values(divided, ("from", "to", "share"), SHARE)
            query.append("joins", exp.Join(this=lines, side="LEFT", on=equal))
        return query, weight is not None

    def _with_made(
        self, relation: exp.Query | exp.Table, indices: Collection[int]
    ) -> exp.Query | exp.Table:
        """Return a relation with those of these attributes that have formulas."""
        made = [
            named(expression_of(attribute), f"a{index}")
            for index in sorted(indices)
            if (attribute := self._made(index)) is not None
        ]
        return select([exp.Star(), *made], relation) if made else relation


def with_weights(relation: exp.Query | exp.Table) -> exp.Select:
    """Return lines of which none has a weight with that of 1."""
    return select([exp.Star(), named(double(whole(1)), "weight")], relation)


def _numbers_of(steps: Iterable[Leaving]) -> list[int]:
    """Return the numbers of all children that rows are sent to."""
    return [number for step in steps for number in step.children.values()]


def _ways(location: Location) -> dict[tuple[object, ...], object]:
    """Return which route leads on from each node of a path; none from the last."""
    ways: dict[tuple[object, ...], object] = {}
    key: tuple[object, ...] = (location.origin,)
    for route, branch in location.path:
        ways[key] = route
        key = (*key, branch)
    ways[key] = location
    return ways


class _Numbers:
    """Numbers the nodes of paths: wanted ones by their own, others above these.

    At each place of paths there are nodes that go on, by number, and nodes that have
    arrived before, with what they are called from there on.
    """

    def __init__(self, nodes: Sequence[int], locations: dict[int, Location]) -> None:
        self.by_place: list[tuple[dict[int, Leaving], dict[int, int]]] = []
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
            steps: dict[int, Leaving] = {}
            staying: dict[int, int] = {}
            for node in nodes:
                location = locations[node]
                path = location.path
                if len(path) <= place:
                    before = location.origin if not place else node
                    staying[before] = node
                    continue
                key = (location.origin, *(branch for _, branch in path[:place]))
                before = location.origin if not place else numbers[key]
                route, branch = path[place]
                last = len(path) == place + 1
                step = steps.setdefault(before, Leaving(route))
                step.children[branch] = number((*key, branch), node if last else None)
            self.by_place.append((steps, staying))
