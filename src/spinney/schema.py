"""What a table means to a model: attributes, target, and codes for values.

A model is grown on codes and keeps the schema, so that any later table, with its
columns in any order and its values in any coding, is read the same way.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney.errors import DataError, did_you_mean
from spinney.table import Column, Kind, Value, factorise
from spinney.wording import value_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spinney.counts import Integers
    from spinney.table import Table

__all__ = ["Attribute", "Schema", "Target"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column that a tree may ask about.

    Parameters
    ----------
    name : str
        The column's name.
    kind : {"nominal", "ordinal", "numeric"}
        How its values compare.
    values : tuple
        The values in the order of their codes; empty for a numeric attribute.
    unit : str, optional
        What a number counts, where the column held dates.
    """

    name: str
    kind: Kind
    values: tuple[Value, ...] = ()
    unit: str | None = None
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the values by their text, the first of equal texts winning."""
        places: dict[str, int] = {}
        for code, value in enumerate(self.values):
            places.setdefault(value_text(value), code)
        object.__setattr__(self, "_places", places)

    def encode(self, column: Column) -> "NDArray[Any]":
        """Return the column's cells in this attribute's codes; -1 or NaN if missing.

        A value that the attribute does not know is treated as missing. Values
        match by their text, so that 7, 7.0 and "7" are one value.
        """
        if self.kind == "numeric":
            return self._numbers(column)
        if column.kind == "numeric":
            known = [None if np.isnan(cell) else float(cell) for cell in column.cells]
            codes, levels = factorise(known)
            column = Column(column.name, self.kind, codes, levels)
        if column.levels == self.values:
            return column.cells
        places = [self._place(level) for level in column.levels]
        return np.array([*places, -1], dtype=np.int32)[column.cells]

    def _place(self, level: Value) -> int:
        """Return the code of a level: by value and type first, by text otherwise."""
        text = value_text(level)
        if self.values and isinstance(self.values[0], bool):
            text = text.lower()  # a CSV file may say True or TRUE
        code = self._places.get(text, -1)
        if code >= 0 and type(self.values[code]) is not type(level):
            same = (
                place
                for place, value in enumerate(self.values)
                if type(value) is type(level) and value == level
            )
            return next(same, code)
        return code

    def _numbers(self, column: Column) -> "NDArray[Any]":
        if column.kind == "numeric":
            return column.cells
        try:
            numbers = [float(value_text(level)) for level in column.levels]
        except ValueError:
            first = next(level for level in column.levels if not _is_number(level))
            msg = (
                f"column {self.name!r} was numeric when the model was grown, but "
                f"holds the text {first!r} here: mend the cell or declare it missing"
            )
            raise DataError(msg) from None
        return np.array([*numbers, np.nan])[column.cells]


def _is_number(level: Value) -> bool:
    try:
        float(value_text(level))
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Target:
    """The column to predict and its classes, with their own types."""

    name: str
    classes: tuple[Value, ...]

    def encode(self, column: Column) -> "NDArray[Any]":
        """Return class codes; -1 for a class that was not there in training."""
        return Attribute(self.name, "nominal", self.classes).encode(column)


@dataclass(frozen=True, slots=True)
class Schema:
    """The attributes of a model, in column order, and its target.

    ``markers`` are the texts that stood for missing cells in the training table,
    and do so in later ones.
    """

    attributes: tuple[Attribute, ...]
    target: Target
    markers: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def n_classes(self) -> int:
        """How many classes the target has."""
        return len(self.target.classes)

    def position(self, name: str) -> int:
        """Return the place of the attribute of this name."""
        if name in self.names:
            return self.names.index(name)
        msg = f"there is no attribute {name!r}: {did_you_mean(name, self.names)}"
        raise DataError(msg)

    def encode(self, table: "Table", needed: "Integers | None" = None) -> list[Any]:
        """Return one array of cells an attribute, whatever the table's order.

        Parameters
        ----------
        table : Table
            Columns are found by name; further ones are of no concern.
        needed : array of int, optional
            The attributes that must be there; the others may be None.
        """
        present = set(table.names)
        wanted = range(len(self.attributes)) if needed is None else needed
        absent = [
            self.attributes[place].name
            for place in wanted
            if self.attributes[place].name not in present
        ]
        if absent:
            shown = ", ".join(map(repr, absent[:10]))
            more = f" and {len(absent) - 10} more" if len(absent) > 10 else ""
            msg = (
                f"the model needs the column{'s' if len(absent) > 1 else ''} "
                f"{shown}{more}, which the table does not have: "
                f"{did_you_mean(absent[0], table.names)}"
            )
            raise DataError(msg)
        places = set(map(int, wanted))
        return [
            attribute.encode(table[attribute.name]) if place in places else None
            for place, attribute in enumerate(self.attributes)
        ]
