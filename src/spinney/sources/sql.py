"""Rows in DuckDB: the learner's questions as SQL, the data where it is.

A node is the list of splits on its path with the branches taken. A row's weight
at a node is its own weight times, for each split, 1 where its value takes the
branch, the branch's share where the value is missing and the split divides such
rows, and 0 otherwise. So no row is marked, copied or numbered: one grouped
statement answers a whole level::

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
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney.counts import CountTable, Floats
from spinney.linear import Term
from spinney.relation import SqlColumn, quote_text, translated_errors
from spinney.schema import Attribute, Schema
from spinney.sources.base import (
    LARGEST_WHOLE,
    ROOT,
    CrossMoments,
    Products,
    Request,
    TermRequest,
    Totals,
)
from spinney.sources.sql_formula import (
    CONJUNCTION,
    TRUTHS,
    cross_sums,
    expression_of,
    moments_of,
    number_literal,
)
from spinney.sources.sql_products import (
    batches,
    centres,
    products_of,
    sums,
    term_expression,
)
from spinney.split import Intervals, Split, Threshold
from spinney.table import Value

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["Engine", "SqlRows", "SqlSource"]

# GROUPING takes at most 64 columns in DuckDB.
GROUPING_COLUMNS = 60

Path = tuple[tuple[Split, int], ...]
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
        return number_literal(value)

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
        self._made: dict[int, Attribute] = {}
        self._paths: dict[int, Path] = {ROOT: ()}
        self._totals, self.whole = self._count_classes()

    def _count_classes(self) -> tuple[Totals, bool]:
        target = self.schema.target
        weights = np.zeros(target.width)
        rows = np.zeros(target.n_outputs, dtype=np.int64)
        whole = True
        keys, amounts = self._measured("weight")
        last = amounts[-1].removeprefix("sum(").removesuffix(")")
        statement = (
            f"SELECT {', '.join([*keys, 'count(*)', *amounts])}, "
            f"bool_and({last} = floor({last})) FROM ({self._rows.select()})"
            f"{' GROUP BY class' if keys else ''}"
        )
        for *line, is_whole in self._engine.fetch(statement):
            code, count, found = self._measures(line)
            rows[code] = count
            weights[code : code + len(found)] = found
            whole = whole and bool(is_whole)
        exact = bool(weights[-1 if target.is_numeric else ...].sum() <= LARGEST_WHOLE)
        return Totals(weights, rows), whole and exact

    def _measured(self, weight: str) -> tuple[list[str], list[str]]:
        """Return what is counted: the key beside the node, and sums of a weight."""
        origin = self.schema.target.origin
        if origin is None:
            return ["class"], [f"sum({weight})"]
        number = f"(class - {number_literal(origin)})"
        return [], [
            f"sum({weight})",
            f"sum({weight} * {number})",
            f"sum({weight} * {number} * {number})",
        ]

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
        split: Split,
        children: Mapping[int, int],
        *,
        keep: bool = False,
    ) -> None:
        """Remember the paths of the children."""
        path = self._paths[node]
        if node != ROOT and not keep:
            del self._paths[node]
        for branch, child in children.items():
            self._paths[child] = (*path, (split, branch))

    def forget(self, nodes: Iterable[int]) -> None:
        """Forget the paths of nodes."""
        for node in nodes:
            self._paths.pop(node, None)

    def extend(self, place: int, attribute: Attribute) -> None:
        """Let an attribute with a formula stand at a place, as an SQL expression."""
        self._made[place] = attribute

    def cross_moments(
        self, node: int, places: Sequence[int], origin: Floats
    ) -> CrossMoments:
        """Return the moments of numeric attributes at a node, from one statement."""
        values: list[str | float] = []
        part = self._part(node, values)
        target = self.schema.target
        numbers = [
            f"(a{place} - {number_literal(start)})"
            for place, start in zip(places, origin, strict=True)
        ]
        if target.origin is not None:
            numbers.append(f"(class - {number_literal(target.origin)})")
        keys = [] if target.is_numeric else ["class"]
        known = "".join(f" AND a{place} IS NOT NULL" for place in places)
        statement = (
            f"SELECT {', '.join([*keys, *cross_sums(numbers, 'weight * part')])} "
            f"FROM ({self._select(self._asked([node]))}), "
            f"LATERAL (SELECT {part} AS part) WHERE part > 0{known}"
            f"{' GROUP BY class' if keys else ''}"
        )
        lines: dict[int, Sequence[Any]] = {}
        for line in self._engine.fetch(statement, values):
            lines[self._classes[line[0]] if keys else 0] = line[len(keys) :]
        return moments_of(lines, max(1, len(target.classes)), len(numbers))

    def _attribute(self, place: int) -> Attribute:
        """Return the attribute at a place, one with a formula included."""
        return self._made.get(place) or self.schema.attributes[place]

    def _sql_column(self, place: int) -> SqlColumn:
        """Return how the values of an attribute are written in SQL."""
        return CONJUNCTION if place in self._made else self._rows.attributes[place]

    def _asked(self, nodes: Sequence[int]) -> set[int]:
        """Return the attributes that the paths to nodes ask about."""
        return {split.attribute for node in nodes for split, _ in self._paths[node]}

    def _select(self, places: Collection[int]) -> str:
        """Return the select of the rows, with those of these that have formulas."""
        rows = self._rows.select()
        made = [
            f"{expression_of(self._made[place], self._rows.attributes, self.schema)} "
            f"AS a{place}"
            for place in sorted(places)
            if place in self._made
        ]
        return f"SELECT *, {', '.join(made)} FROM ({rows})" if made else rows

    def tables(self, requests: Sequence[Request]) -> list[dict[int, CountTable]]:
        """Return for each request the tables by attribute, from one statement."""
        wanted = sorted({place for request in requests for place in request.attributes})
        if not wanted:
            return [{} for _ in requests]
        statement, values = self._statement([r.node for r in requests], wanted)
        found: defaultdict[tuple[int, int], list[Entry]] = defaultdict(list)
        n_measures = 4 if self.schema.target.is_numeric else 3
        for node, *line in self._engine.fetch(statement, values):
            position, value = _grouped_by(line[n_measures:], len(wanted))
            entry = (value, *self._measures(line[:n_measures]))
            found[int(node), wanted[position]].append(entry)
        return [
            {place: self._table(found[r.node, place], place) for place in r.attributes}
            for r in requests
        ]

    def _statement(
        self, nodes: Sequence[int], wanted: Sequence[int]
    ) -> tuple[str, list[str | float]]:
        """Return the statement of a level and the values to bind."""
        values: list[str | float] = []
        cases = " ".join(
            f"WHEN {node} THEN {self._part(node, values)}" for node in nodes
        )
        columns = [f"a{place}" for place in wanted]
        groupings = [
            f"GROUPING({', '.join(columns[start : start + GROUPING_COLUMNS])})"
            for start in range(0, len(columns), GROUPING_COLUMNS)
        ]
        keys, amounts = self._measured("weight * part")
        keys = ["node", *keys]
        sets = ", ".join(f"({', '.join([*keys, column])})" for column in columns)
        statement = (
            f"SELECT {', '.join([*keys, 'count(*)', *amounts, *columns, *groupings])} "
            f"FROM ({self._select({*wanted, *self._asked(nodes)})}), "
            f"(SELECT unnest([{', '.join(map(str, nodes))}]) AS node), "
            f"LATERAL (SELECT CASE node {cases} END AS part) "
            f"WHERE part > 0 GROUP BY GROUPING SETS ({sets})"
        )
        return statement, values

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return for each request how its terms vary, a statement for some at once."""
        found: dict[int, Products] = {}
        for batch in batches(requests):
            together = tuple(dict.fromkeys(t for r in batch for t in r.terms))
            answers = self._varying([r.node for r in batch], together)
            for request in batch:
                whole = answers[request.node]
                places = [*map(together.index, request.terms), -1]
                found[request.node] = Products(
                    whole.means[places],
                    whole.spreads[np.ix_(places, places)],
                    whole.weight,
                )
        return [found[request.node] for request in requests]

    def _varying(
        self, nodes: Sequence[int], terms: tuple[Term, ...]
    ) -> dict[int, Products]:
        """Return how terms vary at nodes, from one statement."""
        values: list[str | float] = []
        columns = []
        for term in terms:
            column = self._rows.attributes[term.attribute]
            levels = self.schema.attributes[term.attribute].values
            texts = [column.text(level) for level in levels]
            cell = f"a{term.attribute}"
            columns.append(
                term_expression(
                    cell, term, texts, lambda text: self._engine.mark(text, values)
                )
            )
        origin = self.schema.target.origin
        assert origin is not None
        columns.append(f"class - {number_literal(origin)}")
        named = ", ".join(f"{column} AS z{i}" for i, column in enumerate(columns))
        # Values are bound in the order of the statement: after those of the terms.
        cases = " ".join(
            f"WHEN {node} THEN {self._part(node, values)}" for node in nodes
        )
        statement = (
            f"SELECT node, {', '.join(sums(len(columns)))} "
            f"FROM (SELECT node, weight * part AS w, {named} "
            f"FROM ({self._rows.select()}), "
            f"(SELECT unnest([{', '.join(map(str, nodes))}]) AS node), "
            f"LATERAL (SELECT CASE node {cases} END AS part) "
            "WHERE part > 0) GROUP BY node"
        )
        n, centre = len(columns), centres(terms)
        return {
            int(node): products_of(line, n, centre)
            for node, *line in self._engine.fetch(statement, values)
        }

    def _part(self, node: int, values: list[str | float]) -> str:
        """Return the part of its weight that a row has at a node, as SQL."""
        factors = [self._factor(split, b, values) for split, b in self._paths[node]]
        return " * ".join(["CAST(1 AS DOUBLE)", *factors])

    def _factor(self, split: Split, branch: int, values: list[str | float]) -> str:
        """Return the factor of one split: 1, the branch's share, or 0."""
        cell = f"a{split.attribute}"
        if split.missing is None:
            absent = self._engine.mark(split.shares[branch], values)
        else:
            absent = "1" if split.missing == branch else "0"
        attribute = self._attribute(split.attribute)
        if isinstance(split, Intervals):
            taken = self._between(cell, *split.bounds(branch), values)
        elif isinstance(split, Threshold) and attribute.kind == "numeric":
            sign = ">" if branch else "<="
            taken = f"{cell} {sign} {self._engine.mark(split.threshold, values)}"
        else:
            texts = self._texts_of(split, branch)
            marks = ", ".join(self._engine.mark(text, values) for text in texts)
            taken = f"{cell} IN ({marks})" if texts else "false"
        return f"CASE WHEN {cell} IS NULL THEN {absent} WHEN {taken} THEN 1 ELSE 0 END"

    def _between(
        self, cell: str, low: float, high: float, values: list[str | float]
    ) -> str:
        """Return the condition of an interval (low, high]; nothing is above ∞."""
        if low == np.inf:
            return "false"
        parts = []
        if low != -np.inf:
            parts.append(f"{cell} > {self._engine.mark(low, values)}")
        if high != np.inf:
            parts.append(f"{cell} <= {self._engine.mark(high, values)}")
        return f"({' AND '.join(parts)})" if parts else "true"

    def _texts_of(self, split: Split, branch: int) -> list[str]:
        """Return the texts of the codes that take a branch."""
        column = self._sql_column(split.attribute)
        levels = self._attribute(split.attribute).values
        goes = split.branch_of(np.arange(len(levels)))
        return [column.text(levels[code]) for code in np.flatnonzero(goes == branch)]

    def _table(self, entries: Sequence[Entry], place: int) -> CountTable:
        """Return the count table of one attribute at one node."""
        numeric = self._attribute(place).kind == "numeric"
        codes = TRUTHS if place in self._made else self._codes[place]
        cells = [
            value if numeric or value is None else codes[value] for value, *_ in entries
        ]
        kind = np.float64 if numeric else np.int64
        known = [cell for cell in cells if cell is not None]
        values = np.unique(np.array(known, dtype=kind))
        # The last line of the table takes the missing cells.
        target = self.schema.target
        weights = np.zeros((len(values) + 1, target.width))
        rows = np.zeros((len(values) + 1, target.n_outputs), dtype=np.int64)
        for cell, (_, code, count, amounts) in zip(cells, entries, strict=True):
            at = -1 if cell is None else int(np.searchsorted(values, cell))
            rows[at, code] = count
            weights[at, code : code + len(amounts)] = amounts
        return CountTable(values, weights[:-1], rows[:-1], weights[-1], rows[-1])


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
