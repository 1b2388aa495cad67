"""Plots of evaluations: learning curves and robustness, with their deviations."""

from typing import Any

import numpy as np

from spinney.errors import ParameterError
from spinney.extensions.evaluation import MEASURES, Evaluation, measure_named
from spinney.extensions.plots.plot_axes import (
    indexed_colour,
    new_axes,
    short,
    titled,
    with_legend,
)

STYLES = ("-", "--", ":", "-.")


def learning_curve(
    evaluation: Evaluation, axes: Any = None, *, measure: str | None = None
) -> Any:
    """Draw a measure by the number of training rows, with its standard deviation.

    Parameters
    ----------
    evaluation : Evaluation
        The result of :func:`spinney.learning_curve`.
    axes : Axes, optional
    measure : str, optional
        The first, which is accuracy or RMSE, if not given.

    Examples
    --------
    >>> import spinney
    >>> from spinney import plots
    >>> rows = {"size": list(range(40)), "sold": ["no"] * 18 + ["yes"] * 22}
    >>> curve = spinney.learning_curve(rows, "sold", "cart", sizes=[8, 16], folds=3)
    >>> plots.learning_curve(curve).get_ylabel()
    'accuracy'
    """
    name = _chosen_measure(evaluation, measure, "rows", "spinney.learning_curve")
    axes = new_axes(axes)
    for index, recipe in enumerate(evaluation.recipes):
        lines = [line for line in evaluation.table if line["recipe"] == recipe]
        _draw_curve(axes, [line["rows"] for line in lines], lines, name, index, recipe)
    with_legend(axes, loc="lower right")
    title = f"learning curve of {short(evaluation.target, 30)}"
    return titled(axes, title, x="training rows", y=MEASURES[name].title)


def robustness(
    evaluation: Evaluation, axes: Any = None, *, measure: str | None = None
) -> Any:
    """Draw a measure by the proportion of damaged training rows.

    A colour is a recipe, a line style a kind of damage.

    Parameters
    ----------
    evaluation : Evaluation
        The result of :func:`spinney.robustness`.
    axes : Axes, optional
    measure : str, optional
        The first, which is accuracy or RMSE, if not given.
    """
    name = _chosen_measure(evaluation, measure, "injected", "spinney.robustness")
    axes = new_axes(axes)
    kinds = [line["injected"] for line in evaluation.table if line["rate"]]
    for index, recipe in enumerate(evaluation.recipes):
        of_recipe = [line for line in evaluation.table if line["recipe"] == recipe]
        undamaged = [line for line in of_recipe if not line["rate"]]
        for place, kind in enumerate(dict.fromkeys(kinds)):
            lines = undamaged + [line for line in of_recipe if line["injected"] == kind]
            rates = [100 * line["rate"] for line in lines]
            label, style = f"{recipe}, {kind}", STYLES[place % len(STYLES)]
            _draw_curve(axes, rates, lines, name, index, label, style=style)
    with_legend(axes)
    title = f"robustness of {short(evaluation.target, 30)}"
    return titled(axes, title, x="damaged training rows (%)", y=MEASURES[name].title)


def _chosen_measure(
    evaluation: Evaluation, measure: str | None, condition: str, function: str
) -> str:
    """Return the measure to draw; refuse an evaluation without such a condition."""
    table = evaluation.table if isinstance(evaluation, Evaluation) else None
    if not table or condition not in table[0]:
        msg = f"pass what {function} returns, not {type(evaluation).__name__}"
        raise ParameterError(msg)
    if measure is None:
        return evaluation.measures[0]
    measure_named(measure)
    if measure not in evaluation.measures:
        known = ", ".join(evaluation.measures)
        msg = f"measure={measure!r} was not measured: choose one of {known}"
        raise ParameterError(msg)
    return measure


def _draw_curve(
    axes: Any,
    x: list[float],
    lines: list[dict[str, Any]],
    name: str,
    index: int,
    label: str,
    *,
    style: str = "-",
) -> None:
    """Draw the mean of a measure, and a band of one standard deviation around it."""
    mean = np.array([_float_or_nan(line[name]) for line in lines])
    spread = np.array([_float_or_nan(line[f"{name}_sd"]) for line in lines])
    colour, look = indexed_colour(index), {"markersize": 4, "linewidth": 1.4}
    axes.plot(x, mean, style, marker="o", color=colour, label=short(label), **look)
    if np.isfinite(spread).all():
        low, high = mean - spread, mean + spread
        axes.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)


def _float_or_nan(value: float | None) -> float:
    return np.nan if value is None else value
