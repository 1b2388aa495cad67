"""DuckDB as a reader of files: connections, columns as expressions, quoting."""
