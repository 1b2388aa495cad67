"""Tables read from files, data frames and arrays."""

from spinney.data.column_warnings import (
    identifier_warnings,
    number_warnings,
    table_warnings,
)
from spinney.data.open_relation import OpenRelation, opened_relation
from spinney.data.read import read_table

__all__ = [
    "OpenRelation",
    "identifier_warnings",
    "number_warnings",
    "opened_relation",
    "read_table",
    "table_warnings",
]
