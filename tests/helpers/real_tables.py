"""Real tables, if somebody has them: SPINNEY_DATA names the folder.

``benchmarks/tables.py`` says what the folder must hold.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from benchmarks import tables

FOLDER = os.environ.get("SPINNEY_DATA", "")

needs_tables = pytest.mark.skipif(
    not FOLDER, reason="SPINNEY_DATA names no folder of tables"
)


def facts_of(name: str) -> dict[str, Any]:
    return tables.facts_of(Path(FOLDER))[name]


def arguments_of(name: str) -> dict[str, Any]:
    return tables.arguments_of(Path(FOLDER), facts_of(name))


def table_names() -> list[str]:
    """Return the names of all tables; none where there is no folder."""
    return sorted(tables.facts_of(Path(FOLDER))) if FOLDER else []
