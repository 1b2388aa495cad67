"""What y is: classes, or numbers; and how a model of them predicts."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from spinney.data import Target, is_missing
from spinney.data.readers import class_array
from spinney.errors import DataError, Setting
from spinney.trees import labels_of

CLOSE = 1 << 16  # whole numbers that are counted, not sorted


class ClassTarget(ClassifierMixin):  # type: ignore[misc]
    """An estimator whose target has classes."""

    def _target(self, y: Any, name: str, n_rows: int) -> tuple[Target, Any]:
        classes, codes = self._validated_classes(y, n_rows)
        return Target(name, classes), codes

    def _adopt_by_name(self, model: Any) -> Self:
        super()._adopt_by_name(model)
        self.classes_ = class_array(model.schema.target.classes)
        return self

    def _validated_classes(self, y: Any, n_rows: int) -> tuple[tuple[Any, ...], Any]:
        """Return the classes of y and each row's."""
        labels = _column(y, n_rows, "class")
        if labels.dtype.kind in "mM":
            msg = "y holds dates or times: make them text to take them as classes"
            raise DataError(msg)
        if labels.dtype.kind not in "iub":  # whole numbers are classes
            check_classification_targets(labels)
        try:
            self.classes_, codes = _distinct(labels)
        except TypeError:
            msg = "y holds labels of several types: make them all text, or all numbers"
            raise DataError(msg) from None
        return tuple(self.classes_.tolist()), codes

    def predict(self, X: Any) -> Any:
        """Return the class of each row."""
        costs = self._grown().schema.target.costs
        return self.classes_[labels_of(self.predict_proba(X), costs)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy; without y, the table must hold the target column."""
        if y is not None:
            return float(super().score(X, y, sample_weight))
        table, truth, weights = self._rows_with_target(X, sample_weight)
        if not weights.sum() > 0:
            raise DataError(
                Setting("sample_weight"), ": no row that has a class weighs more than 0"
            )
        costs = self._grown().schema.target.costs
        right = labels_of(self.predict_proba(table), costs) == truth
        return float(np.average(right, weights=weights))


class NumberTarget(RegressorMixin):  # type: ignore[misc]
    """An estimator whose target is a number."""

    def _target(self, y: Any, name: str, n_rows: int) -> tuple[Target, Any]:
        cells = _column(y, n_rows, "number")
        try:
            numbers = np.asarray(cells, dtype=np.float64)
        except (TypeError, ValueError):
            other = type(self).__name__.replace("Regressor", "Classifier")
            msg = f"y holds {str(cells[0])!r}, which is no number: use {other}"
            raise DataError(msg) from None
        _refuse_infinite(numbers, "number")
        return Target(name, origin=0.0), numbers

    # Predicting

    def predict(self, X: Any) -> Any:
        """Return the number of each row."""
        return self._values(X)

    @property
    def predict_proba(self) -> Any:
        """Refuse, as if it were not there: numbers have no classes."""
        msg = "a model of numbers has no class shares: use predict"
        raise AttributeError(msg)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R²; without y, the table must hold the target column."""
        if y is not None:
            return float(super().score(X, y, sample_weight))
        from sklearn.metrics import r2_score

        table, truth, weights = self._rows_with_target(X, sample_weight)
        return float(r2_score(truth, self._values(table), sample_weight=weights))


def _column(y: Any, n_rows: int, needed: str) -> NDArray[Any]:
    """Return y as one cell for each row, none of them missing."""
    cells = column_or_1d(y, warn=True)
    if cells.dtype == object and any(map(is_missing, cells)):
        msg = f"Input y contains NaN or None: every row needs a {needed}"
        raise DataError(msg)
    if len(cells) != n_rows:
        msg = f"X has {n_rows} rows and y has {len(cells)}: they must match"
        raise DataError(msg)
    _refuse_infinite(cells, needed)
    return np.asarray(cells)


def _refuse_infinite(cells: NDArray[Any], needed: str) -> None:
    if cells.dtype.kind == "f" and not np.isfinite(cells).all():
        msg = f"Input y contains NaN or infinity: every row needs a {needed}"
        raise DataError(msg)


def _distinct(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct labels, rising, and which of them each is.

    Whole numbers close to each other are counted, which is sooner done than sorted.

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
