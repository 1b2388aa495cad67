"""A finished model as words, rules, files and other programs."""

from spinney.output.tree_text import to_text

__all__ = ["to_text"]
