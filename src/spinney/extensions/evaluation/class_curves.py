"""ROC and calibration curves of one class against the rest.

scikit-learn computes ROC curves and areas; this module counts calibration by weight.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Value
from spinney.errors import DataError, ParameterError
from spinney.extensions.evaluation.measures import ranks_with_ties
from spinney.extensions.evaluation.score_model import rows_with_target


@dataclass(frozen=True, slots=True, eq=False)
class ClassCurve:
    """The curve of one class against the rest.

    Parameters
    ----------
    label : value
        The class.
    x, y : arrays
        False and true positive rate, or mean predicted probability and observed
        frequency.
    weights : array
        The weight of the rows of each point of a calibration curve.
    area : float, optional
        The AUC of an ROC curve.
    """

    label: Value
    x: Floats
    y: Floats
    weights: Floats
    area: float | None = None


def roc_curves(model: Any, data: Any, *, weight: str | None = None) -> list[ClassCurve]:
    """Return the ROC curve of each class; for two classes, only the last one's."""
    from sklearn.metrics import auc, roc_curve

    curves = []
    for label, is_class, probabilities, weights in _class_probabilities(
        model, data, weight
    ):
        if is_class.all() or not is_class.any():
            continue
        x, y, _ = roc_curve(
            is_class, ranks_with_ties(probabilities), sample_weight=weights
        )
        curves.append(ClassCurve(label, x, y, np.ones(len(x)), float(auc(x, y))))
    if not curves:
        msg = "all rows have one class, and an ROC curve needs two"
        raise DataError(msg)
    return curves


def calibration_curves(
    model: Any, data: Any, *, n_bins: int = 10, weight: str | None = None
) -> list[ClassCurve]:
    """Return predicted probability and observed frequency in bins of equal width."""
    if n_bins < 2:
        msg = f"n_bins={n_bins!r} must be 2 or more"
        raise ParameterError(msg)
    curves = []
    for label, is_class, probabilities, weights in _class_probabilities(
        model, data, weight
    ):
        bins = np.minimum((probabilities * n_bins).astype(np.int64), n_bins - 1)
        total = np.bincount(bins, weights, minlength=n_bins)
        is_filled = total > 0
        predicted = np.bincount(bins, weights * probabilities, minlength=n_bins)[
            is_filled
        ]
        observed = np.bincount(bins, weights * is_class, minlength=n_bins)[is_filled]
        bin_weights = np.asarray(total[is_filled], dtype=np.float64)
        curves.append(
            ClassCurve(
                label, predicted / bin_weights, observed / bin_weights, bin_weights
            )
        )
    return curves


def _class_probabilities(
    model: Any, data: Any, weight: str | None
) -> list[tuple[Value, Any, Floats, Floats]]:
    """Return each class with its indicator, its probabilities, and weights."""
    rows, weights, _ = rows_with_target(model, data, weight=weight)
    target = model.schema.target
    if target.is_numeric:
        msg = f"target {target.name!r} is numeric, and these curves need classes"
        raise ParameterError(msg)
    truth, probabilities = target.encode(rows[target.name]), model.outputs(rows)
    if weights is None:
        weights = np.ones(rows.n_rows)
    codes = [1] if len(target.classes) == 2 else range(len(target.classes))
    return [
        (target.classes[c], truth == c, probabilities[:, c], weights) for c in codes
    ]
