"""Curves of what a model says of classes: who is found at which price, and how surely.

A class is held against all others. scikit-learn computes ROC curves and their areas;
calibration is counted here, by weight.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney._support.arrays import Floats
from spinney.data import Value
from spinney.errors import DataError, ParameterError
from spinney.extensions.evaluation.measures import ranks_with_ties
from spinney.extensions.evaluation.score_model import rows_with_truth

__all__ = ["ClassCurve", "calibration_curves", "roc_curves"]


@dataclass(frozen=True, slots=True, eq=False)
class ClassCurve:
    """The curve of one class against all others.

    Parameters
    ----------
    label : value
        The class.
    x, y : arrays
        Of an ROC curve the share of the others that are taken for it, and that of its
        own rows; of a calibration curve the mean predicted share, and the true one.
    weights : array
        The weight of the rows behind each point of a calibration curve.
    area : float, optional
        That under an ROC curve.
    """

    label: Value
    x: Floats
    y: Floats
    weights: Floats
    area: float | None = None


def roc_curves(model: Any, data: Any, *, weight: str | None = None) -> list[ClassCurve]:
    """Return the ROC curve of each class on a table; of two classes, of the last."""
    from sklearn.metrics import auc, roc_curve

    curves = []
    for label, mine, shares, weights in _classes(model, data, weight):
        if mine.all() or not mine.any():
            continue
        x, y, _ = roc_curve(mine, ranks_with_ties(shares), sample_weight=weights)
        curves.append(ClassCurve(label, x, y, np.ones(len(x)), float(auc(x, y))))
    if not curves:
        msg = "all rows are of one class: an ROC curve needs rows of two at least"
        raise DataError(msg)
    return curves


def calibration_curves(
    model: Any, data: Any, *, n_bins: int = 10, weight: str | None = None
) -> list[ClassCurve]:
    """Return predicted and true share of each class, in bins of equal width."""
    if n_bins < 2:
        msg = f"n_bins={n_bins!r} must be 2 or more"
        raise ParameterError(msg)
    curves = []
    for label, mine, shares, weights in _classes(model, data, weight):
        bins = np.minimum((shares * n_bins).astype(np.int64), n_bins - 1)
        total = np.bincount(bins, weights, minlength=n_bins)
        there = total > 0
        mean = np.bincount(bins, weights * shares, minlength=n_bins)[there]
        true = np.bincount(bins, weights * mine, minlength=n_bins)[there]
        behind = np.asarray(total[there], dtype=np.float64)
        curves.append(ClassCurve(label, mean / behind, true / behind, behind))
    return curves


def _classes(
    model: Any, data: Any, weight: str | None
) -> list[tuple[Value, Any, Floats, Floats]]:
    """Return of each class whether rows are of it, its predicted share, and weights."""
    rows, weights, _ = rows_with_truth(model, data, weight=weight)
    target = model.schema.target
    if target.is_numeric:
        msg = f"target {target.name!r} is a number, and these curves are of classes"
        raise ParameterError(msg)
    truth, shares = target.encode(rows[target.name]), model.outputs(rows)
    if weights is None:
        weights = np.ones(rows.n_rows)
    codes = [1] if len(target.classes) == 2 else range(len(target.classes))
    return [(target.classes[c], truth == c, shares[:, c], weights) for c in codes]
