"""Data frames of any library that narwhals knows, and Arrow streams."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import NarwhalsError
from numpy.typing import NDArray

from spinney.data.cells import (
    LARGEST_EXACT_INTEGER,
    coded_column,
    column_from_values,
    numeric_column,
    plain_values,
    table_of,
)
from spinney.data.declarations import Declarations, check_names
from spinney.data.declared_values import with_type_values
from spinney.data.duckdb.columns import load, plan, translated_errors
from spinney.data.table import Column, Table
from spinney.data.times import DAY_UNIT, INSTANT_UNIT
from spinney.errors import DataError, missing_extra

EXTRAS = {"pyarrow": "arrow"}
"""Extras that are not called what they install."""


def read_frame(data: Any, *, declarations: Declarations) -> Table:
    """Return the table in a data frame; a lazy one is collected."""
    names = _names(data)
    check_names(names, declarations)
    try:
        natives, n_rows = _natives(data)
        columns = dict(zip(names, natives, strict=True))
        table = table_of(columns, n_rows, declarations, column=_column)
        return _with_categories(table, columns, declarations)
    except NarwhalsError as error:
        reason = " ".join(str(error).split())
        msg = f"the data frame cannot be read ({reason}): pass pandas, Polars or Arrow"
        raise DataError(msg) from None
    except ModuleNotFoundError as error:
        library = str(error.name)
        extra = EXTRAS.get(library, library)
        raise missing_extra(
            what="this data frame needs", library=library, extra=extra
        ) from None


def _names(data: Any) -> list[str]:
    """Return the names of a frame's columns as text, before narwhals looks at it."""
    if hasattr(data, "column_names"):
        return [str(name) for name in data.column_names]
    if hasattr(data, "collect_schema"):
        return [str(name) for name in data.collect_schema().names()]
    return [str(name) for name in data.columns]


def _natives(data: Any) -> tuple[Iterator[Any], int]:
    """Return the columns of a frame as its library has them, and how many rows.

    What narwhals makes of a frame of pandas takes longer than to read a small one.
    """
    if nw.dependencies.is_pandas_dataframe(data):
        return (column for _, column in data.items()), len(data)
    frame = nw.from_native(data)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return (series.to_native() for series in frame.iter_columns()), len(frame)


def _column(name: str, native: Any, declarations: Declarations) -> Column:
    """Return one column, by way of arrays where its type allows."""
    kind, missing = declarations.kind(name), declarations.missing
    if kind in (None, "numeric") and (numbers := _numpy_numbers(native)) is not None:
        return numeric_column(name, numbers, missing=missing)
    if kind is None and (coded := _category_codes(native)) is not None:
        return _categorical_column(name, *coded, missing)
    series = nw.from_native(native, series_only=True)
    dtype = series.dtype
    if kind in (None, "numeric"):
        if dtype.is_numeric() and not _exceeds_floats(series):
            return numeric_column(name, _numbers(series), missing=missing)
        if dtype in (nw.Date, nw.Datetime):
            ticks, unit = (864e8, DAY_UNIT) if dtype == nw.Date else (1e6, INSTANT_UNIT)
            whole = series.dt.timestamp("us")
            if not _exceeds_floats(whole):  # in the year 9999, say
                numbers = _numbers(whole) / ticks
                return numeric_column(name, numbers, missing=missing, unit=unit)
    cells = series.to_list()
    if kind is None and dtype in (nw.String, nw.Boolean):
        plain, _ = plain_values(name, cells)
        return coded_column(name, plain, missing=missing)
    if kind is None and (categories := _category_order(native)):
        plain, _ = plain_values(name, cells)
        levels, families = plain_values(name, categories)
        if families <= {"text", "number", "boolean"}:
            present = [level for level in levels if level is not None]
            return coded_column(name, plain, missing=missing, levels=present)
    if kind is None and dtype in (nw.Categorical, nw.Enum):
        nominal = (*declarations.nominal, name)
        declarations = replace(declarations, nominal=nominal)
    return column_from_values(name, cells, declarations)


def _numpy_numbers(native: Any) -> NDArray[np.float64] | None:
    """Return the numbers of a column that is an array of NumPy, if they are exact.

    So it is in pandas, where narwhals takes longer than the numbers of a small table.
    """
    dtype = getattr(native, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype not in (np.float64, np.int64):
        return None
    numbers = np.asarray(native)
    whole = numbers if dtype == np.int64 else numbers[:0]
    largest = max(-int(whole.min(initial=0)), int(whole.max(initial=0)))
    exact = largest <= LARGEST_EXACT_INTEGER
    return numbers.astype(np.float64, copy=False) if exact else None


def _category_codes(
    native: Any,
) -> tuple[NDArray[np.int64], list[str], list[str] | None] | None:
    """Return codes and texts of a categorical of pandas, and its levels if in order."""
    # Codes of ``native.cat`` would be a series, which takes long to make.
    codes = getattr(getattr(native, "array", None), "codes", None)
    if codes is None:
        return None
    categories = list(native.dtype.categories)
    if set(map(type, categories)) != {str}:
        return None
    levels = [c for c in categories if c != ""] if native.dtype.ordered else None
    return np.asarray(codes, np.int64), categories, levels


def _categorical_column(
    name: str,
    codes: NDArray[np.int64],
    categories: list[str],
    levels: list[str] | None,
    missing: Iterable[str],
) -> Column:
    """Return the column of a categorical: its texts are read once each, not by row."""
    is_used = np.bincount(codes + 1, minlength=len(categories) + 1)[1:] > 0
    present = np.flatnonzero(is_used)
    texts, _ = plain_values(name, [categories[code] for code in present])
    column = coded_column(name, texts, missing=missing, levels=levels)
    code_of = np.full(len(categories) + 1, -1, np.int32)  # the last is of missing cells
    code_of[present] = column.cells
    return replace(column, cells=code_of[codes])


def _with_categories(
    table: Table, columns: dict[str, Any], declarations: Declarations
) -> Table:
    """Return a table whose nominal columns have the categories of their types."""
    named: dict[str, list[Any]] = {}
    for column in table.columns:
        if column.kind == "nominal":
            values, families = plain_values(
                column.name, _categories(columns[column.name])
            )
            if families <= {"text", "number", "boolean"}:
                named[column.name] = [value for value in values if value is not None]
    return with_type_values(table, named, declarations)


def _exceeds_floats(series: "nw.Series[Any]") -> bool:
    """Tell whether there are integers that Arrow refuses to make float64."""
    if not series.dtype.is_integer() or not series.count():
        return False
    largest = max(abs(int(series.min())), abs(int(series.max())))
    return largest > LARGEST_EXACT_INTEGER


def _numbers(series: "nw.Series[Any]") -> NDArray[np.float64]:
    """Return numbers as float64, NaN where missing."""
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _category_order(native: Any) -> list[Any]:
    """Return the categories of an ordered categorical of pandas or Arrow."""
    kind = getattr(native, "type", None) or getattr(native, "dtype", None)
    return _categories(native) if getattr(kind, "ordered", False) else []


def _categories(native: Any) -> list[Any]:
    """Return the categories that the type of a column declares, none if it does not.

    Categoricals of Polars do not: they have those of other columns, too.
    """
    if hasattr(getattr(native, "type", None), "index_type"):  # Arrow's dictionaries
        return list(native.combine_chunks().dictionary.to_pylist())
    polars = nw.dependencies.is_polars_series(native)
    if polars and nw.from_native(native, series_only=True).dtype == nw.Categorical:
        return []
    return list(getattr(getattr(native, "dtype", None), "categories", ()))


def is_frame(data: Any) -> bool:
    """Tell whether narwhals knows this as a data frame, eager or lazy."""
    if nw.dependencies.is_pandas_dataframe(data):
        return True
    try:
        return nw.from_native(data, pass_through=True) is not data
    except NarwhalsError:
        return True


def is_series(data: Any) -> bool:
    """Tell whether this is one column of a library that narwhals knows."""
    return bool(nw.dependencies.is_into_series(data))


def read_stream(data: Any, *, declarations: Declarations) -> Table:
    """Return the table in an object with an Arrow stream, which is read once."""
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        with translated_errors(f"the Arrow stream of a {type(data).__name__}"):
            connection.from_arrow(data).create("stream")
        relation = connection.table("stream")
        return load(relation, plan(relation, declarations))
    finally:
        connection.close()
