"""The cells of y, as one array of classes or numbers; others are refused by row."""

from decimal import Decimal
from numbers import Real
from reprlib import repr as shortened
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from spinney.data import is_missing
from spinney.errors import CellError, DataError
from spinney.estimators.table_estimator import our_errors

SMALLEST, LARGEST = -(2**63), 2**63 - 1  # whole numbers that are classes


def class_cells(y: Any) -> NDArray[Any]:
    """Return y as one array of text, truths or numbers; every row has a class.

    >>> class_cells(np.array([True, False], dtype=object))
    array([ True, False])
    """
    cells = _column(y, "class")
    if cells.dtype.kind != "O":
        return cells
    for row, cell in enumerate(cells, 1):
        if type(cell) is not str:
            _check_class(cell, row)
    texts = {isinstance(cell, str) for cell in cells}
    if len(texts) > 1:
        msg = "y holds labels of several types: make them all text, or all numbers"
        raise DataError(msg)
    return cells if True in texts else np.array(cells.tolist())


def number_cells(y: Any, remedy: str) -> NDArray[Any]:
    """Return y as one array of finite numbers; every row has one.

    ``remedy`` says what to do where y is text.

    >>> number_cells([1, 2.5], "use TreeClassifier")
    array([1. , 2.5])
    """
    cells = _column(y, "number")
    if cells.dtype.kind == "O":
        for row, cell in enumerate(cells, 1):
            _check_number(cell, row, remedy)
    try:
        numbers = np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError):  # an array of text
        row = next(row for row, cell in enumerate(cells) if not _is_number(cell))
        _refuse_text(cells[row], row + 1, remedy)
    _check_finite(numbers, "number")
    return numbers


def check_length(cells: NDArray[Any], n_rows: int) -> None:
    """Refuse a y that is not as long as X."""
    if len(cells) != n_rows:
        msg = f"X has {n_rows} rows and y has {len(cells)}: they must match"
        raise DataError(msg)


def _column(y: Any, wanted: str) -> NDArray[Any]:
    """Return y as one column; ``wanted`` is what every row must have."""
    cells: NDArray[Any]
    try:
        if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuf":
            cells = y  # as scikit-learn finds, too, after a while
        else:
            with our_errors():
                cells = column_or_1d(y, warn=True)
    except DataError:
        if _is_one_column(y):  # then it is a cell that scikit-learn has no use for
            for row, cell in enumerate(y, 1):
                _check_class(cell, row)
        raise
    if cells.dtype.kind in "mM":
        msg = "y holds dates or times: make them text to take them as classes"
        raise DataError(msg)
    if cells.dtype.kind == "S" and len(cells):
        _refuse(cells[0], 1)
    if cells.dtype.kind == "f":
        _check_finite(cells, wanted)
    if cells.dtype.kind == "O":
        for row, cell in enumerate(cells, 1):
            if _is_missing(cell):
                msg = f"Input y contains NaN or None in row {row}: every row needs a "
                raise DataError(msg + wanted, remedy="leave out rows that have none")
    return cells


def _is_one_column(y: Any) -> bool:
    try:
        return np.asarray(y).ndim == 1
    except ValueError:  # sequences of several lengths
        return True


def _check_finite(cells: NDArray[Any], wanted: str) -> None:
    finite = np.isfinite(cells)
    if not finite.all():
        row = int(np.argmin(finite))
        number = "NaN" if np.isnan(cells[row]) else "infinity"
        msg = f"Input y contains {number} in row {row + 1}: every row needs a {wanted}"
        raise DataError(msg, remedy="leave out rows that have none")


def _check_class(cell: object, row: int) -> None:
    """Refuse a cell that is neither text, a truth nor a number of the machine's."""
    if isinstance(cell, int) and not SMALLEST <= cell <= LARGEST:
        msg = f"y holds {_short(cell)} in row {row}, beyond whole numbers of 64 bits"
        raise DataError(msg, remedy="make it text to take it as a class")
    if isinstance(cell, (float, np.floating)) and not np.isfinite(cell):
        msg = f"Input y contains {cell} in row {row}: every row needs a class"
        raise DataError(msg, remedy="leave out rows that have none")
    if not isinstance(cell, (str, int, float, np.bool_, np.integer, np.floating)):
        _refuse(cell, row)


def _check_number(cell: object, row: int, remedy: str) -> None:
    """Refuse a cell that is no number that a float can hold."""
    if isinstance(cell, str):
        if not _is_number(cell):
            _refuse_text(cell, row, remedy)
    elif not isinstance(cell, (Real, Decimal, np.bool_)):
        _refuse(cell, row)
    elif not _is_number(cell):
        msg = f"y holds {_short(cell)} in row {row}, which no float can hold"
        raise DataError(msg, remedy="measure y in a larger unit, or take its logarithm")


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_missing(cell: object) -> bool:
    return is_missing(cell) or (isinstance(cell, Decimal) and cell.is_nan())


def _short(cell: object) -> str:
    """Return a cell as Python writes it, in few signs."""
    try:
        return shortened(cell)
    except Exception:  # noqa: BLE001 - a number of thousands of digits, a strange class
        return "something"


def _refuse_text(cell: object, row: int, remedy: str) -> NoReturn:
    msg = f"y holds {str(cell)!r} in row {row}, which is no number: {remedy}"
    raise DataError(msg)


def _refuse(cell: object, row: int) -> NoReturn:
    """Refuse a cell that is no value."""
    unreal = isinstance(cell, (complex, np.complexfloating))
    start = "Complex data not supported: " if unreal else ""
    kind = type(cell).__name__
    msg = f"{start}y holds {_short(cell)} in row {row}, of type {kind}"
    raise CellError(msg, remedy="make it text, or a number")
