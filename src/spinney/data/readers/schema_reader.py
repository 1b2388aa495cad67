"""Reading new tables by the schema of a model."""

import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal

import numpy as np

from spinney.data.cells import LARGEST_EXACT_INTEGER, UNBOUNDED, InfiniteCellError
from spinney.data.declarations import (
    Declarations,
    NoKnownColumnError,
    parse_column_names,
)
from spinney.data.readers.batches import BatchColumn, TableBatches, table_batches
from spinney.data.readers.local_files import STANDARD_INPUT
from spinney.data.readers.read import read_table
from spinney.data.schema import Schema, missing_columns
from spinney.data.table import Table, Value
from spinney.data.text_formats import TextFormat
from spinney.errors import DataError, SpinneyNote, did_you_mean

Keep = Sequence[str] | Literal["all"]
"""Column names, one by one or separated by commas, or True for all columns."""


def read_with_schema(
    schema: Schema,
    needed: Collection[int],
    data: Any,
    *,
    optional: Collection[int] = (),
    also: Collection[str] = (),
    target: bool = True,
    may_be_empty: bool = True,
    format: str | None = None,
    encoding: str | None = None,
    text_format: TextFormat | None = None,
) -> Table:
    """Read a table that must have the needed attributes, and may have the target.

    ``optional`` attributes may be absent; ``also`` names further columns to read, if
    present. ``target`` says whether the target is read, and so checked.
    ``may_be_empty`` says whether a message may propose empty cells. The text format is
    ``text_format``, or inferred from cells, or else that of the schema.
    """
    source = data, format, encoding, TextFormat.from_setting(text_format)
    columns = _Columns(schema, needed, optional, may_be_empty, also, target, *source)
    with columns.model_errors():
        table = read_table(
            data, declarations=columns.declared, format=format, encoding=encoding
        )
    columns.check(table.names)
    return table


@dataclass(frozen=True, slots=True)
class ModelBatches:
    """Batches of a table as a model reads it, with unchanged cells of kept columns.

    Parameters
    ----------
    kept : tuple of BatchColumn
        The kept columns.
    parts : iterator of pairs
        Pairs of a Table, as the model reads it, and the cells of kept columns.
    """

    kept: tuple[BatchColumn, ...]
    parts: Iterator[tuple[Table, list[list[Any]]]]


@contextmanager
def read_batches_with_schema(
    schema: Schema,
    needed: Collection[int],
    data: Any,
    *,
    n_rows: int,
    keep: Keep = (),
    optional: Collection[int] = (),
    also: Collection[str] = (),
    may_be_empty: bool = True,
    format: str | None = None,
    encoding: str | None = None,
    text_format: TextFormat | None = None,
) -> Iterator[ModelBatches]:
    """Yield batches of a table to predict, read by :func:`read_with_schema`.

    ``keep`` names columns whose unchanged cells are returned, too.
    """
    source = data, format, encoding, TextFormat.from_setting(text_format)
    columns = _Columns(schema, needed, optional, may_be_empty, also, False, *source)
    declared = [columns.declared, *([columns.as_text(keep)] if keep else [])]
    with (
        columns.model_errors(),
        table_batches(
            data, *declared, n_rows=n_rows, format=format, encoding=encoding
        ) as (reading, *others),
    ):
        columns.check(reading.names)
        if not others:
            yield ModelBatches((), ((table, []) for table in reading.tables))
            return
        kept = columns.kept(others[0], keep)
        places = [others[0].names.index(column.name) for column in kept]
        parts = zip(reading.tables, others[0].cells, strict=True)
        yield ModelBatches(
            kept, ((table, [cells[p] for p in places]) for table, cells in parts)
        )


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns that a model needs in a table, and its errors about them.

    ``text_format`` is the declared text format of the table.
    """

    schema: Schema
    needed: Collection[int]
    optional: Collection[int]
    may_be_empty: bool
    also: Collection[str]
    target: bool
    data: Any
    format: str | None
    encoding: str | None
    text_format: TextFormat

    @property
    def declared(self) -> Declarations:
        """The declarations for reading the columns."""
        declared = reading_declarations(self.schema, self.needed, target=self.target)
        only = None if declared.only is None else (*declared.only, *self.also)
        return replace(
            declared,
            only=only,
            text_format=self.text_format,
            model_format=self.schema.text_format,
        )

    def as_text(self, keep: Keep) -> Declarations:
        """Return the declarations for reading kept columns as text.

        They include the model's columns, so that at least one column exists, and names
        agree.
        """
        known = self.declared.only or ()
        only = None if keep == "all" else (*keep, *parse_column_names(keep, ()), *known)
        return Declarations(
            nominal=tuple(dict.fromkeys(known)),
            only=only,
            text_format=self.text_format,
            as_text=True,
        )

    def kept(self, reading: TableBatches, keep: Keep) -> tuple[BatchColumn, ...]:
        """Return the columns to keep, in the order of ``keep``."""
        if keep == "all":
            return reading.columns
        by_name = {column.name: column for column in reading.columns}
        names = parse_column_names(keep, by_name)
        for name in names:
            if name not in by_name:
                remedy = did_you_mean(name, self.names() or reading.names)
                msg = f"there is no column {name!r} to keep: {remedy}"
                raise DataError(msg)
        return tuple(by_name[name] for name in names)

    def names(self) -> tuple[str, ...]:
        """Return the names of all columns, including unread ones, if known."""
        if isinstance(self.data, str) and self.data == STANDARD_INPUT:
            return ()  # it can be read only once
        written = isinstance(self.data, (str, PathLike))
        text_format = self.text_format if written else TextFormat()
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", SpinneyNote
            )  # the same error was raised before
            return read_table(
                self.data,
                declarations=Declarations(text_format=text_format),
                format=self.format,
                encoding=self.encoding,
            ).names

    @property
    def required(self) -> list[int]:
        """The attributes that must be present."""
        return [index for index in self.needed if index not in self.optional]

    @contextmanager
    def model_errors(self) -> Iterator[None]:
        """Turn errors of readers into errors about the model's columns."""
        try:
            yield
        except InfiniteCellError as error:
            where = "" if error.row is None else f" in row {error.row}"
            remedy = f"{UNBOUNDED}; fix that cell, or remove the row"
            raise DataError(*error.args, where, remedy=remedy) from None
        except NoKnownColumnError as error:
            indices = self.schema.input_columns(self.required)
            if not indices:
                raise
            lacking = [self.schema.attributes[index].name for index in indices]
            raise self._missing(lacking, error.names or self.names()) from None

    def check(self, names: Sequence[str]) -> None:
        """Refuse a table without a required column."""
        lacking = self.schema.lacking_columns(names, self.required)
        if lacking:
            raise self._missing(lacking, self.names() or names)

    def _missing(self, lacking: list[str], present: Sequence[str]) -> DataError:
        return missing_columns(lacking, present, may_be_empty=self.may_be_empty)


def reading_declarations(
    schema: Schema, needed: Collection[int], *, target: bool = True
) -> Declarations:
    """Return the declarations of a model for reading a table.

    Only the needed columns are read, and the ``target`` if requested; without any,
    every table is accepted.
    """
    attributes = [schema.attributes[index] for index in schema.input_columns(needed)]
    if not attributes:
        return Declarations(missing=schema.markers)
    target_ = schema.target
    names = [attribute.name for attribute in attributes]
    nominal = [
        attribute.name for attribute in attributes if attribute.kind != "numeric"
    ]
    numeric = [a.name for a in attributes if a.kind == "numeric" and not a.unit]
    if target and target_.name not in names:
        names.append(target_.name)
        if target_.is_numeric:
            numeric.append(target_.name)
        if not all(map(_is_exact, target_.classes)):
            nominal.append(target_.name)
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
    """Return classes as an array that preserves their types."""
    if len({type(value) for value in classes}) == 1:
        return np.array(classes)
    mixed = np.empty(len(classes), dtype=object)
    mixed[:] = classes
    return mixed


def unseen_values(
    schema: Schema, needed: Collection[int], table: Table
) -> dict[str, list[Value]]:
    """Return the values of a table that are unknown to a schema, by attribute."""
    levels: dict[str, list[Value]] = {}
    for index in schema.input_columns(needed):
        attribute = schema.attributes[index]
        if attribute.name not in table.names:
            continue
        column = table[attribute.name]
        if attribute.kind == "numeric" or column.kind == "numeric":
            continue
        column_of_levels = replace(column, cells=np.arange(len(column.levels)))
        unknown = np.flatnonzero(attribute.encode(column_of_levels) < 0)
        values = [column.levels[code] for code in unknown]
        if values:
            levels[attribute.name] = values
    return levels
