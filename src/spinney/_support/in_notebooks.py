"""The display of printable results in notebooks."""

from html import escape
from typing import Any

from spinney._support.text import shown

LOOK = "white-space:pre;overflow-x:auto;line-height:1.3"


class InNotebooks:
    """A result that a notebook displays as its printed text, and not as its fields.

    Columns of texts stay aligned, long lines are scrolled, and names are never read as
    HTML.

    >>> class Greeting(InNotebooks):
    ...     def text(self):
    ...         return "a < b"
    >>> Greeting()._repr_mimebundle_()["text/html"][-15:]
    '>a &lt; b</pre>'
    """

    __slots__ = ()

    def text(self) -> str:
        """Return the printed text."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        text = "\n".join(shown(line) for line in str(self).split("\n"))
        html = f'<pre style="{LOOK}">{escape(text)}</pre>'
        return {"text/plain": text, "text/html": html}
