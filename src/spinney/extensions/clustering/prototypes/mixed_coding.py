"""Tables as rows of numbers and codes, and prototypes as values again."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Integers
from spinney.data import Attribute, Schema, Table
from spinney.errors import DataError, ParameterError, Setting
from spinney.extensions.clustering.prototypes.mixed_distances import (
    MixedCells,
    Prototypes,
)


def coded_levels(schema: Schema) -> tuple[list[Attribute], Integers]:
    """Return the coded attributes, and the index of the first level of each, and last.

    That is ``MixedCells.first``.
    """
    coded = [a for a in schema.attributes if a.kind != "numeric"]
    sizes = [len(attribute.values) for attribute in coded]
    return coded, np.append(0, np.cumsum(sizes)).astype(np.int64)


def mixed_cells(schema: Schema, table: Table) -> MixedCells:
    """Return the rows of a table as numbers and codes."""
    numeric = [a for a in schema.attributes if a.kind == "numeric"]
    coded, first = coded_levels(schema)
    numbers = np.empty((table.n_rows, len(numeric)))
    for index, attribute in enumerate(numeric):
        numbers[:, index] = attribute.encode(table[attribute.name])
    codes = np.empty((table.n_rows, len(coded)), np.int32)
    for index, attribute in enumerate(coded):
        column = table[attribute.name]
        coded_cells = attribute.encode(column)
        absent = np.where(column.missing, first[-1], first[-1] + 1)
        codes[:, index] = np.where(coded_cells >= 0, coded_cells + first[index], absent)
    ordinal = np.array([a.kind == "ordinal" for a in coded], dtype=bool)
    return MixedCells(numbers, codes, first, ordinal)


def values_of(schema: Schema, prototypes: Prototypes) -> NDArray[Any]:
    """Return prototypes as a table of values, in the order of the columns.

    It is one of floats where all columns are numeric, else of objects; what is not
    known is NaN or None.
    """
    kinds = {attribute.kind for attribute in schema.attributes}
    if kinds == {"numeric"}:
        return prototypes.numbers.copy()
    shape = (len(prototypes.codes), len(schema.attributes))
    values = np.empty(shape, dtype=object)
    numbers, codes = list(prototypes.numbers.T), list(prototypes.codes.T)
    first = 0
    for index, attribute in enumerate(schema.attributes):
        if attribute.kind == "numeric":
            values[:, index] = [float(number) for number in numbers.pop(0)]
        else:
            values[:, index] = _levels(attribute, codes.pop(0) - first)
            first += len(attribute.values)
    return values


def _levels(attribute: Attribute, codes: Any) -> list[Any]:
    known = attribute.values
    return [known[code] if code < len(known) else None for code in codes]


def prototypes_of(schema: Schema, table: Table, n_clusters: int) -> Prototypes:
    """Return prototypes that the user gave as a table."""
    if table.n_rows != n_clusters:
        raise ParameterError(
            Setting("init"),
            f" has {table.n_rows} prototypes and ",
            Setting("n_clusters", int(n_clusters)),
        )
    cells = mixed_cells(schema, table)
    if (cells.codes == cells.unseen).any():
        coded, _ = coded_levels(schema)
        row, index = np.argwhere(cells.codes == cells.unseen)[0]
        name = coded[index].name
        raise DataError(
            Setting("init"),
            f" has {table[name].value(int(row))!r} in column {name!r}, a value that "
            "no row has",
            remedy="give one of theirs, or None",
        )
    return cells.as_prototypes()
