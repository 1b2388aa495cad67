"""The page as one file: scripts, styles and data, without other resources.

The sources in ``page/`` are plain ES modules and CSS. A page opened from a disk cannot
import modules. So the modules are joined, imported modules first, without the words
``import`` and ``export``. All modules share one scope, so no two may declare the same
name (``test_page_file.py`` checks this).
"""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from spinney.extensions.explorer.page_data import explorer_data
from spinney.extensions.pictures import colours
from spinney.extensions.pictures.offline_page import (
    OfflinePage,
    embedded_json,
    make_page,
)
from spinney.output.export_formats import DRAWN, Format

MAIN = "main.js"
STYLES = ("shell.css", "panels.css", "print.css")
IMPORT = re.compile(r'^import\s+(?:\{[^}]*\}\s+from\s+)?"\./([\w.]+)";\n', re.MULTILINE)
EXPORT = re.compile(
    r"^export (?=(?:async )?(?:function|class|const|let) )", re.MULTILINE
)
LARGEST_FRAME = 2_000_000
FRAME_HEIGHT = 680

BODY = """\
<noscript>This page draws a decision tree by its own scripts, and they are switched \
off.</noscript>
<main id="explorer"></main>
<script id="spinney-data" type="application/json">{data}</script>"""


def explorer_page(
    models: Sequence[Any],
    *,
    rows: Any = None,
    data: Any = None,
    names: Sequence[str] = (),
) -> str:
    """Return the page of one fitted model, or of two side by side.

    ``rows`` is a table whose rows are shown at the nodes that they reach; ``data``,
    instead of ``rows``, adds counts only. ``names`` are the names of the models.
    """
    content = explorer_data(models, rows=rows, data=data, names=names)
    title = " and ".join(model["title"] for model in content["models"])
    body = BODY.format(data=embedded_json(content))
    return make_page(title, body, style=style(), script=script())


class ExplorerPage(OfflinePage):
    """The explorer of one or two models as a page, for a notebook or a file.

    Parameters
    ----------
    html : str
        The page.
    """

    @property
    def frame(self) -> str | None:
        """The page in a frame for a notebook; None if the page is too large.

        Scripts in the frame can access neither the notebook nor its cookies.
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


@cache
def script() -> str:
    """Return all modules as one script, imported modules first."""
    ordered: dict[str, str] = {}

    def add(name: str, waiting: tuple[str, ...]) -> None:
        if name in ordered:
            return
        assert name not in waiting, f"{name} imports itself"
        text = _resource_text(name)
        for needed in IMPORT.findall(text):
            add(needed, (*waiting, name))
        ordered[name] = EXPORT.sub("", IMPORT.sub("", text))

    add(MAIN, ())
    parts = (f"// {name}\n{text.strip()}\n" for name, text in ordered.items())
    return "\n" + "\n".join(parts)


@cache
def style() -> str:
    """Return the style sheet, with the colours of the pictures."""
    return colours() + "\n".join(_resource_text(name) for name in STYLES)


def _resource_text(name: str) -> str:
    folder = files("spinney.extensions.explorer") / "page"
    return (folder / name).read_text(encoding="utf-8")


HTML = Format(
    "html",
    DRAWN,
    lambda model, **options: explorer_page([model], **options),
    options=("data",),
)
