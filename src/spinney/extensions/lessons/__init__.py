"""Lessons: pages that step through the growth of a tree, or k-means."""

from typing import TYPE_CHECKING

from spinney._support.lazy_names import lazy_names

if TYPE_CHECKING:
    from spinney.extensions.lessons.lesson_page import LessonPage
    from spinney.extensions.lessons.tree_lesson import tree_slides

__getattr__ = lazy_names(
    __name__,
    {
        "lesson_page": ("LessonPage",),
        "tree_lesson": ("tree_slides",),
    },
)
