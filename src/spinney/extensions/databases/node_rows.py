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

An engine may change the numbers of nodes in a kept table sooner than it makes another
one. There the lines that fall out go to ``NOWHERE``, until half of them have: then the
others are kept anew. So the table of all rows, too, may say where they are of late: the
rows of the root are then all of its lines, whatever their numbers.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from spinney.data import Attribute
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.expressions import (
    FEW_NODES,
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
from spinney.extensions.databases.route_lists import looked_up
from spinney.extensions.databases.sql_formula import expression_of
from spinney.extensions.databases.sql_routes import NOWHERE, SqlRoutes
from spinney.sources.base import ROOT
from spinney.trees import Route

Path = tuple[tuple[Route, int], ...]
SENT, SHARE = "spinney sent", "spinney share"
EVERY = "spinney every row"
"""What stands for the base where the numbers of its lines have been changed."""
MOST_NUMBER = 2**31 - 1
"""What a column that is changed must have room for."""


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

    @property
    def divides(self) -> bool:
        """Whether a row whose value is missing goes to several branches."""
        return self.route.default_branch is None and self.route.split.missing is None


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
    alone : bool
        Whether nobody else reads the kept table, so that its numbers may be changed.
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
        alone: bool = False,
    ) -> None:
        self._engine, self._base, self._alone = engine, base, alone
        self._columns, self._routes, self._made = columns, routes, made
        self._locations = {ROOT: Location(base, ROOT)}
        self._tables: dict[str, set[int]] = {base: {ROOT}}
        # What numbers lines have, of nodes that have gone elsewhere since, too.
        self._numbers: dict[str, frozenset[int]] = {base: frozenset([ROOT])}
        self._weighed = {base: weighed}
        # How many lines a table had that were somewhere, at first and of late.
        self._changed: dict[str, tuple[int, int]] = {}

    def send(
        self, node: int, route: Route, children: dict[int, int], *, keep: bool
    ) -> None:
        """Note where the children of a node are."""
        at = self._locations[node]
        for branch, child in children.items():
            path = (*at.path, (route, branch))
            self._move(child, Location(at.table, at.origin, path))
        if node != ROOT and not keep:
            self.release([node])

    def release(self, nodes: Iterable[int]) -> None:
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
        if not inside and name not in (self._base, EVERY):
            del self._tables[name], self._numbers[name], self._weighed[name]
            self._changed.pop(name, None)
            self._engine.drop([name])

    def relations(
        self, nodes: Collection[int], asked: Collection[int], *, joined: bool = False
    ) -> Iterator[tuple[Callable[[], exp.Query | exp.Table], bool]]:
        """Give the lines of nodes, some after the others, with their numbers.

        ``asked`` are the attributes that will be read, which may have formulas. With
        each comes whether its lines have weights. Those that will be ``joined`` by
        their nodes may have lines of others among them.
        """
        for group in self.settled(nodes):
            (name,) = {self._locations[node].table for node in group}
            others = self._numbers[name].difference(group) and not joined
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
            made = self._with_made(self._lines_of(name), asked)
            if not nodes:
                return made
            if self._numbers[name] == {NOWHERE, *nodes}:
                return select([exp.Star()], made, _is_somewhere())
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
        kept = self._locations[nodes[0]].table
        if not self._renumbered(kept, nodes):
            query, weighed = self._stepped(nodes)
            kept = self._engine.keep(query)
            self._tables[kept], self._numbers[kept] = set(), frozenset(nodes)
            self._weighed[kept] = weighed
        for node in nodes:
            self._move(node, Location(kept, node))

    def _renumbered(self, name: str, nodes: Sequence[int]) -> bool:
        """Change the numbers of lines to those of nodes one step on, if that may be.

        It may where nobody else is in the table but the root, no row is divided, and
        half of the lines at least still are somewhere.
        """
        first, last = self._changed.get(name, (0, 0))
        if not self._engine.changes or 2 * last < first or name == EVERY:
            return False
        if (name == self._base and not self._alone) or ROOT in nodes:
            return False
        numbers = _Numbers(nodes, self._locations)
        if len(numbers.by_place) > 1 or not self._tables[name] <= {ROOT, *nodes}:
            return False
        steps, staying = numbers.by_place[0]
        if any(step.divides for step in steps.values()) or self._with_formulas(steps):
            return False
        here = self._numbers[name] - {NOWHERE}
        number = self._child(steps, staying, here)
        if name == self._locations[ROOT].table:
            self._tables[EVERY], self._numbers[EVERY] = set(), frozenset([ROOT])
            self._weighed[EVERY] = self._weighed[name]
            self._move(ROOT, Location(EVERY, ROOT))
        n_lines = self._engine.change(name, {"node": number}, _is_somewhere())
        self._changed[name] = first or n_lines, n_lines
        leave = here > {*steps, *staying} or any(s.drops for s in steps.values())
        before = {NOWHERE} & self._numbers[name]
        self._numbers[name] = frozenset([*nodes, *([NOWHERE] if leave else before)])
        return True

    def _lines_of(self, name: str) -> exp.Query | exp.Table:
        """Return the lines of a table, or those of the base as they were at first."""
        if name != EVERY:
            return table(name)
        kind = self._engine.whole_type(NOWHERE, MOST_NUMBER)
        number = named(exp.Cast(this=whole(ROOT), to=kind), "node")
        weight = ["weight"] if self._weighed[EVERY] else []
        cells = map(column, [*weight, *self._columns])
        return select([number, *cells], table(self._base))

    def _with_formulas(self, steps: Mapping[int, Leaving]) -> bool:
        """Return whether a split is of an attribute that has a formula."""
        asked = (index for step in steps.values() for index in step.route.attributes)
        return any(self._made(index) is not None for index in asked)

    def _stepped(self, nodes: Sequence[int]) -> tuple[exp.Query, bool]:
        """Return the lines of nodes, some of them steps away from their table.

        Besides, whether they have weights.
        """
        name = self._locations[nodes[0]].table
        depth = max(len(self._locations[node].path) for node in nodes)
        relation = self._lines_of(name)
        here: Collection[int] = self._numbers[name]
        if NOWHERE in here:
            relation = select([exp.Star()], relation, _is_somewhere())
            here = {*here} - {NOWHERE}
        numbers, weighed = _Numbers(nodes, self._locations), self._weighed[name]
        for place in range(depth):
            steps, staying = numbers.by_place[place]
            here = here if not place else {*steps, *staying}
            relation, weighed = self._step(
                relation, steps, staying, weighed=weighed, here=here
            )
        assert isinstance(relation, exp.Query)
        return relation, weighed

    def _child(
        self,
        steps: Mapping[int, Leaving],
        staying: Mapping[int, int],
        here: Collection[int],
    ) -> exp.Expr:
        """Return the number of the node that a line comes to, NULL if it is divided.

        ``here`` are the numbers that lines have.
        """
        if self._engine.lists and len(here) > FEW_NODES:
            stays = {**dict.fromkeys(here, NOWHERE), **staying}
            leaving = {n: (s.route, s.children) for n, s in steps.items()}
            found = looked_up(
                self._engine,
                leaving,
                {node: n for node, n in stays.items() if node not in leaving},
                attribute=self._routes.attribute,
                nowhere=NOWHERE,
            )
            if found is not None:
                return found
        goes_to = {
            node: self._routes.sent(step.route, step.children)
            for node, step in steps.items()
        }
        goes_to |= {node: whole(number) for node, number in staying.items()}
        return by_node(goes_to, NOWHERE)

    def _step(
        self,
        relation: exp.Query | exp.Table,
        steps: dict[int, Leaving],
        staying: dict[int, int],
        *,
        weighed: bool,
        here: Collection[int],
    ) -> tuple[exp.Query, bool]:
        """Return the lines one step further, and whether they have weights there.

        ``here`` are the numbers that lines have before.
        """
        asked = {index for step in steps.values() for index in step.route.attributes}
        child = self._child(steps, staying, here)
        cells = ["node", *(["weight"] if weighed else []), *self._columns]
        sent = select(
            [*map(column, cells), named(child, "child")],
            self._with_made(relation, asked),
        )
        divided = [
            (whole(node), whole(number), bound(float(step.route.split.shares[branch])))
            for node, step in steps.items()
            if step.divides
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
        most = MOST_NUMBER if self._engine.changes else most
        number = exp.Cast(this=goes, to=self._engine.whole_type(NOWHERE, most))
        listed = [
            named(number, "node"),
            *([] if weight is None else [named(weight, "weight")]),
            *(column(name, SENT) for name in self._columns),
        ]
        # To drop lines an engine may look twice for where each of them goes.
        every = {*here} <= {*steps, *staying}
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


def _is_somewhere() -> exp.Expr:
    """Return whether a line is at a node that somebody asks about."""
    return exp.GTE(this=column("node"), expression=whole(0))


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
