"""The interface of SQL engines, and their common behaviour.

A source writes its statements as SQLGlot expressions. An engine translates them into
its dialect, binds their values, runs them, and stores selects as temporary tables.
These have unique names and are dropped whenever the engine is left.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from secrets import token_hex
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sqlglot import Dialect, exp

from spinney._support.arrays import Floats, Integers
from spinney.data.duckdb import Family, RawColumn
from spinney.errors import DataError, Text
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.expressions import Cell

if TYPE_CHECKING:
    from spinney._support.memory_budget import MemoryBudget


class SqlEngine:
    """A SQL engine; subclasses define what differs between engines.

    ``n_statements`` counts the statements. A ``budget`` is checked between statements.
    """

    name: ClassVar[str]
    dialect: ClassVar[str]
    has_grouping_sets: ClassVar[bool] = True
    """Whether grouping sets count several columns at once, not a select per column."""
    max_parameters: ClassVar[int] = 30_000
    """The maximum number of bound values in a statement; others are literals."""
    max_columns: ClassVar[int] = 200
    """The maximum number of columns that one statement groups by."""
    max_joins: ClassVar[int] = 40
    prefers_update: ClassVar[bool] = False
    """Whether updating a stored table is faster than storing another one."""
    has_lists: ClassVar[bool] = False
    """Whether ``item`` can look numbers up in a list."""
    connection: Any = None
    """The connection or session that runs statements, if there is one."""

    def __init__(self, rows: exp.Table | exp.Subquery) -> None:
        self._rows = rows
        self._stored: list[str] = []
        self.n_statements = 0
        self.purpose = "count the rows"
        self.budget: MemoryBudget | None = None

    @property
    def rows(self) -> exp.Table | exp.Subquery:
        """The table or subquery of the rows."""
        return self._rows.copy()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._stored):
            with suppress(DataError):  # a lost connection has dropped them
                self.drop([name])

    # Engines define these

    def columns(self) -> list[RawColumn]:
        """Return the columns of the rows."""
        raise NotImplementedError

    def _run(
        self, statement: str, values: Mapping[str, Cell]
    ) -> list[Sequence[Any]] | None:
        """Run a statement; return its result columns, None without a result."""
        raise NotImplementedError

    def _failures(self) -> tuple[type[Exception], ...]:
        """Return the exception types of the engine."""
        raise NotImplementedError

    def as_number(self, cell: exp.Expr, family: Family) -> exp.Expr:
        """Return a cell as a float; dates and times as days or seconds."""
        if family == "boolean":
            cell = exp.Cast(this=cell, to=exp.DataType.build("int"))
        return sql.double(cell)

    def as_text(self, cell: exp.Expr, raw: RawColumn) -> exp.Expr:
        """Return a cell as a text."""
        return sql.text(cell)

    def nan_to_null(self, number: exp.Expr) -> exp.Expr:
        """Return a number with NULL instead of NaN."""
        nan = sql.double(exp.Literal.string("nan"))
        return exp.Nullif(this=number, expression=nan)

    def values(
        self, lines: Sequence[Sequence[exp.Expr]], names: Sequence[str], alias: str
    ) -> exp.Expr:
        """Return an inline table (VALUES) under an alias."""
        tuples = [exp.Tuple(expressions=list(line)) for line in lines]
        columns = [exp.to_identifier(name, quoted=True) for name in names]
        identifier = exp.to_identifier(alias, quoted=True)
        return exp.Values(
            expressions=tuples, alias=exp.TableAlias(this=identifier, columns=columns)
        )

    def integer_type(self, least: int, most: int) -> exp.DataType:
        """Return the narrowest integer type of a range."""
        small = least >= -(2**15) and most < 2**15
        return exp.DataType.build("smallint" if small else "int")

    def count_distinct(self, cell: exp.Expr) -> exp.Expr:
        """Return an estimate of the number of distinct cells."""
        return exp.Count(this=exp.Distinct(expressions=[cell]))

    def quantiles(self, base: str, name: str, n_parts: int) -> Floats:
        """Return approximate quantiles of a column of a stored table."""
        tile = exp.Window(
            this=exp.Anonymous(this="NTILE", expressions=[sql.integer(n_parts)]),
            order=exp.Order(expressions=[exp.Ordered(this=sql.column(name))]),
        )
        inner = sql.select(
            [sql.column(name), sql.alias(tile, "tile")],
            sql.table(base),
            sql.not_null(sql.column(name)),
        )
        greatest = sql.select([sql.alias(exp.Max(this=sql.column(name)), "s0")], inner)
        return floats(self.fetch(sql.grouped_by(greatest, [sql.column("tile")]))[0])

    def placeholder(self, number: int) -> str:
        """Return the placeholder of a parameter by its number."""
        return f":v{number}"

    def prepare_storage(self, n_rows: int, n_columns: int) -> None:
        """Prepare for storing a table of this size."""

    def stored_table(self, name: str) -> exp.Table:
        """Return a stored table as UPDATE and DROP name it."""
        return sql.table(name)

    def _store(self, name: str, query: exp.Query) -> None:
        """Store the rows of a select as a temporary table."""
        create = exp.Create(
            this=sql.table(name),
            kind="TABLE",
            expression=query,
            properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
        )
        self.execute(create)

    def _drop(self, name: str) -> None:
        """Drop a temporary table."""
        self.execute(exp.Drop(tables=[sql.table(name)], kind="TABLE", exists=True))

    def item(self, numbers: Sequence[exp.Expr], place: exp.Expr) -> exp.Expr:
        """Return the number at a position (from 0); NULL if the position is NULL."""
        raise NotImplementedError

    # All engines share these

    def store(self, query: exp.Query) -> str:
        """Store the rows of a select as a temporary table; return its name."""
        self.check_memory()
        name = f"spinney_{token_hex(8)}"
        self._stored.append(name)
        self._store(name, query)
        return name

    def update(self, name: str, cells: Mapping[str, exp.Expr], where: exp.Expr) -> int:
        """Update cells of a stored table; return the number of updated rows."""
        changes = [
            exp.EQ(this=sql.column(cell_name), expression=cell)
            for cell_name, cell in cells.items()
        ]
        update = exp.Update(
            this=self.stored_table(name),
            expressions=changes,
            where=exp.Where(this=where),
        )
        return int(self.fetch_row(update)[0])

    def drop(self, names: Sequence[str]) -> None:
        """Drop temporary tables."""
        for name in names:
            self._stored.remove(name)
            self._drop(name)

    @contextmanager
    def temporary_tables(self) -> Iterator[None]:
        """Drop the temporary tables created in this context, even after an error."""
        before = set(self._stored)
        try:
            yield
        finally:
            for name in [name for name in self._stored if name not in before]:
                with suppress(DataError):  # a lost connection has dropped them
                    self.drop([name])

    def fetch(self, statement: exp.Expr) -> list[Sequence[Any]]:
        """Return the result columns of a statement."""
        self.check_memory()
        answer = self.execute(statement)
        assert answer is not None
        return answer

    def check_memory(self) -> None:
        """Raise an error if the memory limit is exceeded."""
        if self.budget is not None:
            self.budget.check()

    def fetch_row(self, statement: exp.Expr) -> list[Any]:
        """Return the only result row of a statement, NULL as None."""
        return [_python_cell(cells[0]) for cells in self.fetch(statement)]

    def execute(self, statement: exp.Expr) -> list[Sequence[Any]] | None:
        """Run a statement; values that cannot be bound are literals."""
        words, values = self.to_sql(statement)
        self.n_statements += 1
        with self.translated_errors():
            return self._run(words, values)

    def run(self, words: str) -> None:
        """Run a statement without a result."""
        self.n_statements += 1
        with self.translated_errors():
            self._run(words, {})

    def to_sql(self, statement: exp.Expr) -> tuple[str, dict[str, Cell]]:
        """Return a statement in the engine's dialect, and the values to bind."""
        writer = _writer_of(self.dialect)(dialect=self.dialect)
        writer.engine, writer.values = self, {}
        return writer.generate(statement, copy=False), writer.values

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Turn the engine's errors into DataError with one line and a remedy."""
        try:
            yield
        except self._failures() as error:
            problem, remedy = self.explain_error(error)
            raise DataError(problem, remedy=remedy) from None

    def explain_error(self, error: Exception) -> tuple[Text, Text]:
        """Return the message and the remedy for an error."""
        reason = " ".join(str(error).split("\n")[0].split()) or type(error).__name__
        lowered = reason.lower()
        remedy = next(
            remedy
            for words, remedy in REMEDIES
            if any(word in lowered for word in words)
        )
        return f"{self.name} cannot {self.purpose} ({reason})", remedy


@cache
def _writer_of(dialect: str) -> Any:
    """Return the SQL generator of a dialect that numbers the parameters."""
    writer: Any = Dialect.get_or_raise(dialect).generator_class

    class Writer(writer):  # type: ignore[misc]
        engine: SqlEngine
        values: dict[str, Cell]

        def placeholder_sql(self, expression: exp.Placeholder) -> str:
            number, value = len(self.values), expression.meta["value"]
            if number >= self.engine.max_parameters:
                return str(self.sql(literal(value)))
            self.values[f"v{number}"] = value
            return self.engine.placeholder(number)

    return Writer


REMEDIES = (
    (("locked", "busy"),
     "another program is writing to it: try again later, or read a copy"),
    (("permission denied", "readonly", "read-only", "not authorized"),
     "ask for the rights to read the table and to create temporary tables"),
    (("no space", "disk is full", "disk full", "out of memory", "no temporary",
      "could not write"),
     "temporary tables need about as much space as the table: free space, or select "
     "fewer columns or rows"),
    (("does not exist", "no such", "not found", "cannot be found"),
     "check whether the table was dropped or renamed meanwhile"),
    (("type", "invalid input", "cast", "convert"),
     "check whether the type of a column was changed meanwhile"),
    (("closed", "connection", "terminat", "server"),
     "the connection is lost: connect again; nothing is left behind"),
    (("",), "check the table, or read the rows into memory"),
)  # fmt: skip
"""Parts of engine messages, and the remedy for each; the first match counts."""


def literal(value: Cell) -> exp.Expr:
    """Return a value as a literal that SQLGlot escapes; numbers keep every bit.

    >>> print(literal("it's").sql(), literal(0.1).sql())
    'it''s' CAST('0.1' AS DOUBLE)
    """
    if isinstance(value, str):
        first, *others = (exp.Literal.string(part) for part in value.split("\0"))
        joined: exp.Expr = first
        for other in others:
            nul = exp.Chr(expressions=[exp.Literal.number(0)])
            joined = exp.DPipe(
                this=exp.DPipe(this=joined, expression=nul), expression=other
            )
        return exp.Paren(this=joined) if others else joined
    return sql.double(exp.Literal.string(repr(float(value))))


def _python_cell(cell: Any) -> Any:
    """Return an array cell as a Python object, None if it is masked."""
    if cell is np.ma.masked:
        return None
    return cell.item() if isinstance(cell, np.generic) else cell


def floats(cells: Sequence[Any]) -> Floats:
    """Return cells as floats, NaN for missing ones."""
    if isinstance(cells, np.ndarray) and cells.dtype != object:
        numbers = np.ma.getdata(cells).astype(np.float64)
        numbers[np.ma.getmaskarray(cells)] = np.nan
        return numbers
    listed = (np.nan if cell is None else float(cell) for cell in texts(cells))
    return np.fromiter(listed, np.float64, len(cells))


def integers(cells: Sequence[Any]) -> Integers:
    """Return cells as integers; none may be missing."""
    if isinstance(cells, np.ndarray) and cells.dtype != object:
        return np.ma.getdata(cells).astype(np.int64)
    return np.fromiter(map(int, cells), np.int64, len(cells))


def texts(cells: Sequence[Any]) -> list[Any]:
    """Return cells as a list, None for missing ones."""
    return [_python_cell(cell) for cell in cells]
