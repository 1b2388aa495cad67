"""Importances, confusion matrix and ROC curves as SVG, without Matplotlib.

They have the words of the plots by Matplotlib, which PNG and PDF are drawn by.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney._support.colours import COLOURS
from spinney._support.text import figure, percent_text, shown, weight_text
from spinney.errors import ParameterError
from spinney.extensions.evaluation import Score, roc_curves, score
from spinney.extensions.pictures.markup import Markup, element, number
from spinney.extensions.pictures.style_sheet import STYLE_SHEET
from spinney.extensions.pictures.svg_elements import (
    group,
    line,
    picture,
    rectangle,
    words,
)
from spinney.extensions.pictures.text_width import shortened, text_width
from spinney.extensions.plots.plot_axes import (
    CONFUSION_AXES,
    IMPORTANCE_AXIS,
    ROC_AXES,
)
from spinney.extensions.plots.prediction_plots import MAX_CURVES

MARGIN, LINE, SIZE = 18.0, 20.0, 12
NAME_WIDTH, BAR_WIDTH = 220.0, 260.0
CELL, PLOT = 46.0, 320.0


def _cut(name: Any) -> str:
    return shortened(shown(name), 160, SIZE)


def _page(title: str, content: Sequence[Markup], width: float, height: float) -> str:
    """Return a picture with a title above and its content below."""
    width = max(width, text_width(title, 13, bold=True) + 2 * MARGIN)
    head = [
        words(title, "title"),
        element("style", STYLE_SHEET),
        rectangle(0, 0, width, height, kind="page", corner=6),
        words(title, x=MARGIN, y=MARGIN + 6, class_="title"),
    ]
    return picture([*head, *content], width, height)


def importances_svg(model: Any, *, most: int) -> str:
    """Return the importance of each column as bars, the most important first."""
    ranked = list(model.importances().ranked())
    rows, is_forest = ranked[:most], model.kind == "forest"
    names = [shortened(shown(name), NAME_WIDTH, SIZE) for name, *_ in rows]
    left = MARGIN + max(text_width(name, SIZE) for name in names) + 10
    longest = max(value for _, value, _ in rows) or 1.0
    parts, top = [], MARGIN + 22
    for index, ((name, value, spread), text) in enumerate(
        zip(rows, names, strict=True)
    ):
        y = top + LINE * index
        width = BAR_WIDTH * value / longest
        percent = percent_text(value, 1)
        if is_forest:
            percent += f" ± {percent_text(spread, 1)}"
        bar = rectangle(left, y, width, LINE - 6, kind="k0")
        label = words(text, x=left - 8, y=y + 11, class_="plain end")
        after = words(percent, x=left + width + 6, y=y + 11, class_="note")
        parts.append(group(f"{shown(name)}: {percent}", label, bar, after))
    height = top + LINE * len(rows) + 26
    spread_words = " ± SD over trees" if is_forest else ""
    axis = f"{IMPORTANCE_AXIS}{spread_words}"
    parts.append(words(axis, x=left, y=height - 10, class_="note"))
    rest = len(ranked) - len(rows)
    more = f", {rest} more not shown" if rest else ""
    title = f"variable importance for {_cut(model.schema.target.name)}{more}"
    return _page(title, parts, left + BAR_WIDTH + 110, height)


def confusion_svg(model: Any, data: Any, *, weight: str | None = None) -> str:
    """Return the confusion matrix: a line for each true class."""
    measured: Score = score(model, data, weight=weight)
    if not measured.classes:
        msg = (
            f"target {measured.target!r} is a number: a confusion matrix needs classes"
        )
        raise ParameterError(msg)
    counts = measured.confusion
    names = [shortened(shown(label), 120, SIZE) for label in measured.classes]
    totals = counts.sum(axis=1, keepdims=True)
    left = MARGIN + max(text_width(name, SIZE) for name in names) + 10
    top, parts = MARGIN + 58, []
    for row, name in enumerate(names):
        y = top + CELL * row
        parts.append(words(name, x=left - 8, y=y + 27, class_="plain end"))
        head = shortened(name, CELL - 4, 11)
        at = left + CELL * (row + 0.5)
        parts.append(words(head, x=at, y=top - 8, class_="note middle"))
        for column, label in enumerate(measured.classes):
            tooltip = f"true {shown(measured.classes[row])}, predicted {shown(label)}"
            cell = _cell(left + CELL * column, y, counts[row, column], totals[row, 0])
            parts.append(group(tooltip, *cell))
    across, down = CONFUSION_AXES
    parts.append(words(across, x=left, y=top - 24, class_="note"))
    parts.append(words(down, x=MARGIN, y=top - 24, class_="note"))
    right, total = weight_text(float(np.trace(counts))), weight_text(measured.weight)
    target = _cut(measured.target)
    title = f"{target}: {right} of {total} correctly classified"
    width = left + CELL * len(names) + MARGIN
    return _page(title, parts, width, top + CELL * len(names) + MARGIN)


def _cell(x: float, y: float, count: float, total: float) -> tuple[Markup, ...]:
    """Return a cell of a confusion matrix, shaded by its proportion of the line."""
    size = CELL - 2
    opacity = 0.05 + 0.6 * float(count / total if total else 0.0)
    text = weight_text(float(count)) if count else "·"
    return (
        rectangle(x, y, size, size, kind="empty"),
        rectangle(x, y, size, size, kind="k7", opacity=opacity),
        words(text, x=x + size / 2, y=y + 27, class_="plain middle"),
    )


def roc_svg(model: Any, data: Any, *, weight: str | None = None) -> str:
    """Return the ROC curve of each class; for two classes, that of the last."""
    curves = roc_curves(model, data, weight=weight)
    left, top = MARGIN + 34, MARGIN + 22
    low, right = top + PLOT, left + PLOT
    parts = [
        line(left, low, right, low, kind="axis"),
        line(left, top, left, low, kind="axis"),
        line(left, low, right, top, kind="axis dashed"),
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = left + PLOT * tick, low - PLOT * tick
        parts.append(words(figure(tick), x=x, y=low + 14, class_="note middle"))
        parts.append(words(figure(tick), x=left - 6, y=y + 4, class_="note end"))
    shown_curves = curves[:MAX_CURVES]
    for index, curve in enumerate(shown_curves):
        kind, text = f"k{index}", f"{_cut(curve.label)}: AUC = {curve.area:.3f}"
        points = zip(left + PLOT * curve.x, low - PLOT * curve.y, strict=True)
        path = " L ".join(f"{number(x)} {number(y)}" for x, y in points)
        colour = COLOURS[index % len(COLOURS)]
        style = {"fill": "none", "stroke": colour, "stroke_width": "1.6"}
        parts.append(group(text, element("path", d=f"M {path}", **style)))
        y = low - 16 * (len(shown_curves) - index)
        parts.append(rectangle(left + PLOT * 0.5, y, 10, 10, kind=kind))
        parts.append(words(text, x=left + PLOT * 0.5 + 16, y=y + 9, class_="note"))
    across, up = ROC_AXES
    parts.append(words(across, x=right, y=low + 30, class_="note end"))
    parts.append(words(up, x=left, y=top - 4, class_="note"))
    title = f"ROC curve for {_cut(model.schema.target.name)}"
    return _page(title, parts, right + MARGIN, low + 42)
