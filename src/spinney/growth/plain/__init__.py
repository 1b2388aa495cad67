"""The plain learner: the algorithm over count tables."""

from spinney.growth.plain.construct import grow_with_construction

__all__ = ["grow_with_construction"]
