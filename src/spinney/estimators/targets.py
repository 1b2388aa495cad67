"""What y is: classes, or numbers; and how a model of them predicts."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from spinney.data import Column, Target
from spinney.data.readers import class_array
from spinney.errors import DataError, Setting
from spinney.estimators.table_estimator import our_errors
from spinney.estimators.target_cells import check_length, class_cells, number_cells
from spinney.trees import labels_of

CLOSE = 1 << 16  # whole numbers that are counted, not sorted


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

    def _adopt_by_name(self, model: Any) -> Self:
        super()._adopt_by_name(model)
        self.classes_ = class_array(model.schema.target.classes)
        return self

    def _adopt_update(self, model: Any) -> None:
        super()._adopt_update(model)
        self.classes_ = class_array(model.schema.target.classes)

    def _target_column(self, y: Any, name: str, n_rows: int) -> Column:
        """Return the classes of rows that come later, as a column."""
        cells = class_cells(y)
        check_length(cells, n_rows)
        classes, codes = _distinct(cells)
        return Column(name, "nominal", codes, tuple(classes.tolist()))

    @property
    def n_classes_(self) -> int:
        """How many classes there are."""
        return len(self.classes_)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the natural logarithm of the share of each class; −∞ of none."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """Return the class of each row."""
        costs = self._grown().schema.target.costs
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
        costs = self._grown().schema.target.costs
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
        """Return the numbers of rows that come later, as a column."""
        cells = self._cells_of_target(y)
        check_length(cells, n_rows)
        return Column(name, "numeric", np.asarray(cells, dtype=np.float64))

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
            cells = self._cells_of_target(y)
            with our_errors():
                return float(super().score(X, cells, sample_weight))
        from sklearn.metrics import r2_score

        table, truth, weights = self._rows_with_target(X, sample_weight)
        return float(r2_score(truth, self._values(table), sample_weight=weights))


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
