"""A model as a JavaScript module without imports.

Its functions, in ``model.js``, match those of
:mod:`spinney.extensions.exports.python_code` line by line.
"""

import json
from typing import Any

from spinney._support.json_text import escaped
from spinney.extensions.exports.form_data import ByText, Language, read_parts
from spinney.extensions.exports.portable import Portable, refuse_unsupported

LARGEST_EXACT = 2**53


def to_javascript(form: Portable) -> str:
    r"""Return JavaScript with ``predict(row)`` and perhaps ``probabilities(row)``.

    >>> import spinney
    >>> from spinney.extensions.exports.portable_models import portable
    >>> shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
    >>> code = to_javascript(portable(spinney.grow(shop, "sold", recipe="id3")))
    >>> print(*[line for line in code.splitlines() if "say:" in line], sep="\n")
        {say: [1.0, 0.0]},  // 1
        {say: [0.0, 1.0]},  // 2
    """
    for label in form.target.classes:
        if not isinstance(label, str) and abs(label) > LARGEST_EXACT:
            what = f"the class {label!r}: its numbers are exact only up to 2**53"
            refuse_unsupported("javascript", what, "make the classes texts")
    return _LANGUAGE.text(form)


def literal(value: Any) -> str:
    r"""Return plain data as JavaScript that is safe inside HTML.

    >>> print(literal(["</script>", None, True, 0.1, ByText(a=1)]))
    ["\u003c/script>", null, true, 0.1, new Map([["a", 1]])]
    """
    if isinstance(value, ByText):
        return f"new Map({literal([list(pair) for pair in value.items()])})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}: {literal(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, str):
        text = escaped(json.dumps(value, ensure_ascii=False))
        return text.replace("<", "\\u003c").replace("\x7f", "\\u007f")
    return json.dumps(value, allow_nan=False)


_LANGUAGE = Language(
    statement="const {} = {};",
    comment="//",
    literal=literal,
    times="as a Date (in UTC), as text of ISO 8601, or as {}",
    parts=read_parts("model.js"),
)
