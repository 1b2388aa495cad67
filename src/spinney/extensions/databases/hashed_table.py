"""Rows of an engine with their numbers, and what is drawn of them by these."""

from collections.abc import Iterator
from contextlib import contextmanager

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
    double,
    named,
    product,
    select,
    table,
    whole,
)
from spinney.extensions.databases.fetched_lines import FetchedRows, lines_of
from spinney.extensions.databases.row_hash import SHARE, TIMES, cells_of, sampled_rows
from spinney.extensions.databases.sql_clusters import cluster_sums
from spinney.extensions.databases.sql_source import SqlSource
from spinney.sources.base import Counts, Totals
from spinney.sources.rows.cluster_sums import ClusterSums, Points
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
            query = lines_of(table(base), self.schema)
            query.append("expressions", column(SHARE))
            *answer, numbers = engine.fetch(query)
        lines = FetchedRows.read(answer, self.schema)
        return lines.training(self.schema), floats(numbers)
