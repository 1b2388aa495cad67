"""Formulas as SQL over the columns a0, a1 and so on."""

from collections.abc import Sequence

import numpy as np

from spinney.data import (
    Attribute,
    Clause,
    Conjunction,
    Difference,
    Linear,
    Ratio,
    Schema,
)
from spinney.data.duckdb import SqlColumn, quote_text

# How a conjunction is written, and the codes of its values.
CONJUNCTION = SqlColumn("conjunction", "nominal", "", (False, True), family="boolean")
TRUTHS = {CONJUNCTION.text(truth): int(truth) for truth in (False, True)}


def number_literal(number: float) -> str:
    """Return a finite number as SQL, exactly."""
    return f"CAST('{float(number)!r}' AS DOUBLE)"


def expression_of(
    attribute: Attribute, columns: Sequence[SqlColumn], schema: Schema
) -> str:
    """Return an attribute's formula as SQL, NULL where it has no value.

    The arithmetic is that of ``Formula.cells``, in the same order.
    """
    formula = attribute.formula
    if isinstance(formula, Conjunction):
        known = " AND ".join(f"a{index} IS NOT NULL" for index in formula.places)
        holds = " AND ".join(_holds(c, columns, schema) for c in formula.clauses)
        no, yes = map(quote_text, TRUTHS)
        return f"CASE WHEN {known} THEN CASE WHEN {holds} THEN {yes} ELSE {no} END END"
    if isinstance(formula, Difference):
        number = f"a{formula.first} - a{formula.second}"
    elif isinstance(formula, Ratio):
        number = f"a{formula.first} / nullif(a{formula.second}, 0)"
    else:
        assert isinstance(formula, Linear)
        terms = zip(formula.places, formula.coefficients, strict=True)
        number = " + ".join(f"{number_literal(c)} * a{index}" for index, c in terms)
    return f"CASE WHEN isfinite({number}) THEN {number} END"


def _holds(clause: Clause, columns: Sequence[SqlColumn], schema: Schema) -> str:
    """Return the condition of a clause."""
    cell = f"a{clause.place}"
    if clause.codes is not None:
        column, values = columns[clause.place], schema.attributes[clause.place].values
        texts = (quote_text(column.text(values[code])) for code in clause.codes)
        return f"{cell} IN ({', '.join(texts)})"
    parts = []
    if clause.low != -np.inf:
        parts.append(f"{cell} > {number_literal(clause.low)}")
    if clause.high != np.inf:
        parts.append(f"{cell} <= {number_literal(clause.high)}")
    return " AND ".join(parts)
