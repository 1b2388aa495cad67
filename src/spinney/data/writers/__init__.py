"""Rows written to files: CSV, TSV, JSON lines, Excel and Parquet."""

from spinney.data.writers.row_writers import (
    OUTPUT_FORMATS,
    WHOLE_FILES,
    Batch,
    Field,
    RowStream,
    json_form,
    json_objects,
    output_format_of,
    plain_text,
    printable_text,
    spreadsheet_safe,
    text_rows,
    write_parts,
    write_rows,
)
