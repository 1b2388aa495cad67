"""Rows to grow on, wherever they are: opened, checked, with what tells them apart."""

from spinney.sources.opened.open_rows import (
    OpenedSource,
    engine_of,
    is_counted_away,
    open_source,
    table_of_rows,
)

__all__ = [
    "OpenedSource",
    "engine_of",
    "is_counted_away",
    "open_source",
    "table_of_rows",
]
