"""Formulas as SQL over the columns a0, a1 and so on."""

import sys

import numpy as np
from sqlglot import exp

from spinney.data import Attribute, Clause, Conjunction, Difference, Linear, Ratio
from spinney.extensions.databases.expressions import (
    both,
    bound,
    case,
    column,
    difference,
    double,
    known,
    one_of,
    product,
    total_of,
    whole,
)


def finite(number: exp.Expr) -> exp.Expr:
    """Return whether a number is one; where engines know NaN, it is above all."""
    most = bound(sys.float_info.max)
    return exp.LTE(this=exp.Abs(this=number), expression=most)


def expression_of(attribute: Attribute) -> exp.Expr:
    """Return an attribute's formula as SQL, NULL where it has no value.

    The arithmetic is that of ``Formula.cells``, in the same order; a conjunction is 0
    or 1, as its codes are.
    """
    formula = attribute.formula
    if isinstance(formula, Conjunction):
        every = both(known(column(f"a{index}")) for index in formula.places)
        holds = both(_holds(clause) for clause in formula.clauses)
        return case((every, case((holds, whole(1)), otherwise=whole(0))))
    number = _number(formula)
    return case((finite(number), number.copy()))


def _number(formula: object) -> exp.Expr:
    if isinstance(formula, Difference):
        return difference(_cell(formula.first), _cell(formula.second))
    if isinstance(formula, Ratio):
        below = exp.Nullif(this=_cell(formula.second), expression=bound(0.0))
        return exp.Div(this=_cell(formula.first), expression=below, typed=True)
    assert isinstance(formula, Linear)
    terms = zip(formula.places, formula.coefficients, strict=True)
    return exp.Paren(
        this=total_of([product(bound(float(c)), _cell(i)) for i, c in terms])
    )


def _cell(index: int) -> exp.Expr:
    """Return a number, which may be kept as a whole one of few bytes, as a float."""
    return double(column(f"a{index}"))


def _holds(clause: Clause) -> exp.Expr:
    """Return the condition of a clause."""
    if clause.codes is not None:
        return one_of(column(f"a{clause.place}"), clause.codes)
    parts: list[exp.Expr] = []
    for bound_, compared in ((clause.low, exp.GT), (clause.high, exp.LTE)):
        if np.isfinite(bound_):
            cell = column(f"a{clause.place}")
            parts.append(compared(this=cell, expression=bound(float(bound_))))
    return both(parts)
