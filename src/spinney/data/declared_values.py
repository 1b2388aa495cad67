"""Declared values: all categories that a nominal column may hold.

A user declares them, and every cell must be one of them; or the type of the column
does: a categorical of a data frame, an enum of DuckDB, the header of an ARFF file.
Unused values stay, so that a tree can predict them. But if a type declares very many,
these are dropped as remains of a larger table.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from spinney._support.text import first_of
from spinney.data.cells import is_marker, marker_values, matched_code, typed_levels
from spinney.data.declarations import Declarations
from spinney.data.table import Column, Table, Value, level_order
from spinney.errors import DataError, Setting, Text, phrase

# A tree is readable with this many unused values.
MAX_UNUSED_VALUES = 20


def with_declared_values(table: Table, declarations: Declarations) -> Table:
    """Return a table whose columns have the values declared by the user.

    >>> from spinney.data.table import factorise
    >>> column = Column("sky", "nominal", *factorise(["sunny", "rainy"]))
    >>> declared = Declarations(values={"sky": ("sunny", "rainy", "cloudy")})
    >>> with_declared_values(Table((column,), 2), declared)["sky"].levels
    ('cloudy', 'rainy', 'sunny')
    """
    if not declarations.values:
        return table
    return replace(
        table,
        columns=tuple(
            with_values(column, declarations.values[column.name], declarations.missing)
            if column.name in declarations.values
            else column
            for column in table.columns
        ),
    )


def with_values(
    column: Column, values: Sequence[Value], markers: Collection[str] = ()
) -> Column:
    """Return a column that permits only these values; refuse other cells.

    Missing-value markers are not values.
    """
    if column.kind != "nominal":
        msg = (
            f"values are declared for column {column.name!r}, which is "
            f"{column.kind}: declare them where the table is read"
        )
        raise DataError(msg)
    levels = merged_values(column.levels, values, markers)
    code_of = {level_order(level): code for code, level in enumerate(levels)}
    codes = np.full(len(column.levels) + 1, -1, dtype=np.int32)
    present = np.bincount(column.cells + 1, minlength=len(codes))[1:]
    for code, level in enumerate(column.levels):
        new = matched_code(level, code_of)
        if new is None and present[code]:
            raise unknown_value_error(column.name, level, levels)
        codes[code] = -1 if new is None else new
    return replace(column, cells=codes[column.cells], levels=levels, declared=True)


def merged_values(
    present: Sequence[Value], values: Sequence[Value], markers: Collection[str] = ()
) -> tuple[Value, ...]:
    """Return declared values in order, converted to the type of the cells."""
    markers_typed = marker_values(markers)
    typed = typed_levels(values, present)
    levels = {
        level_order(v): v for v in typed if v != "" and not is_marker(v, markers_typed)
    }
    return tuple(levels[key] for key in sorted(levels))


def unknown_value_error(name: str, value: Value, values: Iterable[Value]) -> DataError:
    """Return the error for a cell that is not a declared value."""
    listed = first_of([*map(str, values)], 10)
    return DataError(
        f"column {name!r} holds {value!r}, which is none of its values {listed}",
        remedy=phrase(
            "add it to the values or declare it missing ({})",
            Setting("missing_values", [str(value)]),
        ),
    )


def with_type_values(
    table: Table,
    named: Mapping[str, Sequence[Value]],
    declarations: Declarations | None = None,
) -> Table:
    """Return a table whose nominal columns have the values of their types.

    Declarations of the user take precedence. Unused values are dropped with a note if
    there are very many.
    """
    declarations = declarations or Declarations()
    columns, notes = [], list(table.notes)
    for column in table.columns:
        values = named.get(column.name)
        from_type = declarations.uses_type_values
        from_type &= column.name not in declarations.values
        if values and column.kind == "nominal" and from_type:
            known = set(column.levels)
            declared = replace(column, declared=True)
            if set(map(type, known)) != {str} or not known.issuperset(values):
                values = (*column.levels, *values)
                declared = with_values(column, values, declarations.missing)
            n_without = len(declared.without_rows)
            if n_without <= MAX_UNUSED_VALUES:
                column = declared
            else:
                notes.append(unused_values_note(column.name, n_without))
        columns.append(column)
    return replace(table, columns=tuple(columns), notes=tuple(notes))


def unused_values_note(name: str, n_values: int) -> Text:
    """Return the note that unused values of a type were dropped."""
    return (
        f"column {name!r}: {n_values} values of its type occur in no row and were "
        "dropped; to keep them, declare them (",
        Setting("values", ...),
        ")",
    )
