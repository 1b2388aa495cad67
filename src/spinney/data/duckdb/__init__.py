"""DuckDB as a reader of files: connections, columns as expressions, quoting."""

from spinney.data.duckdb.columns import (
    RawColumn,
    SqlColumn,
    column_of,
    described_column,
    first_line,
    is_relation,
    refuse_type,
    refused_cell,
    selected,
    translated_errors,
)
from spinney.data.duckdb.connection import (
    array_aggregation,
    memory_of_connections,
    private_folder,
)
from spinney.data.duckdb.sql_text import Family, quote_text
