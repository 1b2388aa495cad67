"""Rows of an engine with row hashes, and the samples taken by these hashes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from sqlglot import exp

from spinney._support.arrays import Floats
from spinney.data import Fingerprint, Schema
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.caching_source import CachingSource
from spinney.extensions.databases.engines.sql_engine import SqlEngine, floats
from spinney.extensions.databases.query_results import FetchedRows, rows_query
from spinney.extensions.databases.row_hash import (
    ROW_HASH,
    SAMPLE_COUNT,
    cell_names,
    sampled_rows,
)
from spinney.extensions.databases.sql_source import SqlSource
from spinney.sources.base import Counts, Totals
from spinney.sources.rows.cluster_sums import ClusterSums, Points, no_sums
from spinney.sources.rows.row_hashing import HashSample
from spinney.sources.rows.sampleable_rows import (
    RowSubset,
    SampleableRows,
    check_rows_fit,
)
from spinney.sources.rows.training_rows import TrainingSet


class HashedTable:
    """Rows of an engine with their hashes, in a stored table.

    Parameters
    ----------
    engine : SqlEngine
    base : str
        The stored table: encoded rows, and their hashes in the column ``ROW_HASH``.
    schema : Schema
        The schema of the encoded rows.
    max_rows : int
        The maximum number of rows in memory.
    """

    def __init__(
        self, engine: SqlEngine, base: str, schema: Schema, max_rows: int
    ) -> None:
        self.schema = schema
        self.max_rows = max_rows
        self._engine, self._base = engine, base
        self.source = SqlSource(engine, base, schema, bins=False)

    def root(self) -> Totals:
        """Return the totals of all rows."""
        return self.source.root()

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the rows."""
        return self.root().fingerprint()

    @contextmanager
    def sampled_source(
        self, *samples: HashSample, class_weights: Floats | None = None
    ) -> Iterator[Counts]:
        """Yield a source of the sampled rows, stored temporarily."""
        with self._engine.temporary_tables():
            base = self._engine.store(self._sample_query(samples, class_weights))
            source = SqlSource(self._engine, base, self.schema)
            max_rows = self.max_rows
            yield CachingSource(source, max_rows) if max_rows else source

    def _sample_query(
        self, samples: tuple[HashSample, ...], class_weights: Floats | None
    ) -> exp.Select:
        """Return the sampled rows with weights multiplied by sample counts."""
        names = cell_names(self.schema)
        sampled = sampled_rows(sql.table(self._base), names, samples)
        weight: exp.Expr = sql.product(
            sql.column("weight"), sql.double(sql.column(SAMPLE_COUNT))
        )
        if class_weights is not None:
            each = [
                (sql.integer(code), sql.param(w))
                for code, w in enumerate(class_weights)
            ]
            weight = sql.product(weight, sql.case(*each, subject=sql.column("class")))
        cells = [
            sql.alias(weight, n) if n == "weight" else sql.column(n) for n in names
        ]
        return sql.select(cells, sampled)

    def cluster_sums(self, points: Points) -> ClusterSums:
        """Return the sums of all rows by nearest centroid."""
        return cluster_sums(self._engine, self._base, points)

    def subset(self, *samples: HashSample) -> SampleableRows:
        """Return the sampled rows with their hashes."""
        return RowSubset(self, samples)

    def fetch_sample(self, *samples: HashSample) -> tuple[TrainingSet, Floats]:
        """Return the sampled rows, each once, and their hashes."""
        engine, names = self._engine, cell_names(self.schema)
        with engine.temporary_tables():
            base = engine.store(sampled_rows(sql.table(self._base), names, samples))
            (n_rows,) = engine.fetch_row(sql.select([sql.count_all()], sql.table(base)))
            check_rows_fit(n_rows, self.max_rows)
            query = rows_query(sql.table(base), self.schema)
            query.append("expressions", sql.column(ROW_HASH))
            *answer, numbers = engine.fetch(query)
        lines = FetchedRows.read(answer, self.schema)
        return lines.training(self.schema), floats(numbers)


def cluster_sums(engine: SqlEngine, base: str, points: Points) -> ClusterSums:
    """Return the sums of a stored table's rows by nearest centroid."""
    k, width = points.centroids.shape
    cells = [f"x{place}" for place in range(width)]
    distances = [f"d{number}" for number in range(k)]
    query = sql.select(
        [
            sql.column("weight"),
            *(_scaled_cell(points, place) for place in range(width)),
        ],
        sql.table(base),
    )
    columns = ["weight", *cells]
    query = sql.select(
        [
            *map(sql.column, columns),
            *(_squared_distance(points, number) for number in range(k)),
        ],
        query,
    )
    near: exp.Expr = sql.column("d0")
    if k > 1:
        near = exp.Least(this=near, expressions=list(map(sql.column, distances[1:])))
    query = sql.select(
        [*map(sql.column, [*columns, *distances]), sql.alias(near, "near")], query
    )
    label: exp.Expr = sql.case(
        *(
            (
                exp.EQ(this=sql.column(name), expression=sql.column("near")),
                sql.integer(number),
            )
            for number, name in enumerate(distances)
        )
    )
    label = sql.coalesce([label, sql.integer(-1)])
    query = sql.select(
        [*map(sql.column, [*columns, "near"]), sql.alias(label, "label")], query
    )
    weight = sql.column("weight")
    sums = [
        sql.product(
            weight.copy(), sql.difference(sql.column(name), sql.param(float(origin)))
        )
        for name, origin in zip(cells, points.origin, strict=True)
    ]
    added = [weight, *sums, sql.product(sql.column("weight"), sql.column("near"))]
    listed = [
        sql.alias(sql.total(amount), f"s{place}") for place, amount in enumerate(added)
    ]
    query = sql.select(
        [sql.column("label"), sql.alias(sql.count_all(), "n"), *listed], query
    )
    answer = engine.fetch(sql.grouped_by(query, [sql.column("label")]))
    return _cluster_sums_of_result(
        np.array([floats(amount) for amount in answer]).T, points
    )


def _scaled_cell(points: Points, place: int) -> exp.Alias:
    """Return a cell divided by the scale of its column."""
    cell = sql.column(f"a{points.attributes[place]}")
    scale = sql.param(float(points.scale[place]))
    return sql.alias(exp.Div(this=cell, expression=scale), f"x{place}")


def _squared_distance(points: Points, number: int) -> exp.Alias:
    """Return the squared distance of a row to a centroid."""
    squares: list[exp.Expr] = []
    for place, coordinate in enumerate(points.centroids[number]):
        offset = sql.difference(sql.column(f"x{place}"), sql.param(float(coordinate)))
        squares.append(sql.product(offset, offset.copy()))
    return sql.alias(sql.add(squares), f"d{number}")


def _cluster_sums_of_result(lines: np.ndarray, points: Points) -> ClusterSums:
    """Return the sums by centroid from result rows; 0 for centroids without rows."""
    total, n_lacking = no_sums(points), 0
    for label, n_rows, weight, *sums, squares in lines:
        if label < 0:
            n_lacking = int(n_rows)
            continue
        point = int(label)
        total.weights[point], total.sums[point], total.squares[point] = (
            weight,
            sums,
            squares,
        )
    return replace(total, n_lacking=n_lacking)
