"""The rows that a page shows: the cells and the leaf of each row."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney._support.text import number_text, shown
from spinney.data import Column, Schema, Table, is_identifier_name
from spinney.data.readers import read_table
from spinney.errors import SpinneyNote
from spinney.extensions.explorer.packed_numbers import packed
from spinney.trees.predict import FlatTree, leaf_numbers

MAX_ROWS = 5_000
MAX_FILE_SIZE = 5_000_000  # bytes of a file whose header is read beforehand


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


def read_with_key(model: Any, data: Any, **options: Any) -> tuple[Table, str | None]:
    """Read a table as a model does, with the first column that identifies rows.

    The second value is its name, None without such a column. The name is looked for
    among the columns that the model does not have.
    """
    known = {model.schema.target.name, *(a.name for a in model.schema.attributes)}
    names = [] if model.kind == "clusters" else _column_names(data, options)
    keys = [name for name in names if name not in known and is_identifier_name(name)]
    if not keys:
        return model.read(data, **options), None
    return model.read(data, weight=keys[0], **options), keys[0]


def _column_names(data: Any, options: dict[str, Any]) -> list[str]:
    """Return the names of columns; of a large file, none."""
    if isinstance(data, (str, PathLike)):
        if not Path(data).is_file() or Path(data).stat().st_size > MAX_FILE_SIZE:
            return []
        reading = {k: v for k, v in options.items() if k in ("format", "encoding")}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpinneyNote)  # the model's reading says it
            data = read_table(data, **reading)
    if isinstance(data, Mapping):
        return [name for name in data if isinstance(name, str)]
    names = data.names if isinstance(data, Table) else getattr(data, "columns", ())
    return [name for name in names if isinstance(name, str)]


def with_key(data: dict[str, Any], key: str | None) -> dict[str, Any]:
    """Return the data of a model with the name of the key column of its rows."""
    if key is not None and data.get("rows"):
        data["rows"]["key"] = shown(key)
    return data


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
