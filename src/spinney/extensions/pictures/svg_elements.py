"""Elements of pictures: texts, rectangles, lines, with classes of the style sheet."""

from collections.abc import Iterable

from spinney.extensions.pictures.markup import Markup, element, joined, number


def picture(content: Iterable[Markup], width: float, height: float) -> Markup:
    """Return the SVG element of a whole picture, with the style sheet's class."""
    return element(
        "svg",
        "\n",
        joined(content, "\n"),
        "\n",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="img",
        class_="spinney-tree",
    )


def words(text: str, name: str = "text", **attributes: str | float) -> Markup:
    """Return an element around a text.

    >>> words("<a> & b", x=1, class_="title")
    '<text x="1" class="title">&lt;a&gt; &amp; b</text>'
    """
    return element(name, text, **attributes)


def group(tooltip: str, *content: Markup) -> Markup:
    """Return a group of elements with a tooltip."""
    return element("g", *([words(tooltip, "title")] if tooltip else []), *content)


def rectangle(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    kind: str,
    corner: float = 0.0,
    opacity: float = 1.0,
) -> Markup:
    """Return a rectangle of a class of the style sheet."""
    look = {"rx": number(corner)} if corner else {}
    look |= {"fill_opacity": f"{opacity:.2f}"} if opacity < 1 else {}
    size = {"x": x, "y": y, "width": width, "height": height}
    return element("rect", **size, **look, class_=kind)


def line(x1: float, y1: float, x2: float, y2: float, *, kind: str) -> Markup:
    """Return a straight line of a class of the style sheet."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)
