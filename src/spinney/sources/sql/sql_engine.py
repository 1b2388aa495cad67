"""Where the statements run, and what they select from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from spinney.data.duckdb import SqlColumn, quote_text, translated_errors
from spinney.sources.sql.sql_formula import number_literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


@dataclass(frozen=True, slots=True)
class Engine:
    """Runs statements over a relation; values are bound if there is a connection.

    In statements the relation goes by ``name``, which is nobody else's.
    """

    relation: "DuckDBPyRelation"
    connection: "DuckDBPyConnection | None" = None
    name: str = field(default_factory=lambda: f"spinney_rows_{token_hex(8)}")

    def __enter__(self) -> "Engine":
        if self.connection is not None:
            with translated_errors("the table"):
                self.connection.register(self.name, self.relation)
        return self

    def __exit__(self, *_: object) -> None:
        if self.connection is not None:
            self.connection.unregister(self.name)

    def mark(self, value: str | float, values: list[str | float]) -> str:
        """Return what stands for a value in a statement; note it if it is bound."""
        if self.connection is not None:
            values.append(value)
            return "CAST(? AS DOUBLE)" if isinstance(value, float) else "?"
        if isinstance(value, str):
            return quote_text(value)
        return number_literal(value)

    def fetch(
        self, statement: str, values: Sequence[str | float] = ()
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a statement about ``name``."""
        with translated_errors("the table"):
            if self.connection is None:
                answer = self.relation.query(self.name, statement)
                return [] if answer is None else answer.fetchall()
            return self.connection.execute(statement, list(values)).fetchall()


@dataclass(frozen=True, slots=True)
class SqlRows:
    """The columns that the learner needs, as SQL over the relation.

    ``complete`` leaves out rows that lack a cell.
    """

    relation: str
    attributes: tuple[SqlColumn, ...]
    target: SqlColumn
    weight: SqlColumn | None = None
    complete: bool = False

    def select(self) -> str:
        """Return the select that names them a0, a1 …, class and weight."""
        weight = "1.0" if self.weight is None else self.weight.expression
        named = [
            *(
                f"{column.expression} AS a{i}"
                for i, column in enumerate(self.attributes)
            ),
            f"{self.target.expression} AS class",
            f"CAST({weight} AS DOUBLE) AS weight",
        ]
        inner = f"SELECT {', '.join(named)} FROM {self.relation}"
        conditions = ["class IS NOT NULL", "weight > 0"]
        if self.complete:
            conditions += [f"a{i} IS NOT NULL" for i in range(len(self.attributes))]
        return f"SELECT * FROM ({inner}) WHERE {' AND '.join(conditions)}"
