"""Trees that take new rows, and let go of others, without starting over."""

from spinney.extensions.incremental.grow_again import (
    GrownAgain,
    is_worth_keeping,
    why_whole,
)
from spinney.extensions.incremental.kept_tree import KeptTree

__all__ = ["GrownAgain", "KeptTree", "is_worth_keeping", "why_whole"]
