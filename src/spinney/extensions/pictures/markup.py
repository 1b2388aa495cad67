"""SVG and HTML as text: the only module that writes and escapes markup.

Texts have printable characters only (``shown``), because XML cannot contain others.
"""

from collections.abc import Iterable
from html import escape

# Shapes of SVG, which have nothing in them.
SHAPES = frozenset({"circle", "line", "path", "rect"})


class Markup(str):
    """Text that contains markup; all other text is escaped."""

    __slots__ = ()


def number(value: float) -> str:
    """Return a length in tenths of a pixel.

    >>> number(12.0), number(-0.04), number(3.14159)
    ('12', '0', '3.1')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def element(name: str, *content: str, **attributes: str | float) -> Markup:
    """Return an element; content that is not ``Markup`` is escaped.

    An underscore in the name of an attribute becomes a hyphen; a final one is dropped.

    >>> element("p", "a < b", element("b", "&"), class_="note")
    '<p class="note">a &lt; b<b>&amp;</b></p>'
    >>> element("circle", r=1.26, class_="odd", fill_opacity="0.5")
    '<circle r="1.3" class="odd" fill-opacity="0.5"/>'
    """
    parts = [name]
    for key, value in attributes.items():
        written = escape(value) if isinstance(value, str) else number(value)
        parts.append(f'{key.rstrip("_").replace("_", "-")}="{written}"')
    head = " ".join(parts)
    inner = "".join(
        part if isinstance(part, Markup) else escape(part, quote=False)
        for part in content
    )
    if not inner and name in SHAPES:
        return Markup(f"<{head}/>")
    return Markup(f"<{head}>{inner}</{name}>")


def joined(parts: Iterable[Markup], between: str = "") -> Markup:
    """Return parts of markup joined by ``between``, without empty parts."""
    return Markup(between.join(part for part in parts if part))
