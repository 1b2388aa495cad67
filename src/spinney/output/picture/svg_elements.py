"""SVG as text: the one place where markup is written, and so where it is escaped.

Texts are made of printable signs (``shown``), for XML has no way to hold the others.
"""

from xml.sax.saxutils import escape, quoteattr

__all__ = ["element", "group", "line", "number", "rectangle", "words"]


def number(value: float) -> str:
    """Return a length in tenths of a pixel.

    >>> number(12.0), number(-0.04), number(3.14159)
    ('12', '0', '3.1')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def element(name: str, *content: str, **attributes: str | float) -> str:
    """Return an element around markup; attributes are escaped.

    An underscore in the name of an attribute is a hyphen, one at its end is not there.

    >>> element("circle", r=1.26, class_="odd", fill_opacity="0.5")
    '<circle r="1.3" class="odd" fill-opacity="0.5"/>'
    """
    parts = [name]
    for key, value in attributes.items():
        written = quoteattr(value) if isinstance(value, str) else f'"{number(value)}"'
        parts.append(f"{key.rstrip('_').replace('_', '-')}={written}")
    inner = "".join(content)
    return f"<{' '.join(parts)}>{inner}</{name}>" if inner else f"<{' '.join(parts)}/>"


def words(text: str, name: str = "text", **attributes: str | float) -> str:
    """Return an element around a text, which is escaped.

    >>> words("<a> & b", x=1, class_="title")
    '<text x="1" class="title">&lt;a&gt; &amp; b</text>'
    """
    return element(name, escape(text), **attributes)


def group(tooltip: str, *content: str) -> str:
    """Return what belongs together, with what is shown where a mouse rests on it."""
    return element("g", words(tooltip, "title") if tooltip else "", *content)


def rectangle(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    kind: str,
    corner: float = 0.0,
    opacity: float = 1.0,
) -> str:
    """Return a rectangle of a class of the style sheet."""
    more = {"rx": number(corner)} if corner else {}
    more |= {"fill_opacity": f"{opacity:.2f}"} if opacity < 1 else {}
    size = {"x": x, "y": y, "width": width, "height": height}
    return element("rect", **size, **more, class_=kind)


def line(x1: float, y1: float, x2: float, y2: float, *, kind: str) -> str:
    """Return a straight line of a class of the style sheet."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)
