"""Rows in DuckDB: the learner's questions as SQL, the data where it is.

A node is the list of splits on its path with the branches taken. A row's weight
at a node is its own weight times, for each split, 1 where its value takes the
branch, the branch's share where the value is missing and the split divides such
rows, and 0 otherwise. With surrogates the branch is the first that is not NULL of
COALESCE(the split's, the surrogates' in order, the last one). So no row is marked,
copied or numbered: one grouped statement answers a whole level::

    SELECT node, class, count(*), sum(weight * part), a0, a1, GROUPING(a0, a1)
    FROM (SELECT … AS a0, … AS a1, … AS class, … AS weight FROM the relation),
         (the nodes), LATERAL (SELECT CASE node WHEN 5 THEN … END AS part)
    WHERE part > 0
    GROUP BY GROUPING SETS ((node, class, a0), (node, class, a1))

Of a numeric target the sums are those of its moments, and rows are not grouped by it.

Names are quoted; values are bound where there is a connection to bind them to,
and written as escaped literals by one function where there is only a relation.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.counts import CountTable
from spinney.relation import SqlColumn, quote_text, translated_errors
from spinney.schema import Schema
from spinney.sources.base import LARGEST_WHOLE, ROOT, Agreement, Request, Totals
from spinney.sources.sql_routes import Path, SqlRoutes, Values
from spinney.split import Route
from spinney.table import Value

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["Engine", "SqlRows", "SqlSource"]

# GROUPING takes at most 64 columns in DuckDB.
GROUPING_COLUMNS = 60

# A value with the column of its count, its number of rows, the column of its first
# amount, and the amounts: one weight, or the moments of a number.
Entry = tuple[Any, int, int, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Engine:
    """Runs statements over a relation; values are bound if there is a connection.

    In statements the relation goes by ``name``, which is nobody else's.
    """

    relation: "DuckDBPyRelation"
    connection: "DuckDBPyConnection | None" = None
    name: str = field(default_factory=lambda: f"spinney_rows_{token_hex(8)}")

    def __enter__(self) -> "Engine":
        if self.connection is not None:
            with translated_errors("the table"):
                self.connection.register(self.name, self.relation)
        return self

    def __exit__(self, *_: object) -> None:
        if self.connection is not None:
            self.connection.unregister(self.name)

    def mark(self, value: str | float, values: list[str | float]) -> str:
        """Return what stands for a value in a statement; note it if it is bound."""
        if self.connection is not None:
            values.append(value)
            return "CAST(? AS DOUBLE)" if isinstance(value, float) else "?"
        if isinstance(value, str):
            return quote_text(value)
        return _number(value)

    def fetch(
        self, statement: str, values: Sequence[str | float] = ()
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a statement about ``name``."""
        with translated_errors("the table"):
            if self.connection is None:
                answer = self.relation.query(self.name, statement)
                return [] if answer is None else answer.fetchall()
            return self.connection.execute(statement, list(values)).fetchall()


@dataclass(frozen=True, slots=True)
class Measure:
    """What is counted: by which keys, which sums, and how an answer's line is read.

    ``read`` gives the column of a line, its number of rows and its amounts; a table
    has so many columns of weights and of rows.
    """

    keys: tuple[str, ...]
    sums: tuple[str, ...]
    read: Callable[[Sequence[Any]], tuple[int, int, tuple[float, ...]]]
    width: int
    n_outputs: int

    @property
    def selected(self) -> tuple[str, ...]:
        """What a statement selects."""
        return (*self.keys, "count(*)", *self.sums)


@dataclass(frozen=True, slots=True)
class SqlRows:
    """The columns that the learner needs, as SQL over the relation."""

    relation: str
    attributes: tuple[SqlColumn, ...]
    target: SqlColumn
    weight: SqlColumn | None = None

    def select(self) -> str:
        """Return the select that names them a0, a1 …, class and weight."""
        weight = "1.0" if self.weight is None else self.weight.expression
        named = [
            *(
                f"{column.expression} AS a{i}"
                for i, column in enumerate(self.attributes)
            ),
            f"{self.target.expression} AS class",
            f"CAST({weight} AS DOUBLE) AS weight",
        ]
        inner = f"SELECT {', '.join(named)} FROM {self.relation}"
        return f"SELECT * FROM ({inner}) WHERE class IS NOT NULL AND weight > 0"


class SqlSource:
    """Rows in a DuckDB relation.

    Parameters
    ----------
    engine : Engine
        Where the rows are.
    rows : SqlRows
        The attributes, target and weight as SQL.
    schema : Schema
        What the codes mean.
    """

    def __init__(self, engine: Engine, rows: SqlRows, schema: Schema) -> None:
        self.schema = schema
        self._engine = engine
        self._rows = rows
        self._codes = [
            {column.text(value): code for code, value in enumerate(attribute.values)}
            for column, attribute in zip(
                rows.attributes, schema.attributes, strict=True
            )
        ]
        self._classes = {
            _class_key(rows.target, label): code
            for code, label in enumerate(schema.target.classes)
        }
        self._paths: dict[int, Path] = {ROOT: ()}
        self._routes = SqlRoutes(schema, rows.attributes, engine.mark)
        self._totals, self.whole = self._count_classes()

    def _count_classes(self) -> tuple[Totals, bool]:
        target = self.schema.target
        weights = np.zeros(target.width)
        rows = np.zeros(target.n_outputs, dtype=np.int64)
        whole = True
        measure = self._of_target("weight")
        last = measure.sums[-1].removeprefix("sum(").removesuffix(")")
        statement = (
            f"SELECT {', '.join(measure.selected)}, "
            f"bool_and({last} = floor({last})) FROM ({self._rows.select()})"
            f"{' GROUP BY class' if measure.keys else ''}"
        )
        for *line, is_whole in self._engine.fetch(statement):
            code, count, found = self._measures(line)
            rows[code] = count
            weights[code : code + len(found)] = found
            whole = whole and bool(is_whole)
        exact = bool(weights[-1 if target.is_numeric else ...].sum() <= LARGEST_WHOLE)
        return Totals(weights, rows), whole and exact

    def _of_target(self, weight: str) -> Measure:
        """Return how the target is counted: weights by class, or moments."""
        target = self.schema.target
        if target.origin is None:
            keys, sums = ["class"], [f"sum({weight})"]
        else:
            number = f"(class - {_number(target.origin)})"
            first = f"{weight} * {number}"
            keys = []
            sums = [f"sum({weight})", f"sum({first})", f"sum({first} * {number})"]
        return Measure(
            tuple(keys), tuple(sums), self._measures, target.width, target.n_outputs
        )

    def _measures(self, line: Sequence[Any]) -> tuple[int, int, tuple[float, ...]]:
        """Return the column, the number of rows and the amounts of an answer's line."""
        code = 0
        if not self.schema.target.is_numeric:
            code, line = self._classes[line[0]], line[1:]
        return code, int(line[0]), tuple(float(amount) for amount in line[1:])

    def root(self) -> Totals:
        """Return the totals of all rows."""
        return self._totals

    def partition(
        self,
        node: int,
        route: Route,
        children: Mapping[int, int],
        *,
        keep: bool = False,
    ) -> None:
        """Remember the paths of the children."""
        path = self._paths[node]
        if node != ROOT and not keep:
            del self._paths[node]
        for branch, child in children.items():
            self._paths[child] = (*path, (route, branch))

    def forget(self, nodes: Iterable[int]) -> None:
        """Forget the paths of nodes."""
        for node in nodes:
            self._paths.pop(node, None)

    def tables(self, requests: Sequence[Request]) -> list[dict[int, CountTable]]:
        """Return for each request the tables by attribute, from one statement."""
        values: Values = []
        nodes = self._nodes([request.node for request in requests], values)
        measure = self._of_target("weight * part")
        return self._counted(requests, f"{nodes} WHERE part > 0", measure, values)

    def agreements(self, requests: Sequence[Agreement]) -> list[dict[int, CountTable]]:
        """Return for each request the tables of value × branch, from one statement."""
        values: Values = []
        nodes = self._nodes([request.node for request in requests], values)
        goes = {r.node: self._routes.branch(r.split, values) for r in requests}
        rows = f"{nodes}, {_by_node(goes, 'branch')} WHERE part > 0"
        n_branches = max((r.split.n_branches for r in requests), default=0)
        measure = Measure(
            ("branch",), ("sum(weight * part)",), _read_code, n_branches, n_branches
        )
        rows = f"{rows} AND branch IS NOT NULL"
        return self._counted(requests, rows, measure, values)

    def sent(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return for each node and route the table of its rows by branch."""
        values: Values = []
        nodes = self._nodes([node for node, _ in routes], values)
        goes = {node: self._routes.sent(route, values) for node, route in routes}
        measure = self._of_target("weight * part")
        keys = ", ".join(["node", "branch", *measure.keys])
        statement = (
            f"SELECT node, branch, {', '.join(measure.selected)} "
            f"{nodes}, {_by_node(goes, 'branch')} WHERE part > 0 GROUP BY {keys}"
        )
        found = {
            node: _empty(np.arange(route.split.n_branches), measure)
            for node, route in routes
        }
        for node, branch, *line in self._engine.fetch(statement, values):
            code, count, amounts = measure.read(line)
            found[node].rows[branch, code] = count
            found[node].weights[branch, code : code + len(amounts)] = amounts
        return [found[node] for node, _ in routes]

    def _nodes(self, nodes: Sequence[int], values: Values) -> str:
        """Return the rows at these nodes, each with its part, as SQL."""
        parts = {node: self._routes.part(self._paths[node], values) for node in nodes}
        return (
            f"FROM ({self._rows.select()}), "
            f"(SELECT unnest([{', '.join(map(str, nodes))}]) AS node), "
            f"{_by_node(parts, 'part')}"
        )

    def _counted(
        self,
        requests: Sequence[Request] | Sequence[Agreement],
        rows: str,
        measure: Measure,
        values: Values,
    ) -> list[dict[int, CountTable]]:
        """Return for each request the tables by attribute, from one statement."""
        wanted = sorted({place for request in requests for place in request.attributes})
        if not wanted:
            return [{} for _ in requests]
        columns = [f"a{place}" for place in wanted]
        groupings = [
            f"GROUPING({', '.join(columns[start : start + GROUPING_COLUMNS])})"
            for start in range(0, len(columns), GROUPING_COLUMNS)
        ]
        keys = ", ".join(["node", *measure.keys])
        sets = ", ".join(f"({keys}, {column})" for column in columns)
        statement = (
            f"SELECT node, {', '.join([*measure.selected, *columns, *groupings])} "
            f"{rows} GROUP BY GROUPING SETS ({sets})"
        )
        found: defaultdict[tuple[int, int], list[Entry]] = defaultdict(list)
        n_measures = len(measure.selected)
        for node, *line in self._engine.fetch(statement, values):
            position, value = _grouped_by(line[n_measures:], len(wanted))
            entry = (value, *measure.read(line[:n_measures]))
            found[int(node), wanted[position]].append(entry)
        return [
            {
                place: self._table(found[request.node, place], place, measure)
                for place in request.attributes
            }
            for request in requests
        ]

    def _table(
        self, entries: Sequence[Entry], place: int, measure: Measure
    ) -> CountTable:
        """Return the count table of one attribute at one node."""
        numeric = self.schema.attributes[place].kind == "numeric"
        codes = self._codes[place]
        cells = [
            value if numeric or value is None else codes[value] for value, *_ in entries
        ]
        kind = np.float64 if numeric else np.int64
        known = [cell for cell in cells if cell is not None]
        values = np.unique(np.array(known, dtype=kind))
        table = _empty(values, measure)
        for cell, (_, code, count, amounts) in zip(cells, entries, strict=True):
            upto = code + len(amounts)
            if cell is None:
                table.missing_rows[code], table.missing[code:upto] = count, amounts
            else:
                at = int(np.searchsorted(values, cell))
                table.rows[at, code], table.weights[at, code:upto] = count, amounts
        return table


def _empty(values: NDArray[Any], measure: Measure) -> CountTable:
    """Return a table of zeros, to be filled in."""
    width, n_outputs = measure.width, measure.n_outputs
    return CountTable(
        values,
        np.zeros((len(values), width)),
        np.zeros((len(values), n_outputs), dtype=np.int64),
        np.zeros(width),
        np.zeros(n_outputs, dtype=np.int64),
    )


def _read_code(line: Sequence[Any]) -> tuple[int, int, tuple[float, ...]]:
    """Return the column, the number of rows and the weight of an answer's line."""
    return int(line[0]), int(line[1]), (float(line[2]),)


def _by_node(cases: Mapping[int, str], name: str) -> str:
    """Return a column that is another expression at each node, as SQL."""
    lines = " ".join(f"WHEN {node} THEN {case}" for node, case in cases.items())
    return f"LATERAL (SELECT CASE node {lines} END AS {name})"


def _number(number: float) -> str:
    """Return a finite number as SQL, exactly."""
    return f"CAST('{float(number)!r}' AS DOUBLE)"


def _class_key(column: SqlColumn, label: Value) -> str | float:
    """Return how the target's expression gives a class."""
    return float(label) if column.kind == "numeric" else column.text(label)


def _grouped_by(rest: Sequence[Any], n_columns: int) -> tuple[int, Any]:
    """Return which column a line is grouped by, and its value there.

    GROUPING has a bit for each of its columns, the last one lowest: 0 where the
    line is grouped by the column.
    """
    for start in range(0, n_columns, GROUPING_COLUMNS):
        width = min(GROUPING_COLUMNS, n_columns - start)
        bits = ~int(rest[n_columns + start // GROUPING_COLUMNS]) & ((1 << width) - 1)
        if bits:
            position = start + width - bits.bit_length()
            return position, rest[position]
    msg = "a line of a grouped statement is grouped by no column"
    raise AssertionError(msg)
