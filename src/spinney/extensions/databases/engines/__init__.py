"""One file an engine: its dialect, how it runs and binds, what it cannot do."""

from spinney.extensions.databases.engines.sql_engine import SqlEngine

__all__ = ["SqlEngine"]
