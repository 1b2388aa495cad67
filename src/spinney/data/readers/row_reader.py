"""Fast reader of single rows, with the result of reading a one-row table.

Numbers are used directly. Codes of other values are cached: at first the training
values, then the values of rows read as tables. A row with an uncached cell is read as a
table, which gives the same errors and warnings.
"""

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spinney.data.cells import LARGEST_EXACT_INTEGER, marker_numbers
from spinney.data.readers.schema_reader import read_with_schema
from spinney.data.schema import Attribute, Schema
from spinney.errors import DataError

NAN = float("nan")
LARGEST = float(np.finfo(np.float64).max)
MAX_CACHED = 10_000  # cached values per column

# Equal values of one of these types have equal cells, which can be cached.
_CACHED_TYPES = {str, bool, int, float, datetime.date}
_PLAIN: Mapping[type, Any] = {
    np.float64: float,
    np.float32: float,
    np.int64: int,
    np.int32: int,
    np.bool_: bool,
    np.str_: str,
}


class Absent:
    """Placeholder for an absent value of a row."""


@dataclass(frozen=True, eq=False)
class RowReader:
    """A reader of single rows, by the schema of a model.

    Parameters
    ----------
    schema : Schema
        The schema of the model. needed : collection of int
        The attributes that the model uses.
    optional : collection of int
        The needed attributes that may be absent.
    """

    schema: Schema
    needed: Collection[int]
    optional: Collection[int] = ()

    @cached_property
    def columns(self) -> list[int]:
        """The ascending indices of the columns to read."""
        return self.schema.input_columns(self.needed)

    @cached_property
    def _plans(self) -> tuple[tuple[str, bool, dict[Any, float]], ...]:
        """The name of each column, whether its numbers are plain, and cached cells."""
        required = [index for index in self.needed if index not in self.optional]
        lacking = set(self.columns).difference(self.schema.input_columns(required))
        plans = []
        for index in self.columns:
            attribute = self.schema.attributes[index]
            known = self._known_cells(attribute)
            if index in lacking:
                known[type, Absent] = NAN
            is_number = attribute.kind == "numeric" and attribute.unit is None
            plans.append((attribute.name, is_number, known))
        return tuple(plans)

    def _known_cells(self, attribute: Attribute) -> dict[Any, float]:
        """Return the initial cache of a column: cells by type and value."""
        known: dict[Any, float] = {(type(None), None): NAN}
        for code, value in enumerate(attribute.values):
            if type(value) is str:
                known[str, value] = NAN if value in self.schema.markers else float(code)
        return known

    @cached_property
    def _markers(self) -> frozenset[float]:
        """The numbers that are missing-value markers."""
        return frozenset(marker_numbers(self.schema.markers, unit=None))

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The names of all columns, in the order of a row without names."""
        return self.schema.names[: self.schema.n_columns]

    def cells(self, row: Any) -> list[float]:
        """Return the numbers and codes of a row, one per column, NaN if missing.

        Parameters
        ----------
        row : mapping or sequence
            Values by column name, or in the column order of the training table.
        """
        values = row if type(row) is dict else self._by_name(row)
        markers, cells = self._markers, []
        try:
            for name, is_number, known in self._plans:
                value = values.get(name, Absent)
                kind = type(value)
                if is_number and kind is float and -LARGEST <= value <= LARGEST:
                    cells.append(NAN if value in markers else value)
                elif kind is float and value != value:
                    cells.append(NAN)
                elif is_number and kind is int:
                    if abs(value) > LARGEST_EXACT_INTEGER:
                        return self._cells_as_table(values)
                    cells.append(NAN if value in markers else float(value))
                else:
                    cells.append(known[kind, value])
        except (KeyError, TypeError):  # a value that is new or cannot be cached
            plain = {name: _plain(value) for name, value in values.items()}
            if any(plain[name] is not values[name] for name in plain):
                return self.cells(plain)
            return self._cells_as_table(values)
        return cells

    def _by_name(self, row: Any) -> dict[Any, Any]:
        """Return a row as a dictionary."""
        if hasattr(row, "keys"):  # a mapping, or a row of a frame or a database
            return dict(row)
        if isinstance(row, np.ndarray) and row.dtype.kind not in "mM":
            row = row.tolist()
        if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
            kind = type(row).__name__
            msg = f"an object of type {kind} is not a row: give a mapping or a sequence"
            raise DataError(msg)
        values = list(row)
        if len(values) != len(self._names):
            msg = (
                f"the row has {len(values)} values, and the model's table had "
                f"{len(self._names)} columns: give one for each, or give them by name"
            )
            raise DataError(msg)
        return dict(zip(self._names, values, strict=True))

    def _cells_as_table(self, values: Mapping[Any, Any]) -> list[float]:
        """Read a row as a table, and cache its cells."""
        target = self.schema.target.name
        table = read_with_schema(
            self.schema,
            self.needed,
            {name: [value] for name, value in values.items() if name != target},
            optional=self.optional,
        )
        coded = self.schema.encode(table, self.needed, optional=self.optional)
        cells = []
        for index, plan in zip(self.columns, self._plans, strict=True):
            cell = float(coded[index][0])
            if coded[index].dtype.kind != "f" and cell < 0:
                cell = NAN
            cells.append(cell)
            _cache(values.get(plan[0]), cell, plan)
        return cells

    def coded(self, cells: list[float]) -> list[Any]:
        """Return the cells of a row as encoded columns, constructed ones included."""
        columns: list[Any] = [None] * len(self.schema.attributes)
        for index, cell in zip(self.columns, cells, strict=True):
            if self.schema.attributes[index].kind == "numeric":
                columns[index] = np.array([cell])
            else:
                code = -1 if cell != cell else int(cell)
                columns[index] = np.array([code], np.int32)
        return self.schema.completed(columns, self.needed)


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python value."""
    return _PLAIN[type(value)](value) if type(value) in _PLAIN else value


def _cache(value: Any, cell: float, plan: tuple[str, bool, dict[Any, float]]) -> None:
    """Cache the cell of a value, if its type permits."""
    _, is_number, known = plan
    kind, full = type(value), len(known) >= MAX_CACHED
    if kind in _CACHED_TYPES and not full and not (is_number and kind in (int, float)):
        known[kind, value] = cell
