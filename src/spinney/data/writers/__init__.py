"""Rows written to files: CSV, TSV, JSON lines and Parquet."""

from spinney.data.writers.cell_texts import guarded, plain_text, printable_text
from spinney.data.writers.delimited_text import json_form, json_objects, text_rows
from spinney.data.writers.output_formats import (
    OUTPUT_FORMATS,
    output_format_of,
    write_parts,
    write_rows,
)
from spinney.data.writers.row_stream import Batch, Field, RowStream

__all__ = [
    "OUTPUT_FORMATS",
    "Batch",
    "Field",
    "RowStream",
    "guarded",
    "json_form",
    "json_objects",
    "output_format_of",
    "plain_text",
    "printable_text",
    "text_rows",
    "write_parts",
    "write_rows",
]
