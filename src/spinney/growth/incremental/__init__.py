"""Trees that take new rows, and let go of others, without starting over."""

from spinney.growth.incremental.grow_again import (
    GrownAgain,
    is_worth_keeping,
    why_whole,
)
from spinney.growth.incremental.kept_rows import KeptRows
from spinney.growth.incremental.kept_tree import KeptTree

__all__ = ["GrownAgain", "KeptRows", "KeptTree", "is_worth_keeping", "why_whole"]
