"""Mixins of estimators for classes and for numbers: reading y, and predicting."""

from decimal import Decimal
from numbers import Real
from reprlib import repr as shortened
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from spinney.data import Column, Target, is_missing
from spinney.data.readers import class_array
from spinney.errors import CellError, DataError, Setting
from spinney.estimators.table_estimator import our_errors
from spinney.trees import labels_of

CLOSE = 1 << 16  # the range of integers that are counted, not sorted
SMALLEST, LARGEST = -(2**63), 2**63 - 1  # whole numbers that are classes


class ClassTarget(ClassifierMixin):  # type: ignore[misc]
    """An estimator whose target has classes."""

    def _cells_of_target(self, y: Any) -> NDArray[Any]:
        return class_cells(y)

    def _target(
        self, cells: NDArray[Any], name: str, n_rows: int
    ) -> tuple[Target, Any]:
        check_length(cells, n_rows)
        if cells.dtype.kind not in "iub":  # whole numbers are classes
            with our_errors():
                check_classification_targets(cells)
        self.classes_, codes = _distinct(cells)
        return Target(name, tuple(self.classes_.tolist())), codes

    def _adopt_by_name(self, grown: Any) -> Self:
        self.classes_ = class_array(grown.schema.target.classes)
        adopted: Self = super()._adopt_by_name(grown)
        return adopted

    def _adopt_update(self, model: Any) -> None:
        self.classes_ = class_array(model.schema.target.classes)
        super()._adopt_update(model)

    def _target_column(self, y: Any, name: str, n_rows: int) -> Column:
        """Return the classes of a later batch as a column."""
        cells = class_cells(y)
        check_length(cells, n_rows)
        classes, codes = _distinct(cells)
        return Column(name, "nominal", codes, tuple(classes.tolist()))

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, of the leaves or the trees' vote."""
        return self.outputs(X)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the natural logarithm of the probability of each class."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """Return the class of each row."""
        costs = self.schema.target.costs
        return self.classes_[labels_of(self.predict_proba(X), costs)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy; without y, the table must hold the target column."""
        if y is not None:
            cells = class_cells(y)
            with our_errors():
                return float(super().score(X, cells, sample_weight))
        table, truth, weights = self._rows_with_target(X, sample_weight)
        if not weights.sum() > 0:
            raise DataError(
                Setting("sample_weight"), ": no row that has a class weighs more than 0"
            )
        costs = self.schema.target.costs
        right = labels_of(self.predict_proba(table), costs) == truth
        return float(np.average(right, weights=weights))


class NumberTarget(RegressorMixin):  # type: ignore[misc]
    """An estimator whose target is a number."""

    def _cells_of_target(self, y: Any) -> NDArray[Any]:
        other = type(self).__name__.replace("Regressor", "Classifier")
        return number_cells(y, f"use {other}")

    def _target(
        self, cells: NDArray[Any], name: str, n_rows: int
    ) -> tuple[Target, Any]:
        check_length(cells, n_rows)
        return Target(name, origin=0.0), cells

    def _target_column(self, y: Any, name: str, n_rows: int) -> Column:
        """Return the numbers of a later batch as a column."""
        cells = self._cells_of_target(y)
        check_length(cells, n_rows)
        return Column(name, "numeric", np.asarray(cells, dtype=np.float64))

    # Predicting

    def predict(self, X: Any) -> Any:
        """Return the number of each row."""
        return self.outputs(X)[:, 0]

    @property
    def predict_proba(self) -> Any:
        """Raise AttributeError: numbers have no classes."""
        msg = "a regression model has no class probabilities: use predict"
        raise AttributeError(msg)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R²; without y, the table must hold the target column."""
        if y is not None:
            cells = self._cells_of_target(y)
            with our_errors():
                return float(super().score(X, cells, sample_weight))
        from sklearn.metrics import r2_score

        table, truth, weights = self._rows_with_target(X, sample_weight)
        return float(r2_score(truth, self.predict(table), sample_weight=weights))


def _distinct(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct labels, sorted, and the code of each label.

    Integers in a small range are counted, which is faster than sorting.

    >>> _distinct(np.array([7, 5, 7]))
    (array([5, 7]), array([1, 0, 1]))
    """
    if labels.dtype.kind == "i" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < CLOSE:
            offsets = labels.astype(np.int64) - low
            present = np.flatnonzero(np.bincount(offsets))
            code_of = np.zeros(high - low + 1, np.int64)
            code_of[present] = np.arange(len(present))
            return (present + low).astype(labels.dtype), code_of[offsets]
    distinct, codes = np.unique(labels, return_inverse=True)
    return distinct, codes


def class_cells(y: Any) -> NDArray[Any]:
    """Return y as an array of text, booleans or numbers; every row has a class.

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
    """Return y as an array of finite numbers; ``remedy`` is for y with text.

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


def _column(y: Any, noun: str) -> NDArray[Any]:
    """Return y as one column; every row must have the ``noun``, class or number."""
    cells: NDArray[Any]
    try:
        if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuf":
            cells = y  # a fast path for the usual case
        else:
            with our_errors():
                cells = column_or_1d(y, warn=True)
    except DataError:
        if _is_one_column(y):  # then a cell is to blame
            for row, cell in enumerate(y, 1):
                _check_class(cell, row)
        raise
    if cells.dtype.kind in "mM":
        msg = "y holds dates or times: make them text to take them as classes"
        raise DataError(msg)
    if cells.dtype.kind == "S" and len(cells):
        _refuse(cells[0], 1)
    if cells.dtype.kind == "f":
        _check_finite(cells, noun)
    if cells.dtype.kind == "O":
        for row, cell in enumerate(cells, 1):
            if _is_missing(cell):
                msg = f"Input y contains NaN or None in row {row}: every row needs a "
                raise DataError(msg + noun, remedy="leave out rows that have none")
    return cells


def _is_one_column(y: Any) -> bool:
    try:
        return np.asarray(y).ndim == 1
    except ValueError:  # sequences of several lengths
        return True


def _check_finite(cells: NDArray[Any], noun: str) -> None:
    finite = np.isfinite(cells)
    if not finite.all():
        row = int(np.argmin(finite))
        number = "NaN" if np.isnan(cells[row]) else "infinity"
        msg = f"Input y contains {number} in row {row + 1}: every row needs a {noun}"
        raise DataError(msg, remedy="leave out rows that have none")


def _check_class(cell: object, row: int) -> None:
    """Refuse a cell that is neither text, a boolean nor a machine number."""
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
    """Return a shortened ``repr`` of a cell."""
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
