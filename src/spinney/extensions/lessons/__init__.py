"""Lessons: pages that step through the growth of a tree, or k-means."""

from typing import TYPE_CHECKING

from spinney._support.names_on_demand import names_on_demand

if TYPE_CHECKING:
    from spinney.extensions.lessons.lesson_page import LessonPage
    from spinney.extensions.lessons.tree_lesson import tree_slides

__all__ = ["LessonPage", "tree_slides"]

__getattr__ = names_on_demand(
    __name__,
    {
        "lesson_page": ("LessonPage",),
        "tree_lesson": ("tree_slides",),
    },
)
