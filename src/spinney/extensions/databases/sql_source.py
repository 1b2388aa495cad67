"""Rows in a SQL engine, which answers the learner's requests by queries.

The rows are encoded once and stored in a temporary table, a line for each row, or
fraction of a row, at a node (``node_rows``). One grouped query (``grouped``) then
counts a whole level::

    SELECT …, node, class, count(*), sum(weight), coalesce(a0, a1) AS value
    FROM the lines of the level
    GROUP BY GROUPING SETS ((node, class, a0), (node, class, a1))

For a numeric target, the query sums its moments instead of grouping by class.

These queries contain only our own names and numbers. Users' texts are quoted or bound
when the rows are encoded.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from sqlglot import exp

from spinney.data import Attribute, Schema
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases import number_bins
from spinney.extensions.databases.engines.sql_engine import SqlEngine, floats, integers
from spinney.extensions.databases.grouped import Relation, grouped_statements
from spinney.extensions.databases.node_rows import NodeRows
from spinney.extensions.databases.number_bins import NumberBins, rows_in_opened_bins
from spinney.extensions.databases.query_results import (
    CountRows,
    FetchedRows,
    rows_query,
)
from spinney.extensions.databases.sql_products import (
    MAX_TERMS_PER_STATEMENT,
    products_of,
    select_terms,
    sum_expressions,
    term_expression,
)
from spinney.extensions.databases.sql_routes import SqlRoutes
from spinney.extensions.databases.table_batches import TableWorkspace
from spinney.sources.base import (
    ROOT,
    AgreementRequest,
    BinnedTables,
    Products,
    TableRequest,
    TermRequest,
    Totals,
    term_batches,
)
from spinney.sources.open_bins import OpenIntervals, are_single_values, openable_tables
from spinney.trees import CountTable, Route, TableBatch, Term

Lines = exp.Query | exp.Table
Reader = Callable[[], Lines]
Measured = Callable[[exp.Expr | None], list[exp.Expr]]
"""A function that returns additional sums, given the weight (None if all are 1)."""


class SqlSource:
    """Rows in a SQL engine.

    Parameters
    ----------
    engine : SqlEngine
        The engine of the rows.
    base : str
        The stored table of the encoded rows.
    schema : Schema
        The schema of the encoded rows.
    has_weights : bool
        Whether the table has weights; otherwise each row weighs 1.
    bins : bool
        Whether numeric columns with many values are binned.
    """

    def __init__(
        self,
        engine: SqlEngine,
        base: str,
        schema: Schema,
        *,
        has_weights: bool = True,
        bins: bool = True,
    ) -> None:
        self.schema = schema
        self._engine = engine
        self._constructed: dict[int, Attribute] = {}
        self._routes = SqlRoutes(self._attribute)
        numbers = [
            index
            for index in range(schema.n_columns)
            if bins and schema.attributes[index].kind == "numeric"
        ]
        columns = ["class", *(f"a{index}" for index in range(schema.n_columns))]
        stored = ["node", *(["weight"] if has_weights else []), *columns]
        self._bins = NumberBins(engine, base, columns=stored, numbers=numbers)
        self._rows = NodeRows(
            engine,
            self._bins.base,
            has_weights=has_weights,
            columns=[*columns, *(f"b{index}" for index in self._bins.ranges)],
            routes=self._routes,
            constructed=self._constructed.get,
            owns_base=self._bins.base != base,
        )
        self._workspace = None
        if engine.budget is not None:
            number_bins_ = self._bins
            self._workspace = TableWorkspace(
                engine.budget, schema, number_bins_.n_rows, number_bins_.different
            )
        self._totals = self._count_classes()

    def _count_classes(self) -> Totals:
        target = self.schema.target
        weights = np.zeros(target.width)
        rows = np.zeros(target.n_outputs, dtype=np.int64)
        by = self._by
        for lines in self._count_rows([ROOT], {-1: "node"}, self._moment_sums, by=by):
            lines.put(weights[None], rows[None], slice(None), 0)
        return Totals(weights, rows)

    @property
    def _by(self) -> str | None:
        """The column to group by within nodes: the class; None for numeric targets."""
        return None if self.schema.target.is_numeric else "class"

    def _moment_sums(self, weight: exp.Expr | None) -> list[exp.Expr]:
        """Return the sums of a numeric target's moments; [] for classes."""
        origin = self.schema.target.origin
        if origin is None:
            return []
        number: exp.Expr = sql.difference(sql.column("class"), sql.param(float(origin)))
        first = number if weight is None else sql.product(weight, number)
        return [sql.total(first), sql.total(sql.product(first.copy(), number.copy()))]

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
        """Record the route of a node to its children."""
        self._rows.send(node, route, dict(children), keep=keep)

    def release(self, nodes: Iterable[int]) -> None:
        """Release nodes."""
        self._rows.release(nodes)

    def extend(self, index: int, attribute: Attribute) -> None:
        """Register a constructed attribute under an index."""
        self._constructed[index] = attribute

    def _attribute(self, index: int) -> Attribute:
        """Return the attribute of an index, constructed ones included."""
        return self._constructed.get(index) or self.schema.attributes[index]

    def tables(self, requests: Sequence[TableRequest]) -> Iterator[TableBatch]:
        """Yield the tables of all requests, one statement per batch."""
        node_attributes = [(request.node, request.attributes) for request in requests]
        if self._workspace is None:
            yield self._all_values(node_attributes)
            return
        for places, part in self._workspace.batches(node_attributes):
            batch = self._all_values(part)
            yield replace(batch, node=np.array(places)[batch.node])
            del batch

    def _all_values(
        self, node_attributes: Sequence[tuple[int, Sequence[int]]]
    ) -> TableBatch:
        """Return the tables of attributes at nodes, without bins."""
        target = self.schema.target
        shape = target.width, target.n_outputs
        return self._count_tables(
            node_attributes, self._moment_sums, by=self._by, shape=shape
        )

    def binned(
        self, requests: Sequence[TableRequest], n_rows: Sequence[int]
    ) -> BinnedTables:
        """Return the tables of all requests; columns with many values are binned.

        Nodes of few rows are counted by value.
        """
        node_attributes = [(request.node, request.attributes) for request in requests]
        indices = sorted(
            {index for _, attributes in node_attributes for index in attributes}
        )
        ranges = {i: bins for i, bins in self._bins.ranges.items() if i in indices}
        small = [
            request.node
            for request, n in zip(requests, n_rows, strict=True)
            if n <= number_bins.MAX_ROWS_BY_VALUE
        ]
        if not ranges or len(small) == len(requests):
            return BinnedTables(self._all_values(node_attributes))
        key = "k" if small else "b"
        lines = self._count_rows(
            [node for node, _ in node_attributes],
            {i: f"{key if i in ranges else 'a'}{i}" for i in indices},
            self._moment_sums,
            by=self._by,
            extend_with=lambda relation: self._bins.with_keys(relation, small),
        )
        coarse = CountRows.joined(list(lines)).in_bins(ranges, small)
        nodes = [node for node, _ in node_attributes]

        def inside(intervals: OpenIntervals) -> TableBatch:
            opened = self._opened_counts(intervals, nodes)
            return self._tables(CountRows.joined(opened), node_attributes)

        check = None if self._workspace is None else self._workspace.check_bins
        return openable_tables(self._tables(coarse, node_attributes), inside, check)

    def is_remote(self, _: Iterable[int]) -> bool:
        """Return True: all rows are in the engine."""
        return True

    def _tables(
        self, lines: CountRows, node_attributes: Sequence[tuple[int, Sequence[int]]]
    ) -> TableBatch:
        target = self.schema.target
        return lines.tables(node_attributes, target.width, target.n_outputs)

    def _opened_counts(
        self, intervals: OpenIntervals, nodes: Sequence[int]
    ) -> list[CountRows]:
        """Return the counts of opened bins, from one statement."""
        by_node = {
            index: {nodes[position]: listed for position, listed in each.items()}
            for index, each in intervals.items()
        }
        used = sorted({node for each in by_node.values() for node in each})
        ends = {f"k{index}": f"a{index}" for index in by_node}
        parts = self._count_rows(
            used,
            {index: f"k{index}" for index in by_node},
            self._moment_sums,
            by=self._by,
            extend_with=lambda relation: rows_in_opened_bins(
                self._engine, relation, by_node
            ),
            joined=True,
            ranges=None if are_single_values(intervals) else ends,
        )
        return list(parts)

    def fetched(self, nodes: Sequence[int]) -> FetchedRows:
        """Return the lines of nodes: rows, or fractions of rows."""
        answers = [
            self._engine.fetch(rows_query(lines, self.schema))
            for lines in self._rows.lines(nodes)
        ]
        parts = [FetchedRows.read(answer, self.schema) for answer in answers]
        return FetchedRows.joined(parts)

    def check_memory(self) -> None:
        """Raise an error if the memory limit is exceeded."""
        self._engine.check_memory()

    def store_nodes(self, nodes: Collection[int]) -> None:
        """Store the lines of nodes, so that each node can be read alone."""
        self._rows.stored_groups(nodes)

    def agreements(self, requests: Sequence[AgreementRequest]) -> Iterator[TableBatch]:
        """Yield the tables of value × branch of all requests, from one statement."""
        node_attributes = [(request.node, request.attributes) for request in requests]
        if self._workspace is not None:
            self._workspace.check(node_attributes)
        max_branches = max((r.split.n_branches for r in requests), default=0)
        branches = {
            r.node: (lambda s=r.split: self._routes.branch(s)) for r in requests
        }
        yield self._count_tables(
            node_attributes,
            lambda _: [],
            by="branch",
            shape=(max_branches + 1, max_branches + 1),
            used={r.split.attribute for r in requests},
            extend_with=_branch_adder(branches, max_branches),
        )

    def routed(self, routes: Sequence[tuple[int, Route]]) -> list[CountTable]:
        """Return the table of rows by branch for each node and route."""
        target = self.schema.target
        branches = {
            node: (
                lambda r=route: self._routes.sent(
                    r, {branch: branch for branch in range(r.split.n_branches)}
                )
            )
            for node, route in routes
        }
        used = {index for _, route in routes for index in route.attributes}
        lines = CountRows.joined(
            list(
                self._count_rows(
                    [node for node, _ in routes],
                    {-1: "branch"},
                    self._moment_sums,
                    by=self._by,
                    used=used,
                    extend_with=_branch_adder(branches),
                )
            )
        )
        answers = []
        for node, route in routes:
            n = route.split.n_branches
            weights = np.zeros((n, target.width))
            rows = np.zeros((n, target.n_outputs), dtype=np.int64)
            at_node = lines.node == node
            lines.put(weights, rows, at_node, lines.value[at_node].astype(np.int64))
            nothing = np.zeros(target.width), np.zeros(target.n_outputs, np.int64)
            answers.append(CountTable(np.arange(n), weights, rows, *nothing))
        return answers

    def products(self, requests: Sequence[TermRequest]) -> list[Products]:
        """Return the weighted products of terms for each request, in few statements."""
        varying: dict[int, Products] = {}
        for batch in term_batches(requests, MAX_TERMS_PER_STATEMENT):
            all_terms = tuple(dict.fromkeys(t for r in batch for t in r.terms))
            nodes = [request.node for request in batch]
            answers = self._products(nodes, all_terms, complete=batch[0].complete)
            for request in batch:
                indices = [all_terms.index(term) for term in request.terms]
                if self.schema.target.is_numeric:
                    indices.append(len(all_terms))
                varying[request.node] = select_terms(answers[request.node], indices)
        return [varying[request.node] for request in requests]

    def _products(
        self, nodes: Sequence[int], terms: tuple[Term, ...], *, complete: bool
    ) -> dict[int, Products]:
        """Return the weighted products of terms by node, from one statement."""
        target = self.schema.target
        used = {term.attribute for term in terms}
        lines: dict[int, dict[int, list[float]]] = {node: {} for node in nodes}
        n_columns = len(terms) + target.is_numeric
        for relation, has_weights in self._rows.relations(nodes, used):
            columns = [
                term_expression(
                    term, is_numeric=self._attribute(term.attribute).kind == "numeric"
                )
                for term in terms
            ]
            if target.origin is not None:
                columns.append(
                    sql.difference(sql.column("class"), sql.param(float(target.origin)))
                )
            whole_rows = None
            if complete:
                whole_rows = sql.all_of(
                    sql.not_null(sql.column(f"a{index}")) for index in used
                )
            group = sql.integer(0) if target.is_numeric else sql.column("class")
            inner = sql.select(
                [
                    sql.column("node"),
                    sql.column("weight")
                    if has_weights
                    else sql.alias(sql.double(sql.integer(1)), "weight"),
                    sql.alias(group, "group"),
                    *(sql.alias(cells, f"z{i}") for i, cells in enumerate(columns)),
                ],
                relation(),
                whole_rows,
            )
            added = [
                sql.alias(cells, f"s{i}")
                for i, cells in enumerate(sum_expressions(n_columns))
            ]
            keys = ("node", "group")
            query = sql.select([*map(sql.column, keys), *added], inner)
            node, label, *rest = self._engine.fetch(
                sql.grouped_by(query, map(sql.column, keys))
            )
            amounts = np.array([floats(cells) for cells in rest]).T
            groups = zip(integers(node).tolist(), integers(label).tolist(), strict=True)
            for (number, code), line in zip(groups, amounts.tolist(), strict=True):
                lines[number][code] = line
        n_groups = target.n_outputs
        return {n: products_of(lines[n], n_groups, n_columns) for n in nodes}

    def _count_tables(
        self,
        node_attributes: Sequence[tuple[int, Sequence[int]]],
        measured: Measured,
        *,
        by: str | None,
        shape: tuple[int, int],
        used: Collection[int] = (),
        extend_with: Callable[[Relation], Relation] | None = None,
    ) -> TableBatch:
        """Return the tables of attributes at nodes, one statement per stored table."""
        indices = sorted(
            {index for _, attributes in node_attributes for index in attributes}
        )
        if not indices:
            return TableBatch.of([])
        lines = self._count_rows(
            list(dict.fromkeys(node for node, _ in node_attributes)),
            {index: f"a{index}" for index in indices},
            measured,
            by=by,
            used=used,
            extend_with=extend_with,
        )
        return CountRows.joined(list(lines)).tables(node_attributes, *shape)

    def _count_rows(
        self,
        nodes: Sequence[int],
        columns: Mapping[int, str],
        measured: Measured,
        *,
        by: str | None,
        used: Collection[int] = (),
        extend_with: Callable[[Relation], Relation] | None = None,
        ranges: Mapping[str, str] | None = None,
        joined: bool = False,
    ) -> Iterator[CountRows]:
        """Yield counts of columns at nodes.

        ``extend_with`` adds columns computed from the attributes ``used``. If it has
        ``joined`` lines by node, each column has other lines.
        """
        places = {name: index for index, name in columns.items()}
        read = {*columns, *used}
        for reader, has_weights in self._rows.relations(nodes, read, joined=joined):
            relation = partial(_read_relation, reader)
            statements = grouped_statements(
                self._engine,
                relation if extend_with is None else extend_with(relation),
                list(places),
                keys=["node"] if by is None else ["node", by],
                sums=partial(
                    _weight_and_measure_sums, measured, has_weights=has_weights
                ),
                ranges=ranges,
                one_by_one=joined,
            )
            for statement, group in statements:
                yield CountRows.read(
                    self._engine.fetch(statement),
                    [places[name] for name in group],
                    by=by is not None,
                    has_weights=has_weights,
                    ranges=ranges is not None,
                )


def _read_relation(reader: Reader, _: Sequence[str]) -> Lines:
    return reader()


def _weight_and_measure_sums(
    measured: Measured, *, has_weights: bool
) -> list[exp.Expr]:
    """Return the sums of a statement: weights, if there are any, and ``measured``."""
    if not has_weights:
        return measured(None)
    return [sql.total(sql.column("weight")), *measured(sql.column("weight"))]


def _branch_adder(
    branches: Mapping[int, Callable[[], exp.Expr]], default: int | None = None
) -> Callable[[Relation], Relation]:
    """Return a function that adds a branch column to lines, by each node's split."""

    def extend_with(relation: Relation) -> Relation:
        def read(names: Sequence[str]) -> exp.Query:
            branch = sql.by_node({node: write() for node, write in branches.items()})
            if default is not None:
                branch = sql.coalesce([branch, sql.integer(default)])
            return sql.select(
                [exp.Star(), sql.alias(branch, "branch")], relation(names)
            )

        return read

    return extend_with
