"""Later tables, read as a model understands them: kinds, names, missing cells."""

import warnings
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from spinney.data.cells import LARGEST_EXACT_INTEGER, UNBOUNDED, InfiniteCellError
from spinney.data.declarations import Declarations, NoKnownColumnError
from spinney.data.notation import Notation
from spinney.data.readers.local_files import STANDARD_INPUT
from spinney.data.readers.read import read_table
from spinney.data.schema import Schema, missing_columns
from spinney.data.table import Table, Value
from spinney.errors import DataError, SpinneyNote


def read_by(
    schema: Schema,
    needed: Collection[int],
    data: Any,
    *,
    optional: Collection[int] = (),
    also: Collection[str] = (),
    may_be_empty: bool = True,
    format: str | None = None,
    encoding: str | None = None,
    notation: Notation | None = None,
) -> Table:
    """Read a table that must have the needed attributes, and may have the target.

    The ``optional`` ones of them may lack; ``also`` names further columns to be read,
    if they are there; ``may_be_empty`` says whether empty cells are of use. The table
    is written as that of the schema, or as ``notation`` says.
    """
    declared = reading_declarations(schema, needed)
    declared = replace(declared, notation=Notation.of(notation).over(schema.notation))
    if declared.only is not None:
        declared = replace(declared, only=(*declared.only, *also))
    required = [index for index in needed if index not in optional]
    try:
        table = read_table(
            data, declarations=declared, format=format, encoding=encoding
        )
    except InfiniteCellError as error:
        # The model says what is missing, and which columns there are.
        remedy = f"{UNBOUNDED}; mend that cell, or leave the row out"
        raise DataError(*error.args, remedy=remedy) from None
    except NoKnownColumnError as error:
        lacking = schema.behind(required)
        if not lacking:
            raise
        absent = [schema.attributes[index].name for index in lacking]
        present = error.names or _all_names(data, format, encoding)
        raise missing_columns(absent, present, may_be_empty=may_be_empty) from None
    absent = schema.absent(table, required)
    if absent:
        present = _all_names(data, format, encoding) or table.names
        raise missing_columns(absent, present, may_be_empty=may_be_empty)
    return table


def _all_names(data: Any, format: str | None, encoding: str | None) -> tuple[str, ...]:
    """Return the names of all columns of a table that was read in part, if known."""
    if isinstance(data, str) and data == STANDARD_INPUT:
        return ()  # it can be read once only
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpinneyNote)  # as was said before
        return read_table(data, format=format, encoding=encoding).names


def reading_declarations(schema: Schema, needed: Collection[int]) -> Declarations:
    """Return what a model declares of the tables that it is to read.

    Only the columns that the tree asks about matter, and the target; where it asks
    about none, any table will do.
    """
    asked = [schema.attributes[index] for index in schema.behind(needed)]
    if not asked:
        return Declarations(missing=schema.markers)
    target = schema.target
    names = [attribute.name for attribute in asked]
    nominal = [attribute.name for attribute in asked if attribute.kind != "numeric"]
    numeric = [a.name for a in asked if a.kind == "numeric" and not a.unit]
    if target.name not in names:
        names.append(target.name)
        if target.is_numeric:
            numeric.append(target.name)
        if not all(map(_is_exact, target.classes)):
            nominal.append(target.name)
    return Declarations(
        nominal=tuple(nominal),
        numeric=tuple(numeric),
        missing=schema.markers,
        only=tuple(names),
    )


def _is_exact(label: Value) -> bool:
    """Return whether a label is a number that float64 holds exactly."""
    return not isinstance(label, str) and abs(label) <= LARGEST_EXACT_INTEGER


def class_array(classes: tuple[Value, ...]) -> Any:
    """Return classes as an array that keeps their types."""
    if len({type(value) for value in classes}) == 1:
        return np.array(classes)
    mixed = np.empty(len(classes), dtype=object)
    mixed[:] = classes
    return mixed


def unseen_values(
    schema: Schema, asked: Collection[int], table: Table
) -> dict[str, list[Value]]:
    """Return the values of a table that a schema has not seen, by attribute asked."""
    levels: dict[str, list[Value]] = {}
    for index in schema.behind(asked):
        attribute = schema.attributes[index]
        if attribute.name not in table.names:
            continue
        column = table[attribute.name]
        if attribute.kind == "numeric" or column.kind == "numeric":
            continue
        each = replace(column, cells=np.arange(len(column.levels)))
        unknown = np.flatnonzero(attribute.encode(each) < 0)
        values = [column.levels[code] for code in unknown]
        if values:
            levels[attribute.name] = values
    return levels
