"""Rows that stay in a SQL engine: count tables by GROUP BY."""

from spinney.extensions.databases.databases import (
    DatabaseTable,
    opened_rows,
    table_in_database,
)
