"""Formulas of attributes as plain data, and back.

Attributes behind a formula are named by their places; a bound that is not there is
nothing. Whether those attributes can be behind it is for the schema to say.
"""

import math
from typing import Any

from spinney.data.formula import Clause, Conjunction, Difference, Formula, Linear, Ratio
from spinney.errors import ParameterError
from spinney.files.plain import described, listed, members, number, whole
from spinney.files.strict_json import DamageError

__all__ = ["formula_data", "read_formula"]

_PAIRS: dict[str, type[Difference] | type[Ratio]] = {
    "difference": Difference,
    "ratio": Ratio,
}


def formula_data(formula: Formula | None) -> dict[str, Any] | None:
    """Return a formula ready for JSON.

    >>> formula_data(Ratio(0, 2))
    {'form': 'ratio', 'attributes': [0, 2]}
    """
    if formula is None:
        return None
    if isinstance(formula, Conjunction):
        clauses = [_clause_data(clause) for clause in formula.clauses]
        return {"form": "conjunction", "clauses": clauses}
    form = type(formula).__name__.lower()
    data: dict[str, Any] = {"form": form, "attributes": list(formula.places)}
    if isinstance(formula, Linear):
        data["coefficients"] = [float(factor) for factor in formula.coefficients]
    return data


def _clause_data(clause: Clause) -> dict[str, Any]:
    if clause.codes is not None:
        return {"attribute": clause.place, "codes": list(clause.codes)}
    low, high = (
        float(bound) if math.isfinite(bound) else None
        for bound in (clause.low, clause.high)
    )
    return {"attribute": clause.place, "above": low, "at_most": high}


def read_formula(data: object, what: str) -> Formula | None:
    """Return the formula that data describes."""
    if data is None:
        return None
    what = f"the formula of {what}"
    form = data.get("form") if isinstance(data, dict) else None
    try:
        if form == "conjunction":
            entry = members(data, what, ("form", "clauses"))
            clauses = listed(entry["clauses"], what)
            return Conjunction(tuple(_read_clause(clause, what) for clause in clauses))
        if form == "linear":
            entry = members(data, what, ("form", "attributes", "coefficients"))
            factors = listed(entry["coefficients"], what)
            return Linear(
                _places(entry["attributes"], what),
                tuple(number(factor, f"a coefficient of {what}") for factor in factors),
            )
        if isinstance(form, str) and form in _PAIRS:
            entry = members(data, what, ("form", "attributes"))
            places = _places(entry["attributes"], what)
            if len(places) == 2:
                return _PAIRS[form](*places)
    except ParameterError as error:
        msg = f"{what} is none: {error}"
        raise DamageError(msg) from None
    msg = f"{what} is of an unknown form {described(form)}"
    raise DamageError(msg)


def _places(data: object, what: str) -> tuple[int, ...]:
    return tuple(
        whole(place, f"an attribute of {what}") for place in listed(data, what)
    )


def _read_clause(data: object, what: str) -> Clause:
    keys = ("attribute", "codes", "above", "at_most")
    entry = members(data, f"a clause of {what}", keys, defaults=keys[1:])
    place = whole(entry["attribute"], f"an attribute of {what}")
    if "codes" in entry:
        if len(entry.keys() & set(keys)) > 2:
            msg = f"a clause of {what} has both codes and bounds"
            raise DamageError(msg)
        return Clause(place, codes=_places(entry["codes"], what))
    low, high = entry.get("above"), entry.get("at_most")
    return Clause(
        place,
        low=-math.inf if low is None else number(low, f"a bound of {what}"),
        high=math.inf if high is None else number(high, f"a bound of {what}"),
    )
