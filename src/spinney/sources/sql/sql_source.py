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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from spinney.data import Attribute, Schema, Value
from spinney.data.duckdb import SqlColumn
from spinney.sources.base import (
    ROOT,
    Agreement,
    Products,
    Request,
    TermRequest,
    Totals,
    batches_of_terms,
)
from spinney.sources.sql.aggregates import (
    GROUPING_COLUMNS,
    Entry,
    Measure,
    by_node,
    empty_table,
    filled_table,
    grouped_by,
    read_code,
)
from spinney.sources.sql.sql_engine import Engine, SqlRows
from spinney.sources.sql.sql_formula import (
    CONJUNCTION,
    TRUTHS,
    expression_of,
    number_literal,
)
from spinney.sources.sql.sql_products import (
    MOST_IN_STATEMENT,
    products_of,
    selected,
    sums,
    term_expression,
)
from spinney.sources.sql.sql_routes import Path, SqlRoutes, Values
from spinney.trees import CountTable, Route, TableStack, Term


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
        self._made: dict[int, Attribute] = {}
        self._paths: dict[int, Path] = {ROOT: ()}
        self._routes = SqlRoutes(self._attribute, self._sql_column, engine.mark)
        self._totals = self._count_classes()

    def _count_classes(self) -> Totals:
        target = self.schema.target
        weights = np.zeros(target.width)
        rows = np.zeros(target.n_outputs, dtype=np.int64)
        measure = self._of_target("weight")
        statement = (
            f"SELECT {', '.join(measure.selected)} FROM ({self._rows.select()})"
            f"{' GROUP BY class' if measure.keys else ''}"
        )
        for line in self._engine.fetch(statement):
            code, count, amounts = self._measures(line)
            rows[code] = count
            weights[code : code + len(amounts)] = amounts
        return Totals(weights, rows)

    def _of_target(self, weight: str) -> Measure:
        """Return how the target is counted: weights by class, or moments."""
        target = self.schema.target
        if target.origin is None:
            keys, sums = ["class"], [f"sum({weight})"]
        else:
            number = f"(class - {number_literal(target.origin)})"
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

    def extend(self, index: int, attribute: Attribute) -> None:
        """Let an attribute with a formula stand at a place, as an SQL expression."""
        self._made[index] = attribute

    def _attribute(self, index: int) -> Attribute:
        """Return the attribute at a place, one with a formula included."""
        return self._made.get(index) or self.schema.attributes[index]

    def _sql_column(self, index: int) -> SqlColumn:
        """Return how the values of an attribute are written in SQL."""
        return CONJUNCTION if index in self._made else self._rows.attributes[index]

    def _asked(self, nodes: Sequence[int]) -> set[int]:
        """Return the attributes that the paths to nodes ask about."""
        return {
            index
            for node in nodes
            for route, _ in self._paths[node]
            for index in route.attributes
        }

    def _select(self, indices: Collection[int]) -> str:
        """Return the select of the rows, with those of these that have formulas."""
        rows = self._rows.select()
        made = [
            f"{expression_of(self._made[index], self._rows.attributes, self.schema)} "
            f"AS a{index}"
            for index in sorted(indices)
            if index in self._made
        ]
        return f"SELECT *, {', '.join(made)} FROM ({rows})" if made else rows

    def tables(self, requests: Sequence[Request]) -> Iterator[TableStack]:
        """Give the tables of all requests, from one statement."""
        values: Values = []
        wanted = {index for request in requests for index in request.attributes}
        nodes = self._nodes([request.node for request in requests], values, wanted)
        measure = self._of_target("weight * part")
        yield self._counted(requests, f"{nodes} WHERE part > 0", measure, values)

    def agreements(self, requests: Sequence[Agreement]) -> Iterator[TableStack]:
        """Give the tables of value × branch of all requests, from one statement."""
        values: Values = []
        wanted = {index for request in requests for index in request.attributes}
        wanted.update(request.split.attribute for request in requests)
        nodes = self._nodes([request.node for request in requests], values, wanted)
        goes = {r.node: self._routes.branch(r.split, values) for r in requests}
        most = max((r.split.n_branches for r in requests), default=0)
        sent = {node: f"coalesce({branch}, {most})" for node, branch in goes.items()}
        rows = f"{nodes}, {by_node(sent, 'branch')} WHERE part > 0"
        measure = Measure(
            ("branch",), ("sum(weight * part)",), read_code, most + 1, most + 1
        )
        yield self._counted(requests, rows, measure, values)

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return for each node and route the table of its rows by branch."""
        values: Values = []
        asked = {index for _, route in routes for index in route.attributes}
        nodes = self._nodes([node for node, _ in routes], values, asked)
        goes = {node: self._routes.sent(route, values) for node, route in routes}
        measure = self._of_target("weight * part")
        keys = ", ".join(["node", "branch", *measure.keys])
        statement = (
            f"SELECT node, branch, {', '.join(measure.selected)} "
            f"{nodes}, {by_node(goes, 'branch')} WHERE part > 0 GROUP BY {keys}"
        )
        answers = {
            node: empty_table(np.arange(route.split.n_branches), measure)
            for node, route in routes
        }
        for node, branch, *line in self._engine.fetch(statement, values):
            code, count, amounts = measure.read(line)
            answers[node].rows[branch, code] = count
            answers[node].weights[branch, code : code + len(amounts)] = amounts
        return [answers[node] for node, _ in routes]

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return for each request how its terms vary, a statement for some at once."""
        found: dict[int, Products] = {}
        for batch in batches_of_terms(requests, MOST_IN_STATEMENT):
            together = tuple(dict.fromkeys(t for r in batch for t in r.terms))
            nodes = [request.node for request in batch]
            answers = self._varying(nodes, together, complete=batch[0].complete)
            for request in batch:
                indices = [together.index(term) for term in request.terms]
                if self.schema.target.is_numeric:
                    indices.append(len(together))
                found[request.node] = selected(answers[request.node], indices)
        return [found[request.node] for request in requests]

    def _varying(
        self, nodes: Sequence[int], terms: tuple[Term, ...], *, complete: bool
    ) -> dict[int, Products]:
        """Return how terms vary at nodes, from one statement."""
        values: Values = []
        columns = []
        for term in terms:
            column = self._sql_column(term.attribute)
            levels = self._attribute(term.attribute).values
            texts = [column.text(level) for level in levels]
            cell = f"a{term.attribute}"
            columns.append(
                term_expression(
                    cell, term, texts, lambda text: self._engine.mark(text, values)
                )
            )
        target = self.schema.target
        if target.origin is not None:
            columns.append(f"class - {number_literal(target.origin)}")
        group = "0" if target.is_numeric else "class"
        named = ", ".join(f"{column} AS z{i}" for i, column in enumerate(columns))
        asked = {term.attribute for term in terms}
        known = "".join(f" AND a{index} IS NOT NULL" for index in asked if complete)
        # Values are bound in the order of the statement: after those of the terms.
        rows = self._nodes(nodes, values, asked)
        statement = (
            f"SELECT node, class_, {', '.join(sums(len(columns)))} "
            f"FROM (SELECT node, {group} AS class_, weight * part AS w, {named} "
            f"{rows} WHERE part > 0{known}) GROUP BY node, class_"
        )
        lines: dict[int, dict[int, Sequence[float]]] = {node: {} for node in nodes}
        for node, label, *line in self._engine.fetch(statement, values):
            code = 0 if target.is_numeric else self._classes[label]
            lines[int(node)][code] = line
        n_groups = target.n_outputs
        return {n: products_of(lines[n], n_groups, len(columns)) for n in nodes}

    def _nodes(self, nodes: Sequence[int], values: Values, asked: Iterable[int]) -> str:
        """Return the rows at these nodes, each with its part, as SQL.

        ``asked`` are the attributes that are read beside those of the paths.
        """
        parts = {node: self._routes.part(self._paths[node], values) for node in nodes}
        return (
            f"FROM ({self._select({*asked, *self._asked(nodes)})}), "
            f"(SELECT unnest([{', '.join(map(str, nodes))}]) AS node), "
            f"{by_node(parts, 'part')}"
        )

    def _counted(
        self,
        requests: Sequence[Request] | Sequence[Agreement],
        rows: str,
        measure: Measure,
        values: Values,
    ) -> TableStack:
        """Return the tables of all requests, from one statement."""
        wanted = sorted({index for request in requests for index in request.attributes})
        if not wanted:
            return TableStack.of([])
        columns = [f"a{index}" for index in wanted]
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
        entries: defaultdict[tuple[int, int], list[Entry]] = defaultdict(list)
        n_measures = len(measure.selected)
        for node, *line in self._engine.fetch(statement, values):
            position, value = grouped_by(line[n_measures:], len(wanted))
            entry = (value, *measure.read(line[:n_measures]))
            entries[int(node), wanted[position]].append(entry)
        answers = [
            {
                index: self._table(entries[request.node, index], index, measure)
                for index in request.attributes
            }
            for request in requests
        ]
        return TableStack.of(answers)

    def _table(
        self, entries: Sequence[Entry], index: int, measure: Measure
    ) -> CountTable:
        """Return the count table of one attribute at one node."""
        numeric = self._attribute(index).kind == "numeric"
        codes = TRUTHS if index in self._made else self._codes[index]
        cells = [
            value if numeric or value is None else codes[value] for value, *_ in entries
        ]
        kind = np.float64 if numeric else np.int64
        return filled_table(cells, entries, kind, measure)


def _class_key(column: SqlColumn, label: Value) -> str | float:
    """Return how the target's expression gives a class."""
    return float(label) if column.kind == "numeric" else column.text(label)
