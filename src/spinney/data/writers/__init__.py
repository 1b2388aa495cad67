"""Writers of rows: CSV, TSV, JSON lines and Parquet."""

from spinney.data.writers.row_writers import (
    OUTPUT_FORMATS,
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
