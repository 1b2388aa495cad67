"""The lesson: a page that steps through the making of a tree, or of clusters."""

from spinney.extensions.lessons.lesson_page import LessonPage
from spinney.extensions.lessons.tree_lesson import tree_slides

__all__ = ["LessonPage", "tree_slides"]
