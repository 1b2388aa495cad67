"""Rows to grow on, wherever they are: opened, checked, with what tells them apart."""

from spinney.sources.opened.open_rows import OpenedSource, is_counted_away, open_source

__all__ = ["OpenedSource", "is_counted_away", "open_source"]
