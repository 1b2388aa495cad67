"""Rows written to files: CSV, TSV, JSON lines and Parquet."""

from spinney.data.writers.delimited_text import (
    Batch,
    Field,
    RowStream,
    json_form,
    json_objects,
    plain_text,
    printable_text,
    spreadsheet_safe,
    text_rows,
)
from spinney.data.writers.output_formats import (
    OUTPUT_FORMATS,
    output_format_of,
    write_parts,
    write_rows,
)
