"""Helpers for the tests of tables from outside."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from spinney.data.table import Table


def values_of(table: Table) -> dict[str, list[object]]:
    """Return the cells as values, None where missing."""
    found: dict[str, list[object]] = {}
    for column in table.columns:
        if column.kind == "numeric":
            found[column.name] = [
                None if np.isnan(cell) else float(cell) for cell in column.cells
            ]
        else:
            found[column.name] = [
                None if code < 0 else column.levels[code] for code in column.cells
            ]
    return found


def assert_same(one: Table, other: Table) -> None:
    """Assert that two tables are equal in everything, types of levels included."""
    assert one.n_rows == other.n_rows
    assert one.names == other.names
    for left, right in zip(one.columns, other.columns, strict=True):
        assert left.kind == right.kind, left.name
        assert list(map(repr, left.levels)) == list(map(repr, right.levels)), left.name
        assert left.unit == right.unit, left.name
        assert left.cells.dtype == right.cells.dtype, left.name
        np.testing.assert_array_equal(left.cells, right.cells, err_msg=left.name)


@pytest.fixture(scope="session")
def assert_same_table() -> Callable[[Table, Table], None]:
    return assert_same


@pytest.fixture(scope="session")
def values() -> Callable[[Table], dict[str, list[object]]]:
    return values_of


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of this name, text as UTF-8 with its line endings kept."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(data)
        return path

    return write_file
