"""Spark: a data frame of a running session; statements are Spark SQL."""

from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self

from sqlglot import exp

from spinney._support.arrays import Floats
from spinney.data.duckdb import Family, RawColumn
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engines.sql_engine import SqlEngine, floats
from spinney.extensions.databases.expressions import Cell

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FAMILIES: dict[str, Family] = {
    **dict.fromkeys(("string", "varchar", "char"), "text"),
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "number"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    "boolean": "boolean",
    "date": "day",
    "timestamp": "instant",
}


class SparkEngine(SqlEngine):
    """Counts in the Spark session of a data frame; its executors store the tables."""

    name = "Spark"
    dialect = "spark"
    max_columns = 60

    def __init__(self, frame: "DataFrame") -> None:
        self._view = f"spinney_rows_{token_hex(8)}"
        super().__init__(sql.table(self._view))
        self._frame, self._session = frame, frame.sparkSession
        self._frames: dict[str, DataFrame] = {}

    def __enter__(self) -> Self:
        with self.translated_errors():
            self._frame.createTempView(self._view)
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        with self.translated_errors():
            self._session.catalog.dropTempView(self._view)

    def columns(self) -> list[RawColumn]:
        """Return the columns with the types of the data frame."""
        return [
            RawColumn(
                field.name,
                "",
                FAMILIES.get(field.dataType.simpleString().split("(")[0]),
                field.dataType.simpleString(),
                field.dataType.simpleString() == "bigint",
            )
            for field in self._frame.schema.fields
        ]

    def _run(
        self, statement: str, values: Mapping[str, Cell]
    ) -> list[Sequence[Any]] | None:
        frame = self._session.sql(statement, args=dict(values))
        lines = frame.collect()
        return [list(cells) for cells in zip(*lines, strict=True)] or [
            [] for _ in frame.columns
        ]

    def _failures(self) -> tuple[type[Exception], ...]:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        return (PySparkException, Py4JError, ConnectionError)

    def _store(self, name: str, query: exp.Query) -> None:
        words, values = self.to_sql(query)
        self.n_statements += 1
        with self.translated_errors():
            # The plan of a frame that is only cached contains all earlier statements.
            frame = self._session.sql(words, args=dict(values)).localCheckpoint()
            frame.createTempView(name)
            self._frames[name] = frame

    def _drop(self, name: str) -> None:
        with self.translated_errors():
            self._session.catalog.dropTempView(name)
            frame = self._frames.pop(name, None)
            if frame is not None:
                frame.unpersist()

    def count_distinct(self, cell: exp.Expr) -> exp.Expr:
        """Return an estimate of the number of distinct cells."""
        return exp.ApproxDistinct(this=cell)

    def quantiles(self, base: str, name: str, n_parts: int) -> Floats:
        """Return approximate quantiles of a column, from a small sketch."""
        fractions = [exp.Literal.number(i / n_parts) for i in range(1, n_parts)]
        quantiles = exp.Anonymous(
            this="percentile_approx",
            expressions=[sql.column(name), exp.Array(expressions=fractions)],
        )
        (answer,) = self.fetch(
            sql.select([sql.alias(quantiles, "s0")], sql.table(base))
        )
        return floats(list(answer[0]))

    def as_number(self, cell: exp.Expr, family: Family) -> exp.Expr:
        """Return a cell as a float; dates and times as days or seconds."""
        if family == "day":
            return sql.double(exp.Anonymous(this="unix_date", expressions=[cell]))
        if family == "instant":
            micros = exp.Anonymous(this="unix_micros", expressions=[cell])
            return exp.Div(
                this=sql.double(micros),
                expression=sql.double(exp.Literal.number(1000000)),
                typed=True,
            )
        return super().as_number(cell, family)
