"""DuckDB as a reader of files: connections, columns as expressions, quoting."""

from spinney.data.duckdb.columns import SqlColumn, is_relation, translated_errors
from spinney.data.duckdb.sql_text import quote_text

__all__ = ["SqlColumn", "is_relation", "quote_text", "translated_errors"]
