"""One file an engine: its dialect, how it runs and binds, what it cannot do."""

from spinney.sources.sql.engines.sql_engine import SqlEngine

__all__ = ["SqlEngine"]
