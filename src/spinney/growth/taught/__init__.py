"""The default recipe: labels that a forest has smoothed, cross-validated pruning."""

from spinney.growth.taught.taught_growth import TaughtGrowth, warn_of_squares

__all__ = ["TaughtGrowth", "warn_of_squares"]
