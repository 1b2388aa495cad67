"""PostgreSQL through psycopg: values are bound by the server, in one transaction."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from sqlglot import exp

from spinney.data.duckdb import Family, RawColumn
from spinney.extensions.databases import expressions as sql
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.expressions import Cell

if TYPE_CHECKING:
    from psycopg import Connection

# Type codes of PostgreSQL (pg_type.oid); the same on every server.
FAMILIES: dict[int, Family] = {
    **dict.fromkeys((18, 19, 25, 1042, 1043, 2950), "text"),
    **dict.fromkeys((20, 21, 23, 26, 700, 701, 1700), "number"),
    16: "boolean",
    1082: "day",
    **dict.fromkeys((1114, 1184), "instant"),
    1083: "clock",
}
BIGINT, WITH_ZONE = 20, 1184


class PostgresEngine(SqlEngine):
    """Counts in a PostgreSQL server, inside one transaction of a connection.

    The transaction's end or a lost connection drops the temporary tables.
    """

    name = "PostgreSQL"
    dialect = "postgres"

    def __init__(
        self, rows: exp.Table | exp.Subquery, connection: "Connection[Any]"
    ) -> None:
        super().__init__(rows)
        self._connection = self.connection = connection
        self._transaction = ExitStack()

    def __enter__(self) -> Self:
        with self.translated_errors():
            self._transaction.enter_context(self._connection.transaction())
        return self

    def __exit__(self, *error: Any) -> None:
        if error[0] is None:
            super().__exit__()
        self._stored.clear()  # the rollback drops the tables
        with self.translated_errors():
            self._transaction.__exit__(*error)

    def columns(self) -> list[RawColumn]:
        """Return the columns with the types that the server reports."""
        statement, _ = self.to_sql(
            sql.select([exp.Star()], self.rows).limit(0, copy=False)
        )
        with self.translated_errors(), self.cursor_of(self._connection) as cursor:
            cursor.execute(statement.encode())
            described = [
                (field.name, field.type_code) for field in cursor.description or ()
            ]
            codes = {code for _, code in described}
            enums = self._enums(codes)
            cursor.execute(
                "SELECT oid, typname FROM pg_type WHERE oid = ANY(%s)", [list(codes)]
            )
            names = dict(cursor.fetchall())
        return [
            RawColumn(
                name,
                "",
                "text" if code in enums else FAMILIES.get(code),
                "timestamptz" if code == WITH_ZONE else names.get(code, str(code)),
                code == BIGINT,
                enums.get(code, ()),
            )
            for name, code in described
        ]

    @staticmethod
    def cursor_of(connection: Any) -> Any:
        """Return a cursor whose rows are tuples, whatever the row factory."""
        from psycopg.rows import tuple_row

        return connection.cursor(row_factory=tuple_row)

    def _enums(self, codes: set[int]) -> dict[int, tuple[str, ...]]:
        """Return the values of enum types, in declaration order."""
        with self.cursor_of(self._connection) as cursor:
            cursor.execute(
                "SELECT enumtypid, enumlabel FROM pg_enum WHERE enumtypid = ANY(%s) "
                "ORDER BY enumtypid, enumsortorder",
                [list(codes)],
            )
            listed: dict[int, tuple[str, ...]] = {}
            for code, label in cursor.fetchall():
                listed[code] = (*listed.get(code, ()), label)
        return listed

    def _run(
        self, statement: str, values: Mapping[str, Cell]
    ) -> list[Sequence[Any]] | None:
        from psycopg import RawCursor
        from psycopg.rows import tuple_row

        with RawCursor(self._connection, row_factory=tuple_row) as cursor:
            cursor.execute(statement.encode(), list(values.values()) or None)
            if cursor.description is None:
                return None
            lines = cursor.fetchall()
            return [list(cells) for cells in zip(*lines, strict=True)] or [
                [] for _ in cursor.description
            ]

    def _failures(self) -> tuple[type[Exception], ...]:
        import psycopg

        return (psycopg.Error,)

    def placeholder(self, number: int) -> str:
        """Return the placeholder of a parameter in the server's notation."""
        return f"${number + 1}"

    def as_number(self, cell: exp.Expr, family: Family) -> exp.Expr:
        """Return a cell as a float; dates and times as days or seconds."""
        if family in ("day", "instant", "clock"):
            seconds = sql.double(exp.Extract(this=exp.var("EPOCH"), expression=cell))
            if family != "day":
                return seconds
            return exp.Div(
                this=seconds, expression=exp.Literal.number(86400), typed=True
            )
        return super().as_number(cell, family)

    def as_text(self, cell: exp.Expr, raw: RawColumn) -> exp.Expr:
        """Return a cell as a text; timestamps with a time zone in UTC."""
        if raw.type == "timestamptz":
            cell = exp.AtTimeZone(this=cell, zone=exp.Literal.string("UTC"))
        return sql.text(cell)
