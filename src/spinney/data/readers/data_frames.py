"""Reading data frames of any library that narwhals supports, and Arrow streams."""

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
"""Package extras whose names differ from the packages that they install."""


def read_frame(data: Any, *, declarations: Declarations) -> Table:
    """Return the table in a data frame; a lazy frame is collected."""
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
    """Return the column names of a frame as text, without narwhals."""
    if hasattr(data, "column_names"):
        return [str(name) for name in data.column_names]
    if hasattr(data, "collect_schema"):
        return [str(name) for name in data.collect_schema().names()]
    return [str(name) for name in data.columns]


def _natives(data: Any) -> tuple[Iterator[Any], int]:
    """Return the native columns of a frame, and the number of rows.

    Wrapping a small pandas frame by narwhals takes longer than reading it.
    """
    if nw.dependencies.is_pandas_dataframe(data):
        return (column for _, column in data.items()), len(data)
    frame = nw.from_native(data)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return (series.to_native() for series in frame.iter_columns()), len(frame)


def _column(name: str, native: Any, declarations: Declarations) -> Column:
    """Return one column, read through arrays if its type permits."""
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
            if not _exceeds_floats(whole):  # such as the year 9999
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
    """Return the numbers of a NumPy-backed column, if they are exact; else None.

    For a small pandas frame, this is faster than narwhals.
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
    """Return codes, texts and (if ordered) levels of a pandas categorical."""
    # ``native.cat.codes`` would create a series, which is slow.
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
    """Return the column of a categorical, converting each category once."""
    is_used = np.bincount(codes + 1, minlength=len(categories) + 1)[1:] > 0
    present = np.flatnonzero(is_used)
    texts, _ = plain_values(name, [categories[code] for code in present])
    column = coded_column(name, texts, missing=missing, levels=levels)
    code_of = np.full(
        len(categories) + 1, -1, np.int32
    )  # the last one is for missing cells
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
    """Return whether there are integers that Arrow refuses to convert to float64."""
    if not series.dtype.is_integer() or not series.count():
        return False
    largest = max(abs(int(series.min())), abs(int(series.max())))
    return largest > LARGEST_EXACT_INTEGER


def _numbers(series: "nw.Series[Any]") -> NDArray[np.float64]:
    """Return numbers as float64, NaN if missing."""
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _category_order(native: Any) -> list[Any]:
    """Return the categories of an ordered pandas or Arrow categorical."""
    kind = getattr(native, "type", None) or getattr(native, "dtype", None)
    return _categories(native) if getattr(kind, "ordered", False) else []


def _categories(native: Any) -> list[Any]:
    """Return the categories that the type of a column declares, [] if none.

    Polars categoricals declare none: they share categories with other columns.
    """
    if hasattr(getattr(native, "type", None), "index_type"):  # Arrow dictionaries
        return list(native.combine_chunks().dictionary.to_pylist())
    polars = nw.dependencies.is_polars_series(native)
    if polars and nw.from_native(native, series_only=True).dtype == nw.Categorical:
        return []
    return list(getattr(getattr(native, "dtype", None), "categories", ()))


def is_frame(data: Any) -> bool:
    """Return whether narwhals recognises an eager or lazy data frame."""
    if nw.dependencies.is_pandas_dataframe(data):
        return True
    try:
        return nw.from_native(data, pass_through=True) is not data
    except NarwhalsError:
        return True


def is_series(data: Any) -> bool:
    """Return whether narwhals recognises a single column."""
    return bool(nw.dependencies.is_into_series(data))


def read_stream(data: Any, *, declarations: Declarations) -> Table:
    """Return the table in an Arrow stream, which is read once."""
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        with translated_errors(f"the Arrow stream of a {type(data).__name__}"):
            connection.from_arrow(data).create("stream")
        relation = connection.table("stream")
        return load(relation, plan(relation, declarations))
    finally:
        connection.close()
