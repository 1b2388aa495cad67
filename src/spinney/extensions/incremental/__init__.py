"""Trees that take new rows, and let go of others, without starting over."""

from spinney.extensions.incremental.grow_again import (
    IncrementalGrower,
    can_cache_counts,
    why_from_scratch,
)
from spinney.extensions.incremental.tree_state import TreeState

__all__ = ["IncrementalGrower", "TreeState", "can_cache_counts", "why_from_scratch"]
