"""DuckDB: a relation, with or without the connection to bind values to."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sqlglot import exp

from spinney._support.arrays import Floats
from spinney.data.duckdb import first_line
from spinney.sources.sql.engines.sql_engine import SqlEngine
from spinney.sources.sql.expressions import Cell, column, named, select, table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


class DuckDBEngine(SqlEngine):
    """Runs statements over a relation; without a connection, values are literals."""

    name = "DuckDB"
    dialect = "duckdb"
    grouping = "anew"  # several times as fast as its grouping sets

    def __init__(
        self, relation: "DuckDBPyRelation", connection: "DuckDBPyConnection | None"
    ) -> None:
        self._view = f"spinney_rows_{token_hex(8)}"
        super().__init__(table(self._view))
        self._relation, self._connection = relation, connection
        self.most_values = 0 if connection is None else 30_000  # type: ignore[misc]

    def __enter__(self) -> Self:
        if self._connection is not None:
            with self.translated():
                self._connection.register(self._view, self._relation)
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        if self._connection is not None:
            self._connection.unregister(self._view)

    def _run(
        self, statement: str, values: Mapping[str, Cell]
    ) -> list[Sequence[Any]] | None:
        if self._connection is None:
            answer: Any = self._relation.query(self._view, statement)
        else:
            answer = self._connection.execute(statement, dict(values) or None)
        if answer is None or statement.startswith(("CREATE", "DROP")):
            return None
        return list(answer.fetchnumpy().values())

    def whole_type(self, least: int, most: int) -> exp.DataType:
        """Return the narrowest type of whole numbers from one to another."""
        if least >= 0 and most < 2**8:
            return exp.DataType.build("utinyint", dialect="duckdb")
        return super().whole_type(least, most)

    def count_distinct(self, cell: exp.Expr) -> exp.Expr:
        """Return about how many different cells there are, from a small sketch."""
        return exp.ApproxDistinct(this=cell)

    def quantiles(self, base: str, name: str, n_parts: int) -> Floats:
        """Return about the quantiles of a column, from a small sketch."""
        shares = [exp.Literal.number(i / n_parts) for i in range(1, n_parts)]
        listed = exp.Array(expressions=shares)
        quantiles = exp.ApproxQuantile(this=column(name), quantile=listed)
        (answer,) = self.fetch(select([named(quantiles, "s0")], table(base)))
        return np.asarray(list(answer[0]), dtype=np.float64)

    def mark(self, number: int) -> str:
        """Return what stands for a value in a statement, by its number."""
        return f"$v{number}"

    def _failures(self) -> tuple[type[Exception], ...]:
        import duckdb

        return (duckdb.Error,)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn DuckDB's errors into DataError, and its interrupts into Python's."""
        try:
            with super().translated():
                yield
        except RuntimeError as error:
            if "interrupted" in str(error).lower():
                raise KeyboardInterrupt from None  # what it was before DuckDB took it
            raise

    def explained(self, error: Exception) -> tuple[Any, Any]:
        """Return what is wrong, in DuckDB's first line, and what to do about it."""
        return super().explained(type(error)(first_line(str(error))))
