"""Formulas as SQL over the columns a0, a1 and so on."""

import sys

import numpy as np
from sqlglot import exp

from spinney.data import Attribute, Clause, Conjunction, Difference, Linear, Ratio
from spinney.extensions.databases import expressions as sql


def finite(number: exp.Expr) -> exp.Expr:
    """Return the condition that a number is finite; NaN sorts above all numbers."""
    largest = sql.param(sys.float_info.max)
    return exp.LTE(this=exp.Abs(this=number), expression=largest)


def expression_of(attribute: Attribute) -> exp.Expr:
    """Return an attribute's formula as SQL, NULL for missing values.

    The operations and their order are those of ``Formula.cells``; a conjunction gives
    the codes 0 and 1.
    """
    formula = attribute.formula
    if isinstance(formula, Conjunction):
        are_known = sql.all_of(
            sql.not_null(sql.column(f"a{index}")) for index in formula.attribute_indices
        )
        holds = sql.all_of(_holds(clause) for clause in formula.clauses)
        return sql.case(
            (are_known, sql.case((holds, sql.integer(1)), default=sql.integer(0)))
        )
    number = _number(formula)
    return sql.case((finite(number), number.copy()))


def _number(formula: object) -> exp.Expr:
    if isinstance(formula, Difference):
        return sql.difference(_cell(formula.first), _cell(formula.second))
    if isinstance(formula, Ratio):
        below = exp.Nullif(this=_cell(formula.second), expression=sql.param(0.0))
        return exp.Div(this=_cell(formula.first), expression=below, typed=True)
    assert isinstance(formula, Linear)
    terms = zip(formula.attribute_indices, formula.coefficients, strict=True)
    return exp.Paren(
        this=sql.add([sql.product(sql.param(float(c)), _cell(i)) for i, c in terms])
    )


def _cell(index: int) -> exp.Expr:
    """Return a column, which may be stored as an integer, as a float."""
    return sql.double(sql.column(f"a{index}"))


def _holds(clause: Clause) -> exp.Expr:
    """Return the condition of a clause."""
    if clause.codes is not None:
        return sql.is_in(sql.column(f"a{clause.place}"), clause.codes)
    parts: list[exp.Expr] = []
    for limit, comparison in ((clause.low, exp.GT), (clause.high, exp.LTE)):
        if np.isfinite(limit):
            cell = sql.column(f"a{clause.place}")
            parts.append(comparison(this=cell, expression=sql.param(float(limit))))
    return sql.all_of(parts)
