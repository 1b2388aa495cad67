"""The rows that a page shows: the cells and the leaf of each row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney._support.text import number_text, shown
from spinney.data import Column, Schema, Table
from spinney.extensions.explorer.packed_numbers import packed
from spinney.trees.predict import FlatTree, leaf_numbers

MAX_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class TableRows:
    """A table as a model reads it, with the leaf of each row.

    ``targets`` are the codes or numbers of the target; None without a target column.
    """

    table: Table
    columns: list[Any]
    leaves: Integers
    targets: NDArray[Any] | None

    @property
    def has_target(self) -> NDArray[np.bool_]:
        """Whether each row has a target."""
        assert self.targets is not None
        if self.targets.dtype.kind == "f":
            return np.asarray(~np.isnan(self.targets))
        return np.asarray(self.targets >= 0)


def leaf_rows(table: Table, schema: Schema, flat: FlatTree) -> TableRows:
    """Return the rows of a table with the leaf that each row reaches."""
    columns = schema.encode(table, flat.read, optional=flat.gathered_optional)
    leaves = leaf_numbers(flat, columns, table.n_rows)
    named, targets = {column.name for column in table.columns}, None
    if schema.target.name in named:
        targets = schema.target.encode(table[schema.target.name])
    return TableRows(table, columns, leaves, targets)


def rows_data(rows: TableRows) -> dict[str, Any]:
    """Return the first rows with their leaves, and the number of all rows."""
    return {
        **cells_data(rows.table),
        "leaf": packed(rows.leaves[:MAX_ROWS]),
    }


def cells_data(table: Table) -> dict[str, Any]:
    """Return the cells of the first rows of a table, column by column."""
    return {
        "rows": min(table.n_rows, MAX_ROWS),
        "of_rows": table.n_rows,
        "columns": [_column_data(column) for column in table.columns],
    }


def _column_data(column: Column) -> dict[str, Any]:
    cells = column.cells[:MAX_ROWS]
    data: dict[str, Any] = {"name": shown(column.name)}
    if column.kind == "numeric" and column.unit is None:
        return {**data, "numbers": packed(cells)}
    if column.kind == "numeric":
        return {
            **data,
            "cells": [
                "" if np.isnan(cell) else number_text(float(cell), column.unit)
                for cell in cells
            ],
        }
    levels = [shown(level) for level in column.levels]
    return {**data, "codes": packed(cells), "levels": levels}
