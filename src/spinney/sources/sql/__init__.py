"""Rows that stay in a SQL engine: count tables by GROUP BY."""

from spinney.sources.sql.open_sql import source_in_duckdb
from spinney.sources.sql.sql_engine import Engine

__all__ = ["Engine", "source_in_duckdb"]
