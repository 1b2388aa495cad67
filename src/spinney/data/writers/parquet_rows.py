"""Rows as Parquet, through DuckDB.

They are gathered as CSV in a temporary folder, which DuckDB then turns into Parquet, so
that no more than a batch and what DuckDB keeps is in memory.
"""

import tempfile
from pathlib import Path

from spinney.data.duckdb.columns import first_line
from spinney.data.duckdb.sql_text import quote_identifier, quote_text
from spinney.data.writers.delimited_text import (
    Field,
    RowStream,
    distinct_names,
    text_rows,
)
from spinney.errors import ParameterError

ROW_GROUP = 40_960  # rows that DuckDB keeps until it writes them
LONGEST_LINE = 1 << 22  # bytes; DuckDB takes several times as much for a buffer

# The types whose texts DuckDB reads as they are written; others stay text.
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_UNSIGNED = ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_OTHERS = ("BOOLEAN", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP", "TIME")


def write_parquet(rows: RowStream, path: Path) -> None:
    """Write rows to a Parquet file; names that differ in case only get a line."""
    import duckdb

    columns = tuple(
        Field(f"c{number}", _written_type(field.type))
        for number, field in enumerate(rows.fields)
    )
    names = distinct_names(rows.names, by_case=False)
    selected = ", ".join(
        f"{column.name} AS {quote_identifier(name)}"
        for column, name in zip(columns, names, strict=True)
    )
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        gathered = Path(folder, "rows.csv")
        with open(gathered, "wb") as file:
            file.writelines(text_rows(RowStream(columns, rows.batches), "csv"))
        try:
            with duckdb.connect() as connection:
                connection.execute("SET threads = 1")  # each keeps rows of its own
                connection.execute(
                    f"COPY (SELECT {selected} FROM {_scan(gathered, columns)}) "
                    f"TO {quote_text(str(path))} (FORMAT parquet, USE_TMP_FILE false, "
                    f"ROW_GROUP_SIZE {ROW_GROUP})"
                )
        except duckdb.Error as error:
            reason = first_line(str(error))
            msg = f"Parquet cannot be written there ({reason}): try another folder"
            raise ParameterError(msg) from None


def _scan(path: Path, columns: tuple[Field, ...]) -> str:
    """Return SQL that reads the file of CSV with these columns."""
    types = ", ".join(f"'{column.name}': '{column.type}'" for column in columns)
    return (
        f"read_csv({quote_text(str(path))}, auto_detect = false, header = true, "
        f"columns = {{{types}}}, delim = ',', quote = '\"', escape = '\"', "
        f"new_line = '\\n', nullstr = '', max_line_size = {LONGEST_LINE})"
    )


def _written_type(type_: str) -> str:
    """Return the type that a column is written as."""
    if type_ in _INTEGERS or type_ in _UNSIGNED or type_ in _OTHERS:
        return type_
    return "DOUBLE" if type_.startswith("DECIMAL") else "VARCHAR"
