"""Cells of rows, and conditions on cells, as SQL expressions.

Trees, linear models and centres use these expressions.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

from spinney._support.text import value_text
from spinney.data import Value
from spinney.extensions.exports.portable import (
    DerivedCell,
    FormCondition,
    FormConjunction,
    FormLinearModel,
    FormSplit,
    FormSum,
    Input,
    Portable,
    refuse_unsupported,
)
from spinney.extensions.exports.sql_dialects import Dialect
from spinney.extensions.exports.sql_names import QueryNames


@dataclass(frozen=True)
class SqlCells:
    """The SQL expressions of a model's cells, over ``ROWS`` or ``SCORED``."""

    form: Portable
    dialect: Dialect
    names: QueryNames
    rows: str

    @cached_property
    def columns(self) -> list[str]:
        """The expressions of the cells of columns."""
        return [self._read(column) for column in self.form.columns]

    @cached_property
    def all(self) -> list[str]:
        """The expressions of all cells."""
        return [*map(self._cell, range(len(self.form.cells)))]

    def _cell(self, at: int) -> str:
        """Return the expression of a cell; a derived cell contains those of others."""
        n = len(self.columns)
        return (
            self.columns[at]
            if at < n
            else self._derived_cell(self.form.derived[at - n])
        )

    def _read(self, column: Input) -> str:
        """Return the expression of a column's cell: a number or a text."""
        types = {type(value) for value in column.values}
        if len(types) > 1 and not types <= {int, float}:
            what = f"column {column.name!r}, whose values have several types"
            refuse_unsupported("sql", what, "make them all texts")
        name = self.names.identifier(self.rows, column.name)
        if column.is_number or float in types:
            cell = self.dialect.cell.format(f"{self.rows}.{name}")
            if column.time is not None:
                cell = self.dialect.time(name, column.time, table=f"{self.rows}.")
            for number in column.missing:
                cell = f"NULLIF({cell}, {self.dialect.number(number)})"
            return cell
        return f"{self.rows}.{name}"

    @cached_property
    def _literals(self) -> list[Mapping[str, str]]:
        """The literals of each cell's texts; true and false for a derived cell."""
        values = [column.values for column in self.form.columns]
        return [
            self._by_text(v)
            for v in (*values, *[("false", "true")] * len(self.form.derived))
        ]

    def _by_text(self, values: Sequence[Value]) -> Mapping[str, str]:
        is_mixed = {type(value) for value in values} == {int, float}
        literal = self.dialect.literal
        return {value_text(v): literal(float(v) if is_mixed else v) for v in values}

    def _is_any_of(self, cell: int, texts: Sequence[str]) -> str:
        """Return the condition that a cell is one of some texts."""
        name = self._cell(cell)
        literals = [self._literals[cell][text] for text in texts]
        if len(literals) == 1:
            return f"{name} = {literals[0]}"
        if literals and not self.dialect.lists:
            return f"({' OR '.join(f'{name} = {each}' for each in literals)})"
        return f"{name} IN ({', '.join(literals)})" if literals else self.dialect.false

    def _derived_cell(self, derived: DerivedCell) -> str:
        """Return the expression of a derived cell."""
        columns, number = self.columns, self.dialect.number
        if isinstance(derived, FormConjunction):
            known, accepted = zip(*map(self._clause, derived.clauses), strict=True)
            always = self.dialect.true
            known = tuple(each for each in known if each != always) or (always,)
            true, false = (self.dialect.literal(text) for text in ("true", "false"))
            otherwise = f"WHEN {' AND '.join(known)} THEN {false}"
            return f"CASE WHEN {' AND '.join(accepted)} THEN {true} {otherwise} END"
        if isinstance(derived, FormSum):
            parts = [
                f"{number(factor)} * {columns[cell]}" for cell, factor in derived.terms
            ]
            return f"({' + '.join(parts)})"
        divisor = f"NULLIF({columns[derived.second]}, {number(0.0)})"
        return f"({columns[derived.first]} / {divisor})"

    def _clause(self, clause: FormCondition) -> tuple[str, str]:
        """Return two conditions: the cell is known, and it satisfies the clause."""
        cell, accepted = clause.cell, clause.accepted
        if isinstance(accepted, Mapping):
            yes = [text for text, held in accepted.items() if held]
            known, held = self._is_any_of(cell, [*accepted]), self._is_any_of(cell, yes)
        else:
            known = f"{self._cell(cell)} IS NOT NULL"
            held = self._in_interval(self._cell(cell), accepted) or known
        if clause.missing:
            held = f"({held} OR NOT COALESCE({known}, {self.dialect.false}))"
            return self.dialect.true, held
        return known, held

    def line(self, line: FormLinearModel) -> str:
        """Return the expression of a linear model, added in the order of its terms."""
        number, parts = self.dialect.number, []
        for term in line.terms:
            missing = number(term.missing)
            cell = f"COALESCE({self.all[term.cell]}, {missing})"
            if term.texts is not None:
                cell = f"CASE {self.counts(term.cell, term.texts)} ELSE {missing} END"
            parts.append(f"{number(term.factor)} * {cell}")
        return f"({' + '.join([*parts, number(line.intercept)])})"

    def counts(self, cell: int, texts: Mapping[str, float]) -> str:
        """Return the WHEN branches of a CASE from texts to numbers."""
        number, by_count = self.dialect.number, dict[float, list[str]]()
        for text, count in texts.items():
            by_count.setdefault(count, []).append(text)
        return " ".join(
            f"WHEN {self._is_any_of(cell, names)} THEN {number(count)}"
            for count, names in by_count.items()
        )

    # Conditions

    def sends(self, split: FormSplit, nodes: Set[int]) -> str:
        """Return the condition that a split sends a row to one of some nodes."""
        name = self.all[split.cell]
        if split.texts is not None:
            texts = [text for text, node in split.texts.items() if node in nodes]
            return self._is_any_of(split.cell, texts)
        if nodes >= {*split.nodes}:
            return f"{name} IS NOT NULL"
        edges = (-float("inf"), *split.cuts, float("inf"))
        (only,) = nodes
        at = split.nodes.index(only)
        return self._in_interval(name, (edges[at], edges[at + 1]))

    def _in_interval(self, name: str, bounds: tuple[float, float]) -> str:
        """Return the condition low < number ≤ high."""
        low, high = bounds
        above = f"{name} > {self.dialect.number(low)}" if isfinite(low) else ""
        below = f"{name} <= {self.dialect.number(high)}" if isfinite(high) else ""
        return f"({above} AND {below})" if above and below else above or below
