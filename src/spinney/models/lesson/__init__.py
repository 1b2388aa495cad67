"""The lesson: a page that steps through the making of a tree, or of clusters."""

from spinney.models.lesson.cluster_lesson import cluster_slides
from spinney.models.lesson.lesson_page import LessonPage
from spinney.models.lesson.tree_lesson import tree_slides

__all__ = ["LessonPage", "cluster_slides", "tree_slides"]
