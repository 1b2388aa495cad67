"""Plots of a model on a table that holds its target: confusion, ROC, calibration."""

from typing import Any

import numpy as np

from spinney._support.text import weight_text
from spinney.errors import ParameterError
from spinney.extensions.evaluation import Score, calibration_curves, roc_curves, score
from spinney.extensions.pictures.style_sheet import LIGHT
from spinney.extensions.plots.plot_axes import (
    CONFUSION_AXES,
    ROC_AXES,
    indexed_colour,
    new_axes,
    short,
    titled,
    with_legend,
)

MAX_NUMBERED_CLASSES = 14  # classes whose cells have figures in them
MAX_CURVES = 8


def confusion(
    model: Any, data: Any, axes: Any = None, *, weight: str | None = None
) -> Any:
    """Draw the confusion matrix.

    A line is a true class, a column a predicted one. A cell shows the weight of its
    rows, and its shade their proportion of the line.

    Parameters
    ----------
    model : fitted tree or forest
    data : table
        With the target column.
    axes : Axes, optional
    weight : str, optional
        The column of row weights.
    """
    measured: Score = score(model, data, weight=weight)
    if not measured.classes:
        msg = (
            f"target {measured.target!r} is a number: a confusion matrix needs classes"
        )
        raise ParameterError(msg)
    counts, n = measured.confusion, len(measured.classes)
    size = min(3.0 + 0.42 * n, 9.0)
    axes = new_axes(axes, (size + 0.6, size))
    totals = counts.sum(axis=1, keepdims=True)
    proportions = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    axes.imshow(proportions, cmap="Blues", vmin=0, vmax=1)
    names = [short(label, 18) for label in measured.classes]
    angle = 45 if max(map(len, names)) > 6 else 0
    axes.set_xticks(range(n), names, rotation=angle, ha="right" if angle else "center")
    axes.set_yticks(range(n), names)
    if n <= MAX_NUMBERED_CLASSES:
        for (row, column), count in np.ndenumerate(counts):
            colour = "white" if proportions[row, column] > 0.5 else LIGHT["text"]
            text = weight_text(count) if count else "·"
            look = {"ha": "center", "va": "center", "fontsize": 8, "color": colour}
            axes.text(column, row, text, **look)
    right = weight_text(float(np.trace(counts)))
    title = f"{short(measured.target, 30)}: {right} of {weight_text(measured.weight)}"
    title = f"{title} correctly classified"
    return titled(axes, title, *CONFUSION_AXES)


def roc(model: Any, data: Any, axes: Any = None, *, weight: str | None = None) -> Any:
    """Draw ROC curves: of the last of two classes, else of each class against the rest.

    Parameters
    ----------
    model, data, axes, weight
        As for :func:`confusion`.
    """
    curves = roc_curves(model, data, weight=weight)
    axes = new_axes(axes)
    axes.plot([0, 1], [0, 1], ":", color=LIGHT["axis"], linewidth=1)
    for index, curve in enumerate(curves[:MAX_CURVES]):
        label = f"{short(curve.label, 24)}: AUC = {curve.area:.3f}"
        axes.plot(
            curve.x, curve.y, color=indexed_colour(index), linewidth=1.4, label=label
        )
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    with_legend(axes, loc="lower right", title=_legend_title(curves))
    title = f"ROC curve for {short(model.schema.target.name, 30)}"
    return titled(axes, title, *ROC_AXES)


def calibration(
    model: Any,
    data: Any,
    axes: Any = None,
    *,
    n_bins: int = 10,
    weight: str | None = None,
) -> Any:
    """Draw observed frequencies by predicted probability; larger dots have more rows.

    Parameters
    ----------
    model, data, axes, weight
        As for :func:`confusion`.
    n_bins : int
        The number of bins of equal width for predicted probabilities.
    """
    curves = calibration_curves(model, data, n_bins=n_bins, weight=weight)
    axes = new_axes(axes)
    axes.plot([0, 1], [0, 1], ":", color=LIGHT["axis"], linewidth=1)
    for index, curve in enumerate(curves[:MAX_CURVES]):
        colour, name = indexed_colour(index), short(curve.label, 24)
        axes.plot(curve.x, curve.y, color=colour, linewidth=1.1, label=name)
        sizes = 8 + 90 * curve.weights / curve.weights.sum()
        axes.scatter(curve.x, curve.y, s=sizes, color=colour, zorder=3)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    with_legend(axes, loc="upper left", title=_legend_title(curves))
    title = f"calibration for {short(model.schema.target.name, 30)}"
    return titled(axes, title, x="predicted probability", y="observed frequency")


def _legend_title(curves: list[Any]) -> str | None:
    rest = len(curves) - MAX_CURVES
    return f"{rest} more classes not shown" if rest > 0 else None
