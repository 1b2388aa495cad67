"""A rule set as JSON, read back with the same strict checks as a model file.

Derived members (``text``, ``coverage``, ``errors`` …) are required but not read back.
"""

import json
import math
from typing import Any

from spinney.data import Attribute, Schema, Value, level_order
from spinney.errors import ParameterError
from spinney.extensions.rulesets.ruleset import RankedRule, RuleSet
from spinney.growth.prune import check_confidence
from spinney.output.file.header import read_schema, schema_header
from spinney.output.file.plain_data import (
    as_list,
    check_format,
    members,
    number,
    text,
    whole,
)
from spinney.output.file.strict_json import DamageError, read_text
from spinney.output.json_model import RULESET
from spinney.output.leaf_rules import Condition

FORMAT_VERSION = 1

_SCHEMA = ("target", "classes", "origin", "costs", "attributes", "markers")
_RULE = (
    *("order", "if", "then", "weights", "coverage", "errors"),
    *("estimated_error", "confidence"),
)
_CONDITION = ("attribute", "text", "values", "above", "at_most", "missing")


def to_json(ruleset: RuleSet) -> str:
    """Return a rule set as JSON; equal rule sets give equal texts."""
    *rules, last = ruleset.as_dicts()
    for data, rule in zip(rules, ruleset.rules, strict=True):
        data["weights"] = list(rule.weights)
    last["weights"] = list(ruleset.default_weights)
    content = {
        "format": RULESET,
        "version": FORMAT_VERSION,
        **schema_header(ruleset.schema),
        "level": ruleset.level,
        "class_weights": list(ruleset.class_weights),
        "rules": rules,
        "default": last,
    }
    written = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2)
    return written + "\n"


def from_json(source: str) -> RuleSet:
    """Return the rule set that :func:`to_json` wrote."""
    return read_text(source, "rule set", _read_ruleset)


def _read_ruleset(data: Any) -> RuleSet:
    check_format(data, RULESET, FORMAT_VERSION)
    keys = ("format", "version", *_SCHEMA, "level", "class_weights", "rules", "default")
    members(data, "the rule set", keys)
    schema = read_schema(data)
    if schema.target.is_numeric:
        msg = "its target is a number, and rules are of classes"
        raise DamageError(msg)
    reader = _Reader(schema)
    entries = as_list(data["rules"], "the rules")
    rules = tuple(reader.rule(entry, order) for order, entry in enumerate(entries))
    last = members(data["default"], "the default", _RULE)
    if as_list(last["if"], "the conditions of the default"):
        msg = "the default has conditions"
        raise DamageError(msg)
    try:
        level = check_confidence(data["level"])
    except ParameterError:
        msg = "the level is not between 0 and 1"
        raise DamageError(msg) from None
    return RuleSet(
        schema,
        rules,
        reader.code(last["then"]),
        reader.weights(last["weights"]),
        reader.weights(data["class_weights"]),
        level,
    )


class _Reader:
    """Reads rules over one schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.attributes = {a.name: a for a in schema.attributes}
        self.classes = _codes_by_key(schema.target.classes)
        self.values = {a.name: _codes_by_key(a.values) for a in schema.attributes}

    def rule(self, data: object, order: int) -> RankedRule:
        """Return a rule."""
        what = f"rule {order}"
        entry = members(data, what, _RULE)
        if whole(entry["order"], f"the order of {what}") != order:
            msg = f"{what} is out of order"
            raise DamageError(msg)
        conditions = tuple(map(self.condition, as_list(entry["if"], f"if of {what}")))
        if len({c.attribute.name for c in conditions}) < len(conditions):
            msg = f"{what} has two conditions on one attribute"
            raise DamageError(msg)
        estimate = number(entry["estimated_error"], f"the estimated error of {what}")
        if not 0 <= estimate <= 1:
            msg = f"the estimated error of {what} is not between 0 and 1"
            raise DamageError(msg)
        return RankedRule(
            order,
            conditions,
            self.schema.target,
            self.code(entry["then"]),
            self.weights(entry["weights"]),
            estimate,
        )

    def code(self, data: object) -> int:
        """Return the class that a rule predicts."""
        then = members(data, "the prediction of a rule", ("target", "label"))
        code = self.classes.get(_code_key(then["label"]))
        if code is None or then["target"] != self.schema.target.name:
            msg = "a rule predicts a label that is none of the classes"
            raise DamageError(msg)
        return code

    def weights(self, data: object) -> tuple[float, ...]:
        """Return one weight per class."""
        weights = tuple(number(w, "a weight") for w in as_list(data, "the weights"))
        if len(weights) != self.schema.n_classes or min(weights) < 0:
            msg = "the weights of a rule must be one for each class, none below 0"
            raise DamageError(msg)
        if not math.isfinite(sum(weights)):
            msg = "the weights of a rule add up to infinity"
            raise DamageError(msg)
        return weights

    def condition(self, data: object) -> Condition:
        """Return a condition."""
        entry = members(
            data, "a condition", _CONDITION, defaults=("values", "above", "at_most")
        )
        text(entry["text"], "the text of a condition")
        name = text(entry["attribute"], "the attribute of a condition")
        missing = entry["missing"]
        if name not in self.attributes:
            msg = f"a condition is on {name[:80]!r}, which is no attribute"
            raise DamageError(msg)
        if missing is not None and not isinstance(missing, bool):
            msg = "the 'missing' of a condition must be true, false or null"
            raise DamageError(msg)
        attribute = self.attributes[name]
        if "values" in entry:
            bounded = "above" in entry or "at_most" in entry
            if attribute.kind == "numeric" and entry["values"] == [] and not bounded:
                return Condition(attribute, low=math.inf, missing=missing)
            if attribute.kind == "numeric" or bounded:
                msg = f"the condition on {name[:80]!r} has values where bounds are due"
                raise DamageError(msg)
            codes = self.codes(entry["values"], name)
            return Condition(attribute, values=codes, missing=missing)
        if attribute.kind == "nominal":
            msg = f"the condition on {name[:80]!r}, which is nominal, has no values"
            raise DamageError(msg)
        bounds = entry.get("above"), entry.get("at_most")
        return _interval(attribute, *bounds, missing=missing)

    def codes(self, data: object, name: str) -> tuple[int, ...]:
        """Return the codes of the values of an attribute."""
        values = as_list(data, "the values of a condition")
        codes = [self.values[name].get(_code_key(value)) for value in values]
        found = tuple(code for code in codes if code is not None)
        if len(set(found)) < len(codes):
            msg = f"the condition on {name[:80]!r} has a value twice, or an unknown one"
            raise DamageError(msg)
        return found


def _interval(
    attribute: Attribute, above: object, at_most: object, *, missing: bool | None
) -> Condition:
    """Return a condition on numbers; without bounds, on whether they are missing.

    In old files, a condition without bounds means a missing number. A condition that
    every value satisfies is never written.
    """
    low, high = -math.inf, math.inf
    if above is None and at_most is None:
        low = math.inf if missing else low
        return Condition(attribute, low, high, missing=missing)
    name = attribute.name[:80]
    if above is not None:
        low = number(above, f"the lower bound of {name!r}")
    if at_most is not None:
        high = number(at_most, f"the upper bound of {name!r}")
    if low >= high:
        msg = f"no value of {name!r} is above {low!r} and at most {high!r}"
        raise DamageError(msg)
    last = len(attribute.values) - 1
    bounds = [bound for bound in (low, high) if math.isfinite(bound)]
    if attribute.kind == "ordinal" and not all(0 <= bound < last for bound in bounds):
        msg = f"a bound of {name!r} lies outside its levels"
        raise DamageError(msg)
    return Condition(attribute, low, high, missing=missing)


def _code_key(value: object) -> tuple[str, Value] | None:
    """Return the key of a value in a dictionary of codes; None for other objects."""
    return level_order(value) if isinstance(value, (str, bool, int, float)) else None


def _codes_by_key(values: tuple[Value, ...]) -> dict[tuple[str, Value] | None, int]:
    return {_code_key(value): code for code, value in enumerate(values)}
