"""Pages that are one file with scripts, styles and data, and fetch nothing.

The policy of a page allows its one script and its one style sheet by their hashes, so
that names in a model cannot run code.
"""

import json
import os
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from math import isinf
from typing import Any

from spinney._support.atomic_file import write_whole
from spinney.errors import ParameterError

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
</body>
</html>
"""


def make_page(
    title: str, body: str, *, style: str, script: str = "", body_style: str = ""
) -> str:
    """Return a page around a body of markup; without a script, nothing runs in it.

    ``body_style`` is the style sheet within the body, as in pictures; the policy allows
    it too.
    """
    allowed = " ".join(_hash(sheet) for sheet in (style, body_style) if sheet)
    if script:
        body = f'{body}\n<script type="module">{script}</script>'
    runs = _hash(script) if script else "'none'"
    return PAGE.format(
        policy=POLICY.format(script=runs, style=allowed),
        title=escape(f"{title} · Spinney"),
        style=style,
        body=body,
        script=script,
    )


@dataclass(frozen=True, repr=False)
class OfflinePage:
    """A page that is one file and fetches nothing.

    Parameters
    ----------
    html : str
        The page as HTML.
    """

    html: str

    def __repr__(self) -> str:
        return f"<{self._summary()}: save(path) keeps it as .html>"

    def _summary(self) -> str:
        return f"page of {len(self.html.encode()) / 1000:.0f} kB"

    def save(self, path: "str | os.PathLike[str]", *, overwrite: bool = True) -> None:
        """Save the page; ``overwrite`` allows replacing an existing file."""
        check_page_suffix(path)
        write_whole(path, [self.html.encode("utf-8")], overwrite=overwrite)


def check_page_suffix(path: "str | os.PathLike[str]") -> None:
    """Refuse a path that does not end in .html."""
    name = os.fsdecode(path)
    if not name.lower().endswith(PAGE_SUFFIXES):
        msg = f"{name!r} does not end in .html: name such a file"
        raise ParameterError(msg)


def embedded_json(data: Any) -> str:
    r"""Return data as JSON that cannot end the HTML element around it.

    >>> print(embedded_json(["</script>", "a & b", "\u2028", float("inf")]))
    ["\u003c/script\u003e","a \u0026 b","\u2028","infinity"]
    """
    text = json.dumps(
        _json_data(data), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _json_data(data: Any) -> Any:
    """Return data with infinite numbers as text, and NaN as None."""
    if isinstance(data, dict):
        return {name: _json_data(part) for name, part in data.items()}
    if isinstance(data, (list, tuple)):
        return [_json_data(part) for part in data]
    if isinstance(data, float) and (isinf(data) or data != data):
        return None if data != data else "infinity" if data > 0 else "-infinity"
    return data


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
