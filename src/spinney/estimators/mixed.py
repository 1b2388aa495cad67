"""Tables as rows of numbers and codes, and prototypes as values again."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.cluster.mixed import MixedCells, Prototypes
from spinney.errors import DataError, ParameterError
from spinney.estimators.tables import has_names_only
from spinney.reading import read_by
from spinney.schema import Attribute, Schema, Target
from spinney.table import Table
from spinney.training import attribute_of

__all__ = ["given_prototypes", "mixed_cells", "mixed_schema", "read_mixed", "values_of"]


def mixed_schema(table: Table) -> Schema:
    """Return what the columns of a table mean; there is no target."""
    attributes = tuple(attribute_of(column) for column in table.columns)
    return Schema(attributes, Target("cluster"))


def read_mixed(schema: Schema, X: Any) -> Table:
    """Read a later table whose columns are found by their names."""
    return read_by(schema, range(len(schema.attributes)), X)


def mixed_cells(schema: Schema, table: Table) -> MixedCells:
    """Return the rows of a table as numbers and codes."""
    numeric = [a for a in schema.attributes if a.kind == "numeric"]
    coded = [a for a in schema.attributes if a.kind != "numeric"]
    first = np.append(0, np.cumsum([len(a.values) for a in coded])).astype(np.int64)
    numbers = np.empty((table.n_rows, len(numeric)))
    for place, attribute in enumerate(numeric):
        numbers[:, place] = attribute.encode(table[attribute.name])
    codes = np.empty((table.n_rows, len(coded)), np.int32)
    for place, attribute in enumerate(coded):
        column = table[attribute.name]
        found = attribute.encode(column)
        absent = np.where(column.missing, first[-1], first[-1] + 1)
        codes[:, place] = np.where(found >= 0, found + first[place], absent)
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
    for place, attribute in enumerate(schema.attributes):
        if attribute.kind == "numeric":
            values[:, place] = [float(number) for number in numbers.pop(0)]
        else:
            values[:, place] = _levels(attribute, codes.pop(0) - first)
            first += len(attribute.values)
    return values


def _levels(attribute: Attribute, codes: Any) -> list[Any]:
    known = attribute.values
    return [known[code] if code < len(known) else None for code in codes]


def given_prototypes(schema: Schema, given: Any, n_clusters: int) -> Prototypes:
    """Return prototypes that the user gave as a table or an array of values."""
    table = _given_table(schema, given)
    if table.n_rows != n_clusters:
        msg = f"init has {table.n_rows} prototypes and n_clusters={n_clusters}"
        raise ParameterError(msg)
    cells = mixed_cells(schema, table)
    if (cells.codes == cells.unseen).any():
        coded = [a for a in schema.attributes if a.kind != "numeric"]
        row, place = np.argwhere(cells.codes == cells.unseen)[0]
        name = coded[place].name
        msg = (
            f"init has {table[name].value(int(row))!r} in column {name!r}, a value "
            "that no row has: give one of theirs, or None"
        )
        raise DataError(msg)
    return cells.as_prototypes()


def _given_table(schema: Schema, given: Any) -> Table:
    if has_names_only(given) or hasattr(given, "columns"):
        return read_mixed(schema, given)
    try:
        array = np.array(given, dtype=object)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.ndim != 2 or array.shape[1] != len(schema.attributes):
        msg = (
            f"init has the shape {array.shape} and must be 'huang', 'cao' or a table "
            f"of prototypes, {len(schema.attributes)} columns each"
        )
        raise ParameterError(msg)
    columns = dict(zip(schema.names, array.T, strict=True))
    return read_mixed(schema, {name: list(cells) for name, cells in columns.items()})
