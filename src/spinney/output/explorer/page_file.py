"""The page as one file: scripts, styles and data put together, and nothing fetched.

The sources in ``page/`` are plain ES modules and CSS. A page that is opened from a disk
can import nothing, so the modules are put one after another, what is imported before
what imports it, and the words ``import`` and ``export`` are taken out. So all of them
share one scope, and no two may declare one name (``tests/output/test_page_file.py``
holds that).

The policy of the page names its one script and its one style sheet by their hashes;
data is a block of JSON that no sign in it can end.
"""

import json
import os
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from math import isinf
from typing import Any

from spinney._support.atomic_file import write_whole
from spinney.errors import ParameterError
from spinney.output.explorer.page_data import explorer_data
from spinney.output.picture.style_sheet import variables

__all__ = ["ExplorerPage", "explorer_page", "script", "style"]

MAIN = "main.js"
PAGE_SUFFIXES = (".html", ".htm")
STYLES = ("shell.css", "panels.css", "print.css")
IMPORT = re.compile(r'^import\s+(?:\{[^}]*\}\s+from\s+)?"\./([\w.]+)";\n', re.MULTILINE)
EXPORT = re.compile(
    r"^export (?=(?:async )?(?:function|class|const|let) )", re.MULTILINE
)
# Nothing leaves the page, nothing is loaded into it; pictures are made in it.
POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
LARGEST_FRAME = 2_000_000
FRAME_HEIGHT = 680

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
<noscript>This page draws a decision tree by its own scripts, and they are switched \
off.</noscript>
<main id="explorer"></main>
<script id="spinney-data" type="application/json">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def explorer_page(models: Sequence[Any], *, rows: Any = None) -> str:
    """Return the page of one fitted model, or of two side by side.

    ``rows`` is a table whose rows are shown behind the nodes that they come to.
    """
    data = explorer_data(models, rows=rows)
    title = " and ".join(model["title"] for model in data["models"])
    return PAGE.format(
        policy=POLICY.format(script=_hash(script()), style=_hash(style())),
        title=escape(f"{title} · Spinney"),
        style=style(),
        data=island(data),
        script=script(),
    )


@dataclass(frozen=True, repr=False)
class ExplorerPage:
    """A page in the hand: shown by a notebook, saved to a file.

    Parameters
    ----------
    html : str
        The page.
    """

    html: str

    def __repr__(self) -> str:
        size = len(self.html.encode()) / 1000
        return f"<page of {size:.0f} kB: save(path) keeps it as .html>"

    @property
    def frame(self) -> str | None:
        """The page in a frame for a notebook; None where it is too large for one.

        What runs in the frame can reach neither the notebook nor its cookies.
        """
        if len(self.html) > LARGEST_FRAME:
            return None
        return (
            f'<iframe sandbox="allow-scripts" width="100%" height="{FRAME_HEIGHT}" '
            'style="border:0" title="Explorer of a model" '
            f'srcdoc="{escape(self.html)}">The explorer needs a frame.</iframe>'
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        bundle, frame = {"text/plain": repr(self)}, self.frame
        return bundle if frame is None else {**bundle, "text/html": frame}

    def save(self, path: "str | os.PathLike[str]", *, force: bool = True) -> None:
        """Save it; ``force`` says whether a file that is there may be replaced."""
        check_page_suffix(path)
        write_whole(path, [self.html.encode("utf-8")], force=force)


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


@cache
def script() -> str:
    """Return all modules as one, those that others import first."""
    ordered: dict[str, str] = {}

    def add(name: str, waiting: tuple[str, ...]) -> None:
        if name in ordered:
            return
        assert name not in waiting, f"{name} imports itself"
        text = _source(name)
        for needed in IMPORT.findall(text):
            add(needed, (*waiting, name))
        ordered[name] = EXPORT.sub("", IMPORT.sub("", text))

    add(MAIN, ())
    parts = (f"// {name}\n{text.strip()}\n" for name, text in ordered.items())
    return "\n" + "\n".join(parts)


@cache
def style() -> str:
    """Return the style sheet, with the colours of the pictures."""
    light, dark = variables(dark=False), variables(dark=True)
    colours = (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark)"
        f"{{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    )
    return colours + "\n".join(_source(name) for name in STYLES)


def _source(name: str) -> str:
    folder = files("spinney.output.explorer") / "page"
    return (folder / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
