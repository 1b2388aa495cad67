"""SQLite through the standard library: a local file, whose tables are read whole.

Its columns may contain values of any type, so the types of the cells count. SQLite
stores dates as texts and flags as integers: there the declared type counts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from spinney._support.memory_budget import MemoryBudget
from spinney.data import Declarations, Table, check_names
from spinney.data.duckdb import column_type_error
from spinney.data.readers import read_table
from spinney.errors import ParameterError, Setting, phrase
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.expressions import Cell
from spinney.sources.rows.sampleable_rows import CELL_BYTES

if TYPE_CHECKING:
    from sqlite3 import Connection, Cursor

AT_ONCE = 20_000
"""The number of rows fetched at once."""
TEXTS = ("TEXT", "VARCHAR", "CHAR")
DAY = r"\d{4}-\d\d-\d\d"
TIMES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "DATE": (DAY, date.fromisoformat),
    **dict.fromkeys(
        ("DATETIME", "TIMESTAMP"),
        (rf"{DAY}[ T]\d\d:\d\d(:\d\d(\.\d+)?)?", datetime.fromisoformat),
    ),
}
"""The text format of dates and timestamps, by declared type."""


class SqliteEngine(SqlEngine):
    """Reads and writes tables of a SQLite database."""

    name = "SQLite"
    dialect = "sqlite"

    def __init__(
        self, rows: exp.Table | exp.Subquery, connection: "Connection"
    ) -> None:
        super().__init__(rows)
        self.connection = connection
        self.purpose = "read the rows"

    def table(
        self, declarations: Declarations, memory_limit: int | str | None = None
    ) -> Table:
        """Return the table in memory; refuse one that exceeds the memory limit."""
        with self.translated_errors():
            words, _ = self.to_sql(sql.select([exp.Star()], self.rows))
            cursor = plain_cursor(self.connection).execute(words)
            names = [field[0] for field in cursor.description]
            check_names(names, declarations)
            if memory_limit is not None:
                self._check_room(len(names), MemoryBudget(memory_limit))
            columns: dict[str, list[Any]] = {name: [] for name in names}
            while lines := cursor.fetchmany(AT_ONCE):
                for name, cells in zip(names, zip(*lines, strict=True), strict=True):
                    ignored = declarations.ignores(name)
                    columns[name] += [None] * len(cells) if ignored else cells
            declared = self._declared()
        texts = [
            name
            for name, kind in declared.items()
            if kind.startswith(TEXTS)
            and declarations.kind(name) is None
            and all(cell is None for cell in columns.get(name, "?"))
        ]
        return read_table(
            {name: _cells(name, columns.pop(name), declared) for name in names},
            declarations=replace(declarations, nominal=(*declarations.nominal, *texts)),
        )

    def _check_room(self, n_columns: int, budget: MemoryBudget) -> None:
        """Refuse rows that exceed the memory budget: SQLite tables are read whole."""
        (n_rows,) = self.fetch_row(sql.select([sql.count_all()], self.rows))
        n_bytes = n_rows * (n_columns + 1) * CELL_BYTES
        if n_bytes > budget.rows:
            raise ParameterError(
                Setting("memory_limit", budget.given),
                f" is too small for {n_rows} rows, and SQLite tables are read whole",
                remedy=phrase(
                    "raise it to {}, or export the table to Parquet and use {}",
                    f"{-(-4 * n_bytes // (1 << 20))}MiB",
                    Setting("engine", "duckdb"),
                ),
            )

    def _declared(self) -> dict[str, str]:
        """Return the declared types by column name; none for a query."""
        if not isinstance(self._rows, exp.Table):
            return {}
        listed = plain_cursor(self.connection).execute(
            "SELECT name, type FROM pragma_table_info(?, ?)",
            [self._rows.name, self._rows.db or None],
        )
        return {name: kind.upper() for name, kind in listed}

    def _run(
        self, statement: str, values: Mapping[str, Cell]
    ) -> list[Sequence[Any]] | None:
        cursor = plain_cursor(self.connection).execute(statement, dict(values))
        if cursor.description is None:
            return None
        return [list(cells) for cells in zip(*cursor.fetchall(), strict=True)]

    def _failures(self) -> tuple[type[Exception], ...]:
        import sqlite3

        return (sqlite3.Error,)


def _cells(name: str, cells: list[Any], declared: Mapping[str, str]) -> list[Any]:
    """Return the cells of a column with the types of storage and declaration."""
    kinds, kind = {*map(type, cells)} - {type(None)}, declared.get(name, "")
    if bytes in kinds:
        raise column_type_error(name, "BLOB")
    if kinds == {int} and kind.startswith("BOOL") and {*cells} <= {0, 1, None}:
        return [None if cell is None else bool(cell) for cell in cells]
    if kinds == {str} and kind in TIMES:
        return _times(cells, *TIMES[kind])
    if str in kinds:
        return [None if cell is None else str(cell) for cell in cells]
    return cells


def _times(cells: list[Any], form: str, read: Callable[[str], Any]) -> list[Any]:
    """Return the cells as dates or timestamps if all are valid, otherwise unchanged."""
    if not all(cell is None or re.fullmatch(form, cell) for cell in cells):
        return cells
    try:
        return [None if cell is None else read(cell) for cell in cells]
    except ValueError:  # not a valid date
        return cells


def plain_cursor(connection: "Connection") -> "Cursor":
    """Return a cursor whose rows are tuples, whatever the connection's row factory."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor
