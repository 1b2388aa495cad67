"""Trees that take new rows, and let go of others, without starting over."""

from spinney.extensions.incremental.grow_again import (
    GrownAgain,
    is_worth_keeping,
    why_whole,
)
from spinney.extensions.incremental.tree_state import TreeState

__all__ = ["GrownAgain", "TreeState", "is_worth_keeping", "why_whole"]
