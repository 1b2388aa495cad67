"""Reading NumPy arrays and dictionaries of columns."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.threads import in_threads
from spinney.data.cells import (
    LARGEST_EXACT_INTEGER,
    column_from_values,
    numeric_column,
    table_of,
    warn_of_large_integers,
)
from spinney.data.declarations import Declarations, check_names
from spinney.data.table import Column, Table
from spinney.data.times import DAY_UNIT, INSTANT_UNIT
from spinney.errors import DataError


def read_array(data: NDArray[Any], *, declarations: Declarations) -> Table:
    """Return the table in a two-dimensional array, with columns x0, x1 and so on."""
    if data.dtype.names is not None:
        msg = (
            "a structured array is not a table: pass a dict of its fields, "
            "{name: array[name] for name in array.dtype.names}"
        )
        raise DataError(msg)
    if data.ndim != 2:
        msg = (
            f"a {data.ndim}-dimensional array is not a table: reshape it to two, "
            "array.reshape(-1, 1) for one column"
        )
        raise DataError(msg)
    columns = {f"x{number}": data[:, number] for number in range(data.shape[1])}
    if declarations == Declarations() and _is_plain(data):
        views = (Column(name, "numeric", cells) for name, cells in columns.items())
        return Table(tuple(views), len(data))
    return read_columns(columns, declarations=declarations)


def _is_plain(data: NDArray[Any]) -> bool:
    """Return whether floats can be used without a copy: finite or NaN, no -0.0."""
    if type(data) is not np.ndarray or data.dtype not in (np.float32, np.float64):
        return False
    if not data.shape[1]:
        return False
    bits = data.view(np.uint32 if data.dtype == np.float32 else np.uint64)
    negative_zero = bits.dtype.type(1 << (8 * bits.itemsize - 1))

    def needs_copy(start: int, stop: int) -> bool:
        infinite = np.isinf(data[start:stop]).any()
        return bool(infinite or np.any(bits[start:stop] == negative_zero))

    return not any(in_threads(needs_copy, len(data)))


def read_columns(data: Mapping[Any, Any], *, declarations: Declarations) -> Table:
    """Return the table of a dictionary of columns, by name."""
    check_names([str(name) for name in data], declarations)
    columns = {str(name): cells for name, cells in data.items()}
    lengths = {name: _length(name, cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} {length}" for name, length in lengths.items())
        msg = f"the columns differ in length ({shown}): make them equally long"
        raise DataError(msg)
    n_rows = next(iter(lengths.values()))
    return table_of(columns, n_rows, declarations, column=array_column)


def _length(name: str, cells: Any) -> int:
    single = getattr(cells, "ndim", 1) == 0  # a zero-dimensional array has no length
    if single or isinstance(cells, (str, bytes)) or not hasattr(cells, "__len__"):
        msg = f"column {name!r} is of type {type(cells).__name__}"
        remedy = (
            "give it as a list, even for one row; model.predictor() takes a row as "
        )
        raise DataError(msg, remedy=remedy + "a dict of values")
    return len(cells)


def array_column(name: str, cells: Any, declarations: Declarations) -> Column:
    """Return one column of an array or any other sequence."""
    if not isinstance(cells, np.ndarray):
        plain = cells.tolist() if hasattr(cells, "tolist") else list(cells)
        return column_from_values(name, plain, declarations)
    if cells.ndim != 1:
        msg = f"column {name!r} is a {cells.ndim}-dimensional array: flatten it"
        raise DataError(msg)
    free = declarations.kind(name) in (None, "numeric")
    if (
        isinstance(cells, np.ma.MaskedArray)
        or not free
        or cells.dtype.kind not in "iufM"
    ):
        return column_from_values(name, cells.tolist(), declarations)
    if cells.dtype.kind == "M":
        return _times(name, cells, declarations)
    if cells.dtype.kind in "iu" and len(cells):
        largest = max(abs(int(cells.min())), int(cells.max()))
        if largest > LARGEST_EXACT_INTEGER:
            warn_of_large_integers(name)
    return numeric_column(name, cells, missing=declarations.missing)


def _times(name: str, cells: NDArray[Any], declarations: Declarations) -> Column:
    """Return the column of a datetime64 array, in days or seconds."""
    days = np.datetime_data(cells.dtype)[0] in ("Y", "M", "W", "D")
    unit, ticks = (DAY_UNIT, 1.0) if days else (INSTANT_UNIT, 1e6)
    whole = cells.astype("datetime64[D]" if days else "datetime64[us]")
    numbers = whole.astype(np.int64) / ticks
    numbers[np.isnat(cells)] = np.nan
    return numeric_column(name, numbers, missing=declarations.missing, unit=unit)
