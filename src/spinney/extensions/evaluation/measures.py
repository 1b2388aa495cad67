"""Measures of a model on test rows, by scikit-learn.

Measures use row weights. An undefined measure is None: the AUC of one class, or R² and
the correlation of constant numbers.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.arrays import Floats, Integers
from spinney._support.ties import TOLERANCE
from spinney.errors import refuse_unknown

if TYPE_CHECKING:
    from spinney.models import FittedModel


@dataclass(frozen=True, slots=True)
class EvaluationMeasure:
    """A measure's name, its title in tables, and whether higher is better."""

    name: str
    title: str
    higher_is_better: bool | None = None
    decimals: int = 3


CLASS_MEASURES = (
    EvaluationMeasure("accuracy", "accuracy", True),
    EvaluationMeasure("balanced_accuracy", "balanced", True),
    EvaluationMeasure("macro_f", "macro F1", True),
    EvaluationMeasure("auc", "AUC", True),
    EvaluationMeasure("log_loss", "log loss", False),
    EvaluationMeasure("brier", "Brier", False),
    EvaluationMeasure("cost", "cost", False),
)
NUMBER_MEASURES = (
    EvaluationMeasure("rmse", "RMSE", False),
    EvaluationMeasure("mae", "MAE", False),
    EvaluationMeasure("r2", "R2", True),
    EvaluationMeasure("correlation", "correl.", True),
)
SPEED_MEASURES = (
    EvaluationMeasure("seconds", "seconds", False),
    EvaluationMeasure("predict_seconds", "predict s", False),
    EvaluationMeasure("row_microseconds", "µs a row", False, 1),
    EvaluationMeasure("peak_mib", "peak MiB", False, 1),
)
# The size of a tree, and of its rules.
SIZE_MEASURES = (
    EvaluationMeasure("leaves", "leaves", False, 1),
    EvaluationMeasure("nodes", "nodes", False, 1),
    EvaluationMeasure("depth", "depth", False, 1),
    EvaluationMeasure("mean_path_length", "mean path", False, 2),
    EvaluationMeasure("external_path_length", "ext. path", False, 1),
    EvaluationMeasure("weighted_external_path_length", "by rows", False, 1),
    EvaluationMeasure("rules", "rules", False, 1),
    EvaluationMeasure("conditions_per_rule", "conditions", False, 2),
)
MEASURES = {
    measure.name: measure
    for measure in CLASS_MEASURES + NUMBER_MEASURES + SIZE_MEASURES + SPEED_MEASURES
}
# Groups of measures by name.
GROUPS = {
    "quality": tuple(m.name for m in (*CLASS_MEASURES, *NUMBER_MEASURES)),
    "interpretability": tuple(m.name for m in SIZE_MEASURES),
    "speed": tuple(m.name for m in SPEED_MEASURES),
    "all": tuple(MEASURES),
}
# Measures shown by default.
DEFAULT_MEASURES = (
    *("accuracy", "balanced_accuracy", "auc", "cost", "rmse", "mae", "r2"),
    *("leaves", "seconds"),
)
# Measures that are means over rows.
ROW_MEANS = ("accuracy", "log_loss", "brier", "cost", "mae")

Measured = dict[str, float | None]


def measure_named(name: str, allowed: Sequence[str] = ()) -> EvaluationMeasure:
    """Return a measure by its name; refuse one that is not among the allowed.

    >>> measure_named("auc").title
    'AUC'
    """
    if name not in (allowed or MEASURES):
        refuse_unknown("measure", name, tuple(allowed or MEASURES))
    return MEASURES[name]


def measures_named(names: Sequence[str], allowed: Sequence[str] = ()) -> list[str]:
    """Return the names of measures, with groups expanded, each once.

    >>> measures_named(["seconds", "speed"], ("accuracy", "seconds", "peak_mib"))
    ['seconds', 'peak_mib']
    """
    listed: dict[str, None] = {}
    for name in names:
        members = GROUPS.get(name) or (measure_named(name, allowed).name,)
        listed |= dict.fromkeys(m for m in members if m in (allowed or MEASURES))
    return list(listed)


def class_measures(
    truth: Integers,
    predicted: Integers,
    probabilities: Floats,
    *,
    weights: Floats | None = None,
    costs: Floats | None = None,
) -> Measured:
    """Return the measures of predicted classes.

    Parameters
    ----------
    truth, predicted : arrays of int
        Codes of classes, row by row.
    probabilities : array of shape (rows, classes)
        The probability of each class of the whole table.
    weights : array, optional
        The weight of each row.
    costs : array of shape (classes, classes), optional
        ``costs[label][true]``; without it no cost is measured.

    Notes ----- ``macro_f`` is the mean F1 of the classes that occur or are predicted.
    ``auc`` is the mean area under the ROC curve of each class against the rest, over
    classes with and without rows; for two classes, the area of the second.
    Probabilities within 1e-12 are equal. ``log_loss`` takes a probability of 0 as
    2.2e-16, so that one row of a class thought impossible adds 36. ``brier`` is the sum
    over classes of (p − y)², 0 to 2; half of it is the older form for two classes.

    Examples
    --------
    >>> measures = class_measures([0, 1, 1], [0, 1, 0], [[1, 0], [.2, .8], [.6, .4]])
    >>> round(measures["accuracy"], 3), round(measures["brier"], 3), measures["auc"]
    (0.667, 0.267, 1.0)
    """
    from sklearn import metrics

    truth, predicted = np.asarray(truth), np.asarray(predicted)
    probabilities = np.asarray(probabilities, dtype=np.float64)
    # The fractions of a row with missing values may sum to 1 plus rounding.
    probabilities = np.where(
        (probabilities > 1) & (probabilities < 1 + 1e-9), 1.0, probabilities
    )
    labels = list(range(probabilities.shape[1]))
    weighted = {"sample_weight": weights}
    with warnings.catch_warnings():
        # scikit-learn warns of missing classes; we warned of rare ones before.
        warnings.simplefilter("ignore")
        measured = {
            "accuracy": metrics.accuracy_score(truth, predicted, **weighted),
            "balanced_accuracy": metrics.balanced_accuracy_score(
                truth, predicted, **weighted
            ),
            "macro_f": metrics.f1_score(
                truth, predicted, average="macro", zero_division=0, **weighted
            ),
            "auc": _mean_auc(truth, probabilities, weights),
            "log_loss": 0.0,
            "brier": 0.0,
        }
        if len(labels) > 1:  # a single class has probability 1
            measured["log_loss"] = metrics.log_loss(
                truth, probabilities, labels=labels, **weighted
            )
            measured["brier"] = metrics.brier_score_loss(
                truth, probabilities, labels=labels, scale_by_half=False, **weighted
            )
    if costs is not None:
        measured["cost"] = np.average(costs[predicted, truth], weights=weights)
    return _python_floats(measured)


def _mean_auc(
    truth: Integers, probabilities: Floats, weights: Floats | None
) -> float | None:
    """Return the mean area under the curve of each class against the rest."""
    from sklearn import metrics

    codes = [1] if probabilities.shape[1] == 2 else range(probabilities.shape[1])
    areas = [
        metrics.roc_auc_score(
            truth == code,
            ranks_with_ties(probabilities[:, code]),
            sample_weight=weights,
        )
        for code in codes
        if 0 < np.count_nonzero(truth == code) < len(truth)
    ]
    return float(np.mean(areas)) if areas else None


def ranks_with_ties(probabilities: Floats) -> Integers:
    """Return ranks of probabilities from 0; values equal up to rounding share a rank.

    >>> ranks_with_ties([0.1 + 0.2, 0.5, 0.3]).tolist()
    [0, 1, 0]
    """
    probabilities = np.asarray(probabilities, dtype=np.float64)
    order = np.argsort(probabilities, kind="stable")
    steps = np.diff(probabilities[order], prepend=probabilities[order[:1]]) > TOLERANCE
    ranks = np.empty(len(probabilities), np.int64)
    ranks[order] = np.cumsum(steps)
    return ranks


def number_measures(
    truth: Floats, predicted: Floats, *, weights: Floats | None = None
) -> Measured:
    """Return the measures of predicted numbers.

    >>> measures = number_measures([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    >>> round(measures["rmse"], 3), round(measures["mae"], 3), measures["r2"]
    (0.577, 0.333, 0.5)
    """
    from sklearn import metrics

    truth = np.asarray(truth, dtype=np.float64)
    predicted = np.asarray(predicted, dtype=np.float64)
    weighted = {"sample_weight": weights}
    varies = len(truth) > 1 and np.ptp(truth) > 0
    return _python_floats(
        {
            "rmse": metrics.root_mean_squared_error(truth, predicted, **weighted),
            "mae": metrics.mean_absolute_error(truth, predicted, **weighted),
            "r2": metrics.r2_score(truth, predicted, **weighted) if varies else None,
            "correlation": _correlation(truth, predicted, weights),
        }
    )


def _correlation(
    truth: Floats, predicted: Floats, weights: Floats | None
) -> float | None:
    if len(truth) < 2 or not (np.ptp(truth) > 0 and np.ptp(predicted) > 0):
        return None
    # Scaled first, so that no square overflows.
    rows = np.stack([truth / np.abs(truth).max(), predicted / np.abs(predicted).max()])
    both = np.cov(rows, aweights=weights, ddof=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(both[0, 1] / np.sqrt(both[0, 0] * both[1, 1]))


def size_measures(model: "FittedModel") -> Measured:
    """Return the size of a tree or a forest.

    For a forest, leaves, nodes and path lengths are summed over its trees; the depth is
    the deepest tree's, the mean path a tree's average. A forest has no rules.
    """
    size = model.facts()["size"]
    size["depth"] = size.get("height")
    return _python_floats(
        {measure.name: size.get(measure.name) for measure in SIZE_MEASURES}
    )


def speed_measures(
    seconds: float, predicting: float, n_rows: int, peak: int | None
) -> Measured:
    """Return the seconds of growing and predicting, and the peak memory in MiB.

    >>> speed_measures(0.5, 0.002, 100, None)
    {'seconds': 0.5, 'predict_seconds': 0.002, 'row_microseconds': 20.0}
    """
    measured: Measured = {
        "seconds": seconds,
        "predict_seconds": predicting,
        "row_microseconds": 1e6 * predicting / n_rows,
    }
    return measured if peak is None else {**measured, "peak_mib": peak / 2**20}


def _python_floats(measured: dict[str, Any]) -> Measured:
    """Return measures as Python floats; None if undefined or infinite."""
    return {
        name: float(value) if value is not None and np.isfinite(value) else None
        for name, value in measured.items()
    }
