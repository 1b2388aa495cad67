"""The default recipe: labels that a forest has smoothed, cross-validated pruning."""

from spinney.growth.taught.taught_growth import Lesson, warn_of_squares

__all__ = ["Lesson", "warn_of_squares"]
