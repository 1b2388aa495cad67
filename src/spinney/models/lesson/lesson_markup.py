"""Slides as HTML: the one place where the markup of lessons is written and escaped."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Markup", "Slide", "paragraph", "preformatted", "table", "tag"]


class Markup(str):
    """Text that is markup already; any other text is escaped."""

    __slots__ = ()


@dataclass(frozen=True)
class Slide:
    """One screen of a lesson: a heading, and parts below each other."""

    title: str
    parts: tuple[Markup, ...]

    def markup(self, number: int, total: int) -> Markup:
        """Return it as a section, with its place among the slides."""
        head = tag("h2", self.title)
        place = tag("p", f"{number} / {total}", class_="place")
        body = tag("div", *self.parts, class_="parts")
        label = f"{number} of {total}: {self.title}"
        return tag("section", place, head, body, aria_label=label, class_="slide")


def tag(name: str, *content: str, **attributes: str) -> Markup:
    """Return an element; what is no markup in it is escaped.

    >>> tag("p", "a < b", tag("b", "&"), class_="note")
    '<p class="note">a &lt; b<b>&amp;</b></p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    inner = "".join(
        part if isinstance(part, Markup) else escape(part) for part in content
    )
    return Markup(f"<{name}{written}>{inner}</{name}>")


def paragraph(*content: str, kind: str = "") -> Markup:
    """Return a paragraph, of a class of the style sheet if one is named."""
    return tag("p", *content, **({"class_": kind} if kind else {}))


def preformatted(lines: Iterable[str]) -> Markup:
    """Return lines whose columns stand below each other."""
    return tag("pre", "\n".join(lines))


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, marked: Sequence[int] = ()
) -> Markup:
    """Return a table; rows whose numbers are marked stand out."""
    top = tag("thead", tag("tr", *(tag("th", cell, scope="col") for cell in head)))
    lines = []
    for number, row in enumerate(rows):
        look = {"class_": "marked"} if number in marked else {}
        lines.append(tag("tr", *(tag("td", cell) for cell in row), **look))
    return tag("div", tag("table", top, tag("tbody", *lines)), class_="wide")
