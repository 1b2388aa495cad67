"""Rows of an engine with their numbers, and what is drawn of them by these."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from sqlglot import exp

from spinney._support.arrays import Floats
from spinney.data import Fingerprint, Schema
from spinney.extensions.databases.caching_source import CachingSource
from spinney.extensions.databases.engines.sql_engine import SqlEngine, floats
from spinney.extensions.databases.expressions import (
    bound,
    case,
    column,
    count_all,
    difference,
    double,
    first_known,
    grouped_by,
    named,
    product,
    select,
    summed_up,
    table,
    total_of,
    whole,
)
from spinney.extensions.databases.query_results import FetchedRows, rows_query
from spinney.extensions.databases.row_hash import SHARE, TIMES, cells_of, sampled_rows
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
    """Rows of an engine with their numbers, in a kept table.

    Parameters
    ----------
    engine : SqlEngine
    base : str
        The kept table: coded rows, and their numbers in the column ``SHARE``.
    schema : Schema
        What the codes mean.
    most_rows : int
        How many rows may be in memory.
    """

    def __init__(
        self, engine: SqlEngine, base: str, schema: Schema, most_rows: int
    ) -> None:
        self.schema = schema
        self.most_rows = most_rows
        self._engine, self._base = engine, base
        self.source = SqlSource(engine, base, schema, bins=False)

    def root(self) -> Totals:
        """Return the totals of all rows."""
        return self.source.root()

    def fingerprint(self) -> Fingerprint:
        """Return what tells the rows from others."""
        return self.root().fingerprint()

    @contextmanager
    def sampled_source(
        self, *draws: HashSample, class_weights: Floats | None = None
    ) -> Iterator[Counts]:
        """Give the rows that draws take, in a table of their own while it is needed."""
        with self._engine.passing():
            base = self._engine.keep(self._weighed(draws, class_weights))
            source = SqlSource(self._engine, base, self.schema)
            most = self.most_rows
            yield CachingSource(source, most) if most else source

    def _weighed(
        self, draws: tuple[HashSample, ...], class_weights: Floats | None
    ) -> exp.Select:
        """Return the rows that draws take, with the weights that they have there."""
        names = cells_of(self.schema)
        taken = sampled_rows(table(self._base), names, draws)
        weight: exp.Expr = product(column("weight"), double(column(TIMES)))
        if class_weights is not None:
            each = [(whole(code), bound(w)) for code, w in enumerate(class_weights)]
            weight = product(weight, case(*each, of=column("class")))
        cells = [named(weight, n) if n == "weight" else column(n) for n in names]
        return select(cells, taken)

    def cluster_sums(self, points: Points) -> ClusterSums:
        """Return the sums of all rows by their nearest point."""
        return cluster_sums(self._engine, self._base, points)

    def subset(self, *draws: HashSample) -> SampleableRows:
        """Return the rows that draws take, with the numbers that they have."""
        return RowSubset(self, draws)

    def fetch_sample(self, *draws: HashSample) -> tuple[TrainingSet, Floats]:
        """Return the rows that draws take, each of them once, and their numbers."""
        engine, names = self._engine, cells_of(self.schema)
        with engine.passing():
            base = engine.keep(sampled_rows(table(self._base), names, draws))
            (n_rows,) = engine.line(select([count_all()], table(base)))
            check_rows_fit(n_rows, self.most_rows)
            query = rows_query(table(base), self.schema)
            query.append("expressions", column(SHARE))
            *answer, numbers = engine.fetch(query)
        lines = FetchedRows.read(answer, self.schema)
        return lines.training(self.schema), floats(numbers)


def cluster_sums(engine: SqlEngine, base: str, points: Points) -> ClusterSums:
    """Return the sums of the rows of a kept table, by their nearest point."""
    k, width = points.centroids.shape
    cells = [f"x{place}" for place in range(width)]
    distances = [f"d{number}" for number in range(k)]
    query = select(
        [column("weight"), *(_scaled(points, place) for place in range(width))],
        table(base),
    )
    kept = ["weight", *cells]
    query = select(
        [*map(column, kept), *(_square(points, number) for number in range(k))], query
    )
    near: exp.Expr = column("d0")
    if k > 1:
        near = exp.Least(this=near, expressions=list(map(column, distances[1:])))
    query = select([*map(column, [*kept, *distances]), named(near, "near")], query)
    label: exp.Expr = case(
        *(
            (exp.EQ(this=column(name), expression=column("near")), whole(number))
            for number, name in enumerate(distances)
        )
    )
    label = first_known([label, whole(-1)])
    query = select([*map(column, [*kept, "near"]), named(label, "label")], query)
    weight = column("weight")
    sums = [
        product(weight.copy(), difference(column(name), bound(float(origin))))
        for name, origin in zip(cells, points.origin, strict=True)
    ]
    added = [weight, *sums, product(column("weight"), column("near"))]
    listed = [named(summed_up(each), f"s{place}") for place, each in enumerate(added)]
    query = select([column("label"), named(count_all(), "n"), *listed], query)
    answer = engine.fetch(grouped_by(query, [column("label")]))
    return _read(np.array([floats(each) for each in answer]).T, points)


def _scaled(points: Points, place: int) -> exp.Alias:
    """Return a cell in the units of its column."""
    cell = column(f"a{points.attributes[place]}")
    scale = bound(float(points.scale[place]))
    return named(exp.Div(this=cell, expression=scale), f"x{place}")


def _square(points: Points, number: int) -> exp.Alias:
    """Return the squared distance of a row to a point."""
    squares: list[exp.Expr] = []
    for place, at in enumerate(points.centroids[number]):
        apart = difference(column(f"x{place}"), bound(float(at)))
        squares.append(product(apart, apart.copy()))
    return named(total_of(squares), f"d{number}")


def _read(lines: np.ndarray, points: Points) -> ClusterSums:
    """Return the answer as sums, of which points without rows have none."""
    total, n_lacking = no_sums(points), 0
    for label, n_rows, weight, *sums, squares in lines:
        if label < 0:
            n_lacking = int(n_rows)
            continue
        at = int(label)
        total.weights[at], total.sums[at], total.squares[at] = weight, sums, squares
    return replace(total, n_lacking=n_lacking)
