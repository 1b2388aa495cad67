"""DuckDB as a reader of files: connections, columns as expressions, quoting."""

from spinney.data.duckdb.columns import (
    RawColumn,
    SqlColumn,
    column_of,
    column_type_error,
    described_column,
    first_line,
    invalid_cell_error,
    is_relation,
    selected,
    translated_errors,
    with_families,
)
from spinney.data.duckdb.connection import (
    array_aggregation,
    connection_memory_limit,
    private_folder,
)
from spinney.data.duckdb.sql_text import Family, quote_identifier, quote_text
