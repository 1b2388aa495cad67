"""Pages that are one file: scripts, styles and data in them, and nothing fetched.

The policy of a page names its one script and its one style sheet by their hashes, so
that nothing else runs in it, whatever the names in a model are.
"""

import json
import os
from base64 import b64encode
from hashlib import sha256
from html import escape
from math import isinf
from typing import Any

from spinney.errors import ParameterError
from spinney.output.picture.style_sheet import variables

__all__ = ["check_page_suffix", "colours", "island", "offline_page"]

PAGE_SUFFIXES = (".html", ".htm")
# Nothing leaves the page, nothing is loaded into it; pictures are made in it.
POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="spinney">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
<script type="module">{script}</script>
</body>
</html>
"""


def offline_page(
    title: str, body: str, *, style: str, script: str, more: str = ""
) -> str:
    """Return a page around a body of markup.

    ``more`` is a further style sheet that the body brings along, as pictures do: the
    policy names it, too.
    """
    styles = [style, *([more] if more else [])]
    allowed = " ".join(_hash(each) for each in styles)
    return PAGE.format(
        policy=POLICY.format(script=_hash(script), style=allowed),
        title=escape(f"{title} · Spinney"),
        style=style,
        body=body,
        script=script,
    )


def colours() -> str:
    """Return the colours of pictures as variables, light and dark."""
    light, dark = variables(dark=False), variables(dark=True)
    return (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark)"
        f"{{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    )


def check_page_suffix(path: "str | os.PathLike[str]") -> None:
    """Refuse a path that does not say that it is a page."""
    name = os.fsdecode(path)
    if not name.lower().endswith(PAGE_SUFFIXES):
        msg = f"{name!r} does not end in .html, and a browser would not show it so"
        raise ParameterError(msg)


def island(data: Any) -> str:
    r"""Return data as JSON in which no sign can end the element around it.

    >>> print(island(["</script>", "a & b", "\u2028", float("inf")]))
    ["\u003c/script\u003e","a \u0026 b","\u2028","infinity"]
    """
    text = json.dumps(
        _plain(data), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _plain(data: Any) -> Any:
    """Return data without what JSON does not know."""
    if isinstance(data, dict):
        return {name: _plain(part) for name, part in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(part) for part in data]
    if isinstance(data, float) and (isinf(data) or data != data):
        return None if data != data else "infinity" if data > 0 else "-infinity"
    return data


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
