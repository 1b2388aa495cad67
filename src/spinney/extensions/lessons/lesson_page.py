"""Slides as one page: one slide per screen, or per printed sheet."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from spinney.extensions.lessons.lesson_slides import Slide
from spinney.extensions.pictures import STYLE_SHEET, colours
from spinney.extensions.pictures.markup import element
from spinney.extensions.pictures.offline_page import OfflinePage, make_page
from spinney.output.export_formats import Format

LESSON = Format("lesson", ("tree",), lambda model: model.lesson().html)


@dataclass(frozen=True, repr=False)
class LessonPage(OfflinePage):
    """A lesson as a page, with its slides.

    Parameters
    ----------
    html : str
        The page; it loads no other resources.
    slides : sequence of Slide
        The slides of the page, one per screen.
    """

    slides: Sequence[Slide]

    @classmethod
    def of(cls, slides: Sequence[Slide], title: str) -> "LessonPage":
        """Return the page of slides."""
        return cls(lesson_page(slides, title), slides)

    def _summary(self) -> str:
        return f"lesson of {len(self.slides)} slides"


def lesson_page(slides: Sequence[Slide], title: str) -> str:
    """Return slides as one page of HTML."""
    total = len(slides)
    sections = [slide.markup(number, total) for number, slide in enumerate(slides, 1)]
    body = element("main", *sections, id="lesson")
    style = colours() + _resource_text("lesson.css")
    script = _resource_text("lesson.js")
    return make_page(title, body, style=style, script=script, body_style=STYLE_SHEET)


@cache
def _resource_text(name: str) -> str:
    folder = files("spinney.extensions.lessons") / "page"
    return (folder / name).read_text(encoding="utf-8")
