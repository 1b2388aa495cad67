"""Tables in SQL engines, counted there by GROUP BY."""

from spinney.extensions.databases.databases import (
    DatabaseTable,
    opened_rows,
    table_in_database,
)
