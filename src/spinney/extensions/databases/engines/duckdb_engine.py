"""DuckDB: statements over a relation, with or without its connection."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sqlglot import exp

from spinney._support.arrays import Floats
from spinney._support.memory_budget import bytes_of
from spinney.data.duckdb import (
    array_aggregation,
    first_line,
    private_folder,
    quote_text,
)
from spinney.errors import DataError
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.expressions import Cell

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


SAMPLE_ROWS = 500_000
"""The size of the sample that gives the quantiles of a column."""


CELL_BYTES = 8
"""The maximum size of a stored cell."""
WITHOUT_RESULT = ("CREATE", "DROP", "ATTACH", "DETACH")


class DuckDBEngine(SqlEngine):
    """Runs statements over a relation; without a connection, values are literals."""

    name = "DuckDB"
    dialect = "duckdb"
    has_grouping_sets = False  # one SELECT per column is several times faster
    prefers_update = True  # a new table would write every column again
    has_lists = True

    def __init__(
        self, relation: "DuckDBPyRelation", connection: "DuckDBPyConnection | None"
    ) -> None:
        self._view = f"spinney_rows_{token_hex(8)}"
        super().__init__(sql.table(self._view))
        self._relation, self._connection = relation, connection
        self.max_parameters = 0 if connection is None else 30_000  # type: ignore[misc]
        self._settings = ExitStack()
        self._file: str | None = None

    def __enter__(self) -> Self:
        if self._connection is not None:
            with self.translated_errors():
                self._connection.register(self._view, self._relation)
                self._settings.enter_context(array_aggregation(self._connection))
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._settings.close()
        if self._connection is not None:
            self._connection.unregister(self._view)

    def prepare_storage(self, n_rows: int, n_columns: int) -> None:
        """Store tables in a file if they would take most of the memory.

        DuckDB writes an evicted table of memory each time, but only rereads one of a
        file. No file is used in a user's transaction, which can write to only one.
        """
        if self._connection is None or self._file is not None:
            return
        settings = "current_setting('memory_limit'), current_setting('temp_directory')"
        with self.translated_errors():
            ((limit, folder),) = self._connection.execute(
                f"SELECT {settings}"
            ).fetchall()
            if not folder or 2 * CELL_BYTES * n_rows * n_columns <= bytes_of(limit):
                return
            number = "SELECT txid_current()"
            first, second = (self._connection.sql(number).fetchall() for _ in range(2))
        if first != second:
            path = self._settings.enter_context(private_folder(folder)) / "rows.db"
            name = f"spinney_{token_hex(8)}"
            self.run(f"ATTACH {quote_text(str(path))} AS {name}")
            self._settings.callback(self._detach, name)
            self._file = name

    def _detach(self, name: str) -> None:
        self._file = None
        with suppress(DataError):  # a lost connection has detached it
            self.run(f"DETACH {name}")

    def stored_table(self, name: str) -> exp.Table:
        """Return a stored table with its catalog."""
        if self._file is None:
            return super().stored_table(name)
        return exp.table_(name, db="main", catalog=self._file, quoted=True)

    def _store(self, name: str, query: exp.Query) -> None:
        if self._file is None:
            super()._store(name, query)
            return
        self.execute(
            exp.Create(this=self.stored_table(name), kind="TABLE", expression=query)
        )
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
        every = sql.select([exp.Star()], self.stored_table(name))
        view = exp.Create(this=sql.table(name), kind="VIEW", expression=every)
        view.set("properties", temporary)
        self.execute(view)

    def _drop(self, name: str) -> None:
        if self._file is None:
            super()._drop(name)
            return
        self.execute(exp.Drop(tables=[sql.table(name)], kind="VIEW", exists=True))
        self.execute(
            exp.Drop(tables=[self.stored_table(name)], kind="TABLE", exists=True)
        )

    def _run(
        self, statement: str, values: Mapping[str, Cell]
    ) -> list[Sequence[Any]] | None:
        if self._connection is None:
            answer: Any = self._relation.query(self._view, statement)
        else:
            answer = self._connection.execute(statement, dict(values) or None)
        if answer is None or statement.startswith(WITHOUT_RESULT):
            return None
        return list(answer.fetchnumpy().values())

    def integer_type(self, least: int, most: int) -> exp.DataType:
        """Return the narrowest integer type of a range."""
        if least >= 0 and most < 2**8:
            return exp.DataType.build("utinyint", dialect="duckdb")
        return super().integer_type(least, most)

    def item(self, numbers: Sequence[exp.Expr], place: exp.Expr) -> exp.Expr:
        """Return the number at a position (from 0); NULL if the position is NULL."""
        number = exp.Paren(this=exp.Add(this=place, expression=sql.integer(1)))
        every = exp.Array(expressions=list(numbers))
        return exp.Anonymous(this="LIST_EXTRACT", expressions=[every, number])

    def count_distinct(self, cell: exp.Expr) -> exp.Expr:
        """Return an estimate of the number of distinct cells."""
        return exp.ApproxDistinct(this=cell)

    def quantiles(self, base: str, name: str, n_parts: int) -> Floats:
        """Return approximate quantiles of a column, from a sample of its rows."""
        fractions = [exp.Literal.number(i / n_parts) for i in range(1, n_parts)]
        listed = exp.Array(expressions=fractions)
        quantiles = exp.ApproxQuantile(this=sql.column(name), quantile=listed)
        (n_rows,) = self.fetch_row(sql.select([sql.count_all()], sql.table(base)))
        source = sql.table(base)
        if n_rows > SAMPLE_ROWS:
            percent = exp.Literal.number(100 * SAMPLE_ROWS / n_rows)
            seed, method = exp.Literal.number(1), exp.var("SYSTEM")
            sample = exp.TableSample(percent=percent, method=method, seed=seed)
            source.set("sample", sample)
        (answer,) = self.fetch(sql.select([sql.alias(quantiles, "s0")], source))
        if answer[0] is None or answer[0] is np.ma.masked:
            return np.zeros(0)  # the sampled rows have no known number
        return np.asarray(list(answer[0]), dtype=np.float64)

    def placeholder(self, number: int) -> str:
        """Return the placeholder of a parameter by its number."""
        return f"$v{number}"

    def _failures(self) -> tuple[type[Exception], ...]:
        import duckdb

        return (duckdb.Error,)

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Turn DuckDB's errors into DataError, and its interrupts into Python's."""
        try:
            with super().translated_errors():
                yield
        except RuntimeError as error:
            if "interrupted" in str(error).lower():
                raise KeyboardInterrupt from None
            raise

    def explain_error(self, error: Exception) -> tuple[Any, Any]:
        """Return the first line of DuckDB's message, and a remedy."""
        return super().explain_error(type(error)(first_line(str(error))))
