"""A folder of tables, and what its ``schema.json`` says of them.

For each table that file names the file, target, task and number of rows, the kinds of
columns, the levels of ordinal ones, columns to ignore and the marker of missing cells.
"""

import json
from pathlib import Path
from typing import Any

__all__ = ["arguments_of", "facts_of", "markers_of"]


def facts_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the facts of each table of a folder, by name."""
    if not (folder / "schema.json").is_file():
        msg = (
            f"{folder} holds no schema.json, which says what its tables are: see "
            "docs/auto.md"
        )
        raise SystemExit(msg)
    found: dict[str, dict[str, Any]] = json.loads(
        (folder / "schema.json").read_text(encoding="utf-8")
    )
    return found


def markers_of(facts: dict[str, Any]) -> list[str]:
    """Return the texts that stand for a missing cell, beside the empty one."""
    marker = facts["missing_marker"]
    return [] if marker in (None, "empty") else [marker]


def arguments_of(folder: Path, facts: dict[str, Any]) -> dict[str, Any]:
    """Return what ``spinney.grow`` is to know of a table."""
    kinds = {
        column: kind
        for column, kind in facts["types"].items()
        if column != facts["target"] and column not in facts["ignore"]
    }
    return {
        "data": str(folder / facts["file"]),
        "target": facts["target"],
        "ignore": facts["ignore"],
        "nominal": [column for column, kind in kinds.items() if kind == "nominal"],
        "ordinal": {
            column: facts["levels"][column]
            for column, kind in kinds.items()
            if kind == "ordinal"
        },
        "missing_values": markers_of(facts),
    }
