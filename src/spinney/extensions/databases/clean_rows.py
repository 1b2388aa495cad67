"""The columns that a learner needs, as clean cells of a table in an engine.

A clean cell is NULL where it is missing, a float where the column is numeric, and else
a text, or the float of a number that stands for a name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from spinney.data.duckdb import SqlColumn
from spinney.extensions.databases.engines.sql_engine import SqlEngine
from spinney.extensions.databases.expressions import (
    both,
    bound,
    column,
    double,
    known,
    named,
    select,
)


@dataclass(frozen=True, slots=True)
class TrainingQuery:
    """Attributes, target and weight as expressions over the rows of an engine.

    ``cells`` are by the names of columns. ``complete`` leaves out rows that lack one.
    """

    engine: SqlEngine
    cells: Mapping[str, exp.Expr]
    attributes: tuple[SqlColumn, ...]
    target: SqlColumn
    weight: SqlColumn | None = None
    complete: bool = False

    def cell(self, of: SqlColumn) -> exp.Expr:
        """Return the expression of a column's cells."""
        return self.cells[of.name].copy()

    def over(self, listed: Sequence[exp.Expr]) -> exp.Select:
        """Return a select from the table as it is."""
        return select(listed, self.engine.rows)

    def select(self) -> exp.Select:
        """Return the select that names cells c0, c1 …, class and weight.

        Rows without a class or a weight are left out.
        """
        weight = bound(1.0) if self.weight is None else self.cell(self.weight)
        cells = [
            named(self.cell(each), f"c{index}")
            for index, each in enumerate(self.attributes)
        ]
        cells.append(named(self.cell(self.target), "class"))
        cells.append(named(double(weight), "weight"))
        light = exp.GT(this=column("weight"), expression=exp.Literal.number(0))
        wanted = [known(column("class")), light]
        if self.complete:
            wanted += [known(column(f"c{i}")) for i in range(len(self.attributes))]
        return select([exp.Star()], self.over(cells), both(wanted))
