"""A schema as page data: names, values and their texts."""

from typing import Any

import numpy as np

from spinney._support.text import shown
from spinney.data import Attribute, Conjunction, Formula, Linear, Schema, Value


def schema_data(schema: Schema) -> dict[str, Any]:
    """Return attributes and target as plain data."""
    target = schema.target
    return {
        "attributes": [attribute_data(attribute) for attribute in schema.attributes],
        "target": {
            **_name_data(target.name),
            **value_list(target.classes),
            "numeric": target.is_numeric,
            "origin": target.origin,
            "costs": target.costs,
        },
    }


def attribute_data(attribute: Attribute) -> dict[str, Any]:
    """Return an attribute as plain data, without empty fields."""
    data: dict[str, Any] = {**_name_data(attribute.name), "kind": attribute.kind}
    if attribute.kind != "numeric":
        data |= value_list(attribute.values)
    if attribute.unit is not None:
        data["unit"] = attribute.unit
    if attribute.formula is not None:
        data["formula"] = _formula_data(attribute.formula)
    return data


def value_list(values: tuple[Value, ...]) -> dict[str, Any]:
    """Return values, and their texts if texts and values differ.

    >>> value_list(("red", "blue")), value_list((True, 7.0))
    ({'values': ['red', 'blue']}, {'values': [True, 7.0], 'texts': ['true', '7']})
    """
    texts = [shown(value) for value in values]
    if texts == list(values):
        return {"values": texts}
    return {"values": list(values), "texts": texts}


def _name_data(name: str) -> dict[str, Any]:
    text = shown(name)
    return {"name": name} if text == name else {"name": name, "text": text}


def _formula_data(formula: Formula) -> dict[str, Any]:
    data: dict[str, Any] = {
        "form": type(formula).__name__.lower(),
        "places": list(formula.attribute_indices),
    }
    if isinstance(formula, Linear):
        data["coefficients"] = list(formula.coefficients)
    elif isinstance(formula, Conjunction):
        data["clauses"] = [
            {
                "codes": None if clause.codes is None else list(clause.codes),
                "low": clause.low if np.isfinite(clause.low) else None,
                "high": clause.high if np.isfinite(clause.high) else None,
            }
            for clause in formula.clauses
        ]
    return data
