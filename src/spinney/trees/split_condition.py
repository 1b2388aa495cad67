"""Conditions as people write them: ``width > 6.5``, ``color in {red, "light green"}``.

::

    condition  attribute | attribute sign value | attribute sign {value, …}
    sign       <= < > >= (≤ ≥) of numbers, dates and ordered values,
               = != in "not in" (≠ ∈ ∉) of values that are listed
    attribute  its name as it is, or in quotes
    value      as in the table; in quotes if it has a comma, a brace, a quote
               that does not follow a letter, or blanks at an end

Inside quotes, single or double, a quote is written twice. A text that equals the name
of an attribute means the attribute, whatever signs it contains.
"""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.text import number_text, shown, value_text
from spinney.data import TIME_UNITS, Column
from spinney.errors import DataError, ParameterError, Setting, Text, did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spinney._support.arrays import Integers
    from spinney.data import Attribute, Schema

_SPELLINGS = {"≤": "<=", "≥": ">=", "==": "=", "≠": "!=", "∈": "in", "∉": "not in"}
_ORDER_SIGNS = ("<=", "<", ">=", ">")
_SET_SIGNS = ("=", "!=", "in", "not in")
# Words need blanks around them: "in" may be part of a name.
_SIGN = re.compile(r"\s*(<=|>=|==|!=|[≤≥≠∈∉<>=]|(?<=\s)(?:not\s+in|in)(?=[\s{]))\s*")
_QUOTED = re.compile(r"\s*(\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*')\s*")
# A quote within a word, as in "it's", opens nothing.
_LETTER = r"[^\"'{},]|(?<=[^\W_])[\"']"
_UNQUOTED = re.compile(rf"\s*((?:{_LETTER})*(?!\s)(?:{_LETTER}))\s*")


@dataclass(frozen=True, slots=True)
class SplitCondition:
    """A binary split that a user has written.

    Parameters
    ----------
    attribute : int
        The attribute of the split.
    cut : float, optional
        The threshold: values, or ordered codes, up to the cut go left.
    codes : tuple of int
        Without a cut: these codes go left, and all others right.
    missing : int, optional
        The branch of missing values; by default that of the recipe's policy.
    """

    attribute: int
    cut: float | None = None
    codes: tuple[int, ...] = ()
    missing: int | None = None

    def branch_of(self, values: "NDArray[Any]") -> "Integers":
        """Return the branch of each known value."""
        if self.cut is not None:
            return (values > self.cut).astype(np.int64)
        return 1 - np.isin(values, self.codes).astype(np.int64)


def parse_condition(
    text: Any, schema: "Schema", parameter: str
) -> "int | SplitCondition":
    """Return the condition of a text, or its attribute if it only names one.

    Refusals begin with the parameter.

    >>> from spinney.data import Attribute, Schema
    >>> hue = Attribute("hue", "nominal", ("red", "green", "light, blue"))
    >>> schema = Schema((Attribute("width", "numeric"), hue), None)
    >>> parse_condition("width > 6.5", schema, "forced_splits")
    SplitCondition(attribute=0, cut=6.5, codes=(), missing=None)
    >>> parse_condition('hue in {"light, blue", red}', schema, "forced_splits").codes
    (0, 2)
    >>> parse_condition("hue", schema, "forced_splits")
    1
    """
    if not isinstance(text, str):
        raise _refused(parameter, f"{text!r} is no name of an attribute")
    condition = text.strip()
    if condition in schema.names:
        return schema.position(condition)
    try:
        name, comparison = _name_of(condition, schema)
        index = schema.position(name)
    except DataError as error:
        raise ParameterError(Setting(parameter), f": {error}") from None
    if not comparison:
        return index
    match = _SIGN.match(comparison)
    if match is None:
        raise _unreadable(parameter, condition)
    sign = " ".join(_SPELLINGS.get(match[1], match[1]).split())
    values = _values_of(comparison[match.end() :], several=sign.endswith("in"))
    if not values:
        raise _unreadable(parameter, condition)
    attribute = schema.attributes[index]
    if attribute.kind == "numeric":
        return _cut(index, attribute, sign, values, parameter)
    if attribute.kind == "nominal" and sign in _ORDER_SIGNS:
        raise _refused(
            parameter,
            f"{shown(attribute.name)!r} is nominal, and its values have no order",
            "list some of them, as in {value, value}, or declare it ordinal",
        )
    codes = _codes_of(attribute, values, parameter)
    if sign in ("!=", "not in"):
        codes_of_all = range(len(attribute.values))
        return SplitCondition(
            index, codes=tuple(c for c in codes_of_all if c not in codes)
        )
    if sign in _SET_SIGNS:
        return SplitCondition(index, codes=codes)
    return SplitCondition(index, codes[0] + (0.5 if sign in ("<=", ">") else -0.5))


def outside_quotes(text: str, separator: str) -> list[str]:
    """Return the parts of a text between separators outside of quotes.

    >>> outside_quotes('a = "x;y"; b', ";")
    ['a = "x;y"', ' b']
    """
    parts, start, position = [], 0, 0
    while position < len(text):
        quoted = _QUOTED.match(text, position) if text[position] in "\"'" else None
        if quoted is not None and (not position or not text[position - 1].isalnum()):
            position = quoted.end(1)
        elif text.startswith(separator, position):
            parts.append(text[start:position])
            start = position = position + len(separator)
        else:
            position += 1
    return [*parts, text[start:]]


def _name_of(condition: str, schema: "Schema") -> tuple[str, str]:
    """Return the name at the start of a condition, and the rest."""
    quoted = _QUOTED.match(condition)
    if quoted is not None:
        return _unquoted(quoted[1]), condition[quoted.end(1) :]
    for name in sorted(schema.names, key=len, reverse=True):
        if condition.startswith(name) and _SIGN.match(condition, len(name)):
            return name, condition[len(name) :]
    sign = _SIGN.search(condition)
    return condition[: sign.start()] if sign else condition, ""


def _values_of(text: str, *, several: bool) -> list[str]:
    """Return the values after a sign, several in braces; none if they cannot be parsed.

    Without a quote or a brace, the text after "=" is one value, commas included.
    """
    listed = several and text.startswith("{") and text.rstrip().endswith("}")
    if not listed:
        if several or not text.strip():
            return []
        quoted = _QUOTED.fullmatch(text)
        return [_unquoted(quoted[1]) if quoted else text.strip()]
    inner = text.rstrip()[1:-1]
    values = [_value(part) for part in outside_quotes(inner, ",")]
    return [] if None in values else [value for value in values if value is not None]


def _value(text: str) -> str | None:
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        return _unquoted(quoted[1])
    bare = _UNQUOTED.fullmatch(text)
    return None if bare is None else bare[1]


def _unquoted(text: str) -> str:
    return text[1:-1].replace(text[0] * 2, text[0])


def _cut(
    index: int, attribute: "Attribute", sign: str, values: list[str], parameter: str
) -> SplitCondition:
    """Return the condition on a number; values equal to the cut go left."""
    name = shown(attribute.name)
    if sign not in _ORDER_SIGNS:
        raise _refused(
            parameter,
            f"{name!r} is a number, and {sign} is for single values",
            f"use a threshold, as in {name} <= 3, or declare it nominal",
        )
    try:
        (cut,) = attribute.encode(_column(attribute, values)).tolist()
    except DataError:
        cut = np.nan
    if not np.isfinite(cut):
        kind = "number" if attribute.unit is None else "date or time"
        problem = f"{name!r} is compared with {values[0]!r}, which is no {kind}"
        raise _refused(parameter, problem)
    if sign in ("<", ">=") and not _is_within(attribute, cut, values[0]):
        cut = float(np.nextafter(cut, -np.inf))
    return SplitCondition(index, cut)


def _is_within(attribute: "Attribute", day: float, text: str) -> bool:
    """Return whether a text is an instant within the day that it is read as.

    The day begins before the instant, and so goes left of "< 2026-11-13 12:00".
    """
    if attribute.unit != TIME_UNITS["day"]:
        return False
    texts = [number_text(day, attribute.unit), text]
    as_instants = replace(attribute, unit=TIME_UNITS["instant"])
    start, instant = as_instants.encode(_column(attribute, texts)).tolist()
    return bool(instant > start)


def _codes_of(
    attribute: "Attribute", values: list[str], parameter: str
) -> tuple[int, ...]:
    codes = attribute.encode(_column(attribute, values)).tolist()
    for value, code in zip(values, codes, strict=True):
        if code < 0:
            raise _refused(
                parameter,
                f"{shown(attribute.name)!r} has no value {value!r}",
                did_you_mean(value, map(value_text, attribute.values)),
            )
    return tuple(sorted(set(codes)))


def _column(attribute: "Attribute", values: list[str]) -> Column:
    return Column(attribute.name, "nominal", np.arange(len(values)), tuple(values))


def _unreadable(parameter: str, condition: str) -> ParameterError:
    return _refused(
        parameter,
        f"{condition!r} is no condition",
        "write an attribute, or a condition such as width > 6.5, color = red or "
        'color in {red, "light green"}',
    )


def _refused(parameter: str, problem: str, remedy: Text = "") -> ParameterError:
    return ParameterError(Setting(parameter), f": {problem}", remedy=remedy)
