"""Rows that stay in a SQL engine: count tables by GROUP BY."""

from spinney.extensions.databases.databases import (
    DatabaseTable,
    source_in_database,
    table_in_database,
)
from spinney.extensions.databases.open_sql import Roles, source_in_duckdb
from spinney.extensions.databases.written_table import write_table

__all__ = [
    "DatabaseTable",
    "Roles",
    "source_in_database",
    "source_in_duckdb",
    "table_in_database",
    "write_table",
]
