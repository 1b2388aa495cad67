"""JSON that every reader accepts and no terminal interprets as commands."""

import json
import re
from math import isfinite, isinf
from typing import Any

_BEYOND_ASCII = re.compile(r"[^\0-~]")


def json_text(value: Any) -> str:
    r"""Return a value on one line; what is not a number is null.

    >>> [json_text(value) for value in ("é\x9b", [1.5, None], float("inf"))]
    ['"é\\u009b"', '[1.5, null]', '"infinity"']
    """
    if type(value) is float and isfinite(value):  # what comes most often
        return repr(value)
    if isinstance(value, float) and value != value:
        return "null"
    text = json.dumps(without_infinity(value), ensure_ascii=False, allow_nan=False)
    return escaped(text)


def without_infinity(content: Any) -> Any:
    """Return plain data whose infinite numbers are texts.

    >>> without_infinity({"a": [1.0, float("inf")], "b": -float("inf")})
    {'a': [1.0, 'infinity'], 'b': '-infinity'}
    """
    if isinstance(content, dict):
        return {name: without_infinity(part) for name, part in content.items()}
    if isinstance(content, (list, tuple)):
        return [without_infinity(part) for part in content]
    if isinstance(content, float) and isinf(content):
        return "infinity" if content > 0 else "-infinity"
    return content


def escaped(text: str, *, ascii_only: bool = False) -> str:
    r"""Return JSON whose strings hold no sign that a terminal might obey.

    >>> escaped('"é \x9b"'), escaped('"é"', ascii_only=True)
    ('"é \\u009b"', '"\\u00e9"')
    """

    def written(match: re.Match[str]) -> str:
        sign = match[0]
        if sign.isprintable() and not ascii_only:
            return sign
        units = sign.encode("utf-16-be", "surrogatepass").hex()
        return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))

    return text if text.isascii() else _BEYOND_ASCII.sub(written, text)
