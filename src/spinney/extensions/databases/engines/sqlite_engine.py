"""SQLite through the standard library: no grouping sets, types by what is stored."""

from collections.abc import Mapping, Sequence
from sqlite3 import sqlite_version_info
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from spinney.data.duckdb import Family, RawColumn
from spinney.errors import DataError
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.expressions import (
    Cell,
    case,
    column,
    difference,
    double,
    named,
    select,
    table,
    text,
)

if TYPE_CHECKING:
    from sqlite3 import Connection, Cursor

TIMES: dict[str, Family] = {
    "DATE": "day",
    "DATETIME": "instant",
    "TIMESTAMP": "instant",
}
MOST_VALUES = 30_000
EPOCH = "2440587.5"
"""The Julian day on which 1970 begins."""


class SqliteEngine(SqlEngine):
    """Counts in a SQLite database; temporary tables are no part of its file.

    SQLite's limits, as it is built by default: 2,000 columns in a table, 500 selects in
    a UNION, 64 tables in a join, 32,766 values in a statement (999 before 3.32), and
    expressions nested 1,000 deep.
    """

    name = "SQLite"
    dialect = "sqlite"
    grouping = "once"
    most_columns = 400

    def __init__(
        self, rows: exp.Table | exp.Subquery, connection: "Connection"
    ) -> None:
        super().__init__(rows)
        self._connection = self.connection = connection
        self._read_at = 0
        recent = sqlite_version_info >= (3, 32)
        self.most_values = MOST_VALUES if recent else 900  # type: ignore[misc]

    def _version(self) -> int:
        """Return a number that changes when another connection changes the file."""
        cursor = plain_cursor(self._connection)
        (version,) = cursor.execute("PRAGMA data_version").fetchone()
        return int(version)

    def check_unchanged(self) -> None:
        """Raise if another connection has changed the file.

        SQLite reads it anew for each statement, and would take texts for 0.
        """
        with self.translated():
            version = self._version()
        if version != self._read_at:
            msg = "the database was changed while its rows were looked at"
            raise DataError(msg, remedy="grow the tree again, or read from a copy")

    def columns(self) -> list[RawColumn]:
        """Return the columns, by what is stored in them and how they were declared."""
        with self.translated():
            self._read_at = self._version()
            declared = self._declared()
            kinds = self._stored(list(declared))
        return [
            RawColumn(name, "", *self._family(name, declared[name], kinds[name]))
            for name in declared
        ]

    def _declared(self) -> dict[str, str]:
        """Return the declared type of each column; a view of the rows knows them."""
        statement, _ = self.written(
            select([exp.Star()], self.rows).limit(0, copy=False)
        )
        cursor = plain_cursor(self._connection).execute(statement)
        names = [each[0] for each in cursor.description]
        cursor.close()
        types = dict.fromkeys(names, "")
        if isinstance(self._rows, exp.Table):
            listed = plain_cursor(self._connection).execute(
                "SELECT name, type FROM pragma_table_info(?, ?)",
                [self._rows.name, self._rows.db or None],
            )
            types |= {name: kind for name, kind in listed if name in types}
        return types

    def _stored(self, names: Sequence[str]) -> dict[str, set[str]]:
        """Return what is stored in each column: integer, real, text, blob."""
        stored: dict[str, set[str]] = {}
        for start in range(0, len(names), 100):
            group = names[start : start + 100]
            listed = [
                named(
                    exp.Anonymous(
                        this="group_concat",
                        expressions=[
                            exp.Distinct(
                                expressions=[
                                    exp.Anonymous(
                                        this="typeof", expressions=[column(n)]
                                    )
                                ]
                            )
                        ],
                    ),
                    f"s{i}",
                )
                for i, n in enumerate(group)
            ]
            for name, kinds in zip(
                group, self.line(select(listed, self.rows)), strict=True
            ):
                stored[name] = set((kinds or "null").split(",")) - {"null"}
        return stored

    def _family(
        self, name: str, declared: str, kinds: set[str]
    ) -> tuple[Family | None, str, bool]:
        upper = declared.upper()
        shown = declared or "/".join(sorted(kinds)) or "NULL"
        if "blob" in kinds:
            return None, "BLOB", False
        if kinds <= {"integer", "real"}:
            if (
                upper.startswith("BOOL")
                and kinds == {"integer"}
                and self._is_flag(name)
            ):
                return "boolean", shown, False
            if kinds or not upper.startswith(("TEXT", "VARCHAR", "CHAR")):
                return "number", shown, "integer" in kinds
        if kinds == {"text"} and upper in TIMES and self._are_times(name, TIMES[upper]):
            return TIMES[upper], shown, False
        return "text", shown, False

    def _is_flag(self, name: str) -> bool:
        extremes = [exp.Min(this=column(name)), exp.Max(this=column(name))]
        least, most = self.line(select(extremes, self.rows))
        return bool(least >= 0 and most <= 1)

    def _are_times(self, name: str, family: Family) -> bool:
        """Return whether all cells are dates, or instants without a time zone."""
        digits = "[0-9]" * 4 + "-[0-9][0-9]-[0-9][0-9]"
        pattern = digits if family == "day" else digits + "[ T][0-9][0-9]:[0-9][0-9]*"
        zoned = exp.Glob(this=column(name), expression=exp.Literal.string("*[Zz+]*"))
        late = exp.Glob(
            this=column(name), expression=exp.Literal.string(digits + "*-*")
        )
        fits = exp.Glob(this=column(name), expression=exp.Literal.string(pattern))
        read = exp.Anonymous(this="julianday", expressions=[column(name)])
        odd = case(
            (exp.Is(this=column(name), expression=exp.Null()), exp.Null()),
            (exp.Not(this=fits), exp.Literal.number(1)),
            (exp.Or(this=zoned, expression=late), exp.Literal.number(1)),
            (exp.Is(this=read, expression=exp.Null()), exp.Literal.number(1)),
        )
        (n_odd,) = self.line(select([exp.Count(this=odd)], self.rows))
        return bool(n_odd == 0)

    def _run(
        self, statement: str, values: Mapping[str, Cell]
    ) -> list[Sequence[Any]] | None:
        cursor = plain_cursor(self._connection).execute(statement, dict(values))
        if cursor.description is None:
            return None
        width, lines = len(cursor.description), cursor.fetchall()
        return [list(each) for each in zip(*lines, strict=True)] or [[]] * width

    def _failures(self) -> tuple[type[Exception], ...]:
        import sqlite3

        return (sqlite3.Error,)

    def _drop(self, name: str) -> None:
        # The temporary one alone, whatever else may have this name.
        self.execute(exp.Drop(tables=[table(name, "temp")], kind="TABLE", exists=True))

    def known_number(self, number: exp.Expr) -> exp.Expr:
        """Return a number; SQLite stores NULL for NaN."""
        return number

    def number_of(self, cell: exp.Expr, family: Family) -> exp.Expr:
        """Return a cell as a float, dates and times by what they count."""
        if family == "day":
            day = exp.Anonymous(this="julianday", expressions=[cell])
            return difference(day, exp.Literal.number(EPOCH))
        if family == "instant":
            seconds = exp.Anonymous(
                this="strftime", expressions=[exp.Literal.string("%s"), cell]
            )
            # Whole microseconds divided once, as elsewhere.
            point = exp.Anonymous(
                this="instr", expressions=[cell.copy(), exp.Literal.string(".")]
            )
            after = exp.Anonymous(
                this="substr",
                expressions=[
                    cell.copy(),
                    exp.Add(this=point, expression=exp.Literal.number(1)),
                ],
            )
            padded = exp.Anonymous(
                this="substr",
                expressions=[
                    exp.DPipe(this=after, expression=exp.Literal.string("000000")),
                    exp.Literal.number(1),
                    exp.Literal.number(6),
                ],
            )
            micros = case(
                (
                    exp.GT(this=point.copy(), expression=exp.Literal.number(0)),
                    exp.Cast(this=padded, to=exp.DataType.build("int")),
                ),
                otherwise=exp.Literal.number(0),
            )
            whole_seconds = exp.Cast(this=seconds, to=exp.DataType.build("int"))
            million = exp.Literal.number(1000000)
            total = exp.Add(
                this=exp.Mul(this=whole_seconds, expression=million), expression=micros
            )
            return exp.Div(
                this=exp.Paren(this=total), expression=exp.Literal.number("1000000.0")
            )
        return double(cell)

    def text_of(self, cell: exp.Expr, raw: RawColumn) -> exp.Expr:
        """Return a cell as a text that is compared by its bytes, however declared."""
        return exp.Collate(this=text(cell), expression=exp.var("BINARY"))

    def values(
        self,
        lines: Sequence[Sequence[exp.Expr]],
        names: Sequence[str],
        alias: str,
    ) -> exp.Expr:
        """Return lines under names, which SQLite calls column1, column2 and so on."""
        tuples = [exp.Tuple(expressions=list(line)) for line in lines]
        listed = [
            named(column(f"column{i}"), name) for i, name in enumerate(names, start=1)
        ]
        inner = exp.Subquery(this=exp.Values(expressions=tuples))
        query = exp.Select(expressions=listed)
        query.set("from_", exp.From(this=inner))
        return exp.Subquery(
            this=query,
            alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)),
        )


def plain_cursor(connection: "Connection") -> "Cursor":
    """Return a cursor whose rows are tuples, whatever those of the connection are."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor
