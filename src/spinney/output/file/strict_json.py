"""Strict JSON reader: standard JSON only, in bounded time and memory.

The standard library's reader accepts NaN, Infinity, numbers that overflow and
repeated keys, and gives up on deep nesting by RecursionError. This reader raises
:class:`DamageError` with a message for each of these.
"""

import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from spinney.errors import ModelFormatError, ParameterError

NESTING = 16
DIGITS = 40
MAX_CHARACTERS = 1 << 30

Content = TypeVar("Content")

# Possessive quantifiers and the optional last quote keep the time linear for an #
# unterminated string.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD]")
_LONG_NUMBER = re.compile(rf"[0-9]{{{DIGITS}}}")
_NO_BRACKET = re.compile(r"[^\[\]{}]++")


class DamageError(Exception):
    """A fault of a model file, before its name is known."""


def refuse(what: str) -> NoReturn:
    """Raise DamageError with a message."""
    raise DamageError(what) from None


class ForeignFileError(DamageError):
    """A file that was never a model, and what to do with it instead."""


def read_text(source: str, what: str, read: Callable[[Any], Content]) -> Content:
    """Return the content of text by ``to_json``, or raise ModelFormatError."""
    if not isinstance(source, str):
        msg = f"source={type(source).__name__} must be the text that to_json wrote"
        raise ParameterError(msg)
    try:
        if len(source) > MAX_CHARACTERS:
            refuse(f"it has more than {MAX_CHARACTERS} characters")
        return read(parse(source))
    except DamageError as damage:
        msg = f"this JSON is no {what}: {damage}; write it again by to_json"
        raise ModelFormatError(msg) from None


def parse(text: str) -> Any:
    """Return the data of a JSON text.

    >>> parse('{"a": [1, 2.5, true]}')
    {'a': [1, 2.5, True]}
    >>> parse('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    spinney.output.file.strict_json.DamageError: the key 'a' occurs twice
    """
    _check_nesting(text)
    decoder = _OF_LONG_NUMBERS if _LONG_NUMBER.search(text) else _OF_NUMBERS
    try:
        data = decoder.decode(text)
    except json.JSONDecodeError as error:
        refuse(
            f"it is no JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        )
    if _SURROGATE.search(text):
        dump(data)
    return data


def dump(data: object) -> str:
    """Return data as compact JSON that any strict reader accepts.

    >>> dump({"a": [1, 0.1, "é"]})
    '{"a":[1,0.1,"é"]}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        near = text[max(error.start - 20, 0) : error.end + 20]
        refuse(f"a text holds half a surrogate pair, which is no character: {near!r}")
    return text


def _check_nesting(text: str) -> None:
    depth = 0
    for bracket in _NO_BRACKET.sub("", _STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > NESTING:
            refuse(f"its JSON is nested deeper than {NESTING} levels")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                refuse(f"the key {key[:80]!r} occurs twice")
            seen.add(key)
    return data


def _constant(name: str) -> NoReturn:
    refuse(f"it holds {name}, which is no JSON")


def _integer(digits: str) -> int:
    if len(digits) > DIGITS:
        refuse(f"it holds a whole number of more than {DIGITS - 1} digits")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        refuse(f"it holds the number {digits[:40]}, which is out of range")
    return number


def _decoder(whole: Callable[[str], int]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_object,
        parse_constant=_constant,
        parse_int=whole,
        parse_float=_number,
    )


# Headers are mostly integers: the standard reader is several times faster without a #
# function for each.
_OF_NUMBERS, _OF_LONG_NUMBERS = _decoder(int), _decoder(_integer)
