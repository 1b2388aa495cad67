"""Slides and their elements."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spinney.extensions.pictures.markup import Markup, element


@dataclass(frozen=True)
class Slide:
    """One screen of a lesson: a title, and elements below each other."""

    title: str
    parts: tuple[Markup, ...]

    def markup(self, number: int, total: int) -> Markup:
        """Return the slide as a section, with its number."""
        head = element("h2", self.title)
        place = element("p", f"{number} / {total}", class_="place")
        body = element("div", *self.parts, class_="parts")
        label = f"{number} of {total}: {self.title}"
        return element("section", place, head, body, aria_label=label, class_="slide")


def paragraph(*content: str, kind: str = "") -> Markup:
    """Return a paragraph, with a class of the style sheet if given."""
    return element("p", *content, **({"class_": kind} if kind else {}))


def preformatted(lines: Iterable[str]) -> Markup:
    """Return lines in a fixed-width font."""
    return element("pre", "\n".join(lines))


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, marked: Sequence[int] = ()
) -> Markup:
    """Return a table with some rows marked."""
    top = element(
        "thead", element("tr", *(element("th", cell, scope="col") for cell in head))
    )
    lines = []
    for number, row in enumerate(rows):
        attributes = {"class_": "marked"} if number in marked else {}
        lines.append(
            element("tr", *(element("td", cell) for cell in row), **attributes)
        )
    return element(
        "div", element("table", top, element("tbody", *lines)), class_="wide"
    )
