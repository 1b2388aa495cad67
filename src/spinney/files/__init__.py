"""Tables read from files, data frames and arrays."""

from spinney.files.advice import identifier_warnings, number_warnings, table_warnings
from spinney.files.opened import OpenRelation, opened_relation
from spinney.files.read import read_table

__all__ = [
    "OpenRelation",
    "identifier_warnings",
    "number_warnings",
    "opened_relation",
    "read_table",
    "table_warnings",
]
