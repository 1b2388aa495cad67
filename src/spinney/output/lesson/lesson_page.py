"""Slides as one page: a slide per screen, arrow keys, a sheet per slide on paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from spinney._support.atomic_file import write_whole
from spinney.output.lesson.lesson_markup import Slide, tag
from spinney.output.offline_page import check_page_suffix, colours, offline_page
from spinney.output.picture.style_sheet import STYLE_SHEET

if TYPE_CHECKING:
    import os

__all__ = ["LessonPage", "lesson_page"]


@dataclass(frozen=True, repr=False)
class LessonPage:
    """A lesson in the hand.

    Parameters
    ----------
    slides : sequence of Slide
    title : str
    """

    slides: Sequence[Slide]
    title: str

    def __repr__(self) -> str:
        return f"<lesson of {len(self.slides)} slides: save(path) keeps it as .html>"

    @property
    def html(self) -> str:
        """The page: it fetches nothing."""
        return lesson_page(self.slides, self.title)

    def save(self, path: "str | os.PathLike[str]", *, force: bool = True) -> None:
        """Save it; ``force`` says whether a file that is there may be replaced."""
        check_page_suffix(path)
        write_whole(path, [self.html.encode("utf-8")], force=force)


def lesson_page(slides: Sequence[Slide], title: str) -> str:
    """Return slides as one page of HTML."""
    total = len(slides)
    sections = [slide.markup(number, total) for number, slide in enumerate(slides, 1)]
    body = tag("main", *sections, id="lesson")
    style = colours() + _source("lesson.css")
    script = _source("lesson.js")
    return offline_page(title, body, style=style, script=script, more=STYLE_SHEET)


@cache
def _source(name: str) -> str:
    folder = files("spinney.output.lesson") / "page"
    return (folder / name).read_text(encoding="utf-8")
